"""
Our replies -> runs of AG-UI: which run a reply goes out in.

Law: a reply that begins while no other one is busy is a run; one that begins meanwhile is a sub-agent of that run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from eventfold.dialects.translation import NAMESPACE, Encoder, fields_of
from eventfold.fold import Folder
from eventfold.table import DELIVERY, PLAN_OF

from .names import Names
from .shapes import Type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.lifecycle import Breach, Reply
    from eventfold.shape import Wire

#: The version of the protocol that is declared.
PROTOCOL = "1.0"
#: What a run is called that holds what belongs to no reply.
STRAY = "eventfold"


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_REDELIVERED = DELIVERY.states["applied"].cells["same"].rule


@dataclass(eq=False)
class Item:
    """Something of AG-UI that is opened and closed: a text, reasoning, activity or call."""

    kind: str  #: of our block
    id: str  #: in AG-UI
    key: str  #: in ours
    head: Wire = field(default_factory=dict[str, Any])  #: what its START says again when it is opened again
    open: bool = True
    answered: bool = False  #: a call whose result was sent


@dataclass(eq=False)
class Speaker:
    """A reply on its way out."""

    reply_id: str
    session: str
    role: str
    started: bool  #: its start was seen; if not, it comes from the middle
    tag: str | None = None  #: its sub-agent, while it is one
    busy: bool = False  #: it is part of the run that is active
    end: Wire | None = None  #: its REPLY_END
    told: bool = False  #: that went out before the end of its run
    items: dict[tuple[str, str], Item] = field(default_factory=dict[tuple[str, str], Item])
    #: The message of AG-UI that carries the block at a place, if calls can be added to it.
    places: dict[int, str] = field(default_factory=dict[int, str])
    steps: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])  #: model calls: the step, the model


@dataclass(eq=False)
class Run:
    """The run that is active."""

    thread: str
    id: str
    main: Speaker | None  #: None when it holds only what belongs to no reply
    others: list[Speaker] = field(default_factory=list[Speaker])
    usage: dict[str, list[int]] = field(default_factory=dict[str, list[int]])


class Runs(Encoder):
    """What is known of the replies, and of the run that is active."""

    def __init__(self) -> None:
        super().__init__()
        self._broken: list[str] = []
        self.folder = Folder(report=self._report)
        self.speakers: dict[str, Speaker] = {}
        self.run: Run | None = None
        self.thread = STRAY
        self._names = Names()

    def _report(self, breach: Breach) -> None:
        self._broken.append(breach.rule)

    def apply(self, event: Any) -> bool | None:
        """Let the fold apply an event. Tells whether it did; None for one that was delivered again."""
        self._broken.clear()
        index = self.folder.index
        self.folder.feed(event)
        if _REDELIVERED in self._broken:
            return None
        if not PLAN_OF[type(event)].steps:
            return True
        reply = self.folder.lifecycle.replies.get(event.reply_id)
        return reply is not None and event.id in reply.seen and reply.seen[event.id][1] == index

    def reply(self, speaker: Speaker) -> Reply:
        """Give the state of a reply."""
        return self.folder.lifecycle.replies[speaker.reply_id]

    def take(self, kind: str, name: str) -> str:
        """Give an id that is free in the stream: the name, or the name with a number."""
        return self._names.take(kind, name)

    # --- saying -----------------------------------------------------------------------------

    def say(self, speaker: Speaker | None, kind: Type, at: str | None = None, own: Wire | None = None, /, **fields: Any) -> Wire:
        """Give an AG-UI event of a reply; `at` is its time, `own` what only we understand of it."""
        event: Wire = {"type": str(kind), **{key: value for key, value in fields.items() if value is not None}}
        if speaker is not None and speaker.busy and speaker.tag is not None:
            event["subagentRunId"] = speaker.tag
        moment = milliseconds(at)
        if moment is not None:
            event["timestamp"] = moment
        if own is not None:
            event["metadata"] = {NAMESPACE: own}
        return event

    # --- beginning --------------------------------------------------------------------------

    def waits(self, speaker: Speaker) -> bool:
        """Tell whether a reply is parked."""
        reply = self.folder.lifecycle.replies.get(speaker.reply_id)
        return reply is not None and reply.parked > 0

    def idle(self) -> bool:
        """Tell whether no reply of the run is busy: all have ended or wait."""
        members = self.members()
        return all(speaker.end is not None or self.waits(speaker) for speaker in members)

    def members(self) -> list[Speaker]:
        """Give the replies of the run, its own last."""
        if self.run is None:
            return []
        return [*self.run.others, *([self.run.main] if self.run.main is not None else [])]

    def enter(self, speaker: Speaker, own: Wire, at: str | None = None, name: str = "") -> Iterator[Wire]:
        """Make a reply part of a run, which begins with it unless another one is busy."""
        if self.run is not None and self.idle():
            yield from self.close_run()
        speaker.busy = True
        if self.run is None:
            self.thread = speaker.session
            self.run = Run(speaker.session, self.take("run", speaker.reply_id), speaker)
            fields = {"threadId": self.run.thread, "runId": self.run.id, "protocolVersion": PROTOCOL}
            yield self.say(speaker, Type.RUN_STARTED, at, own, **fields)
            return
        self.run.others.append(speaker)
        speaker.tag = self.take("run", speaker.reply_id)
        yield self.say(speaker, Type.SUBAGENT_STARTED, at, own, name=name or speaker.reply_id)

    def resume(self, speaker: Speaker) -> Iterator[Wire]:
        """Make a reply part of a run, if it is not."""
        if not speaker.busy:
            yield from self.enter(speaker, {"resumed": speaker.reply_id})

    def close_run(self) -> Iterator[Wire]:
        """End the run that is active, whatever is left in it."""
        raise NotImplementedError

    def shelter(self) -> Iterator[Wire]:
        """Begin a run for what belongs to no reply, if there is none."""
        if self.run is None:
            self.run = Run(self.thread, self.take("run", STRAY), None)
            fields = {"threadId": self.run.thread, "runId": self.run.id, "protocolVersion": PROTOCOL}
            yield self.say(None, Type.RUN_STARTED, None, {"copy": True}, **fields)


def milliseconds(at: str | None) -> int | None:
    """Give a time as AG-UI has it; None for one without an offset, which no other machine can place."""
    if at is None:
        return None
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return None
    return (moment - _EPOCH) // timedelta(milliseconds=1) if moment.tzinfo is not None else None


def own_event(event: Any, *native: str) -> Wire:
    """Give an event as it travels in our metadata: without its id, and without what AG-UI says itself."""
    return {key: value for key, value in fields_of(event).items() if key not in {"id", *native}}
