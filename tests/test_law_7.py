"""
Law 7: on JSON text, schema, models and engine give one verdict.

For values that the schemas allow, the same with something changed, and arbitrary JSON. What a JSON parser itself
refuses, so that not every judge ever sees a value, is listed in `PARSERS` and is exactly that.
"""

from __future__ import annotations

import copy
import json
from datetime import date
from typing import Any

import msgspec
import pytest
from eventfold_models import models, tables
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from eventfold import read_event
from eventfold.fuzz.payloads import values
from eventfold.jsonvalue import is_array, is_object
from eventfold.wire import EventReader
from eventfold.wire.reader import InvalidEvent
from eventfold.wire.schema import errors

ADAPTERS: dict[str, TypeAdapter[Any]] = {name: TypeAdapter(getattr(models, name)) for name in (*tables.FIELDS, *tables.UNIONS)}
#: What the type of a class is called.
TAGS = {name: value for tag, members in tables.UNIONS.values() if tag == "type" for value, name in members.items()}

ODD: list[Any] = [
    *(None, True, False, 0, -1, 1, 1.0, 1.5, -0.0, 2**53 - 1, 2**53, 2**63, 2**64, -(2**63), 1e300),
    *("", "1", "success", "base64", "url", "text", "tool_call", "user", "TEXT_BLOCK_DELTA", "x" * 1000),
    *([], [None], [[]], ["a"], {}, {"k": {"k": None}}, {"type": "text"}, {"type": "text", "id": "i", "text": "t"}),
    *({"type": "url", "url": "u", "media_type": "m"}, {"input_tokens": 1, "output_tokens": 1.0}),
]
_NAMES = ("extra", "x_k", "url", "data", "id", "state", "error", "rules")
_KEYS = st.sampled_from(("type", "id", "role", "content", "k"))
_NUMBERS = st.one_of(st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False, allow_infinity=False))
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), _NUMBERS, st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_KEYS, inner, max_size=4)),
    max_leaves=8,
)


