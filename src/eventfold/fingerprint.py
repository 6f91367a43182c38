"""
What an event says, as a number: by it a redelivery is told from an id that was used again.

Law: two events of one type have the same fingerprint when their content is the same, however each was written, and in
every process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import xxhash
from eventfold_models.tables import CHILDREN, DEFAULTS

from .jsonvalue import is_array, is_object
from .shape import class_of, wire_of

if TYPE_CHECKING:
    from .table import Plan

digest_of = xxhash.xxh3_64_intdigest
encode = msgspec.json.Encoder(order="deterministic").encode


def fingerprint(plan: Plan, event: Any) -> int:
    """
    Digest an event's content, the same in every process.

    What is absent, null or empty counts as absent, a default as given, 1.0 as 1. Fields of an event that no schema names do not
    count, since transports add their own; those inside of what it carries do, since they go into the message.
    """
    if plan.plain and not event.metadata and not event.source_path and (plan.spare is None or not any(plan.spare(event))):
        # Nothing to even out, as for most events. The events of one block differ in their text alone.
        return digest_of(plan.tail(event).encode(), salt(plan, event)) if plan.text else digest_of(encode(plan.own(event)), plan.number)
    content = [value or (value if type(value) is int else None) for value in plan.content(event)]
    if plan.bulk is not None and content[plan.bulk] is not None:
        # Megabytes of it may come, and what is digested needs no quotes.
        data: Any = content[plan.bulk]
        content[plan.bulk] = [digest_of(data.encode())]
    for place, default in plan.defaults:
        if content[place] is None:
            content[place] = default
    for place, name in plan.nested:
        value = content[place]
        if value is not None:
            content[place] = _content_of(value, name) if name else _number_of(value)
    return digest_of(encode(content), plan.number)


def salt(plan: Plan, event: Any) -> int:
    """Digest the content but for the text: the key."""
    return digest_of(plan.key_of(event).encode(), plan.number)


def _content_of(value: Any, name: str) -> Any:
    """Give what counts of a value of a class or union, or of a list of them."""
    if is_array(value):
        return [_content_of(item, name) for item in value] or None
    if isinstance(value, msgspec.Struct):
        value = wire_of(value, name)
    if not is_object(value):
        return value or None
    name = class_of(value, name)
    children = CHILDREN.get(name, {})
    given = {**DEFAULTS.get(name, {}), **{key: item for key, item in value.items() if item is not None}}
    content = {key: _content_of(item, children[key]) if key in children else _number_of(item) for key, item in given.items()}
    return {key: item for key, item in content.items() if item is not None and item not in ("", [], {})}


def _number_of(value: Any) -> Any:
    """Write integral numbers as integers, however deep they stand."""
    if is_object(value):
        return {key: _number_of(item) for key, item in value.items()}
    if is_array(value):
        return [_number_of(item) for item in value]
    return int(value) if type(value) is float and value.is_integer() else value
