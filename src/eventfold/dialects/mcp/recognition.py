"""
What is surely MCP.

Law: never an event or message of ours, and nothing that another protocol could have said: A2A speaks JSON-RPC, too, and messages that
hold text alone look the same everywhere.
"""

from __future__ import annotations

from typing import Any

from eventfold.dialects.translation import NAMESPACE
from eventfold.jsonvalue import is_array, is_object, object_of

from .shapes import CONTENT_TYPES, INLINE, META, NOTIFICATIONS, REQUESTS, SPEAKERS

#: Methods that other protocols have, too, and the parameter that tells MCP's.
_SHARED = {"tasks/get": "taskId", "tasks/cancel": "taskId"}


def is_call_result(value: Any) -> bool:
    """Tell whether a value is surely the result of a tools/call."""
    if not is_object(value) or "role" in value or "type" in value or not is_array(value.get("content")):
        return False
    if not any(key in value for key in ("isError", "resultType", "structuredContent", META)):
        return False
    return all(is_object(block) and block.get("type") in CONTENT_TYPES for block in value["content"])


#: Fields that tell results of MCP: any whole row.
_RESULTS = (
    ("protocolVersion", "capabilities", "serverInfo"),
    ("supportedVersions", "capabilities"),
    ("tools", "resultType"),
    ("resultType", "inputRequests"),
    ("resultType", "requestState"),
)


def is_message(value: Any) -> bool:
    """Tell whether a value is surely a JSON-RPC message of MCP. A2A speaks JSON-RPC, too, with methods and results of its own."""
    if not is_object(value) or value.get("jsonrpc") != "2.0":
        return False
    method = value.get("method")
    if isinstance(method, str):
        params = value.get("params")
        tells = _SHARED.get(method)
        return (method in REQUESTS or method in NOTIFICATIONS) and (tells is None or (is_object(params) and tells in params))
    result = value.get("result")
    if not is_object(result):
        return False
    return is_call_result(result) or any(all(key in result for key in row) for row in _RESULTS)


def is_sampling(value: Any) -> bool:
    """Tell whether a value is surely a message of MCP's sampling. Other protocols have messages that look alike until MCP's names occur."""
    if not is_object(value) or value.get("role") not in SPEAKERS or "created_at" in value:
        return False
    content = value.get("content")
    blocks = content if is_array(content) else [content]
    if "stopReason" in value and isinstance(value.get("model"), str):
        return bool(blocks) and all(is_object(block) and "type" in block for block in blocks)
    return any(
        is_object(block)
        and (
            (block.get("type") in INLINE and "mimeType" in block and "data" in block)
            or (block.get("type") == "tool_result" and "toolUseId" in block)
            or NAMESPACE in object_of(block.get(META))
        )
        for block in blocks
    ) or (is_array(content) and NAMESPACE in object_of(value.get(META)))


def recognise(value: Any) -> bool:
    """Tell whether a value is surely MCP: a JSON-RPC message of it, the result of a tool, or a message of its sampling."""
    if is_array(value):
        return bool(value) and all(is_message(item) for item in value)
    return is_message(value) or is_call_result(value) or is_sampling(value)
