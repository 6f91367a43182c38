"""
What others say in A2A: each of its rules broken once, and streams as they were reported in public.

Law: nothing is dropped silently. What has no place in a message stands in a CUSTOM event.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from a2a_server import play
from dialect_laws import decoded, folded
from eventfold_models import structs
from hypothesis import given
from hypothesis import strategies as st
from support import lines_of
from test_a2a import encoded_structs, structs_of

from eventfold import check_and_fold
from eventfold.dialects.a2a import DIALECT
from eventfold.dialects.translation import Unfit, fields_of
from eventfold.findings import Severity
from eventfold.fuzz.breaking import nested, with_odd_value
from eventfold.fuzz.strategies import streams

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn
    from support import Wire

IDS = {"taskId": "t", "contextId": "c"}


def task(state: str = "SUBMITTED", **fields: Any) -> Wire:
    """Give a Task."""
    return {"task": {"id": "t", "contextId": "c", "status": {"state": f"TASK_STATE_{state}"}, **fields}}


def status(state: str, *texts: str, **fields: Any) -> Wire:
    """Give a status, with a message if there are texts."""
    said: Wire = {"message": message("s-" + "".join(texts), *texts)["message"]} if texts else {}
    return {"statusUpdate": {**IDS, "status": {"state": f"TASK_STATE_{state}", **said}, **fields}}


def chunk(*texts: str, name: str = "a", parts: list[Wire] | None = None, artifact: Wire | None = None, **fields: Any) -> Wire:
    """Give a chunk of an artifact."""
    held = [{"text": text} for text in texts] if parts is None else parts
    return {"artifactUpdate": {**IDS, "artifact": {"artifactId": name, "parts": held, **(artifact or {})}, **fields}}


def more(*texts: str, **fields: Any) -> Wire:
    """Give a chunk that goes on with the artifact."""
    return chunk(*texts, append=True, **fields)


def message(name: str, *texts: str, role: str = "ROLE_AGENT", **fields: Any) -> Wire:
    """Give a Message."""
    return {"message": {"messageId": name, "role": role, "parts": [{"text": text} for text in texts], **fields}}


DONE = status("COMPLETED")

#: Rule, stream, and the index of the value that breaks it; the number of the values is the end.
BROKEN: list[tuple[str, list[Any], int]] = [
    ("dialect.unfit", [task(), chunk(parts=[{"text": 1}]), DONE], 1),
    ("dialect.unfit", [task(), {"statusUpdate": {**IDS, "status": {"state": "working"}}}, DONE], 1),
    ("dialect.unfit", [task(), chunk(parts=[{"raw": "?"}]), DONE], 1),
    ("dialect.unfit", [{"task": 1}], 0),
    ("dialect.unknown", [task(), [1], DONE], 1),
    ("dialect.unknown", [task(), {"hello": 1}, DONE], 1),
    ("a2a.value-one-payload", [task() | DONE], 0),
    ("a2a.value-version", [{"kind": "status-update", "taskId": "t", "contextId": "c", "status": {"state": "working"}, "final": False}], 0),
    ("a2a.value-too-deep", [task(metadata={"k": nested(95)})], 0),
    ("a2a.rpc-error", [{"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "Task not found"}}], 0),
    ("a2a.value-lone-surrogate", [task(), chunk("a\ud800"), DONE], 1),
    ("a2a.value-unknown-field", [task(), chunk("a", extra=1), DONE], 1),
    ("a2a.value-note", [task(metadata={"eventfold": {"message": "{"}}), DONE], 0),
    ("a2a.part-content", [task(), chunk(parts=[{"text": "a", "url": "b"}]), DONE], 1),
    ("a2a.part-content", [task(), chunk(parts=[{}]), DONE], 1),
    ("a2a.task-not-first", [status("WORKING"), DONE], 0),
    ("a2a.task-not-first", [chunk("a"), DONE], 0),
    ("a2a.task-other-id", [task(), {"statusUpdate": {**IDS, "taskId": "u", "status": {"state": "TASK_STATE_COMPLETED"}}}, DONE], 1),
    ("a2a.task-other-context", [task(), {"statusUpdate": {**IDS, "contextId": "d", "status": {"state": "TASK_STATE_COMPLETED"}}}], 1),
    ("a2a.task-after-end", [task(), DONE, chunk("late")], 2),
    ("a2a.task-after-end", [task(), DONE, status("WORKING")], 2),
    ("a2a.task-unfinished", [task(), chunk("a")], 2),
    ("a2a.task-again", [task(), chunk("a"), task("WORKING", artifacts=[{"artifactId": "a", "parts": [{"text": "a"}]}]), DONE], 2),
    ("a2a.task-no-state", [task(), status("UNSPECIFIED"), DONE], 1),
    ("a2a.artifact-unknown", [task(), more("a"), DONE], 1),
    ("a2a.artifact-after-last-chunk", [task(), chunk("a", lastChunk=True), more("b"), DONE], 2),
    ("a2a.artifact-no-parts", [task(), chunk(), DONE], 1),
    ("a2a.artifact-replaced", [task(), chunk("a"), chunk("b"), DONE], 2),
    ("a2a.message-in-task", [task(), message("m", "a"), DONE], 1),
    ("a2a.message-second", [message("m", "a"), message("n", "b")], 1),
    ("a2a.message-no-parts", [message("m")], 0),
]


@pytest.mark.parametrize(("rule", "stream", "index"), BROKEN, ids=[f"{rule}-{i}" for i, (rule, _, _) in enumerate(BROKEN)])
def test_each_rule_fires_where_it_is_broken(rule: str, stream: list[Any], index: int) -> None:
    """A broken rule is remarked at the value that breaks it, and once."""
    assert DIALECT.decoder is not None
    decoder = DIALECT.decoder()
    found: list[tuple[str, int]] = []
    for value in stream:
        list(decoder.feed(value))
        found += [(remark.rule, decoder.index) for remark in decoder.remarks]
    list(decoder.finish())
    found += [(remark.rule, decoder.index) for remark in decoder.remarks]
    assert (rule, index) in found
    assert {name for name, _ in found} <= {rule, "a2a.task-unfinished"}


def test_every_rule_of_the_dialect_is_broken_somewhere() -> None:
    """No rule stands in the list that nothing breaks."""
    assert {rule for rule, _, _ in BROKEN} == set(DIALECT.rules)


def texts(stream: list[Any]) -> list[str]:
    """Give the texts of the agent's messages."""
    messages = folded(decoded(DIALECT, stream)[0])
    return [
        block["text"] for message in messages if message["role"] == "assistant" for block in message["content"] if block["type"] == "text"
    ]


