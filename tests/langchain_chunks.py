"""What the tests write chunks and events of LangChain with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from support import Wire


def ai(content: Any = "", *pieces: Wire, **fields: Any) -> Wire:
    """Write a chunk."""
    return {
        "type": "AIMessageChunk",
        "content": content,
        "additional_kwargs": {},
        "response_metadata": {},
        "id": "lc_run--1",
        "tool_call_chunks": [
            {"type": "tool_call_chunk", "name": None, "args": None, "id": None, "index": None, **piece} for piece in pieces
        ],
        **fields,
    }


def meta(step: int = 1, **fields: Any) -> Wire:
    """Write the metadata of a chunk of a graph."""
    return {"langgraph_step": step, "langgraph_node": "agent", "langgraph_checkpoint_ns": f"agent:{step}", **fields}


def block(index: int, kind: str, **fields: Any) -> Wire:
    """Write an event of a block."""
    return {"event": f"content-block-{kind}", "index": index, **fields}


LAST = ai(chunk_position="last")
TOOL = {"type": "tool", "content": "out", "tool_call_id": "a", "name": "f", "status": "success"}
CALLING = ai("", {"index": 0, "id": "a", "name": "f", "args": "{}"})
END = {"chunk_position": "last"}
START = {"event": "message-start", "role": "ai", "id": "m"}
