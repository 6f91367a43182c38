"""
The interpreter of the lifecycle table.

Law: (state, event) -> next state, effects, broken rule, and all three come from the table. This file
knows no event, no block and no message; effects are called by name, broken rules are reported by id.
There is no event that it refuses: what is out of order is a cell, too.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from eventfold_models.tables import ROLE_BLOCKS

from .base64_text import decode_base64 as decode_base64
from .fingerprint import digest_of, encode, fingerprint
from .instances import INITIAL, Breach, Flaw, Instance, Reply
from .lane import lane_of
from .shortcuts import Node, Shortcuts, Trace, Walk
from .table import DELIVERY, PLAN_OF, REPLY, Machine, Outcome, Plan, State, field_of

#: How many ended replies are held, so that late results, second ends and redeliveries are recognised.
KEEP_ENDED = 1000

#: What an effect takes: the reply, the instance, the event, and the item of its list or its decoded bytes.
Effect = Callable[[Reply, Instance, Any, Any], Flaw | None]

#: Stands where nothing was noted yet.
_UNKNOWN: Any = object()


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


class Lifecycle:
    """Where every reply of a stream stands."""

    def __init__(
        self,
        effects: Mapping[str, Effect],
        report: Callable[[Breach], None],
        *,
        shortcuts: Shortcuts | None = None,
        keep_ended: int = KEEP_ENDED,
    ) -> None:
        self.effects = effects
        #: Without them, every step is made one by one.
        self.shortcuts = shortcuts
        self._trace: Trace | None = None
        self.report = report
        self.keep_ended = keep_ended
        self.replies: dict[str, Reply] = {}
        self.ended: OrderedDict[str, None] = OrderedDict()
        #: Ids of the replies that were given up.
        self.gone: set[str] = set()
        #: Whether there are more of them than `keep_ended`, so that `forget_ended` has something to do.
        self.full = False
        #: Index of the event that is being applied.
        self.index = -1
        #: How many replies have begun, and the event that began the newest.
        self.starts = 0
        self.last_start = -1

    def apply(self, event: Any, index: int) -> None:
        """Apply a struct of eventfold_models.structs. `index` is its position in the stream, from 0."""
        reply = self.replies.get(event.reply_id)
        if reply is not None and (lane := reply.lane) is not None and type(event) is lane.struct:
            key, metadata, source_path, text = lane.read(event)
            if key == lane.key and not metadata and not source_path:
                mark = (digest_of(encode(text), lane.salt), index)
                event_id = event.id
                if reply.seen.setdefault(event_id, mark) is mark:
                    if lane.append(text) is not False:
                        return
                    del reply.seen[event_id]
        plan = PLAN_OF[type(event)]
        if plan.gate is None:
            return
        self.index = index
        mark = (fingerprint(plan, event), index)
        if reply is None:
            reply = Reply(event.reply_id)
            if event.reply_id in self.gone:
                reply.states[REPLY.slot] = REPLY.states["gone"]
        seen, event_id = reply.seen, event.id
        first = seen.setdefault(event_id, mark)
        if first is not mark and self._redelivered(plan, reply, event_id, mark[0]):
            return
        shortcuts = self.shortcuts
        if not (self._recall(plan, reply, event) if plan.kept and shortcuts is not None else self._dispatch(plan, reply, event)):
            if first is mark:
                del seen[event_id]
        elif first is not mark:
            seen[event_id] = mark
        elif plan.text and not plan.kept and shortcuts is not None:
            self._open_lane(plan, reply, event, shortcuts)
        if reply.started < 0 and reply.draft is not None:
            self._begin(reply)
            self.last_start = index

    @staticmethod
    def _open_lane(plan: Plan, reply: Reply, event: Any, shortcuts: Shortcuts) -> None:
        """Open a lane when a second event of the type comes for the instance."""
        instance = reply.instances[plan.kind or ""][plan.key_of(event)]
        if reply.newest is instance and reply.lane is None:
            reply.lane = lane_of(plan, reply, event, shortcuts.appenders)
        reply.newest = instance

    def adopt(self, reply: Reply, *, ended: bool) -> None:
        """Hold a reply that was read from a stored message."""
        self._begin(reply)
        self.ended.pop(reply.key, None)
        if ended:
            self.ended[reply.key] = None
            self.full = len(self.ended) > self.keep_ended

    def finish(self, index: int) -> None:
        """Say what is wrong with the stream stopping before event `index`. Changes nothing: it may go on."""
        self.index = index
        for reply in self.replies.values():
            self.step(Feed(reply, None, None), reply, REPLY, "stream_end")

    def forget_ended(self) -> Iterator[Reply]:
        """Give up the oldest ended replies beyond `keep_ended`."""
        while len(self.ended) > self.keep_ended:
            reply_id, _ = self.ended.popitem(last=False)
            self.gone.add(reply_id)
            yield self.replies.pop(reply_id)
        self.full = False

    def _begin(self, reply: Reply) -> None:
        reply.started = self.starts
        self.starts += 1
        self.replies[reply.key] = reply

    def _redelivered(self, plan: Plan, reply: Reply, event_id: str, digest: int) -> bool:
        """Tell a redelivery from an id that was used again, by the delivery machine."""
        first, since = reply.seen[event_id]
        same = digest == first or (event_id, digest) in reply.reused
        cell = DELIVERY.states["applied"].cells["same" if same else "other"]
        if cell.rule is not None:
            self.report(Breach(cell.rule, plan.type, reply.key, event_id, since=since))
        if not same:
            reply.reused.add((event_id, first))
        return cell.drop

    def _recall(self, plan: Plan, reply: Reply, event: Any) -> bool:
        """Make the event's steps as they were made before in the same situation. Tells whether it was applied."""
        situation = reply.situation
        if situation is None:
            situation = reply.situation = self.shortcuts.situation(reply)
        kind = plan.kind or ""
        key = plan.key_of(event)
        known = reply.instances.get(kind)
        instance = known.get(key) if known is not None else None
        node = instance.node if instance is not None else None
        if node is None or node.situation is not situation:
            node = situation.node(instance.states if instance is not None else INITIAL[plan.scope, kind])
        variant = plan if plan.asks is None else (plan, plan.asks.input_of(event))
        walk = node.get(variant, _UNKNOWN)
        if walk is None:
            return self._dispatch(plan, reply, event)
        if walk is _UNKNOWN:
            return self._record(plan, reply, event, node, variant)
        fresh = instance is None
        if instance is None:
            instance = Instance(plan.scope, kind, key)
        index = self.index
        for slot, state in walk.moves:
            instance.states[slot] = state
            instance.since[slot] = index
        instance.node = walk.after
        reply.lane = None
        if plan.text:
            if reply.newest is instance and walk.after is node:
                reply.lane = lane_of(plan, reply, event, self.shortcuts.appenders)
            reply.newest = instance
        for effect in walk.effects:
            flaw = effect(reply, instance, event, None)
            if flaw is not None:
                self._report_flaw(flaw, plan.type, reply, instance)
        if fresh and (instance.draft is not None or instance.result is not None):
            reply.instances.setdefault(kind, {})[key] = instance
        return True

    def _record(self, plan: Plan, reply: Reply, event: Any, node: Node, variant: Plan | tuple[Plan, str]) -> bool:
        """Make the event's steps, and keep the walk if it can be kept."""
        trace = self._trace = Trace()
        try:
            applied = self._dispatch(plan, reply, event)
        finally:
            self._trace = None
        instance = reply.instances.get(plan.kind or "", {}).get(plan.key_of(event))
        fit = trace.fit and applied and instance is not None and reply.situation is node.situation
        node[variant] = Walk(trace, node.situation.node(instance.states)) if fit and instance is not None else None
        return applied

    def _dispatch(self, plan: Plan, reply: Reply, event: Any) -> bool:
        """Make the event's steps. Tells whether it was applied, in whole or in part."""
        gate = plan.steps[0]
        feed = Feed(reply, plan, event)
        if self.step(feed, reply, gate.machine, gate.fixed or gate.input_of(event)):
            return False
        if plan.items is None:
            return not plan.rest or self._steps(feed, plan, event)
        items: list[Any] = getattr(event, plan.items)
        applied = [self._steps(Feed(reply, plan, event, item), plan, item) for item in items]
        return not items or any(applied)

    def _steps(self, feed: Feed, plan: Plan, source: Any) -> bool:
        """Make the steps after the first, with the fields of `source`. Tells whether none of them dropped the event."""
        if plan.base64 is not None and not self._decode(feed, plan, source):
            return False
        instance: Instance = feed.reply
        known = None
        kind = plan.kind
        if kind is not None:
            key = plan.key_of(source) if plan.items is None else _key(plan, source)
            known = feed.reply.instances.get(kind)
            known = known.get(key) if known is not None else None
            instance = known if known is not None else Instance(plan.scope, kind, key)
        for step in plan.rest:
            if step.repeats is None:
                given = step.fixed or step.input_of(source)
            elif field_of(source, step.repeats):
                given = step.verdicts[0] if instance.draft.repeats() else step.verdicts[1]
            else:
                continue
            if self.step(feed, instance, step.machine, given):
                return False
        if kind is not None and known is None and (instance.draft is not None or instance.result is not None):
            feed.reply.instances.setdefault(kind, {})[instance.key] = instance
        return True

    def _decode(self, feed: Feed, plan: Plan, source: Any) -> bool:
        """Decode the event's base64 field, if it has one that is there. Tells whether that went well."""
        if plan.base64 is None:
            return True
        field, rule = plan.base64
        text = field_of(source, field)
        if text is None:
            return True
        try:
            feed.item = decode_base64(text)
        except ValueError as error:
            self.report(Breach(rule, plan.type, feed.reply.key, _key(plan, source), pointer=f"/{field}", detail=str(error)))
            return False
        return True

    def step(self, feed: Feed, instance: Instance, machine: Machine, given: str) -> bool:
        """Walk one cell. Tells whether the event goes no further."""
        if machine.of_part:
            instance = self._part(instance, feed)
        reply = feed.reply
        holder = reply if machine.of_reply else instance
        state = holder.states[machine.slot]
        cell = state.cells[given]
        if cell.trivial:
            return False
        reply.lane = None
        walked = cell
        if cell.guards:
            cell = self._guarded(cell, feed, instance, state)
        if self._trace is not None:
            self._trace.note(machine, state, walked, cell, self.effects)
        if cell.rule is not None:
            self._report(cell.rule, feed, instance, state, cell.clash)
        if cell.drop:
            return True
        if cell.renew:
            instance.renew(INITIAL[machine.scope, instance.kind])
        if cell.next is not state or cell.count:
            self._move(reply, holder, state, cell)
        for name in cell.effects:
            flaw = self.effects[name](reply, instance, feed.event, feed.item)
            if flaw is not None:
                self._report_flaw(flaw, feed.type, reply, instance)
        for other, its_input in cell.then:
            if other is None:
                self._follow(feed, its_input)
            elif self.step(feed, instance, other, its_input):
                return True
        return False

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

    def _follow(self, feed: Feed, given: str) -> None:
        """Feed what follows the end of a reply to every instance that has the input."""
        for each in (feed.reply, *feed.reply.every()):
            for state in each.states:
                if given in state.cells:
                    self.step(feed, each, state.machine, given)
        self.ended[feed.reply.key] = None
        self.full = len(self.ended) > self.keep_ended

    def _move(self, reply: Reply, holder: Instance, state: State, cell: Outcome) -> None:
        """Put the machine into its next state, and keep the counts that hang on it."""
        slot = state.machine.slot
        following = cell.next
        if cell.count:
            reply.counts[slot] += cell.count
            if cell.zero is not None and not reply.counts[slot]:
                following = cell.zero
        if following is state or following is None:
            return
        holder.states[slot] = following
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
        key = field_of(feed.event, feed.plan.part) if feed.plan is not None and feed.plan.part is not None else ""
        part = call.parts.get(key)
        if part is None:
            part = call.parts[key] = Instance("part", None, key, call)
        return part

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


def _key(plan: Plan, source: Any) -> str:
    """Read the id of the instance that an event or item names."""
    key: Any = source
    for name in plan.key:
        key = field_of(key, name)
    return key
