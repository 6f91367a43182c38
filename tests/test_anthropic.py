"""
The dialect of Anthropic, judged by Anthropic's own SDK.

What the SDK accumulates of a stream is what we fold, down to signatures, citations and results of its own tools; where it
raises or mixes blocks up, the vectors say what is right and why. What we send back is what it would.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from anthropic_events import END, OVERLOADED, WHOLE, args, begin, reason, said, sign, start, stop, text, think
from anthropic_judge import accumulated, events_of, takes
from dialect_laws import folded
from hypothesis import given
from hypothesis import strategies as st
from pieces import SHARED, anything, arguments_of, bare, broken, cut, objects, read, read_bytes, recordings, units, words
from vector_laws import differences, expected, heard, vectors_of

from eventfold.dialects import recognise
from eventfold.dialects.anthropic import DIALECT
from eventfold.dialects.anthropic.request import LOSSES, write_messages
from eventfold.dialects.anthropic.stream import DEEPEST
from eventfold.fuzz.breaking import nested
from eventfold.fuzz.strategies import messages, replies
from eventfold.jsonvalue import copy_json, depth_of, is_array, is_object

if TYPE_CHECKING:
    from pathlib import Path

    from hypothesis.strategies import DrawFn
    from support import Wire

    from eventfold.vectors import Vector

RECORDINGS = recordings("anthropic_messages")
#: Recordings that are broken, and the errors that say so.
BROKEN = {"spliced_message_start.jsonl": ["anthropic.truncated"]}  # a gateway tried again in the middle of a message
GOLDEN = SHARED.parent / "judges/providers/golden.json"
VECTORS = vectors_of("anthropic")

# --- what a message of ours says, in Anthropic's terms ------------------------------------------

TOKENS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_input_tokens": "cache_read_input_tokens",
    "cache_creation_input_tokens": "cache_creation_input_tokens",
}


def project(message: Wire) -> list[Wire]:
    """Say the blocks of a message in Anthropic's terms: everything that the SDK's message holds, and nothing else."""
    said: list[Wire] = []
    after: list[Wire] = []
    for block in message["content"]:
        metadata: Wire = block.get("metadata", {}).get("anthropic", {})
        own: Wire = {**block.get("x_anthropic", {}), **metadata}
        said += own.pop("before", [])
        after += own.pop("after", [])
        if block["type"] == "text":
            said.append({"type": "text", "text": block["text"], **own})
        elif "redacted_thinking_data" in block:
            said.append({"type": "redacted_thinking", "data": block["redacted_thinking_data"], **own})
        elif block["type"] == "thinking":
            said.append({"type": "thinking", "thinking": block["thinking"], "signature": block.get("signature", ""), **own})
        elif block["type"] == "tool_call":
            call = {"type": "tool_use", "id": block["id"], "name": block["name"], "input": arguments_of(block["input"])}
            said.append({**call, **own})
        elif "type" in own:
            text = "".join(part["text"] for part in block["output"])
            usual = [{"type": "text", "text": text}] if own["type"] == "mcp_tool_result" else text and json.loads(text)
            said.append({"tool_use_id": block["id"], "content": usual, **own})
    return said + after + message.get("metadata", {}).get("anthropic", {}).get("after", [])


def usage_of(message: Wire) -> Wire:
    """Give the usage of a message under Anthropic's names."""
    own = message.get("metadata", {}).get("anthropic", {}).get("usage", {})
    return {**own, **{theirs: message["usage"][ours] for ours, theirs in TOKENS.items()}}


def content_of(sdk: Wire) -> list[Wire]:
    """Give the content of the SDK's message; thinking that has no signature has an empty one."""
    return [{"signature": "", **bare(block)} if block["type"] == "thinking" else bare(block) for block in sdk["content"]]


def responses(events: list[Wire]) -> list[list[Wire]]:
    """Take the responses of a stream apart: the SDK knows no second message_start."""
    parts: list[list[Wire]] = []
    for event in events:
        if event["type"] == "message_start":
            if parts and parts[-1][0]["message"]["id"] == event["message"]["id"]:
                continue
            parts.append([])
        parts[-1].append(event)
    return parts


# --- recordings ---------------------------------------------------------------------------------


