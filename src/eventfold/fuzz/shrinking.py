"""
A stream on which a reducer is wrong -> a small one on which it is wrong in the same way.

Law: the result still fails under the same key, and nothing that can be left out of it is left in: events, replies, fields, text.
Deterministic: the same stream and the same reducer give the same result.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from eventfold_models.tables import EVENTS, REQUIRED

from eventfold.jsonvalue import is_array, is_object
from eventfold.table import PLANS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventfold.shape import Wire

#: How many streams are tried to make one smaller. Counted, since time would make the result depend on the machine.
TRIES = 2000

#: Fields that say what an event is and whose: they are renamed, not emptied.
_NAMES = frozenset({"type", "id", "reply_id", "block_id", "tool_call_id", "created_at"})


def shrink(events: list[Wire], fails: Callable[[list[Wire]], bool], *, tries: int = TRIES) -> list[Wire]:
    """Give the smallest stream found for which `fails` holds."""
    best = events
    better = True
    while better and tries > 0:
        better = False
        for step in _STEPS:
            candidates = step(best)
            candidate = next(candidates, None)
            while candidate is not None and tries > 0:
                if _size(candidate) < _size(best):
                    tries -= 1
                    if fails(candidate):
                        best, better = candidate, True
                        candidates = step(best)
                candidate = next(candidates, None)
    return best


def _size(events: list[Wire]) -> tuple[int, int, str]:
    text = json.dumps(events)
    return len(events), len(text), text


def _one_reply(events: list[Wire]) -> Iterator[list[Wire]]:
    """Keep the events of one reply."""
    for reply_id in dict.fromkeys(str(event.get("reply_id")) for event in events):
        yield [event for event in events if str(event.get("reply_id")) == reply_id]


def _without_instance(events: list[Wire]) -> Iterator[list[Wire]]:
    """Leave out all that names one block or call, or all events of one type."""
    for key in dict.fromkeys(key for event in events for key in _keys(event)):
        kept = [left for event in events if (left := _without(event, key)) is not None]
        if kept:
            yield kept
    for name in dict.fromkeys(str(event.get("type")) for event in events):
        yield [event for event in events if event.get("type") != name]


def _keys(event: Wire) -> Iterator[tuple[str, str]]:
    plan = PLANS.get(str(event.get("type")))
    if plan is None or plan.kind is None:
        return
    items: Any = event.get(plan.items) if plan.items else [event]
    for source in items if is_array(items) else ():
        key: Any = source
        for name in plan.key:
            key = key.get(name) if is_object(key) else None
        if isinstance(key, str):
            yield plan.kind, key


def _without(event: Wire, key: tuple[str, str]) -> Wire | None:
    """Give an event without what names an instance: the items of its list, or all of it."""
    keys = list(_keys(event))
    if key not in keys:
        return event
    plan = PLANS[event["type"]]
    if plan.items is None or len(keys) == 1:
        return None
    return {**event, plan.items: [item for item, its_key in zip(event[plan.items], keys, strict=False) if its_key != key]}


def _without_run(events: list[Wire]) -> Iterator[list[Wire]]:
    """Leave out runs of events, long ones first."""
    length = len(events) // 2
    while length:
        for start in range(len(events) - length, -1, -1):
            yield events[:start] + events[start + length :]
        length //= 2


def _without_pair(events: list[Wire]) -> Iterator[list[Wire]]:
    """Leave out two events: a start and its end."""
    for i in range(len(events)):
        for j in range(i + 1, len(events)):
            yield [event for place, event in enumerate(events) if place not in {i, j}]


def _plain_names(events: list[Wire]) -> Iterator[list[Wire]]:
    """Give plain ids and times: all at once, since they depend on each other, then the events' own ids alone."""
    names: dict[str, str] = {}
    for event in events:
        for prefix, value in [("r", event.get("reply_id")), *(("b", key) for _, key in _keys(event))]:
            if isinstance(value, str) and value not in names:
                names[value] = f"{prefix}{sum(name.startswith(prefix) for name in names.values()) + 1}"
    yield [_renamed(event, names) for event in _numbered(events)]
    yield _numbered(events)
    yield [_renamed(event, names) for event in events]


def _numbered(events: list[Wire]) -> list[Wire]:
    return [{**event, "id": f"e{i}", "created_at": f"2026-01-01T00:00:{i % 60:02d}"} for i, event in enumerate(events, 1)]


def _renamed(value: Any, names: dict[str, str], field: str = "") -> Any:
    if is_object(value):
        return {key: _renamed(item, names, key) for key, item in value.items()}
    if is_array(value):
        return [_renamed(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) and (field.endswith("_id") or field == "id") else value


def _simpler(events: list[Wire]) -> Iterator[list[Wire]]:
    """Leave out a field, or make its value simpler."""
    for i, event in enumerate(events):
        required = REQUIRED.get(EVENTS.get(str(event.get("type")), ""), ())
        for name in [name for name in event if name not in _NAMES]:
            if name not in required:
                yield [*events[:i], {key: value for key, value in event.items() if key != name}, *events[i + 1 :]]
            for value in _simpler_values(event[name]):
                yield [*events[:i], {**event, name: value}, *events[i + 1 :]]


def _simpler_values(value: Any) -> Iterator[Any]:
    """Give simpler values, the simplest first."""
    if isinstance(value, str) and value:
        yield from ("", "a", value[: len(value) // 2], value[1:], value[:-1])
    elif isinstance(value, int | float) and not isinstance(value, bool) and value:
        yield from (0, 1)
    elif is_array(value):
        for i, item in enumerate(value):
            yield [*value[:i], *value[i + 1 :]]
            yield from ([*value[:i], simpler, *value[i + 1 :]] for simpler in _simpler_values(item))
    elif is_object(value):
        for key, item in value.items():
            yield {name: other for name, other in value.items() if name != key}
            yield from ({**value, key: simpler} for simpler in _simpler_values(item))


_STEPS: tuple[Callable[[list[Wire]], Iterator[list[Wire]]], ...] = (
    _one_reply,
    _without_instance,
    _without_run,
    _without_pair,
    _plain_names,
    _simpler,
)
