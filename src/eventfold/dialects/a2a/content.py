"""
Blocks as the parts of an artifact or message, and back.

Law: read_block(*write_block(block)) = block. Text, bytes and URLs are parts that every peer can read; all the rest of a
block is its head, which travels in a note. Blocks inside a hint or result are parts with heads of their own.
"""

from __future__ import annotations

from binascii import b2a_base64
from typing import TYPE_CHECKING, Any

from eventfold_models.tables import BLOCKS

from eventfold.draft import DataDraft
from eventfold.effects import GROWING
from eventfold.jsonvalue import copy_json, is_array, is_object
from eventfold.lifecycle import decode_base64

from .notes import note_in, noted, object_in, text_of

if TYPE_CHECKING:
    from eventfold.shape import Wire

#: What stands in every artifact and message, for lack of content: A2A wants one part at least.
EMPTY: Wire = {"text": ""}
#: Media type of the text of a block; none is plain text.
MEDIA = {"tool_call": "application/json"}
#: Kinds whose content is bytes or a URL.
SOURCED = frozenset({"data", "image", "audio", "video"})
#: Field of the other kinds that holds a text, or blocks.
HOLDING = {"hint": "hint", "tool_result": "output"}


def write_block(block: Wire) -> tuple[Wire, list[Wire]]:
    """Give a block's head and its parts, at least one."""
    kind = block["type"]
    if kind in SOURCED:
        return _write_source(block)
    field = GROWING.get(kind) or HOLDING[kind]
    head = {key: copy_json(item) for key, item in block.items() if key != field}
    content: Any = block[field]
    if not is_array(content):
        return head, [text_part(kind, content)]
    parts: list[Wire] = []
    for child in content:
        its_head, its_parts = write_block(child)
        parts.append(its_parts[0] | {"metadata": noted(block=text_of(its_head))})
    # An empty list in the head tells blocks from a text.
    return head | {field: []}, parts or [dict(EMPTY)]


def text_part(kind: str, text: str) -> Wire:
    """Give a part with text of a kind of block."""
    return {"text": text, "mediaType": MEDIA[kind]} if kind in MEDIA else {"text": text}


def source_part(block: Wire, **content: str) -> Wire:
    """Give a part with bytes or a URL of a block."""
    given = {"mediaType": block["source"].get("media_type"), "filename": block.get("name")}
    return content | {key: item for key, item in given.items() if item}


def _write_source(block: Wire) -> tuple[Wire, list[Wire]]:
    source = block["source"]
    carried = "url" if source["type"] == "url" else "data"
    if carried == "url":
        part = source_part(block, url=source["url"])
    elif (data := exact(source["data"])) is not None:
        part = source_part(block, raw=data)
    else:
        carried, part = "", source_part(block, raw="")
    head = {key: copy_json(item) for key, item in block.items() if key != "source"}
    return head | {"source": {key: copy_json(item) for key, item in source.items() if key != carried}}, [part]


def exact(text: str) -> str | None:
    """Give base64 that stands for bytes and nothing else, as a protobuf reader would write it again; None of any other text."""
    try:
        decode_base64(text)
    except ValueError:
        return None
    return text


def read_head(note: Wire) -> Wire | None:
    """Read a block's head from a note; None when there is none, or none that we write."""
    head = object_in(note, "block")
    return head if head is not None and head.get("type") in BLOCKS else None


def read_block(head: Wire, parts: list[Wire]) -> Wire:
    """Put a block together. What is no block comes out as something that no schema accepts, and nothing is raised."""
    kind = head["type"]
    if kind in SOURCED:
        source = head.get("source")
        return {**head, "source": _read_source(source, parts) if is_object(source) else source}
    field = GROWING.get(kind) or HOLDING[kind]
    if not is_array(head.get(field)):
        return {**head, field: "".join(texts(parts))}
    return {**head, field: [read_block(child, its_parts) for child, its_parts in _children(parts)]}


def texts(parts: list[Wire]) -> list[str]:
    """Give the texts of parts."""
    return [part["text"] for part in parts if "text" in part]


def _read_source(source: Wire, parts: list[Wire]) -> Wire:
    urls = [part["url"] for part in parts if "url" in part]
    if source.get("type") == "url":
        return {**source, "url": urls[-1] if urls else ""}
    if "data" in source:
        return source
    draft = DataDraft({}, source)
    for part in parts:
        if draft.data is not None and "raw" in part:
            draft.data += decode_base64(part["raw"])
    return draft.snapshot()["source"]


def _children(parts: list[Wire]) -> list[tuple[Wire, list[Wire]]]:
    """Group the parts of a hint or result: a head begins a block, a name goes on with one, plain text goes on with the last."""
    children: list[tuple[Wire, list[Wire]]] = []
    by_id: dict[str, list[Wire]] = {}
    for part in parts:
        note = note_in(part)
        head = read_head(note)
        if head is not None:
            children.append((head, [part]))
            if head["type"] in SOURCED:
                by_id[str(head.get("id"))] = children[-1][1]
        elif note.get("part") in by_id:
            by_id[note["part"]].append(part)
        elif children:
            children[-1][1].append(part)
    return children


def base64_of(data: bytes | bytearray) -> str:
    """Write bytes as a part holds them."""
    return b2a_base64(data, newline=False).decode("ascii")
