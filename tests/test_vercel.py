"""
The vercel dialect, judged by the AI SDK.

Chunks go through its schema and its reader of UI messages; what is written goes through its schema of ModelMessages and into a model of
its own making, which refuses calls without results. The judge is a Node process; without Node these tests are skipped.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from dialect_laws import decoded, folded, lines, reader, rules_of
from hypothesis import example, given
from hypothesis import strategies as st
from support import ROOT
from vector_laws import differences, expected, heard, vectors_of
from vercel_chunks import FINISH, START, STEP, STEPPED, call, output, text
from vercel_judge import ask

from eventfold.dialects.halves import repaired
from eventfold.dialects.reading import DialectChecker
from eventfold.dialects.rounds import NOT_RUN
from eventfold.dialects.vercel import DIALECT, LOSSES, MAPPING, RULES, VercelDecoder
from eventfold.dialects.vercel.request import LOST_THINKING, write_messages
from eventfold.dialects.vercel.shapes import CHUNKS
from eventfold.dialects.vercel.stored import NOT_READ, read_messages
from eventfold.fuzz.strategies import messages, replies
from eventfold.jsonvalue import is_array, is_object
from eventfold.wire.schema import errors

if TYPE_CHECKING:
    from pathlib import Path

    from hypothesis.strategies import DrawFn
    from support import Wire


read = reader(DIALECT)

#: Streams recorded by others, beside the project; absent elsewhere.
SHARED = ROOT.parent / "shared/recordings"
RECORDINGS = sorted((SHARED / "ui_message_stream").glob("*"))
VECTORS = vectors_of("vercel")
CLASSES = {"user": "UserMsg", "system": "SystemMsg", "assistant": "AssistantMsg"}


def each(paths: list[Path]) -> Any:
    """Run a test for each recording; skip it where there are none."""
    missing = [pytest.param(None, marks=pytest.mark.skip(reason="the recordings are not beside the project"))]
    return pytest.mark.parametrize("path", paths or missing, ids=lambda path: f"{path.parent.name}/{path.stem}" if path else "none")


def chunks_of(path: Path) -> list[Any]:
    """Read the chunks of a recording."""
    texts = [line.removeprefix("data:").strip() for line in path.read_text("utf-8").split("\n") if line.startswith("data:")]
    return [json.loads(each_) for each_ in texts if each_ != "[DONE]"]


def joined_text(held: Any) -> str:
    """Give the text of an output."""
    return "".join(part["text"] for part in held) if is_array(held) else str(held)


# What a message says, in the AI SDK's parts and in our blocks.


def told_by_vercel(message: Wire) -> list[Any]:
    """Tell what a UI message says, in order: kind, content, state, metadata of the provider."""
    told: list[Any] = []
    for part in message["parts"]:
        kind = part["type"]
        if kind in {"text", "reasoning"}:
            told.append((kind, part["text"], part.get("providerMetadata")))
        elif kind == "file":
            told.append((kind, part["url"], part["mediaType"]))
        elif kind.startswith("tool-") or kind == "dynamic-tool":
            name = part["toolName"] if kind == "dynamic-tool" else kind.removeprefix("tool-")
            state = part["state"]
            given = part.get("input") if part.get("input") is not None else part.get("rawInput") if state == "output-error" else None
            if state == "input-streaming":
                given = part.get("rawInput", "")
            told.append(("call", part["toolCallId"], name, given, part.get("providerExecuted") is True))
            result = {"output-available": "success", "output-error": "error", "output-denied": "denied"}.get(state)
            if result is not None:
                told.append(
                    (
                        "result",
                        part["toolCallId"],
                        result,
                        part.get("output", part.get("errorText", "") if state != "output-available" else None),
                    )
                )
    # A result stands in its call's part there, and in its own place here.
    return sorted((item for item in told if item[0] in {"call", "result"}), key=str) + [
        item for item in told if item[0] not in {"call", "result"}
    ]


def told_by_us(message: Wire) -> list[Any]:
    """Tell what our message says, in the same words."""
    told: list[Any] = []
    for block in message["content"]:
        extra = block.get("x_vercel", {})
        if block["type"] in {"text", "thinking"}:
            kind = "text" if block["type"] == "text" else "reasoning"
            told.append((kind, block.get("text", block.get("thinking")), extra.get("providerMetadata")))
        elif block["type"] == "data":
            source = block["source"]
            told.append(("file", source.get("url", f"data:{source['media_type']};base64,{source.get('data')}"), source["media_type"]))
        elif block["type"] == "tool_call":
            told.append(("call", block["id"], block["name"], our_input(block), extra.get("providerExecuted") is True))
        else:
            said = joined_text(block["output"])
            if block.get("metadata", {}).get("vercel", {}).get("outputType") == "json":
                said = json.loads(said)
            told.append(("result", block["id"], block["state"], said))
    return sorted((item for item in told if item[0] in {"call", "result"}), key=str) + [
        item for item in told if item[0] not in {"call", "result"}
    ]


def our_input(block: Wire) -> Any:
    """Read the input of a call of ours."""
    extra = block.get("x_vercel", {})
    if "input" in extra:
        return extra["input"]
    if extra.get("inputEncoding") == "text":
        return block["input"]
    try:
        return json.loads(block["input"])
    except ValueError:
        return block["input"]


def with_lost_inputs(told: list[Any]) -> list[Any]:
    """Fill in what the AI SDK loses: when an output follows tool-input-error, the input, which is {} in all examples."""
    return [(*item[:3], {}, item[4]) if item[0] == "call" and item[3] is None else item for item in told]


# Recordings.


@each(RECORDINGS)
def test_a_recording_is_read_as_the_ai_sdk_reads_it(path: Path) -> None:
    """One message, whose parts are those of readUIMessageStream, and nothing is found to be wrong."""
    [message], found = read(path.read_bytes())
    assert rules_of(found) == []
    assert DIALECT.recognise(chunks_of(path)[0])
    verdict = ask("sse", text=path.read_text("utf-8"))
    assert verdict["rejected"] == []
    assert message["id"] == verdict["message"]["id"]
    assert told_by_us(message) == with_lost_inputs(told_by_vercel(verdict["message"]))
    metadata: Any = verdict["message"].get("metadata") or {}
    usage: Any = metadata.get("usage", {})
    assert message.get("usage", {}).get("input_tokens", 0) == usage.get("inputTokens", 0)
    assert message.get("usage", {}).get("output_tokens", 0) == usage.get("outputTokens", 0)
    assert bool(message.get("error")) == ("error" in path.stem)
    assert errors(message, "AssistantMsg") == []


@each(RECORDINGS)
def test_a_recording_is_sent_back_as_the_ai_sdk_would(path: Path) -> None:
    """What is written of the message is what convertToModelMessages makes of the AI SDK's own, with an answer to each call."""
    [message], _ = read(path.read_bytes())
    verdict = ask("sse", text=path.read_text("utf-8"))
    ours = write_messages([message]).value
    theirs = without_answers(verdict["request"])
    for part in (part for sent in theirs for part in sent["content"] if part["type"] == "tool-call"):
        part.setdefault("input", {})  # see with_lost_inputs
    assert without_answers(ours) == theirs
    accepted(ours)


