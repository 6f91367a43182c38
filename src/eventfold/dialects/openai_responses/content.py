"""Text and data of ours -> parts of the provider's input."""

from __future__ import annotations

from mimetypes import guess_extension
from typing import TYPE_CHECKING, Any

from eventfold.jsonvalue import is_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventfold.shape import Wire

#: What the input has no part for.
UNHEARD = ("audio", "video")


def part_of(block: Wire) -> Wire | None:
    """Give the part that says a block; None when there is none for such data, or nothing to say."""
    if block["type"] == "text":
        return {"type": "input_text", "text": block["text"]} if block["text"] else None
    source = block["source"]
    media_type: str = source["media_type"]
    url = source.get("url")
    whole = url if url is not None else f"data:{media_type};base64,{source['data']}"
    kind = media_type.partition("/")[0].lower()
    if kind == "image" or block["type"] == "image":
        return {"type": "input_image", "detail": "auto", "image_url": whole}
    if kind in UNHEARD or block["type"] in UNHEARD:
        return None
    if url is not None:
        return {"type": "input_file", "file_url": url}
    name = block.get("name") or f"file{guess_extension(media_type.partition(';')[0].strip()) or ''}"
    return {"type": "input_file", "filename": name, "file_data": whole}


def parts_of(blocks: Any, lost: Callable[[str], None]) -> list[Wire]:
    """Give the parts that say text and data blocks, or a text; calls `lost` with the place of each that cannot be said."""
    if not is_array(blocks):
        return [{"type": "input_text", "text": blocks}] if blocks else []
    parts: list[Wire] = []
    for i, block in enumerate(blocks):
        part = part_of(block)
        if part is not None:
            parts.append(part)
        elif block["type"] != "text":
            lost(f"/{i}")
    return parts


def output_of(blocks: Any, lost: Callable[[str], None]) -> str | list[Wire]:
    """Give a result as the provider takes it: text alone as a string."""
    parts = parts_of(blocks, lost)
    return "".join(part["text"] for part in parts) if len(parts) <= 1 and all("text" in part for part in parts) else parts


def text_in(blocks: Any) -> str:
    """Give the text of a result."""
    return "".join(block["text"] for block in blocks if block["type"] == "text") if is_array(blocks) else blocks