def test_the_recordings_are_there_or_said_to_be_absent() -> None:
    """Without the folder of recordings nothing is tested of it."""
    if not RECORDINGS:
        pytest.skip(f"no recordings in {SHARED.name}/")
    assert set(BROKEN) <= {path.name for path in RECORDINGS}


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
@pytest.mark.parametrize("beta", [False, True], ids=["messages", "beta"])
def test_a_recording_is_what_the_sdk_accumulates(path: Path, beta: bool) -> None:  # noqa: FBT001  a parameter of the test
    """Every block with all its fields, the stop reason and the usage; and nothing is wrong but what is listed."""
    found = read_bytes(DIALECT, path.read_bytes())
    events = events_of(path)
    if not beta and {event.get("content_block", {}).get("type") for event in events} & {"compaction", "mcp_tool_use", "fallback"}:
        pytest.skip("the SDK accumulates these blocks in its beta alone")
    assert found.errors == BROKEN.get(path.name, [])
    assert found.losses == []
    parts = responses(events)
    assert [message["id"] for message in found.messages] == [part[0]["message"]["id"] for part in parts]
    for message, part in zip(found.messages, parts, strict=True):
        sdk = accumulated(part, beta=beta)
        mine: list[Wire] = bare(project(message))
        if path.name.startswith("incomplete") or message["id"] == "msg_first":
            # The SDK closes the text that was cut, as if it were whole; ours is what was sent.
            cut_call = mine.pop()
            assert isinstance(cut_call["input"], str)
            assert sdk["content"].pop()["id"] == cut_call["id"]
        assert mine == content_of(sdk)
        wanted = {**dict.fromkeys(TOKENS.values(), 0), **bare(sdk["usage"])}
        if message.get("finished_reason") is None:
            wanted.pop("server_tool_use", None)  # comes at the end, when nothing sets the metadata of a parked message
        assert bare(usage_of(message)) == wanted
        if message.get("finished_reason") == "completed":
            assert message["metadata"]["anthropic"].get("stop_reason") == sdk["stop_reason"]
            assert message["metadata"]["anthropic"]["model"] == sdk["model"] or not beta


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_a_recording_is_what_was_judged_before(path: Path) -> None:
    """The verdicts that were written down are those of today: text, thinking, calls with their raw arguments, usage."""
    verdict = json.loads(GOLDEN.read_text("utf-8"))[f"anthropic_messages/{path.name}"]["sdk_beta"]
    if path.name in BROKEN:
        pytest.skip("the SDK mixes up what is spliced")
    [message] = read_bytes(DIALECT, path.read_bytes()).messages
    blocks = [block for block in message["content"] if block["type"] != "tool_result"]
    told = [block for block in verdict["content"] if block["type"] in {"text", "thinking", "redacted_thinking"} or "raw_json" in block]
    assert len(blocks) == len(told)
    for block, wanted in zip(blocks, told, strict=True):
        for theirs, ours in (("text", "text"), ("thinking", "thinking"), ("id", "id"), ("name", "name"), ("raw_json", "input")):
            if theirs in wanted:
                assert block[ours] == wanted[theirs]
    assert message["usage"]["input_tokens"] == verdict["usage"]["input_tokens"]
    assert message["usage"]["output_tokens"] == verdict["usage"]["output_tokens"]


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_what_goes_back_is_what_the_sdk_would_send(path: Path) -> None:
    """The assistant's turn of a request is the SDK's own message, without empty text; and its types take it."""
    found = read_bytes(DIALECT, path.read_bytes())
    for message, part in zip(found.messages, responses(events_of(path)), strict=True):
        sdk = accumulated(part, beta=True)
        request, losses = write_messages([message])
        takes(request, beta=True)
        wanted = [block for block in content_of(sdk) if block.get("text") != ""]
        if path.name.startswith(("incomplete", "spliced")):
            wanted = [block for block in wanted if block["type"] != "tool_use"]
        mine: list[Wire] = request["messages"][0]["content"] if request["messages"] else []
        if path.name.startswith(("incomplete", "spliced")):
            mine = [block for block in mine if block["type"] != "tool_use"]
        assert bare(mine) == wanted
        calls = [block["id"] for block in message["content"] if block["type"] == "tool_call" and "type" not in block.get("x_anthropic", {})]
        assert [loss.reason for loss in losses if loss.pointer.endswith("/state")] == _answers(message)
        assert [block["tool_use_id"] for turn in request["messages"][1:] for block in turn["content"]] == calls


def _answers(message: Wire) -> list[str]:
    """Say what is lost of a message's calls: that they have no result, or how the result ended."""
    results = {block["id"] for block in message["content"] if block["type"] == "tool_result"}
    return [
        "the state of a result, if it is neither success nor error"
        if block["id"] in results
        else "that a call has no result: it is answered with an error"
        for block in message["content"]
        if block["type"] == "tool_call" and "type" not in block.get("x_anthropic", {})
    ]


