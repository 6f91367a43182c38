"""
The short way for what comes most: one more delta of the block that the last one went to.

Law: a lane is the table's own answer, kept. There is one only where the cells of all steps lead back to where they stand, so
that the next event of the type and the instance finds the same cells; any step that does more ends it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .fingerprint import salt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .instances import Instance, Reply
    from .table import Plan


class Appender(NamedTuple):
    """Of an effect that does nothing but append the event's text: what appends to an instance."""

    any: Callable[[Instance], Callable[[str], Any]]
    #: Appends unless it repeats the text before, and tells whether it did.
    other: Callable[[Instance], Callable[[str], bool]] | None = None


class Lane:
    """What an event of one type does to one instance, as long as nothing else happens in its reply."""

    __slots__ = ("append", "key", "read", "salt", "struct")

    def __init__(self, plan: Plan, instance: Instance, event: Any, append: Callable[[str], Any]) -> None:
        self.struct: type = type(event)
        self.key = instance.key
        #: Appends a text; gives False for one that is not for the lane, and leaves it.
        self.append = append
        self.read = plan.read
        #: Of the fingerprint, all but the text.
        self.salt = salt(plan, event)


def lane_of(plan: Plan, reply: Reply, event: Any, appenders: Mapping[str, Appender]) -> Lane | None:
    """Give the lane of an event that was just applied, if there is one."""
    instance = reply.instances.get(plan.kind or "", {}).get(plan.key_of(event))
    if instance is None or plan.gate is None or not reply.states[plan.gate.machine.slot].cells[plan.gate.fixed or ""].trivial:
        return None
    appender = None
    compared = False
    for step in plan.rest:
        state = instance.states[step.machine.slot]
        if step.repeats is not None:
            repeat, differ = (state.cells[verdict].trivial for verdict in step.verdicts)
            if not differ:
                return None
            compared = not repeat
        else:
            cell = state.cells[step.fixed or ""]
            if not cell.steady or len(cell.effects) != 1:
                return None
            appender = appenders.get(cell.effects[0])
    if appender is None:
        return None
    append = appender.other if compared else appender.any
    return Lane(plan, instance, event, append(instance)) if append is not None else None
