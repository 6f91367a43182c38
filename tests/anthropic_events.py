"""What the tests write events and blocks of Anthropic with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from support import Wire


def start(**fields: Any) -> Wire:
    """Begin a message."""
    usage = {"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 3}
    message: Wire = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [], "usage": usage, **fields}
    return {"type": "message_start", "message": {key: value for key, value in message.items() if value is not None}}


def begin(index: int, kind: str, **fields: Any) -> Wire:
    """Begin a block, with what a block of the type begins with."""
    usual: dict[str, Wire] = {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": {"id": f"t{index}", "name": "f", "input": {}},
        "server_tool_use": {"id": f"s{index}", "name": "web_search", "input": {}},
    }
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **usual.get(kind, {}), **fields}}


def text(index: int, piece: Any) -> Wire:
    """Go on with text."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": piece}}


def think(index: int, piece: str) -> Wire:
    """Go on with thinking."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": "thinking_delta", "thinking": piece}}


def sign(index: int, signature: str) -> Wire:
    """Sign thinking."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": "signature_delta", "signature": signature}}


def args(index: int, piece: str) -> Wire:
    """Go on with arguments."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": piece}}


def stop(index: int) -> Wire:
    """Stop a block."""
    return {"type": "content_block_stop", "index": index}


def reason(why: str | None = "end_turn", **usage: Any) -> Wire:
    """Say why the message ends, and what it cost."""
    return {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}, "usage": {"output_tokens": 7, **usage}}


END = {"type": "message_stop"}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
WHOLE = {**start(content=[{"type": "text", "text": "hi"}, {"type": "tool_use", "id": "t", "name": "f", "input": {}}])["message"]}


def said(kind: str, text_: str = "", **fields: Any) -> Wire:
    """Write a block as Anthropic's SDK has it."""
    usual: dict[str, Wire] = {
        "text": {"text": text_},
        "thinking": {"thinking": text_, "signature": ""},
        "tool_use": {"id": "t0", "name": "f", "input": {}},
    }
    return {"type": kind, **usual.get(kind, {}), **fields}
