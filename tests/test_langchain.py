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
from dialect_laws import decoded, folded, lines, reader, rules_of
from hypothesis import example, given
from hypothesis import strategies as st
from langchain_chunks import CALLING, END, START, TOOL, ai, block, meta
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage, messages_from_dict
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
from vector_laws import differences, expected, heard, vectors_of

from eventfold.dialects.halves import repaired
from eventfold.dialects.langchain import DIALECT, LOSSES, MAPPING, RULES, LangChainDecoder
from eventfold.dialects.langchain.request import LOST_THINKING, write_messages
from eventfold.dialects.reading import DialectChecker, Recogniser
from eventfold.dialects.rounds import NOT_RUN
from eventfold.findings import Severity
from eventfold.fuzz.strategies import messages, replies
from eventfold.jsonvalue import is_array, is_object
from eventfold.wire.schema import errors

if TYPE_CHECKING:
    from pathlib import Path

    from hypothesis.strategies import DrawFn
    from support import Wire


read = reader(DIALECT)

VECTORS = vectors_of("langchain")
OWN = recordings("langchain_generated", "langgraph", "langgraph_generated")
PROVIDERS = recordings("openai_chat", "openai_responses", "anthropic_messages")


def named(path: Path) -> str:
    """Name a recording."""
    return f"{path.parent.name}/{path.stem}"


def each(paths: list[Path]) -> Any:
    """Run a test for each recording; skip it where there are none."""
    missing = [pytest.param(None, marks=pytest.mark.skip(reason="the recordings are not beside the project"))]
    return pytest.mark.parametrize("path", paths or missing, ids=lambda path: named(path) if path else "none")


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


@each(OWN)
def test_what_is_written_of_it_says_the_same(path: Path) -> None:
    """The messages that are written load in LangChain, and say what its own message says."""
    [message], _ = read(path.read_bytes())
    said = [each_ for each_ in messages_from_dict(write_messages([message]).value) if isinstance(each_, AIMessage)]
    theirs = [told_by_langchain(judge) for judge in judges_of(path)]
    assert len(said) == len(theirs)
    for ours, judge in zip(said, theirs, strict=True):
        told = told_by_langchain(ours)
        assert told._replace(calls=[call[1:] for call in told.calls]) == judge._replace(calls=[call[1:] for call in judge.calls])


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


@pytest.mark.parametrize("name", ["graph-updates-alone", "graph-values-alone"])
def test_a_graph_that_gives_its_state_alone_is_recognised(name: str) -> None:
    """Its first value holds a message of LangChain's; one that holds anything else may be anybody's."""
    assert DIALECT.recognise(VECTORS[name]["values"][0])
    assert not DIALECT.recognise({"agent": {"messages": [{"role": "user", "content": "hi"}]}})
    assert not DIALECT.recognise({"messages": []})


def test_a_call_that_a_state_asks_about_waits_for_the_user() -> None:
    """The interrupt stands beside the messages, as `invoke` gives it: the call is not handed out, but asked about."""
    _, answer = heard(DIALECT, VECTORS["graph-values-when-the-user-is-asked"]["values"]).messages
    assert [block["state"] for block in answer["content"]] == ["asking"]


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
RAISES = {
    "openai_responses/error_then_failed",
    "anthropic_messages/clear_thinking",
    "openai_responses/parallel_wrapper_completed_output_empty",
}


def test_a_stream_of_langgraphs_server_is_recognised_and_ends_with_null() -> None:
    """Messages as far as they are (`messages/partial`) say what they are, and `event: end` with null is no value."""
    partial: list[Wire] = [
        {"content": text, "type": "ai", "id": "run-1", "additional_kwargs": {}, "response_metadata": {}} for text in ("Hel", "Hello")
    ]
    names = ("metadata", "messages/partial", "messages/partial", "end")
    values: tuple[Any, ...] = ({"run_id": "1", "attempt": 1}, [partial[0]], [partial[1]], None)
    data = "".join(f"event: {name}\ndata: {json.dumps(value)}\n\n" for name, value in zip(names, values, strict=True)).encode()
    recogniser = Recogniser()
    recogniser.feed(data)
    assert recogniser.found is DIALECT
    checker = DialectChecker(DIALECT)
    checker.feed(data)
    assert checker.finish() == []
    [message] = checker.folder.snapshots()
    assert (message["content"][0]["text"], message["finished_reason"]) == ("Hello", "completed")


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
    verdicts = SHARED.parent / "judges/providers/golden.json"
    if not verdicts.is_file():
        pytest.skip("the verdicts are not beside the project")
    golden = json.loads(verdicts.read_text("utf-8"))
    verdict = golden.get(f"{path.parent.name}/{path.name}", {}).get("langchain", {})
    judge = judged(path)
    if (not verdict.get("tool_calls") and not verdict.get("text")) or named(path) in CHUNK_DIFFERENCES or judge.message is None:
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


# Vectors: what a stream means.


#: Of lists on lines of their own, the items come one by one: pairs are known again, these are not.
TAKEN_APART = {"graph-messages-as-far-as-they-are", "graph-with-namespaces-taken-apart"}


@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_has_the_right_outcome(name: str) -> None:
    """Streams of all forms fold to what their producers mean, from values and from lines, and what is wrong with them is told."""
    vector = VECTORS[name]
    found = heard(DIALECT, vector["values"])
    assert differences(vector, found.messages) == []
    assert found.rules == expected(vector)
    if name not in TAKEN_APART:
        assert differences(vector, read(lines(vector["values"]))[0]) == []