def without_answers(request: list[Wire]) -> list[Wire]:
    """Leave the answers to calls that nobody has run out."""
    kept: list[Wire] = []
    for message in request or []:
        content = message["content"]
        if message["role"] == "tool":
            content = [part for part in content if part.get("output", {}).get("value") != NOT_RUN and part["type"] == "tool-result"]
        if content:
            kept.append({**message, "content": content})
    return kept


def accepted(request: list[Wire]) -> None:
    """Hold that the AI SDK's schema and a model of it take a request."""
    if not request:
        return
    verdict = ask("request", messages=request)
    assert verdict["valid"], verdict
    assert verdict["accepted"] is None, verdict


@each(sorted(path for path in SHARED.glob("*/*.*") if path.parent.name != "ui_message_stream"))
def test_no_other_stream_is_taken_for_the_ai_sdks(path: Path) -> None:
    """A value of another format is never recognised."""
    for line in path.read_text("utf-8", "replace").split("\n")[:60]:
        try:
            value = json.loads(line.removeprefix("data:").strip())
        except ValueError:
            continue
        assert not DIALECT.recognise(value)


# Vectors.


@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_has_the_right_outcome(name: str) -> None:
    """Streams fold to what their producers mean, and what is wrong with them is told."""
    vector = VECTORS[name]
    found = heard(DIALECT, vector["values"])
    assert differences(vector, found.messages) == []
    assert found.rules == expected(vector)


