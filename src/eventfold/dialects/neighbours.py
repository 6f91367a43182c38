"""
Streams that are known by sight and that no dialect reads: what they look like, and what to do instead.

Law: a neighbour is told by one value, and never by one that a dialect recognises; it is only asked when none does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.jsonvalue import is_object

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventfold.shape import Wire

_BEDROCK = frozenset({"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop"})
_REALTIME = ("session.", "conversation.item.", "input_audio_buffer.", "rate_limits.", "response.output_audio", "response.audio")


def _is_ollama(value: Wire) -> bool:
    return (
        isinstance(value.get("done"), bool)
        and isinstance(value.get("model"), str)
        and "created_at" in value
        and ("message" in value or "response" in value)
    )


def _is_realtime(value: Wire) -> bool:
    return isinstance(value.get("event_id"), str) and str(value.get("type")).startswith(_REALTIME)


def _is_full_stream(value: Wire) -> bool:
    return (
        str(value.get("type")) in {"text-delta", "reasoning-delta"} and "delta" not in value and ("text" in value or "textDelta" in value)
    )


def _is_cohere(value: Wire) -> bool:
    delta = value.get("delta")
    return (
        str(value.get("type")) in {"message-start", "content-delta", "tool-call-start"}
        and is_object(delta)
        and is_object(delta.get("message"))
    )


#: What it looks like, with what to do; and how it is told.
_NEIGHBOURS: dict[str, Callable[[Wire], bool]] = {
    "Ollama's own stream, which no dialect reads; its /v1/chat/completions is openai_chat": _is_ollama,
    "OpenAI's text completions, which no dialect reads; chat completions are openai_chat": (
        lambda value: value.get("object") == "text_completion"
    ),
    "OpenAI's Assistants, which no dialect reads; Responses are openai_responses": (
        lambda value: str(value.get("object")).startswith("thread.")
    ),
    "OpenAI's Realtime events, which no dialect reads; Responses are openai_responses": _is_realtime,
    "the AI SDK's fullStream, which no dialect reads; its UI message stream is vercel": _is_full_stream,
    "Amazon Bedrock's ConverseStream, which no dialect reads; Anthropic's own events, from InvokeModel, are anthropic": (
        lambda value: len(value) == 1 and not _BEDROCK.isdisjoint(value)
    ),
    "Cohere's chat stream, which no dialect reads; its compatibility API is openai_chat": _is_cohere,
}


def neighbour(value: Any) -> str:
    """Say what a value looks like that no dialect reads; empty when that is nothing that is known."""
    return next((said for said, told in _NEIGHBOURS.items() if told(value)), "") if is_object(value) else ""
