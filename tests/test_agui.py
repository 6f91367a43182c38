"""
The AG-UI dialect, judged by AG-UI's own client (@ag-ui/client 1.0.0, in Node).

What goes out is accepted by the client at every prefix, shows there what the message says, and comes back whole. What comes in
is refused where the client refuses it, and nothing that it says is lost.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from ag_ui.core import Event, Message
from agui_judge import Judge, missing, running
from agui_projection import project, shown
from agui_streams import DONE, ERROR, FAULTS, RUN, WORLD, call, foreign_streams, mutated, result, text
from dialect_laws import decoded, encoded, folded, journey, outside, patterns_of
from eventfold_models import structs
from eventfold_models.tables import EVENTS, MESSAGES, RULES
from hypothesis import given, note
from hypothesis import strategies as st
from pydantic import TypeAdapter
from support import RECORDINGS, ROOT, Wire, differences, events_of, recording_name

from eventfold import read_event
from eventfold.dialects.agui import BOTH, CARRIED, DIALECT, IN, KEPT, OUT
from eventfold.dialects.agui import shapes as agui_shapes
from eventfold.dialects.translation import UNFIT, Unfit
from eventfold.fuzz.breaking import broken_streams
from eventfold.fuzz.strategies import messages, replies, streams
from eventfold.jsonvalue import is_object
from eventfold.models import MSG
from eventfold.shape import wire_of
from eventfold.wire import InvalidEvent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

judged = pytest.mark.skipif(bool(missing()), reason=missing() or "the judge is there")

_PYTHON: TypeAdapter[Any] = TypeAdapter(Event)
_PYTHON_MESSAGE: TypeAdapter[Any] = TypeAdapter(Message)
_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just("\ud800")),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=6,
)
_FIELDS = sorted({name for shape in agui_shapes.EVENTS.values() for name in (*shape.required, *shape.optional)})


@pytest.fixture(scope="module", name="judge")
def _judge() -> Iterator[Judge]:
    yield from running()


def known(events: Iterable[Wire]) -> list[Wire]:
    """Leave out events of unknown type, which the engine does not read."""
    return [event for event in events if event["type"] in EVENTS]


def readable(events: Iterable[Wire]) -> list[Wire]:
    """Leave out what is no event of the contract."""

    def reads(event: Wire) -> bool:
        try:
            read_event(event)
        except InvalidEvent:
            return False
        return True

    return [event for event in events if reads(event)]


def remarks_of(events: Iterable[Any]) -> list[tuple[int, Any]]:
    """Give the remarks on a foreign stream, each with the index of the event that it is about."""
    assert DIALECT.decoder is not None
    decoder = DIALECT.decoder()
    found: list[tuple[int, Any]] = []
    for value in events:
        list(decoder.feed(value))
        found += [(decoder.index, remark) for remark in decoder.remarks]
    list(decoder.finish())
    return [*found, *((decoder.index, remark) for remark in decoder.remarks)]


def fatal(events: Iterable[Any]) -> int | None:
    """Give the index of the first event with a remark that is an error, the end of the stream aside."""
    at_end = "agui.run-unfinished"
    errors = (at for at, remark in remarks_of(events) if DIALECT.rules[remark.rule]["severity"] == "error" and remark.rule != at_end)
    return next(errors, None)


# --- ours out, and back -------------------------------------------------------------------------


@given(streams(), st.data())
def test_ours_come_back(stream: list[Wire], data: st.DataObject) -> None:
    """A stream and each of its prefixes go out and come back as the same messages, without a loss or a broken rule."""
    events = known(stream)
    for length in (len(events), data.draw(st.integers(0, len(events)))):
        tour = journey(DIALECT, events[:length])
        assert not tour.remarks
        assert outside(folded(tour.back), patterns_of(DIALECT, tour.losses)) == folded(events[:length])
        assert not tour.losses


@judged
@given(stream=streams(), data=st.data())
def test_the_client_accepts_and_shows_what_goes_out(judge: Judge, stream: list[Wire], data: st.DataObject) -> None:
    """The client lets every prefix pass, without a warning, ends its run, and shows each reply as its message is projected."""
    events = known(stream)
    for length in (len(events), data.draw(st.integers(0, len(events)))):
        out, _ = encoded(DIALECT, events[:length])
        verdict = judge.ask(out)
        note("\n".join(map(json.dumps, out)))
        assert (verdict["error"], verdict["warnings"], verdict["problems"]) == (None, [], [])
        assert not out or verdict["accepted"][-1] in {"RUN_FINISHED", "RUN_ERROR"}
        assert len({message["id"] for message in verdict["messages"]}) == len(verdict["messages"])
        for message in folded(events[:length]):
            assert shown(verdict["messages"], out, message["id"]) == project(message)


@judged
@given(stream=broken_streams())
def test_broken_streams_go_out_in_order(judge: Judge, stream: list[Wire]) -> None:
    """Whatever is wrong with a stream of ours, the client accepts what goes out, and it comes back as the same messages."""
    events = readable(stream)
    out, _ = encoded(DIALECT, events)
    verdict = judge.ask(out)
    note("\n".join(map(json.dumps, out)))
    assert (verdict["error"], verdict["problems"]) == (None, [])
    assert not out or verdict["accepted"][-1] in {"RUN_FINISHED", "RUN_ERROR"}
    assert folded(decoded(DIALECT, out)[0]) == folded(events)


def test_a_reply_whose_end_came_first_is_told_whole() -> None:
    """An end that comes before its reply has begun ends nothing, and what is delivered again later counts once."""
    head = {"created_at": "2026-01-01T00:00:00", "reply_id": "r"}
    end = {"type": "REPLY_END", "id": "e9", **head, "session_id": ""}
    begin = {"type": "REPLY_START", "id": "e1", **head, "session_id": "", "name": ""}
    hint = {"type": "HINT_BLOCK", "id": "e2", **head, "block_id": "h", "hint": "a"}
    other = [{**event, "id": f"o{i}", "reply_id": "other"} for i, event in enumerate((begin, end))]
    stream = [end, *other, begin, hint, hint]
    [_, message] = folded(stream)
    assert len(message["content"]) == 1
    out, _ = encoded(DIALECT, stream)
    assert folded(decoded(DIALECT, out)[0]) == folded(stream)


@given(replies(), st.data())
def test_a_run_ends_as_its_reply_does(reply: list[Wire], data: st.DataObject) -> None:
    """Only what completed is a success, what waits says for what, and a stream that stops elsewhere is an error."""
    events = reply[: data.draw(st.integers(1, len(reply)))]
    (message,) = folded(events)
    last = encoded(DIALECT, events)[0][-1]
    calls = [block for block in message["content"] if block["type"] == "tool_call"]
    waiting = [block for block in calls if block["state"] in {"asking", "submitted"}]
    reason = message.get("finished_reason")
    outcome = last.get("outcome", {})
    if reason == "error" or (reason is None and not waiting):
        assert last["type"] == "RUN_ERROR"
        assert last["message"]
    elif reason is not None:
        assert outcome == {"type": "cancelled" if reason in {"interrupted", "exceed_max_iters"} else "success"}
    elif any(block["state"] == "asking" for block in waiting):
        asked = [interrupt["metadata"]["eventfold"]["tool_call"] for interrupt in outcome["interrupts"]]
        assert sorted(asked, key=_id) == sorted(waiting, key=_id)
    else:
        assert outcome["type"] == "success"
        assert len(outcome["pendingToolCallIds"]) == len(waiting)


def _id(block: Wire) -> str:
    return block["id"]


@given(streams(most=1, redelivered=True))
def test_what_is_delivered_again_goes_out_once(stream: list[Wire]) -> None:
    """A stream in which events come again comes back as the message of the stream without them."""
    events = known(stream)
    assert folded(journey(DIALECT, events).back) == folded(events)


@given(streams(), st.data())
def test_a_stream_may_stop_and_go_on(stream: list[Wire], data: st.DataObject) -> None:
    """After the end of what went out, the encoder takes more: another run goes on with the replies."""
    events = known(stream)
    cut = data.draw(st.integers(0, len(events)))
    assert DIALECT.encoder is not None
    encoder = DIALECT.encoder()
    out = [value for event in events[:cut] for value in encoder.feed(read_event(event))]
    out += encoder.finish()
    out += [value for event in events[cut:] for value in encoder.feed(read_event(event))]
    out += encoder.finish()
    back, _, remarks = decoded(DIALECT, json.loads(json.dumps(out)))
    assert not remarks
    assert folded(back) == folded(events)


@pytest.mark.parametrize("path", RECORDINGS, ids=recording_name)
def test_recordings_come_back(path: Path) -> None:
    """What AgentScope has really sent goes out, loads in AG-UI's Python models, and comes back."""
    events = known(events_of(path))
    tour = journey(DIALECT, events)
    assert not tour.remarks
    assert folded(tour.back) == folded(events)
    for value in tour.out:
        _PYTHON.validate_python(value)


