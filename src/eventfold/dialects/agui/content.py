"""
The output of a tool as AG-UI says it, and back.

Law: `read_output(*say_output(output))` is the output. A text alone, or none, is a string, as the user interfaces expect; what
a string does not say is the second value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.translation import NAMESPACE
from eventfold.jsonvalue import copy_json, is_array, is_object
from eventfold.lifecycle import decode_base64

if TYPE_CHECKING:
    from eventfold.shape import Wire

#: What a medium is that says no type.
UNTYPED = {"image": "image/*", "audio": "audio/*", "video": "video/*", "document": "application/octet-stream"}
#: Where a block keeps what ours have no field for.
LEFT = "x_agui"
_NAMED = ("type", "id", "text", "source")


def medium_of(media_type: str) -> str:
    """Give the kind of part that stands for data of a type."""
    kind = media_type.partition("/")[0]
    return kind if kind in {"image", "audio", "video"} else "document"


def say_output(output: Any) -> tuple[Any, Any]:
    """Say an output, a string or blocks, and what of it the content does not say: None for a string."""
    if not is_array(output):
        return output, None
    if all(block["type"] == "text" for block in output) and len(output) <= 1:
        rests = [{key: copy_json(value) for key, value in block.items() if key != "text"} for block in output]
        return "".join(block["text"] for block in output), rests
    return [say_part(block) for block in output], []


def say_part(block: Wire) -> Wire:
    """Say a text, data or legacy block as a part."""
    rest = {key: copy_json(value) for key, value in block.items() if key not in _NAMED}
    part: Wire = {"id": block["id"]} if "id" in block else {}
    if block["type"] == "text":
        part = {"type": "text", **part, "text": block["text"]}
    else:
        source = block["source"]
        said = {"type": "url", "value": source["url"]} if source["type"] == "url" else {"type": "data", "value": source["data"]}
        part = {"type": medium_of(source["media_type"]), **part, "source": {**said, "mimeType": source["media_type"]}}
        more = {key: copy_json(value) for key, value in source.items() if key not in {"type", "url", "data", "media_type"}}
        if more:
            rest["source"] = more
        if block["type"] != "data":
            rest["type"] = block["type"]
    return {**part, "metadata": {NAMESPACE: rest}}


def read_output(content: Any, rests: Any, prefix: str) -> Any:
    """Read a content; `rests` is what `say_output` gave beside it, or None. Ids that no part has begin with the prefix."""
    if isinstance(content, str):
        if not is_array(rests):
            return content
        return [{"type": "text", "text": content, **copy_json(rest)} for rest in rests if is_object(rest)]
    return [read_part(part, f"{prefix}{place}") for place, part in enumerate(content)]


def read_part(part: Wire, derived: str) -> Wire:
    """Read a part as a text or data block. What ours have no field for goes into LEFT."""
    metadata = part.get("metadata")
    own = metadata.get(NAMESPACE) if is_object(metadata) else None
    rest: Wire = copy_json(own) if is_object(own) else {}
    block: Wire = {"type": "text" if part["type"] == "text" else "data", "id": part.get("id") or derived}
    if own is not None and "id" not in part:
        del block["id"]
    left = {key: copy_json(value) for key, value in part.items() if key == "metadata" and own is None}
    if part["type"] == "text":
        block["text"] = part["text"]
    else:
        more = rest.pop("source", None)
        block["source"] = {**_source(part, left, checked=own is None), **(more if is_object(more) else {})}
    if left:
        block[LEFT] = left
    return {**block, **rest}


def _source(part: Wire, left: Wire, *, checked: bool) -> Wire:
    source = part["source"]
    media_type = source.get("mimeType", UNTYPED[part["type"]])
    if source["type"] == "data" and (not checked or _is_base64(source["value"])):
        return {"type": "base64", "data": source["value"], "media_type": media_type}
    if source["type"] != "url":
        left["source"] = copy_json(source)
    return {"type": "url", "url": source["value"], "media_type": media_type}


def _is_base64(text: str) -> bool:
    try:
        decode_base64(text)
    except ValueError:
        return False
    return True
