"""
The LangChain dialect, judged by LangChain.

Chunks are made by LangChain's own models, from recordings of providers, and added up by its own code; events of the content-block
protocol go through its ChatModelStream; what is written for it is loaded by its own message classes and turned into a provider's
request by its own models. Recordings stand beside the project; without them the tests that read them are skipped.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from dialect_laws import decoded, folded
from hypothesis import example, given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk, HumanMessage, ToolMessage, messages_from_dict
from langchain_judge import (
    SHARED,
    Told,
    added,
    dispatched,
    judged,
    model,
    our_usage,
    plain,
    protocol_of,
    recordings,
    told_by_langchain,
    told_by_us,
    usage_of,
)

from eventfold.dialects.langchain import DIALECT, LOSSES, MAPPING, RULES, LangChainDecoder
from eventfold.dialects.langchain.request import NOT_RUN, write_messages
from eventfold.dialects.reading import DialectChecker
from eventfold.dialects.run import joined
from eventfold.findings import Severity
from eventfold.fuzz.strategies import messages, replies
from eventfold.jsonvalue import is_array, is_object
from eventfold.wire.schema import errors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hypothesis.strategies import DrawFn
    from support import Wire

    from eventfold.findings import Finding

OWN = recordings("langchain_generated", "langgraph", "langgraph_generated")
PROVIDERS = recordings("openai_chat", "openai_responses", "anthropic_messages")


def named(path: Path) -> str:
    """Name a recording."""
    return f"{path.parent.name}/{path.stem}"


def each(paths: list[Path]) -> Any:
    """Run a test for each recording; skip it where there are none."""
    missing = [pytest.param(None, marks=pytest.mark.skip(reason="the recordings are not beside the project"))]
    return pytest.mark.parametrize("path", paths or missing, ids=lambda path: named(path) if path else "none")


def read(data: bytes) -> tuple[list[Wire], list[Finding]]:
    """Read bytes in the dialect: messages, and what was found."""
    checker = DialectChecker(DIALECT)
    checker.feed(data)
    found = checker.finish()
    return checker.folder.snapshots(), found


def lines(values: list[Any]) -> bytes:
    """Write values as JSON Lines."""
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def rules_of(found: list[Finding], least: Severity = Severity.ERROR) -> list[str]:
    """Name the rules of findings."""
    return [finding.rule for finding in found if finding.severity >= least]


def values_of(path: Path) -> list[Any]:
    """Read the JSON values of a recording."""
    texts = path.read_text("utf-8").split("\n")
    if path.suffix == ".sse":
        texts = [text.removeprefix("data:") for text in texts if text.startswith("data:")]
    return [json.loads(text) for text in texts if text.strip()]


# Streams that LangChain and LangGraph wrote.


def judges_of(path: Path) -> list[Any]:
    """Give the messages that LangChain makes of one of its own streams."""
    values = values_of(path)
    if ".aimessagechunk." in path.name:
        return [added([AIMessageChunk(**value) for value in values])[0]]
    if ".astream_events_v2." in path.name:
        return [added([AIMessageChunk(**value["data"]["output"])])[0] for value in values if value["event"] == "on_chat_model_end"]
    if ".stream_events_v3." in path.name:
        return [dispatched(values)]
    groups: dict[str, list[Any]] = {}
    if path.suffix == ".sse":
        for value in values:
            data = value["params"]["data"]
            if value["method"] == "messages" and not value["params"]["namespace"][0].startswith("tools"):
                groups.setdefault(data["run_id"], []).append(data)
        return [dispatched(group) for group in groups.values()]
    for mode, payload in values:
        if mode == "messages" and payload[0]["type"] == "AIMessageChunk":
            groups.setdefault(payload[0]["id"], []).append(AIMessageChunk(**payload[0]))
    return [added(group)[0] for group in groups.values()]


@each(OWN)
def test_a_stream_of_langchain_is_read_as_langchain_reads_it(path: Path) -> None:
    """A run is one message, and its text, reasoning, calls and usage are what LangChain adds up; nothing is found to be wrong."""
    [message], found = read(path.read_bytes())
    assert rules_of(found, Severity.WARNING) == []
    theirs = [told_by_langchain(judge) for judge in judges_of(path)]
    together = Told("".join(t.text for t in theirs), "".join(t.reasoning for t in theirs), [call for t in theirs for call in t.calls])
    ours = told_by_us(message)
    if "empty_id" in path.name and "v3" in path.name:
        # LangChain lets an empty id overwrite the one it knows.
        assert [call[0] for call in together.calls] == [""]
        together = together._replace(calls=[(ours.calls[0][0], *call[1:]) for call in together.calls])
    assert ours == together
    counted = [usage for judge in judges_of(path) if (usage := usage_of(judge))]
    assert our_usage(message) == tuple(map(sum, zip(*counted, strict=True)))
    assert errors(message, "AssistantMsg") == []


@each(recordings("langgraph", "langgraph_generated"))
def test_results_of_tools_stand_behind_their_calls(path: Path) -> None:
    """A graph's tools have answered their calls within the reply, once, though several channels tell of it."""
    [message], _ = read(path.read_bytes())
    calls = [block for block in message["content"] if block["type"] == "tool_call"]
    results = [block for block in message["content"] if block["type"] == "tool_result"]
    assert [call["id"] for call in calls] == [result["id"] for result in results]
    assert {call["state"] for call in calls} == {"finished"}
    assert all(result["state"] == "success" and result["output"][0]["text"] for result in results)
    assert message["finished_reason"] == "completed"


def test_signatures_stay_with_the_thinking() -> None:
    """Anthropic's signature is kept where it belongs, in chunks and in the protocol."""
    for path in recordings("langchain_generated"):
        if "thinking_signature" in path.name:
            [message], _ = read(path.read_bytes())
            [thinking] = [block for block in message["content"] if block["type"] == "thinking"]
            assert thinking["signature"].startswith("EvMC")


@each(recordings("agentscope-2.0.11", "openai_chat", "openai_responses", "anthropic_messages", "gemini", "ui_message_stream"))
def test_no_other_stream_is_taken_for_langchains(path: Path) -> None:
    """A value of another format is never recognised."""
    for line in path.read_text("utf-8").split("\n")[:60]:
        text = line.removeprefix("data:").strip()
        if text.startswith(("{", "[")) and text != "[DONE]":
            assert not DIALECT.recognise(_loaded(text))


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


@each(OWN)
def test_a_stream_of_langchain_is_recognised(path: Path) -> None:
    """The first value says so, in each form."""
    assert DIALECT.recognise(values_of(path)[0])


# Streams of providers, through LangChain's own models.

#: Where LangChain's sum of the chunks is not what the model said, and what it is instead (the reference's tables name the faults).
CHUNK_DIFFERENCES = {
    "anthropic_messages/incomplete_partial_json_response": "cut arguments are repaired to something the model did not write",
    "anthropic_messages/spliced_message_start": "pieces of two calls with one index fall together",
    "anthropic_messages/refusal_response": "a sentence is made of stop_details",
    "openai_responses/reasoning_encrypted_tools": "four responses in one stream, which LangChain refuses to add up",
    "anthropic_messages/clear_thinking": "its model raises in the middle",
}
USAGE_DIFFERENCES = {"openai_chat/perplexity_citations": (10, 336, 0, 0)}  # sent whole with each chunk; LangChain adds it up
#: Streams that stop in the middle, since LangChain's model raised.
RAISES = {"openai_responses/error_then_failed", "anthropic_messages/clear_thinking", "openai_responses/parallel_wrapper_completed_output_empty"}


@each(PROVIDERS)
def test_chunks_add_up_to_what_langchain_adds_them_up_to(path: Path) -> None:
    """Text, reasoning, calls and usage of our message are those of LangChain's sum of the chunks that its own model gives."""
    judge = judged(path)
    if not judge.chunks:
        assert named(path) in RAISES
        return
    found_messages, found = read(lines(plain(judge.chunks)))
    assert [rule for rule in rules_of(found) if rule != "langchain.bad-data"] == (["langchain.truncated"] if named(path) in RAISES else [])
    if judge.message is None:
        assert named(path) in CHUNK_DIFFERENCES
        return
    [message] = found_messages
    if named(path) not in CHUNK_DIFFERENCES:
        assert told_by_us(message) == told_by_langchain(judge.message)
    if judge.message.usage_metadata:
        assert our_usage(message) == USAGE_DIFFERENCES.get(named(path), usage_of(judge.message))


