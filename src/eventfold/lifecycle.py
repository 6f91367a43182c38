"""
The interpreter of the lifecycle table.

Law: (state, event) -> next state, effects, broken rule, and all three come from the table. This file
knows no event, no block and no message; effects are called by name, broken rules are reported by id.
There is no event that it refuses: what is out of order is a cell, too.
"""

from __future__ import annotations

import binascii
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
import xxhash
from eventfold_models.tables import CHILDREN, DEFAULTS, FIELDS, ROLE_BLOCKS

from .jsonvalue import is_array, is_object
from .shape import class_of, wire_of
from .table import CALL_KIND, DELIVERY, MACHINES, PLAN_OF, REPLY, Machine, Outcome, Plan, State, field_of, initial_states

#: How many ended replies are held, so that late results, second ends and redeliveries are recognised.
KEEP_ENDED = 1000
#: How many replies are held open, so that replies which never end do not fill memory.
MAX_OPEN = 10_000
#: How many replies are remembered that are no longer held, so that what comes for them is told from what never began.
_REMEMBERED = 100_000
#: The rule that a reply breaks which is given up.
_EVICTED = "reply.evicted"

_encode = msgspec.json.Encoder(order="deterministic").encode


class Flaw(NamedTuple):
    """A rule that the content of an event breaks, as the effect that reads the content finds it."""

    rule: str
    pointer: str = ""  #: RFC 6901, into the event
    detail: str = ""


class Breach(NamedTuple):
    """A rule that was broken, and where in the life of a reply."""

    rule: str
    type: str  #: type of the event; empty at the end of the stream
    reply_id: str
    key: str  #: id of the event, the block or the call
    state: str = ""  #: where the machine stood
    since: int | None = None  #: index of the event that put it there
    pointer: str = ""
    detail: str = ""


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

    __slots__ = ("counts", "instances", "last", "parked", "parked_at", "reused", "role", "seen", "started")

    def __init__(self, key: str) -> None:
        super().__init__("reply", None, key)
        self.role = ""
        #: Which of the replies it was to begin.
        self.started = -1
        #: Index of its newest event; -1 before any.
        self.last = -1
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
    for kind in ((CALL_KIND,) if machine.scope == "call" else (machine.kind,))
}


def fingerprint(plan: Plan, event: Any) -> int:
    """
    Digest an event's content, the same in every process.

    What is absent, null or empty counts as absent, a default as given, 1.0 as 1; fields that no schema names do not count.
    """
    content = [value or (value if type(value) is int else None) for value in plan.content(event)]
    for place, default in plan.defaults:
        if content[place] is None:
            content[place] = default
    for place, name in plan.nested:
        content[place] = _content_of(content[place], name) if name else _number_of(content[place])
    return xxhash.xxh3_64_intdigest(_encode(content), plan.number)


def _content_of(value: Any, name: str) -> Any:
    """Give what counts of a value of a class or union, or of a list of them."""
    if is_array(value):
        return [_content_of(item, name) for item in value] or None
    if isinstance(value, msgspec.Struct):
        value = wire_of(value, name)
    if not is_object(value):
        return value or None
    name = class_of(value, name)
    children = CHILDREN.get(name, {})
    given = {**DEFAULTS.get(name, {}), **{key: item for key, item in value.items() if item is not None and key in FIELDS.get(name, ())}}
    content = {key: _content_of(item, children[key]) if key in children else _number_of(item) for key, item in given.items()}
    return {key: item for key, item in content.items() if item is not None and item not in ("", [], {})}


def _number_of(value: Any) -> Any:
    """Write integral numbers as integers, however deep they stand."""
    if is_object(value):
        return {key: _number_of(item) for key, item in value.items()}
    if is_array(value):
        return [_number_of(item) for item in value]
    return int(value) if type(value) is float and value.is_integer() else value


#: What an effect takes: the reply, the instance, the event, and the item of its list or its decoded bytes.
Effect = Callable[[Reply, Instance, Any, Any], Flaw | None]


class Feed:
    """What is fed to the machines: an event, or an item of its list, of a reply. Without an event, the end of the stream."""

    __slots__ = ("event", "item", "plan", "reply", "type")

    def __init__(self, reply: Reply, plan: Plan | None, event: Any, item: Any = None) -> None:
        self.reply = reply
        self.plan = plan
        self.type = plan.type if plan is not None else ""
        self.event = event
        self.item = item


