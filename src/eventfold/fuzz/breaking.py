"""
Broken streams: what was valid, with events lost, repeated, moved, renamed, retyped, or holding odd values.

Law: any JSON may come, but every event is an object, so that a reducer can be given it; what each is broken by is left to the
lifecycle table. Streams that break one rule each are in `mutations`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from eventfold.jsonvalue import is_array, is_object
from eventfold.table import PLANS

from .strategies import Event, streams

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

#: Ids that events are given: those of other events, so that they meet.
_IDS = ("a", "b", "r0", "r1")


def nested(depth: int) -> Any:
    """Nest a list in lists."""
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


#: What is put in place of a value: other types, the borders of what may be, text that is not base64 or not well-formed.
_ODD = st.one_of(
    st.sampled_from((None, True, False, 0, -1, 1.0, 0.5, 2.0**53 - 1, 2.0**53, 1e300)),
    st.sampled_from(("", "QQ", "QQ==", "QR==", "Q Q=", "=", "\ud800", "a\udc00b", "\U0001f680", "\u2028")),
    st.sampled_from(("error", "denied", "success", "running", "finished", "user", "system", "a/0")),
    st.sampled_from(
        (
            [],
            ["\udfff"],
            {},
            {"type": "text"},
            {"type": "data", "id": "a"},
            {"__proto__": 1},
            json.loads('{"\\ud800": 1, "\\udc00": 2, "2": 3, "1": 4}'),
            nested(98),
            nested(99),
            nested(100),
        )
    ),
)


@st.composite
def broken_streams(draw: DrawFn) -> list[Event]:
    """Draw a valid stream, then break it in one to six places. One event stays at least: a stream without events is no stream."""
    stream: list[Event] = draw(streams(most=2, moves=10))
    for _ in range(draw(st.integers(1, 6))):
        how = draw(st.sampled_from(("drop", "double", "again", "again", "swap", "move", "rename", "retype", "odd", "odd")))
        place, other = draw(st.integers(0, len(stream) - 1)), draw(st.integers(0, len(stream) - 1))
        event = stream[place]
        if how == "drop":
            del stream[place : place + (len(stream) > 1)]
        elif how == "again":
            stream.insert(other, {**event, "created_at": "2026-01-09"} if draw(st.booleans()) else event)
        elif how == "double":
            stream.insert(other, {**event, "id": f"{event.get('id')}*"})
        elif how == "swap":
            stream[place], stream[other] = stream[other], event
        elif how == "move":
            stream.insert(other, stream.pop(place))
        else:
            stream[place] = draw(_changed(event, how))
    return stream


@st.composite
def _changed(draw: DrawFn, event: Event, how: str) -> Event:
    if how == "retype":
        return {**event, "type": draw(st.sampled_from(list(PLANS)))}
    if how == "rename":
        keys = [key for key in ("id", "block_id", "tool_call_id", "reply_id") if key in event]
        return {**event, **{key: draw(st.sampled_from(_IDS)) for key in keys[draw(st.integers(0, 1)) :]}}
    return draw(with_odd_value(event))


@st.composite
def with_odd_value(draw: DrawFn, value: Any) -> Any:
    """Draw the value with something in it replaced, removed or added."""
    if is_object(value) and value:
        key = draw(st.sampled_from((*value, "x_new", "metadata", "extra", "__proto__")))
        if key in value and draw(st.integers(0, 9)) == 0:
            return {name: item for name, item in value.items() if name != key}
        if key in value and draw(st.booleans()):
            return {**value, key: draw(with_odd_value(value[key]))}
        return {**value, key: draw(_ODD)}
    if is_array(value) and value:
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], draw(with_odd_value(value[place])), *value[place + 1 :]]
    return draw(_ODD)