@pytest.mark.parametrize("name", VECTORS)
def test_the_ai_sdk_disagrees_where_that_is_said(name: str) -> None:
    """Our message and readUIMessageStream's say the same, unless the vector says what that one does instead."""
    vector = VECTORS[name]
    assert sdk_agrees(vector["values"]) == ("vendor" not in vector)


def sdk_agrees(values: list[Any]) -> bool:
    """Tell whether the AI SDK takes a stream, raises nothing but the errors that are told in it, and reads it as we do."""
    verdict = ask("chunks", chunks=values)
    messages = folded(decoded(DIALECT, values)[0])
    told = [value["errorText"] for value in values if value["type"] == "error"]
    if verdict["rejected"] or verdict["errors"] != told or len(messages) > 1:
        return False
    if any("input" in block.get("x_vercel", {}) for block in messages[0]["content"]):
        return False  # the input that replaced what was streamed
    return verdict["message"] is None or told_by_us(messages[0]) == with_lost_inputs(told_by_vercel(verdict["message"]))


@pytest.mark.parametrize("name", RULES)
def test_each_rule_fires(name: str) -> None:
    """Each rule of the dialect is broken by a stream."""
    if name == "vercel.no-finish":
        _, found = read(
            b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in [START, *text("0", "a")]) + b"data: [DONE]\n\n"
        )
        assert [finding.rule for finding in found] == [name]
    elif name == "dialect.unfit":
        assert name in {remark.rule for remark in decoded(DIALECT, [{"type": "text-start"}])[2]}
    else:
        assert any(name in vector["findings"] for vector in VECTORS.values())


def test_what_stands_beside_is_kept() -> None:
    """Sources, data and metadata stand in the message's metadata; data of one id is replaced; what is transient is told only."""
    stream = [
        {**START, "messageMetadata": {"a": {"b": 1}}},
        {"type": "data-weather", "id": "w", "data": 1},
        {"type": "data-weather", "id": "w", "data": 2},
        {"type": "data-note", "data": "n", "transient": True},
        {"type": "source-document", "sourceId": "s", "mediaType": "x/y", "title": "t"},
        {"type": "message-metadata", "messageMetadata": {"a": {"c": 2}}},
        *text("0", "a"),
        {
            **FINISH,
            "messageMetadata": {
                "totalUsage": {"inputTokens": 3, "outputTokens": 4, "inputTokenDetails": {"cacheReadTokens": 1, "cacheWriteTokens": 2}}
            },
        },
    ]
    events, _, _ = decoded(DIALECT, stream)
    [message] = folded(events)
    own = message["metadata"]["vercel"]
    assert own["messageMetadata"]["a"] == {"b": 1, "c": 2}
    assert [(part["type"], part.get("data")) for part in own["parts"]] == [("data-weather", 2), ("source-document", None)]
    assert message["usage"] == {"input_tokens": 3, "output_tokens": 4, "cache_input_tokens": 1, "cache_creation_input_tokens": 2}
    assert [event.name for event in events if type(event).__name__ == "CustomEvent"] == ["vercel.data-weather"] * 2 + [
        "vercel.data-note",
        "vercel.source-document",
    ]


# The schema of chunks.

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=4)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=6,
)
SEEDS: list[Wire] = [
    value for vector in VECTORS.values() for value in vector["values"] if value["type"] in CHUNKS or value["type"].startswith("data-")
]


@st.composite
def mutants(draw: DrawFn) -> Wire:
    """Draw a chunk with fields replaced or left out."""
    value = json.loads(json.dumps(draw(st.sampled_from(SEEDS))))
    names = [name for needed, allowed in CHUNKS.values() for name in (*needed, *allowed)]
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(sorted({*value, *names})))
        if draw(st.booleans()):
            value.pop(name, None)
        elif name != "type":
            value[name] = draw(st.one_of(JSON, st.just({"p": {"k": 1}})))
    return value


