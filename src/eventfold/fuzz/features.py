"""
What a stream asks of a reducer, as features of the harness protocol.

Law: a stream's features follow from the machines that its events feed, by one table; what no reducer is asked, it cannot fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventfold.table import PLANS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eventfold.shape import Wire

#: What a reducer must do with broken streams.
REPAIR = "repair"
#: The feature that a step of an event belongs to: by machine, or by machine and input.
FEATURES_OF_STEPS = {
    "text": "text",
    "thinking": "thinking",
    "data": "data",
    "part": "data",
    "hint": "hints",
    "model_call": "usage",
    "arguments": "tools",
    "result": "tools",
    "call.ask": "confirmation",
    "call.confirm": "confirmation",
    "call.deny": "confirmation",
    "call.submit": "external",
    "result.arrive": "external",
}


def _features_of_type(name: str) -> frozenset[str]:
    plan = PLANS[name]
    steps = {step.machine.name: (step.fixed, step.otherwise, *step.values.values(), *dict(step.present).values()) for step in plan.steps}
    keys = {*steps, *(f"{machine}.{given}" for machine, inputs in steps.items() for given in inputs), *(["part"] if plan.part else [])}
    return frozenset(FEATURES_OF_STEPS[key] for key in keys & set(FEATURES_OF_STEPS))


FEATURES_OF = {name: _features_of_type(name) for name in PLANS}


def features_of(events: Iterable[Wire]) -> set[str]:
    """Name what a stream holds."""
    found: set[str] = set()
    replies: set[str] = set()
    for event in events:
        found |= FEATURES_OF.get(str(event.get("type")), frozenset())
        if isinstance(event.get("reply_id"), str):
            replies.add(event["reply_id"])
    return found | {"several-replies"} if len(replies) > 1 else found
