"""
A result of ours <-> a CallToolResult.

Law: from_result(to_result(block), block.id, block.name) is the block, whatever it holds; and of a foreign result nothing is lost:
what a result of ours has no field for stands in its metadata.

The metadata of a foreign result has `structuredContent`, when there is one (null too), and `mcp`: `_meta` of the result, fields that
MCP does not name (`fields`), and what each content block has besides what ours shows (`blocks`, by place).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import quote

import msgspec

from eventfold.dialects.translation import NAMESPACE, UNFIT, Remark, Said, Unfit
from eventfold.findings import Loss
from eventfold.jsonvalue import copy_json, escape, is_array, is_object, object_of
from eventfold.lifecycle import decode_base64

from .notes import text_of
from .shapes import CONTENT_TYPES, INLINE, META, RESERVED, Audio, Content, Image, Link, Resource, Text, Trimmings, fits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

#: Rules about results.
NOT_BASE64, UNKNOWN_CONTENT, NO_CONTENT = "mcp.not-base64", "mcp.unknown-content", "mcp.no-content"
#: What a result that comes back loses: what others have said in `_meta` beside us.
BESIDE = "what a server says of itself, in _meta beside ours, has no place in a result of ours"

STRUCTURED = "structuredContent"
#: The media type of what has none.
OCTETS = "application/octet-stream"
#: Begins the URI of bytes that are neither image nor sound, which MCP embeds as a resource.
BLOCK_URI = "eventfold://block/"

_FAILED = frozenset({"error", "denied", "interrupted"})
#: What a result shows itself, so that `_meta` does not say it.
_SHOWN = frozenset({"type", "id", "name", "output"})
_KNOWN = frozenset({"content", STRUCTURED, "isError", "resultType", META})


class _Rest(msgspec.Struct):
    """What `_meta` says of a block of ours: its fields that MCP does not show. Read for its types; unknown fields go with it."""

    state: Literal["success", "error", "interrupted", "denied", "running"] | None = None
    metadata: dict[str, Any] | None = None
    created_at: str | None = None
    finished_at: str | None = None
    id: str | None = None
    name: str | None = None


class Reading(NamedTuple):
    """A result that was read."""

    block: Wire
    remarks: list[Remark]  #: rules of MCP that it breaks, with pointers into the result
    beside: Wire  #: keys of `_meta` that others have added to a result of ours


# --- ours to theirs -----------------------------------------------------------------------------


def to_result(block: Wire) -> Said:
    """Say a tool result, as a dict on the wire, as a CallToolResult. Nothing is lost."""
    output, metadata = block["output"], block.get("metadata")
    metadata = metadata if is_object(metadata) else {}
    theirs = object_of(metadata.get("mcp"))
    kept = object_of(theirs.get("blocks"))
    parts: list[Wire] = output if is_array(output) else [{"type": "text", "text": output}]
    content = [_say_part(part, object_of(kept.get(str(place)))) for place, part in enumerate(parts)]
    said: Wire = {"block": {key: copy_json(item) for key, item in block.items() if key not in _SHOWN}}
    if not is_array(output):
        said["output"] = "text"
    meta = {key: copy_json(item) for key, item in object_of(theirs.get(META)).items() if not key.startswith(RESERVED)}
    value: Wire = {"content": content, "isError": block.get("state") in _FAILED, "resultType": "complete"}
    if STRUCTURED in metadata:
        value[STRUCTURED] = copy_json(metadata[STRUCTURED])
    value[META] = {**meta, NAMESPACE: said}
    return Said(value, [])


def _say_part(part: Wire, kept: Wire) -> Wire:
    said = _restored(part, kept) or _plain(part)
    rest: Wire = {"block": {key: copy_json(item) for key, item in part.items() if key not in {"type", "text", "source"}}}
    if "source" in part and (
        more := {key: item for key, item in part["source"].items() if key not in {"type", "data", "url", "media_type"}}
    ):
        rest["source"] = copy_json(more)
    if rest["block"] or "source" in rest:
        said[META] = {**object_of(said.get(META)), NAMESPACE: rest}
    return said


def _plain(part: Wire) -> Wire:
    """Say a part as the type of content that shows it."""
    if part["type"] == "text":
        return {"type": "text", "text": part["text"]}
    source: Wire = part["source"]
    media_type: str = source["media_type"]
    if source["type"] == "url":
        url: str = source["url"]
        name = part.get("name") or url.rstrip("/").rpartition("/")[2] or url
        return {"type": "resource_link", "uri": url, "name": name, "mimeType": media_type}
    kind = media_type.partition("/")[0].lower()
    if kind in INLINE:
        return {"type": kind, "data": source["data"], "mimeType": media_type}
    uri = BLOCK_URI + quote(part["id"], safe="", errors="replace")
    return {"type": "resource", "resource": {"uri": uri, "mimeType": media_type, "blob": source["data"]}}


def _restored(part: Wire, kept: Wire) -> Wire | None:
    """Say a part as the content that it was read from, when what was kept of that is still fit for it."""
    kind, source = kept.get("type"), object_of(part.get("source"))
    said: Wire = copy_json(kept)
    if part["type"] == "text" and kind == "text":
        said["text"] = part["text"]
    elif part["type"] == "text" and kind == "resource":
        said["resource"] = {**object_of(said.get("resource")), "text": part["text"]}
    elif source.get("type") == "base64" and kind in INLINE:
        said |= {"data": source["data"], "mimeType": source["media_type"]}
    elif source.get("type") == "base64" and kind == "resource":
        said["resource"] = {**object_of(said.get("resource")), "blob": source["data"], "mimeType": source["media_type"]}
    elif source.get("type") == "url" and kind == "resource_link":
        said |= {"uri": source["url"], "mimeType": source["media_type"], "name": part.get("name", "")}
    else:
        return None
    inner = object_of(said.get("resource"))
    return said if fits(Content, said) and fits(Trimmings, said) and fits(Trimmings, inner) else None


# --- theirs to ours -----------------------------------------------------------------------------


def from_result(value: Any, call_id: str, name: str) -> Said:
    """
    Read a CallToolResult as the result of a call, as a dict on the wire. What breaks a rule of MCP is kept as it can be.

    Raises:
        Unfit: it is no object.

    """
    reading = read_result(value, call_id, name)
    losses = [Loss(f"/{META}/{escape(key)}", BESIDE) for key in reading.beside]
    return Said(reading.block, losses)


def read_result(value: Any, call_id: str, name: str) -> Reading:
    """Read a CallToolResult, and say what is wrong with it. Raises Unfit: it is no object."""
    if not is_object(value):
        raise Unfit(UNFIT, "the result of a tool is an object")
    remarks: list[Remark] = []
    meta = object_of(value.get(META))
    ours = object_of(meta.get(NAMESPACE))
    rest = rest_of(ours)
    content = value.get("content")
    if not is_array(content):
        remarks.append(Remark(NO_CONTENT, f"content is {'absent' if content is None else 'no array'}", "/content"))
        content = []
    parts, kept = _read_content(content, call_id, remarks)
    failed = value.get("isError")
    if failed is not None and not isinstance(failed, bool):
        remarks.append(Remark(UNFIT, "isError is true or false", "/isError"))
    block: Wire = {"type": "tool_result", "id": call_id, "name": name, "output": parts}
    if rest is not None:
        whole = ours.get("output") == "text" and len(parts) == 1 and parts[0]["type"] == "text"
        block["output"] = parts[0]["text"] if whole else parts
        beside = {key: copy_json(item) for key, item in meta.items() if key != NAMESPACE}
        restored = object_of(object_of(object_of(rest.get("metadata")).get("mcp")).get(META))
        return Reading({**rest, **block}, remarks, {key: item for key, item in beside.items() if restored.get(key) != item})
    if not content and STRUCTURED in value:
        # A client that looks at content alone would show nothing.
        parts.append({"type": "text", "id": f"{call_id}/0", "text": text_of(value[STRUCTURED])})
    block["state"] = "error" if failed else "success"
    if metadata := _metadata(value, kept, failed):
        block["metadata"] = metadata
    return Reading(block, remarks, {})


def _metadata(value: Wire, kept: Wire, failed: Any) -> Wire:
    """Gather what a result of ours has no field for."""
    metadata: Wire = {STRUCTURED: copy_json(value[STRUCTURED])} if STRUCTURED in value else {}
    fields = {key: copy_json(item) for key, item in value.items() if key not in _KNOWN}
    if value.get("resultType", "complete") != "complete":
        fields["resultType"] = copy_json(value["resultType"])
    if failed is not None and not isinstance(failed, bool):
        fields["isError"] = copy_json(failed)
    if "content" in value and not is_array(value["content"]):
        fields["content"] = copy_json(value["content"])
    theirs = {META: copy_json(value.get(META)), "fields": fields, "blocks": kept}
    if theirs := {key: item for key, item in theirs.items() if item}:
        metadata["mcp"] = theirs
    return metadata


def _read_content(content: list[Any], call_id: str, remarks: list[Remark]) -> tuple[list[Wire], Wire]:
    """Read content: each block is a part; and what each has besides, by place."""
    parts: list[Wire] = []
    kept: Wire = {}
    for place, item in enumerate(content):
        said = object_of(object_of(object_of(item).get(META)).get(NAMESPACE))
        rest = rest_of(said)
        ours = rest is not None and bool(rest.get("id"))
        part, more = read_part(item, f"/content/{place}", None if ours else remarks)
        if rest is not None and ours:
            part = {**{key: item for key, item in part.items() if key != "name"}, **rest}
            if "source" in part:
                part["source"] = {**copy_json(object_of(said.get("source"))), **part["source"]}
        else:
            part["id"] = f"{call_id}/{place}"
            if more:
                kept[str(place)] = more
        parts.append(part)
    return parts, kept


def read_part(item: Any, pointer: str, remarks: list[Remark] | None) -> tuple[Wire, Wire]:
    """
    Read a block of content as a part without an id, and give what it has besides.

    What cannot be read is kept as its JSON text. Without `remarks` it is ours, and bytes are what they are.
    """
    try:
        shape: Text | Image | Audio | Link | Resource = msgspec.convert(item, Content)
    except (msgspec.ValidationError, ValueError, OverflowError, RecursionError) as error:
        known = is_object(item) and item.get("type") in CONTENT_TYPES
        detail = str(error) if known or not is_object(item) else f"content of type {str(item.get('type'))[:40]!r}"
        if remarks is not None:
            remarks.append(Remark(UNFIT if known or not is_object(item) else UNKNOWN_CONTENT, detail, pointer))
        return {"type": "text", "text": text_of(item)}, {}
    more: Wire = copy_json(item)
    if isinstance(shape, Text):
        return {"type": "text", "text": more.pop("text")}, more if len(more) > 1 else {}
    if isinstance(shape, Image | Audio):
        part = _bytes(more.pop("data"), more.pop("mimeType"), f"{pointer}/data", remarks)
        return part, more if len(more) > 1 else {}
    if isinstance(shape, Link):
        source = {"type": "url", "url": more.pop("uri"), "media_type": _media_type(more)}
        return {"type": "data", "source": source, "name": more.pop("name")}, more
    inner: Wire = more["resource"]
    if shape.resource.text is not None:
        return {"type": "text", "text": inner.pop("text")}, more
    return _bytes(inner.pop("blob"), _media_type(inner), f"{pointer}/resource/blob", remarks), more


def _media_type(more: Wire) -> str:
    """Take the media type of a resource, which need not have one."""
    media_type = more.pop("mimeType", None)
    return OCTETS if media_type is None else media_type


def _bytes(data: str, media_type: str, pointer: str, remarks: list[Remark] | None) -> Wire:
    """Make a part of bytes. What is not base64 is kept as it is, but for white space, which MIME puts in."""
    wrong = None if remarks is None else _fault_of(data)
    if remarks is not None and wrong is not None:
        remarks.append(Remark(NOT_BASE64, wrong, pointer))
        plain = "".join(data.split())
        data = data if _fault_of(plain) else plain
    return {"type": "data", "source": {"type": "base64", "data": data, "media_type": media_type}}


def _fault_of(data: str) -> str | None:
    """Say why a text is not base64; None when it is."""
    try:
        decode_base64(data)
    except ValueError as error:
        return str(error)
    return None


def rest_of(ours: Wire, shape: type[msgspec.Struct] = _Rest) -> Wire | None:
    """Give the fields of a block of ours that `_meta` says; None when it does not say them as we do."""
    rest = ours.get("block")
    if not is_object(rest) or not fits(shape, rest):
        return None
    return {key: copy_json(item) for key, item in rest.items() if key not in {"type", "output", "text", "source"}}


def deltas_of(block: Wire) -> Iterator[Wire]:
    """Give the fields of the deltas that carry the output of a result that was streamed."""
    for part in block["output"]:
        if part["type"] == "text":
            yield {"delta": part["text"]}
        else:
            source = part["source"]
            carried = {"url": source["url"]} if source["type"] == "url" else {"data": source["data"]}
            yield {"block_id": part["id"], "media_type": source["media_type"], **carried}
