"""
A decoder of one class alone, for a run of events that are all of it: it need not look for the type first.

Law: what it takes, the decoder of all classes takes, and reads the same. What it refuses is still to be read by that one.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

#: After how many events of one class the next is guessed to be one. A wrong guess costs as much as a right one saves for six.
ENOUGH = 8


@cache
def alone(struct: type[msgspec.Struct]) -> Callable[[bytes], Any]:
    """Give what decodes a class. Its events are of a class of their own, which extends the given one."""
    # Without the union, msgspec takes an event that has no type: so the type is a field, and has to be there.
    field = ("type_", Literal[struct.__struct_config__.tag], msgspec.field(name="type"))
    strict = msgspec.defstruct(struct.__name__, [field], bases=(struct,), tag=False, kw_only=True, forbid_unknown_fields=True, gc=False)
    return msgspec.json.Decoder(strict).decode
