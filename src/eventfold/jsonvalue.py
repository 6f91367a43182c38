"""JSON values as Python holds them: telling, copying, measuring. Imports nothing of ours."""

from __future__ import annotations

from typing import Any, TypeGuard


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Tell whether a JSON value is an object."""
    return isinstance(value, dict)


def object_of(value: Any) -> dict[str, Any]:
    """Give an object; an empty one for any other value."""
    return value if is_object(value) else {}


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """Tell whether a JSON value is an array."""
    return isinstance(value, list)


def copy_json(value: Any) -> Any:
    """Copy a JSON value, so that nobody's later change shows in the other."""
    if isinstance(value, str):
        return value
    if is_object(value):
        return copy_object(value)
    if is_array(value):
        return [copy_json(item) for item in value]
    return value


def copy_object(value: dict[str, Any]) -> dict[str, Any]:
    """Copy a JSON object. Most of what it holds is text, which needs no copy and so no call."""
    copy = value.copy()
    for key, item in value.items():
        if type(item) is not str:
            copy[key] = copy_json(item)
    return copy


def depth_of(value: Any) -> int:
    """Count how deep objects and arrays nest, without recursion."""
    deepest, todo = 0, [(value, 1)]
    while todo:
        node, depth = todo.pop()
        children = node.values() if is_object(node) else node if is_array(node) else None
        if children is not None:
            deepest = max(deepest, depth)
            todo.extend((child, depth + 1) for child in children)
    return deepest


def escape(key: str) -> str:
    """Write a key as a part of a JSON pointer (RFC 6901, section 3)."""
    return key.replace("~", "~0").replace("/", "~1")


def value_at(value: Any, pointer: str) -> Any:
    """Give what stands at a JSON pointer (RFC 6901, section 4); None where nothing does."""
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if is_object(value):
            value = value.get(key)
        else:
            value = value[int(key)] if is_array(value) and key.isdigit() and int(key) < len(value) else None
    return value


def shown(value: Any, longest: int = 60) -> str:
    """Write a value for a message, shortened: as JSON, but for a string, which is quoted so that nothing in it steers a terminal."""
    if isinstance(value, str):
        text = repr(value)
    else:
        import json  # noqa: PLC0415  takes time to import, and what is in order does not need it

        text = json.dumps(value, ensure_ascii=False, skipkeys=True, default=repr)
    return text if len(text) <= longest else text[:longest] + "..."
