"""
Bytes -> findings, and messages on the way.

Law: nothing is raised for bad input; every finding says what was found, where, and what it clashes with.
A stream and stored messages are told apart value by value.
"""

from __future__ import annotations

from datetime import datetime
from operator import length_hint
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from msgspec import UNSET

from .findings import Collector, Finding
from .fold import Folder, as_struct
from .jsonvalue import shown
from .lifecycle import KEEP_ENDED, MAX_OPEN
from .table import PLAN_OF
from .wire import TOO_DEEP, EventReader, Framer, StoredMessage
from .wire.depth import SHALLOWEST, nests_too_deep
from .wire.guess import ENOUGH, alone
from .wire.learned import LEARNED, UNKNOWN_FIELD
from .wire.reader import DECODE, REFUSALS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .lifecycle import Breach
    from .shape import Wire


#: The rule that an end in the middle breaks.
_TRUNCATED = "wire.truncated"

#: No lines to be read.
_NONE: Iterator[bytes] = iter(())

#: Reads nearly every timestamp, and raises ValueError.
read_time = datetime.fromisoformat

#: How many findings are held for repeats to be counted, by whoever takes them while the stream runs.
HELD = 10_000


class Checked(NamedTuple):
    """What came out of a stream: one message per reply as a dict on the wire, and what is wrong."""

    messages: list[Wire]
    findings: list[Finding]


