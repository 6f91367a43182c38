"""
One event's JSON text -> a struct of the engine, or a stored message, or what is wrong with it.

Law: msgspec decodes and validates; only what it refuses is looked at again. An event that the schema
accepts is never lost on the way, and one that the schema refuses is dropped whole.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import msgspec
from eventfold_models import structs
from eventfold_models.tables import CHILDREN, EVENTS, FIELDS, WELCOMING

from eventfold.jsonvalue import escape, is_array, is_object, shown
from eventfold.shape import class_of

from .depth import SHALLOW, nests_too_deep
from .json_text import Unreadable, parse
from .learned import LEARNED, UNKNOWN_FIELD

#: The whole union.
DECODE = msgspec.json.Decoder(structs.AgentEvent).decode

#: What the hot path raises for text that has to be looked at again.
REFUSALS = (msgspec.MsgspecError, ValueError, RecursionError)

#: What some model providers end a stream with.
DONE = b"[DONE]"

#: Rules about an event's text, and the same about a stored message's.
IN_MESSAGE = {"event.lone-surrogate": "message.lone-surrogate"}


class Remark(NamedTuple):
    """A rule that an event's text or fields break."""

    rule: str
    detail: str
    pointer: str = ""
    type: str = ""


class StoredMessage(NamedTuple):
    """A message that stands where events were expected."""

    wire: dict[str, Any]


class InvalidEvent(ValueError):
    """A value that is no event of the contract; says what is wrong."""


class EventReader:
    """Reads events. After each, `remarks` holds what is wrong with it, mostly nothing."""

    def __init__(self) -> None:
        self.remarks: list[Remark] = []

    def read(self, data: bytes) -> Any:
        """Give the event as a struct, a StoredMessage, or None when there is nothing to go on with."""
        self.remarks.clear()
        try:
            event = DECODE(data)
        except REFUSALS:
            return self._look_again(data)
        return self._look_again(data) if len(data) > SHALLOW[type(event)] and nests_too_deep(event, data) else event

    def _remark(self, rule: str, detail: str, pointer: str = "", name: str = "") -> None:
        self.remarks.append(Remark(rule, detail, pointer, name))

    def _look_again(self, data: bytes) -> Any:
        if data.strip() == DONE:
            self._remark("wire.done-marker", "the stream ends with [DONE]")
            return None
        try:
            value, repairs = parse(data)
        except Unreadable as error:
            for rule, pointer, detail in (*error.repairs, (error.rule, "", error.detail)):
                self._remark(rule, detail, pointer)
            return None
        name = str(value.get("type", "")) if is_object(value) else ""
        for rule, pointer, detail in repairs:
            self._remark(rule, detail, pointer, name)
        read = self._judge(value)
        if type(read) is StoredMessage:
            self.remarks[:] = [remark._replace(rule=IN_MESSAGE.get(remark.rule, remark.rule)) for remark in self.remarks]
        return read

    def _judge(self, value: Any) -> Any:
        if not is_object(value):
            self._remark("event.not-object", f"{shown(value)} is no JSON object")
            return None
        name = value.get("type")
        if isinstance(name, str) and name in EVENTS:
            return self._known(value, name)
        if "role" in value and "content" in value and "type" not in value:
            return StoredMessage(value)
        if not isinstance(name, str):
            self._remark("event.no-type", f"type is {shown(name)}, expected a string" if "type" in value else "the event has no type")
        elif all(isinstance(value.get(key), str) and value[key] for key in ("id", "created_at")):
            self._remark("event.unknown-type", "", "/type", name)
        else:
            self._remark("event.schema", "an event of unknown type needs an id and a created_at", "", name)
        return None

    def _known(self, fields: dict[str, Any], name: str) -> Any:
        """Judge an event of a known type: unknown fields are noted, then the struct, then the schema."""
        class_name = EVENTS[name]
        unknown = [key for key in fields if key not in FIELDS[class_name]]
        for key in unknown:
            self._remark(UNKNOWN_FIELD, _unknown_field(key), f"/{escape(key)}", name)
        known = {key: item for key, item in fields.items() if key in FIELDS[class_name]} if unknown else fields
        if unknown:
            LEARNED.learn(name, unknown)
        import orjson  # noqa: PLC0415  takes time to import, and what is in order needs none

        try:
            return _decoder(class_name).decode(orjson.dumps(known))
        except (*REFUSALS, TypeError):
            pass
        from .schema import errors  # noqa: PLC0415  jsonschema takes long to import and is seldom needed

        if broken := errors(fields, class_name):
            for pointer, detail in broken:
                self._remark("event.schema", detail, pointer, name)
            return None
        for pointer in unknown_fields(known, class_name):
            self._remark(UNKNOWN_FIELD, _unknown_field(pointer), pointer, name)
        present = {key: _integral(item) for key, item in known.items() if key != "type" and item is not None}
        return getattr(structs, class_name)(**present)


def read_event(value: dict[str, Any]) -> Any:
    """
    Read a plain dict as an event of the engine.

    Raises:
        InvalidEvent: it is none; says where and why. Unknown types are among them.

    """
    import json  # noqa: PLC0415  see json_text

    reader = EventReader()
    try:
        # As text, so that everything that is judged about text is judged about a dict, too.
        event = reader.read(json.dumps(value, allow_nan=False).encode())
    except (TypeError, ValueError, RecursionError) as error:
        message = f"not an event: it cannot be written as JSON ({error})"
        raise InvalidEvent(message) from None
    if isinstance(event, msgspec.Struct):
        return event
    reasons = "; ".join(f"{remark.rule}: {remark.detail or remark.type}" for remark in reader.remarks)
    message = f"not an event: {reasons or 'it is a message'}. `eventfold schema AgentEvent` prints what an event is."
    raise InvalidEvent(message)


def unknown_fields(value: Any, name: str, pointer: str = "") -> list[str]:
    """Give pointers to the fields of a value of a class or union, and of what it holds, that no schema names."""
    if is_array(value):
        return [found for i, item in enumerate(value) for found in unknown_fields(item, name, f"{pointer}/{i}")]
    if not is_object(value):
        return []
    name = class_of(value, name)
    if name not in FIELDS:
        # A tag that the schema does not know: that is what is wrong.
        return []
    children = CHILDREN.get(name, {})
    own = [] if name in WELCOMING else [f"{pointer}/{escape(key)}" for key in value if key not in FIELDS.get(name, ())]
    held = [key for key in children if key in value]
    return own + [found for key in held for found in unknown_fields(value[key], children[key], f"{pointer}/{escape(key)}")]


@cache
def _decoder(class_name: str) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(getattr(structs, class_name))


def _unknown_field(name: str) -> str:
    kind = "an extension" if name.rsplit("/", 1)[-1].startswith("x_") else "a name reserved for later versions"
    return f"{name} is no field of the schema ({kind})"


def _integral(value: Any) -> Any:
    """Read `1.0` as 1, as JSON Schema does."""
    return int(value) if type(value) is float and value.is_integer() else value