@pytest.mark.parametrize("path", sorted(SHARED.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_only_its_own_streams_are_recognised(path: Path) -> None:
    """Of all recordings, those of Anthropic are recognised, from their first events, and no other."""
    mine = path.parent.name == "anthropic_messages"
    raw = path.read_bytes()
    lines = [line.removeprefix(b"data:").strip() for line in raw.splitlines()]
    values = [json.loads(line) for line in lines if line.startswith(b"{") and line.endswith(b"}") and _is_json(line)]
    assert [DIALECT.recognise(value) for value in values[:1]] == [mine] * len(values[:1])
    assert any(DIALECT.recognise(value) for value in values) == mine


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


# --- vectors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_has_the_right_outcome(name: str) -> None:
    """What is right of each, what is said about it, and that the SDK says the same unless the vector says why not."""
    vector = VECTORS[name]
    found = heard(DIALECT, vector["values"])
    assert differences(vector, found.messages) == []
    assert [project(message) for message in found.messages] == [reply["sent_back"] for reply in vector["replies"]]
    assert found.rules == expected(vector)
    assert agrees(vector) == ("vendor" not in vector)


def agrees(vector: Vector) -> bool:
    """Tell whether the SDK makes of a stream what the vector says."""
    events: list[Any] = vector["values"]
    reply, *more = vector["replies"]
    if more or events[-1]["type"] == "error":
        return False  # the SDK knows one message, and raises for whatever event is called error
    try:
        sdk = accumulated(events, beta=True)
    except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):
        return False
    tokens = {name: sdk["usage"][name] for name in reply["usage"]}
    return (content_of(sdk), tokens) == (bare(reply["sent_back"]), reply["usage"])


def test_every_rule_is_broken_by_a_vector() -> None:
    """No rule of the dialect is there for nothing."""
    two = read(DIALECT, [start(), END, start(), END, stop(0), 5, {"type": "tomorrow"}]).rules
    fired = {rule for vector in VECTORS.values() for rule in vector["findings"]}.union(two)
    assert set(DIALECT.rules) - fired == set()


def test_what_is_wrong_is_said_where_it_stands() -> None:
    """A remark belongs to the event that breaks the rule."""
    assert DIALECT.decoder is not None
    decoder = DIALECT.decoder()
    stream = VECTORS["gap-in-the-index"]["values"]
    at = [[remark.rule for remark in decoder.remarks] for event in stream for _ in [[*decoder.feed(event)]]]
    assert at == [[], [], [], [], ["anthropic.index-order"], [], [], [], []]


def test_messages_one_after_the_other_are_replies() -> None:
    """A capture of several responses gives a message each; one without an id, and one whose id is taken, get one of their own."""
    found = read(
        DIALECT, [start(), END, start(id="n"), reason(), END, start(id=None), reason(), END, start(), reason(), END, {**WHOLE, "id": "w"}]
    )
    assert [message["id"] for message in found.messages] == ["m", "n", "message-3", "m#4", "w"]


def test_what_one_answer_breaks_off_the_next_begins() -> None:
    """A gateway that tries again leaves a failed reply behind, and a whole one."""
    found = read(
        DIALECT, [start(), begin(0, "tool_use"), args(0, '{"a'), start(id="n"), begin(0, "text"), text(0, "b"), stop(0), reason(), END]
    )
    assert [(message["id"], message["finished_reason"]) for message in found.messages] == [("m", "error"), ("n", "completed")]
    assert found.messages[0]["error"]["type"] == "connection"


CALL_CUT = ("max_tokens", "model_context_window_exceeded", "refusal")
CALLED: dict[str, tuple[list[Wire], list[str], list[str]]] = {
    "the text was cut, and the block has stopped": ([begin(0, "tool_use"), args(0, '{"a": '), stop(0)], ["t0"], ["t0"]),
    "nothing was written, and the block has stopped": ([begin(0, "tool_use"), args(0, ""), stop(0)], ["t0"], ["t0"]),
    "nothing was written, and the block is open": ([begin(0, "tool_use")], ["t0"], ["t0"]),
    "the text is whole": ([begin(0, "tool_use"), args(0, '{"a": 1}'), stop(0)], [], []),
    "a call without arguments, and more was written": ([begin(0, "tool_use"), stop(0), begin(1, "text"), text(1, "a"), stop(1)], [], []),
    "the second of two": ([begin(0, "tool_use"), stop(0), begin(1, "tool_use"), args(1, "{"), stop(1)], ["t1"], ["t1"]),
    "a call of Anthropic's": ([begin(0, "server_tool_use"), args(0, '{"q'), stop(0)], ["s0"], ["s0"]),
    "a whole call of Anthropic's": ([begin(0, "server_tool_use"), args(0, "{}"), stop(0)], ["s0"], []),
}


@pytest.mark.parametrize("why", CALL_CUT)
@pytest.mark.parametrize("name", CALLED)
def test_a_call_that_was_cut_is_not_to_be_run(name: str, why: str) -> None:
    """Its block may have stopped all the same; a call that is whole goes to the client."""
    events, interrupted, cut_ = CALLED[name]
    found = read(DIALECT, [start(), *events, reason(why), END])
    [message] = found.messages
    results = {block["id"]: block["state"] for block in message["content"] if block["type"] == "tool_result"}
    assert results == dict.fromkeys(interrupted, "interrupted")
    assert found.rules.count("anthropic.call-cut") == len(cut_)


@pytest.mark.parametrize("written", ["", "{"])
def test_a_call_that_nothing_cut_goes_to_the_client(written: str) -> None:
    """Without arguments it is whole, and what is broken was not cut, when the message ends by itself."""
    found = read(DIALECT, [start(), begin(0, "tool_use"), args(0, written), stop(0), reason("tool_use"), END])
    [[block]] = [message["content"] for message in found.messages]
    assert (block["type"], block["state"]) == ("tool_call", "submitted")
    assert "anthropic.call-cut" not in found.rules


def test_an_error_says_its_kind() -> None:
    """What Anthropic calls an error is one of ours, and the whole of it is kept."""
    [message] = read(DIALECT, [start(), {**OVERLOADED, "request_id": "req_1"}]).messages
    assert message["error"] == {"type": "upstream", "message": "Overloaded"}
    assert message["metadata"]["anthropic"]["error"] == OVERLOADED["error"]
    assert message["metadata"]["anthropic"]["request_id"] == "req_1"


def test_unknown_fields_are_kept() -> None:
    """What an event says beside what is known of it stays with the block or the message."""
    [message] = read(
        DIALECT,
        [
            start(x_new=1),
            {**begin(0, "text", speed="fast"), "x_a": 1},
            {**text(0, "t"), "x_b": 2},
            {**stop(0), "x_c": 3},
            {**reason(x_units=5), "context_management": {"applied_edits": []}},
            {**END, "amazon-bedrock-invocationMetrics": {"latency": 4}},
        ],
    ).messages
    assert message["content"][0]["x_anthropic"] == {"speed": "fast", "x_a": 1, "x_b": 2, "x_c": 3}
    own = message["metadata"]["anthropic"]
    assert (own["x_new"], own["context_management"], own["amazon-bedrock-invocationMetrics"]) == (1, {"applied_edits": []}, {"latency": 4})
    assert own["usage"] == {"x_units": 5}


# --- random streams -----------------------------------------------------------------------------


class Plan(NamedTuple):
    """A message to be streamed: its blocks as the SDK has them at the end, and the events that say so."""

    content: list[Wire]
    usage: Wire
    events: list[Wire]
    whole: Wire


CITATION = {"type": "char_location", "document_index": 0, "document_title": None, "start_char_index": 0, "end_char_index": 2}
CITATIONS = st.lists(words.map(lambda word: {**CITATION, "cited_text": word}), max_size=2)


@st.composite
def blocks(draw: DrawFn, number: int) -> list[Wire]:
    """Draw a block, or a call of the provider's with its result."""
    kind = draw(
        st.sampled_from(("text", "text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use", "compaction"))
    )
    if kind == "text":
        citations = draw(CITATIONS)
        return [said("text", draw(words), **({"citations": citations} if citations else {}))]
    if kind == "thinking":
        return [said("thinking", draw(words), signature=draw(st.sampled_from(("", "c2ln"))))]
    if kind in {"redacted_thinking", "compaction"}:
        return [{"type": kind, **({"data": "ZA=="} if kind != "compaction" else {"content": draw(words), "encrypted_content": "ZQ=="})}]
    call = {"type": kind, "id": f"toolu_{number}", "name": "f", "input": draw(objects)}
    if kind == "tool_use":
        return [call]
    if kind == "mcp_tool_use":
        texts = [{"type": "text", "text": word} for word in draw(st.lists(words, min_size=1, max_size=2))]
        return [
            {**call, "server_name": "s"},
            {"type": "mcp_tool_result", "tool_use_id": call["id"], "is_error": draw(st.booleans()), "content": texts},
        ]
    failed = draw(st.booleans())
    content = (
        {"type": "web_search_tool_result_error", "error_code": "unavailable"}
        if failed
        else [{"type": "web_search_result", "url": draw(words), "title": "t", "encrypted_content": "ZQ==", "page_age": None}]
    )
    return [{**call, "name": "web_search"}, {"type": "web_search_tool_result", "tool_use_id": call["id"], "content": content}]


@st.composite
def steps(draw: DrawFn, index: int, block: Wire) -> list[Wire]:
    """Draw the events of a block."""
    kind = block["type"]
    deltas: list[Wire] = []
    empty: Wire = {key: value for key, value in block.items() if key != "citations"}
    if kind == "text":
        empty["text"] = ""
        deltas = [text(index, piece) for piece in draw(cut(block["text"]))]
        deltas += [
            {**stop(index), "type": "content_block_delta", "delta": {"type": "citations_delta", "citation": item}}
            for item in block.get("citations", [])
        ]
    elif kind == "thinking":
        empty |= {"thinking": "", "signature": ""}
        deltas = [think(index, piece) for piece in draw(cut(block["thinking"]))]
        deltas += [sign(index, block["signature"])] if block["signature"] else []
    elif kind.endswith("_tool_use") or kind == "tool_use":
        empty["input"] = {}
        deltas = [args(index, piece) for piece in draw(cut(json.dumps(block["input"], ensure_ascii=False)))]
    elif kind == "compaction":
        empty |= {"content": None, "encrypted_content": None}
        deltas = [{**stop(index), "type": "content_block_delta", "delta": {**block, "type": "compaction_delta"}}]
    return [{"type": "content_block_start", "index": index, "content_block": empty}, *deltas, stop(index)]


@st.composite
def plans(draw: DrawFn, message_id: str = "m") -> Plan:
    """Draw a message and the events that stream it: blocks one after the other, or the deltas of neighbours interleaved."""
    content = [block for i in range(draw(st.integers(0, 4))) for block in draw(blocks(i))]
    streams = [draw(steps(i, block)) for i, block in enumerate(content)]
    events: list[Wire] = []
    while streams:
        first = streams.pop(0)
        # Results come when their calls are complete.
        kinds = {block["type"] for block in content[len(content) - len(streams) - 1 :][:2]}
        if streams and draw(st.booleans()) and not any(kind.endswith(("_result", "compaction")) for kind in kinds):
            head, *rest = streams.pop(0)
            events += [first[0], head, *_merged(first[1:], rest, draw(st.lists(st.booleans(), max_size=8)))]
        else:
            events += first
    usage = {"input_tokens": draw(st.integers(0, 99)), "output_tokens": 1, "cache_read_input_tokens": draw(st.integers(0, 9))}
    later = {"output_tokens": draw(st.integers(0, 99)), **({"input_tokens": draw(st.integers(0, 99))} if draw(st.booleans()) else {})}
    client = any(block["type"] == "tool_use" for block in content)
    head = start(id=message_id, usage=usage)
    last: Wire = {"type": "message_delta", "delta": {"stop_reason": "tool_use" if client else "end_turn"}, "usage": later}
    pings = [{"type": "ping"}] * draw(st.integers(0, 1))
    whole = {**head["message"], "content": content, "usage": {**usage, **later}, "stop_reason": last["delta"]["stop_reason"]}
    return Plan(content, {**usage, **later}, [*pings, head, *pings, *events, last, END], whole)


def _merged(one: list[Wire], other: list[Wire], turns: list[bool]) -> list[Wire]:
    """Mix two lists, each in its own order."""
    one, other = [*one], [*other]
    mixed = [(one if turn else other).pop(0) for turn in turns if one and other]
    return [*mixed, *one, *other]


@given(plans())
def test_a_planned_stream_folds_to_the_planned_message(plan: Plan) -> None:
    """Everything of the plan comes out, nothing is wrong, and the SDK sees the same."""
    found = read(DIALECT, plan.events)
    [message] = found.messages
    assert bare(project(message)) == bare(plan.content)
    assert bare(project(message)) == content_of(accumulated(plan.events, beta=True))
    assert {**dict.fromkeys(TOKENS.values(), 0), **plan.usage} == usage_of(message)
    assert set(found.rules) <= {"reply.no-visible-output", "block.cumulative-deltas"}
    parked = any(block["type"] == "tool_use" for block in plan.content)
    assert message.get("finished_reason") == (None if parked else "completed")


@given(plans())
def test_a_whole_message_is_what_was_streamed(plan: Plan) -> None:
    """A response that was not streamed folds to the same message."""
    [streamed], [whole] = read(DIALECT, plan.events).messages, read(DIALECT, [plan.whole]).messages
    for block in (*streamed["content"], *whole["content"]):
        if block["type"] == "tool_call":
            block["input"] = arguments_of(block["input"])
    # A parked message has the metadata of its start, at which a whole one says more.
    for message in (streamed, whole):
        message.get("metadata", {}).get("anthropic", {}).pop("stop_reason", None)
    assert streamed == whole


@given(plans(), st.data())
def test_cutting_deltas_otherwise_changes_nothing(plan: Plan, data: st.DataObject) -> None:
    """Deltas may be cut anywhere, also inside of a character, and neighbours may be one."""
    pieces = [piece for event in plan.events for piece in _halved(event, cut=data.draw(st.booleans()))]
    merged: list[Wire] = []
    for event in plan.events:
        last = merged[-1] if merged else {}
        same = last.get("index") == event.get("index") and last.get("delta", {}).get("type") == event.get("delta", {}).get("type")
        if same and event.get("delta", {}).get("type") == "text_delta":
            merged[-1] = {**last, "delta": {**last["delta"], "text": last["delta"]["text"] + event["delta"]["text"]}}
        else:
            merged.append(event)
    wanted = read(DIALECT, plan.events).messages
    assert read(DIALECT, pieces).messages == wanted
    assert read(DIALECT, merged).messages == wanted


def _halved(event: Wire, *, cut: bool) -> list[Wire]:
    """Cut an event's text into UTF-16 units."""
    delta = event.get("delta", {})
    name = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}.get(str(delta.get("type")))
    if name is None or not cut:
        return [event]
    return [{**event, "delta": {**delta, name: piece}} for piece in units(delta[name])]