class Checker:
    """
    Checks a stream while it runs: feed bytes, cut anywhere; look at `findings()` at any time.

    The messages grow in `folder`. With `keep_messages` false, those of replies that are no longer held are forgotten, and
    so are stored ones once they are checked: memory is bounded when findings are taken by `overflow()` as well.
    """

    def __init__(
        self,
        *,
        keep_ended: int = KEEP_ENDED,
        max_open: int = MAX_OPEN,
        keep_messages: bool = True,
        folder: Folder | None = None,
    ) -> None:
        self.folder = folder if folder is not None else Folder(keep_ended=keep_ended, max_open=max_open, keep_messages=keep_messages)
        self._keep = keep_messages
        self.folder.lifecycle.report = self._out_of_order
        self.events: int = 0  #: events seen, broken ones included
        self.messages: int = 0  #: stored messages seen
        self.stored: list[Wire] = []  #: messages that stood where events were expected, if they are kept
        self._framer = Framer()
        self._reader = EventReader()
        self._collector = Collector()
        #: The line of the last event that was brought, and the events that are still to be read, up to it.
        self._last: int | None = None
        self._rest: Iterator[bytes] = _NONE
        #: What is to be said of an end that came too early.
        self._cut = ""
        #: Whether nobody but the folder's lifecycle needs the events, so that these need not be of the contract's own classes.
        self._direct = type(self.folder).feed is Folder.feed
        self._extended = False  #: whether unknown fields came lately
        #: The class of the newest events, how many of it came one after the other, and what decoded them.
        self._run: tuple[type | None, int, Callable[[bytes], Any]] = (None, 0, DECODE)

    @property
    def _line(self) -> int | None:
        """The line of the event that is read. It is counted when somebody asks."""
        return None if self._last is None else self._last - length_hint(self._rest)

    @_line.setter
    def _line(self, line: int | None) -> None:
        self._last, self._rest = line, _NONE

    @property
    def form(self) -> str:
        """Which form the bytes have: jsonl, json or sse; empty before it is known."""
        return self._framer.form

    def feed(self, data: bytes) -> None:
        """Read bytes."""
        for line, events in self._framer.batches(data):
            self._read_lines(line, events)
        self._say_problems()

    def finish(self, cut: str = "") -> list[Finding]:
        """
        Read what is left at the end of the input, and give all findings by place.

        `cut` says what whoever brings the bytes knows about their end, when it came too early.
        """
        self._cut = cut
        self._read(self._framer.finish())
        self._say_cut()
        self.finish_events()
        return self.findings()

    def feed_event(self, event: Any) -> None:
        """Check an event of either model family."""
        index = self.events
        self.events += 1
        self._apply(as_struct(event), index)

    def finish_events(self) -> None:
        """Say what is wrong with the stream stopping here."""
        self._line = None
        self.folder.lifecycle.finish(self.events)

    def findings(self) -> list[Finding]:
        """Give what was found so far, by place."""
        return list(self._collector)

    def overflow(self) -> list[Finding]:
        """
        Take findings that need not be held any more, by place; `findings()` and `finish()` do not give them again.

        What repeats one of them later is a finding of its own.
        """
        return self._collector.overflow(HELD)

    def take_findings(self) -> list[Finding]:
        """
        Give what was found since they were last taken, by place, and hold it no longer.

        For a stream without an end: with `folder.take_finished()`, what is held does not grow with it. A rule that is
        broken again on the same key is then found anew.
        """
        return self._collector.overflow(0)

    def _read(self, frames: Iterator[tuple[int, bytes]]) -> None:
        for line, data in frames:
            self._read_lines(line, [data])
        self._say_problems()

    def _read_lines(self, line: int, lines: list[bytes]) -> None:  # noqa: C901, PLR0912  in one piece: a call costs as much as five lines
        """
        Read events that stand on lines which follow each other.

        This is the hot path: nothing is called for an event but what decodes it, reads its time and applies it.
        """
        if self._framer.problems:
            self._say_problems()
        folder, lifecycle = self.folder, self.folder.lifecycle
        # A folder that looks at the events itself gets those of the contract's own classes.
        guesses = self._direct
        apply = lifecycle.apply if guesses else self._feed
        # Unknown fields mostly come in all events or in none.
        whole = self._whole
        extended, self._extended, shallow = whole is not DECODE, False, SHALLOWEST
        index = self.events
        kind, alike, decoded_by = self._run
        if decoded_by is not whole:
            kind, alike = None, 0
        decode = alone(kind) if kind is not None and alike >= ENOUGH else whole
        event: Any
        self._last, self._rest = line + len(lines) - 1, iter(lines)
        for data in self._rest:
            try:
                event = decode(data)
            except REFUSALS:
                event = None
            if decode is not whole:
                if event is None:
                    # Not of the class that was guessed.
                    decode, alike = whole, 0
                    event = _decoded(whole, data)
            elif event is None or type(event) is not kind:
                kind, alike = cast("type", type(event)), 0
            elif guesses and (alike := alike + 1) >= ENOUGH:
                decode = alone(kind)
            if event is None or (len(data) > shallow and nests_too_deep(event, data)) or (extended and not self._repeats(event)):
                self.events = index
                if self.form != "jsonl":
                    self._look_again(data)
                elif not data.isspace():
                    self._look_again(data.removesuffix(b"\n"))
                index = self.events
                if self._extended and guesses:
                    decode = whole = self._whole
                    extended, kind, alike = True, None, 0
                continue
            try:
                read_time(event.created_at)
            except ValueError:
                self._look_at_time(event, index)
            apply(event, index)
            index += 1
            if lifecycle.full:
                folder.forget_ended()
        self.events = folder.index = index
        self._run = kind, alike, whole

    @property
    def _whole(self) -> Callable[[bytes], Any]:
        """What decodes any event, with the unknown fields that came before if such came lately."""
        return LEARNED.decode or DECODE if self._extended and self._direct else DECODE

    def _repeats(self, event: object) -> bool:
        """Count the unknown fields of an event, if all of them were found before."""
        keys = [key for attribute, key in LEARNED.extras[type(event)] if getattr(event, attribute) is not UNSET]
        if not keys:
            return True
        self._extended = True
        return self._collector.repeat(keys)

    def _look_again(self, data: bytes) -> None:
        """Read an event of which something is to be said."""
        index = self.events
        event = self._reader.read(data)
        remarks = self._reader.remarks
        if remarks:
            self._extended = self._extended or remarks[0].rule == UNKNOWN_FIELD
            self._remark(self.messages if type(event) is StoredMessage else index)
        if type(event) is StoredMessage:
            self._store(event.wire)
        elif event is not None:
            self.events += 1
            self._apply(event, index)
        else:
            # What is named or only too deep was an event; the rest was anything.
            self.events += any(remark.type or remark.rule == TOO_DEEP for remark in remarks)

    def _store(self, message: Wire) -> None:
        from .stored import check_message  # noqa: PLC0415  loads jsonschema, which a stream in order does not need

        check_message(message, self.messages, self._line, self._collector)
        self.messages += 1
        if self._keep:
            self.stored.append(message)

    def _apply(self, event: Any, index: int) -> None:
        try:
            read_time(event.created_at)
        except ValueError:
            self._look_at_time(event, index)
        self._feed(event, index)

    def _feed(self, event: Any, index: int) -> None:
        self.folder.index = index
        self.folder.feed(event)

    def _look_at_time(self, event: Any, index: int) -> None:
        from .timestamps import is_timestamp  # noqa: PLC0415  for what datetime does not read

        if not is_timestamp(event.created_at):
            self._collector.add(
                "event.not-timestamp",
                (type(event).__name__,),
                index=index,
                line=self._line,
                pointer="/created_at",
                values={"type": PLAN_OF[type(event)].type, "detail": f"created_at is {shown(event.created_at)}"},
            )

    def _remark(self, index: int) -> None:
        for rule, detail, pointer, name in self._reader.remarks:
            group = (name, pointer) if name else (str(index), pointer)
            self._collector.add(rule, group, index=index, line=self._line, pointer=pointer, values={"type": name, "detail": detail})

    def _say_problems(self) -> None:
        for rule, line, said in self._framer.problems:
            detail = said
            if rule == _TRUNCATED and self._cut:
                # One thing went wrong, and is said once.
                detail, self._cut = f"{self._cut}; {said}", ""
            self._collector.add(rule, (), index=self.events, line=line or None, values={"detail": detail})
        self._framer.problems.clear()

    def _say_cut(self) -> None:
        if self._cut:
            self._collector.add(_TRUNCATED, (), index=self.events, values={"detail": self._cut})

    def _out_of_order(self, breach: Breach) -> None:
        values = {**breach._asdict(), "key": repr(breach.key), "reply_id": repr(breach.reply_id)}
        self._collector.add(
            breach.rule,
            (breach.reply_id, breach.key),
            index=self.folder.lifecycle.index,
            line=self._line,
            pointer=breach.pointer,
            related=breach.since,
            reply_id=breach.reply_id,
            values=values,
        )


def _decoded(decode: Callable[[bytes], Any], data: bytes) -> Any:
    try:
        return decode(data)
    except REFUSALS:
        return None


def check(data: bytes | Iterable[Any]) -> list[Finding]:
    """Check a whole stream: bytes in any form that `wire` reads, or events of either model family."""
    return check_and_fold(data).findings


def check_and_fold(data: bytes | Iterable[Any]) -> Checked:
    """Check and fold a whole stream in one pass: bytes in any form that `wire` reads, or events."""
    checker = Checker()
    if isinstance(data, bytes | bytearray | memoryview):
        checker.feed(bytes(data))
        findings = checker.finish()
    else:
        for event in data:
            checker.feed_event(event)
        checker.finish_events()
        findings = checker.findings()
    return Checked(checker.folder.snapshots(), findings)
