"""
OpenAI Chat Completions, judged by OpenAI's own client.

Streams of many producers fold to what the client's reducer accumulates, where that one can read them; what it cannot is listed.
Requests that are written of messages are such as the client's types describe.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from dialect_laws import decoded
from eventfold_models import structs
from eventfold_models.tables import MESSAGES
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessageParam
from openai_chat_chunks import COMPLETED, ERROR, PARKED, STOP, calls, chunk, piece, says, spent
from openai_chat_judge import accumulated, read, retold, sse, told, values_of
from openai_chat_plans import Plan, almost, anything, plans, rechunked
from pydantic import TypeAdapter
from support import ROOT, Wire
from vector_laws import counted, differences, expected, vectors_of

from eventfold import check_and_fold, read_event
from eventfold.dialects import dialect
from eventfold.dialects.openai_chat import DIALECT, RULES
from eventfold.dialects.openai_chat.request import LOSSES
from eventfold.dialects.reading import Recogniser
from eventfold.dialects.translation import Unfit
from eventfold.findings import Severity
from eventfold.fuzz.strategies import messages, replies
from eventfold.wire.schema import errors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventfold.vectors import Vector

#: Recordings of real producers, which are others' and stay outside of the project.
SHARED = ROOT.parent / "shared"
RECORDINGS = sorted((SHARED / "recordings/openai_chat").glob("*"))
VECTORS = vectors_of("openai_chat")
recorded = pytest.mark.skipif(not RECORDINGS, reason="needs ../shared/recordings, which are not part of the project")


def _indexed(values: list[Wire], index: Callable[[Wire], int], key: str) -> list[Wire]:
    """Set the index of list entries of the deltas."""
    for value in values:
        for choice in value["choices"]:
            entries: list[Wire] = choice["delta"].get(key) or []
            for entry in entries:
                entry["index"] = index(entry)
    return values


#: What the client's reducer cannot read as it came, and the smallest change that lets it.
UNREADABLE: dict[str, tuple[str, Callable[[list[Wire]], list[Wire]]]] = {
    "gateway_claude_tool_index_starts_at_1": ("takes the index for a position", lambda v: _indexed(v, lambda _: 0, "tool_calls")),
    "mistral_tool_call_no_index": ("needs an index", lambda values: _indexed(values, lambda _: 0, "tool_calls")),
    "openrouter_annotations": ("needs an index in every list", lambda values: _indexed(values, lambda _: 0, "annotations")),
    "moonshot_reasoning_usage_in_choice": (
        "drops chunks that do not name their object",
        lambda values: [{**value, "object": "chat.completion.chunk"} for value in values],
    ),
}
#: Findings of recordings beyond notes, with their reasons.
FOUND = {
    "gateway_claude_tool_index_starts_at_1": {"wire.unterminated"},  # the file lacks its last line end
    "snowflake_claude_thinking": {"openai-chat.no-finish-reason"},  # Snowflake never sends one
}


def name_of(path: Path) -> str:
    """Name a recording."""
    return path.stem


def shown(message: Wire) -> list[tuple[Any, ...]]:
    """Give what the blocks of a message say."""

    def say(block: Wire) -> tuple[Any, ...]:
        if block["type"] == "data":
            source = block["source"]
            return ("data", source["media_type"], source.get("data", source.get("url")))
        if block["type"] == "tool_call":
            return ("tool_call", block["id"], block["name"], block["input"])
        return (block["type"], block[block["type"]])

    return [say(block) for block in message["content"]]


def state_of(message: Wire) -> str:
    """Tell how a reply stands."""
    return message.get("finished_reason", PARKED)


# --- recordings ----------------------------------------------------------------------------------


@recorded
@pytest.mark.parametrize("path", RECORDINGS, ids=name_of)
def test_a_recording_folds_to_what_the_client_accumulates(path: Path) -> None:
    """Text, refusal, thinking, signatures, calls, log-probabilities and usage of each choice are those of OpenAI's own reducer."""
    checker = read(path.read_bytes())
    messages = checker.folder.snapshots()
    _, mend = UNREADABLE.get(path.stem, ("", lambda values: values))
    assert retold(messages) == told(accumulated(mend(values_of(path))))
    assert {finding.rule for finding in checker.findings() if finding.severity > Severity.NOTE} == FOUND.get(path.stem, set())
    assert [error for message in messages for error in errors(message, "AssistantMsg")] == []
    assert DIALECT.recognise(values_of(path)[0])


@recorded
@pytest.mark.parametrize("name", UNREADABLE)
def test_what_the_client_cannot_read_is_listed_for_a_reason(name: str) -> None:
    """A recording that needs a change for the client's reducer is not read by it without."""
    [path] = [path for path in RECORDINGS if path.stem == name]
    values = values_of(path)
    if any(value.get("object") is None for value in values):
        return
    with pytest.raises((IndexError, TypeError, RuntimeError)):
        accumulated(values)


@recorded
@pytest.mark.parametrize("path", RECORDINGS, ids=name_of)
def test_a_recording_has_the_verdict_that_was_written_down(path: Path) -> None:
    """The verdicts of the client, written down when the recordings were made, hold of the messages."""
    golden = json.loads((SHARED / "judges/providers/golden.json").read_text("utf-8"))[f"openai_chat/{path.name}"]["sdk"]
    messages = read(path.read_bytes()).folder.snapshots()
    if golden["error"] is not None or not golden["choices"]:
        assert path.stem in {*UNREADABLE, "openrouter_midstream_error"}
        return
    for choice, message in zip(golden["choices"], retold(messages), strict=True):
        assert (choice["text"] or "", choice["refusal"] or "") == (message["text"], message["refusal"])
        assert [(call["id"], call["name"], call["arguments"]) for call in choice["tool_calls"]] == message["calls"]
    usage = golden["usage"] or {"prompt_tokens": 0, "completion_tokens": 0}
    assert retold(messages)[0]["usage"] == (usage["prompt_tokens"], usage["completion_tokens"])


@recorded
def test_no_recording_of_another_format_is_taken_for_this_one() -> None:
    """The values of all other recordings are not recognised."""
    for path in (SHARED / "recordings").glob("*/*"):
        if path.parent.name == "openai_chat":
            continue
        for line in path.read_text("utf-8").splitlines():
            try:
                value = json.loads(line.removeprefix("data:"))
            except ValueError:
                continue
            assert not DIALECT.recognise(value), path


@recorded
def test_the_error_of_a_recording_ends_its_reply() -> None:
    """An error in the middle of a stream ends the reply as an error, with what came before it and the usage."""
    [path] = [path for path in RECORDINGS if path.stem == "openrouter_midstream_error"]
    [message] = read(path.read_bytes()).folder.snapshots()
    assert (message["finished_reason"], message["error"]["type"]) == (ERROR, "invalid_request")
    assert [block["type"] for block in message["content"]] == ["thinking"]
    assert message["usage"]["input_tokens"] > 0
    assert message["metadata"]["openai"]["error"]["code"] == 400


