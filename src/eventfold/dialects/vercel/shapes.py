"""
The chunks of a UI message stream: their types and fields, as the AI SDK's uiMessageChunkSchema has them.

Law: a chunk of a known type is refused here exactly when that schema refuses it. Fields that it does not name are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.translation import UNFIT, Unfit
from eventfold.jsonvalue import is_object

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventfold.shape import Wire


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _any(value: Any) -> bool:
    del value
    return True


def _provider(value: Any) -> bool:
    return is_object(value) and all(is_object(item) for item in value.values())


def _encoding(value: Any) -> bool:
    return value in {"json", "text"} if isinstance(value, str) else False


def _reason(value: Any) -> bool:
    known = {"stop", "length", "content-filter", "tool-calls", "error", "other", "interrupted"}
    return isinstance(value, str) and value in known


_TOOL: dict[str, Callable[[Any], bool]] = {
    "providerExecuted": _flag,
    "providerMetadata": _provider,
    "toolMetadata": is_object,
    "dynamic": _flag,
    "title": _text,
}
_META: dict[str, Callable[[Any], bool]] = {"providerMetadata": _provider}

#: Fields that a type of chunk must have, and those that it may have.
CHUNKS: dict[str, tuple[dict[str, Callable[[Any], bool]], dict[str, Callable[[Any], bool]]]] = {
    "start": ({}, {"messageId": _text, "messageMetadata": _any}),
    "finish": ({}, {"finishReason": _reason, "messageMetadata": _any}),
    "abort": ({}, {"reason": _text}),
    "error": ({"errorText": _text}, {}),
    "message-metadata": ({"messageMetadata": _any}, {}),
    "start-step": ({}, {}),
    "finish-step": ({}, {}),
    "text-start": ({"id": _text}, _META),
    "text-delta": ({"id": _text, "delta": _text}, _META),
    "text-end": ({"id": _text}, _META),
    "reasoning-start": ({"id": _text}, _META),
    "reasoning-delta": ({"id": _text, "delta": _text}, _META),
    "reasoning-end": ({"id": _text}, _META),
    "tool-input-start": ({"toolCallId": _text, "toolName": _text}, {**_TOOL, "inputEncoding": _encoding}),
    "tool-input-delta": ({"toolCallId": _text, "inputTextDelta": _text}, {}),
    "tool-input-available": ({"toolCallId": _text, "toolName": _text, "input": _any}, _TOOL),
    "tool-input-error": ({"toolCallId": _text, "toolName": _text, "input": _any, "errorText": _text}, _TOOL),
    "tool-approval-request": ({"approvalId": _text, "toolCallId": _text}, {"signature": _text}),
    "tool-output-available": ({"toolCallId": _text, "output": _any}, {**_TOOL, "title": _any, "preliminary": _flag}),
    "tool-output-error": ({"toolCallId": _text, "errorText": _text}, {**_TOOL, "title": _any}),
    "tool-output-denied": ({"toolCallId": _text}, {}),
    "source-url": ({"sourceId": _text, "url": _text}, {"title": _text, **_META}),
    "source-document": ({"sourceId": _text, "mediaType": _text, "title": _text}, {"filename": _text, **_META}),
    "file": ({"url": _text, "mediaType": _text}, _META),
}
#: Chunks of version 7 that have a meaning here.
LATER: dict[str, tuple[dict[str, Callable[[Any], bool]], dict[str, Callable[[Any], bool]]]] = {
    "tool-approval-response": ({"approvalId": _text, "approved": _flag}, {"reason": _text}),
    "reasoning-file": ({"url": _text, "mediaType": _text}, _META),
}
_DATA: tuple[dict[str, Callable[[Any], bool]], dict[str, Callable[[Any], bool]]] = ({"data": _any}, {"id": _text, "transient": _flag})


def check(chunk: Wire, kind: str) -> bool:
    """Hold a chunk against its type. Tells whether the type is known. Raises Unfit."""
    fields = _DATA if kind.startswith("data-") else CHUNKS.get(kind, LATER.get(kind))
    if fields is None:
        return False
    needed, allowed = fields
    for name, fits in needed.items():
        if name not in chunk or not fits(chunk[name]):
            raise Unfit(UNFIT, f"{kind} needs {name}; it is {chunk.get(name)!r:.60}", f"/{name}")
    for name, fits in allowed.items():
        if name in chunk and not fits(chunk[name]):
            raise Unfit(UNFIT, f"{name} of {kind} is {chunk[name]!r:.60}", f"/{name}")
    return True
