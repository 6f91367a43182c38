"""
Events -> messages.

Law: the same events in, the same bytes out: exactly one message per reply, whatever the stream. No
clock, no random ids, no change of the caller's events, nothing of them shared with the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from .effects import APPENDERS, EFFECTS
from .jsonvalue import copy_json
from .lifecycle import KEEP_ENDED, MAX_OPEN, Breach, Lifecycle, Reply
from .resume import dump, load, reply_from_message
from .shortcuts import Shortcuts
from .table import PLAN_OF
from .wire.reader import read_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from eventfold_models.models import Msg

    from .shape import Wire


#: The walks that were made with these effects.
SHORTCUTS = Shortcuts(APPENDERS)


class UnknownReply(LookupError):
    """A reply that the folder does not hold."""

    def __init__(self, reply_id: str, known: Iterable[str]) -> None:
        super().__init__(reply_id)
        self.reply_id = reply_id
        self.known = list(known)

    def __str__(self) -> str:
        return f"there is no reply {self.reply_id!r}; known are {', '.join(map(repr, self.known)) or 'none'}"


def _silent(breach: Breach) -> None:
    """Report nothing: folding repairs, checking tells."""
    del breach


class Folder:
    """
    Folds events of any number of interleaved replies, each to its own message.

    Feed it events of either model family; a plain dict goes through `read_event` first. Messages can
    be looked at while they grow.
    """

    def __init__(
        self,
        *,
        keep_ended: int = KEEP_ENDED,
        max_open: int = MAX_OPEN,
        keep_messages: bool = True,
        report: Callable[[Breach], None] = _silent,
    ) -> None:
        self.lifecycle = Lifecycle(EFFECTS, report, shortcuts=SHORTCUTS, keep_ended=keep_ended, max_open=max_open, give_up=self._let_go)
        #: Whether messages are kept of replies that are no longer held; whoever only checks needs none.
        self.keep_messages = keep_messages
        #: Index of the next event.
        self.index = 0
        #: Messages of replies that are no longer held: which of the replies each was to begin, and the message.
        self._finished: list[tuple[int, Wire]] = []

    @classmethod
    def from_messages(cls, messages: Iterable[Msg | Wire], **options: Any) -> Folder:
        """
        Continue stored messages: the open ones (finished_at absent) take the events that follow.

        The events may begin without a REPLY_START.
        """
        folder = cls(**options)
        for message in messages:
            wire: Wire = message if isinstance(message, dict) else message.model_dump()
            folder.lifecycle.adopt(reply_from_message(wire), ended=wire.get("finished_at") is not None)
        folder.forget_ended()
        return folder

    def feed(self, event: Any) -> None:
        """
        Apply an event.

        Raises:
            TypeError: it is not an event of eventfold_models.
            InvalidEvent: it is a model that was changed into something invalid.

        """
        self.lifecycle.apply(as_struct(event), self.index)
        self.index += 1
        if self.lifecycle.full:
            self.forget_ended()

    def forget_ended(self) -> None:
        """Finish the messages of the oldest ended replies; what comes for them later is dropped."""
        for reply in self.lifecycle.forget_ended():
            self._let_go(reply)

    def _let_go(self, reply: Reply) -> None:
        if self.keep_messages:
            self._finished.append((reply.started, reply.draft.snapshot()))

    def take_finished(self) -> list[Wire]:
        """
        Give the messages of the replies that are no longer held, in the order in which they began, and hold them no longer.

        With `keep_ended=0`, these are all that have ended.
        """
        finished, self._finished = sorted(self._finished, key=lambda pair: pair[0]), []
        return [wire for _, wire in finished]

    def snapshot(self, reply_id: str) -> Wire:
        """
        Give a reply's message as it stands, as a dict on the wire. Costs its message.

        Raises:
            UnknownReply: no REPLY_START was seen for it.

        """
        reply = self.lifecycle.replies.get(reply_id)
        if reply is not None:
            return reply.draft.snapshot()
        for _, wire in reversed(self._finished):
            if wire["id"] == reply_id:
                return copy_json(wire)
        raise UnknownReply(reply_id, self.lifecycle.replies)

    def snapshots(self) -> list[Wire]:
        """Give every message as it stands, in the order in which the replies began."""
        held = [(reply.started, reply.draft.snapshot()) for reply in self.lifecycle.replies.values()]
        finished = [(started, copy_json(wire)) for started, wire in self._finished]
        return [wire for _, wire in sorted([*finished, *held], key=lambda pair: pair[0])]

    def message(self, reply_id: str) -> Msg:
        """Give a reply's message as a model. Raises UnknownReply."""
        return _model(self.snapshot(reply_id))

    def messages(self) -> list[Msg]:
        """Give every message as a model, in the order in which the replies began."""
        return [_model(wire) for wire in self.snapshots()]

    def replies(self) -> list[Reply]:
        """Give the replies that are held, in the order in which they began."""
        return list(self.lifecycle.replies.values())

    def checkpoint(self) -> dict[str, Any]:
        """Give all there is as one JSON value, from which `restore` goes on as if nothing had happened."""
        return {**dump(self.lifecycle), "index": self.index, "finished": [[started, copy_json(wire)] for started, wire in self._finished]}

    @classmethod
    def restore(cls, checkpoint: dict[str, Any], *, report: Callable[[Breach], None] = _silent) -> Folder:
        """
        Go on from a checkpoint.

        Raises:
            ValueError: it is none, or was made by another version.

        """
        folder = cls(report=report)
        load(checkpoint, folder.lifecycle)
        folder.index = checkpoint["index"]
        folder._finished = [(started, copy_json(wire)) for started, wire in checkpoint["finished"]]
        return folder


def fold(events: Iterable[Any]) -> list[Msg]:
    """
    Fold events of either model family to one message per reply, in the order in which the replies began.

    Broken rules are repaired as schemas/lifecycle.json says; `check` tells them.
    """
    folder = Folder()
    for event in events:
        folder.feed(event)
    return folder.messages()


def as_struct(event: Any) -> Any:
    """
    Give an event of either model family as the engine reads it.

    Raises:
        TypeError: it is not an event of eventfold_models.
        InvalidEvent: it is a model that was changed into something invalid.

    """
    if type(event) in PLAN_OF:
        return event
    if isinstance(event, dict):
        message = "fold takes events, not dicts: eventfold.read_event(value) makes one of a dict"
        raise TypeError(message)
    dump_model = getattr(event, "model_dump", None)
    if dump_model is None or not hasattr(event, "created_at"):
        message = f"{type(event).__name__} is no event of eventfold_models"
        raise TypeError(message)
    return read_event(dump_model())


def _model(wire: Wire) -> Msg:
    from .models import MSG  # noqa: PLC0415  pydantic takes long to import, and whoever folds to dicts needs none

    return MSG.validate_json(msgspec.json.encode(wire))
