"""
Java events -> events of ours.

Law: one agent call is one reply, whose id is that of AGENT_START; a call that goes on after it was parked continues that reply. What
we wrote ourselves says in its metadata what it was, and is read without looking at anything else.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from eventfold_models import structs
from eventfold_models.tables import EVENTS, FIELDS
from xxhash import xxh3_64_intdigest

from eventfold.dialects.translation import UNFIT, UNKNOWN, Unfit
from eventfold.jsonvalue import copy_json, is_object

from .forms import BY_TYPE, FORMS, RESULT, TYPES, carried_by, read_fields, read_own, unknown_in
from .frames import events_of, is_frame, legacy
from .reading import Reading
from .scalars import text_of
from .soundness import sound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

#: Name of the CUSTOM events that hold what has no event of ours.
KEPT = "agentscope_java"


class JavaDecoder(Reading):
    """Reads one stream: of one agent, with its sub-agents, or what `JavaEncoder` wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.own: set[str] = set()  #: replies that we wrote
        self.seen: dict[str, tuple[int, int]] = {}
        self.last_frame: dict[str, int] = {}

    def decode(self, value: Any) -> Iterator[Any]:
        """Read an event, or a frame of the Agent Protocol that holds one."""
        value = sound(value)
        if not is_object(value):
            raise Unfit(UNFIT, "an event is a JSON object")
        if is_frame(value):
            yield from self._frame(value)
        else:
            yield from self._event(value, "")

    def end(self) -> Iterator[Any]:
        """Say which agent calls have not ended."""
        for key in list(self.waiting):
            yield from self.start_waiting(key, None)
        for agent in self.agents.values():
            if not agent.ended and not agent.stopped:
                self.remark(
                    "java.no-end", f"the agent call {agent.reply_id} has no AGENT_END: it failed, or the stream is cut", "", agent.index
                )

    def _frame(self, frame: Wire) -> Iterator[Any]:
        task = text_of(frame.get("taskId"), "/taskId") or ""
        number = frame.get("seq")
        if isinstance(number, int):
            last = self.last_frame.get(task, number - 1)
            if number <= last:
                self.remark("java.frame-repeated", f"frame {number} of task {task!r} came before", "/seq")
                return
            if number > last + 1:
                self.remark("java.frame-gap", f"frames {last + 1} to {number - 1} of task {task!r} are missing", "/seq")
            self.last_frame[task] = number
        payload = frame.get("payload")
        if isinstance(payload, str):
            try:
                event = json.loads(payload)
            except (ValueError, RecursionError):
                raise Unfit(UNFIT, "the payload is no JSON text", "/payload") from None
            yield from self._event(sound(event), task)
            return
        for event in legacy(frame):
            yield from self._event(event, task)
        for name, kept in events_of(frame):
            yield self.event(structs.CustomEvent, name=f"{KEPT}.{name}", value=kept)

    def _event(self, value: Any, task: str) -> Iterator[Any]:
        if not is_object(value):
            raise Unfit(UNFIT, "an event is a JSON object")
        kind = value.get("type")
        if not isinstance(kind, str) or kind not in TYPES:
            self.remark(UNKNOWN, f"there is no event {kind!r}", "/type")
            given = value.get("id")
            key = given if isinstance(given, str) and given else None
            yield self.event(structs.CustomEvent, id=key, name=f"{KEPT}.unknown", value=copy_json(value))
            return
        at = text_of(value.get("createdAt"), "/createdAt")
        self.now = at or self.now
        carried = carried_by(value)
        if carried is not None:
            yield from self._own(value, carried)
        elif isinstance(value.get("replyId"), str) and value["replyId"] in self.own and kind != RESULT:
            # Somebody took our metadata off: what is left is still one of ours.
            yield self._whole(read_own(value))
        elif not self._again(value):
            yield from self._foreign(value, kind, task)

    def _own(self, value: Wire, carried: Wire) -> Iterator[Any]:
        reply_id = carried.get("reply_id")
        if isinstance(reply_id, str):
            self.own.add(reply_id)
        if carried.get("beside") is True or value["type"] == RESULT:
            return
        yield self._whole(read_own(value))

    def _whole(self, wire: Wire) -> Any:
        """Make the event that a wire value of ours is."""
        tag = wire.get("type")
        name = EVENTS.get(tag, "") if isinstance(tag, str) else ""
        unknown = [key for key in wire if key not in FIELDS.get(name, ())]
        if unknown:
            raise Unfit(UNFIT, f"no event of ours has {unknown[0]!r}", "/metadata/eventfold")
        return self.event(getattr(structs, name), **{key: item for key, item in wire.items() if key != "type"})

    def _again(self, value: Wire) -> bool:
        """Tell whether an event is one that came before."""
        key = value.get("id")
        if not isinstance(key, str) or not key:
            return False
        digest = xxh3_64_intdigest(json.dumps(value, sort_keys=True).encode())
        index, before = self.seen.setdefault(key, (self.index, digest))
        if index == self.index or before != digest:
            return False
        self.remark("java.repeated", f"the event {key!r} came before", "/id", index)
        return True

    def _foreign(self, value: Wire, kind: str, task: str) -> Iterator[Any]:
        source = text_of(value.get("source"), "/source")
        metadata = value.get("metadata")
        if metadata is not None and not is_object(metadata):
            raise Unfit(UNFIT, "metadata is an object", "/metadata")
        stamp = metadata.get("taskId") if is_object(metadata) else None
        key = (source or "", task or (stamp if isinstance(stamp, str) else ""))
        unknown = unknown_in(value)
        kept = {**copy_json(metadata or {}), **({KEPT: unknown} if unknown else {})}
        head: Wire = {"id": text_of(value.get("id"), "/id") or None, "source_path": source, "metadata": kept or None}
        if kind == RESULT:
            yield from self.result(key, head, value)
            return
        struct = BY_TYPE[kind]
        fields = read_fields(struct, value) if struct is not structs.ToolResultDataDeltaEvent else _plain_part(value)
        if struct in _FREE:
            yield from self.free(key, head, struct, fields)
        else:
            yield from self.read(key, head, struct, fields)


#: Events that belong to no reply.
_FREE = frozenset({structs.RequestStopEvent, structs.SubagentExposedEvent, structs.AllToolsDeniedEvent, structs.CustomEvent})


def _plain_part(value: Wire) -> Wire:
    columns = FORMS[structs.ToolResultDataDeltaEvent].columns
    return {**{column.ours: column.read(value.get(column.theirs), f"/{column.theirs}") for column in columns}, "data": value.get("data")}
