"""
The laws that hold for every dialect, whichever it is.

A decoder takes whatever JSON there is and an encoder whatever stream, and neither raises; a dialect is recognised by what it
writes itself, and by no other; what is said about it (tables, rules, pages) has the form that it promises.
"""

from __future__ import annotations

import json
import math
from functools import cache
from itertools import permutations
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from dialect_laws import decoded, encoded, folded, journey, outside, patterns_of
from eventfold_models.structs import ReplyEndEvent, ReplyStartEvent
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec import UNSET
from support import RECORDINGS, ROOT, Wire, events_of, recording_name

from eventfold import InvalidEvent, read_event
from eventfold.dialects import NAMES, Dialect, UnknownDialect, all_rules, dialect, recognise
from eventfold.dialects.neighbours import neighbour
from eventfold.dialects.others import FIELDS, KEPT_BY_ANOTHER
from eventfold.dialects.reading import DialectChecker, Recogniser
from eventfold.dialects.translation import MIXED, UNFIT, Decoder
from eventfold.findings import Severity
from eventfold.fuzz.breaking import broken_streams, nested, with_odd_value
from eventfold.fuzz.strategies import streams
from eventfold.jsonvalue import is_object
from eventfold.vectors import dialect_vectors

if TYPE_CHECKING:
    from pathlib import Path

DIALECTS = [dialect(name) for name in NAMES]
READ = [each for each in DIALECTS if each.decoder is not None]
WRITTEN = [each for each in DIALECTS if each.encoder is not None]
TWO_WAY = [each for each in READ if each.encoder is not None]
#: AgentScope's streams are those of the contract: there is nothing to tell them apart by.
TOLD_APART = [each for each in WRITTEN if each.name != "agentscope"]

HEAD = {"reply_id": "r", "session_id": "", "name": ""}
HALVES = ("a\ud83d", "\ude00b")

arbitrary = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(("assistant", "TEXT_MESSAGE_START", "text")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=5) | st.sampled_from(("type", "role", "content", "id", "messageId", "delta", "result", "jsonrpc", "choices")),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


CHAT = {"id": "c", "object": "chat.completion.chunk", "model": "m"}
GEMINI = {"responseId": "c", "modelVersion": "m"}
BLOCK = {"type": "content_block_delta", "index": 0}
ITEM = {"item_id": "i", "output_index": 0, "content_index": 0}
#: Streams of the providers' dialects with a character that stands in two deltas, half in each.
SPLIT: dict[str, list[Any]] = {
    "openai_chat": [{**CHAT, "choices": [{"index": 0, "delta": {"content": piece}}]} for piece in HALVES],
    "openai_responses": [
        {"type": "response.created", "response": {"id": "c", "object": "response", "model": "m", "output": []}},
        *({"type": "response.output_text.delta", **ITEM, "delta": piece} for piece in HALVES),
    ],
    "anthropic": [
        {"type": "message_start", "message": {"id": "c", "type": "message", "role": "assistant", "model": "m", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *({**BLOCK, "delta": {"type": "text_delta", "text": piece}} for piece in HALVES),
    ],
    "gemini": [{**GEMINI, "candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": piece}]}}]} for piece in HALVES],
    "langchain": [{"type": "AIMessageChunk", "id": "c", "content": piece} for piece in HALVES],
    "vercel": [
        {"type": "start", "messageId": "c"},
        {"type": "text-start", "id": "t"},
        *({"type": "text-delta", "id": "t", "delta": piece} for piece in HALVES),
    ],
}


def test_what_nests_too_deep_is_left_out_of_an_event() -> None:
    """An event that a decoder makes can always be read back: what is too deep in it goes, and is told of, and the rest stays."""
    decoder = Decoder()
    fit, deep = decoder.event(ReplyStartEvent, **HEAD, metadata={"a": nested(98)}), {"a": nested(99)}
    assert fit.metadata == {"a": nested(98)}
    assert decoder.remarks == []
    event = decoder.event(ReplyStartEvent, **HEAD, metadata=deep)
    assert (event.reply_id, event.metadata) == ("r", UNSET)
    assert [remark.rule for remark in decoder.remarks] == [UNFIT]
    end = decoder.event(ReplyEndEvent, reply_id="r", session_id="", finished_reason="completed", structured_output=deep)
    assert (end.finished_reason, end.structured_output) == ("completed", UNSET)
    with pytest.raises(InvalidEvent):
        decoder.event(ReplyStartEvent, reply_id="r", session_id="", name=deep)


@cache
def samples(name: str) -> list[list[Any]]:
    """Give streams of a dialect: what it writes of our recordings, or what a provider sends."""
    if name in SPLIT:
        return [SPLIT[name]]
    return [encoded(dialect(name), events_of(path))[0] for path in RECORDINGS[:12]]


