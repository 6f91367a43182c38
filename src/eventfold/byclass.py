"""A table by class, in which a class that extends one of them finds the same."""

from __future__ import annotations

from typing import TypeVar

_Value = TypeVar("_Value")


class ByClass(dict[type, _Value]):
    """Looks a class up once by its bases, and keeps what it found. Raises KeyError when there is none."""

    def __missing__(self, struct: type) -> _Value:
        base = next((base for base in struct.__mro__[1:] if base in self), None)
        if base is None:
            raise KeyError(struct)
        value = self[struct] = self[base]
        return value
