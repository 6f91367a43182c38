"""
Text that comes in pieces, cut by a producer that counts UTF-16 units.

Law: the halves of a surrogate pair that stand in two pieces come out as the character; a half alone becomes U+FFFD.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from eventfold.jsonvalue import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Hashable

_PAIR = re.compile("([\ud800-\udbff])([\udc00-\udfff])")
_HALF = re.compile("[\ud800-\udfff]")
_FIRST_HALVES = re.compile("[\ud800-\udbff]$")


class Halves:
    """Joins halves of surrogate pairs across pieces of a text; each text has a key."""

    def __init__(self) -> None:
        self.lone = 0  #: halves that had no other
        self._held: dict[Hashable, str] = {}

    def feed(self, key: Hashable, piece: str) -> str:
        """Give the piece, without a first half at its end, which is held for the next."""
        if not self._held and not _HALF.search(piece):
            return piece
        text = _PAIR.sub(_joined, self._held.pop(key, "") + piece)
        if _FIRST_HALVES.search(text):
            self._held[key] = text[-1]
            text = text[:-1]
        text, count = _HALF.subn("\ufffd", text)
        self.lone += count
        return text

    def rest(self, key: Hashable) -> str:
        """Give what was held and never completed."""
        held = self._held.pop(key, "")
        self.lone += len(held)
        return "\ufffd" * len(held)


def repaired(value: Any) -> Any:
    """
    Give a JSON value with U+FFFD in place of each lone half; the value itself when it has none.

    Values that were bytes have none. It must not be nested deeper than the contract allows.
    """
    if isinstance(value, str):
        return _HALF.sub("\ufffd", _PAIR.sub(_joined, value)) if _HALF.search(value) else value
    if is_array(value):
        items = [repaired(item) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if is_object(value):
        pairs = {repaired(key): repaired(item) for key, item in value.items()}
        same = all(pairs.get(key, pairs) is item for key, item in value.items())
        return value if same else pairs
    return value


def _joined(match: re.Match[str]) -> str:
    first, second = match.groups()
    return chr(0x10000 + ((ord(first) - 0xD800) << 10) + (ord(second) - 0xDC00))
