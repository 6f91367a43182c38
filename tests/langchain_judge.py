"""
LangChain as a judge: its own models over recorded provider streams, without network, and its own ways to add chunks up.

Gives streams in each of its forms, and what LangChain makes of them.
"""

from __future__ import annotations

import functools
import json
import operator
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx2
from langchain_core.language_models.chat_model_stream import ChatModelStream
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, message_chunk_to_message
from langchain_openai import ChatOpenAI
from support import ROOT

from eventfold.jsonvalue import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from support import Wire

#: Streams recorded by others, beside the project; absent elsewhere.
SHARED = ROOT.parent / "shared/recordings"


def recordings(*formats: str) -> list[Path]:
    """List the recordings of formats."""
    return [path for name in formats for path in sorted((SHARED / name).glob("*.*"))]


class Judged(NamedTuple):
    """What LangChain makes of a stream: the chunks that it gives, and the message that they add up to."""

    chunks: list[AIMessageChunk]
    message: AIMessage | None
    fault: str  #: what it raised


def body(path: Path) -> bytes:
    """Write a recording as the provider sent it."""
    raw = path.read_bytes()
    if path.suffix == ".sse":
        return raw
    lines = [line for line in raw.splitlines() if line.strip()]
    if path.parent.name == "openai_chat":
        return b"".join(b"data: " + line + b"\n\n" for line in lines) + b"data: [DONE]\n\n"
    return b"".join(b"event: " + json.loads(line)["type"].encode() + b"\ndata: " + line + b"\n\n" for line in lines)


def model(path: Path) -> Any:
    """Make LangChain's model of a provider, which reads the recording."""
    data = body(path)

    def answer(_: Any) -> Any:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=data)

    client = httpx2.Client(transport=httpx2.MockTransport(answer))
    if path.parent.name.startswith("openai"):
        responses = path.parent.name == "openai_responses"
        return ChatOpenAI(model="m", api_key="k", stream_usage=True, use_responses_api=responses, http_client=client, max_retries=0)  # pyright: ignore[reportArgumentType]  a plain key will do
    import anthropic  # noqa: PLC0415  slow to load
    from langchain_anthropic import ChatAnthropic  # noqa: PLC0415  as above

    made = ChatAnthropic(model="m", api_key="k", max_retries=0)  # pyright: ignore[reportCallIssue,reportArgumentType] its aliases
    vars(made)["_client"] = anthropic.Anthropic(api_key="k", max_retries=0, http_client=client)
    return made


@cache
def judged(path: Path) -> Judged:
    """Read a recording with LangChain's own model."""
    got: list[Any] = []
    fault = ""
    try:
        with warnings.catch_warnings(action="ignore"):  # its own, about its own
            got.extend(model(path).stream("hi"))
    except Exception as error:  # noqa: BLE001  whatever it raises is its verdict
        fault = f"{type(error).__name__}: {error}"
    return Judged(got, *added(got, fault))


def added(chunks: list[Any], fault: str = "") -> tuple[AIMessage | None, str]:
    """Add chunks up as LangChain does."""
    if not chunks:
        return None, fault
    try:
        total: Any = message_chunk_to_message(functools.reduce(operator.add, chunks))
    except Exception as error:  # noqa: BLE001  whatever it raises is its verdict
        return None, f"{type(error).__name__}: {error}"
    return total, fault


@cache
def protocol_of(path: Path) -> tuple[list[Wire], str]:
    """Give a recording in events of the content-block protocol, as stream_events v3 gives them."""
    got: list[Any] = []
    try:
        with warnings.catch_warnings(action="ignore"):
            got.extend(model(path).stream_events("hi", version="v3"))
    except Exception as error:  # noqa: BLE001  whatever it raises is its verdict
        return plain(got), f"{type(error).__name__}: {error}"
    return plain(got), ""


def dispatched(events: Iterable[Wire]) -> AIMessage | None:
    """Give the message that LangChain makes of events of the protocol."""
    stream = ChatModelStream()
    for event in events:
        stream.dispatch(event)
    return stream.output_message


def plain(value: Any) -> Any:
    """Write a value of LangChain's as JSON holds it."""
    return json.loads(json.dumps(value, default=lambda item: item.model_dump() if isinstance(item, BaseMessage) else str(item)))


class Told(NamedTuple):
    """What can be said of an answer in any form: text, reasoning, calls (id, name, arguments), signatures."""

    text: str
    reasoning: str
    calls: list[tuple[str, str, Any]]


def told_by_langchain(message: AIMessage) -> Told:
    """Tell what LangChain's message says, in its own normal form."""
    blocks = [block for block in message.content_blocks if is_object(block)]
    # Its normal form leaves strings among other parts out; its text has them.
    text = str(message.text) + "".join(block.get("refusal", "") for block in blocks if block["type"] == "refusal")
    thought = "".join(block.get("reasoning", "") for block in blocks if block["type"] == "reasoning")
    calls = [(call["id"] or "", call["name"], call["args"]) for call in message.tool_calls]
    calls += [(call["id"] or "", call["name"] or "", call["args"]) for call in message.invalid_tool_calls]
    return Told(text, thought, sorted(calls, key=str))


def told_by_us(message: Wire) -> Told:
    """Tell what our message says. Calls of the provider's own tools are left out, as LangChain does."""
    blocks = message["content"]
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    thought = "".join(block["thinking"] for block in blocks if block["type"] == "thinking")
    calls = [
        (block["id"], block["name"], parsed(block["input"]))
        for block in blocks
        if block["type"] == "tool_call" and not str(block.get("x_langchain", {}).get("type", "")).startswith(SERVERS)
    ]
    return Told(text, thought, sorted(calls, key=str))


SERVERS = ("server_tool", "mcp_", "web_search", "file_search", "code_interpreter")


def parsed(text: str) -> Any:
    """Read arguments; what is no JSON object stays text."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return text
    return value if is_object(value) else text


def usage_of(message: AIMessage | None) -> tuple[int, int, int, int] | None:
    """Give LangChain's usage in our order: input, output, read from the cache, written to it."""
    usage: Any = message.usage_metadata if message is not None else None
    if not usage:
        return None
    details: Any = usage.get("input_token_details") or {}
    return usage["input_tokens"], usage["output_tokens"], details.get("cache_read") or 0, details.get("cache_creation") or 0


def our_usage(message: Wire) -> tuple[int, int, int, int]:
    """Give our usage in the same order."""
    usage = message["usage"]
    return tuple(usage.get(name, 0) for name in ("input_tokens", "output_tokens", "cache_input_tokens", "cache_creation_input_tokens"))


def texts_in(value: Any) -> list[str]:
    """List the strings in a JSON value."""
    if isinstance(value, str):
        return [value]
    items = value.values() if is_object(value) else value if is_array(value) else ()
    return [text for item in items for text in texts_in(item)]
