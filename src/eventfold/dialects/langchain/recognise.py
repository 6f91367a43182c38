"""What is surely LangChain's or LangGraph's, seen from one value."""

from __future__ import annotations

from typing import Any

from eventfold.jsonvalue import is_array, is_object

from .chunks import TYPES, message_of
from .decoder import MODES
from .runs import RUN_EVENTS

_METHODS = frozenset({"lifecycle", "messages", "tools", "values", "updates", "checkpoints", "custom", "tasks", "input.requested"})
#: Fields that LangChain's own messages have.
_OWN = ("additional_kwargs", "response_metadata", "tool_call_chunks", "tool_call_id", "example", "usage_metadata", "invalid_tool_calls")


def recognise(value: Any) -> bool:
    """Tell whether a value is one of LangChain's streams, or one of its messages."""
    if is_array(value):
        return _is_list(value)
    if not is_object(value):
        return False
    event, kind = value.get("event"), value.get("type")
    if isinstance(event, str) and event in RUN_EVENTS:
        return isinstance(value.get("run_id"), str) and is_object(value.get("data"))
    if event == "message-start":
        return kind is None and isinstance(value.get("id"), str) and ("role" in value or "metadata" in value)
    if isinstance(event, str) and event.startswith("content-block-"):
        return kind is None and isinstance(value.get("index"), int) and any(is_object(value.get(key)) for key in ("content", "delta"))
    if kind == "event":
        params = value.get("params")
        return value.get("method") in _METHODS and is_object(params) and is_array(params.get("namespace")) and "data" in params
    return _is_message(value)


def _is_message(value: Any) -> bool:
    message = message_of(value)
    if message is None:
        return False
    if set(value) == {"type", "data"} or value.get("lc") == 1:
        return True
    return "role" not in value and value.get("type") in TYPES and any(name in message for name in _OWN)


def _is_list(value: list[Any]) -> bool:
    if len(value) == 3 and is_array(value[0]) and isinstance(value[1], str):
        value = value[1:]
    if len(value) != 2:
        return False
    first, second = value
    if is_object(first):
        return _is_message(first) and is_object(second) and ("langgraph_node" in second or "langgraph_step" in second)
    return (
        isinstance(first, str) and first in MODES and (_is_list(second) if is_array(second) else first == "updates" and is_object(second))
    )