@each(PROVIDERS)
def test_the_verdicts_on_file_are_ours_too(path: Path) -> None:
    """What LangChain was found to make of each recording when the verdicts were written is what we make of its chunks."""
    golden = json.loads((SHARED.parent / "judges/providers/golden.json").read_text("utf-8"))
    verdict = golden.get(f"{path.parent.name}/{path.name}", {}).get("langchain", {})
    judge = judged(path)
    if not verdict.get("tool_calls") and not verdict.get("text") or named(path) in CHUNK_DIFFERENCES or judge.message is None:
        return
    [message], _ = read(lines(plain(judge.chunks)))
    ours = told_by_us(message)
    assert ours.text == verdict["text"]
    assert [call[1:] for call in ours.calls] == sorted([(call["name"], call["args"]) for call in verdict["tool_calls"]], key=str)


#: Where ChatModelStream's message is not what the model said.
PROTOCOL_DIFFERENCES = {
    "openai_chat/alibaba_qwen_tool_call_empty_id": "an empty id overwrites the one that is known",
    "openai_chat/mistral_glm_incremental_tool_call": "an empty name overwrites the one that is known",
    "openai_responses/reasoning_encrypted_tools": "ids of later calls overwrite the first",
    "anthropic_messages/refusal_response": "the refusal is in no block of it",
    "anthropic_messages/spliced_message_start": "the id of the second call overwrites that of the first",
}


@each(PROVIDERS)
def test_events_of_the_protocol_make_what_langchain_makes_of_them(path: Path) -> None:
    """Text, reasoning, calls and usage of our message are those of ChatModelStream, for stream_events v3 of every recording."""
    events, fault = protocol_of(path)
    if not events:
        return
    [message], found = read(lines(events))
    rules = [rule for rule in rules_of(found) if rule != "langchain.bad-data"]
    assert rules == (["langchain.truncated"] if fault else [])
    theirs = dispatched(events)
    if theirs is None:
        assert fault
        return
    if named(path) not in PROTOCOL_DIFFERENCES:
        assert told_by_us(message) == told_by_langchain(theirs)
    if theirs.usage_metadata and named(path) not in USAGE_DIFFERENCES:
        assert our_usage(message) == usage_of(theirs)


#: Where the request made of our message is not the one that LangChain makes of its own.
REQUEST_DIFFERENCES = {
    **CHUNK_DIFFERENCES,
    "openai_responses/lmstudio_tool_call": "no arguments are written as an object, which providers ask for",
}


@each(PROVIDERS)
def test_what_comes_back_from_us_is_sent_as_langchain_would_have_sent_it(path: Path) -> None:
    """The provider's request that LangChain makes of its own message equals the one that it makes of what we write."""
    judge = judged(path)
    if judge.message is None:
        return
    found_messages, _ = read(lines(plain(judge.chunks)))
    ours = messages_from_dict(write_messages(found_messages).value)
    calls = [*judge.message.tool_calls, *judge.message.invalid_tool_calls]
    theirs: list[Any] = [judge.message]
    theirs += [ToolMessage(content=NOT_RUN, tool_call_id=call["id"], name=call["name"], status="error") for call in calls]
    chat = model(path)
    wanted, given_ = (sent(chat._get_request_payload([HumanMessage("hi"), *each_])) for each_ in (theirs, ours))  # noqa: SLF001  the request itself
    if named(path) not in REQUEST_DIFFERENCES:
        assert given_ == wanted


def sent(payload: Wire) -> list[Any]:
    """Give the messages of a request, without the empty text that LangChain leaves of an empty first chunk."""
    said = plain(payload.get("messages", payload.get("input")))
    for message in said:
        if is_array(message.get("content")):
            message["content"] = [part for part in message["content"] if part != {"type": "text", "text": ""}]
        if is_array(message.get("content")) and [set(part) for part in message["content"]] == [{"type", "text"}]:
            message["content"] = message["content"][0]["text"]
    return [message for message in said if message.get("content") != "" or set(message) - {"role", "content"}]


# Edge cases: what a stream of chunks means. Words and data are ours.


def ai(content: Any = "", *pieces: Wire, **fields: Any) -> Wire:
    """Write a chunk."""
    return {
        "type": "AIMessageChunk",
        "content": content,
        "additional_kwargs": {},
        "response_metadata": {},
        "id": "lc_run--1",
        "tool_call_chunks": [{"type": "tool_call_chunk", "name": None, "args": None, "id": None, "index": None, **piece} for piece in pieces],
        **fields,
    }


LAST = ai(chunk_position="last")


def piece(index: Any = None, **fields: Any) -> Wire:
    """Write a chunk with one piece of a call."""
    return ai("", {"index": index, **fields})


