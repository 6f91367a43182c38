"""Fields of what LangChain writes: which have a place, and how pieces of the others go together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventfold.jsonvalue import copy_json, is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Hashable

    from eventfold.shape import Wire

#: Media types of blocks that name none.
MEDIA_TYPES = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4", "file": "application/octet-stream"}
#: Fields of content that a data block holds under names of its own.
DATA_FIELDS = frozenset({"type", "index", "base64", "data", "url", "mime_type", "source_type", "name", "filename", "source", "result"})
#: Fields of a provider's call that a call has names for.
SERVER_FIELDS = frozenset({"id", "name", "args", "input", "partial_json", "index"})


def name_in(item: Wire, key: str) -> str:
    """Give the text that stands under a key; empty when it is none."""
    value = item.get(key)
    return value if isinstance(value, str) else ""


def index_of(item: Wire) -> Hashable:
    """Give the index of a part of the content; None when it has none."""
    index = item.get("index")
    return index if isinstance(index, int | str) else None


def without(item: Wire, known: frozenset[str] | set[str]) -> Wire:
    """Give the fields that are not known, and not null; `extras` stand among them."""
    rest = {key: copy_json(value) for key, value in item.items() if key not in known and value is not None and key != "extras"}
    extras = item.get("extras")
    return {**rest, **copy_json(extras)} if is_object(extras) else rest


def merged(left: Wire, right: Wire) -> Wire:
    """Put fields together that came in pieces: text and lists go on, ids and what is equal stays."""
    result = dict(left)
    for key, value in right.items():
        known = result.get(key)
        if known is None:
            result[key] = copy_json(value)
        elif is_object(known) and is_object(value):
            result[key] = merged(known, value)
        elif is_array(known) and is_array(value):
            result[key] = [*known, *copy_json(value)]
        elif isinstance(known, str) and isinstance(value, str):
            result[key] = known if key in {"id", "type"} or known == value else known + value
        elif value is not None:
            result[key] = copy_json(value)
    return result