def is_readable(event: Wire) -> bool:
    """Tell whether an event is one of the contract, whatever its place in the stream."""
    try:
        read_event(event)
    except InvalidEvent:
        return False
    return True


def named(each: Dialect) -> str:
    """Name a parameter."""
    return each.name


@pytest.mark.parametrize("each", READ, ids=named)
@given(values=st.lists(arbitrary, max_size=4))
def test_a_decoder_takes_whatever_json_there_is(each: Dialect, values: list[Any]) -> None:
    """Nothing is raised, whatever arrives; what is said about it is in the catalogue of rules and of losses."""
    _, losses, remarks = decoded(each, values)
    assert {remark.rule for remark in remarks} <= set(all_rules())
    assert {loss.reason for loss in losses} <= set(each.losses)


@pytest.mark.parametrize("each", READ, ids=named)
@given(data=st.lists(arbitrary, max_size=3), tail=st.binary(max_size=20))
def test_bytes_in_a_dialect_are_judged_and_never_raise(each: Dialect, data: list[Any], tail: bytes) -> None:
    """`check` in a dialect gives findings for any bytes, and a message for each reply that began."""
    checker = DialectChecker(each)
    checker.feed(b"".join(json.dumps(value).encode() + b"\n" for value in data) + tail)
    checker.finish()
    assert len(checker.folder.snapshots()) == checker.folder.lifecycle.starts


@pytest.mark.parametrize("each", READ, ids=named)
@given(data=st.data())
def test_a_stream_with_odd_values_is_judged_and_never_raises(each: Dialect, data: st.DataObject) -> None:
    """A stream may hold any value anywhere, half a character too: what comes of it can be written, and texts are mended aloud."""
    values = json.loads(json.dumps(data.draw(st.sampled_from(samples(each.name)))))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(values) - 1))
        if is_object(values[place]):
            values[place] = data.draw(with_odd_value(values[place]))
    checker = DialectChecker(each)
    checker.feed(b"".join(json.dumps(value).encode() + b"\n" for value in values))
    findings = checker.finish()
    assert msgspec.json.encode(checker.folder.snapshots())
    said = [
        block.get(key, "")
        for message in checker.folder.snapshots()
        for block in message["content"]
        for key in ("text", "thinking", "input")
    ]
    assert "\ufffd" not in "".join(said) or any(finding.severity is not Severity.NOTE for finding in findings)


@pytest.mark.parametrize("name", SPLIT)
def test_a_character_that_is_split_between_two_deltas_arrives(name: str) -> None:
    """A provider that counts UTF-16 units may cut a character in two: it arrives whole, from bytes too."""
    checker = DialectChecker(dialect(name))
    checker.feed(b"".join(json.dumps(value).encode() + b"\n" for value in SPLIT[name]))
    assert [finding for finding in checker.finish() if finding.rule == "event.lone-surrogate"] == []
    [message] = checker.folder.snapshots()
    assert [block["text"] for block in message["content"]] == ["a\U0001f600b"]


@pytest.mark.parametrize("each", WRITTEN, ids=named)
@given(stream=broken_streams())
def test_an_encoder_takes_whatever_stream_there_is(each: Dialect, stream: list[Wire]) -> None:
    """What a broken stream is said to be in a dialect is JSON, and its losses are in the catalogue."""
    readable = [event for event in stream if is_readable(event)]
    out, losses = encoded(each, readable)
    assert all(json.loads(json.dumps(value)) == value for value in out)
    assert each.name == "agentscope" or {loss.reason for loss in losses} <= set(each.losses)


@pytest.mark.parametrize("each", TWO_WAY, ids=named)
@pytest.mark.parametrize("path", RECORDINGS, ids=recording_name)
def test_a_recorded_stream_goes_out_and_comes_back(each: Dialect, path: Path) -> None:
    """The message of a real agent's stream comes back equal outside the losses that were reported."""
    stream = events_of(path)
    out = journey(each, stream)
    lost = set[str]() if each.name == "agentscope" else patterns_of(each, out.losses)
    wanted, given_back = outside(folded(stream), lost), outside(folded(out.back), lost)
    assert given_back == wanted


@pytest.mark.parametrize("each", TOLD_APART, ids=named)
@given(stream=streams())
def test_a_dialect_is_recognised_by_what_it_writes(each: Dialect, stream: list[Wire]) -> None:
    """The first values of an encoded stream tell its dialect."""
    out, _ = encoded(each, stream)
    found = recognise(out)
    assert found is None if not out else found is not None and found.name == each.name


@pytest.mark.parametrize("path", RECORDINGS, ids=recording_name)
def test_the_native_dialect_is_recognised_from_bytes(path: Path) -> None:
    """The recognition needs the first event only, and no more of it than its line."""
    recogniser = Recogniser()
    first = path.read_bytes().splitlines(keepends=True)[0]
    assert recogniser.feed(first)
    assert recogniser.found is not None
    assert recogniser.found.name == "eventfold"


