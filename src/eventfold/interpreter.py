"""
The interpreter of the lifecycle table.

Law: (state, input) -> next state, effects, broken rule, and all three come from the table. This file
knows no event, no block and no message; effects are called by name, broken rules are reported by id.
There is no input that it refuses: what is out of order is a cell, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from eventfold_models.tables import ROLE_BLOCKS

from .instances import INITIAL, Breach, Flaw, Instance, Reply
from .table import Machine, Outcome, Plan, State, field_of

if TYPE_CHECKING:
    from .shortcuts import Trace

#: What an effect takes: the reply, the instance, the event, and the item of its list or its decoded bytes.
Effect = Callable[[Reply, Instance, Any, Any], Flaw | None]


class Feed(msgspec.Struct, gc=False):
    """What is fed to the machines: an event, or an item of its list, of a reply. Without an event, the end of the stream."""

    reply: Reply
    plan: Plan | None
    event: Any
    item: Any = None

    @property
    def type(self) -> str:
        """The event's type; empty at the end of the stream."""
        return self.plan.type if self.plan is not None else ""


class Interpreter:
    """Walks the cells of the table, one by one."""

    def __init__(self, effects: Mapping[str, Effect], report: Callable[[Breach], None]) -> None:
        self.effects = effects
        self.report = report
        #: Index of the event that is being applied.
        self.index = -1
        #: The event that began the newest reply.
        self.last_start = -1
        #: What is noted of the walk that is being made, if it is.
        self._trace: Trace | None = None

    def step(self, feed: Feed, instance: Instance, machine: Machine, given: str) -> bool:
        """Walk one cell. Tells whether the event goes no further."""
        if machine.of_part:
            instance = self._part(instance, feed)
        holder = feed.reply if machine.of_reply else instance
        state = holder.states[machine.slot]
        cell = state.cells[given]
        if cell.trivial:
            return False
        feed.reply.lane = None
        outcome = self._guarded(cell, feed, instance, state) if cell.guards else cell
        if self._trace is not None:
            self._trace.note(cell, outcome, self.effects)
        if outcome.rule is not None:
            self._report(outcome.rule, feed, instance, state, outcome.clash)
        if outcome.drop:
            return True
        if outcome.renew:
            instance.renew(INITIAL[machine.scope, instance.kind])
        if outcome.next is not state or outcome.count:
            self._move(feed.reply, holder, state, outcome)
        for name in outcome.effects:
            flaw = self.effects[name](feed.reply, instance, feed.event, feed.item)
            if flaw is not None:
                self._report_flaw(flaw, feed.type, feed.reply, instance)
        return self._then(feed, instance, outcome) if outcome.then else False

    def _then(self, feed: Feed, instance: Instance, outcome: Outcome) -> bool:
        """Make the steps that follow. Tells whether one of them dropped the event."""
        for machine, given in outcome.then:
            if machine is None:
                self._end(feed, given)
            elif self.step(feed, instance, machine, given):
                return True
        return False

    def _end(self, feed: Feed, given: str) -> None:
        """Feed what follows the end of a reply to every instance that has the input."""
        if self._trace is not None:
            self._trace.fit = False
        for each in (feed.reply, *feed.reply.every()):
            for state in each.states:
                if given in state.cells:
                    self.step(feed, each, state.machine, given)

    def _guarded(self, cell: Outcome, feed: Feed, instance: Instance, state: State) -> Outcome:
        """Look at the guards: report what they add, and give the first that stands in place of the cell."""
        reply = feed.reply
        for guard in cell.guards:
            for of_reply, slot, states in guard.where:
                if (reply if of_reply else instance).states[slot] not in states:
                    break
            else:
                if guard.others and not self._holds(guard, feed, state.machine):
                    continue
                if guard.replaces:
                    return guard
                if guard.rule is not None:
                    self._report(guard.rule, feed, instance, state, guard.clash)
        return cell

    def _move(self, reply: Reply, holder: Instance, state: State, cell: Outcome) -> None:
        """Put the machine into its next state, and keep the counts that hang on it."""
        slot = state.machine.slot
        following = cell.next
        if cell.count:
            reply.counts[slot] += cell.count
            reply.situation = None
            if cell.zero is not None and not reply.counts[slot]:
                following = cell.zero
        if following is state or following is None:
            return
        holder.put(slot, following)
        if self._trace is not None:
            self._trace.move(slot, following, of_reply=holder is reply)
        if holder is reply:
            reply.situation = None
        else:
            holder.node = None
        holder.since[slot] = self.index
        reply.parked += following.parks - state.parks
        if following.parks:
            reply.parked_at = self.index

    @staticmethod
    def _part(call: Instance, feed: Feed) -> Instance:
        """Find the data block inside a call's result."""
        return call.part(field_of(feed.event, feed.plan.part) if feed.plan is not None and feed.plan.part is not None else "")

    def _holds(self, guard: Outcome, feed: Feed, machine: Machine) -> bool:
        """Tell whether all of a guard's conditions hold that look at no machine."""
        reply = feed.reply
        for name, wanted in guard.others:
            if name == "parked":
                holds = reply.parked > 0
            elif name == "overtaken":
                holds = self.last_start > reply.parked_at
            elif name == "forbidden":
                holds = machine.kind not in ROLE_BLOCKS[reply.role]
            else:
                holds = field_of(feed.event, wanted) is not None
            if not holds:
                return False
        return True

    def _report_flaw(self, flaw: Flaw, name: str, reply: Reply, instance: Instance) -> None:
        self.report(Breach(flaw.rule, name, reply.key, instance.key, pointer=flaw.pointer, detail=flaw.detail))

    def _report(self, rule: str, feed: Feed, instance: Instance, state: State, clash: Machine | None) -> None:
        if self._trace is not None:
            self._trace.fit = False
        machine = clash or state.machine
        since = (feed.reply if machine.of_reply else instance).since[machine.slot]
        self.report(Breach(rule, feed.type, feed.reply.key, instance.key, state.name, since))
