"""
What a Java value does not say, as a patch: `set` and `drop` of fields.

Law: applied(given, difference(wanted, given)) == wanted. A patch shares nothing with what it was made of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.jsonvalue import copy_json, is_array, is_object

if TYPE_CHECKING:
    from eventfold.shape import Wire


def difference(wanted: Wire, given: Wire) -> Wire:
    """Say what makes `wanted` of `given`; empty when they are equal."""
    setting = {key: copy_json(item) for key, item in wanted.items() if key not in given or not same(given[key], item)}
    dropping = [key for key in given if key not in wanted]
    return {**({"set": setting} if setting else {}), **({"drop": dropping} if dropping else {})}


def applied(given: Wire, patch: Any) -> Wire:
    """Change a value as a patch says. What is no patch changes nothing."""
    if not is_object(patch):
        return given
    setting, dropping = patch.get("set"), patch.get("drop")
    changed = {**given, **copy_json(setting)} if is_object(setting) else dict(given)
    for key in dropping if is_array(dropping) else ():
        if isinstance(key, str):
            changed.pop(key, None)
    return changed


def same(one: Any, other: Any) -> bool:
    """Tell whether two JSON values are equal; unlike `==`, true is not 1."""
    if is_object(one) and is_object(other):
        return one.keys() == other.keys() and all(same(item, other[key]) for key, item in one.items())
    if is_array(one) and is_array(other):
        return len(one) == len(other) and all(same(left, right) for left, right in zip(one, other, strict=True))
    return isinstance(one, bool) == isinstance(other, bool) and one == other