def calls_of(*chunks: Wire) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Read chunks: the calls (id, name, arguments as text), and the rules that were broken."""
    [message], found = read(lines([*chunks, LAST]))
    return [(block["id"], block["name"], block["input"]) for block in message["content"] if block["type"] == "tool_call"], rules_of(
        found, Severity.WARNING
    )


#: Sequences of pieces of calls, the calls that they mean, and the rules that they break. Numbers are those of the bug table.
CALLS: dict[str, tuple[list[Wire], list[tuple[str, str, str]], list[str]]] = {
    "2 two pieces of one index in one chunk": (
        [ai("", {"index": 0, "id": "a", "name": "f", "args": ""}, {"index": 0, "args": '{"x":1}'})],
        [("a", "f", '{"x":1}')],
        [],
    ),
    "3 the name in each piece": ([piece(0, id="a", name="f", args='{"x":'), piece(0, name="f", args="1}")], [("a", "f", '{"x":1}')], []),
    "4 the id in each piece": ([piece(0, id="a", name="f", args=""), piece(0, id="a", args='{"x":1}')], [("a", "f", '{"x":1}')], []),
    "5 no index": ([piece(None, id="a", name="f", args='{"x":1}')], [("a", "f", '{"x":1}')], []),
    "7 the index begins at 1": ([piece(1, id="a", name="f", args=""), piece(1, args='{"x":1}')], [("a", "f", '{"x":1}')], []),
    "8 the name comes after the id": ([piece(0, id="a", args=""), piece(0, name="f", args='{"x":1}')], [("a", "f", '{"x":1}')], []),
    "9 empty id and name later": ([piece(0, id="a", name="f", args='{"x":'), piece(0, id="", name="", args="1}")], [("a", "f", '{"x":1}')], []),
    "11 the index moves on, the id stays": ([piece(0, id="a", name="f", args=""), piece(1, id="a", args='{"x":1}')], [("a", "f", '{"x":1}')], []),
    "12 gaps in the index": (
        [piece(2, id="a", name="f", args='{"x":1}'), piece(5, id="b", name="g", args='{"y":2}')],
        [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')],
        [],
    ),
    "16 19 interleaved": (
        [
            piece(0, id="a", name="f", args='{"x":'),
            piece(1, id="b", name="g", args='{"y":'),
            piece(0, args="1}"),
            piece(1, args="2}"),
        ],
        [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')],
        [],
    ),
    "19b parallel without index": (
        [piece(None, id="a", name="f", args='{"x":1}'), piece(None, id="b", name="g", args='{"y":2}')],
        [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')],
        [],
    ),
    "19b a piece with nothing but arguments": ([piece(None, id="a", name="f", args='{"x":'), piece(None, args="1}")], [("a", "f", '{"x":1}')], []),
    "19c no id at all": (
        [piece(0, name="f", args='{"x":'), piece(0, args="1}")],
        [("lc_run--1/call-1", "f", '{"x":1}')],
        ["langchain.call-without-id"],
    ),
    "19d the name again in the last piece": (
        [piece(0, id="a", name="f", args=""), piece(0, args='{"x":1'), piece(0, name="f", args="}")],
        [("a", "f", '{"x":1}')],
        [],
    ),
    "19e the name in pieces": ([piece(0, id="a", name="get_"), piece(0, name="time"), piece(0, args='{"x":1}')], [("a", "get_time", '{"x":1}')], []),
    "19e the name in pieces, no arguments": ([piece(0, id="a", name="get_"), piece(0, name="time")], [("a", "get_time", "")], ["tool-call.no-arguments"]),
    "the id comes late": ([piece(0, name="f", args='{"x":'), piece(0, id="a", args="1}")], [("a", "f", '{"x":1}')], []),
    "a new id with a name is a new call": (
        [piece(0, id="a", name="f", args='{"x":1}'), piece(0, id="b", name="g", args='{"y":2}')],
        [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')],
        [],
    ),
    "a new id without a name is the same call": ([piece(0, id="a", name="f", args='{"x":'), piece(0, id="b", args="1}")], [("a", "f", '{"x":1}')], []),
    "one id for two calls": (
        [piece(0, id="a", name="f", args='{"x":1}'), piece(1, id="a", name="g", args='{"y":2}')],
        [("a", "f", '{"x":1}'), ("a#1", "g", '{"y":2}')],
        ["langchain.repeated-call-id"],
    ),
    "20 null for arguments": ([piece(0, id="a", name="f", args=None), piece(0, args='{"x":1}')], [("a", "f", '{"x":1}')], []),
    "21 23 no arguments": ([piece(0, id="a", name="f", args="")], [("a", "f", "")], ["tool-call.no-arguments"]),
    "26 cut arguments": ([piece(0, id="a", name="f", args='{"path":"/a')], [("a", "f", '{"path":"/a')], ["langchain.broken-arguments"]),
    "33 arguments as an object": ([piece(0, id="a", name="f", args={"x": 1})], [("a", "f", '{"x": 1}')], []),
    "27 an object, then pieces": (
        [ai([{"type": "tool_use", "id": "a", "name": "f", "input": {}, "index": 1}], {"index": 1, "id": "a", "name": "f", "args": ""}), piece(1, args='{"x":1}')],
        [("a", "f", '{"x":1}')],
        [],
    ),
    "no name": ([piece(0, id="a", args='{"x":1}')], [("a", "", '{"x":1}')], ["langchain.call-without-name"]),
    "calls only, no pieces": (
        [ai(tool_calls=[{"id": "a", "name": "f", "args": {"x": 1}}], tool_call_chunks=[])],
        [("a", "f", '{"x": 1}')],
        [],
    ),
    "calls that LangChain could not read": (
        [ai(invalid_tool_calls=[{"id": "a", "name": "f", "args": '{"x"', "error": "no"}], tool_call_chunks=[])],
        [("a", "f", '{"x"')],
        ["langchain.broken-arguments"],
    ),
    "calls where only OpenAI's own format has them": (
        [ai(additional_kwargs={"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x":1}'}}]})],
        [("a", "f", '{"x":1}')],
        [],
    ),
    "a function of before there were tools": (
        [ai(additional_kwargs={"function_call": {"name": "f", "arguments": '{"x":'}}), ai(additional_kwargs={"function_call": {"arguments": "1}"}})],
        [("lc_run--1/call-1", "f", '{"x":1}')],
        ["langchain.call-without-id"],
    ),
    "OpenAI's item": (
        [ai([{"type": "function_call", "name": "f", "arguments": '{"x":1}', "call_id": "a", "id": "fc", "index": 0}])],
        [("a", "f", '{"x":1}')],
        [],
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_pieces_of_calls_are_put_together(name: str) -> None:
    """Whatever a provider does with index, id, name and arguments, the calls come out that it means."""
    chunks, wanted, rules = CALLS[name]
    assert calls_of(*chunks) == (wanted, rules)


def test_calls_park_the_reply_until_the_last_result() -> None:
    """A message with calls waits; ToolMessages answer them, and the last one ends the reply."""
    calling = ai("", {"index": 0, "id": "a", "name": "f", "args": "{}"}, {"index": 1, "id": "b", "name": "g", "args": "{}"}, chunk_position="last")
    [parked], found = read(lines([calling]))
    assert ([block["state"] for block in parked["content"]], rules_of(found)) == (["submitted", "submitted"], [])
    assert "finished_at" not in parked
    tool = {"type": "tool", "content": "1", "tool_call_id": "a", "name": "f", "status": "success"}
    failed = {**tool, "content": [{"type": "text", "text": "no"}], "tool_call_id": "b", "status": "error", "artifact": {"k": 1}}
    [message, answer], found = read(lines([calling, tool, failed, ai("done", id="lc_run--2", chunk_position="last")]))
    assert rules_of(found, Severity.WARNING) == []
    assert [(block["id"], block["state"]) for block in message["content"][2:]] == [("a", "success"), ("b", "error")]
    assert message["content"][3]["metadata"] == {"langchain": {"artifact": {"k": 1}}}
    assert (message["finished_reason"], answer["content"][0]["text"]) == ("completed", "done")


#: Streams of other kinds: what they fold to (kinds and texts of blocks, reason, usage), and the rules that they break.
STREAMS: dict[str, tuple[list[Any], list[tuple[list[tuple[str, str]], str]], list[str]]] = {
    "15 text between calls": (
        [ai("pre"), piece(0, id="a", name="f", args="{}"), ai("post"), LAST],
        [([("text", "pre"), ("tool_call", "{}"), ("text", "post")], "")],
        [],
    ),
    "thinking and text take turns": (
        [
            ai(additional_kwargs={"reasoning_content": "hm"}),
            ai("a"),
            ai(additional_kwargs={"reasoning_content": "oh"}),
            ai("b", chunk_position="last"),
        ],
        [([("thinking", "hm"), ("text", "a"), ("thinking", "oh"), ("text", "b")], "completed")],
        [],
    ),
    "35 reasoning_content": (
        [ai(additional_kwargs={"reasoning_content": "r"}), ai("a", chunk_position="last")],
        [([("thinking", "r"), ("text", "a")], "completed")],
        [],
    ),
    "one index, two kinds": (
        [ai([{"type": "thinking", "thinking": "t", "index": 0}]), ai([{"type": "text", "text": "a", "index": 0}]), LAST],
        [([("thinking", "t"), ("text", "a")], "completed")],
        [],
    ),
    "16 interleaved blocks": (
        [
            ai([{"type": "text", "text": "a", "index": 0}]),
            ai([{"type": "text", "text": "b", "index": 1}]),
            ai([{"type": "text", "text": "A", "index": 0}, {"type": "text", "text": "B", "index": 1}]),
            LAST,
        ],
        [([("text", "aA"), ("text", "bB")], "completed")],
        [],
    ),
    "a refusal": ([ai(additional_kwargs={"refusal": "no"}, chunk_position="last")], [([("text", "no")], "completed")], []),
    "44 nothing in a chunk": ([ai(), ai("a"), ai(), LAST], [([("text", "a")], "completed")], []),
    "45 no end": ([ai("a")], [([("text", "a")], "error")], ["langchain.truncated"]),
    "the reason to stop is the end": ([ai("a", response_metadata={"finish_reason": "stop"})], [([("text", "a")], "completed")], []),
    "58 two ends": ([ai("a"), LAST, LAST], [([("text", "a")], "completed")], ["langchain.after-end"]),
    "51 halves of a character": ([ai("x\ud83d"), ai("\ude00y", chunk_position="last")], [([("text", "x\U0001f600y")], "completed")], []),
    "half a character": ([ai("x\ud83d", chunk_position="last")], [([("text", "x\ufffd")], "completed")], []),
    "two messages": (
        [ai("a", chunk_position="last"), ai("b", id="lc_run--2", chunk_position="last")],
        [([("text", "a")], "completed"), ([("text", "b")], "completed")],
        [],
    ),
    "two messages at once": (
        [ai("a"), ai("b", id="lc_run--2"), ai("A", chunk_position="last"), ai("B", id="lc_run--2", chunk_position="last")],
        [([("text", "aA")], "completed"), ([("text", "bB")], "completed")],
        [],
    ),
    "no ids": (
        [ai("a", id=None), ai("A", id=None, chunk_position="last"), ai("b", id=None, chunk_position="last")],
        [([("text", "aA")], "completed"), ([("text", "b")], "completed")],
        [],
    ),
    "the provider's id, then LangChain's": ([ai("a", id="resp_1"), ai("b", chunk_position="last")], [([("text", "ab")], "completed")], []),
    "a whole message": ([{"type": "ai", "content": "a", "id": "m"}], [([("text", "a")], "completed")], []),
    "as messages_to_dict writes it": ([{"type": "ai", "data": {"content": "a", "id": "m"}}], [([("text", "a")], "completed")], []),
    "as dumpd writes it": (
        [{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"content": "a"}}],
        [([("text", "a")], "completed")],
        [],
    ),
    "a conversation": (
        [
            {"type": "system", "content": "be"},
            {"type": "human", "content": [{"type": "text", "text": "see"}, {"type": "image", "url": "https://e.org/a", "mime_type": "image/png"}]},
            {"type": "ai", "content": "a", "id": "m"},
        ],
        [([("text", "be")], "completed"), ([("text", "see"), ("data", "https://e.org/a")], "completed"), ([("text", "a")], "completed")],
        [],
    ),
    "chunks, then the message": (
        [ai("a", chunk_position="last"), {"type": "ai", "content": "a", "id": "lc_run--1"}],
        [([("text", "a")], "completed")],
        ["langchain.after-end"],
    ),
    "an error of the server": ([ai("a"), {"error": "Boom", "message": "it broke"}], [([("text", "a")], "error")], []),
    "bytes": (
        [ai([{"type": "image", "base64": "QUJD", "mime_type": "image/jpeg"}, {"type": "image_url", "image_url": {"url": "data:image/gif;base64,QUI="}}]), LAST],
        [([("data", "QUJD"), ("data", "QUI=")], "completed")],
        [],
    ),
    "no bytes": ([ai([{"type": "image", "base64": "!"}]), LAST], [([], "completed")], ["langchain.bad-data", "reply.no-visible-output"]),
    "a tool of the provider": (
        [
            ai([{"type": "server_tool_use", "id": "s", "name": "web", "input": {}, "index": 0}]),
            ai([{"type": "input_json_delta", "partial_json": '{"q":1}', "index": 0}]),
            ai([{"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"u": 1}], "index": 1}]),
            ai([{"type": "text", "text": "a", "index": 2}], chunk_position="last"),
        ],
        [([("tool_call", '{"q":1}'), ("tool_result", '[{"u": 1}]'), ("text", "a")], "completed")],
        [],
    ),
    "a tool of the provider that fails": (
        [
            ai([{"type": "server_tool_call", "id": "s", "name": "web", "args": {"q": 1}}]),
            ai([{"type": "server_tool_result", "tool_call_id": "s", "status": "error", "output": "no"}], chunk_position="last"),
        ],
        [([("tool_call", '{"q": 1}'), ("tool_result", "no")], "completed")],
        [],
    ),
    "OpenAI's search": (
        [ai([{"type": "web_search_call", "id": "s", "status": "completed", "action": {"query": "q"}, "index": 0}], chunk_position="last")],
        [([("tool_call", '{"query": "q"}'), ("tool_result", "")], "completed")],
        [],
    ),
    "a result for no call": (
        [{"type": "tool", "content": "x", "tool_call_id": "z"}, ai("a", chunk_position="last")],
        [([("text", "a")], "completed")],
        ["langchain.result-without-call"],
    ),
}


def shape(block: Wire) -> tuple[str, str]:
    """Give the kind of a block and what it holds, as text."""
    held = block.get("text", block.get("thinking", block.get("input", block.get("output"))))
    if block["type"] == "data":
        held = block["source"].get("data", block["source"].get("url"))
    return block["type"], "".join(part["text"] for part in held) if is_array(held) else str(held)


def heard(values: list[Any]) -> tuple[list[tuple[list[tuple[str, str]], str]], list[str]]:
    """Read values: messages, and the rules of the dialect and the contract that are broken."""
    checker = DialectChecker(DIALECT)
    decoder, index = checker._decoder, 0  # noqa: SLF001  values that no JSON text holds go in by themselves
    for value in values:
        checker._take(decoder.feed(value), index)  # noqa: SLF001
        index += 1
    checker._take(decoder.finish(), index)  # noqa: SLF001
    checker.finish_events()
    said = [([shape(block) for block in message["content"]], message.get("finished_reason", "")) for message in checker.folder.snapshots()]
    return said, rules_of(checker.findings(), Severity.WARNING)


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_means_what_it_should(name: str) -> None:
    """Edge cases of streams fold to what their producers mean."""
    values, wanted, rules = STREAMS[name]
    assert heard(values) == (wanted, rules)


#: Usage in chunks, and what was used.
USAGE: dict[str, tuple[list[Wire], tuple[int, int, int, int]]] = {
    "one": ([{"input_tokens": 5, "output_tokens": 2, "input_token_details": {"cache_read": 3, "cache_creation": 1}}], (5, 2, 3, 1)),
    "31 input first, output last": ([{"input_tokens": 5, "output_tokens": 0}, {"input_tokens": 0, "output_tokens": 2}], (5, 2, 0, 0)),
    "29 30 all so far in each": ([{"input_tokens": 5, "output_tokens": 1}, {"input_tokens": 5, "output_tokens": 4}], (5, 4, 0, 0)),
    "differences": ([{"input_tokens": 9, "output_tokens": 1}, *[{"input_tokens": 0, "output_tokens": 2}] * 3], (9, 7, 0, 0)),
    "nonsense": ([{"input_tokens": -1, "output_tokens": "many"}, {"input_tokens": True}], (0, 0, 0, 0)),
}


@pytest.mark.parametrize("name", USAGE)
def test_usage_is_counted_once(name: str) -> None:
    """What is sent in parts adds up; what is sent whole with each chunk counts once."""
    given_, wanted = USAGE[name]
    [message], _ = read(lines([*(ai("a", usage_metadata=usage) for usage in given_), LAST]))
    assert our_usage(message) == wanted


def event(name: str, run_id: str = "r", parents: tuple[str, ...] = (), **data: Any) -> Wire:
    """Write an event of astream_events v2."""
    return {"event": name, "run_id": run_id, "parent_ids": list(parents), "name": "n", "tags": [], "metadata": {"ls_model_name": "m"}, "data": data}


TOOL = {"type": "tool", "content": "out", "tool_call_id": "a", "name": "f", "status": "success"}
CALLING = ai("", {"index": 0, "id": "a", "name": "f", "args": "{}"})
#: Runs in astream_events v2.
RUNS: dict[str, tuple[list[Any], list[tuple[list[tuple[str, str]], str]], list[str]]] = {
    "an agent": (
        [
            event("on_chain_start", "R", input={}),
            event("on_chat_model_start", "m1", ("R",), input={}),
            event("on_chat_model_stream", "m1", ("R",), chunk=CALLING),
            event("on_chain_stream", "R", chunk=CALLING),
            event("on_chat_model_end", "m1", ("R",), output=CALLING),
            event("on_tool_start", "t", ("R",), input={}),
            event("on_tool_end", "t", ("R",), output=TOOL),
            event("on_chat_model_stream", "m2", ("R",), chunk=ai("done", id="lc_run--2")),
            event("on_chat_model_end", "m2", ("R",), output=ai("done", id="lc_run--2")),
            event("on_chain_end", "R", output={}),
        ],
        [([("tool_call", "{}"), ("tool_result", "out"), ("text", "done")], "completed")],
        [],
    ),
    "a model that does not stream": (
        [event("on_chat_model_start", input="x"), event("on_chat_model_end", output={"type": "ai", "content": "a"})],
        [([("text", "a")], "completed")],
        [],
    ),
    "an LLM": (
        [event("on_llm_start", input="x"), event("on_llm_stream", chunk={"text": "a"}), event("on_llm_end", output={"generations": [[{"text": "a"}]]})],
        [([("text", "a")], "completed")],
        [],
    ),
    "an LLM that does not stream": ([event("on_llm_end", output={"generations": [[{"text": "a"}]]})], [([("text", "a")], "completed")], []),
    "a tool that fails": (
        [
            event("on_chain_start", "R"),
            event("on_chat_model_stream", "m", ("R",), chunk=CALLING),
            event("on_chat_model_end", "m", ("R",), output=CALLING),
            event("on_tool_error", "t", ("R",), error="bad", tool_call_id="a", input={}),
            event("on_chain_end", "R"),
        ],
        [([("tool_call", "{}"), ("tool_result", "bad")], "completed")],
        [],
    ),
    "a run that fails": (
        [event("on_chain_start", "R"), event("on_chat_model_stream", "m", ("R",), chunk=ai("a")), event("on_chain_error", "R", error="bad")],
        [([("text", "a")], "error")],
        [],
    ),
    "a run that is cut": (
        [event("on_chain_start", "R"), event("on_chat_model_stream", "m", ("R",), chunk=ai("a", chunk_position="last"))],
        [([("text", "a")], "error")],
        ["langchain.truncated"],
    ),
    "two runs at once": (
        [
            event("on_chat_model_start", "x"),
            event("on_chat_model_start", "y"),
            event("on_chat_model_stream", "x", chunk=ai("a", id="i")),
            event("on_chat_model_stream", "y", chunk=ai("b", id="j")),
            event("on_chat_model_end", "x", output=ai("a", id="i")),
            event("on_chat_model_end", "y", output=ai("b", id="j")),
        ],
        [([("text", "a")], "completed"), ([("text", "b")], "completed")],
        [],
    ),
    "a chunk after the end": (
        [event("on_chain_start", "R"), event("on_chat_model_end", "m", ("R",), output=ai("a")), event("on_chat_model_stream", "m", ("R",), chunk=ai("b")), event("on_chain_end", "R")],
        [([("text", "a")], "completed")],
        ["langchain.after-end"],
    ),
}


def meta(step: int = 1, **fields: Any) -> Wire:
    """Write the metadata of a chunk of a graph."""
    return {"langgraph_step": step, "langgraph_node": "agent", "langgraph_checkpoint_ns": f"agent:{step}", **fields}


END = {"chunk_position": "last"}
#: Streams of LangGraph.
GRAPHS: dict[str, tuple[list[Any], list[tuple[list[tuple[str, str]], str]], list[str]]] = {
    "messages and updates": (
        [["messages", [{**CALLING, **END}, meta()]], ["updates", {"agent": {}}], ["messages", [TOOL, meta(2)]], ["messages", [ai("a", id="l2", **END), meta(3)]]],
        [([("tool_call", "{}"), ("tool_result", "out"), ("text", "a")], "completed")],
        [],
    ),
    "taken apart": (
        ["messages", [{**CALLING, **END}, meta()], "updates", {"agent": {}}, "custom", 5, "messages", [TOOL, meta(2)]],
        [([("tool_call", "{}"), ("tool_result", "out")], "completed")],
        [],
    ),
    "one mode, taken apart": ([ai("a", **END), meta()], [([("text", "a")], "completed")], []),
    "with namespaces": ([[["sub:1"], "messages", [ai("a", **END), meta()]]], [([("text", "a")], "completed")], []),
    "with namespaces, taken apart": ([["sub:1"], "messages", [ai("a", **END), meta()]], [([("text", "a")], "completed")], []),
    "two nodes at once": (
        [
            [ai("a"), meta(1, langgraph_checkpoint_ns="x")],
            [ai("b", id="lc_run--2"), meta(1, langgraph_checkpoint_ns="y")],
            [ai("A", **END), meta(1, langgraph_checkpoint_ns="x")],
            [ai("B", id="lc_run--2", **END), meta(1, langgraph_checkpoint_ns="y")],
        ],
        [([("text", "aA"), ("text", "bB")], "completed")],
        [],
    ),
    "a second run": ([[ai("a", **END), meta(3)], [ai("b", id="l2", **END), meta(1)]], [([("text", "a")], "completed"), ([("text", "b")], "completed")], []),
    "runs by their id": (
        [[ai("a", **END), meta(run_id="x")], [ai("b", id="l2", **END), meta(run_id="y")]],
        [([("text", "a")], "completed"), ([("text", "b")], "completed")],
        [],
    ),
    "somebody says something": (
        [[ai("a", **END), meta()], [{"type": "human", "content": "and?"}, meta(2)], [ai("b", id="l2", **END), meta(3)]],
        [([("text", "a"), ("hint", "None"), ("text", "b")], "completed")],
        [],
    ),
    "a user is asked": (
        [[{**CALLING, **END}, meta()], ["updates", {"__interrupt__": [{"value": {"action_requests": [{"name": "f", "args": {}}]}}]}]],
        [([("tool_call", "{}")], "")],
        [],
    ),
    "cut": ([[ai("a"), meta()]], [([("text", "a")], "error")], ["langchain.truncated"]),
    "what a server says first": ([{"run_id": "r", "attempt": 1}, [ai("a", **END), meta()]], [([("text", "a")], "completed")], []),
}


def said(seq: int, method: str, data: Any, *namespace: str) -> Wire:
    """Write an event of the agent protocol."""
    return {"type": "event", "event_id": str(seq), "seq": seq, "method": method, "params": {"namespace": list(namespace), "timestamp": 0, "data": data}}


def block(index: int, kind: str, **fields: Any) -> Wire:
    """Write an event of a block."""
    return {"event": f"content-block-{kind}", "index": index, **fields}


START = {"event": "message-start", "role": "ai", "id": "m"}
TEXT = [block(0, "start", content={"type": "text", "text": ""}), block(0, "delta", delta={"type": "text-delta", "text": "a"})]
DONE = [block(0, "finish", content={"type": "text", "text": "a"}), {"event": "message-finish"}]
CALL = [
    block(0, "start", content={"type": "tool_call_chunk", "id": "a", "name": "f", "args": ""}),
    block(0, "delta", delta={"type": "tool-call-delta", "args": "{}"}),
    block(0, "finish", content={"type": "tool_call", "id": "a", "name": "f", "args": {}}),
    {"event": "message-finish"},
]
#: Streams of the content-block protocol, bare and in envelopes.
PROTOCOL: dict[str, tuple[list[Any], list[tuple[list[tuple[str, str]], str]], list[str]]] = {
    "text": ([START, *TEXT, *DONE], [([("text", "a")], "completed")], []),
    "only the finish": ([START, block(0, "finish", content={"type": "text", "text": "a"}), {"event": "message-finish"}], [([("text", "a")], "completed")], []),
    "the finish goes on": ([START, *TEXT, block(0, "finish", content={"type": "text", "text": "ab"}), {"event": "message-finish"}], [([("text", "ab")], "completed")], []),
    "the finish differs": (
        [START, *TEXT, block(0, "finish", content={"type": "text", "text": "z"}), {"event": "message-finish"}],
        [([("text", "z")], "completed")],
        ["langchain.rewritten"],
    ),
    "one index, two kinds": (
        [
            START,
            block(0, "start", content={"type": "reasoning", "reasoning": ""}),
            block(0, "delta", delta={"type": "reasoning-delta", "reasoning": "r"}),
            block(0, "delta", delta={"type": "text-delta", "text": "a"}),
            {"event": "message-finish"},
        ],
        [([("thinking", "r"), ("text", "a")], "completed")],
        [],
    ),
    "arguments in snapshots": (
        [
            START,
            block(0, "start", content={"type": "tool_use", "id": "a", "name": "f", "input": ""}),
            *(block(0, "delta", delta={"type": "block-delta", "fields": {"type": "tool_call_chunk", "id": "a", "args": so_far}}) for so_far in ('{"x"', '{"x":1}')),
            {"event": "message-finish"},
        ],
        [([("tool_call", '{"x":1}')], "")],
        [],
    ),
    "deltas of before there were types": ([START, block(0, "delta", content_block={"type": "text", "text": "a"}), {"event": "message-finish"}], [([("text", "a")], "completed")], []),
    "bytes in deltas": (
        [START, block(0, "delta", delta={"type": "data-delta", "data": "QUJD"}), block(0, "finish", content={"type": "image", "mime_type": "image/png"}), {"event": "message-finish"}],
        [([("data", "QUJD")], "completed")],
        [],
    ),
    "a call that cannot be read": (
        [START, *CALL[:1], block(0, "finish", content={"type": "invalid_tool_call", "id": "a", "name": "f", "args": "{", "error": "no"}), {"event": "message-finish"}],
        [([("tool_call", "{")], "")],
        ["langchain.broken-arguments"],
    ),
    "no start": ([*TEXT, *DONE], [([("text", "a")], "completed")], ["langchain.no-start"]),
    "no finish": ([START, *TEXT], [([("text", "a")], "error")], ["langchain.truncated"]),
    "an error": ([START, *TEXT, {"event": "error", "message": "broke"}], [([("text", "a")], "error")], []),
    "a run": (
        [
            said(1, "lifecycle", {"event": "running", "graph_name": "g"}),
            *(said(2 + i, "messages", {**value, "run_id": "1"}, "model:1") for i, value in enumerate([START, *CALL])),
            said(10, "tools", {"event": "tool-started", "tool_call_id": "a", "tool_name": "f"}, "tools:1"),
            said(11, "tools", {"event": "tool-output-delta", "tool_call_id": "a", "delta": "ou"}, "tools:1"),
            said(12, "tools", {"event": "tool-finished", "tool_call_id": "a", "output": {"content": "out", "type": "tool"}}, "tools:1"),
            *(said(20 + i, "messages", {**value, "run_id": "2"}, "model:2") for i, value in enumerate([{**START, "id": "n"}, *TEXT, *DONE])),
            said(30, "lifecycle", {"event": "completed"}),
        ],
        [([("tool_call", "{}"), ("tool_result", "out"), ("text", "a")], "completed")],
        [],
    ),
    "a tool told by its message alone": (
        [
            said(1, "lifecycle", {"event": "running"}),
            *(said(2 + i, "messages", value, "model:1") for i, value in enumerate([START, *CALL])),
            *(said(9 + i, "messages", value, "tools:1") for i, value in enumerate([{"event": "message-start", "role": "tool", "tool_call_id": "a"}, *TEXT, *DONE])),
            said(30, "lifecycle", {"event": "completed"}),
        ],
        [([("tool_call", "{}"), ("tool_result", "a")], "completed")],
        [],
    ),
    "a tool that fails": (
        [
            said(1, "lifecycle", {"event": "running"}),
            *(said(2 + i, "messages", value, "model:1") for i, value in enumerate([START, *CALL])),
            said(10, "tools", {"event": "tool-error", "tool_call_id": "a", "message": "bad", "code": "c"}),
            said(30, "lifecycle", {"event": "completed"}),
        ],
        [([("tool_call", "{}"), ("tool_result", "bad")], "completed")],
        [],
    ),
    "a run that fails": (
        [said(1, "lifecycle", {"event": "running"}), *(said(2 + i, "messages", value) for i, value in enumerate([START, *TEXT])), said(9, "lifecycle", {"event": "failed", "error": "broke"})],
        [([("text", "a")], "error")],
        [],
    ),
    "a run that is cut": (
        [said(1, "lifecycle", {"event": "running"}), *(said(2 + i, "messages", value) for i, value in enumerate([START, *TEXT, *DONE]))],
        [([("text", "a")], "error")],
        ["langchain.truncated"],
    ),
    "only the messages": ([said(2 + i, "messages", value) for i, value in enumerate([START, *TEXT, *DONE])], [([("text", "a")], "completed")], []),
    "an event twice": (
        [said(2, "messages", START), said(3, "messages", TEXT[1]), said(3, "messages", TEXT[1]), *(said(4 + i, "messages", value) for i, value in enumerate(DONE))],
        [([("text", "a")], "completed")],
        ["langchain.no-start", "langchain.redelivered"],
    ),
    "a user is asked": (
        [
            said(1, "lifecycle", {"event": "running"}),
            *(said(2 + i, "messages", value) for i, value in enumerate([START, *CALL])),
            said(9, "input.requested", {"interrupt_id": "i", "payload": {"action_requests": [{"name": "f", "args": {}}]}}),
            said(10, "lifecycle", {"event": "interrupted"}),
        ],
        [([("tool_call", "{}")], "")],
        [],
    ),
}


@pytest.mark.parametrize(("table", "name"), [(table, name) for table in (RUNS, GRAPHS, PROTOCOL) for name in table])
def test_runs_graphs_and_blocks_mean_what_they_should(table: dict[str, Any], name: str) -> None:
    """Streams of the other forms fold to what their producers mean."""
    values, wanted, rules = table[name]
    assert heard(values) == (wanted, rules)


def test_whom_is_asked_is_known() -> None:
    """A call that a user is asked about is asked, others are handed to the client."""
    for table in (GRAPHS, PROTOCOL):
        [message] = folded(decoded(DIALECT, table["a user is asked"][0])[0])
        assert message["content"][0]["state"] == "asking"


FIRING: dict[str, list[Any]] = {
    "dialect.unfit": [5],
    "dialect.unknown": [{"what": 1}],
    "langchain.redelivered": PROTOCOL["an event twice"][0],
    "langchain.repeated-usage": [ai(usage_metadata={"input_tokens": 5, "output_tokens": 1})] * 2,
    "langchain.bad-data": STREAMS["no bytes"][0],
    "langchain.truncated": STREAMS["45 no end"][0],
    "langchain.after-end": STREAMS["58 two ends"][0],
    "langchain.result-without-call": STREAMS["a result for no call"][0],
    "langchain.rewritten": PROTOCOL["the finish differs"][0],
    "langchain.no-start": PROTOCOL["no start"][0],
    **{f"langchain.{rule}": chunks + [LAST] for rule, (chunks, _, _) in {
        "call-without-id": CALLS["19c no id at all"],
        "call-without-name": CALLS["no name"],
        "repeated-call-id": CALLS["one id for two calls"],
        "broken-arguments": CALLS["26 cut arguments"],
    }.items()},
}


@pytest.mark.parametrize("name", RULES)
def test_each_rule_fires(name: str) -> None:
    """Each rule of the dialect is broken by a stream."""
    assert name in {remark.rule for remark in decoded(DIALECT, FIRING[name])[2]}


# Laws over random streams.

WORDS = st.text(max_size=8)
SAFE = WORDS.map(joined)  # no half of a character
ARGUMENTS = st.dictionaries(SAFE, st.one_of(st.none(), st.booleans(), st.integers(-9, 9), SAFE), max_size=2)


@st.composite
def plans(draw: DrawFn) -> list[tuple[str, Any]]:
    """Draw an answer: blocks of text, thinking and calls, no two of text or of thinking side by side."""
    kinds = draw(st.lists(st.sampled_from(("text", "thinking", "call")), max_size=5))
    kept = [kind for kind, before in zip(kinds, [None, *kinds], strict=False) if kind == "call" or kind != before]
    return [(kind, (draw(SAFE) or "x") if kind != "call" else json.dumps(draw(ARGUMENTS))) for kind in kept]


def cut(draw: DrawFn, text: str) -> list[str]:
    """Cut text somewhere; empty pieces too."""
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=3)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def planned(plan: list[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Give the blocks of a plan as `shape` gives them."""
    return [("tool_call" if kind == "call" else kind, text) for kind, text in plan]


