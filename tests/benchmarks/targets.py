"""
What is to be reached, as rows: the bar, the goal behind it, and how the figure is read from a run.

Law: a target is judged on figures of one run, at the full size. What was not measured is not judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from .contenders import AGENTSCOPE, BASE64, FLOOR, OURS
from .measure import BARE, SIZES, Measurement, Timing

if TYPE_CHECKING:
    from collections.abc import Callable

#: Everything but the chat may take a third more.
THIRD = 4 / 3


@dataclass
class Run:
    """All that one run measured."""

    machine: dict[str, Any]
    quick: bool = False
    workloads: dict[str, Measurement] = field(default_factory=dict[str, Measurement])
    start_up: dict[str, Timing] = field(default_factory=dict[str, Timing])


class Target(NamedTuple):
    """A row."""

    what: str
    bar: float
    figure: Callable[[Run], float | None]
    goal: float | None = None
    at_least: bool = False  #: the figure has to be as large, not as small

    def verdict(self, figure: float | None) -> str:
        """Say how a figure stands."""
        if figure is None:
            return "not measured"
        sign = -1 if self.at_least else 1
        if self.goal is not None and sign * figure <= sign * self.goal:
            return "goal met"
        return ("met" if self.goal is None else "bar met") if sign * figure <= sign * self.bar else "not met"


def _ratio(workload: str, one: str, other: str, run: Run) -> float | None:
    found = run.workloads[workload].ratio(one, other) if workload in run.workloads else None
    return found[0] if found and found[1] == SIZES[-1] else None


def _growth(run: Run) -> float | None:
    exponents = [found.contenders[OURS].exponent for found in run.workloads.values() if OURS in found.contenders]
    return max((exponent for exponent in exponents if exponent is not None), default=None)


def _memory(run: Run) -> float | None:
    states = [found.state for found in run.workloads.values() if found.state]
    return max(((state["state"] - state["ids"]) / state["messages"] for state in states), default=None)


def _start_up(name: str, run: Run) -> float | None:
    return run.start_up[name].median / run.start_up[BARE].median if run.start_up else None


def _floor(workload: str, title: str, bar: float, goal: float | None) -> Target:
    return Target(f"check + fold, {title}: times the floor", bar, partial(_ratio, workload, OURS, FLOOR), goal)


TARGETS = (
    _floor("chat", "chat", 2.5, 1.5),
    _floor("thinking", "long thinking", 2.5 * THIRD, 1.5 * THIRD),
    _floor("tools", "parallel tool calls", 2.5 * THIRD, 1.5 * THIRD),
    _floor("image", "image", 2.5 * THIRD, 1.5 * THIRD),
    _floor("replies", "interleaved replies", 2.5 * THIRD, 1.5 * THIRD),
    _floor("mix", "recordings", 2.5 * THIRD, 1.5 * THIRD),
    _floor("unknown", "an unknown field in every event", 4, None),
    Target("check + fold, chat: times as fast as agentscope", 40, partial(_ratio, "chat", AGENTSCOPE, OURS), 60, at_least=True),
    Target("check + fold, image: times a bare base64 decode and join", 3, partial(_ratio, "image", OURS, BASE64)),
    Target("check + fold: largest exponent of growth", 1.1, _growth),
    Target("kept while a stream runs, less the ids of open replies: times its messages, at worst", 1.5, _memory),
    Target("eventfold --help: times importing msgspec and typer", 1.5, partial(_start_up, "eventfold --help")),
    Target("eventfold check of a small file: times importing msgspec and typer", 1.5, partial(_start_up, "eventfold check")),
)


def judged(run: Run) -> list[tuple[Target, float | None, str]]:
    """Hold a run against all targets."""
    figures = ((target, target.figure(run)) for target in TARGETS)
    return [(target, figure, target.verdict(figure)) for target, figure in figures]