@given(streams(most=2))
def test_what_goes_out_shares_nothing(stream: list[Wire]) -> None:
    """What went out can be changed, and the encoder does not notice."""
    assert DIALECT.encoder is not None
    first, second = DIALECT.encoder(), DIALECT.encoder()
    for event in known(stream):
        for value in first.feed(read_event(event)):
            _scribble(value)
        list(second.feed(read_event(event)))
    assert len(list(first.finish())) == len(list(second.finish()))


def _scribble(value: Any) -> None:
    if is_object(value):
        for item in value.values():
            _scribble(item)
        value.clear()
    elif isinstance(value, list):
        value.clear()


def _executed(*after: Wire) -> list[Wire]:
    """Write a reply whose call is executed outside, and what follows."""
    block = {"type": "tool_call", "id": "c", "name": "f", "input": ""}
    outside_result = {"type": "tool_result", "id": "c", "name": "f", "output": "from outside", "state": "success"}
    events: list[Wire] = [
        {"type": "REPLY_START", "session_id": "t", "name": "n"},
        {"type": "TOOL_CALL_START", "tool_call_id": "c", "tool_call_name": "f"},
        {"type": "TOOL_CALL_END", "tool_call_id": "c"},
        {"type": "TOOL_RESULT_START", "tool_call_id": "c", "tool_call_name": "f"},
        {"type": "REQUIRE_EXTERNAL_EXECUTION", "tool_calls": [block]},
        {"type": "EXTERNAL_EXECUTION_RESULT", "execution_results": [outside_result]},
        *after,
        {"type": "REPLY_END", "session_id": "t"},
    ]
    return [{"id": f"e{i}", "created_at": f"2026-01-01T00:00:{i:02}Z", "reply_id": "r", **event} for i, event in enumerate(events)]


