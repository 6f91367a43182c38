"""
The A2A dialect, judged by A2A's own SDK.

Law A: what a real server keeps of our stream, read back, is what we fold. Law B: what a real client receives folds to the same.
"""

from __future__ import annotations

import json
from base64 import b64decode
from typing import TYPE_CHECKING, Any

import pytest
from a2a_server import by_task, parsed, play
from dialect_laws import decoded, folded, outside, patterns_of
from eventfold_models.tables import EVENTS, MESSAGES
from hypothesis import Phase, given, settings
from support import RECORDINGS, Wire, events_of, recording_name

from eventfold.dialects.a2a import DIALECT, outgoing, snapshot
from eventfold.dialects.eventfold import DIALECT as NATIVE
from eventfold.fuzz.breaking import broken_streams
from eventfold.fuzz.strategies import messages, streams
from eventfold.jsonvalue import is_array
from eventfold.shape import wire_of
from eventfold.wire.reader import EventReader, StoredMessage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from eventfold.findings import Loss

#: The id of what the judge's client asks.
ASKED = "u1"


def structs_of(stream: Iterable[Wire]) -> list[Any]:
    """Read what is an event of the contract; streams hold events of tomorrow, too."""
    reader = EventReader()
    read = [reader.read(json.dumps(event).encode()) for event in stream]
    return [event for event in read if event is not None and not isinstance(event, StoredMessage)]


def encoded_structs(events: Sequence[Any]) -> tuple[list[Wire], list[Loss]]:
    """Say events, through JSON text."""
    assert DIALECT.encoder is not None
    encoder = DIALECT.encoder()
    out = [value for event in events for value in encoder.feed(event)]
    out += encoder.finish()
    return json.loads(json.dumps(out)), encoder.losses


def errors(remarks: Iterable[Any]) -> list[Any]:
    """Give the remarks that say that a rule is broken, other than that the stream was cut."""
    return [found for found in remarks if DIALECT.rules[found.rule]["severity"] == "error" and found.rule != "a2a.task-unfinished"]


def comes_back(events: Sequence[Any]) -> list[Any]:
    """Hold what comes back against what went out; gives the remarks."""
    out, lost = encoded_structs(events)
    back, lost_too, remarks = decoded(DIALECT, out)
    patterns = patterns_of(DIALECT, [*lost, *lost_too])
    assert errors(remarks) == []
    assert outside(folded(back), patterns) == outside(folded(events), patterns)
    return remarks


@given(streams())
def test_our_streams_come_back_whole(stream: list[Wire]) -> None:
    """A valid stream goes out and comes back; nothing of its messages is lost, and it breaks no rule of A2A."""
    events = structs_of(stream)
    assert comes_back(events) == []
    assert patterns_of(DIALECT, encoded_structs(events)[1]) == set()


@given(streams(most=2, moves=6))
def test_every_prefix_comes_back_whole(stream: list[Wire]) -> None:
    """So does every prefix; only that the task goes on is remarked."""
    events = structs_of(stream)
    for end in range(len(events)):
        assert {found.rule for found in comes_back(events[:end])} <= {"a2a.task-unfinished"}


@given(broken_streams())
def test_broken_streams_come_back_as_far_as_is_said(stream: list[Wire]) -> None:
    """An invalid stream goes out without raising, the SDK's types take it, and what is reported lost is all that is lost."""
    events = structs_of(stream)
    comes_back(events)
    for value in encoded_structs(events)[0]:
        assert parsed(value).WhichOneof("payload")


def ours(found: list[Wire]) -> list[Wire]:
    """Leave out what the judge's client asked."""
    return [message for message in found if message["id"] != ASKED]


def judged(events: Sequence[Any], *, valid: bool = False) -> None:
    """Hold what the SDK's server and client make of a stream against what we fold of it."""
    assert DIALECT.read_messages is not None
    out, lost = encoded_structs(events)
    patterns = patterns_of(DIALECT, lost)
    wanted = {message["id"]: message for message in folded(events)}
    for values in by_task(out):
        played = play(values)
        assert played.error is None
        if played.task is None:
            assert [next(iter(value)) for value in played.received] == ["message"]
            continue
        [stored] = ours(DIALECT.read_messages(played.task).value)
        expected = outside([wanted.pop(stored["id"])], patterns)
        assert outside([stored], patterns) == expected
        assert project(played.task) == shown(stored)
        received = decoded(DIALECT, played.received)[0]
        assert outside(ours(folded(received)), patterns) == expected
        again, lost_again, _ = decoded(DIALECT, [*played.received, played.task])
        assert (lost_again, ours(folded(again))) == ([], ours(folded(received)))
        resumed, lost_too, _ = decoded(DIALECT, [played.task])
        assert not (valid and lost_too)
        gone = patterns_of(DIALECT, lost_too)
        assert outside(ours(folded(resumed)), gone) == outside([stored], gone)
    assert wanted == {}