class Lifecycle:
    """Where every reply of a stream stands."""

    def __init__(
        self,
        effects: Mapping[str, Effect],
        report: Callable[[Breach], None],
        *,
        keep_ended: int = KEEP_ENDED,
        max_open: int = MAX_OPEN,
        give_up: Callable[[Reply], None] = lambda _: None,
    ) -> None:
        self.effects = effects
        self.report = report
        self.keep_ended = keep_ended
        self.max_open = max_open
        #: Takes an open reply that is no longer held.
        self.give_up = give_up
        self.replies: dict[str, Reply] = {}
        self.ended: OrderedDict[str, None] = OrderedDict()
        #: Ids of the newest replies that were given up, oldest first.
        self.gone: OrderedDict[str, None] = OrderedDict()
        #: Replies by their newest event when this was made, the one longest without an event last.
        self._idle: list[tuple[int, Reply]] = []
        #: Index of the event that is being applied.
        self.index = -1
        #: How many replies have begun, and the event that began the newest.
        self.starts = 0
        self.last_start = -1

    def apply(self, event: Any, index: int) -> None:
        """Apply a struct of eventfold_models.structs. `index` is its position in the stream, from 0."""
        plan = PLAN_OF[type(event)]
        if not plan.steps:
            return
        self.index = index
        reply = self.replies.get(event.reply_id)
        digest = fingerprint(plan, event)
        if reply is None:
            reply = Reply(event.reply_id)
            if event.reply_id in self.gone:
                reply.states[REPLY.slot] = REPLY.states["gone"]
        elif event.id in reply.seen and self._redelivered(plan, reply, event.id, digest):
            return
        reply.last = index
        if self._dispatch(plan, reply, event):
            reply.seen[event.id] = (digest, index)
        if reply.draft is not None and reply.started < 0:
            self._begin(reply)
            self.last_start = index
            while len(self.replies) - len(self.ended) > self.max_open:
                self._evict()

    def adopt(self, reply: Reply, *, ended: bool) -> None:
        """Hold a reply that was read from a stored message."""
        self._begin(reply)
        self.ended.pop(reply.key, None)
        if ended:
            self.ended[reply.key] = None

    def finish(self, index: int) -> None:
        """Say what is wrong with the stream stopping before event `index`. Changes nothing: it may go on."""
        self.index = index
        for reply in self.replies.values():
            self.step(Feed(reply, None, None), reply, REPLY, "stream_end")

    def forget_ended(self) -> Iterator[Reply]:
        """Give up the oldest ended replies beyond `keep_ended`."""
        while len(self.ended) > self.keep_ended:
            reply_id, _ = self.ended.popitem(last=False)
            yield self._let_go(reply_id)

    def _let_go(self, reply_id: str) -> Reply:
        """Hold a reply no longer, and remember that it was there."""
        self.gone[reply_id] = None
        if len(self.gone) > _REMEMBERED:
            self.gone.popitem(last=False)
        return self.replies.pop(reply_id)

    def _evict(self) -> None:
        """
        Give up the open reply that is longest without an event.

        The order is made anew only when all that it holds have had events since, so that the cost is spread over those.
        """
        while True:
            if not self._idle:
                held = [(reply.last, reply) for reply in self.replies.values() if reply.key not in self.ended]
                self._idle = sorted(held, key=lambda pair: (-pair[0], -pair[1].started))
            last, reply = self._idle.pop()
            if reply.last == last and self.replies.get(reply.key) is reply and reply.key not in self.ended:
                break
        since = last if last >= 0 else None
        self.report(Breach(_EVICTED, "", reply.key, reply.key, since=since, detail=f"{self.max_open:,}"))
        self.give_up(self._let_go(reply.key))

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

    def _dispatch(self, plan: Plan, reply: Reply, event: Any) -> bool:
        """Make the event's steps. Tells whether it was applied, in whole or in part."""
        feed = Feed(reply, plan, event)
        gate = plan.steps[0]
        if self.step(feed, reply, gate.machine, gate.input_of(event)):
            return False
        if plan.items is None:
            return len(plan.steps) == 1 or self._steps(feed, event)
        items: list[Any] = getattr(event, plan.items)
        applied = [self._steps(Feed(reply, plan, event, item), item) for item in items]
        return not items or any(applied)

    def _steps(self, feed: Feed, source: Any) -> bool:
        """Make the steps after the first, with the fields of `source`. Tells whether none of them dropped the event."""
        plan = feed.plan
        if plan is None or not self._decode(feed, plan, source):
            return False
        instance = self._find(feed.reply, plan, source)
        for step in plan.steps[1:]:
            if step.repeats is None:
                given = step.input_of(source)
            elif field_of(source, step.repeats):
                given = step.verdicts[0] if instance.draft.repeats() else step.verdicts[1]
            else:
                continue
            if self.step(feed, instance, step.machine, given):
                return False
        if plan.kind is not None and (instance.draft is not None or instance.result is not None):
            feed.reply.instances.setdefault(plan.kind, {})[instance.key] = instance
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

    @staticmethod
    def _find(reply: Reply, plan: Plan, source: Any) -> Instance:
        """Find the instance that an event or item names, or make one in its initial states."""
        kind = plan.kind
        if kind is None:
            return reply
        key = _key(plan, source)
        known = reply.instances.get(kind)
        instance = known.get(key) if known is not None else None
        return instance if instance is not None else Instance("call" if kind == CALL_KIND else "block", kind, key)

    def step(self, feed: Feed, instance: Instance, machine: Machine, given: str) -> bool:
        """Walk one cell. Tells whether the event goes no further."""
        reply = feed.reply
        if machine.scope == "part":
            instance = self._part(instance, feed)
        holder = reply if machine.scope == "reply" else instance
        state = holder.states[machine.slot]
        cell = state.cells[given]
        if cell.trivial:
            return False
        if cell.guards:
            cell = self._guarded(cell, feed, instance, state)
        if cell.rule is not None:
            self._report(cell.rule, feed, instance, state, cell.clash)
        if cell.drop:
            return True
        if cell.renew:
            instance.renew(_INITIAL[machine.scope, instance.kind])
        self._move(reply, holder, state, cell)
        for name in cell.effects:
            flaw = self.effects[name](reply, instance, feed.event, feed.item)
            if flaw is not None:
                self.report(Breach(flaw.rule, feed.type, reply.key, instance.key, pointer=flaw.pointer, detail=flaw.detail))
        return any(self._follow(feed, instance, other, its_input) for other, its_input in cell.then)

    def _guarded(self, cell: Outcome, feed: Feed, instance: Instance, state: State) -> Outcome:
        """Look at the guards: report what they add, and give the first that stands in place of the cell."""
        for guard in cell.guards:
            if self._holds(guard, feed, instance, state.machine):
                if guard.replaces:
                    return guard
                if guard.rule is not None:
                    self._report(guard.rule, feed, instance, state, guard.clash)
        return cell

    def _follow(self, feed: Feed, instance: Instance, machine: Machine | None, given: str) -> bool:
        """Feed what follows: to one machine, or to every instance of the reply that has the input."""
        if machine is not None:
            return self.step(feed, instance, machine, given)
        for each in (feed.reply, *feed.reply.every()):
            for state in each.states:
                if given in state.cells:
                    self.step(feed, each, state.machine, given)
        self.ended[feed.reply.key] = None
        return False

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

    def _holds(self, guard: Outcome, feed: Feed, instance: Instance, machine: Machine) -> bool:
        """Tell whether all of a guard's conditions hold."""
        reply = feed.reply
        for name, wanted in guard.when:
            if name == "parked":
                holds = reply.parked > 0
            elif name == "overtaken":
                holds = self.last_start > reply.parked_at
            elif name == "forbidden":
                holds = machine.kind not in ROLE_BLOCKS[reply.role]
            elif name == "present":
                holds = field_of(feed.event, wanted) is not None
            else:
                other = MACHINES[name]
                holds = (reply if other.scope == "reply" else instance).states[other.slot].name in wanted
            if not holds:
                return False
        return True

    def _report(self, rule: str, feed: Feed, instance: Instance, state: State, clash: Machine | None) -> None:
        machine = clash or state.machine
        since = (feed.reply if machine.scope == "reply" else instance).since[machine.slot]
        self.report(Breach(rule, feed.type, feed.reply.key, instance.key, state.name, since))


def _key(plan: Plan, source: Any) -> str:
    """Read the id of the instance that an event or item names."""
    key: Any = source
    for name in plan.key:
        key = field_of(key, name)
    return key


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