#: What was reported, the stream, and the texts of the agent's blocks.
REPORTED: list[tuple[str, list[Wire], list[str]]] = [
    ("AgentScope: two artifacts in turns", [task(), chunk("1"), chunk("x", name="b"), more("2"), more("y", name="b"), DONE], ["12", "xy"]),
    ("AgentScope: a bare status between chunks", [task(), chunk("he"), status("WORKING"), more("llo"), DONE], ["hello"]),
    ("AgentScope: a replacement", [task(), chunk("he"), chunk("HELLO"), DONE], ["HELLO"]),
    (
        "litellm#39513: a Task after its updates",
        [task(), chunk("hello"), task("COMPLETED", artifacts=[{"artifactId": "a", "parts": [{"text": "hello"}]}])],
        ["hello"],
    ),
    (
        "google/adk-python#6686: the last chunk replaces",
        [task(), chunk("hel"), more("lo"), chunk("hello", lastChunk=True), DONE],
        ["hello"],
    ),
    ("google/adk-python#6680: the last chunk is shorter", [task(), chunk("hello"), chunk("lo", lastChunk=True), DONE], ["lo"]),
    ("google/adk-python#6386: the first chunk comes twice", [task(), chunk("he"), chunk("he"), more("llo"), DONE], ["hello"]),
    ("crewAI#7473: chunks are no words", [task(), chunk("he"), more("llo"), DONE], ["hello"]),
    ("A2A#899: chunks with several parts", [task(), chunk("a", "b"), more("c", "d"), DONE], ["abcd"]),
    ("opencode-a2a#448: a part for each token", [task(), chunk("h"), *[more(letter) for letter in "ello"], DONE], ["hello"]),
    (
        "A2A#1986: updates lost before a reconnect",
        [
            task(),
            chunk("he"),
            task("WORKING", artifacts=[{"artifactId": "a", "parts": [{"text": "he"}, {"text": "llo"}]}]),
            more("!"),
            DONE,
        ],
        ["hello!"],
    ),
    ("a replacement after the last chunk", [task(), chunk("a", lastChunk=True), chunk("b"), DONE], ["b"]),
    ("more after the last chunk", [task(), chunk("a", lastChunk=True), more("b"), DONE], ["ab"]),
    ("a replacement, then more", [task(), chunk("a"), chunk("b"), more("c"), DONE], ["bc"]),
    ("a replacement in a stream that is cut", [task(), chunk("a"), chunk("b")], ["b"]),
    ("a chunk for an artifact that is not there", [task(), more("a"), DONE], ["a"]),
    ("no Task at all", [chunk("a"), more("b"), DONE], ["ab"]),
    ("a question", [task(), status("INPUT_REQUIRED", "Which currency?")], ["Which currency?"]),
    ("the answer in the last status", [task(), status("WORKING", "Thinking"), status("COMPLETED", "42")], ["42"]),
    ("progress is no answer", [task(), status("WORKING", "Searching"), chunk("42"), DONE], ["42"]),
    ("a Message alone", [message("m", "he", "llo")], ["hello"]),
    ("data is JSON", [task(), chunk(parts=[{"data": {"n": 1.0}}]), DONE], ['{"n": 1.0}']),
    ("texts apart", [task(), chunk(parts=[{"text": "a"}, {"url": "http://e.org/i.png"}, {"text": "b"}]), DONE], ["a", "b"]),
]


