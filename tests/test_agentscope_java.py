"""
The AgentScope Java dialect on random streams and messages, judged by AgentScope Java 2.0.0 itself.

What goes out is read by the vendor's own classes, through its codec and through a plain ObjectMapper; what they write back, with
its doubled keys, is what comes back here. Nothing is lost, so that no law leaves anything aside.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from agentscope_java_judge import Judge, no_judge
from dialect_laws import decoded, encoded, folded, journey
from eventfold_models.tables import EVENTS, MESSAGES
from hypothesis import given
from hypothesis import strategies as st
from support import ROOT, Wire

from eventfold import read_event
from eventfold.dialects import NAMES, Unfit, dialect, recognise
from eventfold.dialects.agentscope_java import DIALECT
from eventfold.dialects.agentscope_java.moment import from_java, to_java
from eventfold.dialects.translation import EPOCH
from eventfold.fuzz.breaking import broken_streams, nested, with_odd_value
from eventfold.fuzz.payloads import texts
from eventfold.fuzz.strategies import messages, streams
from eventfold.jsonvalue import depth_of, is_object
from eventfold.shape import wire_of
from eventfold.wire import InvalidEvent
from eventfold.wire.depth import MAX_DEPTH
from eventfold.wire.schema import errors

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = ROOT / "tests/recordings/agentscope-java-2.0.0"
STREAMS: dict[str, list[Wire]] = {
    path.name.removesuffix(".events.jsonl"): [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for path in sorted(FOLDER.glob("*.events.jsonl"))
}
MEMORIES: list[Any] = [json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.message.json"))]
#: Names of fields that make a decoder look closer.
_KEYS = st.one_of(
    st.sampled_from(
        ("type", "id", "replyId", "metadata", "eventfold", "set", "content", "role", "seq", "taskId", "payload", "toolCalls", "result")
    ),
    texts,
)
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    texts,
    st.text(),
    st.sampled_from((*EVENTS, "AGENT_START", "AGENT_RESULT", "USER", "\ud800")),
)
anything = st.recursive(
    _LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_KEYS, inner, max_size=4)), max_leaves=12
)


def known(stream: list[Wire]) -> list[Wire]:
    """Leave out what the engine does not read as an event, which an encoder is never given."""
    return [event for event in stream if _reads(event)]


def _reads(event: Wire) -> bool:
    try:
        read_event(event)
    except InvalidEvent:
        return False
    return True


@pytest.fixture(scope="session")
def judge() -> Iterator[Judge]:
    """Start the vendor's library."""
    if reason := no_judge():
        pytest.skip(reason)
    started = Judge()
    yield started
    started.close()


# --- there and back -----------------------------------------------------------------------------


@given(streams())
def test_a_stream_comes_back_whole(stream: list[Wire]) -> None:
    """Any valid stream goes out and comes back to the same messages, without a remark or a loss."""
    events = known(stream)
    there = journey(DIALECT, events)
    assert (there.remarks, there.losses) == ([], [])
    assert folded(there.back) == folded(events)


@given(streams(moves=8), st.data())
def test_every_prefix_comes_back_whole(stream: list[Wire], data: st.DataObject) -> None:
    """However early a stream stops, what was said of it comes back to the same messages."""
    events = known(stream)
    prefix = events[: data.draw(st.integers(0, len(events)))]
    there = journey(DIALECT, prefix)
    assert (there.remarks, there.losses) == ([], [])
    assert folded(there.back) == folded(prefix)


@given(broken_streams())
def test_a_broken_stream_comes_back_as_broken(stream: list[Wire]) -> None:
    """What breaks our rules goes out as it is, and comes back to the same messages."""
    events = known(stream)
    assert folded(journey(DIALECT, events).back) == folded(events)


