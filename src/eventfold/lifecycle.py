"""
Which steps of the lifecycle table each event of a stream makes, and what is held of its replies.

Law: an event makes the steps of its row, in order, until one of them drops it, and what was applied once is not applied again.
Like the interpreter, this file knows no event, no block and no message.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from .base64_text import decode_base64
from .fingerprint import digest_of, fingerprint
from .instances import INITIAL, Breach, Flaw, Instance, Reply
from .interpreter import Effect, Feed, Interpreter
from .lane import lane_of
from .shortcuts import Node, Shortcuts, Trace, Walk
from .table import DELIVERY, PLAN_OF, REPLY, Plan, Step, field_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["KEEP_ENDED", "Breach", "Effect", "Feed", "Flaw", "Instance", "Lifecycle", "Reply", "decode_base64"]

#: How many ended replies are held, so that late results, second ends and redeliveries are recognised.
KEEP_ENDED = 1000
#: How many replies are held open, so that replies which never end do not fill memory.
MAX_OPEN = 10_000
#: How many replies are remembered that are no longer held, so that what comes for them is told from what never began.
_REMEMBERED = 100_000
#: The rule that a reply breaks which is given up.
_EVICTED = "reply.evicted"


#: Stands where nothing was noted yet.
_UNKNOWN: Any = object()


class Lifecycle(Interpreter):
    """Where every reply of a stream stands."""

    def __init__(
        self,
        effects: Mapping[str, Effect],
        report: Callable[[Breach], None],
        *,
        shortcuts: Shortcuts | None = None,
        keep_ended: int = KEEP_ENDED,
        max_open: int = MAX_OPEN,
        give_up: Callable[[Reply], None] = lambda _: None,
    ) -> None:
        super().__init__(effects, report)
        #: Without them, every step is made one by one.
        self.shortcuts = shortcuts
        self.keep_ended = keep_ended
        self.max_open = max_open
        #: Takes an open reply that is no longer held.
        self.give_up = give_up
        self.replies: dict[str, Reply] = {}
        self.ended: OrderedDict[str, None] = OrderedDict()
        #: Ids of the newest replies that were given up, oldest first.
        self.gone: OrderedDict[str, None] = OrderedDict()
        #: Whether more have ended than `keep_ended`, so that `forget_ended` has something to do.
        self.full = False
        #: Replies by their newest event when this was made, the one longest without an event last.
        self._idle: list[tuple[int, Reply]] = []
        #: How many replies have begun.
        self.starts = 0

    def apply(self, event: Any, index: int) -> None:  # noqa: C901, PLR0912  in one piece: a call costs as much as five lines
        """Apply a struct of eventfold_models.structs. `index` is its position in the stream, from 0."""
        reply = self.replies.get(event.reply_id)
        if reply is not None and (lane := reply.lane) is not None and type(event) is lane.struct:
            key, text = lane.read(event)
            if key == lane.key and not event.metadata and not event.source_path:
                mark = (digest_of(text.encode(), lane.salt), index)
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
                reply.put(REPLY.slot, REPLY.states["gone"])
        if reply.packed:
            reply.unpack()
        seen, event_id = reply.seen, event.id
        first = seen.setdefault(event_id, mark)
        if first is not mark and self._redelivered(plan, reply, event_id, mark[0]):
            return
        reply.noted = index
        shortcuts = self.shortcuts if plan.kept else None
        applied = self._dispatch(plan, reply, event) if shortcuts is None else self._recall(plan, reply, event, shortcuts)
        if not applied:
            if first is mark:
                del seen[event_id]
        elif first is not mark:
            seen[event_id] = mark
        if reply.started < 0 and reply.draft is not None:
            self._begin(reply)
            self.last_start = index
            self._evict()

    def adopt(self, reply: Reply, *, ended: bool) -> None:
        """Hold a reply that was read from a stored message."""
        self._begin(reply)
        self.ended.pop(reply.key, None)
        if ended:
            self.ended[reply.key] = None
            self.full = len(self.ended) > self.keep_ended

    def forget(self, reply_id: str) -> None:
        """Hold a reply no longer, as if it had never been there."""
        self.replies.pop(reply_id, None)
        self.ended.pop(reply_id, None)

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
        self.full = False

    def _let_go(self, reply_id: str) -> Reply:
        """Hold a reply no longer, and remember that it was there."""
        self.gone[reply_id] = None
        if len(self.gone) > _REMEMBERED:
            self.gone.popitem(last=False)
        return self.replies.pop(reply_id)

    def _evict(self) -> None:
        """
        Give up the open replies beyond `max_open` that are longest without an event.

        Their order is made anew only when all that it holds have had events since, so that the cost is spread over those.
        """
        while len(self.replies) - len(self.ended) > self.max_open:
            if not self._idle:
                held = [(reply.last, reply) for reply in self.replies.values() if reply.key not in self.ended]
                self._idle = sorted(held, key=lambda pair: (-pair[0], -pair[1].started))
            last, reply = self._idle.pop()
            if reply.last == last and self.replies.get(reply.key) is reply and reply.key not in self.ended:
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

    def _recall(self, plan: Plan, reply: Reply, event: Any, shortcuts: Shortcuts) -> bool:  # noqa: C901, PLR0912  in one piece, too
        """Make the event's steps as they were made before in the same situation. Tells whether it was applied."""
        situation = reply.situation
        if situation is None:
            situation = reply.situation = shortcuts.situation(reply)
            if situation is None:
                return self._dispatch(plan, reply, event)
        kind, key = plan.kind, plan.key_of(event)
        known = reply.instances.get(kind or "")
        instance = reply if kind is None else known.get(key) if known is not None else None
        node = instance.node if instance is not None else None
        if node is None or node.situation is not situation:
            node = situation.node(instance.states if instance is not None else INITIAL[plan.scope, kind])
        variant = plan if plan.asks is None else (plan, _input(plan, plan.asks, event, instance))
        walk = node.get(variant, _UNKNOWN)
        if walk is None:
            return self._dispatch(plan, reply, event)
        if walk is _UNKNOWN:
            return self._record(plan, reply, event, shortcuts, node, variant)
        fresh = instance is None
        if instance is None:
            instance = Instance(plan.scope, kind, key)
        after = walk.after
        instance.node = after
        if walk.moved:
            instance.states = after.states
            for slot in walk.moved:
                instance.since[slot] = self.index
        if walk.turns:
            self._follow(walk, reply)
        for effect in walk.effects:
            flaw = effect(reply, instance, event, None)
            if flaw is not None:
                self._report_flaw(flaw, plan.type, reply, instance)
        if fresh and (instance.draft is not None or instance.result is not None):
            reply.instances.setdefault(kind or "", {})[key] = instance
        reply.lane = None
        if plan.text:
            if reply.newest is instance:
                reply.lane = lane_of(plan, reply, event, shortcuts.appenders)
            reply.newest = instance
        return True

    def _record(self, plan: Plan, reply: Reply, event: Any, shortcuts: Shortcuts, node: Node, variant: Plan | tuple[Plan, str]) -> bool:
        """Make the event's steps, and keep the walk if it can be kept."""
        trace = self._trace = Trace(reply)
        try:
            applied = self._dispatch(plan, reply, event)
        finally:
            self._trace = None
        instance = reply if plan.kind is None else reply.instances.get(plan.kind, {}).get(plan.key_of(event))
        situation = shortcuts.situation(reply)
        node[variant] = None
        if trace.fit and applied and instance is not None and situation is not None and reply.role == node.situation.role:
            node[variant] = Walk(trace, reply, instance, node.situation, situation)
        return applied

    def _follow(self, walk: Walk, reply: Reply) -> None:
        """Put the reply where a walk leads it."""
        situation = reply.situation = walk.situation
        reply.states = situation.states
        reply.counts = list(situation.counts)
        for slot in walk.reply_moved:
            reply.since[slot] = self.index
        reply.parked += walk.parked
        if walk.parks:
            reply.parked_at = self.index

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
                given = step.verdict(repeats=instance.draft.said is not None)
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

    def _end(self, feed: Feed, given: str) -> None:
        """End what the reply holds, and hold it among the ended ones. The one before it is packed: what comes late comes soon."""
        super()._end(feed, given)
        if self.ended:
            self.replies[next(reversed(self.ended))].pack()
        self.ended[feed.reply.key] = None
        self.full = len(self.ended) > self.keep_ended


def _input(plan: Plan, step: Step, event: Any, instance: Instance | None) -> str:
    """Find the input of the step that asks the event, before anything was done; empty when the step is left out."""
    if step.repeats is None:
        return step.input_of(event)
    text = plan.tail(event)
    if not text:
        return ""
    return step.verdict(repeats=instance is not None and instance.draft is not None and instance.draft.repeats(text))


def _key(plan: Plan, source: Any) -> str:
    """Read the id of the instance that an event or item names."""
    key: Any = source
    for name in plan.key:
        key = field_of(key, name)
    return key