def one_message_each(events: list[Any]) -> None:
    """Hold broken streams to the law: nothing raises, and there is a message for each reply that began."""
    found = read(DIALECT, events)
    begun = {event.reply_id for event in found.events if type(event).__name__ == "ReplyStartEvent"}
    assert {message["id"] for message in found.messages} == begun
    assert len(found.messages) == len(begun)
    assert len(begun) >= len({event["message"]["id"] for event in events if _starts(event)})
    write_messages(found.messages)


def _starts(event: Any) -> bool:
    if not is_object(event) or event.get("type") != "message_start" or depth_of(event) > DEEPEST or not is_object(event.get("message")):
        return False
    return isinstance(event["message"].get("id"), str) and event["message"]["id"] != ""


@given(st.data())
def test_a_broken_stream_never_raises(data: st.DataObject) -> None:
    """Events lost, doubled, swapped, cut off or odd: every message that began is there, and can be sent back."""
    stream = [event for i in range(data.draw(st.integers(1, 2))) for event in data.draw(plans(f"m{i}")).events]
    one_message_each(data.draw(broken(stream)))


@pytest.mark.skipif(not RECORDINGS, reason="no recordings beside the project")
@given(st.data())
def test_a_broken_recording_never_raises(data: st.DataObject) -> None:
    """The same of what was recorded."""
    one_message_each(data.draw(broken(events_of(data.draw(st.sampled_from(RECORDINGS))))))


