"""
The short way for what comes most: one more delta of the block that the last one went to.

Law: a lane is the table's own answer, kept. There is one only where the cells of all steps lead back to where they stand, so
that the next event of the type and the instance finds the same cells; any step that does more ends it.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from .fingerprint import salt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .instances import Instance, Reply
    from .table import Plan

    #: For an effect that does nothing but append the event's text: what appends to an instance.
    Appender = Callable[[Instance], Callable[[str], None]]


class Lane:
    """What an event of one type does to one instance, as long as nothing else happens in its reply."""

    __slots__ = ("append", "draft", "key", "read", "salt", "struct")

    def __init__(self, plan: Plan, instance: Instance, event: Any, append: Callable[[str], None]) -> None:
        self.struct = type(event)
        self.key = instance.key
        self.append = append
        #: Reads the key, what any event may carry, and the text.
        self.read: Callable[[Any], tuple[str, Any, Any, str]] = attrgetter(*plan.key, "metadata", "source_path", plan.text)
        #: Of the fingerprint, all but the text.
        self.salt = salt(plan, event)
        #: The draft whose deltas are compared, unless nothing comes of it.
        self.draft: Any = None


def lane_of(plan: Plan, reply: Reply, event: Any, appenders: Mapping[str, Appender]) -> Lane | None:
    """Give the lane of an event that was just applied, if there is one."""
    instance = reply.instances.get(plan.kind or "", {}).get(plan.key_of(event))
    if instance is None or plan.gate is None or not reply.states[plan.gate.machine.slot].cells[plan.gate.fixed or ""].trivial:
        return None
    append = None
    compared = False
    for step in plan.rest:
        state = instance.states[step.machine.slot]
        if step.repeats is not None:
            yes, no = (state.cells[verdict].trivial for verdict in step.verdicts)
            if not no:
                return None
            compared = not yes
        else:
            cell = state.cells[step.fixed or ""]
            if not cell.steady or len(cell.effects) != 1 or cell.effects[0] not in appenders:
                return None
            append = appenders[cell.effects[0]](instance)
    if append is None:
        return None
    lane = Lane(plan, instance, event, append)
    lane.draft = instance.draft if compared else None
    return lane