def in_chunks(draw: DrawFn, plan: list[tuple[str, Any]], *, indexed: bool, message_id: str = "lc_run--1") -> list[Wire]:
    """Write a plan in chunks: with indexes and interleaved, or without."""
    sequences: list[list[Wire]] = []
    for place, (kind, text) in enumerate(plan):
        pieces = cut(draw, text)
        if kind == "call":
            head = {"index": place, "id": f"c{place}", "name": "f", "args": ""}
            sequences.append([ai("", head), *(ai("", {"index": place, "args": part}) for part in pieces)])
        elif indexed:
            field = "text" if kind == "text" else "thinking"
            # The first piece opens the block, so that it is not empty.
            parts = [text[:1], *cut(draw, text[1:])]
            sequences.append([ai([{"type": kind, field: part, "index": place}]) for part in parts])
        elif kind == "text":
            sequences.append([ai(part) for part in pieces])
        else:
            sequences.append([ai(additional_kwargs={"reasoning_content": part}) for part in pieces])
    if indexed:
        firsts = [sequence.pop(0) for sequence in sequences]
        rest: list[Wire] = []
        while any(sequences):
            chosen = draw(st.sampled_from([sequence for sequence in sequences if sequence]))
            rest.append(chosen.pop(0))
        chunks = [*firsts, *rest]
    else:
        chunks = [chunk for sequence in sequences for chunk in sequence]
    end = ai(chunk_position="last", response_metadata={"finish_reason": "stop"}, usage_metadata={"input_tokens": 3, "output_tokens": 2, "total_tokens": 5})
    return [{**chunk, "id": message_id} for chunk in [*chunks, end]]


