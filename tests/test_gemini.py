"""
The dialect of Gemini, judged by Google's own SDK.

The SDK joins no parts: it keeps them as they came. What we fold is those parts, joined where nothing is lost by it, down to the
place of each signature; and what we send back is those parts again.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from dialect_laws import folded
from gemini_chunks import CODE, FUNCTION, OUTPUT, SIGNATURE, call, chunk, string, text, usage
from gemini_judge import dumped, kept, parsed, takes
from hypothesis import given
from hypothesis import strategies as st
from pieces import SHARED, anything, broken, cut, read, read_bytes, recordings, units, words
from vector_laws import differences, expected, heard, vectors_of

from eventfold.dialects import recognise
from eventfold.dialects.gemini import DIALECT
from eventfold.dialects.gemini.request import LOSSES, write_messages
from eventfold.dialects.gemini.stream import DEEPEST
from eventfold.fuzz.breaking import nested
from eventfold.fuzz.strategies import messages, replies
from eventfold.jsonvalue import copy_json, depth_of, is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from hypothesis.strategies import DrawFn
    from support import Wire

RECORDINGS = recordings("gemini")
#: Recordings that are broken, and the errors that say so: none is.
BROKEN: dict[str, list[str]] = {}
GOLDEN = SHARED.parent / "judges/providers/golden.json"
VECTORS = vectors_of("gemini")

# --- what is expected of parts ------------------------------------------------------------------


def joined(parts: Iterable[Wire]) -> list[Wire]:
    """Join the parts of a response as far as nothing is lost: unsigned text with its neighbours of a kind, and pieces of calls."""
    whole: list[Wire] = []
    open_call: Wire | None = None
    for part in parts:
        said = part.get("functionCall")
        if said is not None:
            if said.get("name"):
                open_call = {**{key: said[key] for key in ("id", "name") if key in said}, "args": copy_json(said.get("args", {}))}
                whole.append({**part, "functionCall": open_call})
            for piece in said.get("partialArgs", []):
                assert open_call is not None
                put(open_call["args"], piece)
        elif set(part) <= {"text", "thought"} and whole and set(part) == set(whole[-1]):
            whole[-1] = {**part, "text": whole[-1]["text"] + part["text"]}
        elif part not in ({"text": ""}, {"text": "", "thought": True}):
            whole.append(part)
    return whole


def put(arguments: Any, piece: Wire) -> None:
    """Put a piece of arguments at its place; text is added to text."""
    path: list[Any] = [int(place) if place else name for name, place in re.findall(r"\.([^.\[]+)|\[(\d+)\]", piece["jsonPath"])]
    node = arguments
    for step, following in pairwise(path):
        if is_array(node) and step == len(node):
            node.append({} if isinstance(following, str) else [])
        elif is_object(node):
            node.setdefault(step, {} if isinstance(following, str) else [])
        node = node[step]
    [value] = [piece[key] for key in ("stringValue", "numberValue", "boolValue", "nullValue") if key in piece]
    last = path[-1]
    before = node.get(last) if is_object(node) else node[last] if last < len(node) else None
    value = None if "nullValue" in piece else f"{before or ''}{value}" if isinstance(value, str) else value
    if is_array(node) and last == len(node):
        node.append(value)
    else:
        node[last] = value


def of_model(request: Wire) -> list[Wire]:
    """Give the parts of the model in a request."""
    return [part for content in request["contents"] if content["role"] == "model" for part in content["parts"]]


# --- recordings ---------------------------------------------------------------------------------


def test_the_recordings_are_there_or_said_to_be_absent() -> None:
    """Without the folder of recordings nothing is tested of it."""
    if not RECORDINGS:
        pytest.skip(f"no recordings in {SHARED.name}/")
    assert set(BROKEN) <= {path.name for path in RECORDINGS}


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_a_recording_is_what_the_sdk_keeps(path: Path) -> None:
    """The parts that the client keeps, joined, are those that we fold and send back; the last usage is ours; and nothing is wrong."""
    found = read_bytes(DIALECT, path.read_bytes())
    parts, usages = kept(path)
    [message] = found.messages
    assert found.errors == BROKEN.get(path.name, [])
    assert found.losses == []
    request, losses = write_messages([message])
    assert of_model(request) == joined(parts)
    takes(request)
    calls = [block for block in message["content"] if block["type"] == "tool_call" and "part" not in block.get("x_gemini", {})]
    assert len(losses) == len(calls)
    last = usages[-1]
    assert message["usage"]["input_tokens"] == last["promptTokenCount"] + last.get("toolUsePromptTokenCount", 0)
    assert message["usage"]["output_tokens"] == last["candidatesTokenCount"] + last.get("thoughtsTokenCount", 0)
    assert message["usage"]["input_tokens"] + message["usage"]["output_tokens"] == last["totalTokenCount"]
    assert message.get("finished_reason") == (None if calls else "completed")


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_a_recording_is_what_was_judged_before(path: Path) -> None:
    """The verdicts that were written down are those of today: text, thinking, names of calls, the finish and the usage."""
    verdict = json.loads(GOLDEN.read_text("utf-8"))[f"gemini/{path.name}"]["sdk"]
    [message] = read_bytes(DIALECT, path.read_bytes()).messages
    for kind, field in (("text", "text"), ("thinking", "thinking")):
        told = "".join(part["text"] for part in verdict["folded"] if part["kind"] == kind)
        assert "".join(block[field] for block in message["content"] if block["type"] == kind) == told
    names = [part["name"] for part in verdict["folded"] if part["kind"] == "function_call" and part["name"]]
    assert [block["name"] for block in message["content"] if block["type"] == "tool_call" and block["name"] != "code_execution"] == names
    prompt, candidates, thoughts, total = verdict["usage_per_chunk"][-1]
    assert (message["usage"]["output_tokens"], total >= prompt) == (candidates + (thoughts or 0), True)
    if "finishReason" in message["metadata"]["gemini"]:
        assert [message["metadata"]["gemini"]["finishReason"]] == verdict["finish"]


@pytest.mark.parametrize("path", sorted(SHARED.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_only_its_own_streams_are_recognised(path: Path) -> None:
    """Of all recordings, those of Gemini are recognised, from their first chunks, and no other."""
    lines = [line.removeprefix(b"data:").strip() for line in path.read_bytes().splitlines()]
    values = [json.loads(line) for line in lines if line.startswith(b"{") and line.endswith(b"}") and not _is_cut(line)]
    mine = path.parent.name == "gemini"
    assert [DIALECT.recognise(value) for value in values] == [mine] * len(values)


def _is_cut(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_the_form_of_the_bytes_makes_no_difference(path: Path) -> None:
    """Server-sent events, lines, one array and objects without anything between them are read alike."""
    lines = [line.removeprefix(b"data:").strip() for line in path.read_bytes().splitlines()]
    chunks = [line for line in lines if line]
    wanted = read_bytes(DIALECT, path.read_bytes()).messages
    sse = b"".join(b"data: " + line + b"\r\n\r\n" for line in chunks)
    for data in (sse, b"\n".join(chunks), b"[" + b",\r\n".join(chunks) + b"]"):
        assert read_bytes(DIALECT, data).messages == wanted


# --- vectors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_has_the_right_outcome(name: str) -> None:
    """What is right of each: the blocks, the parts that go back, the tokens, how the reply ends, and what is said about the stream."""
    vector = VECTORS[name]
    found = heard(DIALECT, vector["values"])
    assert differences(vector, found.messages) == []
    assert [of_model(write_messages([message]).value) for message in found.messages] == [reply["sent_back"] for reply in vector["replies"]]
    assert found.rules == expected(vector)


def test_every_rule_is_broken_by_a_vector() -> None:
    """No rule of the dialect is there for nothing."""
    fired = {rule for vector in VECTORS.values() for rule in vector["findings"]}
    assert set(DIALECT.rules) - fired == set()


def test_responses_one_after_the_other_are_replies() -> None:
    """A capture of several responses gives a message each, also when they have no ids, or the same."""
    chunks = [chunk(text("a"), finish="STOP", responseId=name) for name in ("r", "s", "r", None, None)]
    found = read(DIALECT, chunks[:3])
    assert [message["id"] for message in found.messages] == ["r", "s", "r#3"]
    found = read(DIALECT, chunks[3:])
    assert [message["id"] for message in found.messages] == ["response-1", "response-2"]


def test_each_candidate_is_a_reply() -> None:
    """Further candidates have replies of their own; the usage, which is that of all, is counted once."""
    two = [chunk(text("a"), **usage(3, 4)), chunk(text("b"), index=1, finish="STOP"), chunk(text("c"), finish="STOP")]
    found = read(DIALECT, two)
    assert [(message["id"], message["content"][0]["text"], message["usage"]["output_tokens"]) for message in found.messages] == [
        ("r", "ac", 4),
        ("r#1", "b", 0),
    ]
    assert found.rules == []


def test_the_text_done_ends_a_response() -> None:
    """A gateway that ends its streams with [DONE] has said nothing wrong."""
    data = b"data: " + json.dumps(chunk(text("a"), finish="STOP")).encode() + b"\n\ndata: [DONE]\n\n"
    found = read_bytes(DIALECT, data)
    assert (found.rules, [message["finished_reason"] for message in found.messages]) == (["wire.done-marker"], ["completed"])


def test_what_is_said_of_a_candidate_is_kept() -> None:
    """Grounding, citations, log-probabilities, ratings and unknown fields are in the metadata; lists that go on are joined."""
    one, two = {"chosenCandidates": [{"token": "a"}]}, {"chosenCandidates": [{"token": "b"}], "logProbabilitySum": -1.5}
    first = chunk(text("a"), createTime="2026-01-02T03:04:05Z", x_new=1)
    first["candidates"][0] |= {"logprobsResult": one, "groundingMetadata": {}, "safetyRatings": [{"blocked": False}]}
    last = chunk(text("b"), finish="STOP", **usage(3, 1, trafficType="ON_DEMAND"))
    last["candidates"][0] |= {"logprobsResult": two, "groundingMetadata": {"webSearchQueries": ["q"]}, "x_more": 2}
    [message] = read(DIALECT, [first, last]).messages
    assert message["created_at"] == message["content"][0]["created_at"] == "2026-01-02T03:04:05Z"
    assert message["metadata"]["gemini"] == {
        "modelVersion": "gemini",
        "createTime": "2026-01-02T03:04:05Z",
        "x_new": 1,
        "logprobsResult": {"chosenCandidates": [{"token": "a"}, {"token": "b"}], "logProbabilitySum": -1.5},
        "groundingMetadata": {"webSearchQueries": ["q"]},
        "safetyRatings": [{"blocked": False}],
        "finishReason": "STOP",
        "x_more": 2,
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 1, "trafficType": "ON_DEMAND"},
    }


def test_an_error_says_its_kind() -> None:
    """What Google calls an error is one of ours, and the whole of it is kept."""
    [message] = read(DIALECT, VECTORS["error-in-the-middle"]["values"]).messages
    assert message["error"] == {"type": "upstream", "message": "busy"}
    assert message["metadata"]["gemini"]["error"] == {"code": 503, "message": "busy", "status": "UNAVAILABLE"}


SNAKE = {"prompt_token_count": 1, "candidates_token_count": 2, "prompt_tokens_details": [{"modality": "TEXT", "token_count": 1}]}


def test_what_the_sdk_dumps_is_read_under_the_names_of_the_service() -> None:
    """Names of the protocol are turned; those in arguments, results, grounding and unknown fields are nobody's but theirs."""
    parts: list[Wire] = [
        {"text": "a", "thought": None, "function_call": None},
        {"tool_call": {"tool_type": "T", "id": "t", "args": {"tool_type": {"mime_type": 1}}}},
        {"tool_response": {"tool_type": "T", "id": "t", "response": {"finish_reason": 1}}},
        {"inline_data": {"mime_type": "image/png", "display_name": "n", "data": "AA=="}},
        {"function_call": {"name": "f", "args": {"function_call": {"will_continue": 1}}}, "thought_signature": "AQI="},
    ]
    grounding = {"web_search_queries": ["q"]}
    content: Wire = {"parts": parts, "role": "model"}
    candidate: Wire = {"content": content, "finish_reason": "STOP", "grounding_metadata": grounding, "x_own": 1}
    chunk_ = {"candidates": [candidate], "response_id": "r", "model_version": "g", "usage_metadata": SNAKE, "sdk_http_response": {"a_b": 1}}
    assert DIALECT.recognise(chunk_)
    assert DIALECT.recognise({"usage_metadata": SNAKE, "response_id": "r"})
    before = json.dumps(chunk_)
    found = read(DIALECT, [chunk_])
    [message] = found.messages
    text_, hosted, result, data, function = message["content"]
    assert (found.rules, json.dumps(chunk_), message["id"]) == ([], before, "r")
    assert (text_["text"], data["name"], data["source"]["media_type"]) == ("a", "n", "image/png")
    assert json.loads(hosted["input"]) == {"tool_type": {"mime_type": 1}}
    assert json.loads("".join(part["text"] for part in result["output"])) == {"finish_reason": 1}
    assert (json.loads(function["input"]), function["x_gemini"]["thoughtSignature"]) == ({"function_call": {"will_continue": 1}}, "AQI=")
    assert (message["usage"]["input_tokens"], message["usage"]["output_tokens"]) == (1, 2)
    content["parts"] = parts[:1]
    [message] = read(DIALECT, [chunk_]).messages
    assert message["metadata"]["gemini"] == {
        "modelVersion": "g",
        "sdk_http_response": {"a_b": 1},
        "finishReason": "STOP",
        "groundingMetadata": grounding,
        "x_own": 1,
        "usageMetadata": {
            "promptTokenCount": 1,
            "candidatesTokenCount": 2,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 1}],
        },
    }


