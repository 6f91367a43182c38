"""
How deep JSON text nests, which is limited, since readers recurse.

Law: what is said does not depend on the text being read. Most events are told by their length: beside the fields that must be
there, and the text that makes an event long, there is no room for so many brackets.
"""

from __future__ import annotations

import re
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from eventfold_models import structs
from eventfold_models.tables import EVENTS, REQUIRED

from eventfold.byclass import ByClass

if TYPE_CHECKING:
    from collections.abc import Callable

#: Deepest nesting of an event, counted in brackets.
MAX_DEPTH = 100

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)


def depth_of(data: bytes) -> int:
    """Count how deep brackets nest, without parsing."""
    depth = deepest = 0
    for token in _TOKEN.finditer(data):
        char = token.group()
        if char in {b"[", b"{"}:
            depth += 1
            deepest = max(deepest, depth)
        elif char in {b"]", b"}"}:
            depth -= 1
    return deepest


def too_deep(data: bytes) -> bool:
    """Tell whether the text nests deeper than the limit; cheap when it has few brackets."""
    # Most events hold few: a search is quicker than a count, which looks at each byte on its own.
    at = data.find(b"{", data.find(b"{") + 1)
    if data.find(b"[") < 0 and (at < 0 or data.find(b"{", at + 1) < 0):
        return False
    return data.count(b"[") + data.count(b"{") > MAX_DEPTH and depth_of(data) > MAX_DEPTH


def _shortest(class_name: str, name: str) -> int:
    """Give the least length of an event's text in which every field stands that must be there."""
    return len('{"type":""}') + len(name) + sum(len(',"":0') + len(field) for field in REQUIRED[class_name] if field != "type")


#: The longest text of each class in which brackets cannot nest beyond the limit, since so many do not fit beside its fields.
SHALLOW = ByClass({getattr(structs, class_name): _shortest(class_name, name) + 2 * (MAX_DEPTH - 1) for name, class_name in EVENTS.items()})


def _longest(class_name: str) -> Callable[[Any], Any] | None:
    """Give what reads the text of an event that may be long, if it has one."""
    hints: dict[str, str] = getattr(structs, class_name).__annotations__
    texts = [field for field, hint in hints.items() if hint == "str"] + [field for field in hints if field == "data"]
    return attrgetter(texts[-1]) if texts else None


#: The least of these.
SHALLOWEST = min(SHALLOW.values())

#: What reads the text that makes an event of a class long.
_LONGEST = ByClass({getattr(structs, class_name): _longest(class_name) for class_name in EVENTS.values()})


def nests_too_deep(event: object, data: bytes) -> bool:
    """Tell whether an event's text nests deeper than the limit. A long text leaves no more room for brackets than a short one."""
    struct = type(event)
    if len(data) <= SHALLOW[struct]:
        return False
    longest = _LONGEST[struct]
    if longest is not None and (text := longest(event)) and len(data) - len(text) <= SHALLOW[struct]:
        return False
    return too_deep(data)
