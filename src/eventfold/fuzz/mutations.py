"""
Mutations: valid streams, changed so that one rule breaks.

Law: for each rule of rules.json there is a mutation of its name; the rule fires at the event it says, and
clashes with the event it says. Rules about order are broken by a move that the lifecycle table forbids, found by
walking it; the others by a change of an event's content or of the bytes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from eventfold_models.tables import BLOCKS, EVENTS, FIELDS, LIFECYCLE, RULES
from hypothesis import strategies as st

from eventfold.lifecycle import MAX_OPEN

from .payloads import texts
from .strategies import STEP, Event, Writer, replies, streams
from .walk import Move, way_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DrawFn, SearchStrategy

    from eventfold.lifecycle import Breach

#: An id that no drawn instance has.
_KEY = "z"
#: Rules that only a reply without any block can break.
_OF_EMPTY = frozenset({"reply.no-visible-output"})
#: Rules that only a reply of a narrower role can break.
_OF_ROLES = frozenset({"block.not-for-role"})


class Broken(NamedTuple):
    """A stream that breaks a rule, as bytes."""

    rule: str
    data: bytes
    at: int  #: position of the event at which the rule fires
    related: int | None = None  #: position of the earlier event that it clashes with; None when there is none


class _Small(NamedTuple):
    """A small reply that breaks a rule, and where."""

    events: list[Event]
    at: int
    related: int | None = None


def mutations(rule: str) -> SearchStrategy[Broken]:
    """
    Draw streams that break a rule.

    Raises:
        LookupError: rules.json has no such rule.

    """
    if rule in _CONTENT:
        return _CONTENT[rule]()
    if rule in _TABLE_RULES:
        return _out_of_order(rule)
    message = (
        f"{rule!r} is not a rule; `eventfold explain` lists them" if rule not in RULES else f"nobody has written a mutation for {rule}"
    )
    raise LookupError(message)


#: Rules that the table names for an event, by cell or guard.
_TABLE_RULES = frozenset(
    outcome["rule"]
    for outcome in [
        *(cell for machine in LIFECYCLE["machines"].values() for row in machine["inputs"].values() for cell in row.values()),
        *LIFECYCLE["guards"],
    ]
    if "rule" in outcome
)


def _bytes(events: list[Event]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


@st.composite
def _out_of_order(draw: DrawFn, rule: str) -> Broken:
    """Go on with a valid stream, by the shortest way, to where the table forbids an event, and put that event there."""
    writer = Writer(draw, "r")
    turn = draw(st.integers(0, 99))
    way = _at_once(writer, rule, turn)
    if not way:
        writer.begin(draw(st.sampled_from(("user",) if rule in _OF_ROLES else ("assistant",))))
        for kind, which, mood in draw(st.lists(STEP, max_size=0 if rule in _OF_EMPTY else 6)):
            writer.step(kind, which, mood)
        try:
            way = way_to(writer.walker.reply, rule, _KEY, turn)
        except LookupError:
            # What the reply has come to, such as being parked by a call of another key, leaves no way: begin anew.
            writer = Writer(draw, "r")
            writer.begin("assistant")
            way = way_to(writer.walker.reply, rule, _KEY, turn)
    for move in way[:-1]:
        writer.write([move])
    place = len(writer.events)
    breaches: list[Breach] = []
    writer.walker.folder.lifecycle.report = breaches.append
    writer.write([way[-1]], careless=rule)
    return Broken(rule, _bytes(writer.events), place, next((breach.since for breach in breaches if breach.rule == rule), None))


def _at_once(writer: Writer, rule: str, turn: int) -> list[Move]:
    """Give a move that breaks the rule before the reply has begun, if there is one; which one is told by the turn."""
    found = [move for move in writer.walker.moves() if rule in writer.walker.breaks(move)]
    return [found[turn % len(found)]] if found else []


# --- content ------------------------------------------------------------------------------------


def _head(kind: str, number: int, **fields: Any) -> Event:
    return {"type": kind, "id": f"x{number}", "created_at": "2026-01-02T00:00:00", "reply_id": "m", **fields}


def _type_of(class_name: str) -> str:
    return next(name for name, known in EVENTS.items() if known == class_name)


def _reply(*events: Event) -> list[Event]:
    """Give events of a reply of their own, begun and, unless they end it, left open."""
    start = _head(_type_of("ReplyStartEvent"), 0, session_id="s", name="n")
    return [start, *({**event, "id": f"x{number}"} for number, event in enumerate(events, 1))]


@st.composite
def _after(draw: DrawFn, rule: str, make: Callable[[DrawFn], _Small]) -> Broken:
    """Put a small broken reply behind a valid stream."""
    before = draw(streams(most=1, moves=4))
    small = make(draw)
    related = None if small.related is None else len(before) + small.related
    return Broken(rule, _bytes([*before, *small.events]), len(before) + small.at, related)


@st.composite
def _text(draw: DrawFn, rule: str, change: Callable[[DrawFn, bytes], bytes]) -> Broken:
    """Change the bytes of the last event of a valid stream, a CUSTOM put there for it."""
    before = draw(streams(most=1, moves=4))
    custom = _head(_type_of("CustomEvent"), 0, name="n", value={"k": draw(texts)})
    return Broken(rule, _bytes(before) + change(draw, json.dumps(custom, ensure_ascii=False).encode()), len(before))


def _text_block(*deltas: str, **end: Any) -> list[Event]:
    kinds = [_type_of(name) for name in ("TextBlockStartEvent", "TextBlockDeltaEvent", "TextBlockEndEvent")]
    middle = [_head(kinds[1], 0, block_id="t", delta=delta) for delta in deltas]
    return [_head(kinds[0], 0, block_id="t"), *middle, _head(kinds[2], 0, block_id="t", **end)]


def _data_block(data: str) -> list[Event]:
    start, delta = _type_of("DataBlockStartEvent"), _type_of("DataBlockDeltaEvent")
    return [_head(start, 0, block_id="d", media_type="m"), _head(delta, 0, block_id="d", media_type="m", data=data)]


def _too_many(_draw: DrawFn) -> _Small:
    start, end = _type_of("ModelCallStartEvent"), _type_of("ModelCallEndEvent")
    pair = [_head(start, 0, model_name="m"), _head(end, 0, input_tokens=2**53 - 1, output_tokens=0)]
    return _Small(_reply(*pair, *pair), 4)


def _cumulative(draw: DrawFn) -> _Small:
    pieces = draw(st.lists(st.text("ab", min_size=1, max_size=3), min_size=3, max_size=5))
    return _Small(_reply(*_text_block(*("".join(pieces[:count]) for count in range(1, len(pieces) + 1)))), 4, 3)


def _reused_id(draw: DrawFn) -> _Small:
    events = _reply(*_text_block("a", "b"))
    earlier = draw(st.integers(0, 2))
    events[3]["id"] = events[earlier]["id"]
    return _Small(events, 3, earlier)


def _redelivered(draw: DrawFn) -> _Small:
    events = _reply(*_text_block("a"))
    first = draw(st.integers(0, len(events) - 1))
    return _Small([*events, events[first]], len(events), first)


def _extra(draw: DrawFn) -> _Small:
    name = draw(st.sampled_from(FIELDS[BLOCKS["text"]]))
    return _Small(_reply(*_text_block("a", extra={name: draw(texts), "signature": "s"})), 3)


def _not_base64(draw: DrawFn) -> _Small:
    data = draw(st.sampled_from(("x", "!!!!", "YWJ", "YQ", "YR==", "Y Q=", "YQ==\n", "-_-_", "data:,x", "=", "YQ=a", "\u00e9")))
    return _Small(_reply(*_data_block(data)), 2)


def _field_of_wrong_type(draw: DrawFn) -> _Small:
    events = _reply(*_text_block("a"))
    place = draw(st.integers(0, len(events) - 1))
    name = draw(st.sampled_from([key for key in events[place] if key != "type"]))
    wrong: list[Any] = [5, [], {}, True, 1.5]
    events[place] = {**events[place], name: draw(st.sampled_from(wrong))}
    return _Small(events, place)


def _message(**fields: Any) -> bytes:
    whole: Event = {
        "role": "assistant",
        "name": "n",
        "id": "m",
        "created_at": "2026-01-01",
        "content": [],
        "finished_at": "2026-01-01",
        **fields,
    }
    return json.dumps(whole).encode() + b"\n"


_CALL = {"type": "tool_call", "id": "c", "name": "t", "input": "{}"}
_RESULT = {"type": "tool_result", "id": "c", "name": "t", "output": "o", "state": "success"}


@st.composite
def _stored(draw: DrawFn, rule: str, **fields: Any) -> Broken:
    """Put a broken stored message behind some that are in order."""
    before = draw(st.integers(0, 2))
    return Broken(rule, _message() * before + _message(**fields), before)


@st.composite
def _parked_and_left(draw: DrawFn) -> Broken:
    kinds = [_type_of(name) for name in ("ToolCallStartEvent", "ToolCallEndEvent", "RequireUserConfirmEvent")]
    named = {"tool_call_id": "c"}
    parked = _reply(_head(kinds[0], 0, **named, tool_call_name="t"), _head(kinds[1], 0, **named), _head(kinds[2], 0, tool_calls=[_CALL]))
    after = draw(replies("other", moves=4))
    return Broken("reply.left-parked", _bytes([*parked, *after]), len(parked) + len(after), 0)


@st.composite
def _missing_end(draw: DrawFn) -> Broken:
    events = draw(replies(moves=8, roles=("user",)))
    kept = events[: draw(st.integers(1, max(len(events) - 2, 1)))]
    return Broken("reply.missing-end", _bytes(kept), len(kept), 0)


@st.composite
def _gone(draw: DrawFn) -> Broken:
    """End a thousand replies and one, then go on with the first."""
    end = _head(_type_of("ReplyEndEvent"), 1, session_id="s")
    many = [{**event, "reply_id": f"m{number}"} for number in range(1001) for event in (*_reply(), end)]
    late = {**draw(st.sampled_from(_text_block("a"))), "reply_id": "m0", "id": "late"}
    return Broken("reply.gone", _bytes([*many, late]), len(many))


@st.composite
def _evicted(draw: DrawFn) -> Broken:
    """Begin one reply more than are held open, with one event more of the first of them."""
    [start] = _reply()
    many = [{**start, "reply_id": f"m{number}"} for number in range(MAX_OPEN)]
    more = {**draw(st.sampled_from(_text_block("a")[:1])), "reply_id": "m0", "id": "more"}
    return Broken("reply.evicted", _bytes([*many, more, {**start, "reply_id": "last"}]), MAX_OPEN + 1, 1)


def _insert(piece: bytes) -> Callable[[DrawFn, bytes], bytes]:
    """Put bytes into the name of the last event."""
    return lambda _draw, line: line.replace(b'"name": "n"', b'"name": "' + piece + b'"') + b"\n"


def _edit(old: bytes, new: bytes, end: bytes = b"\n") -> Callable[[DrawFn, bytes], bytes]:
    return lambda _draw, line: line.replace(old, new) + end


def _cut(draw: DrawFn, line: bytes) -> bytes:
    return line[: draw(st.integers(5, len(line) - 2))]


def _server_sent(marker: bytes, end: bytes) -> Callable[[], SearchStrategy[Broken]]:
    @st.composite
    def build(draw: DrawFn) -> Broken:
        events = draw(replies(moves=4))
        text = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
        rule = "wire.done-marker" if marker else "wire.unterminated"
        return Broken(rule, text + marker if marker else text.removesuffix(end), len(events))

    return build


def _behind(rule: str, make: Callable[[DrawFn], _Small]) -> Callable[[], SearchStrategy[Broken]]:
    return lambda: _after(rule, make)


def _bytewise(rule: str, change: Callable[[DrawFn, bytes], bytes]) -> Callable[[], SearchStrategy[Broken]]:
    return lambda: _text(rule, change)


def _message_with(rule: str, **fields: Any) -> Callable[[], SearchStrategy[Broken]]:
    return lambda: _stored(rule, **fields)


_CUSTOM = _type_of("CustomEvent").encode()
_DEEP = b'"name": "n", "metadata": ' + b'{"k":' * 100 + b"1" + b"}" * 100

#: Mutations of content and bytes, by rule.
_CONTENT: dict[str, Callable[[], SearchStrategy[Broken]]] = {
    "wire.not-utf8": _bytewise("wire.not-utf8", _insert(b"\xff")),
    "wire.not-json": _bytewise("wire.not-json", _edit(b'"name": "n"', b'"name": NaN')),
    "wire.truncated": _bytewise("wire.truncated", _cut),
    "wire.too-long": _bytewise("wire.too-long", _insert(b"x" * (32 * 1024 * 1024))),
    "wire.unterminated": _server_sent(b"", b"\n"),
    "wire.done-marker": _server_sent(b"data: [DONE]\n\n", b""),
    "event.not-object": _bytewise("event.not-object", lambda _draw, _line: b"[1]\n5\n"),
    "event.no-type": _bytewise("event.no-type", _edit(b'"type": "%b", ' % _CUSTOM, b"")),
    "event.unknown-type": _bytewise("event.unknown-type", _edit(b'"type": "%b"' % _CUSTOM, b'"type": "%bARY"' % _CUSTOM)),
    "event.unknown-field": _bytewise("event.unknown-field", _edit(b'"name": "n"', b'"name": "n", "surname": 1')),
    "event.lone-surrogate": _bytewise("event.lone-surrogate", _insert(rb"\ud83d")),
    "event.too-deep": _bytewise("event.too-deep", _edit(b'"name": "n"', _DEEP)),
    "event.not-timestamp": _bytewise("event.not-timestamp", _edit(b"2026-01-02T00:00:00", b"yesterday")),
    "event.schema": _behind("event.schema", _field_of_wrong_type),
    "event.redelivered": _behind("event.redelivered", _redelivered),
    "event.id-reused": _behind("event.id-reused", _reused_id),
    "block.extra-names-field": _behind("block.extra-names-field", _extra),
    "block.cumulative-deltas": _behind("block.cumulative-deltas", _cumulative),
    "data.not-base64": _behind("data.not-base64", _not_base64),
    "model-call.too-many-tokens": _behind("model-call.too-many-tokens", _too_many),
    "reply.left-parked": _parked_and_left,
    "reply.missing-end": _missing_end,
    "reply.gone": _gone,
    "reply.evicted": _evicted,
    "message.schema": _message_with("message.schema", content=[{**_CALL, "state": "nowhere"}]),
    "message.not-timestamp": _message_with("message.not-timestamp", content=[{**_CALL, "finished_at": "yesterday"}]),
    "message.unknown-field": _message_with("message.unknown-field", mood="good"),
    "message.lone-surrogate": _message_with("message.lone-surrogate", name="\ud83d"),
    "message.call-without-result": _message_with("message.call-without-result", content=[_CALL]),
    "message.result-without-call": _message_with("message.result-without-call", content=[_RESULT]),
    "message.repeated-id": _message_with("message.repeated-id", content=[_CALL, _RESULT, _CALL, _RESULT]),
}