@st.composite
def chunked(draw: DrawFn) -> tuple[list[tuple[str, Any]], list[Wire]]:
    """Draw a plan, and its chunks."""
    plan = draw(plans())
    return plan, in_chunks(draw, plan, indexed=draw(st.booleans()))


@given(chunked())
def test_chunks_make_the_planned_message(drawn: tuple[list[tuple[str, Any]], list[Wire]]) -> None:
    """Chunks in any pieces, interleaved by index or not, make the blocks that were planned; nothing is wrong with them."""
    plan, chunks = drawn
    [message], found = read(lines(chunks))
    assert [shape(block_) for block_ in message["content"]] == planned(plan)
    assert rules_of(found, Severity.ERROR) == []
    assert our_usage(message) == (3, 2, 0, 0)
    theirs, fault = added([AIMessageChunk(**chunk) for chunk in chunks])
    assert fault == ""
    assert theirs is not None
    assert sorted(told_by_us(message).calls, key=str) == told_by_langchain(theirs).calls
    assert told_by_us(message).text == told_by_langchain(theirs).text


@st.composite
def protocols(draw: DrawFn) -> tuple[list[tuple[str, Any]], list[Wire]]:
    """Draw a plan, and its events of the protocol, interleaved."""
    plan = draw(plans())
    sequences: list[list[Wire]] = []
    for place, (kind, text) in enumerate(plan):
        name = {"text": "text", "thinking": "reasoning", "call": "args"}[kind]
        delta = {"text": "text-delta", "thinking": "reasoning-delta", "call": "tool-call-delta"}[kind]
        first = {"type": "tool_call_chunk", "id": f"c{place}", "name": "f", "args": ""} if kind == "call" else {"type": name, name: ""}
        last = {"type": "tool_call", "id": f"c{place}", "name": "f", "args": json.loads(text)} if kind == "call" else {"type": name, name: text}
        deltas = [block(place, "delta", delta={"type": delta, name: part}) for part in cut(draw, text)] if draw(st.booleans()) or kind == "call" else []
        sequences.append([block(place, "start", content=first), *deltas, block(place, "finish", content=last)])
    events: list[Wire] = []
    for sequence in sequences:
        events.append(sequence.pop(0))
        events += [sequence.pop(0)] if len(sequence) > 1 and sequence[0]["delta"].get("args") else []
    while any(sequences):
        chosen = draw(st.sampled_from([sequence for sequence in sequences if sequence]))
        events.append(chosen.pop(0))
    return plan, [START, *events, {"event": "message-finish", "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}}]


@given(protocols())
def test_events_of_the_protocol_make_the_planned_message(drawn: tuple[list[tuple[str, Any]], list[Wire]]) -> None:
    """Blocks that interleave as they like make what was planned, and what ChatModelStream makes of them."""
    plan, events = drawn
    [message], found = read(lines(events))
    assert sorted(shape(block_) for block_ in message["content"]) == sorted(planned(plan))
    assert rules_of(found, Severity.ERROR) == []
    theirs = dispatched(events)
    assert theirs is not None
    assert told_by_us(message) == told_by_langchain(theirs)


@st.composite
def graphs(draw: DrawFn) -> tuple[list[tuple[str, str]], list[Any]]:
    """Draw a run of a graph: messages, and results for their calls."""
    wanted: list[tuple[str, str]] = []
    values: list[Any] = []
    for number in range(draw(st.integers(1, 3))):
        plan = [(kind, text) for kind, text in draw(plans())]
        chunks = in_chunks(draw, plan, indexed=True, message_id=f"lc_run--{number}")
        for chunk in chunks:
            for part in chunk["tool_call_chunks"]:
                part["id"] = part["id"] and f"{number}-{part['id']}"
        values += [["messages", [chunk, meta(2 * number)]] for chunk in chunks]
        wanted += planned(plan)
        for place, (kind, _) in enumerate(plan):
            if kind == "call":
                output = draw(SAFE)
                values.append(["messages", [{**TOOL, "content": output, "tool_call_id": f"{number}-c{place}"}, meta(2 * number + 1)]])
                wanted.append(("tool_result", output))
    return wanted, values


@given(graphs())
def test_a_run_of_a_graph_makes_the_planned_message(drawn: tuple[list[tuple[str, str]], list[Any]]) -> None:
    """Messages and results of a run make one message, in their order, whole or taken apart."""
    wanted, values = drawn
    for given_ in (values, [part for value in values for part in value]):
        [message], found = read(lines(given_))
        assert [shape(block_) for block_ in message["content"]] == wanted
        assert rules_of(found, Severity.ERROR) == []


@given(chunked(), st.data())
def test_how_text_is_cut_changes_nothing(drawn: tuple[list[tuple[str, Any]], list[Wire]], data: st.DataObject) -> None:
    """A chunk cut in two, in its text or its arguments, makes the same message."""
    _, chunks = drawn
    again: list[Wire] = []
    for chunk in chunks:
        text = chunk["content"]
        parts = chunk["tool_call_chunks"]
        if isinstance(text, str) and text:
            place = data.draw(st.integers(0, len(text)))
            again += [{**chunk, "content": text[:place], "additional_kwargs": {}}, {**chunk, "content": text[place:]}]
        elif parts and parts[0]["args"] and not parts[0]["id"]:
            place = data.draw(st.integers(0, len(parts[0]["args"])))
            again += [{**chunk, "tool_call_chunks": [{**parts[0], "args": part}]} for part in (parts[0]["args"][:place], parts[0]["args"][place:])]
        else:
            again.append(chunk)
    assert read(lines(again))[0] == read(lines(chunks))[0]


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=8,
)
SEEDS: list[Any] = [value for table in (STREAMS, RUNS, GRAPHS, PROTOCOL) for values, _, _ in table.values() for value in values]


@st.composite
def mutants(draw: DrawFn) -> Any:
    """Draw a value of the dialect with something in it replaced by something else, or left out."""
    value = json.loads(json.dumps(draw(st.sampled_from(SEEDS))))
    for _ in range(draw(st.integers(1, 3))):
        node, path = value, 0
        while path < 6 and (is_object(node) or is_array(node)) and node:
            keys: list[Any] = list(node) if is_object(node) else list(range(len(node)))
            key = draw(st.sampled_from(keys))
            if draw(st.booleans()) or not (is_object(node[key]) or is_array(node[key])):
                if draw(st.booleans()):
                    node[key] = draw(JSON)
                else:
                    del node[key]
                break
            node, path = node[key], path + 1
    return value


@given(st.lists(st.one_of(JSON, mutants(), st.sampled_from(SEEDS)), max_size=12))
@example([{"a": json.loads("[" * 90 + "]" * 90)}, [[[]]], "messages", "messages", float("nan"), 10**400])
def test_nothing_is_raised_whatever_comes(values: list[Any]) -> None:
    """Arbitrary JSON and mutated values never raise, and every message is one that the schemas allow."""
    for message in folded(decoded(DIALECT, values)[0]):
        assert errors(message, {"user": "UserMsg", "system": "SystemMsg"}.get(message["role"], "AssistantMsg")) == []


def test_what_nests_too_deep_is_refused() -> None:
    """Nesting is bounded before anything is copied."""
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    decoder = LangChainDecoder()
    assert list(decoder.feed({"type": "ai", "content": deep})) == []
    assert [remark.rule for remark in decoder.remarks] == ["dialect.unfit"]


@pytest.mark.skipif(not OWN, reason="the recordings are not beside the project")
@given(st.data())
def test_mutated_recordings_never_raise(data: st.DataObject) -> None:
    """Lines left out, doubled, swapped or cut: nothing is raised, and each message that began is there."""
    path = data.draw(st.sampled_from(OWN))
    chosen = path.read_bytes().split(b"\n")
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(chosen) - 1))
        what = data.draw(st.sampled_from(("drop", "double", "swap", "cut")))
        if what == "drop" and len(chosen) > 1:
            del chosen[place]
        elif what == "double":
            chosen.insert(place, chosen[place])
        elif what == "swap":
            other = data.draw(st.integers(0, len(chosen) - 1))
            chosen[place], chosen[other] = chosen[other], chosen[place]
        else:
            chosen[place] = chosen[place][: data.draw(st.integers(0, len(chosen[place])))]
    found_messages, _ = read(b"\n".join(chosen))
    for message in found_messages:
        assert errors(message, "AssistantMsg") == []


