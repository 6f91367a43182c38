"""
What our own messages say beyond MCP, in `_meta` below our key, and how the arguments of a call are read and written.

Law: a note that is not as we write it is none. Arguments are an object only if every reader of JSON reads the same of the text.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec
import orjson

from eventfold.dialects.translation import NAMESPACE, UNFIT, Unfit
from eventfold.jsonvalue import depth_of, is_object

from .shapes import META

T = TypeVar("T")

#: How deep arguments may nest, that are written as text and parsed by somebody else.
MAX_ARGUMENTS = 90


def text_of(value: Any) -> str:
    """Write a JSON value as models write arguments. Raises Unfit for a number that no text of JSON holds."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except ValueError as error:
        raise Unfit(UNFIT, str(error)) from None


def object_of(text: str) -> dict[str, Any] | None:
    """Read the arguments of a call: nothing is an empty object; None when the text is no JSON object that every reader reads alike."""
    if not text:
        return {}
    try:
        value = msgspec.json.decode(text)
        # What does not come back by the same words could be read in two ways: huge numbers, names that stand twice.
        plain = json.loads(text, object_pairs_hook=_unique) == value and depth_of(value) <= MAX_ARGUMENTS
        orjson.dumps(value)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return None
    return value if plain and is_object(value) else None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        message = "a name stands twice"
        raise ValueError(message)
    return value


class Header(msgspec.Struct):
    """An event of ours without what MCP shows of it."""

    id: str | None = None
    created_at: str | None = None
    metadata: dict[str, Any] | None = None
    source_path: str | None = None
    extra: dict[str, Any] | None = None
    tool_call_name: str | None = None

    def fields(self) -> dict[str, Any]:
        """Give the fields that are there."""
        return {key: value for key, value in msgspec.structs.asdict(self).items() if value is not None}


class CallNote(msgspec.Struct):
    """What `_meta` of a tools/call of ours says: whose call it is, and the events around it."""

    reply_id: str
    tool_call_id: str
    input: str | None = None  #: the text of the arguments, where `text_of` would write another
    end: Header | None = None  #: TOOL_CALL_END; absent when notifications have told the call
    start: Header | None = None  #: TOOL_RESULT_START; absent when a notification will tell it


class ResultNote(msgspec.Struct):
    """What `_meta` of a result of ours says besides the block: the event that brought it."""

    told: bool = False  #: notifications have told it already
    end: Header | None = None  #: TOOL_RESULT_END
    external: Header | None = None  #: EXTERNAL_EXECUTION_RESULT
    name: str | None = None  #: the name that it says of the tool


def note_of(value: Any, shape: type[T]) -> T | None:
    """Read what we said in a value's `_meta`; None when there is nothing of ours."""
    meta = value.get(META) if is_object(value) else None
    said = meta.get(NAMESPACE) if is_object(meta) else None
    if not is_object(said):
        return None
    try:
        return msgspec.convert(said, shape)
    except (msgspec.ValidationError, RecursionError):
        return None