@judged
@pytest.mark.parametrize(
    ("after", "wanted"),
    [
        ([], "from outside"),
        (
            [
                {"type": "TOOL_RESULT_TEXT_DELTA", "tool_call_id": "c", "delta": "told again"},
                {"type": "TOOL_RESULT_END", "tool_call_id": "c", "state": "success"},
            ],
            "told again",
        ),
    ],
)
def test_a_result_from_outside_is_shown_once(judge: Judge, after: list[Wire], wanted: str) -> None:
    """A result that came from outside is shown when nothing can change it any more, as the agent told it last."""
    out, _ = encoded(DIALECT, _executed(*after))
    assert [message["content"] for message in judge.ask(out)["messages"] if message["role"] == "tool"] == [wanted]
    # The answer began a second run, after one that left the call to somebody else.
    assert [value["runId"] for value in out if value["type"] == "RUN_STARTED"] == ["r", "r#2"]
    ends = [value["outcome"] for value in out if value["type"] == "RUN_FINISHED"]
    assert ends == [{"type": "success", "pendingToolCallIds": ["c"]}, {"type": "success"}]


# --- theirs in ----------------------------------------------------------------------------------


@judged
@given(stream=st.one_of(foreign_streams(), foreign_streams().flatmap(mutated)))
def test_refused_where_the_client_refuses(judge: Judge, stream: list[Any]) -> None:
    """Our first error stands at the event at which the client gives up, for streams that are in order and for others."""
    verdict = judge.ask(stream)
    note(f"{verdict['error']} at {verdict['index']}; {remarks_of(stream)}")
    assert fatal(stream) == verdict["index"]


@judged
@given(stream=streams().map(known), data=st.data())
def test_ours_mutated_are_refused_where_the_client_refuses(judge: Judge, stream: list[Wire], data: st.DataObject) -> None:
    """The same for what our encoder wrote, with things wrong in it."""
    out = data.draw(mutated(encoded(DIALECT, stream)[0]))
    verdict = judge.ask(out)
    note(f"{verdict['error']} at {verdict['index']}; {remarks_of(out)}")
    assert fatal(out) == verdict["index"]


