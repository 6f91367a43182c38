"""
Stored messages -> findings.

Law: a message is judged by the schema of its role, so that what passes can be loaded again. Pairing of
calls and results is a warning: history may have been cut.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from eventfold_models.tables import MESSAGES

from .table import CALL_KIND, MACHINES
from .wire.json_text import MAX_DEPTH, depth_of_value
from .wire.reader import unknown_fields
from .wire.schema import errors

if TYPE_CHECKING:
    from .draft import Wire
    from .findings import Collector


def check_message(message: Wire, index: int, line: int | None, collector: Collector) -> None:
    """Add what is wrong with a message. `index` is its position among the messages, from 0."""
    place: dict[str, Any] = {"index": index, "line": line}
    if (depth := depth_of_value(message)) > MAX_DEPTH:
        collector.add("message.too-deep", (str(index),), **place, values={"detail": f"nested {depth:,} deep, at most {MAX_DEPTH} is allowed"})
        return
    role = message.get("role")
    if not isinstance(role, str) or role not in MESSAGES:
        detail = f"role is {role!r}, expected one of {', '.join(MESSAGES)}"
        collector.add("message.schema", (str(index), "/role"), **place, pointer="/role", values={"detail": detail})
        return
    for pointer in unknown_fields(message, MESSAGES[role]):
        name = pointer.rsplit("/", 1)[-1]
        collector.add("message.unknown-field", (name,), **place, pointer=pointer, values={"detail": f"{pointer} is no field of the schema"})
    broken = errors(message, MESSAGES[role])
    for pointer, detail in broken:
        collector.add("message.schema", (str(index), pointer), **place, pointer=pointer, values={"detail": f"a {role} message: {detail}"})
    if not broken:
        _check_pairs(message, collector, place)


def _check_pairs(message: Wire, collector: Collector, place: dict[str, Any]) -> None:
    result_kind = MACHINES["result"].kind
    calls: Counter[str] = Counter()
    waiting: Counter[str] = Counter()
    ids: Counter[tuple[str, str]] = Counter()

    def add(rule: str, key: str, pointer: str) -> None:
        values = {"key": repr(key), "reply_id": repr(message["id"])}
        collector.add(rule, (message["id"], key), **place, pointer=pointer, reply_id=message["id"], values=values)

    for i, block in enumerate(message["content"]):
        kind, key, pointer = block["type"], block.get("id"), f"/content/{i}"
        if kind == CALL_KIND:
            calls[key] += 1
            waiting[key] += 1
        elif kind == result_kind and not waiting[key] and message["role"] == "assistant":
            add("message.result-without-call", key, pointer)
        elif kind == result_kind:
            waiting[key] -= block.get("state") not in {None, "running"}
        if key is not None:
            ids[kind, key] += 1
            if ids[kind, key] > 1:
                add("message.repeated-id", key, pointer)
    if message.get("finished_at") is not None:
        for key in calls:
            if waiting[key] > 0:
                add("message.call-without-result", key, "/content")