def test_calls_park_the_reply_until_the_last_result() -> None:
    """A message with calls waits; ToolMessages answer them, and the last one ends the reply."""
    calling = ai(
        "", {"index": 0, "id": "a", "name": "f", "args": "{}"}, {"index": 1, "id": "b", "name": "g", "args": "{}"}, chunk_position="last"
    )
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


def shape(block: Wire) -> tuple[str, str]:
    """Give the kind of a block and what it holds, as text."""
    held = block.get("text", block.get("thinking", block.get("input", block.get("output"))))
    if block["type"] == "data":
        held = block["source"].get("data", block["source"].get("url"))
    return block["type"], "".join(part["text"] for part in held) if is_array(held) else str(held)


def test_whom_is_asked_is_known() -> None:
    """A call that a user is asked about is asked, others are handed to the client."""
    for name in ("graph-user-is-asked", "protocol-user-is-asked"):
        [message] = folded(decoded(DIALECT, VECTORS[name]["values"])[0])
        assert message["content"][0]["state"] == "asking"


@pytest.mark.parametrize("name", RULES)
def test_each_rule_fires(name: str) -> None:
    """Each rule of the dialect is broken by a stream."""
    alone: dict[str, list[Any]] = {"dialect.unfit": [5], "dialect.unknown": [{"what": 1}]}
    if name in alone:
        assert name in {remark.rule for remark in decoded(DIALECT, alone[name])[2]}
    else:
        assert any(name in vector["findings"] for vector in VECTORS.values())


# Laws over random streams.

WORDS = st.text(max_size=8)
SAFE = WORDS.map(repaired)  # no half of a character
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
    end = ai(
        chunk_position="last",
        response_metadata={"finish_reason": "stop"},
        usage_metadata={"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
    )
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
        last = (
            {"type": "tool_call", "id": f"c{place}", "name": "f", "args": json.loads(text)}
            if kind == "call"
            else {"type": name, name: text}
        )
        deltas = (
            [block(place, "delta", delta={"type": delta, name: part}) for part in cut(draw, text)]
            if draw(st.booleans()) or kind == "call"
            else []
        )
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
            again += [
                {**chunk, "tool_call_chunks": [{**parts[0], "args": part}]} for part in (parts[0]["args"][:place], parts[0]["args"][place:])
            ]
        else:
            again.append(chunk)
    assert read(lines(again))[0] == read(lines(chunks))[0]


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=8,
)
SEEDS: list[Any] = [value for vector in VECTORS.values() for value in vector["values"]]


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


def ended(message: Wire) -> bool:
    """Tell whether a message has ended, or waits for an answer."""
    waits = any(block_["type"] == "tool_call" and block_["state"] in {"submitted", "asking"} for block_ in message["content"])
    return "finished_at" in message or waits


@given(st.lists(st.one_of(JSON, mutants(), st.sampled_from(SEEDS)), max_size=12))
@example([{"a": json.loads("[" * 90 + "]" * 90)}, [[[]]], "messages", "messages", float("nan"), 10**400])
def test_nothing_is_raised_whatever_comes(values: list[Any]) -> None:
    """Arbitrary JSON and mutated values never raise, and every message is one that the schemas allow."""
    events, _, _ = decoded(DIALECT, values)
    for message in folded(events):
        assert errors(message, {"user": "UserMsg", "system": "SystemMsg"}.get(message["role"], "AssistantMsg")) == []
        assert ended(message)


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
        assert ended(message)


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
    assert (
        "".join(block_["text"] for one in again for block_ in one["content"] if block_["type"] == "text" and one["role"] == "assistant")
        == texts
    )
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
    reply = {
        "role": "assistant",
        "name": "assistant",
        "id": "r",
        "created_at": "t",
        "content": content,
        "metadata": {"langchain": {"model_provider": "anthropic"}},
    }
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
HIDDEN: Wire = {"type": "thinking", "id": "t", "thinking": "", "redacted_thinking_data": "d", "x_openai": {}}
#: Content that loses something, by the loss.
LOSING: list[list[Wire]] = [
    [CALL_BLOCK, {**RESULT_BLOCK, "state": "interrupted"}],
    [HIDDEN],
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


def test_what_openai_hid_is_not_sent_to_anthropic() -> None:
    """Thinking keeps its text; what Anthropic hid or signed goes back to it."""
    theirs = {**HIDDEN, "thinking": "hm", "signature": "s"}
    ours: list[Wire] = [{key: item for key, item in block_.items() if key != "x_openai"} for block_ in (HIDDEN, {**theirs, "id": "u"})]
    reply = {"role": "assistant", "name": "a", "id": "r", "created_at": "t", "content": [HIDDEN, theirs, *ours]}
    said_, losses = loaded([reply])
    assert said_[0].content == [
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "non_standard", "value": {"type": "redacted_thinking", "data": "d"}},
        {"type": "reasoning", "reasoning": "hm", "extras": {"signature": "s"}},
    ]
    assert [(loss.pointer, loss.reason) for loss in losses] == [("/0/content/0", LOST_THINKING), ("/0/content/1", LOST_THINKING)]


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
    for vector in VECTORS.values():
        made |= {type(event_).__name__ for event_ in decoded(DIALECT, vector["values"])[0]}
    answered = [{**CALLING, **END}, {**TOOL, "content": [{"type": "image", "base64": "QUJD"}]}]
    made |= {type(event_).__name__ for event_ in decoded(DIALECT, answered)[0]}
    inside = [["messages", [{**CALLING, **END}, meta()]], ["messages", [answered[1], meta(2)]]]
    made |= {type(event_).__name__ for event_ in decoded(DIALECT, inside)[0]}
    assert made == listed
