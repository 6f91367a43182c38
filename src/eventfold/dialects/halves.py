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

_HALF = re.compile("[\ud800-\udfff]")
_FIRST_HALVES = re.compile("[\ud800-\udbff]$")


class Halves:
    """Joins halves of surrogate pairs across pieces of a text; each text has a key."""

    def __init__(self) -> None:
        self._held: dict[Hashable, str] = {}
        self._lone = 0

    def feed(self, key: Hashable, piece: str) -> str:
        """Give the piece, without a first half at its end, which is held for the next."""
        if not self._held and not _HALF.search(piece):
            return piece
        text = self._held.pop(key, "") + piece
        if _FIRST_HALVES.search(text):
            self._held[key] = text[-1]
            text = text[:-1]
        fixed = _whole(text)
        self._lone += fixed.count("\ufffd") - text.count("\ufffd")
        return fixed

    def rest(self, key: Hashable) -> str:
        """Give what stands for a half that was held and never completed; empty when there is none."""
        held = self._held.pop(key, "")
        self._lone += len(held)
        return "\ufffd" * len(held)

    def waiting(self) -> list[Hashable]:
        """Give the keys of texts that end in a half."""
        return list(self._held)

    def told(self) -> bool:
        """Tell whether a half stood alone since this was asked last."""
        lone, self._lone = self._lone, 0
        return lone > 0


def repaired(value: Any) -> Any:
    """
    Give a JSON value with characters made whole, and U+FFFD in place of each lone half; the value itself when it has none.

    It must not be nested deeper than the contract allows.
    """
    if isinstance(value, str):
        return _whole(value)
    if is_array(value):
        items = [repaired(item) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if is_object(value):
        pairs = {repaired(key): repaired(item) for key, item in value.items()}
        same = all(pairs.get(key, pairs) is item for key, item in value.items())
        return value if same else pairs
    return value


def mended(value: Any) -> Any:
    """Copy a JSON value, repaired."""
    if isinstance(value, str):
        return _whole(value)
    if is_object(value):
        return {_whole(key): mended(item) for key, item in value.items()}
    if is_array(value):
        return [mended(item) for item in value]
    return value


def _whole(text: str) -> str:
    if text.isascii() or _HALF.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
