"""
Arguments of a call that come piece by piece, each with the JSON path of where it belongs.

Law: a string grows while its pieces say that more follows; everything else is set once. A path that leads nowhere is refused.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from eventfold.jsonvalue import is_array, is_object

if TYPE_CHECKING:
    from eventfold.shape import Wire

_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")
_ESCAPED = re.compile(r"\\(.)")


class BadPath(ValueError):
    """A path that is none, or that leads through something that it cannot lead through."""


def steps_of(path: Any) -> list[str | int]:
    """
    Read a path: names and places.

    Raises:
        BadPath: it is none.

    """
    if not isinstance(path, str) or not path.startswith("$"):
        raise BadPath
    steps: list[str | int] = []
    end = 1
    while end < len(path):
        match = _STEP.match(path, end)
        if match is None:
            raise BadPath
        name, place, single, double = match.groups()
        quoted = single if single is not None else double
        steps.append(int(place) if place is not None else name if name is not None else _ESCAPED.sub(r"\1", quoted))
        end = match.end()
    if not steps or not isinstance(steps[0], str):
        raise BadPath
    return steps


class Arguments:
    """The arguments of one call, as far as they have come."""

    def __init__(self, whole: Wire) -> None:
        self.value = whole
        self._growing: set[tuple[str | int, ...]] = set()

    def add(self, piece: Wire) -> None:
        """
        Add a piece.

        Raises:
            BadPath: there is no such place.

        """
        steps = steps_of(piece.get("jsonPath"))
        given = [piece[name] for name in _VALUES if piece.get(name) is not None]
        if given:
            value = None if piece.get("nullValue") is not None else given[0]
            place, last = self._place(steps)
            before = _at(place, last)
            grows = tuple(steps) in self._growing and isinstance(before, str) and isinstance(value, str)
            _put(place, last, f"{before}{value}" if grows else value)
        if piece.get("willContinue") is True:
            self._growing.add(tuple(steps))
        else:
            self._growing.discard(tuple(steps))

    def _place(self, steps: list[str | int]) -> tuple[Any, str | int]:
        """Give the object or array that the last step leads into, made where it is not there."""
        node: Any = self.value
        for step, following in pairwise(steps):
            child: Any = _at(node, step)
            if child is None:
                child = {} if isinstance(following, str) else []
                _put(node, step, child)
            node = child
        return node, steps[-1]


_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


def _at(node: Any, step: str | int) -> Any:
    if is_object(node) and isinstance(step, str):
        return node.get(step)
    if is_array(node) and isinstance(step, int):
        return node[step] if step < len(node) else None
    raise BadPath


def _put(node: Any, step: str | int, value: Any) -> None:
    """Set a value where `_at` has looked."""
    if is_object(node) and isinstance(step, str):
        node[step] = value
    elif is_array(node) and isinstance(step, int) and step <= len(node):
        node[step : step + 1] = [value]
    else:
        raise BadPath