@given(
    st.lists(
        st.one_of(
            anything,
            st.fixed_dictionaries(
                {"type": st.sampled_from(("message_start", "content_block_delta", "error", "message"))},
                optional={"message": anything, "delta": anything, "error": anything, "index": anything, "content": anything},
            ),
        ),
        max_size=4,
    )
)
def test_any_json_is_read(values: list[Any]) -> None:
    """Whatever the values are, nothing raises, and what is no event of Anthropic's is said to be none."""
    found = read(DIALECT, values)
    assert bool(found.rules) == any(not (is_object(value) and _stands_alone(value)) for value in values)


def _stands_alone(value: Wire) -> bool:
    """Tell whether an event is in order wherever it comes: an error may come at any time, and end what did not begin."""
    return value == {"type": "ping"} or (value.get("type") == "error" and is_object(value.get("error")))


@given(st.integers(DEEPEST - 12, DEEPEST + 4))
def test_what_is_kept_of_a_deep_value_fits(depth: int) -> None:
    """A value that is just not too deep fits wherever it is kept, in the events and in the message."""
    deep = nested(depth)
    blocks_ = [begin(0, "hologram", x=deep), stop(0), begin(1, "tool_use", x=deep), stop(1), begin(2, "hologram", x=deep), stop(2)]
    found = read(DIALECT, [start(x=deep), *blocks_, {**reason(), "x": deep}, END])
    assert set(found.rules) <= {
        "dialect.unfit",
        "dialect.unknown",
        "tool-call.no-arguments",
        "anthropic.no-message-start",
        "anthropic.index-order",
    }
    assert len(found.messages) == int(depth_of(start(x=deep)) <= DEEPEST)