@given(st.lists(mutants(), min_size=1, max_size=8))
def test_a_chunk_is_refused_where_the_ai_sdk_refuses_it(values: list[Wire]) -> None:
    """The table of chunks gives the verdict of uiMessageChunkSchema."""
    decoder = VercelDecoder()
    refused: list[int] = []
    for i, value in enumerate(values):
        for _ in decoder.feed(value):
            pass
        if {"dialect.unfit", "dialect.unknown"} & {remark.rule for remark in decoder.remarks} or value.get("finishReason") == "interrupted":
            refused.append(i)
    assert refused == ask("chunks", chunks=values)["rejected"]


# Random streams.

SAFE = st.text(max_size=8).map(repaired)
VALUES = st.one_of(SAFE, st.none(), st.integers(-9, 9), st.dictionaries(SAFE, st.integers(-9, 9), max_size=2))
META = st.one_of(st.none(), st.dictionaries(st.sampled_from(("p", "q")), st.dictionaries(SAFE, SAFE, max_size=1), min_size=1, max_size=1))


def cut(draw: DrawFn, said: str) -> list[str]:
    """Cut text somewhere; empty pieces too."""
    places = sorted(draw(st.lists(st.integers(0, len(said)), max_size=3)))
    return [said[a:b] for a, b in zip([0, *places], [*places, len(said)], strict=True)]


@st.composite
def streams(draw: DrawFn) -> list[Wire]:
    """Draw a stream of one message: steps with text, reasoning, files and tools, interleaved."""
    chunks: list[Wire] = [{**START, "messageMetadata": draw(st.one_of(st.none(), st.dictionaries(SAFE, SAFE, max_size=1)))}]
    number = 0
    for _ in range(draw(st.integers(1, 3))):
        sequences: list[list[Wire]] = []
        for kind in draw(st.lists(st.sampled_from(("text", "reasoning", "tool", "file", "data")), max_size=4)):
            number += 1
            meta = draw(META)
            about = {} if meta is None else {"providerMetadata": meta}
            if kind in {"text", "reasoning"}:
                sequences.append(text(f"{number}", *cut(draw, draw(SAFE)), kind=kind, **about))
            elif kind == "file":
                sequences.append(
                    [
                        {
                            "type": "file",
                            "url": draw(st.sampled_from(("data:image/png;base64,QUJD", "https://e.org/a"))),
                            "mediaType": "image/png",
                            **about,
                        }
                    ]
                )
            elif kind == "data":
                sequences.append([{"type": "data-x", "id": f"{number}", "data": draw(VALUES)}])
            else:
                sequences.append(draw(tools(f"{number}", about)))
        chunks.append(STEP)
        while any(sequences):
            chosen = draw(st.sampled_from([sequence for sequence in sequences if sequence]))
            chunks.append(chosen.pop(0))
        chunks.append(STEPPED)
    return [*chunks, FINISH]


@st.composite
def tools(draw: DrawFn, name: str, about: Wire) -> list[Wire]:
    """Draw the chunks of a tool."""
    value = draw(st.dictionaries(SAFE, SAFE, max_size=2))
    flags = draw(st.sampled_from(({}, {"providerExecuted": True}, {"dynamic": True}, {"title": "t"})))
    pieces = cut(draw, json.dumps(value)) if draw(st.booleans()) else []
    chunks = call(name, value, *pieces, **flags, **about)
    how = draw(st.sampled_from(("output", "error", "denied", "none", "preliminary")))
    if how == "preliminary":
        chunks.append(output(name, draw(VALUES), preliminary=True))
    if how in {"output", "preliminary"}:
        chunks.append(output(name, draw(VALUES)))
    elif how == "error":
        chunks.append({"type": "tool-output-error", "toolCallId": name, "errorText": draw(SAFE)})
    elif how == "denied":
        chunks.append({"type": "tool-output-denied", "toolCallId": name})
    return chunks


def planned(message: Wire) -> list[Any]:
    """Tell what our message says, but for results that the provider still owes, which are interrupted here and absent there."""
    return [item for item in told_by_us(message) if not (item[0] == "result" and item[2] == "interrupted")]


@given(streams())
def test_a_stream_is_read_as_the_ai_sdk_reads_it(chunks: list[Wire]) -> None:
    """Whatever is interleaved, our message says what readUIMessageStream's says, and nothing is wrong with it."""
    [message], found = read(lines(chunks))
    assert rules_of(found) == []
    verdict = ask("chunks", chunks=chunks)
    assert (verdict["rejected"], verdict["errors"]) == ([], [])
    assert planned(message) == told_by_vercel(verdict["message"])
    assert errors(message, "AssistantMsg") == []