@pytest.mark.parametrize(("stream", "wanted"), [case[1:] for case in REPORTED], ids=[case[0] for case in REPORTED])
def test_reported_streams_give_the_right_texts(stream: list[Wire], wanted: list[str]) -> None:
    """What others got wrong is right here, bare and in JSON-RPC, and is a valid stream unless it was cut."""
    assert texts(stream) == wanted
    assert texts([{"jsonrpc": "2.0", "id": 1, "result": value} for value in stream]) == wanted
    events, _, remarks = decoded(DIALECT, stream)
    findings = check_and_fold(lines_of([fields_of(event) for event in events])).findings
    cut = any(remark.rule == "a2a.task-unfinished" for remark in remarks)
    assert {finding.rule for finding in findings if finding.severity is Severity.ERROR} == ({"reply.missing-end"} if cut else set())


def test_a_call_sent_as_data_keeps_its_text() -> None:
    """agentscope-java #1526: a call that an agent sends as data has its arguments in content, and input is empty."""
    call: Wire = {"type": "tool_use", "id": "c1", "name": "__fragment__", "input": {}, "content": '{"productName": "'}
    [text] = texts([task(), chunk(parts=[{"data": call}]), DONE])
    assert json.loads(text) == call


def ending(stream: list[Wire]) -> Wire:
    """Give how the only reply ended."""
    [folded_message] = folded(decoded(DIALECT, stream)[0])
    return {key: folded_message[key] for key in ("finished_reason", "error") if key in folded_message}


@pytest.mark.parametrize(
    ("last", "wanted"),
    [
        (DONE, {"finished_reason": "completed"}),
        (status("CANCELED"), {"finished_reason": "interrupted"}),
        (status("FAILED", "no quota"), {"finished_reason": "error", "error": {"type": "unknown", "message": "no quota"}}),
        (status("REJECTED", "no"), {"finished_reason": "error", "error": {"type": "unknown", "message": "no"}}),
        (status("INPUT_REQUIRED", "?"), {"finished_reason": "completed"}),
        (status("AUTH_REQUIRED"), {"finished_reason": "completed"}),
    ],
    ids=["completed", "canceled", "failed", "rejected", "input", "auth"],
)
def test_each_end_says_how_the_reply_ended(last: Wire, wanted: Wire) -> None:
    """A task that was canceled is no success, and one that waits is no failure."""
    assert ending([task(), chunk("a"), last]) == wanted


def customs(stream: list[Any]) -> list[str]:
    """Give the names of the CUSTOM events."""
    return [event.name for event in decoded(DIALECT, stream)[0] if isinstance(event, structs.CustomEvent)]


