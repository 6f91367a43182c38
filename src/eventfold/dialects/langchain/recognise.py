"""What is surely LangChain's or LangGraph's, seen from one value."""

from __future__ import annotations

from typing import Any

from eventfold.jsonvalue import is_array, is_object

from .chunks import message_of
from .graph import MODES, item_of
from .runs import RUN_EVENTS
from .states import is_state, messages_in

_METHODS = frozenset({"lifecycle", "messages", "tools", "values", "updates", "checkpoints", "custom", "tasks", "input.requested"})
#: Fields that LangChain's own messages have.
_OWN = ("additional_kwargs", "response_metadata", "tool_call_chunks", "tool_call_id", "example", "usage_metadata", "invalid_tool_calls")


def recognise(value: Any) -> bool:
    """Tell whether a value is one of LangChain's streams, or one of its messages."""
    if is_array(value):
        return _is_graph(value)
    if not is_object(value):
        return False
    if isinstance(value.get("event"), str):
        return _is_event(value, value["event"])
    if value.get("type") == "event":
        params = value.get("params")
        return str(value.get("method")) in _METHODS and is_object(params) and is_array(params.get("namespace")) and "data" in params
    return _is_message(value) or (is_state(value) and any(map(_is_own, _messages_of(value))))


def _is_event(value: dict[str, Any], event: str) -> bool:
    if event in RUN_EVENTS:
        return isinstance(value.get("run_id"), str) and is_object(value.get("data"))
    if event == "message-start":
        return "type" not in value and isinstance(value.get("id"), str) and ("role" in value or "metadata" in value)
    parts = (value.get("content"), value.get("delta"), value.get("content_block"))
    return event.startswith("content-block-") and isinstance(value.get("index"), int) and any(is_object(part) for part in parts)


def _messages_of(state: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the messages of a state, or of what nodes changed of it."""
    return messages_in(state) or [message for change in state.values() for message in messages_in(change)]


def _is_message(value: Any) -> bool:
    message = message_of(value)
    if message is None or not is_object(value):
        return False
    if set(value) == {"type", "data"} or value.get("lc") == 1:
        return True
    return "role" not in value and _is_own(message)


def _is_own(message: dict[str, Any]) -> bool:
    return any(name in message for name in _OWN)


def _is_graph(value: list[Any]) -> bool:
    """Tell a mode with its payload, of messages with metadata or of updates; and messages as far as they are."""
    item = item_of(value)
    if item is None or item.mode not in MODES:
        return bool(value) and all(_is_message(part) for part in value)
    pair = item.payload
    if is_object(pair):
        return item.mode == "updates"
    metadata = pair[1] if is_array(pair) and len(pair) > 1 else None
    known = is_object(metadata) and ("langgraph_node" in metadata or "langgraph_step" in metadata)
    return item.mode.startswith("messages") and known and _is_message(pair[0])