@given(streams())
def test_a_stored_message_is_the_stream_that_made_it(chunks: list[Wire]) -> None:
    """The UI message that the AI SDK makes of a stream is valid for it, and read by us it is the message of the stream."""
    verdict = ask("chunks", chunks=chunks)
    stored = verdict["message"]
    # Its reader leaves out who denied, which its own schema of stored messages asks for.
    assert ask("ui", messages=[stored])["valid"] or any(part.get("state") == "output-denied" for part in stored["parts"])
    said, losses = read_messages([stored])
    [message], _ = read(lines(chunks))
    assert losses == []
    assert planned(said[0]) == planned(message)


@given(streams())
def test_a_reply_is_sent_back_as_the_ai_sdk_would(chunks: list[Wire]) -> None:
    """What is written of a message is what convertToModelMessages writes, but for answers to calls that nobody has run and denials."""
    verdict = ask("chunks", chunks=chunks)
    [message], _ = read(lines(chunks))
    ours = write_messages([message]).value
    accepted(ours)
    assert parts(ours) == parts(verdict["request"])


def parts(request: list[Wire]) -> list[Any]:
    """List the parts of a request, but for answers that only one of the two has."""
    told: list[Any] = []
    for message in without_answers(request):
        for part in message["content"]:
            if part["type"] == "tool-result":
                denied = part["output"]["type"] == "execution-denied" or part["output"].get("value") == "Tool call execution denied."
                told.append((message["role"], "result", part["toolCallId"], None if denied else part["output"]))
            else:
                told.append((message["role"], json.dumps(part, sort_keys=True)))
    return sorted(told, key=str)


@given(streams(), st.data())
def test_how_text_is_cut_changes_nothing(chunks: list[Wire], data: st.DataObject) -> None:
    """A delta cut in two makes the same message."""
    again: list[Wire] = []
    for chunk in chunks:
        name = "delta" if "delta" in chunk else "inputTextDelta" if "inputTextDelta" in chunk else None
        if name is None:
            again.append(chunk)
            continue
        place = data.draw(st.integers(0, len(chunk[name])))
        again += [{**chunk, name: chunk[name][:place]}, {**chunk, name: chunk[name][place:]}]
    assert read(lines(again))[0] == read(lines(chunks))[0]


def ended(message: Wire) -> bool:
    """Tell whether a message has ended, or waits for an answer."""
    waits = any(block["type"] == "tool_call" and block["state"] in {"submitted", "asking", "allowed"} for block in message["content"])
    return "finished_at" in message or waits


@given(st.lists(st.one_of(JSON, mutants(), st.sampled_from(SEEDS)), max_size=12))
@example([{"a": json.loads("[" * 90 + "]" * 90)}, float("nan"), 10**400])
def test_nothing_is_raised_whatever_comes(values: list[Any]) -> None:
    """Arbitrary JSON and mutated chunks never raise, and every message is one that the schemas allow, and has ended or waits."""
    for message in folded(decoded(DIALECT, values)[0]):
        assert errors(message, "AssistantMsg") == []
        assert ended(message)


@given(st.data())
def test_mutated_streams_never_raise(data: st.DataObject) -> None:
    """Lines left out, doubled, swapped or cut: nothing is raised, and each message ends or waits."""
    recorded = [path.read_bytes().split(b"\n") for path in RECORDINGS]
    chosen = list(data.draw(st.sampled_from([*recorded, *(lines(vector["values"]).split(b"\n") for vector in list(VECTORS.values())[:8])])))
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


# Stored messages, and what is written.


@given(
    st.recursive(
        JSON,
        lambda inner: st.fixed_dictionaries(
            {"role": st.sampled_from(("user", "assistant", "system")), "id": st.text(max_size=2), "parts": st.lists(inner, max_size=3)}
        ),
    )
)
def test_stored_messages_never_raise_but_for_what_they_are_not(value: Any) -> None:
    """Whatever is given is refused, or gives messages that the schemas allow."""
    if is_object(value) and "parts" in value and value.get("role") in CLASSES:
        for message in read_messages([value]).value:
            assert errors(message, CLASSES[message["role"]]) == []


