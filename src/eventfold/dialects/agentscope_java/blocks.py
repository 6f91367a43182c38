"""
Blocks and sources, both ways.

Law: read_block(write_block(block)) is the block, where the Java block has metadata to keep in what its class has no field for;
of the others, `rest_of` says what is missing. What is read keeps unknown fields, as `x_` fields of ours.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from eventfold.dialects.translation import NAMESPACE, UNFIT, Unfit
from eventfold.jsonvalue import copy_json, is_object

from .patch import applied, difference
from .scalars import choice_of, list_of, object_of, parsed, text_of, without_null

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventfold.shape import Wire

#: Blocks of ours that Java has no own class for when they stand in a reply, and the media type of a URL that names none.
MEDIA_TYPES = {"data": "application/octet-stream", "image": "image/*", "audio": "audio/*", "video": "video/*"}
#: Java's blocks whose class has metadata, as (type of ours).
HAVE_METADATA = frozenset({"thinking", "tool_call", "tool_result"})
#: What of a Java block is no field of ours, and is kept under this name.
REST = "x_agentscope_java"
#: Fields of the Java blocks.
_KNOWN = {
    "text": {"type", "text"},
    "thinking": {"type", "thinking", "metadata"},
    "data": {"type", "source", "id", "name"},
    "image": {"type", "source"},
    "audio": {"type", "source"},
    "video": {"type", "source"},
    "hint": {"type", "id", "hint", "source"},
    "tool_use": {"type", "id", "name", "input", "content", "metadata", "state"},
    "tool_result": {"type", "id", "name", "output", "metadata", "state"},
}
CALL_STATES = ("pending", "asking", "allowed", "submitted", "finished")
RESULT_STATES = ("success", "error", "interrupted", "denied", "running")


def read_block(block: Any, pointer: str, derived: str) -> Wire:
    """Read a Java block; `derived` is its id if it has none. Raises Unfit."""
    if not is_object(block) or not isinstance(block.get("type"), str) or block["type"] not in _READERS:
        raise Unfit(UNFIT, "a block is an object of a known type", pointer)
    kind = block["type"]
    read = {key: item for key, item in _READERS[kind](block, pointer, derived).items() if item is not None}
    kept = {key: copy_json(item) for key, item in block.items() if key not in _KNOWN[kind] and item is not None}
    metadata = block.get("metadata")
    if kind in {"thinking", "tool_use", "tool_result"} and is_object(metadata) and NAMESPACE in metadata:
        whole = applied(read, metadata[NAMESPACE])
        if any(not isinstance(whole.get(key), str) for key in ("type", "id", "name", "input", "thinking") if key in read):
            raise Unfit(UNFIT, f"its {NAMESPACE} metadata makes it no block", f"{pointer}/metadata/{NAMESPACE}")
        return whole
    return {**read, REST: kept} if kept else read


def _own(block: Wire, pointer: str) -> Wire | None:
    """Give a block's metadata without what is ours."""
    metadata = object_of(block.get("metadata"), f"{pointer}/metadata") or {}
    return {key: item for key, item in metadata.items() if key != NAMESPACE} or None


def _read_text(block: Wire, pointer: str, derived: str) -> Wire:
    return {"type": "text", "id": derived, "text": text_of(block.get("text"), f"{pointer}/text") or ""}


def _read_thinking(block: Wire, pointer: str, derived: str) -> Wire:
    thinking = text_of(block.get("thinking"), f"{pointer}/thinking") or ""
    return {"type": "thinking", "id": derived, "thinking": thinking, "metadata": _own(block, pointer)}


def _read_data(block: Wire, pointer: str, derived: str) -> Wire:
    source = read_source(block.get("source"), f"{pointer}/source", MEDIA_TYPES["data"])
    name = text_of(block.get("name"), f"{pointer}/name")
    return {"type": "data", "id": text_of(block.get("id"), f"{pointer}/id") or derived, "source": source, "name": name}


def _read_legacy(block: Wire, pointer: str, derived: str) -> Wire:
    del derived
    kind = block["type"]
    return {"type": kind, "source": read_source(block.get("source"), f"{pointer}/source", MEDIA_TYPES[kind])}


def _read_hint(block: Wire, pointer: str, derived: str) -> Wire:
    return {
        "type": "hint",
        "id": text_of(block.get("id"), f"{pointer}/id") or derived,
        "hint": text_of(block.get("hint"), f"{pointer}/hint") or "",
        "source": text_of(block.get("source"), f"{pointer}/source"),
    }


def _read_call(block: Wire, pointer: str, derived: str) -> Wire:
    given = object_of(block.get("input"), f"{pointer}/input") or {}
    raw = text_of(block.get("content"), f"{pointer}/content")
    if given and (raw is None or parsed(raw) is None):
        # Valid text wins; what is not valid stands for itself only when nothing was parsed from it.
        raw = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    return {
        "type": "tool_call",
        "id": text_of(block.get("id"), f"{pointer}/id") or derived,
        "name": text_of(block.get("name"), f"{pointer}/name") or "",
        "input": "{}" if raw is None else raw,
        "state": choice_of(block.get("state"), f"{pointer}/state", CALL_STATES, "pending"),
        REST: _own(block, pointer),
    }


