"""
Walks through the lifecycle table that were made before, kept.

Law: a walk is what the interpreter did, and no second table. What it does depends on the type of the event, the states of the
reply and of the instance, the reply's counts and its role alone; so where all of these are the same and no rule was broken, the
same effects are called again. What depends on more is never kept. There are as many walks as there are such situations, whatever
the streams.
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
#: How far a count may go for its situation to be kept, so that there are few of them.
_MOST = 4


class Walk:
    """What an event does: the machines that it moves, the effects, and where the instance and its reply stand afterwards."""

    __slots__ = ("after", "effects", "moved", "parked", "parks", "reply_moved", "situation", "turns")

    def __init__(self, trace: Trace, reply: Reply, instance: Instance, before: Situation, after: Situation) -> None:
        self.effects = tuple(trace.effects)
        self.situation = after
        self.after = after.node(instance.states)
        #: Slots of the machines that were moved, of the instance and of its reply.
        self.moved = tuple(trace.moved)
        self.reply_moved = tuple(trace.reply_moved)
        #: How many more calls park the reply, and whether it is this event that did it.
        self.parked = reply.parked - trace.parked
        self.parks = trace.parks
        #: Whether anything of that concerns the reply.
        self.turns = after is not before or self.parked != 0 or self.parks


class Node(dict["Plan | tuple[Plan, str]", "Walk | None"]):
    """Where an instance stands in a situation of its reply: the walk of each event. None for one that is not kept."""

    __slots__ = ("situation", "states")

    def __init__(self, situation: Situation, states: tuple[State, ...]) -> None:
        super().__init__()
        self.situation = situation
        self.states = states


class Situation:
    """Where a reply stands, and in it the nodes of its instances, by their states."""

    __slots__ = ("counts", "nodes", "role", "states")

    def __init__(self, reply: Reply) -> None:
        self.role = reply.role
        self.states = reply.states
        self.counts = tuple(reply.counts)
        self.nodes: dict[tuple[State, ...], Node] = {}

    def node(self, states: tuple[State, ...]) -> Node:
        """Find where an instance with these states stands."""
        node = self.nodes.get(states)
        if node is None:
            node = self.nodes[states] = Node(self, states)
        return node


class Trace:
    """What is noted of a walk while the interpreter makes it."""

    __slots__ = ("effects", "fit", "moved", "parked", "parks", "reply_moved")

    def __init__(self, reply: Reply) -> None:
        self.effects: list[Callable[[Reply, Instance, Any, Any], Flaw | None]] = []
        #: Whether it can be kept. Not when a rule was reported.
        self.fit = True
        #: How many calls parked the reply before.
        self.parked = reply.parked
        #: Slots of the machines that moved, of the instance and of its reply; and whether one of them parks the reply now.
        self.moved: list[int] = []
        self.reply_moved: list[int] = []
        self.parks = False

    def move(self, slot: int, following: State, *, of_reply: bool) -> None:
        """Note that a machine moved."""
        (self.reply_moved if of_reply else self.moved).append(slot)
        self.parks = self.parks or following.parks

    def note(self, cell: Outcome, outcome: Outcome, effects: Mapping[str, Any]) -> None:
        """Note a step: the cell, and what came of it."""
        ties = {name for guard in cell.guards for name, _ in guard.others}
        if outcome.drop or outcome.renew or not ties <= _OF_SITUATION:
            self.fit = False
        self.effects.extend(effects[name] for name in outcome.effects)


class Shortcuts:
    """What the interpreter may do in short for a set of effects."""

    def __init__(self, appenders: Mapping[str, Appender]) -> None:
        self.appenders = appenders
        self._situations: dict[tuple[Any, ...], Situation] = {}

    def situation(self, reply: Reply) -> Situation | None:
        """Find where a reply stands; None when its counts have gone too far."""
        key = (reply.role, reply.states, *reply.counts)
        situation = self._situations.get(key)
        if situation is None and max(reply.counts) <= _MOST:
            situation = self._situations[key] = Situation(reply)
        return situation