# What is written for LangChain.


def loaded(given_: list[Wire]) -> tuple[list[Any], list[Any]]:
    """Write messages, and load them with LangChain's own classes."""
    value, losses = write_messages(given_)
    return messages_from_dict(json.loads(json.dumps(value))), losses


def paired(said_: list[Any]) -> None:
    """Hold that every call has exactly one result right behind its message, and no result is without a call."""
    owed: list[str] = []
    for message in said_:
        if message.type == "tool":
            assert message.tool_call_id in owed
            owed.remove(message.tool_call_id)
            continue
        assert owed == []
        if message.type == "ai":
            owed = [call["id"] for call in [*message.tool_calls, *message.invalid_tool_calls]]
            assert len(set(owed)) == len(owed)
    assert owed == []


@given(st.lists(messages(), max_size=3))
def test_any_messages_load_in_langchain_and_calls_are_paired(given_: list[Wire]) -> None:
    """Whatever the schemas allow loads in LangChain's own classes; calls and results are paired; losses are declared."""
    before = json.dumps(given_)
    said_, losses = loaded(given_)
    paired(said_)
    assert {loss.reason for loss in losses} <= set(LOSSES)
    assert json.dumps(given_) == before


@given(replies(roles=("assistant",)))
def test_a_reply_comes_back_from_langchain(events: list[Wire]) -> None:
    """What a reply said and called, and what was answered, is in what LangChain loads; read again, it is there once more."""
    [message] = folded(events)
    said_, losses = loaded([message])
    paired(said_)
    texts = "".join(block_["text"] for block_ in message["content"] if block_["type"] == "text")
    assert "".join(str(each_.text) for each_ in said_ if each_.type == "ai") == texts
    names = sorted(block_["name"] for block_ in message["content"] if block_["type"] == "tool_call")
    assert sorted(call["name"] for each_ in said_ if each_.type == "ai" for call in [*each_.tool_calls, *each_.invalid_tool_calls]) == names
    again, found = read(lines(write_messages([message]).value))
    assert set(rules_of(found)) <= {"langchain.call-without-name"}  # a reply of ours may hold one
    assert "".join(block_["text"] for one in again for block_ in one["content"] if block_["type"] == "text" and one["role"] == "assistant") == texts
    assert all(loss.reason in LOSSES for loss in losses)