@judged
@pytest.mark.parametrize("name", FAULTS)
def test_each_rule_is_the_clients(judge: Judge, name: str) -> None:
    """Each rule fires on a stream of its own, at the event and with the earlier event that it clashes with, and so says the client."""
    fault = FAULTS[name]
    found = [(at, remark.related) for at, remark in remarks_of(fault.events) if remark.rule == name]
    assert found[0] == (fault.at, fault.related)
    severe = DIALECT.rules[name]["severity"] == "error" and name not in DIFFERENT
    assert judge.ask(fault.events)["index"] == (fault.at if severe else None)


#: Where we say more than the client, or elsewhere, and why.
DIFFERENT = {
    "agui.run-unfinished": "the client takes a stream that was cut for a run that succeeded (ag-ui#2300); the specification does not",
    "agui.lone-surrogate": "JavaScript holds what UTF-8 cannot write",
}


def test_each_rule_is_known() -> None:
    """There is a stream for each rule, and no rule has the id of one of the contract's."""
    assert set(FAULTS) == set(DIALECT.rules)
    assert not set(DIALECT.rules) & set(RULES)


@pytest.mark.parametrize("name", WORLD)
def test_the_real_world(name: str) -> None:
    """A stream of the real world gives its message, breaks its rules, and what has no place in ours is kept by name."""
    case = WORLD[name]
    assert tuple(remark.rule for _, remark in remarks_of(case.events)) == case.broken
    back, _, _ = decoded(DIALECT, case.events)
    message = folded(back)[0]
    assert not differences(case.message, message), message
    customs = [event.name for event in back if type(event) is structs.CustomEvent]
    assert set(case.kept) == set(customs) or (case.broken and set(case.kept) <= set(customs)), customs


@judged
@pytest.mark.parametrize("name", WORLD)
def test_the_real_world_in_the_client(judge: Judge, name: str) -> None:
    """The client gives up where our first error stands, retired events aside, which only its older layers know."""
    case = WORLD[name]
    if "agui.retired-event" not in case.broken:
        assert judge.ask(case.events)["index"] == fatal(case.events)


@given(foreign_streams())
def test_no_text_is_lost(stream: list[Wire]) -> None:
    """Every delta of a stream stands in an event of ours, whatever the order."""
    stream = [{**event, "delta": f"<{i}>"} if isinstance(event.get("delta"), str) else event for i, event in enumerate(stream)]
    back, _, _ = decoded(DIALECT, stream)
    told = json.dumps([wire_of(event, "") for event in back])
    assert [event["delta"] for event in stream if isinstance(event.get("delta"), str) and event["delta"] not in told] == []


@given(st.lists(st.one_of(_JSON, st.dictionaries(st.sampled_from(_FIELDS), _JSON, max_size=4)), max_size=4), foreign_streams(), st.data())
def test_nothing_is_raised(values: list[Any], stream: list[Wire], data: st.DataObject) -> None:
    """Any JSON may come, and any value in any field of any event; what comes of it can be folded and written."""
    kind = data.draw(st.sampled_from([*agui_shapes.EVENTS, *agui_shapes.RETIRED]))
    odd = [{**value, "type": kind} if is_object(value) else value for value in values]
    assert DIALECT.decoder is not None
    decoder = DIALECT.decoder()
    back = [event for value in (*stream[:3], *odd, *data.draw(mutated(stream))) for event in decoder.feed(value)]
    json.dumps(folded([*back, *decoder.finish()])).encode()


def test_odd_values_are_remarks() -> None:
    """No object, no type, nesting without end and NaN are remarks, never a traceback."""
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    odd: list[Any] = [None, 1, [], "x", {}, {"type": 5}, {**RUN, "rawEvent": deep}]
    for value in odd:
        assert [remark.rule for _, remark in remarks_of([value])] == [UNFIT], value
    assert [remark.rule for _, remark in remarks_of([{**RUN, "timestamp": float("nan")}])] == [UNFIT]
    assert [remark.rule for _, remark in remarks_of([RUN, {"type": "RAW", "event": 10**400}, DONE])] == []


# --- what is declared ---------------------------------------------------------------------------


def test_each_loss_happens() -> None:
    """Each declared loss is really hit."""
    parts = [{"type": "text", "text": "he"}, {"type": "text", "text": "llo"}]
    _, losses, _ = decoded(DIALECT, [{**RUN, "timestamp": 2**53 - 1}, *call("c"), result("c", parts), DONE])
    assert {loss.reason for loss in losses} == set(DIALECT.losses)


