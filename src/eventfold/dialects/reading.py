"""
Bytes in a dialect -> findings, and messages on the way.

Law: what is said about a stream points at the foreign value that it is about. The rules of the foreign protocol and
those of the contract are judged in one pass, and a value that is no JSON costs only itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models.tables import RULES

from eventfold.check import Checker
from eventfold.findings import Collector
from eventfold.jsonvalue import is_object
from eventfold.stored import check_message
from eventfold.wire import DONE, Framer
from eventfold.wire.json_text import Unreadable, parse

from . import last_resort, recognise
from .neighbours import neighbour
from .translation import MIXED, OF_STREAMS, UNFIT, UNKNOWN, Remark, Unfit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from eventfold.findings import Finding
    from eventfold.lifecycle import Breach

    from . import Dialect, Loss

#: How much of a stream is looked at to recognise its dialect: values, and bytes.
_VALUES, _BYTES = 50, 1 << 20


class DialectChecker(Checker):
    """
    Checks a stream, or stored messages, of a dialect that has a decoder.

    `events` counts foreign values, and findings point at them. What could not be carried is in `losses`.
    """

    def __init__(self, dialect: Dialect, **options: Any) -> None:
        super().__init__(**options)
        if dialect.decoder is None:
            message = f"the dialect {dialect.name} has no streams to read"
            raise ValueError(message)
        self.dialect = dialect
        self.losses: list[Loss] = []
        self._decoder = dialect.decoder()
        self._collector = Collector({**RULES, **dialect.rules, **OF_STREAMS})
        self._messages: list[Any] = []

    def feed(self, data: bytes) -> None:
        """Read bytes."""
        self._read(self._framer.feed(data))

    def finish(self, cut: str = "") -> list[Finding]:
        """Read what is left at the end of the input, and give all findings by place."""
        self._cut = cut
        self._read(self._framer.finish())
        self._say_cut()
        if self.events:
            self._take(self._decoder.finish(), self.events)
        if self._messages:
            self._take_messages()
        if self._keep:
            self.losses += self._decoder.losses
        self.finish_events()
        return self.findings()

    def _read(self, frames: Iterator[tuple[int, bytes]]) -> None:
        for line, data in frames:
            self._line = line
            self._say_problems()
            if data.strip() == DONE:
                self._decoder.remarks.clear()
                self._take(self._decoder.done(), self.events)
                continue
            try:
                value, repairs = parse(data, halves=self._decoder.halves)
            except Unreadable as error:
                for rule, pointer, detail in (*error.repairs, (error.rule, "", error.detail)):
                    self._say(rule, detail, pointer)
                continue
            for rule, pointer, detail in repairs:
                self._say(rule, detail, pointer)
            if self.dialect.read_messages is not None and is_message(value):
                self._messages.append(value)
                continue
            index = self.events
            self.events += 1
            self._take(self._decoder.feed(value), index, value)
        self._say_problems()

    def _take(self, events: Iterable[Any], index: int, value: Any = None) -> None:
        """Apply the events that a value was translated to, and say what was remarked of it."""
        for event in events:
            self._apply(event, index)
        if not self._keep:
            self._decoder.losses.clear()
        for rule, detail, pointer, related in self._judged(value, self._decoder.remarks):
            self._collector.add(rule, (detail,), index=index, line=self._line, pointer=pointer, related=related, values={"detail": detail})

    def _judged(self, value: Any, remarks: list[Remark]) -> list[Remark]:
        """Say of a value that the dialect does not read whose it is, or what it looks like."""
        late = self._decoder.late
        missed = [place for place, remark in enumerate(remarks) if place >= late and remark.rule in {UNKNOWN, UNFIT}]
        if not missed or self.dialect.recognise(value):
            return remarks
        other = None if self._decoder.open_to_others else recognise([value])
        if other is not None:
            mixed = Remark(MIXED, f"a value of {other.title} in a stream of {self.dialect.title}")
            return [*(remark for place, remark in enumerate(remarks) if place not in missed), mixed]
        like = neighbour(value)
        if not like:
            return remarks
        return [
            remark._replace(detail=f"{remark.detail}; it looks like {like}") if i in missed else remark for i, remark in enumerate(remarks)
        ]

    def _take_messages(self) -> None:
        if self.dialect.read_messages is None:
            return
        try:
            messages, losses = self.dialect.read_messages(self._messages)
        except Unfit as error:
            self._collector.add(error.remark.rule, (), index=0, pointer=error.remark.pointer, values={"detail": error.remark.detail})
            return
        self.losses += losses
        for index, message in enumerate(messages):
            check_message(message, index, None, self._collector)
            self.messages += 1
            if self._keep:
                self.stored.append(message)

    def _say(self, rule: str, detail: str, pointer: str) -> None:
        index = self.events
        self._collector.add(rule, (str(index), pointer), index=index, line=self._line, pointer=pointer, values={"detail": detail})

    def _out_of_order(self, breach: Breach) -> None:
        # The pointer is one into the event of ours, which nobody has seen.
        super()._out_of_order(breach._replace(pointer=""))


def is_message(value: Any) -> bool:
    """Tell a stored message of a foreign protocol from a value of its streams: only the message has a role and no type."""
    return is_object(value) and "role" in value and "type" not in value


class Recogniser:
    """Recognises the dialect of a stream from its first bytes."""

    def __init__(self) -> None:
        self._found: Dialect | None = None
        self._weakly: Dialect | None = None
        self.like = ""  #: what it looks like, when no dialect reads it
        self._framer = Framer()
        self._values = 0
        self._bytes = 0

    @property
    def found(self) -> Dialect | None:
        """The dialect: whose a value surely is, else whose one may be."""
        return self._found or self._weakly

    def feed(self, data: bytes) -> bool:
        """Look at bytes. Tells whether enough was seen: `found` is the dialect, or None when nothing says which."""
        self._bytes += len(data)
        return self._look(self._framer.feed(data)) or self._values >= _VALUES or self._bytes >= _BYTES

    def finish(self) -> None:
        """Look at what is left at the end of the input."""
        if self._found is None:
            self._look(self._framer.finish())

    def _look(self, frames: Iterator[tuple[int, bytes]]) -> bool:
        for _, data in frames:
            self._values += 1
            try:
                value, _ = parse(data)
            except Unreadable:
                continue
            self._found = recognise([value])
            if self._found is not None:
                return True
            self._weakly = self._weakly or last_resort(value)
            self.like = self.like or neighbour(value)
        return False