# --- what producers get wrong --------------------------------------------------------------------


@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_has_the_right_outcome(name: str) -> None:
    """Each stream gives the right messages with the right blocks, ends and usage, and is told of by its rules and no others."""
    vector = VECTORS[name]
    checker = read(said(vector))
    messages = checker.folder.snapshots()
    assert differences(vector, messages) == []
    assert counted(checker.findings()) == expected(vector)
    assert [error for message in messages for error in errors(message, "AssistantMsg")] == []


def said(vector: Vector) -> bytes:
    """Write the values of a vector as the provider would."""
    return sse(vector["values"], done=vector.get("done", False))


def client_agrees(vector: Vector) -> bool:
    """Tell whether OpenAI's own client reads a stream as we do."""
    messages = read(said(vector)).folder.snapshots()
    values: list[Wire] = vector["values"]
    if any(value.get("error") or "object" not in value for value in values):
        return False
    if any(len([block for block in message["content"] if block["type"] == "text"]) > 1 for message in messages):
        return False
    try:
        theirs = accumulated(value for value in values if value["object"])
        return told(theirs) == retold(messages) and theirs.choices[0].message.role in {None, "assistant"}
    except (AssertionError, AttributeError, IndexError, RuntimeError, TypeError):
        return False


@pytest.mark.parametrize("name", VECTORS)
def test_the_client_disagrees_where_that_is_said(name: str) -> None:
    """OpenAI's own reducer makes the same of a stream, unless the vector says what it does instead."""
    vector = VECTORS[name]
    assert client_agrees(vector) == ("vendor" not in vector)


# --- several choices, responses and forms --------------------------------------------------------


def messages_of(data: bytes) -> list[Wire]:
    """Fold bytes; nothing may be wrong with them."""
    checker = read(data)
    assert checker.findings() == []
    return checker.folder.snapshots()


def test_each_choice_is_a_reply_and_the_first_has_the_usage() -> None:
    """With n > 1, choices fold to replies of their own, in whatever order they begin."""
    chunks = [says(at=1, content="B"), says(at=0, content="A"), says("stop", at=0), says("length", at=1), chunk(usage=spent(5, 2))]
    later, first = messages_of(sse(chunks))
    assert [(m["id"], shown(m), m["usage"]["input_tokens"]) for m in (first, later)] == [
        ("chat-7", [("text", "A")], 5),
        ("chat-7#1", [("text", "B")], 0),
    ]
    assert [m["metadata"]["openai"]["finish_reason"] for m in (first, later)] == ["stop", "length"]


WHOLE = {
    "id": "chat-w",
    "object": "chat.completion",
    "created": 1_750_000_000,
    "model": "parrot-1",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "Look",
                "reasoning_content": "hm",
                "refusal": None,
                "tool_calls": [
                    {"id": "c-1", "type": "function", "function": {"name": "find", "arguments": '{"q":1}'}},
                    {"id": "c-2", "type": "custom", "custom": {"name": "sql", "input": "select 1"}},
                ],
            },
        },
        {
            "index": 1,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Nope", "annotations": [{"type": "url_citation"}]},
        },
    ],
    "usage": spent(5, 2, prompt_tokens_details={"cached_tokens": 3, "cache_write_tokens": 1}),
    "service_tier": "flex",
}


@pytest.mark.parametrize(
    ("value", "ours"),
    [
        ({"error": {"message": "no", "type": "requests", "param": None, "code": "rate_limit_exceeded"}}, True),
        ({"error": {"code": 429, "message": "no", "status": "RESOURCE_EXHAUSTED"}}, False),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "no"}}, False),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32600, "message": "no", "type": "t"}}, False),
        ({"error": "no"}, False),
    ],
)
def test_an_error_instead_of_a_response_is_recognised(value: Wire, *, ours: bool) -> None:
    """A stream of OpenAI may be an error alone; those of Google, Anthropic and JSON-RPC have other forms."""
    recogniser = Recogniser()
    recogniser.feed(json.dumps(value).encode() + b"\n")
    recogniser.finish()
    assert (recogniser.found is DIALECT) is ours


def test_an_error_before_a_stream_does_not_say_whose_that_is() -> None:
    """Many answer with such an error: what comes after it, on a second try, decides."""
    recogniser = Recogniser()
    recogniser.feed(b'{"error": {"message": "no", "type": "t", "param": null, "code": null}}\n')
    assert recogniser.feed(b'{"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": []}}\n')
    assert recogniser.found is dialect("anthropic")


def test_a_whole_response_is_read_like_its_stream() -> None:
    """A response that was not streamed gives the same messages, and nothing follows it."""
    first, second = messages_of(json.dumps(WHOLE).encode())
    assert DIALECT.recognise(WHOLE)
    assert shown(first) == [
        ("thinking", "hm"),
        ("text", "Look"),
        ("tool_call", "c-1", "find", '{"q":1}'),
        ("tool_call", "c-2", "sql", "select 1"),
    ]
    assert (first["usage"]["cache_input_tokens"], first["usage"]["cache_creation_input_tokens"]) == (3, 1)
    assert second["metadata"]["openai"] == {"model": "parrot-1", "service_tier": "flex", "finish_reason": "stop"}
    assert second["content"][0]["x_openai"] == {"annotations": [{"type": "url_citation"}]}
    several = read(json.dumps([WHOLE, {**WHOLE, "id": "chat-x"}]).encode())
    assert [message["id"] for message in several.folder.snapshots()] == ["chat-w", "chat-w#1", "chat-x", "chat-x#1"]


def test_responses_after_each_other_are_replies_of_their_own() -> None:
    """A file may hold many responses, with or without [DONE] between them, with ids or without."""
    two = [says(role="assistant", content="a"), STOP]
    other = [{**value, "id": "chat-8"} for value in two]
    blank = [{**value, "id": ""} for value in two]
    for data in (sse(two) + sse(other), sse([*two, *other]), sse([*two, chunk(usage=spent(1, 1), id="")]) + sse(other)):
        assert [message["id"] for message in messages_of(data)] == ["chat-7", "chat-8"]
    assert [message["id"] for message in messages_of(sse(blank) + sse(blank) + sse(two))] == ["response-1", "response-2", "chat-7"]


