"""
The interpreter of the lifecycle table.

Law: (state, event) -> next state, effects, broken rule, and all three come from the table. This file
knows no event, no block and no message; effects are called by name, broken rules are reported by id.
There is no event that it refuses: what is out of order is a cell, too.
"""

from __future__ import annotations

import binascii
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import xxhash

from eventfold_models.tables import ROLE_BLOCKS

from .table import DELIVERY, MACHINES, PLAN_OF, REPLY, Machine, Outcome, Plan, State, field_of, initial_states

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    #: What an effect takes: reply, instance, event, and the item of the event's list or its decoded bytes.
    Effect = Callable[["Reply", "Instance", Any, Any], Breach | None]

#: How many ended replies are held, so that late results, second ends and redeliveries are recognised.
KEEP_ENDED = 1000

_encode = msgspec.json.Encoder(order="deterministic").encode


class Breach(msgspec.Struct, frozen=True):
    """A rule that the content of an event breaks, found by the effect that reads the content."""

    rule: str
    pointer: str = ""
    detail: str = ""


class Report(Protocol):
    """Takes a broken rule. `state` and `since` are the machine's: where it stood, and the event that put it there."""

    def __call__(  # noqa: D102, PLR0913  what it takes is said above
        self, rule: str, *, plan: Plan | None, reply_id: str, key: str, state: str = "", since: int | None = None, pointer: str = "", detail: str = ""
    ) -> None: ...


class Instance:
    """What shares a key: a block, a call with its result, or a data block inside a result."""

    __slots__ = ("draft", "key", "kind", "owner", "parts", "result", "since", "states")

    def __init__(self, scope: str, kind: str | None, key: str, owner: Instance | None = None) -> None:
        self.kind = kind
        self.key = key
        self.states: list[State] = _INITIAL[scope, kind].copy()
        #: Index of the event that put each machine into its state; None before any.
        self.since: list[int | None] = [None] * len(self.states)
        #: What the effects build: the block, or the call; and the call's result.
        self.draft: Any = None
        self.result: Any = None
        self.owner = owner
        self.parts: dict[str, Instance] = {}

    def renew(self, states: list[State]) -> None:
        """Start anew under the same key; what was built stays where it is."""
        self.states = states.copy()
        self.since = [None] * len(states)
        self.draft = self.result = None
        self.parts = {}


class Reply(Instance):
    """A reply: its own machines, its instances by kind and key, and the events that were applied."""

    __slots__ = ("counts", "instances", "parked", "parked_at", "reused", "role", "seen", "started")

    def __init__(self, key: str) -> None:
        super().__init__("reply", None, key)
        self.role = ""
        #: Which of the replies it was to begin.
        self.started = -1
        self.counts = [0] * len(self.states)
        self.instances: dict[str, dict[str, Instance]] = {}
        #: How many calls park the reply, and the event that parked the newest.
        self.parked = 0
        self.parked_at = -1
        #: Fingerprint and index of the applied events by id; further fingerprints of ids that were used again.
        self.seen: dict[str, tuple[int, int]] = {}
        self.reused: set[tuple[str, int]] = set()

    def every(self) -> Iterator[Instance]:
        """Give all instances, by kind, in the order of their starts."""
        for instances in self.instances.values():
            yield from instances.values()


_INITIAL: dict[tuple[str, str | None], list[State]] = {
    (machine.scope, kind): initial_states(machine.scope, kind)
    for machine in MACHINES.values()
    for kind in ((machine.kind, "tool_call") if machine.scope == "call" else (machine.kind,))
}


def fingerprint(plan: Plan, event: Any) -> int:
    """Digest an event's content, the same in every process. What is absent, null or empty counts as absent."""
    return xxhash.xxh3_64_intdigest(_encode([value or None for value in plan.content(event)]), plan.number)