def test_what_nests_as_deep_as_it_may_comes_back() -> None:
    """What is carried beside stands deeper in Java's event than in ours, and is still read: as text."""
    deep: Any = 1
    for _ in range(98):
        deep = [deep]
    start = {"type": "REPLY_START", "id": "1", "created_at": EPOCH, "reply_id": "r", "session_id": "s", "name": "n"}
    block = {"created_at": EPOCH, "reply_id": "r", "block_id": "b"}
    end = {"type": "TEXT_BLOCK_END", "id": "3", **block, "extra": {"x_deep": deep}}
    events = [start, {"type": "TEXT_BLOCK_START", "id": "2", **block}, end]
    there = journey(DIALECT, events)
    assert (there.remarks, there.losses) == ([], [])
    assert all(depth_of(value) <= MAX_DEPTH for value in there.out)
    assert folded(there.back) == folded(events)


@given(messages())
def test_a_message_comes_back_whole(message: Wire) -> None:
    """Any message that the schemas allow is written as Java messages, and read from them as it was."""
    said = DIALECT.write_messages  # both are there, since the dialect has messages
    read = DIALECT.read_messages
    assert said is not None
    assert read is not None
    out = said([message])
    assert out.losses == []
    back = read(json.loads(json.dumps(out.value)))
    assert (back.value, back.losses) == ([wire_of(message, MESSAGES[message["role"]])], [])


@given(streams())
def test_messages_of_a_stream_come_back_apart(stream: list[Wire]) -> None:
    """Several replies in one list of Java messages stay apart, also when they follow each other."""
    whole = folded(known(stream))
    assert read_all(write_all(whole)) == whole


def write_all(whole: list[Wire]) -> list[Wire]:
    """Write messages as Java's."""
    assert DIALECT.write_messages is not None
    return json.loads(json.dumps(DIALECT.write_messages(whole).value))


def read_all(value: Any) -> list[Wire]:
    """Read messages of Java's."""
    assert DIALECT.read_messages is not None
    return DIALECT.read_messages(value).value


def test_no_loss_is_declared() -> None:
    """Nothing is lost, which the laws above ask of every run."""
    assert DIALECT.losses == {}


# --- the judge ----------------------------------------------------------------------------------


@given(streams())
def test_java_reads_every_stream_and_what_it_writes_comes_back_whole(judge: Judge, stream: list[Wire]) -> None:
    """AgentScope's classes take each event, and what they write back folds to the same messages."""
    events = known(stream)
    out, _ = encoded(DIALECT, events)
    back, losses, remarks = decoded(DIALECT, judge.read("event", out))
    assert (losses, remarks) == ([], [])
    assert folded(back) == folded(events)


@given(streams(moves=8), st.data())
def test_java_reads_every_prefix(judge: Judge, stream: list[Wire], data: st.DataObject) -> None:
    """However early a stream stops, what goes out, its end included, is read by AgentScope's classes."""
    events = known(stream)
    prefix = events[: data.draw(st.integers(0, len(events)))]
    back = decoded(DIALECT, judge.read("event", encoded(DIALECT, prefix)[0]))[0]
    assert folded(back) == folded(prefix)


@given(broken_streams())
def test_java_reads_every_broken_stream(judge: Judge, stream: list[Wire]) -> None:
    """The same of streams that break our rules."""
    events = known(stream)
    out, _ = encoded(DIALECT, events)
    assert folded(decoded(DIALECT, judge.read("event", out))[0]) == folded(events)


@given(messages())
def test_java_reads_every_message_and_what_it_writes_comes_back_whole(judge: Judge, message: Wire) -> None:
    """AgentScope's classes take each message, roles and all, and what they write back is the message."""
    assert read_all(judge.read("msg", write_all([message]))) == [wire_of(message, MESSAGES[message["role"]])]


@given(streams())
def test_what_java_holds_is_the_message(judge: Judge, stream: list[Wire]) -> None:
    """Without our metadata, a Java reader sees the same texts, calls and results, in messages as its own agent cuts them."""
    whole = folded(known(stream))
    seen = [shown(message) for message in judge.read("msg", write_all(whole))]
    assert seen == [part for message in whole for part in project(message)]


def shown(message: Wire) -> tuple[str, list[Any]]:
    """Say what a Java message shows."""
    return message["role"], [_shown(block) for block in message["content"]]