@given(streams())
def test_the_mapping_of_what_goes_out_is_true(stream: list[Wire]) -> None:
    """What carries an event of ours is what the table says, or CUSTOM where it is out of order."""
    table = {(row.ours, row.theirs) for row in DIALECT.mapping if row.way in {"both", "out"}}
    for value in encoded(DIALECT, known(stream))[0]:
        own = value.get("metadata", {}).get("eventfold", {})
        said = value["value"] if own.get("carries") else own.get("event")
        if said is not None:
            assert (EVENTS[said["type"]], value["type"]) in table or own.get("carries")


def test_the_mapping_of_what_comes_in_is_true() -> None:
    """What events of others mean is what the table says, over all streams of this file; and each row of it happens."""
    more: list[list[Any]] = [
        [RUN, *text("m", "x", subagentRunId="s1"), {**ERROR, "usage": [{}]}],
        [
            RUN,
            {"type": "SUBAGENT_STARTED", "subagentRunId": "s1", "name": "n"},
            *call("c", subagentRunId="s1"),
            {"type": "SUBAGENT_FINISHED", "subagentRunId": "s1"},
            DONE,
        ],
        [
            RUN,
            {"type": "SUBAGENT_STARTED", "subagentRunId": "s1", "name": "n"},
            {"type": "SUBAGENT_ERROR", "subagentRunId": "s1", "message": "m"},
            DONE,
        ],
        [RUN, {"type": "SUBAGENT_STARTED", "subagentRunId": "s1", "name": "n"}, {"type": "SUBAGENT_FINISHED", "subagentRunId": "s1"}, DONE],
    ]
    seen: set[tuple[str, str]] = set()
    for stream in [*more, *(case.events for case in WORLD.values()), *(fault.events for fault in FAULTS.values())]:
        assert DIALECT.decoder is not None
        decoder = DIALECT.decoder()
        for value in stream:
            seen |= {(type(event).__name__, value.get("type", "")) for event in decoder.feed(value)}
    table = {(row.ours, row.theirs) for row in DIALECT.mapping if row.way in {"both", "in"}}
    # An end that was held back comes with whatever follows, a reply begins with whatever belongs to none, and anything may be kept.
    implied = {"ThinkingBlockEndEvent", "ToolCallEndEvent", "ReplyStartEvent", "CustomEvent", "HintBlockEvent"}
    # What is opened because its opener is missing, or closed because a chunk's lane is.
    repaired = {("TextBlockStartEvent", "TEXT_MESSAGE_CONTENT"), ("ThinkingBlockStartEvent", "REASONING_MESSAGE_CONTENT")}
    repaired |= {("ToolCallStartEvent", "TOOL_CALL_ARGS"), ("TextBlockEndEvent", "TEXT_MESSAGE_CHUNK")}
    # What closes the lanes of chunks gives the ends of what they opened.
    closing = {("TextBlockEndEvent", theirs) for theirs in ("RUN_FINISHED", "RUN_ERROR", "CUSTOM", "SUBAGENT_FINISHED")}
    unruly = {pair for pair in seen - table - repaired - closing if pair[0] not in implied}
    assert {pair for pair in unruly if pair[1] in agui_shapes.EVENTS} == set()
    rows = {(ours.__name__, theirs) for theirs, classes in IN.items() for ours in classes} | {("CustomEvent", theirs) for theirs in KEPT}
    rows |= {(ours.__name__, theirs) for ours, names in BOTH.items() for theirs in names if ours not in _HELD}
    assert rows <= seen


#: Ends that come with the event after theirs.
_HELD = {structs.ThinkingBlockEndEvent, structs.ToolCallEndEvent}


def test_every_class_and_event_has_a_row() -> None:
    """The table names every event class of ours, and every event of AG-UI."""
    assert {ours.__name__ for ours in (*BOTH, *OUT, *CARRIED)} == set(EVENTS.values())
    assert {row.theirs for row in DIALECT.mapping} >= set(agui_shapes.EVENTS)


# --- messages -----------------------------------------------------------------------------------