class Lifecycle:
    """Where every reply of a stream stands."""

    def __init__(self, effects: Mapping[str, Effect], report: Report, *, keep_ended: int = KEEP_ENDED) -> None:
        self.effects = effects
        self.report = report
        self.keep_ended = keep_ended
        self.replies: dict[str, Reply] = {}
        self.ended: OrderedDict[str, None] = OrderedDict()
        self.index = -1
        #: How many replies have begun, and the event that began the newest.
        self.starts = 0
        self.last_start = -1
        self._plan: Plan | None = None

    def apply(self, event: Any, index: int) -> None:
        """Apply a struct of eventfold_models.structs. `index` is its position in the stream, from 0."""
        plan = PLAN_OF[type(event)]
        if not plan.steps:
            return
        self.index = index
        self._plan = plan
        reply_id = event.reply_id
        reply = self.replies.get(reply_id)
        digest = fingerprint(plan, event)
        if reply is None:
            reply = Reply(reply_id)
        elif event.id in reply.seen and self._redelivered(reply, event.id, digest):
            return
        if self._dispatch(plan, reply, event):
            reply.seen[event.id] = (digest, index)
        if reply.draft is not None and reply_id not in self.replies:
            self._begin(reply)
            self.last_start = index

    def adopt(self, reply: Reply, *, ended: bool) -> None:
        """Hold a reply that was read from a stored message."""
        self._begin(reply)
        if ended:
            self.ended[reply.key] = None

    def finish(self) -> None:
        """Say what is wrong with the stream stopping here. Changes nothing: it may go on."""
        self._plan = None
        for reply in self.replies.values():
            self._step(reply, reply, REPLY, "stream_end", None, None)

    def forget_ended(self) -> Iterator[Reply]:
        """Give up the oldest ended replies beyond `keep_ended`."""
        while len(self.ended) > self.keep_ended:
            reply_id, _ = self.ended.popitem(last=False)
            yield self.replies.pop(reply_id)

    def _begin(self, reply: Reply) -> None:
        reply.started = self.starts
        self.starts += 1
        self.replies[reply.key] = reply

    def _redelivered(self, reply: Reply, event_id: str, digest: int) -> bool:
        """Tell a redelivery from an id that was used again, by the delivery machine."""
        first, since = reply.seen[event_id]
        same = digest == first or (event_id, digest) in reply.reused
        cell = DELIVERY.states["applied"].cells["same" if same else "other"]
        if cell.rule:
            self.report(cell.rule, plan=self._plan, reply_id=reply.key, key=event_id, since=since)
        if not same:
            reply.reused.add((event_id, first))
        return cell.drop

    def _dispatch(self, plan: Plan, reply: Reply, event: Any) -> bool:
        """Make the event's steps. Tells whether it was applied, in whole or in part."""
        gate, *steps = plan.steps
        if self._step(reply, reply, gate.machine, gate.input_of(event), event, None):
            return False
        if plan.items is not None:
            applied = [self._steps(plan, reply, item, event) for item in getattr(event, plan.items)]
            return not applied or any(applied)
        return not steps or self._steps(plan, reply, event, event)

    def _steps(self, plan: Plan, reply: Reply, source: Any, event: Any) -> bool:
        """Make the steps after the first on one instance. Tells whether none of them dropped the event."""
        kind = plan.kind
        item: Any = source if source is not event else None
        instance: Instance = reply
        fresh = False
        if kind is not None:
            key: Any = source
            for name in plan.key:
                key = field_of(key, name)
            known = reply.instances.get(kind)
            instance = known.get(key) if known is not None else None  # pyright: ignore[reportAssignmentType]
            if instance is None:  # pyright: ignore[reportUnnecessaryComparison]
                instance = Instance("call" if kind == "tool_call" else "block", kind, key)
                fresh = True
        if plan.base64 is not None and (text := field_of(event, plan.base64[0])) is not None:
            field, rule = plan.base64
            try:
                item = decode_base64(text)
            except ValueError as error:
                self.report(rule, plan=plan, reply_id=reply.key, key=instance.key, pointer=f"/{field}", detail=str(error))
                return False
        for step in plan.steps[1:]:
            if step.repeats is None:
                given = step.input_of(source)
            elif text := field_of(event, step.repeats):
                given = step.verdicts[0] if instance.draft.repeated_by(text) else step.verdicts[1]
            else:
                continue
            if self._step(reply, instance, step.machine, given, event, item):
                return False
        if fresh and kind is not None and (instance.draft is not None or instance.result is not None):
            reply.instances.setdefault(kind, {})[instance.key] = instance
        return True

    def _step(self, reply: Reply, instance: Instance, machine: Machine, given: str, event: Any, item: Any) -> bool:  # noqa: PLR0913  the walk's whole state
        """Walk one cell. Tells whether the event goes no further."""
        if machine.scope == "reply":
            holder: Instance = reply
        elif machine.scope == "part":
            holder = instance = self._part(instance, event)
        else:
            holder = instance
        slot = machine.slot
        state = holder.states[slot]
        cell = state.cells[given]
        if cell.trivial:
            return False
        rule = cell.rule
        for guard in cell.guards:
            if self._holds(guard, reply, instance, machine, event):
                if guard.replaces:
                    cell, rule = guard, guard.rule
                    break
                self._report(guard.rule, reply, instance, holder, machine, state)
        if rule is not None:
            self._report(rule, reply, instance, holder, machine, state)
        if cell.drop:
            return True
        if cell.renew:
            instance.renew(_INITIAL["call" if machine.scope == "call" else "block", instance.kind])
        self._move(reply, holder, slot, state, cell)
        for name in cell.effects:
            breach = self.effects[name](reply, instance, event, item)
            if breach is not None:
                self.report(breach.rule, plan=self._plan, reply_id=reply.key, key=instance.key, pointer=breach.pointer, detail=breach.detail)
        for other, its_input in cell.then:
            if other is None:
                self._broadcast(reply, its_input, event)
            elif self._step(reply, instance, other, its_input, event, item):
                return True
        return False

    def _move(self, reply: Reply, holder: Instance, slot: int, state: State, cell: Outcome) -> None:
        """Put the machine into its next state, and keep the counts that hang on it."""
        following = cell.next
        if cell.count:
            reply.counts[slot] += cell.count
            if cell.zero is not None and not reply.counts[slot]:
                following = cell.zero
        if following is state or following is None:
            return
        holder.states[slot] = following
        holder.since[slot] = self.index
        if following.parks != state.parks:
            reply.parked += 1 if following.parks else -1
        if following.parks:
            reply.parked_at = self.index

    def _part(self, call: Instance, event: Any) -> Instance:
        """Find the data block inside a call's result."""
        key = field_of(event, (self._plan and self._plan.part) or "")
        part = call.parts.get(key)
        if part is None:
            part = call.parts[key] = Instance("part", None, key, call)
        return part

    def _broadcast(self, reply: Reply, given: str, event: Any) -> None:
        """Feed an input to every machine of the reply that has it."""
        for instance in (reply, *reply.every()):
            for state in instance.states:
                if given in state.cells:
                    self._step(reply, instance, state.machine, given, event, None)
        self.ended[reply.key] = None

    def _holds(self, guard: Outcome, reply: Reply, instance: Instance, machine: Machine, event: Any) -> bool:
        """Tell whether all of a guard's conditions hold."""
        for name, wanted in guard.when:
            if name == "parked":
                holds = reply.parked > 0
            elif name == "overtaken":
                holds = self.last_start > reply.parked_at
            elif name == "forbidden":
                holds = machine.kind not in ROLE_BLOCKS[reply.role]
            elif name == "present":
                holds = field_of(event, wanted) is not None
            else:
                other = MACHINES[name]
                holds = (reply if other.scope == "reply" else instance).states[other.slot].name in wanted
            if not holds:
                return False
        return True

    def _report(self, rule: str | None, reply: Reply, instance: Instance, holder: Instance, machine: Machine, state: State) -> None:  # noqa: PLR0913
        self.report(rule or "", plan=self._plan, reply_id=reply.key, key=instance.key, state=state.name, since=holder.since[machine.slot])


def decode_base64(text: str) -> bytes:
    """
    Decode a base64 document strictly (RFC 4648, section 4, and zero trailing bits, section 3.5).

    Raises:
        ValueError: it is not one; says where it differs.

    """
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except (binascii.Error, ValueError) as error:
        message = f"{text[:40]!r}{'...' if len(text) > 40 else ''} is not base64 ({error})"  # noqa: PLR2004  enough to recognise it
        raise ValueError(message) from None
    if text.endswith("=") and binascii.b2a_base64(data[-(len(data) % 3) :], newline=False).decode() != text[-4:]:
        message = f"the last group {text[-4:]!r} has trailing bits that are not zero"
        raise ValueError(message)
    return data