@st.composite
def changed(draw: st.DrawFn, name: str) -> Any:
    """Draw a value of a class, and change it in up to three places."""
    value = copy.deepcopy(draw(values(name)))
    for _ in range(draw(st.integers(0, 3))):
        holders = [holder for holder in _holders(value) if holder]
        if not holders:
            return copy.deepcopy(draw(st.sampled_from(ODD)))
        holder: Any = draw(st.sampled_from(holders))
        key: Any = draw(st.sampled_from(sorted(holder) if is_object(holder) else range(len(holder))))
        how = draw(st.sampled_from(("delete", "replace", "add")))
        if how == "delete":
            del holder[key]
        elif how == "replace" or not is_object(holder):
            holder[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
        else:
            holder[draw(st.sampled_from(_NAMES))] = copy.deepcopy(draw(st.sampled_from(ODD)))
    return value


def _holders(value: Any) -> list[Any]:
    """Give every object and array inside a value, itself among them."""
    if is_object(value):
        return [value, *(found for item in value.values() for found in _holders(item))]
    if is_array(value):
        return [value, *(found for item in value for found in _holders(item))]
    return []


def verdict_of_schema(value: Any, name: str) -> bool:
    """Ask jsonschema."""
    return errors(value, name) == []


def verdict_of_model(text: str, name: str) -> bool:
    """Ask pydantic."""
    try:
        ADAPTERS[name].validate_json(text)
    except ValidationError:
        return False
    return True


def verdict_of_engine(text: str) -> bool:
    """Ask the engine's decoder: struct, second look and field rules together."""
    return isinstance(EventReader().read(text.encode()), msgspec.Struct)


@pytest.mark.parametrize("name", ADAPTERS)
def test_schema_and_model_agree(name: str) -> None:
    """A value of a class, changed or not, is accepted by both or by neither."""

    @given(changed(name))
    def agree(value: Any) -> None:
        assert verdict_of_model(json.dumps(value), name) == verdict_of_schema(value, name)

    agree()


@pytest.mark.parametrize("name", tables.EVENTS.values())
def test_schema_and_engine_agree(name: str) -> None:
    """An event, changed or not, is accepted by both or by neither; by the schema of the type that it says it has."""

    @given(changed(name))
    def agree(value: Any) -> None:
        kind: Any = value.get("type") if is_object(value) else None
        known = isinstance(kind, str) and kind in tables.EVENTS
        assert verdict_of_engine(json.dumps(value)) == (known and verdict_of_schema(value, tables.EVENTS[kind]))

    agree()


@settings(max_examples=4 * settings.default.max_examples)  # pyright: ignore[reportOptionalMemberAccess]  a profile is loaded
@given(json_values)
def test_all_agree_on_arbitrary_json(value: Any) -> None:
    """Whatever JSON it is, events and messages are recognised by all or by none."""
    text = json.dumps(value)
    for union in ("AgentEvent", "Msg", "ContentBlock"):
        tag, members = tables.UNIONS[union]
        name = members.get(str(value.get(tag)), "") if is_object(value) else ""
        accepted = bool(name) and verdict_of_schema(value, name)
        assert verdict_of_model(text, union) == accepted
    assert verdict_of_engine(text) == verdict_of_model(text, "AgentEvent")


@pytest.mark.parametrize("value", ODD, ids=lambda value: repr(value)[:20])
def test_all_agree_on_odd_values_in_every_field_of_an_event(value: Any) -> None:
    """Each odd value, put into each field of a whole event, is judged alike."""
    whole = {"type": "MODEL_CALL_END", "id": "1", "created_at": "t", "reply_id": "r", "input_tokens": 1, "output_tokens": 2}
    for key in (*tables.FIELDS["ModelCallEndEvent"], "unheard_of"):
        event: dict[str, Any] = {**whole, key: value}
        text = json.dumps(event)
        kind: Any = event["type"]
        known = isinstance(kind, str) and kind in tables.EVENTS
        schema = known and verdict_of_schema(event, tables.EVENTS[kind])
        assert verdict_of_engine(text) == schema, key
        assert verdict_of_model(text, "AgentEvent") == schema, key


@pytest.mark.parametrize("name", ADAPTERS)
def test_python_values_are_judged_like_text(name: str) -> None:
    """A value of a class, changed or not, is accepted by all or by none, but that a model's class may stand for the tag."""

    @given(changed(name))
    def agree(value: Any) -> None:
        schema = verdict_of_schema(value, name)
        assert model_of_value(value, name) == verdict_of_schema(tagged(value, name), name)
        if name in tables.EVENTS.values():
            kind: Any = value.get("type") if is_object(value) else None
            known = isinstance(kind, str) and kind in tables.EVENTS
            assert engine_of_value(value) == (
                known and (schema if tables.EVENTS[kind] == name else verdict_of_schema(value, tables.EVENTS[kind]))
            )

    agree()


def tagged(value: Any, name: str) -> Any:
    """Put the tag where it is missing and a class can stand for it."""
    if is_array(value):
        return [tagged(item, name) for item in value]
    if not is_object(value) or name not in tables.FIELDS:
        return value
    held = tables.CHILDREN.get(name, {})
    whole = {key: tagged(item, held[key]) if key in held else item for key, item in value.items()}
    return {"type": TAGS[name], **whole} if name in TAGS else whole


def model_of_value(value: Any, name: str) -> bool:
    """Ask pydantic about a Python value."""
    try:
        ADAPTERS[name].validate_python(value)
    except ValidationError:
        return False
    return True


def engine_of_value(value: Any) -> bool:
    """Ask the engine about a Python value."""
    try:
        read_event(value)
    except InvalidEvent:
        return False
    return True


EVENT = '{"type":"CUSTOM","id":"1","created_at":"t","name":"n","value":{"k":%s}}'
#: What JSON parsers refuse or read differently: the text, and who accepts it (engine, model), with the reason.
PARSERS: dict[str, tuple[str, bool, bool]] = {
    "NaN is no JSON, but pydantic's parser reads it": (EVENT % "NaN", False, True),
    "Infinity is no JSON, but pydantic's parser reads it": (EVENT % "Infinity", False, True),
    "no double holds 1e400, which pydantic reads as infinity": (EVENT % "1e400", False, True),
    "the engine repairs lone surrogates": (EVENT % r'"\ud83d"', True, False),
    "the engine stops at depth 100, pydantic later": (EVENT % ("[" * 120 + "]" * 120), False, True),
    "nobody reads depth 10,000": (EVENT % ("[" * 10_000 + "]" * 10_000), False, False),
    "the last of two equal names counts": (EVENT.replace('"name":"n"', '"name":5,"name":"n"') % "1", True, True),
    "the last of two types counts": (EVENT.replace('"type":"CUSTOM"', '"type":"CUSTOM","type":"CUSTOM"') % "1", True, True),
    "an integer of any size is an integer": (EVENT % ("9" * 400), True, True),
    "minus zero is a number": (EVENT % "-0.0", True, True),
    "a string of 1 MB is a string": (EVENT % ('"' + "x" * 1_000_000 + '"'), True, True),
}


@pytest.mark.parametrize("reason", PARSERS)
def test_what_parsers_refuse_is_listed(reason: str) -> None:
    """Each exception is exactly as listed."""
    text, engine, model = PARSERS[reason]
    assert (verdict_of_engine(text), verdict_of_model(text, "AgentEvent")) == (engine, model)


def nested(depth: int) -> Any:
    """Nest objects."""
    value: Any = 1
    for _ in range(depth):
        value = {"k": value}
    return value


#: Python values that no JSON text has, in a field that takes any: the value, and who accepts it (schema, engine, model).
NO_JSON: dict[str, tuple[Any, bool, bool, bool]] = {
    "NaN is a float, and the engine writes values as JSON": (float("nan"), True, False, True),
    "so is infinity": (float("inf"), True, False, True),
    "the engine stops at depth 100": (nested(120), True, False, True),
    "the engine repairs lone surrogates, and the others do not look at them": ("\ud83d", True, True, True),
    "a key that is a number is written as text": ({1: 2}, True, True, True),
    "a tuple is written as an array": ((1, 2), True, True, True),
    "bytes are no JSON": (b"x", True, False, True),
    "a set is no JSON": ({1}, True, False, True),
    "an integer of any size is an integer": (10**400, True, True, True),
}
#: The same in a field that takes an object.
NO_JSON_OBJECT: dict[str, tuple[Any, bool, bool, bool]] = {
    "a key that is a number is written as text, which pydantic refuses": ({1: 2}, True, True, False),
    "a tuple of pairs is no object": ((("k", 1),), False, False, False),
    "the engine stops at depth 100": (nested(120), True, False, True),
    "NaN is a float": ({"k": float("nan")}, True, False, True),
}
#: The same in a field that takes text with something in it.
NO_JSON_TEXT: dict[str, tuple[Any, bool, bool, bool]] = {
    "pydantic does not count the characters of a lone surrogate": ("\ud83d", True, True, False),
    "bytes are no text": (b"x", False, False, False),
    "a date is no text": (date(2026, 1, 1), False, False, False),
}
CASES = [
    *((reason, "value", verdicts) for reason, verdicts in NO_JSON.items()),
    *((reason, "metadata", verdicts) for reason, verdicts in NO_JSON_OBJECT.items()),
    *((reason, "id", verdicts) for reason, verdicts in NO_JSON_TEXT.items()),
]


@pytest.mark.parametrize(("reason", "field", "verdicts"), CASES, ids=[f"{field}: {reason}" for reason, field, _ in CASES])
def test_what_no_json_text_has_is_listed(reason: str, field: str, verdicts: tuple[Any, bool, bool, bool]) -> None:
    """Each exception is exactly as listed; the engine takes what can be written as JSON, and judges what is written."""
    value, *accepted = verdicts
    event: dict[str, Any] = {"type": "CUSTOM", "id": "1", "created_at": "t", "name": "n", "value": {}}
    event = {**event, field: {"k": value} if field == "value" else value}
    given_by = [verdict_of_schema(event, "CustomEvent"), engine_of_value(event), model_of_value(event, "CustomEvent")]
    assert given_by == accepted, reason
