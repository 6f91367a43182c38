"""
Values against the shapes of AG-UI: what nobody knows is taken off, and what does not fit is found.

Law: the same verdict as `enforceEvents` of @ag-ui/client 1.0.0. What no schema names is taken off, and so is a member of a
union that nobody knows: the item of a list, the optional field, or else what holds it. Any other misfit is fatal for the event.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from eventfold.jsonvalue import escape, is_array, is_object, shown

from .shapes import Items, Leaf, Shape, StringOr, Union


class Misfit(NamedTuple):
    """What is wrong with a value, and where in the event."""

    pointer: str
    detail: str
    null: bool = False  #: a field is there and null, where it should have been left out


#: What `strip` gives for a member of a union that nobody knows.
GONE: Final = object()


def strip(value: Any, shape: Any, pointer: str, taken: list[str]) -> Any:
    """Give the value without what nobody knows, whose pointers go into `taken`; GONE when that is all of it."""
    if isinstance(shape, StringOr):
        shape = shape.other
    if isinstance(shape, Items) and is_array(value):
        kept = [strip(item, shape.of, f"{pointer}/{i}", taken) for i, item in enumerate(value)]
        taken += [f"{pointer}/{i}" for i, item in enumerate(kept) if item is GONE]
        return [item for item in kept if item is not GONE]
    if not is_object(value):
        return value
    if isinstance(shape, Union):
        tag = value.get(shape.tag)
        member = shape.members.get(tag) if isinstance(tag, str) else None
        return GONE if member is None else strip(value, member, pointer, taken)
    return _strip_object(value, shape, pointer, taken) if isinstance(shape, Shape) else value


def _strip_object(value: dict[str, Any], shape: Shape, pointer: str, taken: list[str]) -> Any:
    kept: dict[str, Any] = {}
    for key, item in value.items():
        place = f"{pointer}/{escape(key)}"
        inner = shape.required.get(key, shape.optional.get(key))
        if inner is None:
            if shape.open:
                kept[key] = item
            else:
                taken.append(place)
            continue
        item = strip(item, inner, place, taken)  # noqa: PLW2901  what is left of it
        if item is not GONE:
            kept[key] = item
        elif key in shape.required:
            return GONE
        else:
            taken.append(place)
    return kept


def misfit(value: Any, shape: Any, pointer: str = "") -> Misfit | None:
    """Find the first place where a stripped value is not what its shape says."""
    if isinstance(shape, StringOr):
        return None if isinstance(value, str) else misfit(value, shape.other, pointer)
    if isinstance(shape, Leaf):
        return None if shape.fits(value) else Misfit(pointer, f"{shown(value)} is not {shape.name}", value is None)
    if isinstance(shape, Items):
        return _misfit_in_list(value, shape, pointer)
    if not is_object(value):
        return Misfit(pointer, f"{shown(value)} is no object", value is None)
    return _misfit_in_object(value, shape.members[value[shape.tag]] if isinstance(shape, Union) else shape, pointer)


def _misfit_in_list(value: Any, shape: Items, pointer: str) -> Misfit | None:
    if not is_array(value):
        return Misfit(pointer, f"{shown(value)} is no list", value is None)
    if len(value) < shape.least:
        return Misfit(pointer, f"the list has at least {shape.least}")
    return next((found for i, item in enumerate(value) if (found := misfit(item, shape.of, f"{pointer}/{i}"))), None)


def _misfit_in_object(value: dict[str, Any], shape: Shape, pointer: str) -> Misfit | None:
    missing = next((key for key in shape.required if key not in value), None)
    if missing is not None:
        return Misfit(pointer, f"there is no {missing}")
    inner = {**shape.required, **shape.optional}
    places = ((key, f"{pointer}/{escape(key)}") for key in value if key in inner)
    return next((found for key, place in places if (found := misfit(value[key], inner[key], place))), None)