def test_a_deep_value_is_refused() -> None:
    """Nesting beyond what the contract allows is a finding, not a crash."""
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    assert read(DIALECT, [start(x=deep)]).rules == ["dialect.unfit"]


# --- requests -----------------------------------------------------------------------------------


def judged(request: Wire) -> None:
    """Hold a request to what Anthropic accepts: its types, roles in turn, each call answered at once and no text empty."""
    assert takes(request) == request["messages"]
    turns = request["messages"]
    owed: list[str] = []
    called: list[str] = []
    for before, turn in zip([None, *turns], turns, strict=False):
        assert before is None or before["role"] != turn["role"]
        assert turn["content"]
        results = [block["tool_use_id"] for block in turn["content"] if block["type"] == "tool_result"]
        assert results == owed
        assert all(block["type"] == "tool_result" for block in turn["content"][: len(results)])
        owed = [block["id"] for block in turn["content"] if block["type"] == "tool_use"]
        called += owed
    assert owed == []
    assert len(called) == len(set(called))
    for block in _blocks(request):
        if block["type"] == "text":
            assert block["text"].strip()
        if block.get("is_error"):
            assert block["content"]


def _blocks(value: Any) -> list[Wire]:
    """Give all blocks of a request, those in results among them."""
    if is_array(value):
        return [block for item in value for block in _blocks(item)]
    if not is_object(value):
        return []
    return [
        *([value] if isinstance(value.get("type"), str) else []),
        *(block for key in ("messages", "content") for block in _blocks(value.get(key))),
    ]


