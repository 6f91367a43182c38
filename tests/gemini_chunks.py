"""What the tests write chunks of Gemini with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from support import Wire

SIGNATURE = "c2lnbmF0dXJl"


def chunk(*parts: Any, finish: str | None = None, index: int = 0, **fields: Any) -> Wire:
    """Write a chunk."""
    candidate = {"content": {"parts": [*parts], "role": "model"}, "index": index, **({"finishReason": finish} if finish else {})}
    head = {"candidates": [candidate], "modelVersion": "gemini", "responseId": "r", **fields}
    return {key: value for key, value in head.items() if value is not None}


def call(*pieces: Wire, more: bool | None = None, signature: str | None = None, **fields: Any) -> Wire:
    """Write a part that calls, or goes on with a call."""
    said = {**fields, **({"partialArgs": [*pieces]} if pieces else {}), **({"willContinue": more} if more is not None else {})}
    return {"functionCall": said, **({"thoughtSignature": signature} if signature else {})}


def usage(prompt: int, candidates: int | None = None, thoughts: int | None = None, **more: Any) -> Wire:
    """Write usage so far."""
    counts = {"promptTokenCount": prompt, "candidatesTokenCount": candidates, "thoughtsTokenCount": thoughts, **more}
    return {"usageMetadata": {key: value for key, value in counts.items() if value is not None}}


def text(piece: str, **fields: Any) -> Wire:
    """Write text."""
    return {"text": piece, **fields}


def string(path: str, value: str, *, more: bool = False) -> Wire:
    """Write a piece of arguments."""
    return {"jsonPath": path, "stringValue": value, **({"willContinue": True} if more else {})}


CODE: Wire = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
OUTPUT: Wire = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}}
FUNCTION: Wire = {"name": "f", "args": {}}
