"""
Frames of the Agent Protocol (`GET /tasks/{id}/events`): what carries an event, and the older ones that only tell of it.

A frame with a payload holds the event as JSON text. One without was written by an older server, or at a coarser level of detail.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.jsonvalue import copy_json, is_array, is_object

from .columns import tag_of
from .scalars import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

#: Kinds of frames, and the event that each stands for when it has no payload; those without are kept as they are.
KINDS = {
    "RUN_STARTED": "AGENT_START",
    "RUN_FINISHED": "AGENT_END",
    "RUN_ERROR": "",
    "TEXT_DELTA": tag_of(structs.TextBlockDeltaEvent),
    "THINKING_DELTA": tag_of(structs.ThinkingBlockDeltaEvent),
    tag_of(structs.ToolCallStartEvent): tag_of(structs.ToolCallStartEvent),
    tag_of(structs.ToolCallEndEvent): tag_of(structs.ToolCallEndEvent),
    "TOOL_RESULT": tag_of(structs.ToolResultEndEvent),
    "REQUIRE_CONFIRM": tag_of(structs.RequireUserConfirmEvent),
    "STATUS": "",
    "AGENT_EVENT": "",
}
_BLOCKS = {"TEXT_DELTA": "text", "THINKING_DELTA": "thinking"}


def is_frame(value: Any) -> bool:
    """Tell whether a value is a frame."""
    return is_object(value) and isinstance(value.get("seq"), int) and _text(value.get("type")) in KINDS and "createdAt" not in value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def events_of(frame: Wire) -> Iterator[tuple[str, Wire]]:
    """Give what a frame without payload tells that no event says, by name."""
    if not KINDS[frame["type"]]:
        yield f"frame.{frame['type'].lower()}", copy_json(frame)


def legacy(frame: Wire) -> Iterator[Wire]:
    """Give the events that a frame without payload stands for, as a Java client makes them: without reply and block ids."""
    kind, task = frame["type"], frame.get("taskId")
    if not KINDS[kind]:
        return
    head: Wire = {"type": KINDS[kind]}
    if "timestamp" in frame:
        head["createdAt"] = frame["timestamp"]
    called = {**head, "replyId": "", "toolCallId": frame.get("toolCallId"), "toolCallName": frame.get("toolName")}
    if kind in _BLOCKS:
        yield {**head, "replyId": "", "blockId": _BLOCKS[kind], "delta": frame.get("text")}
    elif kind == tag_of(structs.ToolCallEndEvent):
        given = frame.get("toolInput")
        if given is not None:
            delta = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
            yield {**called, "type": tag_of(structs.ToolCallDeltaEvent), "delta": delta}
        yield called
    elif kind == "TOOL_RESULT":
        yield {**called, "type": tag_of(structs.ToolResultStartEvent)}
        if isinstance(frame.get("text"), str):
            yield {**called, "type": tag_of(structs.ToolResultTextDeltaEvent), "delta": frame["text"]}
        status = str(frame.get("status", "")).lower()
        yield {**called, "state": status if status in {"success", "error", "denied", "interrupted", "running"} else "success"}
    elif kind == "REQUIRE_CONFIRM":
        pending = frame.get("pendingConfirms")
        calls = [_asked(item) for item in pending if is_object(item)] if is_array(pending) else []
        yield {**head, "replyId": "", "toolCalls": calls}
    elif kind in {"RUN_STARTED", "RUN_FINISHED"}:
        yield {**head, "replyId": task, "name": frame.get("agentId")}
    else:
        yield called


def _asked(item: Wire) -> Wire:
    text = item.get("toolInputJson")
    given = parsed(text) if isinstance(text, str) else None
    return {
        "type": "tool_use",
        "id": item.get("toolCallId"),
        "name": item.get("toolName"),
        "input": given or {},
        "content": text,
        "state": "asking",
    }