def test_of_a_field_with_both_names_the_services_counts() -> None:
    """Nothing of it is lost."""
    both = {**chunk(text("a"), finish="STOP"), "model_version": "other"}
    [message] = read(DIALECT, [both]).messages
    assert message["metadata"]["gemini"]["modelVersion"] == "gemini"
    assert message["metadata"]["gemini"]["model_version"] == "other"


# --- random streams -----------------------------------------------------------------------------


class Plan(NamedTuple):
    """A response to be streamed: its parts, joined, and the chunks that say so."""

    parts: list[Wire]
    tokens: Wire
    chunks: list[Wire]


#: Arguments that come in pieces: what is empty has no piece.
LEAVES = st.one_of(words, st.integers(-9, 9), st.sampled_from((0.5, True, False)), st.none())
PIECEMEAL = st.dictionaries(
    st.sampled_from(("a", "bc", "ü")),
    st.recursive(
        LEAVES,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=2), st.dictionaries(st.sampled_from(("k", "l m")), inner, min_size=1, max_size=2)
        ),
        max_leaves=4,
    ),
    max_size=3,
)


@st.composite
def pieces(draw: DrawFn, value: Any, path: str) -> list[Wire]:
    """Draw the pieces of a value at a path."""
    if is_object(value):
        return [piece for key, item in value.items() for piece in draw(pieces(item, f"{path}.{key}"))]
    if is_array(value):
        return [piece for i, item in enumerate(value) for piece in draw(pieces(item, f"{path}[{i}]"))]
    if isinstance(value, str):
        *first, last = draw(cut(value))
        return [*(string(path, piece, more=True) for piece in first), string(path, last)]
    kind = "nullValue" if value is None else "boolValue" if isinstance(value, bool) else "numberValue"
    return [{"jsonPath": path, kind: "NULL_VALUE" if value is None else value}]


