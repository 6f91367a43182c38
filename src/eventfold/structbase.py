"""
What every generated struct stands on.

The structs are what the engine decodes an event into. They are strict: an unknown field is refused, so
that the event is looked at again and nothing of it is lost. Imports nothing of ours.
"""

from __future__ import annotations

import msgspec


class WireStruct(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A value of the contract, as the engine reads it. An absent field is UNSET, which is false."""


class ExactlyOneOfDataUrl(WireStruct):
    """The rule of DataCarrier's schema, which is a condition and so no part of a generated class."""

    def __post_init__(self) -> None:
        """Refuse both and neither; msgspec makes a ValidationError of it."""
        if isinstance(getattr(self, "data", None), str) == isinstance(getattr(self, "url", None), str):
            message = "exactly one of data and url must be a string"
            raise ValueError(message)