@given(st.lists(arbitrary, max_size=4))
def test_nothing_is_recognised_as_two_dialects(values: list[Any]) -> None:
    """At most one dialect claims a value; asking does not raise."""
    for value in values:
        assert len([each.name for each in DIALECTS if each.recognise(value)]) <= 1


#: A stream of each dialect that has vectors, as values.
PURE: dict[str, list[Any]] = {
    name: vector["values"]
    for name in NAMES
    for vector in dialect_vectors(name)
    if "values" in vector and not vector["findings"] and dialect(name).recognise(vector["values"][0])
}


@pytest.mark.parametrize(("name", "other"), [*permutations(PURE, 2)])
def test_a_value_of_another_dialect_is_an_error_that_names_it(name: str, other: str) -> None:
    """A capture that two providers wrote to: whose the second half is, is said where it begins, and once."""
    both = [*PURE[name], *PURE[other]]
    checker = DialectChecker(dialect(name))
    checker.feed(b"".join(json.dumps(value).encode() + b"\n" for value in both))
    mixed = [finding for finding in checker.finish() if finding.rule == MIXED]
    assert [finding.index for finding in mixed] == [len(PURE[name])]
    assert dialect(other).title in mixed[0].message
    assert mixed[0].severity is Severity.ERROR


#: Values of streams that no dialect reads, by a word of what is said of them.
NEIGHBOURS: dict[str, Wire] = {
    "Ollama": {"model": "llama3.2", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": "Hi"}, "done": False},
    "text completions": {"id": "cmpl-1", "object": "text_completion", "created": 1, "choices": [{"text": "Hi", "index": 0}], "model": "m"},
    "Assistants": {
        "id": "msg_1",
        "object": "thread.message.delta",
        "delta": {"content": [{"index": 0, "type": "text", "text": {"value": "Hi"}}]},
    },
    "Realtime": {"event_id": "event_1", "type": "session.created", "session": {"id": "sess_1", "object": "realtime.session"}},
    "fullStream": {"type": "text-delta", "id": "0", "text": "Hi"},
    "ConverseStream": {"contentBlockDelta": {"delta": {"text": "Hi"}, "contentBlockIndex": 0}},
    "Cohere": {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Hi"}}}},
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_a_stream_that_no_dialect_reads_is_known_by_sight(name: str) -> None:
    """What it looks like is said, with a dialect to go to; and no dialect takes it for its own."""
    assert [each.name for each in DIALECTS if each.recognise(NEIGHBOURS[name])] == []
    said = neighbour(NEIGHBOURS[name])
    assert name in said
    assert any(said.endswith(f" {other}") for other in NAMES)


@given(arbitrary)
def test_nothing_makes_a_neighbour_raise(value: Any) -> None:
    """Any JSON may be asked about; what is no object is nobody's."""
    assert neighbour(value) == "" or is_object(value)


@pytest.mark.parametrize("name", PURE)
def test_nothing_of_a_dialect_is_taken_for_a_neighbours(name: str) -> None:
    """The first values of streams that are read look like none that are not."""
    assert neighbour(PURE[name][0]) == ""


@pytest.mark.parametrize("name", PURE)
@given(st.data())
def test_whose_an_odd_value_is_can_always_be_asked(name: str, data: st.DataObject) -> None:
    """A value of a dialect with something odd in it makes nobody raise who is asked whether it is theirs."""
    value = data.draw(with_odd_value(data.draw(st.sampled_from(PURE[name]))))
    for each in DIALECTS:
        assert each.recognise(value) in {True, False}
        assert each.last_resort is None or each.last_resort(value) in {True, False}
    assert isinstance(neighbour(value), str)


@pytest.mark.parametrize("value", [{"type": "event", "method": {}, "params": {}}, {"id": "a", "role": {}, "content": "x"}])
def test_unhashable_words_are_nobodys(value: Wire) -> None:
    """Objects where words are expected, in the middle of a stream: the value is of no known kind."""
    assert recognise([value]) is None
    for each in READ:
        DialectChecker(each).feed(json.dumps(value).encode() + b"\n")


def test_what_else_is_wrong_with_a_foreign_value_is_said_too() -> None:
    """LangChain's messages wait for what comes next: what is wrong with one is no fault of that."""
    checker = DialectChecker(dialect("langchain"))
    checker.feed(b'{"type": "tool", "content": "x", "tool_call_id": "nobody\'s"}\n' + json.dumps(PURE["openai_chat"][0]).encode() + b"\n")
    assert [finding.rule for finding in checker.finish()] == ["langchain.result-without-call", MIXED]


def test_what_a_graphs_author_streams_is_nobody_elses() -> None:
    """The mode `custom` of LangGraph carries what its author likes, such as chunks for a user interface."""
    checker = DialectChecker(dialect("langchain"))
    chunk: Wire = {"type": "AIMessageChunk", "content": "hi", "id": "a", "chunk_position": "last", "tool_call_chunks": []}
    checker.feed(json.dumps([chunk, {"langgraph_node": "agent"}]).encode() + b"\n" + json.dumps(PURE["vercel"][0]).encode() + b"\n")
    assert [finding.rule for finding in checker.finish()] == ["dialect.unknown"]


def test_a_neighbour_in_a_stream_of_a_dialect_is_named() -> None:
    """The AI SDK's fullStream begins like its UI message stream: what is wrong with its deltas says what it looks like."""
    checker = DialectChecker(dialect("vercel"))
    values = [{"type": "start"}, {"type": "text-start", "id": "1"}, NEIGHBOURS["fullStream"]]
    checker.feed(b"".join(json.dumps(value).encode() + b"\n" for value in values))
    assert any("it looks like the AI SDK's fullStream" in finding.message for finding in checker.finish())


ASKED = [each for each in DIALECTS if KEPT_BY_ANOTHER in each.losses]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("each", ASKED, ids=named)
def test_what_another_provider_keeps_is_a_loss_unless_its_block_is_lost(each: Dialect, field: str) -> None:
    """A signature, an id: a request says what its own provider keeps, and reports the rest where it stands."""
    content: list[Wire] = [
        {"type": "text", "id": "t", "text": "a", field: {"signed": "s"}},
        {"type": "tool_call", "id": "c", "name": "f", "input": "{}", "state": "finished", field: {"signed": "s"}},
        {"type": "tool_result", "id": "c", "name": "f", "output": "o", "state": "success"},
        {"type": "thinking", "id": "t", "thinking": "hm", field: {"signed": "s"}},
        {"type": "text", "id": "u", "text": "b", field: {}},
    ]
    message = {"role": "assistant", "name": "n", "id": "m", "created_at": "2026-01-01", "content": content}
    assert each.write_messages is not None
    losses = [loss.pointer for loss in each.write_messages([message]).losses]
    lost = [f"/0/content/{place}/{field}" for place in (0, 1, 3) if f"/0/content/{place}" not in losses]
    own = f"/content/*/{field}" not in each.losses[KEPT_BY_ANOTHER]
    assert [pointer for pointer in losses if pointer.endswith(field)] == ([] if own else lost)


@pytest.mark.parametrize("each", [each for each in ASKED if each.name not in {"gemini", "anthropic"}], ids=named)
def test_what_is_kept_of_a_call_is_a_loss_though_the_call_is_said_otherwise(each: Dialect) -> None:
    """A call that nobody answered is sent, as one that did not run: its signature is lost all the same, unless it is sent."""
    call = {"type": "tool_call", "id": "c", "name": "f", "input": "{}", "x_gemini": {"thoughtSignature": "s"}}
    message = {"role": "assistant", "name": "n", "id": "m", "created_at": "2026-01-01", "content": [call]}
    assert each.write_messages is not None
    said, losses = each.write_messages([message])
    assert ("/0/content/0/x_gemini" in {loss.pointer for loss in losses}) == ('"s"' not in json.dumps(said))


@pytest.mark.parametrize("each", DIALECTS, ids=named)
def test_what_is_said_about_a_dialect_has_its_form(each: Dialect) -> None:
    """Rules have the form of rules.json, rows a direction, losses patterns of pointers, and there is a page with an example."""
    form: Any = json.loads((ROOT / "schemas/meta/rules.json").read_text("utf-8"))
    validator: Any = Draft202012Validator(form)
    assert list(validator.iter_errors({"version": "1.0", "rules": dict(each.rules)})) == []
    assert {row.way for row in each.mapping} <= {"both", "out", "in"}
    assert all(pattern == "" or pattern.startswith("/") for patterns in each.losses.values() for pattern in patterns)
    if each.name != "eventfold":
        page = (ROOT / f"src/eventfold/dialects/{each.name}.md").read_text("utf-8")
        assert page.startswith("# ")
        assert "```" in page
        assert each.mapping != ()


def test_an_unknown_dialect_is_named_with_those_that_are_there() -> None:
    """The exception says what can be asked for."""
    with pytest.raises(UnknownDialect, match="'klingon' is no dialect; there are eventfold, agentscope"):
        dialect("klingon")


def test_a_number_that_json_cannot_hold_is_a_finding() -> None:
    """NaN in the text costs its value alone."""
    checker = DialectChecker(dialect("eventfold"))
    checker.feed(f'{{"type": {math.nan}}}\n'.encode())
    assert [finding.rule for finding in checker.finish()] == ["wire.not-json"]