@st.composite
def steps(draw: DrawFn, number: int) -> list[Wire]:
    """Draw parts that come one after the other: text in pieces, a call as a whole or in pieces, code with its outcome, data."""
    kind = draw(st.sampled_from(("text", "text", "thought", "call", "call", "piecemeal", "code", "image", "file", "other")))
    signed = {"thoughtSignature": SIGNATURE} if draw(st.booleans()) else {}
    if kind in {"text", "thought"}:
        thought = {"thought": True} if kind == "thought" else {}
        *first, last = draw(cut(draw(words)))
        return [*({"text": piece, **thought} for piece in first), {"text": last, **thought, **signed}]
    named = {"name": f"f{number}", **({"id": f"c{number}"} if draw(st.booleans()) else {})}
    if kind == "call":
        return [{"functionCall": {**named, "args": draw(PIECEMEAL)}, **signed}]
    if kind == "piecemeal":
        middle = [call(piece, more=True) for piece in draw(pieces(draw(PIECEMEAL), "$"))]
        return [{**call(**named, more=True), **signed}, *middle, call()]
    if kind == "code":
        return [{**CODE, **signed}, OUTPUT]
    data: dict[str, Wire] = {
        "image": {"inlineData": {"mimeType": "image/png", "data": "AAEC"}},
        "file": {"fileData": {"mimeType": "text/plain", "fileUri": "gs://b/f"}},
        "other": {"functionResponse": {"name": "f", "response": {}}},
    }
    return [{**data[kind], **signed}]