def _shown(block: Wire) -> tuple[Any, ...]:
    kind = block["type"]
    if kind == "tool_use":
        return kind, block["id"], block["name"], block["content"]
    if kind == "tool_result":
        return kind, block["id"], block["name"], block["state"], "".join(part.get("text", "") for part in block["output"])
    if kind in {"data", "image", "audio", "video"}:
        source = block["source"]
        return kind, source.get("url", source.get("data")), source.get("mime_type", source.get("media_type"))
    return kind, block[kind]


def project(message: Wire) -> Iterator[tuple[str, list[Any]]]:
    """Say what Java's messages should show of a message of ours."""
    if message["role"] != "assistant":
        yield message["role"].upper(), [_projected(block) for block in message["content"]]
        return
    rest = list(message["content"])
    if not rest:
        yield "ASSISTANT", []
    while rest:
        run: list[Wire] = []
        while rest and rest[0]["type"] != "tool_result":
            run.append(rest.pop(0))
        if run:
            yield "ASSISTANT", [_projected(block) for block in run]
        if rest:
            yield "TOOL", [_projected(rest.pop(0))]


def _projected(block: Wire) -> tuple[Any, ...]:
    match block["type"]:
        case "tool_call":
            return "tool_use", block["id"], block["name"], block["input"]
        case "tool_result":
            return "tool_result", block["id"], block["name"], block["state"], _plain(block["output"])
        case "hint":
            return "hint", _plain(block["hint"])
        case "data" | "image" | "audio" | "video" as kind:
            return kind, block["source"].get("url", block["source"].get("data")), block["source"]["media_type"]
        case kind:
            return kind, block[kind]


def _plain(output: Any) -> str:
    return output if isinstance(output, str) else "".join(part.get("text", "") for part in output)


@given(streams())
def test_what_java_streams_is_the_message(judge: Judge, stream: list[Wire]) -> None:
    """A Java reader that joins the deltas of each block gets the message's texts and arguments, unless an end replaced them."""
    events = [event for event in known(stream) if not (event["type"] == "TEXT_BLOCK_END" and event.get("text") is not None)]
    events = [event for event in events if event["type"] not in {"USER_CONFIRM_RESULT", "EXTERNAL_EXECUTION_RESULT"}]
    out, _ = encoded(DIALECT, events)
    joined: dict[tuple[str, str, str], str] = {}
    for event in judge.read("event", out):
        kind = event["type"].removesuffix("_DELTA")
        if event["type"] in {"TEXT_BLOCK_DELTA", "THINKING_BLOCK_DELTA", "TOOL_CALL_DELTA"}:
            key = (event["replyId"], kind, event.get("blockId", event.get("toolCallId")))
            joined[key] = joined.get(key, "") + event["delta"]
    names = {"text": ("TEXT_BLOCK", "text"), "thinking": ("THINKING_BLOCK", "thinking"), "tool_call": ("TOOL_CALL", "input")}
    streamed = {(event["reply_id"], event.get("tool_call_id")) for event in events if event["type"] == "TOOL_CALL_START"}
    for message in folded(events):
        for block in message["content"]:
            if block["type"] in names and (block["type"] != "tool_call" or (message["id"], block["id"]) in streamed):
                kind, field = names[block["type"]]
                assert joined.get((message["id"], kind, block["id"]), "").endswith(block[field])


@pytest.mark.parametrize("name", STREAMS)
def test_java_writes_what_it_wrote(judge: Judge, name: str) -> None:
    """Every recorded event is read and written by the judge to the same text, the doubled key included: the judge is what recorded it."""
    lines = (FOLDER / f"{name}.events.jsonl").read_text("utf-8").splitlines()
    assert judge.written("event", lines) == lines


