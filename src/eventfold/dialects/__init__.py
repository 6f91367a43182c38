"""
Dialects: pure translations between the contract and what others speak.

A dialect is a module with its mapping tables on top. What a translation cannot carry is a Loss, a value
like a finding, never a silence.
"""

from __future__ import annotations

from typing import NamedTuple


class Loss(NamedTuple):
    """Something that a translation could not carry."""

    pointer: str  #: RFC 6901, into the value that was translated
    reason: str