def test_a_chunk_with_a_delta_and_the_message_so_far_is_read_by_its_delta() -> None:
    """Perplexity's chunks say the answer so far beside each delta, and the usage so far: one reply, with the last usage."""
    so_far = "It", "It is", "It is"
    chunks = [
        chunk(
            {
                "index": 0,
                "finish_reason": "stop" if kind == "done" else None,
                "message": {"role": "assistant", "content": whole},
                "delta": {"role": "assistant", "content": said},
            },
            object=f"chat.completion.{kind}",
            usage=spent(5, count),
        )
        for said, whole, count, kind in zip(("It", " is", ""), so_far, (1, 2, 2), ("chunk", "chunk", "done"), strict=True)
    ]
    [message] = messages_of(sse(chunks, done=False))
    assert (shown(message), state_of(message)) == ([("text", "It is")], COMPLETED)
    assert (message["usage"]["input_tokens"], message["usage"]["output_tokens"]) == (5, 2)
    bare = chunk({"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "It is"}, "delta": {}})
    assert [shown(found) for found in messages_of(sse([bare], done=False))] == [[("text", "It is")]]


@pytest.mark.parametrize("finish", [None, "stop"])
def test_a_whole_response_closes_the_stream_of_the_same_id(finish: str | None) -> None:
    """MiniMax ends a stream with the whole response, which has the usage. It is no second reply, and its text is not said again."""
    message = {"role": "assistant", "content": "Hello", "audio_content": "au"}
    closing = chunk({"index": 0, "finish_reason": "stop", "message": message}, object="chat.completion", usage=spent(8, 2))
    chunks = [says(role="assistant", content="Hel"), says(finish, content="lo"), closing]
    [found] = messages_of(sse(chunks, done=False))
    assert (shown(found), state_of(found)) == ([("text", "Hello")], COMPLETED)
    assert (found["usage"]["input_tokens"], found["usage"]["output_tokens"]) == (8, 2)
    assert found["metadata"]["openai"]["finish_reason"] == "stop"
    assert found["metadata"]["openai"]["message"] == {"audio_content": "au"}


def test_a_whole_response_says_what_its_stream_did_not() -> None:
    """A stream that has said nothing yet has its answer in the whole response that closes it; one of another id cuts it off."""
    closing = chunk({"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello"}}, object="chat.completion")
    [message] = messages_of(sse([says(role="assistant", content=""), closing], done=False))
    assert (shown(message), state_of(message)) == ([("text", "Hello")], COMPLETED)
    checker = read(sse([says(role="assistant", content="Hel"), {**closing, "id": "chat-8"}], done=False))
    assert [state_of(found) for found in checker.folder.snapshots()] == [ERROR, COMPLETED]


def test_what_follows_done_is_told_of_and_kept() -> None:
    """A chunk after [DONE] is kept in a CUSTOM event; one that begins a response of the same id begins a reply."""
    late = read(sse([says(content="a"), STOP]) + sse([chunk(usage=spent(1, 1))]))
    assert [finding.rule for finding in late.findings()] == ["openai-chat.after-done"]
    assert [shown(message) for message in late.folder.snapshots()] == [[("text", "a")]]
    again = read(sse([says(role="assistant", content="a"), STOP]) * 2)
    assert [finding.rule for finding in again.findings()] == ["openai-chat.id-reused"]
    assert [message["id"] for message in again.folder.snapshots()] == ["chat-7", "chat-7~2"]


def test_a_response_that_another_one_cuts_off_ends_as_an_error() -> None:
    """When a response begins before the one before it is finished, that one was cut off."""
    checker = read(
        sse([says(role="assistant", content="a"), {**says(role="assistant", content="b"), "id": "chat-8"}, STOP | {"id": "chat-8"}])
    )
    assert [state_of(message) for message in checker.folder.snapshots()] == [ERROR, COMPLETED]
    assert {finding.rule for finding in checker.findings()} == {"openai-chat.truncated"}


def test_every_rule_fires() -> None:
    """Each rule of the dialect is broken by some stream of these tests."""
    fired = {rule for vector in VECTORS.values() for rule in vector["findings"]}
    assert fired | {"openai-chat.after-done", "openai-chat.id-reused"} == {
        *RULES,
        "dialect.unfit",
        "dialect.unknown",
        "tool-call.no-arguments",
    }


def test_nothing_is_lost_on_the_way_in() -> None:
    """What the contract has no field for stands in x_openai of a block, or in the metadata, under the provider's own names."""
    chunks = [
        {**says(role="assistant", content="", annotations=[{"type": "url_citation", "url_citation": {"url": "u"}}]), "provider": "P"},
        says(reasoning="hm", reasoning_details=[{"type": "reasoning.text", "text": "hm", "format": "f", "index": 0}]),
        says(reasoning_details=[{"type": "reasoning.text", "signature": "sig", "index": 0}]),
        says(reasoning_details=[{"type": "reasoning.encrypted", "data": "s3cret", "index": 1}]),
        says(content="a", more={"logprobs": {"content": [{"token": "a"}], "refusal": None}}),
        says(refusal="no"),
        calls({**piece(0, "c-1", "find", '{"q":1}'), "extra_content": {"google": {"thought_signature": "t"}}}),
        says(tool_plan="pl"),
        says(tool_plan="an", more={"content_filter_results": {"hate": {"filtered": False}}}),
        {**says("stop", more={"native_finish_reason": "end"}), "x_groq": {"id": "q"}, "citations": ["c"]},
        chunk(usage=spent(1, 2, cost=0.5), system_fingerprint="fp", obfuscation="xx"),
    ]
    events, losses, remarks = decoded(DIALECT, chunks)
    assert (losses, remarks) == ([], [])
    request = events[-1]
    [message] = check_and_fold(events).messages
    assert [
        {key: block[key] for key in block if key.startswith("x_") or key in {"signature", "redacted_thinking_data"}}
        for block in message["content"]
    ] == [
        {"x_openai": {"reasoning_details": {"type": "reasoning.text", "format": "f", "index": 0}}, "signature": "sig"},
        {"x_openai": {"reasoning_details": {"type": "reasoning.encrypted", "index": 1}}, "redacted_thinking_data": "s3cret"},
        {"x_openai": {"annotations": [{"type": "url_citation", "url_citation": {"url": "u"}}], "logprobs": [{"token": "a"}]}},
        {"x_openai": {"type": "refusal"}},
        {"x_openai": {"tool_call": {"extra_content": {"google": {"thought_signature": "t"}}}}},
    ]
    assert message["metadata"]["openai"] == {"provider": "P", "model": "parrot-1"}
    assert request.metadata["openai"] == {
        "provider": "P",
        "model": "parrot-1",
        "x_groq": {"id": "q"},
        "citations": ["c"],
        "system_fingerprint": "fp",
        "native_finish_reason": "end",
        "content_filter_results": {"hate": {"filtered": False}},
        "finish_reason": "stop",
        "usage": {"total_tokens": 3, "cost": 0.5},
        "message": {"tool_plan": "plan"},
    }


def test_a_part_of_an_unknown_type_is_told_of_once_and_kept() -> None:
    """Each type of part that is not known gets one note, however many there are, and each part a CUSTOM event."""
    parts = [
        {"type": "reference", "reference_ids": [0]},
        {"type": "reference", "reference_ids": [2]},
        {"type": "reasoning", "summary": "x"},
    ]
    chunks = [says(role="assistant", content=parts[:1]), says(content=parts[1:]), STOP]
    events, _, remarks = decoded(DIALECT, chunks)
    assert [(remark.rule, remark.pointer) for remark in remarks] == [
        ("dialect.unknown", "/choices/0/delta/content/0"),
        ("dialect.unknown", "/choices/0/delta/content/1"),
    ]
    assert [event.value for event in events if isinstance(event, structs.CustomEvent)] == parts


def summed(said: str, signature: str = "", **more: Any) -> Wire:
    """Write Databricks' part of thinking."""
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": said, "signature": signature, **more}]}


#: Streams of thinking that is signed, the thinking block's own fields, and what goes back.
SIGNED: dict[str, tuple[list[Wire], Wire, Wire]] = {
    "databricks": (
        [says(role="assistant", content=[summed("Think ")]), says(content=[summed("hard", "SIG")])],
        {"x_openai": {"summary": {"type": "summary_text"}}, "thinking": "Think hard", "signature": "SIG"},
        {"content": [summed("Think hard", "SIG"), {"type": "text", "text": "Done"}]},
    ),
    "databricks, encrypted": (
        [says(role="assistant", content=[{"type": "reasoning", "summary": [{"type": "summary_encrypted_text", "data": "s3cret"}]}])],
        {"x_openai": {"summary": {"type": "summary_encrypted_text"}}, "thinking": "", "redacted_thinking_data": "s3cret"},
        {
            "content": [
                {"type": "reasoning", "summary": [{"type": "summary_encrypted_text", "data": "s3cret"}]},
                {"type": "text", "text": "Done"},
            ]
        },
    ),
    "litellm": (
        [
            says(role="assistant", reasoning_content="Thi", thinking_blocks=[{"type": "thinking", "thinking": "Thi", "signature": None}]),
            says(reasoning_content="nk", thinking_blocks=[{"type": "thinking", "thinking": "nk", "signature": None}]),
            says(reasoning_content="", thinking_blocks=[{"type": "thinking", "thinking": "", "signature": "SIGX"}]),
        ],
        {"x_openai": {"thinking_blocks": {"type": "thinking"}}, "thinking": "Think", "signature": "SIGX"},
        {"content": "Done", "thinking_blocks": [{"type": "thinking", "thinking": "Think", "signature": "SIGX"}]},
    ),
    "litellm, encrypted": (
        [says(role="assistant", thinking_blocks=[{"type": "redacted_thinking", "data": "s3cret"}])],
        {"x_openai": {"thinking_blocks": {"type": "redacted_thinking"}}, "thinking": "", "redacted_thinking_data": "s3cret"},
        {"content": "Done", "thinking_blocks": [{"type": "redacted_thinking", "data": "s3cret"}]},
    ),
}


@pytest.mark.parametrize("name", SIGNED)
def test_signed_thinking_keeps_its_signature_and_goes_back_with_it(name: str) -> None:
    """The signature stands on the thinking block, and thinking goes back in the form that it came in."""
    chunks, own, back = SIGNED[name]
    messages_found = messages_of(sse([*chunks, says(content="Done"), STOP]))
    [message] = messages_found
    [thought, said] = message["content"]
    assert said["text"] == "Done"
    assert {key: value for key, value in thought.items() if key in {*own, "x_openai"}} == own
    assert requested(messages_found) == [{"role": "assistant", **back}]
    assert requested(reread(requested(messages_found))) == [{"role": "assistant", **back}]


def test_one_list_of_thinking_counts_and_the_other_is_kept() -> None:
    """Of two lists of thinking in one delta, the first is read; the other stands in the metadata as it came."""
    blocks = [{"type": "thinking", "thinking": "hm", "signature": "sig"}]
    chunks = [
        says(role="assistant", reasoning_details=[{"type": "reasoning.text", "text": "hm"}], thinking_blocks=blocks),
        says(content="so"),
        STOP,
    ]
    [message] = messages_of(sse(chunks))
    assert shown(message) == [("thinking", "hm"), ("text", "so")]
    assert message["metadata"]["openai"]["message"] == {"thinking_blocks": blocks}


@pytest.mark.parametrize("created", [0, -5, True, "1750000000", 1e300, 10**30, None, [], 1_750_000_000_000, 1_750_000_000.5])
def test_any_time_is_read(created: Any) -> None:
    """A time in seconds or milliseconds becomes a timestamp; whatever else is as if it were not there."""
    chunks = [{**value, "created": created} for value in (says(content="a"), STOP)]
    [message] = messages_of(sse(chunks))
    assert message["created_at"][:10] in {"1970-01-01", "2025-06-15"}


ERRORS: dict[str, Any] = {
    "authentication": {"code": 401, "message": "m"},
    "permission": {"type": "permission_error", "message": "m"},
    "rate_limit": {"code": "insufficient_quota", "type": "insufficient_quota", "message": "m"},
    "invalid_request": {"type": "invalid_request_error", "code": "context_length_exceeded", "message": "m"},
    "upstream": {"code": 503, "message": "m"},
    "connection": {"code": "timeout", "message": "m"},
    "unknown": {"message": "m"},
}


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_is_of_its_kind(kind: str) -> None:
    """A provider's error has one of the contract's types, and its own fields are kept."""
    [message] = messages_of(sse([says(content="a"), {"error": ERRORS[kind]}]))
    assert message["error"] == {"type": kind, "message": "m"}
    assert message["metadata"]["openai"]["error"] == ERRORS[kind]


# --- laws ----------------------------------------------------------------------------------------


@given(plans())
def test_a_planned_response_folds_to_its_plan(plan: Plan) -> None:
    """Whatever is planned and however it is cut and interleaved, the messages are those of the plan, and nothing is wrong."""
    checker = read(sse(plan.chunks))
    # A random text may grow as a cumulative producer's does.
    odd = {"reply.left-parked", "reply.no-visible-output", "block.cumulative-deltas"}
    assert {finding.rule for finding in checker.findings()} <= odd
    messages = checker.folder.snapshots()
    assert [shown(message) for message in messages] == plan.messages
    first = min(messages, key=lambda message: len(message["id"]))
    assert (first["usage"]["input_tokens"], first["usage"]["output_tokens"]) == plan.usage
    assert sum(message["usage"]["input_tokens"] for message in messages) == plan.usage[0]
    for message, blocks in zip(messages, plan.messages, strict=True):
        assert all("x_openai" in block for block in message["content"] if block["type"] == "thinking")
        assert (state_of(message) == PARKED) == any(kind == "tool_call" for kind, *_ in blocks)


@given(plans(), st.data())
def test_how_text_is_cut_into_deltas_changes_nothing(plan: Plan, data: st.DataObject) -> None:
    """Splitting and merging deltas of text changes no message."""
    other = data.draw(rechunked(plan.chunks))
    assert read(sse(other)).folder.snapshots() == read(sse(plan.chunks)).folder.snapshots()


@given(plans(), st.data())
def test_every_prefix_of_a_response_has_a_message_for_each_choice_begun(plan: Plan, data: st.DataObject) -> None:
    """A stream that stops anywhere gives valid messages, which begin as the whole ones do."""
    some = plan.chunks[: data.draw(st.integers(1, len(plan.chunks)))]
    checker = read(sse(some, done=False))
    messages = checker.folder.snapshots()
    begun = {choice["index"] for value in some for choice in value["choices"]}
    assert len(messages) == len(begun)
    assert [found for message in messages for found in errors(message, "AssistantMsg")] == []
    assert {finding.rule for finding in checker.findings() if finding.severity is Severity.ERROR} <= {
        "openai-chat.truncated",
        "openai-chat.lone-surrogate",
    }


def in_order(events: list[Any]) -> list[Wire]:
    """Fold the events of a decoder. Whatever it was given, they are in order, and their messages valid."""
    checked = check_and_fold(events)
    assert [finding for finding in checked.findings if finding.severity is Severity.ERROR] == []
    assert [found for message in checked.messages for found in errors(message, "AssistantMsg")] == []
    json.dumps(checked.messages, ensure_ascii=False).encode()
    return checked.messages


@given(st.lists(st.one_of(anything, almost), max_size=6), st.booleans())
def test_any_json_is_read(values: list[Any], done: bool) -> None:  # noqa: FBT001  drawn
    """Nothing raises, whatever comes; each remark is of a rule; and the events are a valid stream."""
    assert DIALECT.decoder is not None
    decoder = DIALECT.decoder()
    events: list[Any] = []
    for value in values:
        events += decoder.feed(value)
        assert {remark.rule for remark in decoder.remarks} <= set(DIALECT.rules)
    if done:
        events += decoder.done()
    events += decoder.finish()
    in_order(events)


@recorded
@given(st.sampled_from(RECORDINGS or [ROOT]), st.data())
def test_a_mutated_recording_is_read(path: Path, data: st.DataObject) -> None:
    """Chunks that are lost, doubled, swapped or cut off leave a valid message for each choice that was begun."""
    values = values_of(path)
    for _ in range(data.draw(st.integers(1, 4))):
        i = data.draw(st.integers(0, len(values) - 1))
        match data.draw(st.sampled_from(("drop", "double", "swap", "cut"))):
            case "drop" if len(values) > 1:
                del values[i]
            case "double":
                values.insert(i, values[i])
            case "swap":
                j = data.draw(st.integers(0, len(values) - 1))
                values[i], values[j] = values[j], values[i]
            case _:
                values = values[: i + 1]
    events, losses, _ = decoded(DIALECT, values)
    assert losses == []
    begun = {choice["index"] for value in values for choice in value["choices"]}
    assert len(in_order(events)) == max(len(begun), 1)


@recorded
@given(st.sampled_from(RECORDINGS or [ROOT]), st.integers(0, 20_000), st.integers(0, 255))
def test_bytes_that_are_cut_or_changed_are_read(path: Path, place: int, byte: int) -> None:
    """A recording that is cut within a line, or has a wrong byte, raises nothing and gives valid messages."""
    whole = path.read_bytes()
    place %= len(whole)
    for data in (whole[:place], whole[:place] + bytes([byte]) + whole[place + 1 :]):
        for message in read(data).folder.snapshots():
            assert errors(message, "AssistantMsg") == []


@pytest.mark.parametrize("depth", [10, 50, 61, 200])
def test_deep_values_are_told_of(depth: int) -> None:
    """A value that nests too deep is dropped, and the stream goes on."""
    inner: Any = "x"
    for _ in range(depth):
        inner = [inner]
    events, _, remarks = decoded(DIALECT, [says(content="a"), says(content="b", deep=inner), STOP])
    [message] = in_order(events)
    deep = depth > 55
    assert shown(message) == [("text", "a" if deep else "ab")]
    assert [remark.rule for remark in remarks] == (["dialect.unfit"] if deep else [])


# --- requests ------------------------------------------------------------------------------------

_REQUEST: TypeAdapter[Any] = TypeAdapter(list[ChatCompletionMessageParam])


def forced(value: Any) -> Any:
    """Read what pydantic validates only when it is read: the parts of an Iterable."""
    if isinstance(value, dict):
        return {key: forced(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]  JSON
    return value if isinstance(value, str | int | float | None) else [forced(item) for item in value]


def without_foreign_parts(message: Wire) -> Wire:
    """Leave out thinking as a part, as Databricks has it: OpenAI's client sends it as it is, and its types know none."""
    content = message.get("content")
    if not isinstance(content, list):
        return message
    parts: list[Wire] = content  # pyright: ignore[reportUnknownVariableType]  JSON
    return {**message, "content": [part for part in parts if part["type"] != "reasoning"]}


def requested(messages: list[Wire]) -> list[Wire]:
    """Write messages as a request. It fits the client's types, its calls are answered, and nothing of it is shared."""
    assert DIALECT.write_messages is not None
    before = json.dumps(messages)
    said, losses = DIALECT.write_messages(messages)
    assert json.dumps(messages) == before
    forced(_REQUEST.validate_python([without_foreign_parts(message) for message in said]))
    paired(said)
    for loss in losses:
        assert loss.reason in DIALECT.losses
        pointed(messages, loss.pointer)
    return json.loads(json.dumps(said))


def pointed(value: Any, pointer: str) -> Any:
    """Give what a pointer points to, or would."""
    for part in pointer.split("/")[1:]:
        value = value[int(part)] if isinstance(value, list) else value.get(part)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  JSON
    return value  # pyright: ignore[reportUnknownVariableType]  JSON


def paired(said: list[Wire]) -> None:
    """Hold a request to the provider's rule: the calls of a message are answered right after it, each once, and nothing else is."""
    owed: list[str] = []
    for message in said:
        if message["role"] == "tool":
            owed.remove(message["tool_call_id"])
            continue
        assert owed == []
        owed = [call["id"] for call in message.get("tool_calls", [])]
        assert len(set(owed)) == len(owed)
    assert owed == []


@given(st.lists(messages(), max_size=4))
def test_any_messages_make_a_request(drawn: list[Wire]) -> None:
    """Whatever the schemas allow as messages, the request fits the client's types, and each call has its one result after it."""
    requested(drawn)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=3), st.data())
