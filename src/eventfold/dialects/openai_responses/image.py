"""Bytes that the provider makes: which are base64, and of which type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.lifecycle import decode_base64

if TYPE_CHECKING:
    from .items import Item

#: Formats of images whose media type is not their name.
_MEDIA = {"svg": "image/svg+xml"}


def is_base64(value: Any) -> bool:
    """Tell whether a value is a base64 document that holds something."""
    if not isinstance(value, str) or not value:
        return False
    try:
        decode_base64(value)
    except ValueError:
        return False
    return True


def image_type(item: Item) -> str:
    """Give the media type of a generated image; the provider's default is PNG."""
    name = item.get("output_format")
    return _MEDIA.get(name, f"image/{name}") if isinstance(name, str) and name.isalnum() else "image/png"