@st.composite
def plans(draw: DrawFn, response_id: str = "r") -> Plan:
    """Draw a response and the chunks that stream it: each part in a chunk of its own, or several in one."""
    parts = [part for i in range(draw(st.integers(0, 4))) for part in draw(steps(i))]
    groups: list[list[Wire]] = []
    for part in parts:
        if groups and draw(st.integers(0, 3)) == 0:
            groups[-1].append(part)
        else:
            groups.append([part])
    counts = [draw(st.integers(0, 99)) for _ in range(4)]
    early = usage(counts[0], 1) if draw(st.booleans()) else {}
    last = usage(counts[0], counts[1], counts[2], toolUsePromptTokenCount=counts[3])
    chunks = [chunk(*group, responseId=response_id, **early) for group in groups]
    tokens = {"input_tokens": counts[0] + counts[3], "output_tokens": counts[1] + counts[2]}
    return Plan(joined(parts), tokens, [*chunks, chunk(finish="STOP", responseId=response_id, **last)])


@given(plans())
def test_a_planned_stream_folds_to_the_planned_message(plan: Plan) -> None:
    """Everything of the plan goes back as the SDK reads it, nothing is wrong, and calls park the reply."""
    found = read(DIALECT, plan.chunks)
    [message] = found.messages
    request = write_messages([message]).value
    assert of_model(request) == plan.parts == joined(parsed(plan.chunks))
    assert {name: message["usage"][name] for name in plan.tokens} == plan.tokens
    assert set(found.rules) <= {UNSEEN, UNKNOWN, "block.cumulative-deltas"}
    assert found.errors == []
    assert message.get("finished_reason") == (None if any("functionCall" in part for part in plan.parts) else "completed")
    takes(request)


