"""
The shapes of A2A, as proto-JSON writes them: which fields a value has, and of what kind.

Law: what is read is a copy, with the names of the protocol (`task_id` is read as `taskId`, an enum's number as its name) and
without nulls; a field that no shape names is set aside with its place, and a field of the wrong kind is an Unfit.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from typing import TYPE_CHECKING, Any

from eventfold.dialects.translation import UNFIT, Unfit
from eventfold.jsonvalue import escape, is_array, is_object, shown

from .content import base64_of
from .states import ROLES, STATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eventfold.shape import Wire

#: Fields of each shape: a kind, or a shape; in brackets a list of it; `!` means that it must be there.
SHAPES: dict[str, dict[str, str]] = {
    "Task": {
        "id": "text!",
        "contextId": "text",
        "status": "TaskStatus!",
        "artifacts": "[Artifact]",
        "history": "[Message]",
        "metadata": "object",
    },
    "TaskStatus": {"state": "state!", "message": "Message", "timestamp": "text"},
    "Artifact": {
        "artifactId": "text!",
        "name": "text",
        "description": "text",
        "parts": "[Part]",
        "metadata": "object",
        "extensions": "[text]",
    },
    "Message": {
        "messageId": "text!",
        "contextId": "text",
        "taskId": "text",
        "role": "role!",
        "parts": "[Part]",
        "metadata": "object",
        "extensions": "[text]",
        "referenceTaskIds": "[text]",
    },
    "Part": {
        "text": "text",
        "raw": "bytes",
        "url": "text",
        "data": "any",
        "metadata": "object",
        "filename": "text",
        "mediaType": "text",
    },
    "TaskStatusUpdateEvent": {"taskId": "text!", "contextId": "text!", "status": "TaskStatus!", "metadata": "object"},
    "TaskArtifactUpdateEvent": {
        "taskId": "text!",
        "contextId": "text!",
        "artifact": "Artifact!",
        "append": "flag",
        "lastChunk": "flag",
        "metadata": "object",
    },
    "SendMessageRequest": {"tenant": "text", "message": "Message!", "configuration": "object", "metadata": "object"},
}
#: What a stream's values hold, by the name of the field.
PAYLOADS = {
    "task": "Task",
    "message": "Message",
    "statusUpdate": "TaskStatusUpdateEvent",
    "artifactUpdate": "TaskArtifactUpdateEvent",
}
#: What a part holds exactly one of.
CONTENTS = ("text", "raw", "url", "data")
#: A part that does not hold exactly one of them.
PART = "a2a.part-content"

_KINDS: dict[str, type] = {"text": str, "flag": bool, "object": dict}
_SNAKE = re.compile(r"_([a-z])")


def camel(name: str) -> str:
    """Give a field's name as JSON has it; protobuf readers take the name of the schema as well."""
    return _SNAKE.sub(lambda found: found.group(1).upper(), name)


class Reading:
    """Reads values by their shapes. What no shape names is left in `unknown`, by its place."""

    def __init__(self) -> None:
        self.unknown: Wire = {}
        self.flaws: list[str] = []  #: places of text that was not well-formed

    def take(self, shape: str, value: Any, place: str = "") -> Wire:
        """
        Read a value.

        Raises:
            Unfit: a field is missing or of the wrong kind.

        """
        if not is_object(value):
            raise Unfit(UNFIT, f"{shown(value)} is no {shape}", place)
        fields, taken = SHAPES[shape], dict[str, Any]()
        for key, item in value.items():
            name, where = camel(key), f"{place}/{escape(key)}"
            if name not in fields:
                self.unknown[self.well_formed(where, place)] = self.copy(item, place)
            elif item is not None or fields[name] == "any":
                taken[name] = self._item(fields[name].removesuffix("!"), item, where)
        missing = [name for name, kind in fields.items() if kind.endswith("!") and taken.get(name, "") == ""]
        if missing:
            raise Unfit(UNFIT, f"{shape} has no {missing[0]}", place)
        if shape == "Part" and len(found := [name for name in CONTENTS if name in taken]) != 1:
            raise Unfit(PART, f"a part holds exactly one of {', '.join(CONTENTS)}; this one holds {', '.join(found) or 'none'}", place)
        return taken

    def _item(self, kind: str, value: Any, place: str) -> Any:
        if kind.startswith("["):
            if not is_array(value):
                raise Unfit(UNFIT, f"{shown(value)} is no list", place)
            return [self._item(kind[1:-1], item, f"{place}/{i}") for i, item in enumerate(value)]
        if kind in SHAPES:
            return self.take(kind, value, place)
        if kind in {"state", "role"}:
            return _member(tuple(STATES) if kind == "state" else ROLES, value, place)
        if kind == "bytes":
            return _bytes(value, place)
        if kind != "any" and not isinstance(value, _KINDS[kind]):
            raise Unfit(UNFIT, f"{shown(value)} is no {kind}", place)
        return self.copy(value, place)

    def copy(self, value: Any, place: str) -> Any:
        """Copy a JSON value, its texts well-formed."""
        if isinstance(value, str):
            return self.well_formed(value, place)
        if is_object(value):
            return {self.well_formed(key, place): self.copy(item, place) for key, item in value.items()}
        return [self.copy(item, place) for item in value] if is_array(value) else value

    def well_formed(self, text: str, place: str) -> str:
        """Put U+FFFD in place of lone surrogates, and note the place."""
        if text.isascii():
            return text
        mended = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if mended != text:
            self.flaws.append(place)
        return mended


def _member(names: Sequence[str], value: Any, place: str) -> str:
    if type(value) is int and 0 <= value < len(names):
        return names[value]
    if not isinstance(value, str) or value not in names:
        raise Unfit(UNFIT, f"{shown(value)} is none of {', '.join(names)}", place)
    return value


def _bytes(value: Any, place: str) -> str:
    """Read base64 of either alphabet, padded or not, as protobuf readers do; give it as they write it."""
    try:
        text = value.translate({45: 43, 95: 47}).rstrip("=")
        return base64_of(a2b_base64(text + "=" * (-len(text) % 4), strict_mode=True))
    except (AttributeError, ValueError, Error):
        raise Unfit(UNFIT, f"{shown(value)} is not base64", place) from None
