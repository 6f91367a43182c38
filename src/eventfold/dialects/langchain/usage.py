"""
LangChain's usage_metadata -> the tokens of a model call.

Law: usage is counted once. What comes in parts adds up, as LangChain adds it; a reading of the whole call replaces what was known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventfold.dialects.run import count_of
from eventfold.jsonvalue import copy_json, is_object

if TYPE_CHECKING:
    from eventfold.shape import Wire


def tokens(usage: Wire) -> Wire:
    """Give usage as fields of the end of a model call."""
    details = usage.get("input_token_details")
    details = details if is_object(details) else {}
    named = {
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "cache_input_tokens": details.get("cache_read"),
        "cache_creation_input_tokens": details.get("cache_creation"),
    }
    return {name: count for name, value in named.items() if (count := count_of(value)) is not None}


def reading(known: Wire, usage: Wire) -> bool:
    """Tell usage of the whole call from usage that adds up: it is nowhere smaller, and counts the input again."""
    before = [count_of(known.get(name)) or 0 for name in ("input_tokens", "output_tokens")]
    after = [count_of(usage.get(name)) or 0 for name in ("input_tokens", "output_tokens")]
    return before[0] > 0 and after[0] >= before[0] and after[1] >= before[1]


def merged_usage(left: Wire, right: Wire, fallback: Wire | None = None) -> Wire:
    """Add usage up, details and all; `fallback` gives what neither has."""
    result = copy_json({**(fallback or {}), **left})
    for key, value in right.items():
        known = left.get(key)
        if is_object(value):
            before = result.get(key)
            result[key] = merged_usage(known if is_object(known) else {}, value, before if is_object(before) else {})
        elif count_of(value) is not None:
            result[key] = value + (count_of(known) or 0)
        elif value is not None:
            result[key] = copy_json(value)
    return result