UNSEEN, UNKNOWN = "reply.no-visible-output", "dialect.unknown"


@given(plans())
def test_one_chunk_is_what_was_streamed(plan: Plan) -> None:
    """A response that was not streamed folds to the same blocks."""
    whole = {**plan.chunks[-1], "candidates": [{"content": {"role": "model", "parts": plan.parts}, "finishReason": "STOP"}]}
    assert folded_alike(read(DIALECT, [whole]).messages) == folded_alike(read(DIALECT, plan.chunks).messages)


@given(plans())
def test_what_the_sdk_dumps_is_what_it_was_sent(plan: Plan) -> None:
    """A capture of the SDK's own objects folds as the stream does, but for the order of fields in code."""
    found = [read(DIALECT, chunks).messages for chunks in ([dumped(chunk_) for chunk_ in plan.chunks], plan.chunks)]
    for block in (block for messages_ in found for message in messages_ for block in message["content"]):
        if block["type"] == "tool_call":
            block["input"] = json.loads(block["input"])
    assert found[0] == found[1]


def folded_alike(found: list[Wire]) -> list[Wire]:
    """Give messages without the metadata of those that are parked, which is that of their start."""
    return [{**message, "metadata": None} if message.get("finished_reason") is None else message for message in found]


@given(plans(), st.data())
def test_cutting_text_otherwise_changes_nothing(plan: Plan, data: st.DataObject) -> None:
    """Unsigned text may be cut anywhere, also inside of a character, and chunks may be one."""
    halved: list[Wire] = []
    for each in plan.chunks:
        parts = [piece for part in each["candidates"][0]["content"]["parts"] for piece in _halved(part)]
        halved += [{**each, "candidates": [{**each["candidates"][0], "content": {"parts": parts}}]}]
    apart = [
        {**each, "candidates": [{**each["candidates"][0], "content": {"parts": [part]}}]}
        for each in halved[:-1]
        for part in each["candidates"][0]["content"]["parts"]
    ]
    wanted = read(DIALECT, plan.chunks).messages
    assert read(DIALECT, halved).messages == wanted
    assert read(DIALECT, [*(apart if data.draw(st.booleans()) else halved[:-1]), halved[-1]]).messages == wanted