def test_the_judge_refuses_what_is_wrong(judge: Judge) -> None:
    """The judge judges: an unknown field of a block, a lower-case role and an event of our own are refused."""
    call: Wire = {"type": "tool_use", "id": "c", "name": "n", "input": {}, "content": "{}", "metadata": {}, "state": "pending"}
    event: Wire = {"type": "REQUIRE_USER_CONFIRM", "id": "1", "createdAt": "t", "replyId": "r", "toolCalls": [call]}
    assert "written" in judge.ask("event", [event])
    assert "UnrecognizedProperty" in judge.ask("event", [{**event, "toolCalls": [{**call, "x_note": 1}]}])["error"]
    assert "InvalidTypeId" in judge.ask("event", [{"type": "REPLY_START", "id": "1", "createdAt": "t"}])["error"]
    assert "error" in judge.ask("msg", [{"id": "1", "role": "assistant", "content": []}])
    # This is why ours goes out as CUSTOM.
    assert (
        "AllToolsDeniedEvent"
        in judge.ask("event", [{"type": "ALL_TOOLS_DENIED", "id": "1", "createdAt": "t", "deniedToolCalls": []}])["error"]
    )


# --- anything at all ----------------------------------------------------------------------------


@given(st.lists(anything, max_size=4))
def test_any_json_is_read_without_raising(values: list[Any]) -> None:
    """Whatever comes, there are remarks, and events that fold."""
    back, losses, _ = decoded(DIALECT, values)
    folded(back)
    assert losses == []
    for value in values:
        DIALECT.recognise(value)
        reads_or_refuses(value)


def reads_or_refuses(value: Any) -> None:
    """Read messages, or be told why they are none."""
    assert DIALECT.read_messages is not None
    found: list[Wire] = []
    broken: str | None = None
    try:
        found = DIALECT.read_messages(value).value
    except Unfit as error:
        broken = error.remark.rule
    assert broken is None or broken in DIALECT.rules
    assert all(message["role"] in MESSAGES for message in found if "role" in message)


@st.composite
def mutated(draw: st.DrawFn) -> list[Any]:
    """Draw a recording with some events lost, repeated, swapped, renamed or holding odd values."""
    stream: list[Any] = list(draw(st.sampled_from(list(STREAMS.values()))))
    types = [event["type"] for event in stream]
    for _ in range(draw(st.integers(1, 5))):
        place, other = draw(st.integers(0, len(stream) - 1)), draw(st.integers(0, len(stream) - 1))
        how = draw(st.sampled_from(("odd", "odd", "drop", "double", "swap", "retype")))
        if how == "odd":
            stream[place] = draw(with_odd_value(stream[place]))
        elif how == "drop":
            del stream[place : place + (len(stream) > 1)]
        elif how == "double":
            stream.insert(other, stream[place])
        elif how == "swap":
            stream[place], stream[other] = stream[other], stream[place]
        elif is_object(stream[place]):
            stream[place] = {**stream[place], "type": draw(st.sampled_from(types))}
    return stream


@given(mutated())
def test_a_mutated_stream_is_read_without_raising(values: list[Any]) -> None:
    """Events in any order and shape give messages that fit their schema, and remarks that have a rule."""
    back, _, remarks = decoded(DIALECT, values)
    assert {remark.rule for remark in remarks} <= set(DIALECT.rules)
    for message in folded(back):
        assert errors(message, MESSAGES[message["role"]]) == []


@given(streams(moves=8), st.data())
def test_our_own_output_may_be_mutated(stream: list[Wire], data: st.DataObject) -> None:
    """What we carry in metadata is as foreign as all else: whatever stands there, nothing is raised."""
    out, _ = encoded(DIALECT, known(stream))
    for _ in range(3):
        place = data.draw(st.integers(0, len(out) - 1))
        out[place] = data.draw(with_odd_value(out[place]))
    for message in folded(decoded(DIALECT, out)[0]):
        assert errors(message, MESSAGES[message["role"]]) == []


@given(st.sampled_from(MEMORIES), st.data())
def test_mutated_messages_are_read_or_refused(memory: Any, data: st.DataObject) -> None:
    """Stored messages with odd values are read, or refused by a rule."""
    for _ in range(3):
        memory = data.draw(with_odd_value(memory))
    reads_or_refuses(memory)


