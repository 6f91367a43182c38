"""
One event's JSON text -> a Python value, with what is wrong about the text.

This is the slow way, for what the engine's decoder refused. What a JSON parser itself refuses is listed
here and nowhere else: NaN and Infinity, numbers that no double holds, nesting beyond the limit. Bytes
that are not UTF-8 and lone surrogates are repaired with U+FFFD, so that half an answer is not lost.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from eventfold.jsonvalue import escape, is_array, is_object

from .depth import MAX_DEPTH, depth_of, too_deep

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The rule of what nests deeper than the limit.
TOO_DEEP = "event.too-deep"

#: How much of a number is shown.
_SHOWN = 40

#: The most digits of an integer: what Python reads without being told to (its time grows with their square).
_DIGITS = 4300

_SURROGATE = re.compile("[\ud800-\udfff]")


class Unreadable(ValueError):
    """The text is no JSON value that can be used; `rule` says which rule it breaks."""

    def __init__(self, rule: str, detail: str, repairs: Sequence[tuple[str, str, str]] = ()) -> None:
        super().__init__(detail)
        self.rule = rule
        self.detail = detail
        self.repairs = repairs  #: what is wrong besides, as `parse` gives it


def parse(data: bytes, *, halves: bool = False) -> tuple[Any, list[tuple[str, str, str]]]:
    """
    Parse one event. Gives the value and what had to be repaired: (rule, pointer, detail).

    With `halves`, lone surrogates are left: the other half of the character may come with the next value.

    Raises:
        Unreadable: there is no value.

    """
    if too_deep(data):
        raise Unreadable(TOO_DEEP, f"nested {depth_of(data):,} deep, at most {MAX_DEPTH} is allowed")
    import json  # noqa: PLC0415  as below

    import orjson  # noqa: PLC0415  takes time to import, and what is in order needs neither

    try:
        return orjson.loads(data), []
    except orjson.JSONDecodeError:
        pass
    repairs: list[tuple[str, str, str]] = []
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        repairs.append(("wire.not-utf8", "", f"byte {data[error.start]:#04x} at column {error.start + 1} ({error.reason})"))
        text = data.decode("utf-8", "replace")
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_whole)
    except ValueError as error:
        rule = "wire.not-json"
        raise Unreadable(rule, _explain(error, text), repairs) from None
    return value if halves else _repair_surrogates(value, "", repairs), repairs


def _refuse(name: str) -> Any:
    message = f"{name} is no JSON number"
    raise ValueError(message)


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS:
        message = f"a number of {len(digits):,} digits is beyond what is read: {_DIGITS:,} digits"
        raise ValueError(message)
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        message = f"{digits[:_SHOWN]} is beyond what a double holds"
        raise ValueError(message)
    return number


def _explain(error: ValueError, text: str) -> str:
    import json  # noqa: PLC0415  as above

    if isinstance(error, json.JSONDecodeError):
        near = text[max(error.pos - 10, 0) : error.pos + 20]
        return f"{error.msg} at column {error.pos + 1}, near {near!r}"
    return str(error)


def _repair_surrogates(value: Any, pointer: str, repairs: list[tuple[str, str, str]]) -> Any:
    """Put U+FFFD in place of each lone surrogate."""
    if isinstance(value, str):
        fixed, count = _SURROGATE.subn("\ufffd", value)
        if count:
            repairs.append(
                ("event.lone-surrogate", pointer, f"{pointer or 'the text'} has {count} lone surrogate{'s' if count > 1 else ''}")
            )
        return fixed
    if is_array(value):
        return [_repair_surrogates(item, f"{pointer}/{i}", repairs) for i, item in enumerate(value)]
    if is_object(value):
        fixed_keys = ((_repair_surrogates(key, pointer, repairs), item) for key, item in value.items())
        return {key: _repair_surrogates(item, f"{pointer}/{escape(key)}", repairs) for key, item in fixed_keys}
    return value
