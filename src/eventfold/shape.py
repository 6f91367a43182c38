"""
Values of the contract as JSON: which class a value has, and how it is written.

What eventfold writes leaves out what is absent, and shares nothing with what it was made of.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from eventfold_models.tables import CHILDREN, DEFAULTS, FIELDS, REQUIRED, UNIONS

from .jsonvalue import copy_json, is_array, is_object

Wire = dict[str, Any]


def class_of(value: Wire, name: str) -> str:
    """Give the class of a value of a class or union: the member that its tag names."""
    if name not in UNIONS:
        return name
    tag, members = UNIONS[name]
    return members.get(str(value.get(tag)), "")


@cache
def _fields_of(struct: type[msgspec.Struct]) -> tuple[tuple[str, bool, Any], ...]:
    """Give the names of a struct's fields, whether each is required, and what null means for the others."""
    return tuple((field.name, field.required, field.default) for field in msgspec.structs.fields(struct))


def wire_of(value: Any, name: str) -> Any:
    """
    Write a value of a class or union, or a list of them, as a dict of its own.

    Takes structs, or dicts when a struct would lose something. Absent and optional null fields are left out;
    unknown fields are kept.
    """
    if isinstance(value, msgspec.Struct):
        config = value.__struct_config__
        wire: Wire = {config.tag_field: config.tag} if config.tag_field else {}
        for key, required, default in _fields_of(type(value)):
            item = getattr(value, key)
            item = default if item is None and not required else item
            if item is not msgspec.UNSET:
                wire[key] = copy_json(item) if isinstance(item, dict) else wire_of(item, "")
        return wire
    if is_array(value):
        return [wire_of(item, name) for item in value]
    if is_object(value):
        name = class_of(value, name)
        children = CHILDREN.get(name, {})
        optional = set(FIELDS.get(name, ())).difference(REQUIRED.get(name, ()))
        return {
            key: wire_of(item, children[key]) if key in children else copy_json(item)
            for key, item in value.items()
            if item is not None or key not in optional
        }
    return value


def carried(value: Any, name: str) -> Any:
    """
    Write a value that an event carries whole, with the defaults of what is absent.

    A struct does not tell a default that was given from one that was not, so that neither may a dict.
    """
    return with_defaults(wire_of(value, name), name)


def with_defaults(value: Any, name: str) -> Any:
    """Fill in what the schema says is meant when nothing is said."""
    if is_array(value):
        return [with_defaults(item, name) for item in value]
    if not is_object(value):
        return value
    name = class_of(value, name)
    children = CHILDREN.get(name, {})
    filled = {**value, **{key: item for key, item in DEFAULTS.get(name, {}).items() if key not in value}}
    return {key: with_defaults(item, children[key]) if key in children else item for key, item in filled.items()}
