"""
Times of messages: Java writes `yyyy-MM-dd HH:mm:ss.SSS` in the time zone of its machine, without saying which; ours are ISO 8601.

What Java wrote becomes a time without offset, and such a time comes back the same. Of ours, the digits are kept and the offset is
left out, since Java's form has none; a text that is no time stays as it is.
"""

from __future__ import annotations

import re

_JAVA = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)")
_OURS = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?")


def from_java(text: str) -> str:
    """Read a time of Java's."""
    found = _JAVA.fullmatch(text)
    return f"{found[1]}T{found[2]}" if found else text


def to_java(text: str) -> str:
    """Write a time as Java does, with milliseconds."""
    found = _OURS.fullmatch(text)
    if found is None:
        return text
    return f"{found[1]} {found[2] or '00:00:00'}.{(found[3] or '.')[1:4]:0<3}"