@given(st.lists(messages(), max_size=4))
def test_any_messages_make_a_request(given_: list[Wire]) -> None:
    """Whatever the schemas allow goes out, the SDK's types take it, and only what is declared is lost."""
    before = copy_json(given_)
    request, losses = write_messages(given_)
    assert given_ == before
    judged(request)
    assert {loss.reason for loss in losses} <= set(LOSSES)


@given(st.lists(replies(roles=("assistant", "user")), min_size=1, max_size=3))
def test_any_replies_make_a_request(streams: list[list[Wire]]) -> None:
    """Replies that ran tools, parked, failed or were interrupted go out; every call has its result."""
    judged(write_messages([message for events in streams for message in folded(events)]).value)


@given(plans())
def test_what_was_read_goes_back(plan: Plan) -> None:
    """The assistant's turn is what the SDK would send: the blocks of the plan, without empty text and unsigned thinking."""
    [message] = read(DIALECT, plan.events).messages
    request = write_messages([message]).value
    mine = [block for turn in request["messages"] if turn["role"] == "assistant" for block in turn["content"]]
    blank = [block for block in plan.content if (block["type"] == "text" and not block["text"].strip()) or block.get("signature") == ""]
    assert bare(mine) == bare([block for block in plan.content if block not in blank])
    takes(request, beta=True)


TEXT = {"type": "text", "id": "b", "text": "t"}
CALL = {"type": "tool_call", "id": "c", "name": "f", "input": "{}"}
RESULT = {"type": "tool_result", "id": "c", "name": "f", "output": "o", "state": "success"}
HOSTED = {**CALL, "x_anthropic": {"type": "server_tool_use"}}
AUDIO = {"type": "data", "id": "d", "source": {"type": "base64", "data": "AA==", "media_type": "audio/wav"}}
IMAGE = {"type": "data", "id": "i", "source": {"type": "base64", "data": "AA==", "media_type": "image/png"}}


def assistant(*content: Wire) -> Wire:
    """Write a message of the assistant."""
    return {"role": "assistant", "name": "a", "id": "r", "created_at": "2026-01-01T00:00:00Z", "content": [*content]}


def user(*content: Wire) -> Wire:
    """Write a message of the user."""
    return {**assistant(*content), "role": "user"}


#: What is lost, by an example: messages, and where it shows.
LOST: dict[str, tuple[list[Wire], list[str]]] = {
    "thinking that Anthropic has not signed": ([assistant({"type": "thinking", "id": "b", "thinking": "r"}, TEXT)], ["/0/content/0"]),
    "text of nothing but white space": ([user({**TEXT, "text": " \n"}, TEXT)], ["/0/content/0"]),
    "data that is neither an image nor a PDF nor plain text": ([user(AUDIO, TEXT)], ["/0/content/0"]),
    "that data is the assistant's: the user says it": ([assistant(TEXT, IMAGE)], ["/0/content/1"]),
    "arguments that are no JSON object: they are sent below the key INVALID_JSON": (
        [assistant({**CALL, "input": '{"a'}, RESULT)],
        ["/0/content/0/input"],
    ),
    "that a call has no result: it is answered with an error": ([assistant(CALL)], ["/0/content/0/state"]),
    "that a result is one of a call that is not there: the user says it": ([assistant(RESULT)], ["/0/content/0"]),
    "the state of a result, if it is neither success nor error": ([assistant(CALL, {**RESULT, "state": "denied"})], ["/0/content/1/state"]),
    "ids and names of tools with characters that the service refuses": (
        [assistant({**CALL, "id": "a/b", "name": "f g"}, {**RESULT, "id": "a/b"})],
        ["/0/content/0/id", "/0/content/0/name"],
    ),
    "where system text stands, after others have spoken": ([user(TEXT), {**user(TEXT), "role": "system"}], ["/1/content/0"]),
    "a call or result of Anthropic's own tools without the other, when the conversation goes on": (
        [assistant(HOSTED), user(TEXT)],
        ["/0/content/0"],
    ),
}


