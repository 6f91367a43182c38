"""What the tests write chunks of UI message streams with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from support import Wire

START: Wire = {"type": "start", "messageId": "m"}
STEP: Wire = {"type": "start-step"}
STEPPED: Wire = {"type": "finish-step"}
FINISH: Wire = {"type": "finish", "finishReason": "stop"}


def text(name: str, *deltas: str, kind: str = "text", **fields: Any) -> list[Wire]:
    """Write a part of text or reasoning."""
    pieces = [{"type": f"{kind}-delta", "id": name, "delta": delta} for delta in deltas]
    return [{"type": f"{kind}-start", "id": name}, *pieces, {"type": f"{kind}-end", "id": name, **fields}]


def call(name: str, value: Any, *deltas: str, tool: str = "f", **fields: Any) -> list[Wire]:
    """Write the input of a tool."""
    head = {"toolCallId": name, "toolName": tool, **fields}
    pieces = [{"type": "tool-input-delta", "toolCallId": name, "inputTextDelta": delta} for delta in deltas]
    return [*([{"type": "tool-input-start", **head}, *pieces] if deltas else []), {"type": "tool-input-available", **head, "input": value}]


def output(name: str, value: Any, **fields: Any) -> Wire:
    """Write the output of a tool."""
    return {"type": "tool-output-available", "toolCallId": name, "output": value, **fields}