def test_replies_make_a_request_that_says_all_their_texts(numbers: list[int], data: st.DataObject) -> None:
    """What replies say and what their tools gave stands in the request, in order, and so does each call."""
    drawn = [
        m
        for i in numbers
        for m in check_and_fold([read_event(e) for e in data.draw(replies(f"r{i}", moves=8, roles=("assistant",)))]).messages
    ]
    said = requested(drawn)
    blocks = [block for message in drawn for block in message["content"]]
    texts = "".join(block["text"] for block in blocks if block["type"] == "text")
    assert "".join(message["content"] or "" for message in said if message["role"] == "assistant") == texts
    wanted = [(block["id"], block["name"], block["input"] or "{}") for block in blocks if block["type"] == "tool_call"]
    called = [call for message in said for call in message.get("tool_calls", [])]
    assert [(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in called] == wanted


def sent_back(theirs: Any) -> Wire:
    """Give the message that the client would send back: what it accumulated, as it writes it, and only what a request has."""
    message = theirs.message.to_dict()
    said: Wire = {"role": "assistant", "content": message.get("content")}
    for name in ("refusal", "reasoning_content", "reasoning"):
        if message.get(name):
            said[name] = message[name]
    if message.get("reasoning_details"):
        # The client joins what is repeated, such as the format: only what grows can be compared.
        said["reasoning_details"] = [{k: d[k] for k in ("text", "signature") if d.get(k)} for d in message["reasoning_details"]]
        said.pop("reasoning", None)
    if message.get("tool_calls"):
        said["tool_calls"] = [
            {"id": entry["id"], "type": "function", "function": {key: entry["function"][key] for key in ("name", "arguments")}}
            for entry in message["tool_calls"]
        ]
    return said


@recorded
@pytest.mark.parametrize("path", RECORDINGS, ids=name_of)
def test_what_was_read_is_sent_back_as_the_client_would(path: Path) -> None:
    """A recorded response goes into the next request as the client's own accumulated message would."""
    _, mend = UNREADABLE.get(path.stem, ("", lambda values: values))
    theirs = [sent_back(choice) for choice in sorted(accumulated(mend(values_of(path))).choices, key=lambda choice: choice.index)]
    for message, wanted in zip(read(path.read_bytes()).folder.snapshots(), theirs, strict=True):
        said = requested([message])[0]
        if "reasoning_details" in said:
            said["reasoning_details"] = [{k: d[k] for k in ("text", "signature") if d.get(k)} for d in said["reasoning_details"]]
        assert (said.pop("content") or "") == (wanted.pop("content") or "")
        assert said == wanted


def user(*content: Wire, role: str = "user", **fields: Any) -> Wire:
    """Write a message of ours."""
    named = [{"id": f"b{i}", **block} for i, block in enumerate(content)]
    return {"name": role, "role": role, "id": "m", "created_at": "2026-01-01T00:00:00", "content": named, **fields}


def bot(*content: Wire, **fields: Any) -> Wire:
    """Write a message of the assistant."""
    return user(*content, role="assistant", **fields)


def text(value: str, **fields: Any) -> Wire:
    """Write a text block."""
    return {"type": "text", "text": value, **fields}


def call(call_id: str, given: str = "{}", **fields: Any) -> Wire:
    """Write a call."""
    return {"type": "tool_call", "id": call_id, "name": "find", "input": given, "state": "finished", **fields}


def result(call_id: str, output: Any = "out", state: str = "success") -> Wire:
    """Write a result."""
    return {"type": "tool_result", "id": call_id, "name": "find", "output": output, "state": state}


def data(media_type: str, url: str = "", **fields: Any) -> Wire:
    """Write a data block."""
    source = {"type": "url", "url": url} if url else {"type": "base64", "data": "AQI="}
    return {"type": "data", "id": "d", "source": {**source, "media_type": media_type}, **fields}


def asked(call_id: str, given: str = "{}") -> Wire:
    """Write a call as the request has it."""
    return {"id": call_id, "type": "function", "function": {"name": "find", "arguments": given}}


def answer(call_id: str, content: Any = "out") -> Wire:
    """Write a result as the request has it."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


PNG = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AQI="}}
#: Messages of ours, the request, and what is lost.
REQUESTS: dict[str, tuple[list[Wire], list[Wire], list[str]]] = {
    "texts": (
        [user(text("Be brief."), role="system"), user(text("Hi")), bot(text("Hey"), text(" you"))],
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hey you"}],
        [],
    ),
    "names": (
        [user(text("a"), name="Ada"), user(text("b"), name="Ada L."), bot(text("c"), name="bot_1")],
        [
            {"role": "user", "content": "a", "name": "Ada"},
            {"role": "user", "content": "b"},
            {"role": "assistant", "content": "c", "name": "bot_1"},
        ],
        ["/1/name"],
    ),
    "data of the user": (
        [
            user(
                text("See"),
                data("image/png"),
                data("image/jpeg", "https://example.org/p.jpg"),
                data("audio/x-wav"),
                data("application/pdf", name="a.pdf"),
                {"type": "image", "source": {"type": "base64", "data": "AQI=", "media_type": "image/png"}},
            )
        ],
        [
            {
                "role": "user",
                "content": [
                    text("See"),
                    PNG,
                    {"type": "image_url", "image_url": {"url": "https://example.org/p.jpg"}},
                    {"type": "input_audio", "input_audio": {"data": "AQI=", "format": "wav"}},
                    {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AQI="}},
                    PNG,
                ],
            }
        ],
        [],
    ),
    "data without a part": (
        [user(text("See"), data("video/mp4"), data("audio/flac"), data("application/pdf", "https://example.org/a.pdf"))],
        [{"role": "user", "content": "See"}],
        ["/0/content/1", "/0/content/2", "/0/content/3"],
    ),
    "a part that no block holds, in a tool's message": (
        [bot(call("a"), {**result("a"), "x_openai": {"content": {"1": {"type": "file"}}}})],
        [{"role": "assistant", "content": None, "tool_calls": [asked("a")]}, answer("a")],
        ["/0/content/1/x_openai/content"],
    ),
    "a reply that ran tools": (
        [
            bot(
                text("Let me"),
                call("a"),
                call("b", '{"q":1}'),
                result("a"),
                result("b", [text("x", id="x"), text("y", id="y")]),
                text("Done"),
            )
        ],
        [
            {"role": "assistant", "content": "Let me", "tool_calls": [asked("a"), asked("b", '{"q":1}')]},
            answer("a"),
            answer("b", [text("x"), text("y")]),
            {"role": "assistant", "content": "Done"},
        ],
        [],
    ),
    "results in another order, and text between": (
        [bot(call("a"), call("b"), result("b", "2"), text("mid"), result("a", "1"))],
        [
            {"role": "assistant", "content": None, "tool_calls": [asked("a"), asked("b")]},
            answer("a", "1"),
            answer("b", "2"),
            {"role": "assistant", "content": "mid"},
        ],
        [],
    ),
    "one call after another": (
        [bot(call("a"), result("a"), call("b"), result("b"))],
        [
            {"role": "assistant", "content": None, "tool_calls": [asked("a")]},
            answer("a"),
            {"role": "assistant", "content": None, "tool_calls": [asked("b")]},
            answer("b"),
        ],
        [],
    ),
    "an id that comes again": (
        [bot(call("a", '{"n":1}'), call("a", '{"n":2}'), result("a", "1"), result("a", "2")), bot(call("a"), result("a", "3"))],
        [
            {"role": "assistant", "content": None, "tool_calls": [asked("a", '{"n":1}')]},
            answer("a", "1"),
            {"role": "assistant", "content": None, "tool_calls": [asked("a", '{"n":2}')]},
            answer("a", "2"),
            {"role": "assistant", "content": None, "tool_calls": [asked("a")]},
            answer("a", "3"),
        ],
        [],
    ),
    "a result in a message of its own": (
        [bot(call("a")), user(result("a", "late"), role="tool"), user(text("And?"))],
        [{"role": "assistant", "content": None, "tool_calls": [asked("a")]}, answer("a", "late"), {"role": "user", "content": "And?"}],
        [],
    ),
    "a call without a result, whose id another reply uses": (
        [bot(call("a")), bot(call("a"), result("a"))],
        [
            {"role": "assistant", "content": None, "tool_calls": [asked("a")]},
            answer("a", "no result"),
            {"role": "assistant", "content": None, "tool_calls": [asked("a")]},
            answer("a"),
        ],
        ["/0/content/0"],
    ),
    "results without calls": (
        [user(result("z", "alone"), role="tool"), bot(text("a"), result("y", [text("b", id="b"), data("image/png")]), text("c"))],
        [
            {"role": "user", "content": "alone"},
            {"role": "assistant", "content": "a"},
            {"role": "user", "content": [text("b"), PNG]},
            {"role": "assistant", "content": "c"},
        ],
        ["/0/content/0", "/1/content/1"],
    ),
    "a result that failed, with data": (
        [bot(call("a"), result("a", [text("oops", id="t"), data("image/png"), data("video/mp4")], "error"), text("Hm"))],
        [
            {"role": "assistant", "content": None, "tool_calls": [asked("a")]},
            answer("a", "oops"),
            {"role": "user", "content": [text("Data of the result of find (a):"), PNG]},
            {"role": "assistant", "content": "Hm"},
        ],
        ["/0/content/1/output/2", "/0/content/1/state"],
    ),
    "no arguments": (
        [bot(call("a", ""), result("a"))],
        [{"role": "assistant", "content": None, "tool_calls": [asked("a", "{}")]}, answer("a")],
        [],
    ),
    "a custom tool": (
        [bot(call("a", "", x_openai={"type": "custom"}), result("a"))],
        [
            {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "find", "input": ""}}]},
            answer("a"),
        ],
        [],
    ),
    "what a provider wants back with a call": (
        [bot(call("a", x_openai={"tool_call": {"extra_content": {"s": 1}, "function": {"strict": True}}}), result("a"))],
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "extra_content": {"s": 1},
                        "id": "a",
                        "type": "function",
                        "function": {"strict": True, "name": "find", "arguments": "{}"},
                    }
                ],
            },
            answer("a"),
        ],
        [],
    ),
    "thinking": (
        [
            bot(
                {"type": "thinking", "thinking": "one ", "x_openai": {"field": "reasoning_content"}},
                {"type": "thinking", "thinking": "two", "x_openai": {"field": "reasoning_content"}},
                {"type": "thinking", "thinking": "of another", "signature": "s"},
                {
                    "type": "thinking",
                    "thinking": "d",
                    "signature": "s",
                    "x_openai": {"reasoning_details": {"type": "reasoning.text", "index": 0}},
                },
                {"type": "thinking", "thinking": "sum", "x_openai": {"reasoning_details": {"type": "reasoning.summary"}}},
                {
                    "type": "thinking",
                    "thinking": "",
                    "redacted_thinking_data": "x",
                    "x_openai": {"reasoning_details": {"type": "reasoning.encrypted"}},
                },
                text("a"),
            )
        ],
        [
            {
                "role": "assistant",
                "content": "a",
                "reasoning_content": "one two",
                "reasoning_details": [
                    {"type": "reasoning.text", "index": 0, "text": "d", "signature": "s"},
                    {"type": "reasoning.summary", "summary": "sum"},
                    {"type": "reasoning.encrypted", "data": "x"},
                ],
            }
        ],
        ["/0/content/2"],
    ),
    "a refusal": (
        [bot(text("I won't", x_openai={"type": "refusal"}))],
        [{"role": "assistant", "content": None, "refusal": "I won't"}],
        [],
    ),
    "sound of the assistant": (
        [bot(text("Welcome", x_openai={"type": "transcript"}), data("audio/wav", x_openai={"audio": {"id": "au-1"}}))],
        [{"role": "assistant", "content": None, "audio": {"id": "au-1"}}],
        [],
    ),
    "a transcript alone": (
        [bot(text("Welcome", x_openai={"type": "transcript"}))],
        [{"role": "assistant", "content": "Welcome"}],
        [],
    ),
    "images of the assistant": (
        [bot(text("Here"), data("image/png", x_openai={"type": "image_url"})), bot(data("image/png")), bot(data("video/mp4"))],
        [{"role": "assistant", "content": "Here", "images": [PNG]}, {"role": "user", "content": [PNG]}],
        ["/1/content/0", "/2/content/0"],
    ),
    "hints": (
        [
            bot(
                text("a"),
                call("c"),
                {"type": "hint", "hint": "Mind the time"},
                result("c"),
                {"type": "hint", "hint": [text("b", id="b"), data("image/png"), data("video/mp4")]},
                {"type": "hint", "hint": []},
                text("z"),
            )
        ],
        [
            {"role": "assistant", "content": "a", "tool_calls": [asked("c")]},
            answer("c"),
            {"role": "user", "content": "Mind the time"},
            {"role": "user", "content": [text("b"), PNG]},
            {"role": "assistant", "content": "z"},
        ],
        ["/0/content/4/hint/2", "/0/content/5"],
    ),
    "messages that say nothing": ([user(), bot(), user(text("a"))], [{"role": "user", "content": "a"}], ["/0", "/1"]),
    "odd fields of a provider": (
        [bot(text("a", x_openai=7), {"type": "thinking", "thinking": "t", "x_openai": {"reasoning_details": [], "field": []}})],
        [{"role": "assistant", "content": "a"}],
        ["/0/content/1"],
    ),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_messages_are_written_as_the_provider_wants_them(name: str) -> None:
    """Roles, turns, results, media and thinking have their places in the request; what has none is reported at its place."""
    given_messages, wanted, lost = REQUESTS[name]
    given_messages = json.loads(json.dumps(given_messages))
    assert [found for message in given_messages for found in errors(message, MESSAGES[message["role"]])] == []
    assert requested(given_messages) == wanted
    assert DIALECT.write_messages is not None
    assert [loss.pointer for loss in DIALECT.write_messages(given_messages).losses] == lost


def test_every_loss_is_hit() -> None:
    """Each loss of the writer happens to some messages of these tests, at a place that its patterns name."""
    assert DIALECT.write_messages is not None
    hit: dict[str, set[str]] = {}
    for messages_given, _, _ in REQUESTS.values():
        for loss in DIALECT.write_messages(messages_given).losses:
            place = re.sub(r"/\d+", "/*", "/" + loss.pointer.removeprefix("/").partition("/")[2]).rstrip("/")
            hit.setdefault(loss.reason, set()).add(place)
    assert {reason: set(patterns) for reason, patterns in LOSSES.items()} == hit


# --- stored requests -----------------------------------------------------------------------------


def reread(said: list[Wire]) -> list[Wire]:
    """Read the messages of a request; they are valid messages of ours, and nothing of them is shared."""
    assert DIALECT.read_messages is not None
    before = json.dumps(said)
    read_back, losses = DIALECT.read_messages(said)
    assert losses == []
    assert [found for message in read_back for found in errors(message, MESSAGES[message["role"]])] == []
    for message in read_back:
        message["metadata"] = {**message.get("metadata", {}), "x": 1}
    assert json.dumps(said) == before
    return read_back


@given(st.lists(messages(), max_size=4))
def test_a_request_that_is_read_is_written_the_same(drawn: list[Wire]) -> None:
    """What is written of messages, read and written again is the same request."""
    said = requested(drawn)
    assert requested(reread(said)) == said


#: Messages of a request that ours hold, also where they need help.
STORED: list[Wire] = [
    {"role": "developer", "content": "Be brief."},
    {
        "role": "system",
        "content": [{"type": "text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}, {"type": "text", "text": "b"}],
    },
    {
        "role": "user",
        "name": "ada",
        "content": [
            {"type": "text", "text": "See"},
            {"type": "image_url", "image_url": {"url": "https://example.org/p.png", "detail": "low"}},
            {"type": "input_audio", "input_audio": {"data": "AQI=", "format": "mp3"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AQI="}},
            {"type": "file", "file": {"file_id": "file-1"}},
        ],
    },
    {"role": "user", "content": [{"type": "file", "file": {"file_id": "file-1"}}, {"type": "text", "text": ""}]},
    {"role": "user", "content": [text("a"), {"type": "file", "file": {"file_id": "file-2"}}, text("b")]},
    {
        "role": "assistant",
        "content": "Look",
        "reasoning_content": "hm",
        "tool_calls": [asked("a"), {**asked("b"), "extra_content": {"s": 1}}],
    },
    answer("a", [text("x"), text("y")]),
    answer("b", "z"),
    {
        "role": "assistant",
        "content": None,
        "refusal": "no",
        "reasoning_details": [{"type": "reasoning.text", "text": "a", "signature": "s"}, {"type": "reasoning.text", "text": "b"}],
    },
    {"role": "assistant", "content": None, "audio": {"id": "au-1"}},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "", "arguments": "{}"}}, asked("d", "no JSON")],
    },
    answer("c"),
    answer("d"),
    {"role": "user", "content": "And?"},
]


def test_a_stored_request_is_read() -> None:
    """The messages of a request are read as they stand, results with their calls, and come back the same."""
    read_back = reread(STORED)
    assert requested(read_back) == STORED
    assert [message["role"] for message in read_back] == ["system", "system", *["user"] * 3, *["assistant"] * 4, "user"]
    assert [block["type"] for block in read_back[5]["content"]] == [
        "thinking",
        "text",
        "tool_call",
        "tool_call",
        "tool_result",
        "tool_result",
    ]
    assert {block["state"] for block in read_back[5]["content"] if block["type"] == "tool_call"} == {"finished"}


def test_stored_requests_are_found_in_files() -> None:
    """A file of messages is recognised by its calls and results, read and checked."""
    checker = read("\n".join(json.dumps(message) for message in STORED).encode())
    assert len(checker.stored) == 10
    assert [finding for finding in checker.findings() if finding.severity is Severity.ERROR] == []
    assert [DIALECT.recognise(message) for message in STORED] == [*[False] * 5, *[True] * 3, False, False, *[True] * 3, False]


def test_a_function_of_the_time_before_tools_is_read() -> None:
    """function_call and the message of the function pair, and are written as tools."""
    said = [
        {"role": "assistant", "content": None, "function_call": {"name": "find", "arguments": "{}"}},
        {"role": "function", "name": "find", "content": "out"},
    ]
    assert requested(reread(said)) == [
        {"role": "assistant", "content": None, "tool_calls": [asked("call_function")]},
        answer("call_function"),
    ]


@pytest.mark.parametrize("value", [7, [7], [{"role": "bot"}], [{"role": "assistant", "content": 7}], {"messages": [None]}])
def test_what_is_no_message_is_refused(value: Any) -> None:
    """What is no message of a request is said to be none."""
    assert DIALECT.read_messages is not None
    with pytest.raises(Unfit):
        DIALECT.read_messages(value)


def read_or_refused(value: Any) -> list[Wire]:
    """Read messages; none when they are refused."""
    assert DIALECT.read_messages is not None
    try:
        return DIALECT.read_messages(value).value
    except Unfit as error:
        return [] if error.remark.rule in DIALECT.rules else [{}]


@given(
    st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(("system", "user", "assistant", "tool", "function"))},
            optional={
                "content": anything,
                "tool_call_id": anything,
                "name": anything,
                "tool_calls": anything,
                "audio": anything,
                "x": anything,
            },
        ),
        max_size=4,
    )
)
def test_any_json_is_read_as_messages_or_refused(drawn: list[Wire]) -> None:
    """Whatever stands in messages of a request, they are read to valid messages of ours or refused."""
    assert DIALECT.write_messages is not None
    read_back = read_or_refused(drawn)
    assert [found for message in read_back for found in errors(message, MESSAGES[message["role"]])] == []
    paired(DIALECT.write_messages(read_back).value)


# --- the page ------------------------------------------------------------------------------------

PAGE = (ROOT / "src/eventfold/dialects/openai_chat.md").read_text("utf-8")


def test_the_example_of_the_page_is_true() -> None:
    """The stream on the page folds to the message on the page."""
    stream, message = (found[1] for found in re.finditer(r"```(?:json)?\n(data: .*?|\{.*?)```", PAGE, re.DOTALL))
    [folded] = messages_of(stream.replace("\n", "\n\n").encode())
    wanted = json.loads(message)
    blocks = [
        {key: block[key] for key in shown_block if key != "..."}
        for block, shown_block in zip(folded["content"], wanted["content"], strict=True)
    ]
    assert {**folded, "content": blocks} == {
        **wanted,
        "content": [{k: v for k, v in block.items() if k != "..."} for block in wanted["content"]],
    }


def test_the_mapping_names_each_event_that_comes_out() -> None:
    """The table of the mapping has a row for each class of events that the decoder gives, and for no other."""
    named = {name for row in DIALECT.mapping if row.way == "in" for name in row.ours.split(", ")}
    given_classes = {type(event).__name__ for vector in VECTORS.values() for event in decoded(DIALECT, vector["values"])[0]}
    assert given_classes == named