@pytest.mark.parametrize("why", LOSSES)
def test_a_declared_loss_happens(why: str) -> None:
    """Each reason is reported where the table says, and the request is accepted all the same."""
    given_, pointers = LOST[why]
    request, losses = write_messages(given_)
    judged(request)
    assert sorted(loss.pointer for loss in losses) == sorted(pointers)
    assert {loss.reason for loss in losses} == {why}


def test_a_reply_that_ran_tools_is_a_sequence_of_messages() -> None:
    """Calls of one step stand together, their results begin the user's turn, and the reply goes on."""
    second = ({**CALL, "id": "d"}, {**RESULT, "id": "d", "state": "error", "output": ""})
    request, losses = write_messages(
        [
            user(TEXT, IMAGE),
            assistant(TEXT, CALL, second[0], second[1], {"type": "hint", "id": "h", "hint": "note"}, RESULT, TEXT),
            user(TEXT),
        ]
    )
    assert losses == []
    judged(request)
    assert [[block["type"] for block in turn["content"]] for turn in request["messages"]] == [
        ["text", "image"],
        ["text", "tool_use", "tool_use"],
        ["tool_result", "tool_result", "text"],
        ["text"],
        ["text"],
    ]
    assert [block.get("content") for block in request["messages"][2]["content"]] == [[{"type": "text", "text": "o"}], "error", None]


def test_images_and_files_have_their_form() -> None:
    """Images and PDFs inline or by URL, and plain text as a document with its name."""

    def data(media: str, name: str | None = None, **source: str) -> Wire:
        kind = "url" if "url" in source else "base64"
        return {"type": "data", "id": media, "source": {"type": kind, "media_type": media, **source}, **({"name": name} if name else {})}

    request, losses = write_messages(
        [
            {**user(TEXT), "role": "system"},
            user(
                data("image/jpg", data="AA=="),
                data("image/webp", url="https://e.org/a"),
                data("application/pdf", "a.pdf", data="AA=="),
                data("text/csv; charset=utf-8", "t.csv", data="YSxi"),
            ),
        ]
    )
    assert losses == []
    judged(request)
    assert request["system"] == [{"type": "text", "text": "t"}]
    assert request["messages"][0]["content"] == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "AA=="}},
        {"type": "image", "source": {"type": "url", "url": "https://e.org/a"}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AA=="}, "title": "a.pdf"},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a,b"}, "title": "t.csv"},
    ]


NONE_OF_ITS: list[Any] = [
    None,
    [],
    {},
    {"type": "ping"},
    {"type": "message"},
    {"role": "user", "content": "a"},
    {"error": OVERLOADED["error"]},
    {"type": "error", "errorText": "e"},
    {"type": "error", "error": "e"},
    {"type": "error", "error": {"type": "requests", "message": "e", "param": None, "code": "rate_limit_exceeded"}},
    {"type": "error", "code": "c", "message": "e", "param": None, "sequence_number": 1},
]


@pytest.mark.parametrize("value", [OVERLOADED, {**OVERLOADED, "request_id": "req_1"}])
def test_an_error_alone_is_recognised(value: Wire) -> None:
    """A request that failed at once has nothing else to say; `auto` finds out whose it is."""
    assert recognise([value]) is DIALECT
    [message] = read(DIALECT, [value]).messages
    assert (message["finished_reason"], message["error"]["message"]) == ("error", "Overloaded")


def test_messages_and_requests_are_recognised() -> None:
    """A whole message, a turn that answers tools, and a request that holds one."""
    turn = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}
    assert DIALECT.recognise({**WHOLE, "stop_reason": None})
    assert DIALECT.recognise(turn)
    assert DIALECT.recognise({"model": "m", "messages": [turn]})
    assert not any(DIALECT.recognise(value) for value in NONE_OF_ITS)
    assert not DIALECT.recognise(assistant(CALL, RESULT))


@given(messages())
def test_our_own_messages_are_not_recognised(message: Wire) -> None:
    """A message of the contract is none of Anthropic's."""
    assert not DIALECT.recognise(message)


@given(replies())
def test_our_own_events_are_not_recognised(events: list[Wire]) -> None:
    """An event of the contract is none of Anthropic's."""
    assert not any(DIALECT.recognise(event) for event in events)