def _halved(part: Wire) -> list[Wire]:
    if "text" not in part or "thoughtSignature" in part or not part["text"]:
        return [part]
    return [{**part, "text": unit} for unit in units(part["text"])]


def one_message_each(chunks: list[Any]) -> None:
    """Hold broken streams to the law: nothing raises, and there is a message for each reply that began."""
    found = read(DIALECT, chunks)
    begun = [event.reply_id for event in found.events if type(event).__name__ == "ReplyStartEvent"]
    assert [message["id"] for message in found.messages] == begun
    fit = [each for each in chunks if is_object(each) and depth_of(each) <= DEEPEST]
    ids = {each["responseId"] for each in fit if isinstance(each.get("responseId"), str) and each["responseId"]}
    assert len(begun) >= len(ids)
    write_messages(found.messages)


@given(st.data())
def test_a_broken_stream_never_raises(data: st.DataObject) -> None:
    """Chunks lost, doubled, swapped, cut off or odd: every response that began is there, and can be sent back."""
    stream = [each for i in range(data.draw(st.integers(1, 2))) for each in data.draw(plans(f"r{i}")).chunks]
    one_message_each(data.draw(broken(stream)))


@pytest.mark.skipif(not RECORDINGS, reason="no recordings beside the project")
@given(st.data())
def test_a_broken_recording_never_raises(data: st.DataObject) -> None:
    """The same of what was recorded."""
    path = data.draw(st.sampled_from(RECORDINGS))
    lines = [line.removeprefix(b"data:").strip() for line in path.read_bytes().splitlines()]
    one_message_each(data.draw(broken([json.loads(line) for line in lines if line])))


ODD_PART = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("text", "thought", "functionCall", "inlineData", "executableCode", "toolResponse"), anything)
)
ODD_CALL = st.fixed_dictionaries({}, optional=dict.fromkeys(("id", "name", "args", "partialArgs", "willContinue"), anything))


@st.composite
def odd_chunks(draw: DrawFn) -> Wire:
    """Draw a chunk whose parts are of a known kind, and hold anything."""
    calls = [{"functionCall": said} for said in draw(st.lists(ODD_CALL, max_size=3))]
    return chunk(*draw(st.permutations([*draw(st.lists(ODD_PART, max_size=2)), *calls, draw(anything)])))