@pytest.mark.parametrize("value", [nested(101), {"type": "CUSTOM", "value": nested(500)}, float("nan"), 10**400, {"type": ["a"]}])
def test_hostile_values_are_unfit(value: Any) -> None:
    """What is too deep, too large or no JSON number is one remark."""
    _, _, remarks = decoded(DIALECT, [value])
    assert [remark.rule for remark in remarks] in (["dialect.unfit"], ["dialect.unknown"])


# --- what the tables say ------------------------------------------------------------------------


def test_the_mapping_table_is_true_of_what_goes_out() -> None:
    """Each event of the examples goes out as the row of its class says, and every row is reached."""
    rows = {(row.ours, row.theirs) for row in DIALECT.mapping if row.ours in EVENTS.values() and row.way in {"both", "out"}}
    seen: set[tuple[str, str]] = set()
    for tag, name in EVENTS.items():
        for path in sorted((ROOT / "schemas/examples" / name).glob("*.json")):
            event = json.loads(path.read_text("utf-8"))
            assert event["type"] == tag
            start = {
                "type": "REPLY_START",
                "id": "0",
                "created_at": "t",
                "reply_id": event.get("reply_id", "r"),
                "session_id": "",
                "name": "n",
            }
            before = [start] if tag == "REPLY_END" else []
            out, _ = encoded(DIALECT, [*before, event])
            seen |= {(name, value["type"]) for value in out[len(before) :] if not value["id"].endswith("/parked")}
    start = {"type": "REPLY_START", "id": "0", "created_at": "t", "reply_id": "r", "session_id": "", "name": "n"}
    ended = {"type": "REPLY_END", "id": "1", "created_at": "t", "reply_id": "r", "session_id": "", "finished_reason": "interrupted"}
    seen |= {("ReplyEndEvent", value["type"]) for value in encoded(DIALECT, [start, ended])[0][1:]}
    assert seen == rows


@given(streams())
def test_random_streams_go_out_as_the_table_says(stream: list[Wire]) -> None:
    """No random event goes out as something that is not in the table."""
    rows = {(row.ours, row.theirs) for row in DIALECT.mapping if row.way in {"both", "out"}}
    assert DIALECT.encoder is not None
    encoder = DIALECT.encoder()
    for event in known(stream):
        assert {(EVENTS[event["type"]], value["type"]) for value in encoder.feed(read_event(event))} <= rows


def test_the_dialect_is_recognised_and_takes_no_other() -> None:
    """Its recordings and memories are its own; ours, and what is not surely Java's, are not."""
    for stream in STREAMS.values():
        found = recognise(stream[:1])
        assert found is not None
        assert found.name == "agentscope_java"
    for memory in MEMORIES:
        assert DIALECT.recognise(memory[0])
    for path in sorted((ROOT / "schemas/examples").glob("*/*.json")):
        assert not DIALECT.recognise(json.loads(path.read_text("utf-8")))
    others: list[Any] = [{"type": "CUSTOM", "name": "n", "value": {}}, {"role": "user", "content": []}, [], None, {"type": {}}]
    assert not any(map(DIALECT.recognise, others))
    assert DIALECT.name in NAMES
    assert dialect(DIALECT.name) is DIALECT


@given(messages())
def test_no_message_of_ours_is_taken_for_javas(message: Wire) -> None:
    """A role in small letters is ours."""
    assert not DIALECT.recognise(message)


@pytest.mark.parametrize(
    ("java", "ours"),
    [("2026-08-22 16:00:00.123", "2026-08-22T16:00:00.123"), ("2026-08-22 16:00:00.000", "2026-08-22T16:00:00.000"), ("soon", "soon")],
)
def test_times_of_messages(java: str, ours: str) -> None:
    """Java's times come back as they were, whatever they are."""
    assert from_java(java) == ours
    assert to_java(ours) == java


def test_times_of_ours_lose_no_digit_that_java_has() -> None:
    """A time with an offset is written by its digits; what Java does not hold is carried beside."""
    assert to_java("2026-08-22T08:00:00.123456Z") == "2026-08-22 08:00:00.123"
    assert to_java("2026-08-22") == "2026-08-22 00:00:00.000"