@pytest.mark.parametrize(
    ("name", "stream"),
    [
        ("a2a.status", [task(), status("WORKING", "Searching"), DONE]),
        ("a2a.input_required", [task(), status("INPUT_REQUIRED", "?")]),
        ("a2a.auth_required", [task(), status("AUTH_REQUIRED")]),
        ("a2a.metadata", [task(), status("WORKING", metadata={"k": 1}), DONE]),
        ("a2a.late", [task(), DONE, chunk("late")]),
        ("a2a.history", [task(), task(history=[message("h", "earlier")["message"]]), DONE]),
        ("a2a.artifact", [task(), chunk(artifact={"name": "n"}), DONE]),
        ("a2a.unknown_fields", [task(), status("WORKING", later=1), DONE]),
        ("a2a.unread", [task(), {"new": 1}, DONE]),
        ("a2a.error", [{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "m"}}]),
        ("a2a.request", [{"message": message("u", "hi", role="ROLE_USER")["message"], "configuration": {"historyLength": 1}}]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_no_message_shows_is_kept(name: str, stream: list[Any]) -> None:
    """What has no place in a message stands in a CUSTOM event of that name."""
    assert name in customs(stream)


def test_what_an_artifact_says_besides_stands_on_its_block() -> None:
    """Name, description and metadata of artifacts and parts are provider fields of the block; a file keeps its name and type."""
    about = {"name": "n", "description": "d", "metadata": {"k": 1}}
    parts = [
        {"text": "a", "mediaType": "text/markdown", "metadata": {"p": 1}},
        {"raw": "AQI", "mediaType": "image/png", "filename": "f.png"},
    ]
    [found] = folded(decoded(DIALECT, [task(), chunk(parts=parts, artifact=about), DONE])[0])
    text, data = found["content"]
    assert text["a2a"] == {**about, "mediaType": "text/markdown", "partMetadata": {"p": 1}}
    assert (data["name"], data["source"], data["a2a"]) == ("f.png", {"type": "base64", "data": "AQI=", "media_type": "image/png"}, about)


def test_a_file_in_chunks_is_one_block() -> None:
    """Bytes of one file name go on with each other; files without a name do not."""
    named = {"mediaType": "image/png", "filename": "f.png"}
    pieces = [chunk(parts=[{"raw": "AQ==", **named}]), more(parts=[{"raw": "Ag==", **named}])]
    nameless = [more(parts=[{"raw": "AQ=="}]), more(parts=[{"raw": "Ag=="}])]
    [found] = folded(decoded(DIALECT, [task(), *pieces, *nameless, DONE])[0])
    assert [block["source"]["data"] for block in found["content"]] == ["AQI=", "AQ==", "Ag=="]


def test_bytes_that_were_sent_cannot_be_taken_back() -> None:
    """Replacing a file leaves the old one beside the new, and says so."""
    events, losses, _ = decoded(DIALECT, [task(), chunk(parts=[{"raw": "AQ=="}]), chunk(parts=[{"raw": "Ag=="}]), DONE])
    [found] = folded(events)
    assert [block["source"]["data"] for block in found["content"]] == ["AQ==", "Ag=="]
    assert [DIALECT.losses[loss.reason] for loss in losses] == [("/content/*",)]


def test_each_turn_of_a_task_is_a_reply() -> None:
    """After a question and its answer the agent speaks in a reply of its own; what users said are messages."""
    answer = message("u2", "EUR", role="ROLE_USER", taskId="t")
    stream = [task(history=[message("u1", "rate?", role="ROLE_USER")["message"]]), status("INPUT_REQUIRED", "Which?"), answer]
    stream += [status("WORKING"), chunk("1.08"), DONE]
    found = folded(decoded(DIALECT, stream)[0])
    assert [(one["id"], one["role"], one["content"][0]["text"]) for one in found] == [
        ("u1", "user", "rate?"),
        ("t", "assistant", "Which?"),
        ("u2", "user", "EUR"),
        ("t/2", "assistant", "1.08"),
    ]


#: Reported streams that the SDK refuses, or that are no stream of one task.
REFUSED = {
    "litellm#39513: a Task after its updates",
    "A2A#1986: updates lost before a reconnect",
    "a chunk for an artifact that is not there",
    "no Task at all",
    "a Message alone",
    "progress is no answer",
}


@pytest.mark.parametrize(
    ("stream", "wanted"),
    [case[1:] for case in REPORTED if case[0] not in REFUSED],
    ids=[case[0] for case in REPORTED if case[0] not in REFUSED],
)
def test_the_stream_and_the_task_that_it_left_read_the_same(stream: list[Wire], wanted: list[str]) -> None:
    """What a real client received and what a real server kept are the same texts; the Task after the stream doubles none."""
    played = play(stream)
    assert (played.error, played.task is not None) == (None, True)
    assert texts(played.received) == texts([played.task]) == texts([*played.received, played.task]) == wanted


def test_messages_of_others_are_read() -> None:
    """A Message is a message, a Task one for its artifacts beside what users said; what only a stream can keep is a loss."""
    assert DIALECT.read_messages is not None
    question = message("u", "rate?", role="ROLE_USER")["message"]
    whole = task("COMPLETED", history=[question], artifacts=[{"artifactId": "a", "parts": [{"text": "1.08"}]}])
    said = DIALECT.read_messages([question, whole["task"], message("m", "hi")])
    assert [(one["role"], one["content"][0]["text"]) for one in said.value] == [
        ("user", "rate?"),
        ("user", "rate?"),
        ("assistant", "1.08"),
        ("assistant", "hi"),
    ]
    assert said.losses == []
    progress = DIALECT.read_messages(task("WORKING", later=1))
    assert [DIALECT.losses[loss.reason] for loss in progress.losses] == [()]
    with pytest.raises(Unfit):
        DIALECT.read_messages({"hello": 1})
    with pytest.raises(Unfit):
        DIALECT.read_messages(task(history=1))


_NAMES = ("task", "message", "statusUpdate", "artifactUpdate", "id", "status", "state", "taskId", "contextId", "artifact", "artifactId")
_MORE = ("parts", "text", "raw", "url", "data", "metadata", "eventfold", "event", "events", "block", "kind", "jsonrpc", "result", "error")
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=4),
    st.sampled_from(("TASK_STATE_WORKING", "TASK_STATE_COMPLETED", "ROLE_USER", "t", "QQ==", "{}", "[]", '{"type":"text"}', "\ud800")),
)
_ANY = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from((*_NAMES, *_MORE, "role", "messageId", "append")), inner, max_size=5)
    ),
    max_leaves=20,
)