@given(
    st.lists(
        st.one_of(
            anything,
            st.fixed_dictionaries({"usageMetadata": anything, "responseId": anything, "error": anything, "promptFeedback": anything}),
            odd_chunks(),
        ),
        max_size=4,
    )
)
def test_any_json_is_read(values: list[Any]) -> None:
    """Whatever the values are, nothing raises, and what is no chunk of Gemini's is said to be none."""
    found = read(DIALECT, values)
    if any(not is_object(value) for value in values):
        assert "dialect.unfit" in found.rules
    write_messages(found.messages)


@given(st.integers(DEEPEST - 12, DEEPEST + 4))
def test_what_is_kept_of_a_deep_value_fits(depth: int) -> None:
    """A value that is just not too deep fits wherever it is kept, in the events and in the message."""
    deep = nested(depth)
    parts = [{"hologram": deep}, call(name="f"), {**text("", thoughtSignature=SIGNATURE), "x": deep}, {"hologram": deep}]
    found = read(DIALECT, [chunk(*parts[:1], x=deep), *(chunk(part) for part in parts[1:]), chunk(finish="STOP", x=deep)])
    assert set(found.rules) <= {"dialect.unfit", "dialect.unknown", "gemini.truncated"}
    assert len(found.messages) == 1


def test_a_deep_value_is_refused() -> None:
    """Nesting beyond what the contract allows is a finding, not a crash."""
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    assert read(DIALECT, [chunk(deep)]).rules == ["dialect.unfit"]


# --- requests -----------------------------------------------------------------------------------


def judged(request: Wire) -> None:
    """Hold a request to what Gemini accepts: its types, and all calls of a content answered by the next, in their order."""
    assert takes(request) == json.loads(json.dumps(request))
    owed: list[Any] = []
    for content in request["contents"]:
        assert content["parts"]
        answers = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        assert [(answer.get("id"), answer["name"]) for answer in answers] == owed
        assert len(answers) in {0, len(content["parts"])}
        owed = [(part["functionCall"].get("id"), part["functionCall"]["name"]) for part in content["parts"] if "functionCall" in part]
        assert content["role"] == "model" or not owed
    assert owed == []


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


TEXT = {"type": "text", "id": "b", "text": "t"}
CALL = {"type": "tool_call", "id": "c", "name": "f", "input": "{}"}
RESULT = {"type": "tool_result", "id": "c", "name": "f", "output": "o", "state": "success"}
HOSTED = {**CALL, "x_gemini": {"part": "executableCode"}}
PNG = {"type": "base64", "data": "AA==", "media_type": "image/png"}
IMAGE = {"type": "data", "id": "i", "source": PNG}


def assistant(*content: Wire) -> Wire:
    """Write a message of the assistant."""
    return {"role": "assistant", "name": "a", "id": "r", "created_at": "2026-01-01T00:00:00Z", "content": [*content]}


def user(*content: Wire) -> Wire:
    """Write a message of the user."""
    return {**assistant(*content), "role": "user"}