def test_a_reply_that_ran_tools_becomes_a_conversation() -> None:
    """Calls, results, hints and bytes stand where LangChain's models look for them."""
    content: list[Wire] = [
        {"type": "thinking", "id": "t", "thinking": "hm", "signature": "s"},
        {"type": "text", "id": "1", "text": "look"},
        {"type": "tool_call", "id": "a", "name": "f", "input": '{"x":1}', "state": "finished"},
        {"type": "tool_call", "id": "b", "name": "g", "input": "{", "state": "finished"},
        {"type": "tool_result", "id": "a", "name": "f", "output": [{"type": "text", "id": "o", "text": "1"}], "state": "success"},
        {"type": "tool_result", "id": "b", "name": "g", "output": "no", "state": "denied"},
        {"type": "hint", "id": "h", "hint": "hurry", "source": "team"},
        {"type": "text", "id": "2", "text": "done"},
        {"type": "data", "id": "d", "source": {"type": "base64", "data": "QUJD", "media_type": "image/png"}},
    ]
    user = {"role": "user", "name": "Ada", "id": "u", "created_at": "t", "content": [{"type": "text", "id": "1", "text": "hi"}]}
    reply = {"role": "assistant", "name": "assistant", "id": "r", "created_at": "t", "content": content, "metadata": {"langchain": {"model_provider": "anthropic"}}}
    said_, losses = loaded([user, reply])
    assert [each_.type for each_ in said_] == ["human", "ai", "tool", "tool", "human", "ai"]
    assert said_[0].name == "Ada"
    assert said_[1].content_blocks[0] == {"type": "reasoning", "reasoning": "hm", "extras": {"signature": "s"}}
    assert (said_[1].tool_calls[0]["args"], said_[1].invalid_tool_calls[0]["args"]) == ({"x": 1}, "{")
    assert [(each_.content, each_.status) for each_ in said_[2:4]] == [("1", "success"), ("no", "error")]
    assert (said_[4].content, said_[4].name) == ("hurry", "team")
    assert said_[5].content_blocks[1] == {"type": "image", "base64": "QUJD", "mime_type": "image/png"}
    assert [(loss.pointer, loss.reason) for loss in losses] == [("/1/content/5/state", next(iter(LOSSES)))]


