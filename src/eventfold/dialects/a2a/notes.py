"""
Notes: what A2A has no field for, below our key in somebody's metadata.

Law: a note holds JSON as text. What stands in metadata as JSON becomes doubles on the way (1 is 1.0, 2^53+1 another number),
and nests no deeper than a protobuf message may; a text arrives as it was sent.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from eventfold.dialects.translation import NAMESPACE
from eventfold.jsonvalue import is_object

if TYPE_CHECKING:
    from eventfold.shape import Wire


def text_of(value: Any) -> str:
    """Write JSON as text, in ASCII: some readers of event streams split lines where U+2028 stands."""
    return json.dumps(value, separators=(",", ":"))


def noted(**notes: str) -> Wire:
    """Give metadata that holds a note."""
    return {NAMESPACE: notes}


def note_in(value: Wire) -> Wire:
    """Give the note in the metadata of a foreign value; empty when there is none."""
    metadata = value.get("metadata")
    note = metadata.get(NAMESPACE) if is_object(metadata) else None
    return note if is_object(note) else {}


def object_in(note: Wire, name: str) -> Wire | None:
    """Read an object from a note; None when there is none, or when it is not as we write it."""
    text = note.get(name)
    if not isinstance(text, str):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if is_object(value) else None


def others_in(value: Wire) -> Wire:
    """Give the metadata of a foreign value without our note."""
    metadata = value.get("metadata")
    return {key: item for key, item in metadata.items() if key != NAMESPACE} if is_object(metadata) else {}