def project(task: Wire) -> list[Any]:
    """Say what a peer that does not know us sees in a task: its state, and each artifact's text, bytes or URL."""
    seen: list[Any] = [task["status"]["state"].removeprefix("TASK_STATE_")]
    for artifact in task.get("artifacts", []):
        parts = artifact["parts"]
        urls = [part["url"] for part in parts if "url" in part]
        raw = b"".join(b64decode(part["raw"]) for part in parts if "raw" in part)
        seen.append(("".join(part.get("text", "") for part in parts), raw, urls))
    return seen


def shown(message: Wire) -> list[Any]:
    """Say the same of a message of ours, by its own rules."""
    waits = any(block.get("state") in {"asking", "submitted"} for block in message["content"] if block["type"] == "tool_call")
    ends = {"interrupted": "CANCELED", "error": "FAILED"}
    state = ends.get(message["finished_reason"], "COMPLETED") if "finished_at" in message else "INPUT_REQUIRED" if waits else "WORKING"
    return [state, *(_shown(block) for block in message["content"])]


def _shown(block: Wire) -> tuple[str, bytes, list[str]]:
    if block["type"] == "data":
        source = block["source"]
        if source["type"] == "url":
            return "", b"", [source["url"]]
        try:
            return "", b64decode(source["data"], validate=True), []
        except ValueError:
            return "", b"", []
    field = {"text": "text", "thinking": "thinking", "tool_call": "input", "tool_result": "output", "hint": "hint"}[block["type"]]
    value = block[field]
    if not is_array(value):
        return value, b"", []
    children = [_shown(child) for child in value]
    return (
        "".join(text for text, _, _ in children),
        b"".join(raw for _, raw, _ in children),
        [url for _, _, found in children for url in found],
    )


def test_an_empty_delta_of_a_call_is_not_one_of_its_result() -> None:
    """A result that began before its call is open beside it; what comes for the call is the call's."""
    head = {"created_at": "2026-01-01T00:00:00", "reply_id": "r"}
    result, call = {**head, "tool_call_id": "a", "tool_call_name": ""}, {**head, "tool_call_id": "a"}
    events: list[Wire] = [
        {"type": "REPLY_START", "id": "1", **head, "session_id": "s", "name": ""},
        {"type": "TOOL_RESULT_START", "id": "2", **result},
        {"type": "TOOL_CALL_START", "id": "3", **result},
        {"type": "TOOL_CALL_DELTA", "id": "4", **call, "delta": ""},
    ]
    comes_back(structs_of(events))
    assert [value["artifactUpdate"]["artifact"]["artifactId"] for value in encoded_structs(structs_of(events))[0][1:]] == [
        "tool_result:a",
        "tool_call:a",
        "tool_call:a",
    ]


@given(streams(most=2))
def test_the_sdk_makes_of_our_stream_what_we_fold(stream: list[Wire]) -> None:
    """Laws A and B: server, client and we agree; a Task after its stream adds nothing, and one without it is enough."""
    judged(structs_of(stream), valid=True)


@given(broken_streams())
def test_the_sdk_takes_what_is_said_of_broken_streams(stream: list[Wire]) -> None:
    """The same of invalid streams."""
    judged(structs_of(stream))