CALL_BLOCK = {"type": "tool_call", "id": "a", "name": "f", "input": "{}"}
RESULT_BLOCK = {"type": "tool_result", "id": "a", "name": "f", "output": "o", "state": "success"}
#: Content that loses something, by the loss.
LOSING: list[list[Wire]] = [
    [CALL_BLOCK, {**RESULT_BLOCK, "state": "interrupted"}],
    [CALL_BLOCK],
    [RESULT_BLOCK],
    [CALL_BLOCK, CALL_BLOCK, RESULT_BLOCK, RESULT_BLOCK],
]


@pytest.mark.parametrize("reason", LOSSES)
def test_each_loss_is_hit(reason: str) -> None:
    """Each declared loss happens, and alone."""
    content = LOSING[list(LOSSES).index(reason)]
    message = {"role": "assistant", "name": "a", "id": "r", "created_at": "t", "content": content}
    said_, losses = loaded([message])
    paired(said_)
    assert [loss.reason for loss in losses] == [reason]


def test_a_result_in_a_message_of_its_own_finds_its_call() -> None:
    """A tool message that follows later stands right behind its call."""
    reply = {"role": "assistant", "name": "a", "id": "r", "created_at": "t", "content": [CALL_BLOCK]}
    tool = {"role": "tool", "name": "t", "id": "x", "created_at": "t", "content": [RESULT_BLOCK]}
    said_, losses = loaded([reply, tool])
    assert ([each_.type for each_ in said_], losses) == (["ai", "tool"], [])


def test_the_mapping_is_true() -> None:
    """The classes of our events that the dialect gives are those of its table."""
    listed = {name for row in MAPPING if row.way == "in" for name in row.ours.split(", ")}
    made: set[str] = set()
    for table in (STREAMS, RUNS, GRAPHS, PROTOCOL):
        for values, _, _ in table.values():
            made |= {type(event_).__name__ for event_ in decoded(DIALECT, values)[0]}
    answered = [{**CALLING, **END}, {**TOOL, "content": [{"type": "image", "base64": "QUJD"}]}]
    made |= {type(event_).__name__ for event_ in decoded(DIALECT, answered)[0]}
    inside = [["messages", [{**CALLING, **END}, meta()]], ["messages", [answered[1], meta(2)]]]
    made |= {type(event_).__name__ for event_ in decoded(DIALECT, inside)[0]}
    assert made == listed