@given(st.lists(messages(), max_size=3))
def test_messages_come_back(given_messages: list[Wire]) -> None:
    """Messages of ours go out as AG-UI's, with ids of their own, load in AG-UI's Python models, and come back whole."""
    assert DIALECT.write_messages is not None
    assert DIALECT.read_messages is not None
    wanted = [wire_of(message, MESSAGES[message["role"]]) for message in given_messages]
    said = DIALECT.write_messages(given_messages)
    out = json.loads(json.dumps(said.value))
    assert len({message["id"] for message in out}) == len(out)
    for message in out:
        _PYTHON_MESSAGE.validate_python(message)
    back = DIALECT.read_messages(out)
    assert (back.value, back.losses, said.losses) == (wanted, [], [])


@judged
@given(stream=streams(most=1).map(known))
def test_what_the_client_holds_can_be_read(judge: Judge, stream: list[Wire]) -> None:
    """The messages that the client made of a stream are readable, and those of AG-UI's users are as they were."""
    assert DIALECT.read_messages is not None
    out, _ = encoded(DIALECT, stream)
    held = judge.ask(out)["messages"]
    for message in DIALECT.read_messages(held).value:
        MSG.validate_python(message)


FOREIGN_MESSAGES: dict[str, tuple[Any, list[Wire]]] = {
    "a conversation": (
        [
            {"id": "s", "role": "developer", "content": "be brief"},
            {"id": "u", "role": "user", "name": "Ann", "content": [{"type": "text", "text": "hi"}]},
            {"id": "h", "role": "reasoning", "content": "hm", "encryptedValue": "v"},
            {
                "id": "a",
                "role": "assistant",
                "content": "",
                "toolCalls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
            {"id": "t", "role": "tool", "toolCallId": "c", "content": "1", "error": "bad"},
            {"id": "b", "role": "assistant", "content": "done"},
        ],
        [
            {"role": "system", "content": [{"text": "be brief"}]},
            {"role": "user", "name": "Ann", "content": [{"id": "u/0", "text": "hi"}]},
            {
                "role": "assistant",
                "id": "h",
                "content": [
                    {"type": "thinking", "signature": "v"},
                    {"type": "tool_call", "state": "finished"},
                    {"type": "tool_result", "name": "f", "output": "1", "state": "error"},
                    {"text": "done"},
                ],
            },
        ],
    ),
    "the input of a run": (
        {"threadId": "t", "messages": [{"id": "u", "role": "user", "content": "hi"}]},
        [{"role": "user", "content": [{"text": "hi"}]}],
    ),
    "a result without a call": (
        [{"id": "t", "role": "tool", "toolCallId": "c", "content": "1"}],
        [{"role": "assistant", "content": [{"id": "c"}]}],
    ),
}


@pytest.mark.parametrize("name", FOREIGN_MESSAGES)
def test_messages_of_others_are_read(name: str) -> None:
    """All that the agent said between two user messages is one message, and each is valid."""
    assert DIALECT.read_messages is not None
    value, wanted = FOREIGN_MESSAGES[name]
    found = DIALECT.read_messages(value).value
    assert not differences(wanted, found), found
    for message in found:
        MSG.validate_python(message)


@given(
    st.one_of(
        _JSON,
        st.lists(
            st.fixed_dictionaries({"role": st.sampled_from(("user", "tool", "x", "assistant"))}, optional={"id": _JSON, "content": _JSON})
        ),
    )
)
def test_what_is_no_message_is_unfit(value: Any) -> None:
    """What AG-UI does not allow raises Unfit, and nothing else."""
    assert DIALECT.read_messages is not None
    if value != []:
        with pytest.raises(Unfit):
            DIALECT.read_messages([*value, None] if isinstance(value, list) else value)


# --- recognising --------------------------------------------------------------------------------


@given(streams(most=1), messages())
def test_recognised_and_not_taken_for_ours(stream: list[Wire], message: Wire) -> None:
    """What goes out is recognised by its first value; events and messages of ours never are."""
    events = known(stream)
    out, _ = encoded(DIALECT, events)
    assert all(DIALECT.recognise(value) for value in out[:1])
    assert not any(DIALECT.recognise(value) for value in (*stream, message))


def test_the_page_is_true() -> None:
    """The examples on the dialect's page are what comes of them."""
    page = (ROOT / "src/eventfold/dialects/agui.md").read_text("utf-8")
    blocks = re.findall(r"^```jsonl?\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    foreign, ours, said = ([json.loads(line) for line in block.splitlines()] for block in (blocks[0], blocks[2], blocks[3]))
    assert folded(decoded(DIALECT, foreign)[0]) == [json.loads(blocks[1])]
    assert encoded(DIALECT, ours)[0] == said
