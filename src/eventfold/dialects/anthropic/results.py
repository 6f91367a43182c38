"""
Results of the tools that Anthropic runs: as text to read, and back.

Law: what `reading` makes of a result block, `writing` makes a result block of again, the same.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from eventfold.jsonvalue import copy_json, is_array, is_object

if TYPE_CHECKING:
    from eventfold.shape import Wire


def reading(block: Wire) -> tuple[str, str, Wire]:
    """Give a result's output, its state, and the fields that the output does not say."""
    rest = {key: copy_json(value) for key, value in block.items() if key not in {"tool_use_id", "content"}}
    content = block.get("content")
    output = _text_of(content)
    if "content" in block and (not output or _content_of(block["type"], output) != content):
        rest["content"] = copy_json(content)
    failed = block.get("is_error") is True or (is_object(content) and str(content.get("type")).endswith("_error"))
    return output, "error" if failed else "success", rest


def writing(call_id: str, output: str, rest: Wire) -> Wire | None:
    """Make a result block of an output and of the fields besides; None when the output says nothing that Anthropic would read."""
    kind: str = rest["type"]
    fields = {key: copy_json(value) for key, value in rest.items() if key not in {"content", "before"}}
    if "content" in rest:
        return {**fields, "tool_use_id": call_id, "content": copy_json(rest["content"])}
    if not output:
        return {**fields, "tool_use_id": call_id}
    content = _content_of(kind, output)
    return None if content is None else {**fields, "tool_use_id": call_id, "content": content}


def _text_of(content: Any) -> str:
    """Give the text of a result: what it says, or its JSON."""
    if isinstance(content, str):
        return content
    if is_array(content) and content and all(is_object(part) and part.get("type") == "text" for part in content):
        return "\n".join(str(part.get("text")) for part in content)
    return "" if content is None else json.dumps(content, ensure_ascii=False)


def _content_of(kind: str, output: str) -> Any:
    """Give the content that an output stands for, if it is the usual one: None when it is not."""
    if kind == "mcp_tool_result":
        return [{"type": "text", "text": output}]
    try:
        return json.loads(output)
    except (ValueError, RecursionError):
        return None
