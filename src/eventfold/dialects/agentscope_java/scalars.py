"""
Fields as Jackson reads them: a number is taken for a string, null for nothing, an enum by its literal or its index.

And what is written for it: metadata without nulls, arguments as an object where they are one.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from eventfold.dialects.translation import NAMESPACE, UNFIT, Unfit
from eventfold.jsonvalue import copy_json, depth_of, is_array, is_object

if TYPE_CHECKING:
    from eventfold.shape import Wire

#: The deepest value that is parsed for `input`; the raw text beside it may be anything.
_DEEPEST = 90
_LONGEST_NUMBER = 300


def text_of(value: Any, pointer: str) -> str | None:
    """Read a string as Jackson does: numbers and booleans are written out. Raises Unfit."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise Unfit(UNFIT, "a string is expected", pointer)


def object_of(value: Any, pointer: str) -> Wire | None:
    """Read an object. Raises Unfit."""
    if value is None:
        return None
    if not is_object(value):
        raise Unfit(UNFIT, "an object is expected", pointer)
    return copy_json(value)


def list_of(value: Any, pointer: str) -> list[Any]:
    """Read a list; null is an empty one. Raises Unfit."""
    if value is None:
        return []
    if not is_array(value):
        raise Unfit(UNFIT, "a list is expected", pointer)
    return value


def choice_of(value: Any, pointer: str, choices: tuple[str, ...], default: str) -> str:
    """Read an enum: its literal, or its index. Raises Unfit."""
    if value is None:
        return default
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(choices):
        return choices[value]
    if value not in choices:
        raise Unfit(UNFIT, f"{value!r} is none of {', '.join(choices)}", pointer)
    return value


def without_null(metadata: Any) -> Wire | None:
    """Copy metadata without nulls, which Java's copy of a map refuses, and without our key."""
    if not is_object(metadata):
        return None
    return {key: copy_json(item) for key, item in metadata.items() if item is not None and key != NAMESPACE}


def parsed(text: str) -> Wire | None:
    """Parse arguments as Java would hold them; None when they are no JSON object."""
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_short)
    except (ValueError, RecursionError):
        return None
    return value if is_object(value) and depth_of(value) <= _DEEPEST and well_formed(text) else None


def well_formed(text: str) -> bool:
    """Tell whether text, also when its escapes are read, has no lone surrogate."""
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse(text: str) -> Any:
    message = f"{text} is no JSON"
    raise ValueError(message)


def _finite(text: str) -> float:
    value = float(text)
    return value if abs(value) < float("inf") and len(text) <= _LONGEST_NUMBER else _refuse(text)


def _short(text: str) -> int:
    return int(text) if len(text) <= _LONGEST_NUMBER else _refuse(text)
