"""
The names of Google's SDK for Python, which dumps snake_case, in the camelCase of the service.

Law: only names of the protocol are turned, and only where the protocol has them. What is free of form, such as the arguments of
a call, is never looked into; nor is what is only kept, such as grounding.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from eventfold.jsonvalue import is_array, is_object

if TYPE_CHECKING:
    from eventfold.shape import Wire

_TOKENS = ("prompt", "cache", "candidates", "toolUsePrompt")
_DETAILS = tuple(f"{what}TokensDetails" for what in _TOKENS)
#: The names of two words by where they stand. What stands below a name that is no key here is left as it is.
_NAMES: dict[str, tuple[str, ...]] = {
    "": ("usageMetadata", "promptFeedback", "modelVersion", "responseId", "createTime", "modelStatus"),
    "candidates": (
        "finishReason",
        "finishMessage",
        "safetyRatings",
        "citationMetadata",
        "groundingMetadata",
        "urlContextMetadata",
        "tokenCount",
        "avgLogprobs",
        "logprobsResult",
        "continuationToken",
    ),
    "content": (),
    "parts": (
        "thoughtSignature",
        "functionCall",
        "functionResponse",
        "executableCode",
        "codeExecutionResult",
        "toolCall",
        "toolResponse",
        "inlineData",
        "fileData",
        "videoMetadata",
        "mediaResolution",
        "partMetadata",
    ),
    "functionCall": ("partialArgs", "willContinue"),
    "partialArgs": ("jsonPath", "stringValue", "numberValue", "boolValue", "nullValue", "willContinue"),
    "functionResponse": ("willContinue",),
    "toolCall": ("toolType",),
    "toolResponse": ("toolType",),
    "inlineData": ("mimeType", "displayName"),
    "fileData": ("mimeType", "displayName", "fileUri"),
    "promptFeedback": ("blockReason", "blockReasonMessage", "safetyRatings"),
    "usageMetadata": (
        "promptTokenCount",
        "cachedContentTokenCount",
        "candidatesTokenCount",
        "toolUsePromptTokenCount",
        "thoughtsTokenCount",
        "totalTokenCount",
        "trafficType",
        "serviceTier",
        *_DETAILS,
    ),
    **dict.fromkeys(_DETAILS, ("tokenCount",)),
    "logprobsResult": ("chosenCandidates", "topCandidates", "logProbabilitySum"),
    "chosenCandidates": ("tokenId", "logProbability"),
}


def _snake(name: str) -> str:
    return re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name)


_TURNED = {place: {_snake(name): name for name in names} for place, names in _NAMES.items()}


def in_camel_case(chunk: Wire) -> Wire:
    """Give a chunk with the service's names; the chunk itself when it has no others."""
    turned: Wire = _turn(chunk, "")
    return turned


def _turn(value: Any, place: str) -> Any:
    """Turn the names of a value that stands at a place, or those of each of an array there."""
    if is_array(value):
        items = [_turn(item, place) if is_object(item) else item for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if not is_object(value):
        return value
    turned: Wire = {}
    changed = False
    for key, item in value.items():
        name = _TURNED[place].get(key, key)
        name = key if name in value else name  # said by both names: the service's own counts
        turned[name] = _turn(item, name) if name in _TURNED else item
        changed = changed or name != key or turned[name] is not item
    return turned if changed else value
