"""
Walks through the lifecycle table that were made before, kept.

Law: a walk is what the interpreter did, and no second table. What it does depends on the type of the event, the states of the
reply and of the instance, and the reply's role alone; so where all of these are the same and no rule was broken, the same effects
are called again. What depends on more is never kept. There are as many walks as there are such situations, whatever the streams.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .instances import Flaw, Instance, Reply
    from .lane import Appender
    from .table import Outcome, Plan, State

#: What stands in a guard besides machines, and depends on no more than a walk may.
_OF_SITUATION = {"forbidden"}


class Walk:
    """What an event does to an instance: the states that it moves, the effects, and where the instance stands afterwards."""

    __slots__ = ("after", "effects", "moves")

    def __init__(self, trace: Trace, after: Node) -> None:
        self.moves = tuple(trace.moves)
        self.effects = tuple(trace.effects)
        self.after = after


class Node(dict["Plan | tuple[Plan, str]", "Walk | None"]):
    """Where an instance stands in a situation of its reply: the walk of each event. None for one that is not kept."""

    __slots__ = ("situation",)

    def __init__(self, situation: Situation) -> None:
        super().__init__()
        self.situation = situation


class Situation:
    """Where a reply stands, and in it the nodes of its instances, by their states."""

    __slots__ = ("nodes",)

    def __init__(self) -> None:
        self.nodes: dict[tuple[State, ...], Node] = {}

    def node(self, states: list[State]) -> Node:
        """Find where an instance with these states stands."""
        key = tuple(states)
        node = self.nodes.get(key)
        if node is None:
            node = self.nodes[key] = Node(self)
        return node


class Trace:
    """What is noted of a walk while the interpreter makes it."""

    __slots__ = ("effects", "fit", "moves")

    def __init__(self) -> None:
        self.moves: list[tuple[int, State]] = []
        self.effects: list[Callable[[Reply, Instance, Any, Any], Flaw | None]] = []
        #: Whether it can be kept. Not when a rule was reported.
        self.fit = True

    def note(self, state: State, cell: Outcome, outcome: Outcome, effects: Mapping[str, Any]) -> None:
        """Note a step: the cell, and what came of it."""
        machine, following = state.machine, outcome.next or state
        ties = {name for guard in cell.guards for name, _ in guard.others}
        tied = machine.of_reply or machine.of_part or state.parks != following.parks or not ties <= _OF_SITUATION
        if tied or outcome.drop or outcome.renew or outcome.count:
            self.fit = False
        if following is not state:
            self.moves.append((machine.slot, following))
        self.effects.extend(effects[name] for name in outcome.effects)


class Shortcuts:
    """What the interpreter may do in short for a set of effects."""

    def __init__(self, appenders: Mapping[str, Appender]) -> None:
        self.appenders = appenders
        self._situations: dict[tuple[Any, ...], Situation] = {}

    def situation(self, reply: Reply) -> Situation:
        """Find where a reply stands."""
        key = (reply.role, *reply.states)
        situation = self._situations.get(key)
        if situation is None:
            situation = self._situations[key] = Situation()
        return situation
