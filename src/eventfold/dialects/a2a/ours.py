"""
What our own notes say: events, blocks, messages.

Law: a note is foreign input like any other. What is not as we write it is refused as a Spoilt note, never followed halfway.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from eventfold_models import structs
from eventfold_models.tables import EVENTS, MESSAGES

from eventfold.dialects.translation import Unfit
from eventfold.jsonvalue import copy_json, is_array, is_object

from .content import read_block, read_head
from .notes import note_in, object_in
from .rules import NOTE

if TYPE_CHECKING:
    from eventfold.shape import Wire

#: The class of an event, and its fields.
Made = tuple[type, dict[str, Any]]

#: How the parts of a block that grows are said: the delta, the end, and the field that names the block.
GROWTH: dict[str, tuple[type, type, str]] = {
    "text": (structs.TextBlockDeltaEvent, structs.TextBlockEndEvent, "block_id"),
    "thinking": (structs.ThinkingBlockDeltaEvent, structs.ThinkingBlockEndEvent, "block_id"),
    "data": (structs.DataBlockDeltaEvent, structs.DataBlockEndEvent, "block_id"),
    "tool_call": (structs.ToolCallDeltaEvent, structs.ToolCallEndEvent, "tool_call_id"),
    "tool_result": (structs.ToolResultTextDeltaEvent, structs.ToolResultEndEvent, "tool_call_id"),
}


def event_of(fields: Any, note: Wire, parts: list[Wire]) -> Made:
    """
    Read an event of a note; `content` names a field that the only part says.

    Raises:
        Unfit: it is none.

    """
    name = fields.get("type") if is_object(fields) else None
    if not is_object(fields) or not isinstance(name, str) or name not in EVENTS:
        raise Unfit(NOTE, "the note holds no event of ours")
    given = {key: item for key, item in fields.items() if key not in {"type", "id"}}
    content = note.get("content")
    if isinstance(content, str) and parts:
        member = {"data": "raw", "url": "url"}.get(content, "text")
        given[content] = parts[0].get(member)
    return getattr(structs, EVENTS[name]), given


def events_of(note: Wire) -> list[Made]:
    """Read the events of a note that holds a list of them. Raises Unfit."""
    try:
        listed = json.loads(note["events"])
    except (ValueError, TypeError, RecursionError):
        listed = None
    if not is_array(listed):
        raise Unfit(NOTE, "the note holds no list of events")
    return [event_of(item, {}, []) for item in listed]


def growth_of(head: Wire, part: Wire) -> Made:
    """Read a part that goes on with a block of ours as the delta it is. Raises Unfit."""
    kind = head["type"]
    if kind in GROWTH:
        delta, _, key = GROWTH[kind]
        if kind == "data" and ("raw" in part or "url" in part):
            carried = {"data": part["raw"]} if "raw" in part else {"url": part["url"]}
            return delta, {key: head.get("id"), "media_type": part.get("mediaType", ""), **carried}
        if kind != "data" and "text" in part:
            return delta, {key: head.get("id"), "delta": part["text"]}
    raise Unfit(NOTE, f"a part of this kind does not go on with a {kind} block")


def message_of(note: Wire, artifacts: list[Wire]) -> Wire:
    """
    Put a message together from its head in a note, and its blocks in artifacts, each with one head.

    Raises:
        Unfit: it is no message of the contract.

    """
    head = object_in(note, "message")
    blocks = [(read_head(note_in(artifact)), artifact.get("parts", [])) for artifact in artifacts]
    content = [read_block(block, parts) for block, parts in blocks if block is not None]
    message = {**(head or {}), "content": content}
    from eventfold.wire.schema import errors  # noqa: PLC0415  jsonschema takes long to import

    name = MESSAGES.get(str(message.get("role")))
    broken = errors(message, name) if name is not None else [("/role", "no role")]
    if broken:
        raise Unfit(NOTE, f"the note holds no message of ours: {broken[0][0]}: {broken[0][1]}")
    return copy_json(message)


def artifacts_of(message: Wire) -> list[Wire]:
    """Give the parts of a message as artifacts, one a block."""
    return [{"metadata": part.get("metadata"), "parts": [part]} for part in message.get("parts", [])]