@given(streams(most=1, moves=8))
def test_the_sdk_takes_every_prefix(stream: list[Wire]) -> None:
    """The same of a stream that stops anywhere."""
    events = structs_of(stream)
    judged(events[: 1 + len(events) // 2])


@pytest.mark.parametrize("path", RECORDINGS, ids=recording_name)
def test_real_streams_come_back_whole(path: Path) -> None:
    """What real agents sent goes through a real server and client without loss."""
    judged(structs_of(events_of(path)))


@given(messages())
def test_messages_come_back_whole(message: Wire) -> None:
    """Any message that the schemas allow is said as a Message or a Task that the SDK's types take, and is read back equal."""
    assert DIALECT.write_messages is not None
    assert DIALECT.read_messages is not None
    said = DIALECT.write_messages([message])
    assert said.losses == []
    values = json.loads(json.dumps(said.value))
    for value in values:
        parsed({"task" if "status" in value else "message": value})
        assert DIALECT.recognise(value)
    assert DIALECT.read_messages(values).value == [wire_of(message, MESSAGES[message["role"]])]


@given(messages())
def test_messages_of_ours_are_not_taken_for_theirs(message: Wire) -> None:
    """No message or event of the contract is recognised, and none of ours in A2A is taken for one of the contract."""
    assert not DIALECT.recognise(message)
    assert not NATIVE.recognise({"message": message})


@given(streams(most=1, moves=6))
def test_streams_are_recognised(stream: list[Wire]) -> None:
    """Each value that goes out is recognised, bare and in JSON-RPC; no event of ours is."""
    for value in encoded_structs(structs_of(stream))[0]:
        assert DIALECT.recognise(value)
        assert DIALECT.recognise({"jsonrpc": "2.0", "id": 1, "result": value})
        assert not NATIVE.recognise(value)
    assert not any(DIALECT.recognise(event) for event in stream)


#: (class of ours, payload) of the rows that go out.
PAIRS = {(row.ours, row.theirs.split(":")[0]) for row in DIALECT.mapping if row.way in {"out", "both"} and row.ours in EVENTS.values()}


def test_the_mapping_table_is_true() -> None:
    """What events are said by over many streams is what the table says, no more and no less."""
    seen: set[tuple[str, str]] = set()

    @settings(max_examples=600, phases=[Phase.generate])
    @given(streams())
    def observe(stream: list[Wire]) -> None:
        assert DIALECT.encoder is not None
        encoder = DIALECT.encoder()
        for event in structs_of(stream):
            seen.update((type(event).__name__, next(iter(value))) for value in encoder.feed(event))

    observe()
    assert seen == PAIRS


def test_every_event_stands_in_the_mapping_table() -> None:
    """No class of ours is missing."""
    assert {row.ours for row in DIALECT.mapping} >= set(EVENTS.values())


START: Wire = {"type": "REPLY_START", "id": "1", "created_at": "2026-01-01", "reply_id": "r", "session_id": "", "name": "n"}
END: Wire = {"type": "REPLY_END", "id": "9", "created_at": "2026-01-01", "reply_id": "r", "session_id": ""}
CALL: list[Wire] = [
    {**START, "type": "TOOL_CALL_START", "id": "2", "tool_call_id": "c", "tool_call_name": "n"},
    {**START, "type": "TOOL_CALL_END", "id": "3", "tool_call_id": "c"},
]
RESULT: Wire = {**START, "type": "TOOL_RESULT_START", "id": "4", "tool_call_id": "c", "tool_call_name": "n"}
SIGNAL: Wire = {"type": "CUSTOM", "id": "s", "created_at": "2026-01-01", "name": "n"}

#: Streams of ours, and the loss that each has on its way out.
LOSING: list[tuple[str, list[Wire]]] = [
    (outgoing.REDELIVERED, [START, *CALL, CALL[0]]),
    (outgoing.NOT_STARTED, [END]),
    (outgoing.AFTER_END, [START, END, {**START, "id": "2"}]),
    (outgoing.LATE, [START, *CALL, {**END, "finished_reason": "error"}, RESULT]),
    (outgoing.NO_TASK, [START, END, SIGNAL]),
]


@pytest.mark.parametrize(("reason", "stream"), LOSING, ids=[str(i) for i in range(len(LOSING))])
def test_each_loss_on_the_way_out_happens(reason: str, stream: list[Wire]) -> None:
    """What cannot be said is reported, once, and the rest comes back."""
    events = structs_of(stream)
    assert [loss.reason for loss in encoded_structs(events)[1]] == [reason]
    comes_back(events)


def test_signals_alone_are_a_message() -> None:
    """A stream without replies is one Message, and its events come back."""
    out, lost = encoded_structs(structs_of([SIGNAL, {**SIGNAL, "id": "s2"}]))
    assert ([next(iter(value)) for value in out], lost) == (["message"], [])
    assert [event.name for event in decoded(DIALECT, out)[0]] == ["n", "n"]


def test_a_task_without_its_stream_may_say_more_than_events_can() -> None:
    """A reply that was cut, with an open call whose result runs, is read whole as a message; as a stream, what is lost is said."""
    assert DIALECT.read_messages is not None
    assert DIALECT.write_messages is not None
    block = {"type": "text", "id": "t", "text": ""}
    message = {"id": "r", "name": "n", "role": "assistant", "created_at": "t", "content": [block, block]}
    [value] = DIALECT.write_messages([message]).value
    assert DIALECT.read_messages(value).value == [message]
    assert {loss.reason for loss in decoded(DIALECT, [value])[1]} == {snapshot.SNAPSHOT}


def test_an_answer_may_come_as_a_message() -> None:
    """The message of an answer's status is what a client sends; read by itself, it is the answer."""
    ask = {**START, "type": "REQUIRE_USER_CONFIRM", "id": "5", "tool_calls": [{"type": "tool_call", "id": "c", "name": "n", "input": ""}]}
    answers = [{"confirmed": True, "tool_call": {"type": "tool_call", "id": "c", "name": "n", "input": "{}"}}]
    events = structs_of([START, *CALL, ask, {**START, "type": "USER_CONFIRM_RESULT", "id": "6", "confirm_results": answers}])
    out = encoded_structs(events)[0]
    place = next(i for i, value in enumerate(out) if "USER_CONFIRM_RESULT" in json.dumps(value))
    answer = next(
        value["statusUpdate"]["status"]["message"] for value in out[place:] if "message" in value.get("statusUpdate", {}).get("status", {})
    )
    back, _, remarks = decoded(DIALECT, [*encoded_structs(events[:-1])[0], {"message": answer}])
    assert (folded(back), remarks) == (folded(events), [])
