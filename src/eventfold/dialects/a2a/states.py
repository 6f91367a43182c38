"""
The states of a task, and what each says about its reply.

Law: a reply that waits for somebody is no reply that failed, and one that was canceled is no success.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from eventfold.shape import Wire


class State(NamedTuple):
    """What a state says."""

    reason: str = ""  #: how the reply ends, if it does
    terminal: bool = False
    waits: str = ""  #: for what the task waits
    fails: bool = False


WORKING, PARKED = "TASK_STATE_WORKING", "TASK_STATE_INPUT_REQUIRED"
COMPLETED, CANCELED, FAILED = "TASK_STATE_COMPLETED", "TASK_STATE_CANCELED", "TASK_STATE_FAILED"

#: Every state, in the order of its number.
STATES: dict[str, State] = {
    "TASK_STATE_UNSPECIFIED": State(),
    "TASK_STATE_SUBMITTED": State(),
    WORKING: State(),
    COMPLETED: State("completed", terminal=True),
    FAILED: State("error", terminal=True, fails=True),
    CANCELED: State("interrupted", terminal=True),
    PARKED: State("completed", waits="input"),
    "TASK_STATE_REJECTED": State("error", terminal=True, fails=True),
    "TASK_STATE_AUTH_REQUIRED": State("completed", waits="auth"),
}
#: The state of a task whose reply ended for a reason. A reason that nobody knows counts as completed.
_ENDS = {"interrupted": CANCELED, "error": FAILED}

#: States that the reason of an end says by itself.
PLAIN = frozenset({COMPLETED, CANCELED, FAILED})

#: Every role, in the order of its number.
ROLES = ("ROLE_UNSPECIFIED", "ROLE_USER", "ROLE_AGENT")


def state_of(end: Wire) -> str:
    """Give the state of a task whose reply ended."""
    return _ENDS.get(end.get("finished_reason", ""), COMPLETED)