def test_a_conversation_is_read() -> None:
    """User and system messages have text and files; the rest is a loss."""
    stored = [
        {"id": "s", "role": "system", "parts": [{"type": "text", "text": "be"}]},
        {
            "id": "u",
            "role": "user",
            "metadata": {"k": 1},
            "parts": [
                {"type": "text", "text": "hi"},
                {"type": "file", "url": "https://e.org/a", "mediaType": "image/png"},
                {"type": "data-x", "data": 1},
            ],
        },
        {
            "id": "a",
            "role": "assistant",
            "parts": [{"type": "step-start"}, {"type": "tool-f", "toolCallId": "c", "state": "input-streaming", "rawInput": "{"}],
        },
    ]
    assert all(DIALECT.recognise(message) for message in stored)
    checker = DialectChecker(DIALECT)
    checker.feed(json.dumps(stored).encode())
    assert rules_of(checker.finish()) == []
    assert [[block["type"] for block in message["content"]] for message in checker.stored] == [
        ["text"],
        ["text", "data"],
        ["tool_call", "tool_result"],
    ]
    assert [(loss.pointer, loss.reason) for loss in checker.losses] == [("/1/parts/2", NOT_READ)]
    assert checker.stored[1]["metadata"] == {"vercel": {"messageMetadata": {"k": 1}}}


def paired(request: list[Wire]) -> None:
    """Hold that every call has exactly one result in the tool message behind it, and no result is without a call."""
    owed: list[str] = []
    for message in request:
        if message["role"] == "tool":
            assert sorted(owed) == sorted(part["toolCallId"] for part in message["content"])
            owed = []
            continue
        assert owed == []
        if message["role"] == "assistant":
            calls = [part for part in message["content"] if part["type"] == "tool-call"]
            owed = [part["toolCallId"] for part in calls if not part.get("providerExecuted")]
            assert len(set(owed)) == len(owed)
    assert owed == []


@given(st.lists(messages(), max_size=3))
def test_any_messages_are_taken_by_the_ai_sdk(given_: list[Wire]) -> None:
    """Whatever the schemas allow becomes a request that the AI SDK's schema takes; calls and results are paired; losses are declared."""
    before = json.dumps(given_)
    request, losses = write_messages(given_)
    paired(request)
    assert {loss.reason for loss in losses} <= set(LOSSES)
    assert json.dumps(given_) == before
    assert ask("request", messages=request)["valid"]


@given(replies(roles=("assistant",)))
def test_a_reply_of_ours_is_taken_by_the_ai_sdks_models(events: list[Wire]) -> None:
    """What a reply said and called is in a request that a model of the AI SDK takes."""
    [message] = folded(events)
    user = {"role": "user", "name": "user", "id": "u", "created_at": "t", "content": [{"type": "text", "id": "1", "text": "hi"}]}
    request, losses = write_messages([user, message])
    paired(request)
    verdict = ask("request", messages=request)
    assert verdict["valid"], verdict
    said = [part for each_ in request if each_["role"] == "assistant" for part in each_["content"]]
    assert [part["text"] for part in said if part["type"] == "text"] == [
        block["text"] for block in message["content"] if block["type"] == "text"
    ]
    assert [part["toolName"] for part in said if part["type"] == "tool-call"] == [
        block["name"] for block in message["content"] if block["type"] == "tool_call"
    ]
    assert all(loss.reason in LOSSES for loss in losses)


def test_a_reply_that_ran_tools_becomes_a_conversation() -> None:
    """Calls, results, hints and bytes stand where the AI SDK looks for them, and a model takes them."""
    content: list[Wire] = [
        {"type": "thinking", "id": "t", "thinking": "hm", "signature": "s"},
        {"type": "tool_call", "id": "a", "name": "f", "input": '{"x":1}', "state": "finished"},
        {
            "type": "tool_result",
            "id": "a",
            "name": "f",
            "output": [
                {"type": "text", "id": "o", "text": "1"},
                {"type": "data", "id": "d", "source": {"type": "base64", "data": "QUJD", "media_type": "image/png"}},
            ],
            "state": "success",
        },
        {"type": "hint", "id": "h", "hint": "hurry"},
        {"type": "text", "id": "2", "text": "done"},
    ]
    reply = {"role": "assistant", "name": "assistant", "id": "r", "created_at": "t", "content": content}
    request, losses = write_messages([reply])
    assert [message["role"] for message in request] == ["assistant", "tool", "user", "assistant"]
    assert request[0]["content"][0]["providerOptions"] == {"anthropic": {"signature": "s"}}
    assert request[1]["content"][0]["output"]["value"][1] == {"type": "image-data", "data": "QUJD", "mediaType": "image/png"}
    assert losses == []
    accepted(request)


