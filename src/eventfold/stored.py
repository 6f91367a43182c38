"""
Stored messages -> findings.

Law: a message is judged by the schema of its role, so that what passes can be loaded again. Pairing of
calls and results is a warning: history may have been cut.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from eventfold_models.tables import BLOCKS, CHILDREN, DEFAULTS, MESSAGES, ROLE_BLOCKS, TIMES

from .jsonvalue import is_array, is_object, shown
from .shape import class_of
from .table import CALL_KIND, MACHINES
from .timestamps import is_timestamp
from .wire.reader import unknown_fields
from .wire.schema import errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .findings import Collector
    from .shape import Wire


def check_message(message: Wire, index: int, line: int | None, collector: Collector) -> None:
    """Add what is wrong with a message. `index` is its position among the messages, from 0."""
    place: dict[str, Any] = {"index": index, "line": line}
    role = message.get("role")
    if not isinstance(role, str) or role not in MESSAGES:
        detail = f"role is {role!r}, expected one of {', '.join(MESSAGES)}"
        collector.add("message.schema", (str(index), "/role"), **place, pointer="/role", values={"detail": detail})
        return
    broken = errors(message, MESSAGES[role])
    # In a block of the wrong kind every field is unknown: that is not what is wrong with it.
    for pointer in unknown_fields(message, MESSAGES[role]) if not broken else ():
        name = pointer.rsplit("/", 1)[-1]
        collector.add("message.unknown-field", (name,), **place, pointer=pointer, values={"detail": f"{pointer} is no field of the schema"})
    for pointer, detail in broken:
        collector.add("message.schema", (str(index), pointer), **place, pointer=pointer, values={"detail": f"a {role} message: {detail}"})
    if not broken:
        for pointer, text in _times(message, MESSAGES[role]):
            if not is_timestamp(text):
                values = {"detail": f"{pointer} is {shown(text)}"}
                collector.add("message.not-timestamp", (pointer.rsplit("/", 1)[-1],), **place, pointer=pointer, values=values)
        _check_pairs(message, collector, place)


def _times(value: Any, name: str, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Give the points in time of a value of a class or union, and of what it holds, with their pointers."""
    if is_array(value):
        for i, item in enumerate(value):
            yield from _times(item, name, f"{pointer}/{i}")
    elif is_object(value):
        name = class_of(value, name)
        yield from ((f"{pointer}/{key}", value[key]) for key in TIMES.get(name, ()) if value.get(key) is not None)
        for key, child in CHILDREN.get(name, {}).items():
            yield from _times(value.get(key), child, f"{pointer}/{key}")


def _check_pairs(message: Wire, collector: Collector, place: dict[str, Any]) -> None:
    """Look for ids that stand twice, for results without calls and calls without results."""

    def add(rule: str, key: str, place_in_message: int) -> None:
        values = {"key": repr(key), "reply_id": repr(message["id"])}
        pointer = f"/content/{place_in_message}"
        collector.add(rule, (message["id"], key), **place, pointer=pointer, reply_id=message["id"], values=values)

    keyed = [(block["type"], block.get("id") or f"/content/{i}", block) for i, block in enumerate(message["content"])]
    seen: set[tuple[str, str]] = set()
    for i, (kind, key, _) in enumerate(keyed):
        if (kind, key) in seen:
            add("message.repeated-id", key, i)
        seen.add((kind, key))
    unasked, unanswered = _unpaired(keyed)
    if CALL_KIND in ROLE_BLOCKS[message["role"]]:
        for i in unasked:
            add("message.result-without-call", keyed[i][1], i)
    if message.get("finished_at") is not None:
        for i in unanswered:
            add("message.call-without-result", keyed[i][1], i)


def _unpaired(keyed: list[tuple[str, str, Wire]]) -> tuple[list[int], list[int]]:
    """Pair calls and results by occurrence: where results stand that follow no call, and calls that have no result in a terminal state."""
    kind_of_result = MACHINES["result"].kind
    running = {None, DEFAULTS[BLOCKS[str(kind_of_result)]]["state"]}
    owed: dict[str, list[int]] = {}
    early: Counter[str] = Counter()  # results that stand before their call, which is not without one
    unasked: list[int] = []
    for i, (kind, key, block) in enumerate(keyed):
        calls = owed.setdefault(key, [])
        if kind == CALL_KIND:
            early[key] -= 1
            if early[key] < 0:
                early[key] = 0
                calls.append(i)
        elif kind == kind_of_result:
            if not calls:
                unasked.append(i)
            if block.get("state") not in running:
                early[key] += not calls
                del calls[:1]
    return unasked, [i for calls in owed.values() for i in calls]