def _read_result(block: Wire, pointer: str, derived: str) -> Wire:
    key = text_of(block.get("id"), f"{pointer}/id") or derived
    output = list_of(block.get("output"), f"{pointer}/output")
    return {
        "type": "tool_result",
        "id": key,
        "name": text_of(block.get("name"), f"{pointer}/name") or "",
        "output": [read_part(item, f"{pointer}/output/{i}", f"{key}/{i}") for i, item in enumerate(output)],
        "state": choice_of(block.get("state"), f"{pointer}/state", RESULT_STATES, "running"),
        "metadata": _own(block, pointer),
    }


def read_part(block: Any, pointer: str, derived: str) -> Wire:
    """Read a block inside a tool's output, where ours has text and data only. Others are kept whole beside their JSON text."""
    read = read_block(block, pointer, derived)
    if read["type"] in {"text", "data"}:
        return read
    if read["type"] in MEDIA_TYPES:
        return {"type": "data", "id": derived, "source": read["source"], "x_block": copy_json(block)}
    return {"type": "text", "id": derived, "text": json.dumps(block, ensure_ascii=False), "x_block": copy_json(block)}


def read_source(source: Any, pointer: str, fallback: str) -> Wire:
    """Read a source; a URL that names no media type gets the fallback. Raises Unfit."""
    kind = source.get("type") if is_object(source) else None
    if not is_object(source) or kind not in {"base64", "url"}:
        raise Unfit(UNFIT, "a source is an object of type base64 or url", pointer)
    content, media = ("data", "media_type") if kind == "base64" else ("url", "mime_type")
    given = text_of(source.get(content), f"{pointer}/{content}")
    media_type = text_of(source.get(media), f"{pointer}/{media}")
    if given is None or (media_type is None and kind == "base64"):
        raise Unfit(UNFIT, f"a {kind} source has {content} and a media type", pointer)
    return {"type": kind, content: given, "media_type": fallback if media_type is None else media_type}


_READERS: dict[str, Callable[[Wire, str, str], Wire]] = {
    "text": _read_text,
    "thinking": _read_thinking,
    "data": _read_data,
    "image": _read_legacy,
    "audio": _read_legacy,
    "video": _read_legacy,
    "hint": _read_hint,
    "tool_use": _read_call,
    "tool_result": _read_result,
}


# --- ours -> theirs -----------------------------------------------------------------------------


def write_block(block: Wire, derived: str) -> Wire:
    """Write a block. What its Java class has no field for goes into its metadata, if it has some; else `rest_of` tells it."""
    said = _WRITERS[block["type"]](block)
    if block["type"] in HAVE_METADATA:
        rest = difference(block, read_block(said, "", derived))
        if rest:
            said["metadata"] = {**(said["metadata"] or {}), NAMESPACE: rest}
    return said


def rest_of(block: Wire, derived: str) -> Wire:
    """Tell what of a block its Java form does not say."""
    return difference(block, read_block(write_block(block, derived), "", derived))


def _write_text(block: Wire) -> Wire:
    return {"type": "text", "text": block["text"]}


def _write_thinking(block: Wire) -> Wire:
    metadata = block.get("metadata")
    return {"type": "thinking", "thinking": block["thinking"], "metadata": without_null(metadata)}


def _write_media(block: Wire) -> Wire:
    named = {key: block[key] for key in ("id", "name") if block["type"] == "data" and block.get(key) is not None}
    return {"type": block["type"], "source": write_source(block["source"]), **named}


def _write_hint(block: Wire) -> Wire:
    hint = block["hint"]
    text = hint if isinstance(hint, str) else "".join(part["text"] for part in hint if part["type"] == "text")
    return {"type": "hint", "id": block["id"], "hint": text, "source": block.get("source")}


def _write_call(block: Wire) -> Wire:
    return {
        "type": "tool_use",
        "id": block["id"],
        "name": block["name"],
        "input": parsed(block["input"]) or {},
        "content": block["input"],
        "metadata": without_null(block.get(REST)) or {},
        "state": block.get("state") or "pending",
    }


def _write_result(block: Wire) -> Wire:
    output = block["output"]
    parts = [{"type": "text", "text": output}] if isinstance(output, str) else [write_block(part, "") for part in output]
    return {
        "type": "tool_result",
        "id": block["id"],
        "name": block["name"],
        "output": parts,
        "metadata": without_null(block.get("metadata")) or {},
        "state": block.get("state") or "running",
    }


_WRITERS: dict[str, Callable[[Wire], Wire]] = {
    "text": _write_text,
    "thinking": _write_thinking,
    "data": _write_media,
    "image": _write_media,
    "audio": _write_media,
    "video": _write_media,
    "hint": _write_hint,
    "tool_call": _write_call,
    "tool_result": _write_result,
}


def write_source(source: Wire) -> Wire:
    """Write a source."""
    if source["type"] == "url":
        return {"type": "url", "url": source["url"], "mime_type": source["media_type"]}
    return {"type": "base64", "media_type": source["media_type"], "data": source["data"]}
