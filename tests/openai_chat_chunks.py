"""What the tests write chunks of OpenAI Chat Completions with."""

from __future__ import annotations

from typing import Any

Chunk = dict[str, Any]

#: How a reply stands at the end of its stream.
PARKED, COMPLETED, ERROR = "parked", "completed", "error"


def chunk(*choices: Any, **fields: Any) -> Chunk:
    """Write a chunk."""
    head = {"id": "chat-7", "object": "chat.completion.chunk", "created": 1_750_000_000, "model": "parrot-1"}
    return {**head, "choices": list(choices), **fields}


def says(finish_reason: str | None = None, *, at: int = 0, more: Chunk | None = None, **delta: Any) -> Chunk:
    """Write a chunk with one choice."""
    return chunk({"index": at, "delta": delta, "finish_reason": finish_reason, **(more or {})})


def calls(*entries: Chunk, finish_reason: str | None = None) -> Chunk:
    """Write a chunk with pieces of calls."""
    return says(finish_reason, tool_calls=list(entries))


def piece(index: int | None = 0, call_id: str | None = None, name: str | None = None, arguments: Any = None) -> Chunk:
    """Write a piece of a call; what is None is left out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    entry = {"index": index, "id": call_id, "type": "function" if call_id else None, "function": function}
    return {key: value for key, value in entry.items() if value is not None}


def spent(prompt: int, completion: int, **more: Any) -> Chunk:
    """Write a usage."""
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion, **more}


STOP = says("stop")
