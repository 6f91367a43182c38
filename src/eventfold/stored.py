"""
Stored messages -> findings.

Law: a message is judged by the schema of its role, so that what passes can be loaded again. Pairing of
calls and results is a warning: history may have been cut.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from eventfold_models.tables import BLOCKS, DEFAULTS, MESSAGES, ROLE_BLOCKS

from .table import CALL_KIND, MACHINES
from .wire.reader import unknown_fields
from .wire.schema import errors

if TYPE_CHECKING:
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
        _check_pairs(message, collector, place)


def _check_pairs(message: Wire, collector: Collector, place: dict[str, Any]) -> None:
    """Pair calls and results by occurrence, and look for ids that stand twice."""
    owed: dict[str, list[str]] = {}  # where the calls stand that have no result yet
    early: Counter[str] = Counter()  # results that stand before their call: it is not without one
    ids: Counter[tuple[str, str]] = Counter()

    def add(rule: str, key: str, pointer: str) -> None:
        values = {"key": repr(key), "reply_id": repr(message["id"])}
        collector.add(rule, (message["id"], key), **place, pointer=pointer, reply_id=message["id"], values=values)

    def answer(key: str, pointer: str, *, ended: bool) -> None:
        calls = owed.get(key, [])
        if not calls and CALL_KIND in ROLE_BLOCKS[message["role"]]:
            add("message.result-without-call", key, pointer)
        if ended and calls:
            calls.pop(0)
        elif ended:
            early[key] += 1

    for i, block in enumerate(message["content"]):
        kind, pointer = block["type"], f"/content/{i}"
        key: str = block.get("id") or pointer
        ids[kind, key] += 1
        if ids[kind, key] > 1:
            add("message.repeated-id", key, pointer)
        if kind == CALL_KIND and early[key]:
            early[key] -= 1
        elif kind == CALL_KIND:
            owed.setdefault(key, []).append(pointer)
        elif kind == MACHINES["result"].kind:
            answer(key, pointer, ended=block.get("state") not in {None, DEFAULTS[BLOCKS[kind]]["state"]})
    if message.get("finished_at") is not None:
        for key, pointer in ((key, pointer) for key, calls in owed.items() for pointer in calls):
            add("message.call-without-result", key, pointer)
