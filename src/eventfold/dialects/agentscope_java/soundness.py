"""
What a JSON value may be: not nested too deep, finite numbers, well-formed text.

A lone surrogate becomes U+FFFD, as everywhere; what else is wrong makes the value unfit.
"""

from __future__ import annotations

import math
from typing import Any

from eventfold.dialects.translation import UNFIT, Unfit
from eventfold.jsonvalue import depth_of, is_array, is_object

#: The deepest nesting that the contract allows.
DEEPEST = 100
_LEAST, _MOST = -(2**63), 2**64 - 1


def sound(value: Any) -> Any:
    """Copy a value, its text repaired. Raises Unfit."""
    if depth_of(value) > DEEPEST:
        raise Unfit(UNFIT, f"it nests deeper than {DEEPEST}")
    return _copy(value)


def _copy(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if is_object(value):
        return {_copy(key): _copy(item) for key, item in value.items()}
    if is_array(value):
        return [_copy(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise Unfit(UNFIT, f"{value} is no JSON number")
    if isinstance(value, int) and not _LEAST <= value <= _MOST:
        raise Unfit(UNFIT, "a number is larger than readers hold")
    return value