CALL: Wire = {"type": "tool_call", "id": "a", "name": "f", "input": "{}"}
RESULT: Wire = {"type": "tool_result", "id": "a", "name": "f", "output": "o", "state": "success"}
THOUGHT: Wire = {"type": "thinking", "id": "t", "thinking": "hm"}
DATA: Wire = {"type": "data", "id": "d", "name": "n", "source": {"type": "url", "url": "https://e.org/a", "media_type": "image/png"}}
LOSING: list[list[Wire]] = [
    [CALL, {**RESULT, "state": "interrupted"}],
    [CALL, {**RESULT, "output": [DATA]}],
    [{**THOUGHT, "signature": "s", "x_openai": {}}],
    [CALL],
    [RESULT],
    [CALL, CALL, RESULT, RESULT],
]


#: Blocks with what a provider signed or hid, and the options in which it goes back: none when it is lost.
SIGNED: list[tuple[Wire, Wire | None]] = [
    ({**THOUGHT, "signature": "s"}, {"anthropic": {"signature": "s"}}),
    ({**THOUGHT, "signature": "s", "x_anthropic": {"speed": "fast"}}, {"anthropic": {"signature": "s"}}),
    ({**THOUGHT, "thinking": "", "redacted_thinking_data": "d"}, {"anthropic": {"redactedData": "d"}}),
    ({**THOUGHT, "signature": "s", "x_gemini": {"thought": True}}, {"google": {"thoughtSignature": "s"}}),
    ({**CALL, "x_gemini": {"id": "", "thoughtSignature": "s"}}, {"google": {"thoughtSignature": "s"}}),
    ({**THOUGHT, "signature": "s", "x_openai": {"field": "reasoning_details"}}, None),
    ({**THOUGHT, "thinking": "", "redacted_thinking_data": "d", "x_openai": {}}, None),
    ({**THOUGHT, "redacted_thinking_data": "d", "x_gemini": {}}, None),
    (
        {**THOUGHT, "signature": "s", "x_openai": {}, "x_vercel": {"providerMetadata": {"openai": {"itemId": "i"}}}},
        {"openai": {"itemId": "i"}},
    ),
]


@pytest.mark.parametrize(("block", "options"), SIGNED)
def test_what_was_signed_goes_back_to_who_signed_it(block: Wire, options: Wire | None) -> None:
    """Anthropic's and Google's go out under their names, and never under another's; what else was signed is a loss."""
    text = {"type": "text", "id": "x", "text": "done"}
    results = [RESULT] if block["type"] == "tool_call" else []
    message = {"role": "assistant", "name": "a", "id": "r", "created_at": "t", "content": [block, *results, text]}
    request, losses = write_messages([message])
    parts = [part for part in request[0]["content"] if part["type"] in {"reasoning", "tool-call"}]
    assert [part.get("providerOptions") for part in parts] == ([options] if options or block.get("thinking") else [])
    assert [(loss.pointer, loss.reason) for loss in losses] == ([] if options else [("/0/content/0", LOST_THINKING)])
    accepted(request)


@pytest.mark.parametrize("reason", [reason for reason in LOSSES if reason != NOT_READ])
def test_each_loss_is_hit(reason: str) -> None:
    """Each declared loss happens, and alone; that of stored messages happens above."""
    message = {"role": "assistant", "name": "a", "id": "r", "created_at": "t", "content": LOSING[list(LOSSES).index(reason)]}
    request, losses = write_messages([message])
    paired(request)
    assert [loss.reason for loss in losses] == [reason]
    accepted(request)


def test_the_mapping_is_true() -> None:
    """The classes of our events that the dialect gives are those of its table."""
    listed = {name for row in MAPPING if row.way == "in" for name in row.ours.split(", ")}
    made = {type(event).__name__ for vector in VECTORS.values() for event in decoded(DIALECT, vector["values"])[0]}
    assert made == listed
