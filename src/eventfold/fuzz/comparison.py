"""
Messages side by side: where they differ, and which of the differences are one and the same.

Law: values are equal as canonical JSON (RFC 8785) is equal: `1.0` is `1`, `true` is not, the order of fields means nothing. Null
and absent are equal, as the contract reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from eventfold_models.tables import FIELDS

from eventfold.jsonvalue import escape, is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from eventfold.shape import Wire


#: How the place of a list ends that holds too few or too many.
MISCOUNTED = (" items", " messages")


#: Names of fields. What is named otherwise is a field that nobody knows, and one is like another.
_FIELDS = frozenset(name for names in FIELDS.values() for name in names)


class Difference(NamedTuple):
    """A place where two messages differ. None stands for what is not there."""

    pointer: str  #: RFC 6901, into the list of messages
    wanted: Any
    given: Any
    place: str  #: the pointer without positions, blocks by their type: what makes it the same as another difference


def differences(wanted: Sequence[Wire], given: Sequence[Wire], unfilled: Sequence[str] = ()) -> list[Difference]:
    """List where messages differ from those that are wanted, outside what a reducer says that it does not fill."""
    found = list(_walk(list(wanted), list(given), "", ""))
    patterns = [tuple(pointer.split("/")[1:]) for pointer in unfilled]
    return [difference for difference in found if not any(_matches(difference.pointer, pattern) for pattern in patterns)]


def _matches(pointer: str, pattern: tuple[str, ...]) -> bool:
    """Tell whether a pointer, without the position of its message, goes to what a pattern names or into it."""
    parts = pointer.split("/")[2:]
    return len(parts) >= len(pattern) and all(one in {"*", other} for one, other in zip(pattern, parts, strict=False))


def _walk(wanted: Any, given: Any, pointer: str, place: str) -> Iterator[Difference]:
    if is_object(wanted) and is_object(given):
        for key in {**wanted, **given}:
            yield from _walk(wanted.get(key), given.get(key), f"{pointer}/{escape(key)}", f"{place}/{key if key in _FIELDS else '*'}")
    elif is_array(wanted) and is_array(given):
        if len(wanted) != len(given):
            what = "messages" if not pointer else "items"
            yield Difference(pointer, wanted, given, f"{place}/{'fewer' if len(given) < len(wanted) else 'more'} {what}")
            return
        for i, (one, other) in enumerate(zip(wanted, given, strict=True)):
            yield from _walk(one, other, f"{pointer}/{i}", f"{place}/{_name(one)}" if pointer else place)
    elif not _equal(wanted, given):
        yield Difference(pointer, wanted, given, place)


def _name(item: Any) -> str:
    """Name an item by its type; any other by `*`."""
    kind = item.get("type") if is_object(item) else None
    return kind if isinstance(kind, str) else "*"


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool) or not isinstance(one, int | float) or not isinstance(other, int | float):
        return type(one) is type(other) and one == other
    try:
        # Canonical JSON writes numbers as doubles (RFC 8785, section 3.2.2.3): what no double holds is not told apart.
        return float(one) == float(other)
    except OverflowError:
        return one == other