@st.composite
def _mutated(draw: DrawFn) -> list[Any]:
    """Draw a stream of ours or of somebody, broken in one to four places."""
    own = encoded_structs(structs_of(draw(streams(most=2, moves=8))))[0]
    values: list[Any] = own if draw(st.booleans()) else draw(st.sampled_from([case[1] for case in REPORTED]))
    values = json.loads(json.dumps(values))
    for _ in range(draw(st.integers(1, 4))):
        place, how = draw(st.integers(0, len(values) - 1)), draw(st.sampled_from(("drop", "again", "move", "odd", "odd", "odd")))
        if how == "drop":
            del values[place : place + (len(values) > 1)]
        elif how == "odd":
            values[place] = draw(with_odd_value(values[place]))
        else:
            value = values[place] if how == "again" else values.pop(place)
            values.insert(draw(st.integers(0, len(values))), value)
    return values


def survives(values: list[Any]) -> None:
    """Read values, whatever they are: rules and losses are those of the dialect, and what is read can be folded."""
    assert DIALECT.decoder is not None
    decoder = DIALECT.decoder()
    events: list[Any] = []
    for value in values:
        assert DIALECT.recognise(value) in {True, False}
        events += decoder.feed(value)
        assert {remark.rule for remark in decoder.remarks} <= set(DIALECT.rules)
    events += decoder.finish()
    assert {loss.reason for loss in decoder.losses} <= set(DIALECT.losses)
    folded(events)


@given(st.lists(_ANY, max_size=4))
def test_any_json_can_be_fed(values: list[Any]) -> None:
    """Whatever JSON comes, nothing is raised."""
    survives(values)


@given(_mutated())
def test_broken_streams_can_be_fed(values: list[Any]) -> None:
    """Streams with values lost, repeated, moved or changed are read without raising."""
    survives(values)


def test_a_stream_of_the_version_before_is_recognised() -> None:
    """A value of A2A 0.3 says by its kind what it is, so that `auto` can tell that its version is not read."""
    old = {"kind": "status-update", **IDS, "status": {"state": "working"}, "final": False}
    assert DIALECT.recognise(old)
    assert DIALECT.recognise({"jsonrpc": "2.0", "id": 1, "result": old})
    others: list[Wire] = [{"kind": "status-update"}, {"kind": ["task"], "status": {}}, {"jsonrpc": "2.0", "id": 1, "result": {"kind": "x"}}]
    for other in others:
        assert not DIALECT.recognise(other)
