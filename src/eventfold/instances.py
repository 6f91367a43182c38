"""
What the interpreter of the lifecycle table walks through: replies, and what they hold.

Law: a state is an object of the table, never a name; what the effects build hangs beside it, and no state is read from that.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from .table import CALL_KIND, MACHINES, State, initial_states

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .lane import Lane
    from .shortcuts import Node, Situation


#: The states of a new instance, by scope and kind.
INITIAL: dict[tuple[str, str | None], tuple[State, ...]] = {
    (machine.scope, kind): tuple(initial_states(machine.scope, kind))
    for machine in MACHINES.values()
    for kind in ((CALL_KIND,) if machine.scope == "call" else (machine.kind,))
}


_NO_PARTS: Mapping[str, Instance] = MappingProxyType({})


#: Fingerprint and index of events by id.
Seen = dict[str, tuple[int, int]]

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(Seen).decode


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

    __slots__ = ("draft", "key", "kind", "node", "owner", "parts", "result", "since", "states")

    def __init__(self, scope: str, kind: str | None, key: str, owner: Instance | None = None) -> None:
        self.kind = kind
        self.key = key
        self.states = INITIAL[scope, kind]
        #: Index of the event that put each machine into its state; None before any.
        self.since: list[int | None] = [None] * len(self.states)
        #: What the effects build: the block, or the call; and the call's result.
        self.draft: Any = None
        self.result: Any = None
        self.owner = owner
        #: Where it stands among the walks that are kept; None when that has to be found out.
        self.node: Node | None = None
        #: The data blocks inside a call's result; most have none.
        self.parts: Mapping[str, Instance] = _NO_PARTS

    def put(self, slot: int, state: State) -> None:
        """Put a machine into a state. States are shared between instances, and never changed."""
        states = self.states
        self.states = (*states[:slot], state, *states[slot + 1 :])

    def part(self, key: str) -> Instance:
        """Find a data block inside the call's result, or hold a new one."""
        part = self.parts.get(key)
        if part is None:
            part = Instance("part", None, key, self)
            own = self.parts if isinstance(self.parts, dict) else {}
            own[key] = part
            self.parts = own
        return part

    def forget_parts(self) -> None:
        """Hold no data blocks of the result any more."""
        self.parts = _NO_PARTS

    def renew(self, states: tuple[State, ...]) -> None:
        """Start anew under the same key; what was built stays where it is."""
        self.states = states
        self.node = None
        self.since = [None] * len(states)
        self.draft = self.result = None
        self.forget_parts()


class Reply(Instance):
    """A reply: its own machines, its instances by kind and key, and the events that were applied."""

    __slots__ = (
        "counts",
        "instances",
        "lane",
        "newest",
        "noted",
        "packed",
        "parked",
        "parked_at",
        "reused",
        "role",
        "seen",
        "situation",
        "started",
    )

    def __init__(self, key: str) -> None:
        super().__init__("reply", None, key)
        self.role = ""
        #: The instance that grew last, and the short way for what it gets next.
        self.newest: Instance | None = None
        self.lane: Lane | None = None
        #: Where it stands among the walks that are kept; None when that has to be found out.
        self.situation: Situation | None = None
        #: Which of the replies it was to begin.
        self.started = -1
        #: Index of the newest event that took the long way.
        self.noted = -1
        self.counts = [0] * len(self.states)
        self.instances: dict[str, dict[str, Instance]] = {}
        #: How many calls park the reply, and the event that parked the newest.
        self.parked = 0
        self.parked_at = -1
        #: Fingerprint and index of the applied events by id; further fingerprints of ids that were used again.
        self.seen: Seen = {}
        #: The same, of an ended reply for which nothing has come since: a fifth of the memory.
        self.packed = b""
        self.reused: set[tuple[str, int]] = set()

    @property
    def last(self) -> int:
        """The index of its newest event; -1 before any. What a lane applied is noted among the events alone."""
        return max(self.noted, next(reversed(self.seen.values()))[1] if self.seen else -1)

    def pack(self) -> None:
        """Hold what was applied in little space."""
        self.packed = _pack(self.applied)
        self.seen = {}

    def unpack(self) -> None:
        """Hold what was applied where it is found. What came late once may come again: it stays so, and the work is linear."""
        self.seen = _unpack(self.packed)
        self.packed = b""

    @property
    def applied(self) -> Seen:
        """Fingerprint and index of the applied events by id, wherever they are held. Not to be changed."""
        return _unpack(self.packed) if self.packed else self.seen

    def every(self) -> Iterator[Instance]:
        """Give all instances, by kind, in the order of their starts."""
        for instances in self.instances.values():
            yield from instances.values()