#: What is lost, by an example: messages, and where it shows.
LOST: dict[str, tuple[list[Wire], list[str]]] = {
    "what another provider signed or hid in thinking": (
        [assistant({"type": "thinking", "id": "b", "thinking": "r", "signature": "s"}, TEXT)],
        ["/0/content/0"],
    ),
    "data that is not base64": ([user({**IMAGE, "source": {**PNG, "data": "*"}}, TEXT)], ["/0/content/0"]),
    "arguments that are no JSON object: they are sent below the key INVALID_JSON": (
        [assistant({**CALL, "input": '{"a'}, RESULT)],
        ["/0/content/0/input"],
    ),
    "that a call has no result: it is answered with an error": ([assistant(CALL)], ["/0/content/0/state"]),
    "that a result is one of a call that is not there: the user says it": ([assistant(RESULT)], ["/0/content/0"]),
    "the state of a result, if it is neither success nor error": ([assistant(CALL, {**RESULT, "state": "denied"})], ["/0/content/1/state"]),
    "names of functions with characters that the service refuses": ([assistant({**CALL, "name": "f g"}, RESULT)], ["/0/content/0/name"]),
    "where system text stands, after others have spoken": ([user(TEXT), {**user(TEXT), "role": "system"}], ["/1/content/0"]),
    "a call or result of Gemini's own tools without the other, when the conversation goes on": (
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


def test_a_reply_that_ran_tools_is_a_sequence_of_contents() -> None:
    """Calls of one step stand together, their results follow alone, and the reply goes on."""
    second = ({**CALL, "id": "d"}, {**RESULT, "id": "d", "state": "error", "output": [TEXT, IMAGE]})
    request, losses = write_messages(
        [
            {**user(TEXT), "role": "system"},
            user(TEXT, IMAGE),
            assistant(
                {"type": "thinking", "id": "k", "thinking": "r"}, CALL, *second, {"type": "hint", "id": "h", "hint": "note"}, RESULT, TEXT
            ),
        ]
    )
    assert losses == []
    judged(request)
    image = {"inlineData": {"mimeType": "image/png", "data": "AA=="}}
    assert request == {
        "systemInstruction": {"parts": [{"text": "t"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "t"}, image]},
            {
                "role": "model",
                "parts": [
                    {"text": "r", "thought": True},
                    {"functionCall": {**FUNCTION, "id": "c"}},
                    {"functionCall": {**FUNCTION, "id": "d"}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "c", "name": "f", "response": {"output": "o"}}},
                    {"functionResponse": {"id": "d", "name": "f", "response": {"error": "t"}, "parts": [image]}},
                ],
            },
            {"role": "user", "parts": [{"text": "note"}]},
            {"role": "model", "parts": [{"text": "t"}]},
        ],
    }


ERROR = {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}


@pytest.mark.parametrize("data", [{"error": ERROR}, [{"error": {**ERROR, "details": [{"retryDelay": "30s"}]}}]])
def test_an_error_alone_is_recognised(data: Any) -> None:
    """A request that failed at once has nothing else to say, also as an array; `auto` finds out whose it is."""
    assert recognise(data if is_array(data) else [data]) is DIALECT
    [message] = read_bytes(DIALECT, json.dumps(data).encode()).messages
    assert (message["finished_reason"], message["error"]) == ("error", {"type": "upstream", "message": ERROR["message"]})


def test_contents_and_requests_are_recognised() -> None:
    """A whole response, a content of the model, and a request."""
    content = {"role": "model", "parts": [{"text": "a"}]}
    assert DIALECT.recognise(content)
    assert DIALECT.recognise({"contents": [content]})
    assert DIALECT.recognise({"usageMetadata": {}, "responseId": "r"})
    none_of_its: list[Any] = [
        None,
        [],
        {},
        {"candidates": []},
        {"usageMetadata": {}},
        {"role": "user", "parts": []},
        {"kind": "message", **content},
        {"error": {"message": "m", "type": "requests", "param": None, "code": "rate_limit_exceeded"}},
        {"error": {"message": "m", "code": 502, "metadata": {}}},
        {"jsonrpc": "2.0", "error": ERROR},
        {"type": "error", "error": ERROR},
    ]
    assert not any(DIALECT.recognise(value) for value in none_of_its)


@given(messages())
def test_our_own_messages_are_not_recognised(message: Wire) -> None:
    """A message of the contract is none of Gemini's."""
    assert not DIALECT.recognise(message)


@given(replies())
def test_our_own_events_are_not_recognised(events: list[Wire]) -> None:
    """An event of the contract is none of Gemini's."""
    assert not any(DIALECT.recognise(event) for event in events)
