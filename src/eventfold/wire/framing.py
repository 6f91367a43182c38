"""
Which form bytes have, and where each event begins and ends in them.

Law: the same events come out however the bytes are cut, in work that grows with the bytes alone, and
nothing is raised. What is wrong with the form is kept in `problems`, for whoever judges. Sans-io.
"""

from __future__ import annotations

import re
import sys
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from .sse import SSEDecoder
from .values import ValueDecoder

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Longest event that is read, in bytes. An event of 8 MB of base64 passes; a runaway line does not.
MAX_LENGTH = 32 * 1024 * 1024

#: How many bytes of lines are cut out at once: few, so that they are still at hand when they are read.
_BATCH = 1 << 15

_BOM = b"\xef\xbb\xbf"
_SSE_FIELDS = (b"data", b"event", b"id", b"retry")
_SSE_LINE = re.compile(rb"(?:data|event|id|retry)(?::|$)|:")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_BLANK = b" \t\r\n"
_TEXT = re.compile(rb"[^ \t\r\n]")
_ANYTHING = re.compile(rb"")


_Frame = TypeVar("_Frame")


class Problem(NamedTuple):
    """A rule that the form of the bytes breaks."""

    rule: str
    line: int
    detail: str


class LineDecoder:
    """JSON Lines: one event a line. A line ends at LF only; U+2028 is text."""

    def __init__(self, *, max_length: int = sys.maxsize) -> None:
        self.too_long: list[int] = []  #: lines that were dropped
        self._max_length = max_length
        self._parts: list[bytes] = []
        self._length = 0
        self._dropping = False
        self._line = 0

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Read bytes, cut anywhere. Blank lines are left out."""
        for first, lines in self.batches(data):
            for number, line in enumerate(lines, first):
                if not line.isspace():
                    yield number, line.removesuffix(b"\n")

    def batches(self, data: bytes) -> Iterator[tuple[int, list[bytes]]]:
        """Read bytes, cut anywhere. Gives lines as they are, blank ones too: the number of the first, and as many as follow it."""
        stream, at = BytesIO(data), 0
        while lines := stream.readlines(_BATCH):
            size, at = stream.tell() - at, stream.tell()
            rest = b"" if lines[-1].endswith(b"\n") else lines.pop()
            if lines and (self._parts or self._dropping):
                lines[0] = b"\n" if self._dropping else b"".join((*self._parts, lines[0]))
                self._parts, self._length, self._dropping = [], 0, False
            first = self._line + 1
            self._line += len(lines)
            if lines and max(size, len(lines[0])) > self._max_length:
                yield from self._without_long(first, lines)
            elif lines:
                yield first, lines
            if rest and not self._dropping:
                self._parts.append(rest)
                self._length += len(rest)
                if self._length > self._max_length:
                    self.too_long.append(self._line + 1)
                    self._parts, self._dropping = [], True

    def _without_long(self, first: int, lines: list[bytes]) -> Iterator[tuple[int, list[bytes]]]:
        """Give the lines one by one, and each that is too long its place among them."""
        for number, line in enumerate(lines, first):
            if len(line) > self._max_length + 1:
                self.too_long.append(number)
            else:
                yield number, [line]

    def finish(self) -> tuple[int, bytes] | None:
        """Give the last line if it lacks its end."""
        line = b"".join(self._parts)
        return None if not line or line.isspace() else (self._line + 1, line)


class Framer:
    """Finds the form out by itself, then gives (line, bytes) for each event."""

    def __init__(self, *, max_length: int = MAX_LENGTH) -> None:
        self.max_length = max_length
        self.problems: list[Problem] = []
        self.form = ""  #: "jsonl", "json" or "sse", once known
        self._head = bytearray()
        self._news = _ANYTHING  #: what more bytes must hold to tell more
        self._decoder: LineDecoder | SSEDecoder | ValueDecoder | None = None

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Read bytes, cut anywhere."""
        if (known := self._known(data)) is not None and self._decoder is not None:
            yield from self._read(self._decoder, self._decoder.feed(known))

    def batches(self, data: bytes) -> Iterator[tuple[int, list[bytes]]]:
        """Read bytes, cut anywhere. Gives as many events at once as stand on lines that follow each other; a line may be blank."""
        if (known := self._known(data)) is not None and self._decoder is not None:
            decoder = self._decoder
            if isinstance(decoder, LineDecoder):
                yield from self._read(decoder, decoder.batches(known))
            else:
                yield from ((line, [event]) for line, event in self._read(decoder, decoder.feed(known)))

    def finish(self) -> Iterator[tuple[int, bytes]]:
        """Read what is left at the end of the input."""
        if self._decoder is None:
            self._recognise(last=True)
            yield from self.feed(self._start())
        decoder = self._decoder
        if isinstance(decoder, SSEDecoder):
            for line, data in decoder.finish():
                if _is_cut(data):
                    self._say_cut(line, data)
                    continue
                yield line, data
                self.problems.append(Problem("wire.unterminated", line, "the input ends without the blank line of its last event"))
        elif isinstance(decoder, LineDecoder) and (rest := decoder.finish()) is not None:
            if _is_cut(rest[1]):
                self._say_cut(*rest)
            else:
                yield rest
        elif isinstance(decoder, ValueDecoder):
            yield from decoder.finish()
            if decoder.cut is not None:
                self._say_cut(*decoder.cut)
        if decoder is not None:
            self._say_too_long(decoder.too_long)

    def _start(self) -> bytes:
        data, self._head = bytes(self._head), bytearray()
        return data if self.form == "sse" else data.removeprefix(_BOM)

    def _known(self, data: bytes) -> bytes | None:
        """Give what can be read, once the form is known."""
        if self._decoder is not None:
            return data
        if not self._head and len(data) > _BATCH:
            # The beginning mostly tells, and need not be copied with all that follows.
            self._head += data[:_BATCH]
            if self._recognise(last=False):
                self._head.clear()
                return data if self.form == "sse" else data.removeprefix(_BOM)
            self._head.clear()
            self._news = _ANYTHING
        self._head += data
        if not self._news.search(data) and len(self._head) <= self.max_length:
            return None
        return self._start() if self._recognise(last=False) else None

    def _read(self, decoder: LineDecoder | SSEDecoder | ValueDecoder, frames: Iterator[_Frame]) -> Iterator[_Frame]:
        for frame in frames:
            # Before the event that follows it, so that the finding stands where the long one stood.
            if decoder.too_long:
                self._say_too_long(decoder.too_long)
            yield frame
        self._say_too_long(decoder.too_long)

    def _say_too_long(self, lines: list[int]) -> None:
        detail = f"an event is longer than {self.max_length:,} bytes"
        self.problems.extend(Problem("wire.too-long", line, detail) for line in lines)
        lines.clear()

    def _say_cut(self, line: int, data: bytes) -> None:
        what = f"ends in {_shown(data[-40:])}" if data else "ends before its array does"
        self.problems.append(Problem("wire.truncated", line, f"the input {what}"))

    def _recognise(self, *, last: bool) -> bool:
        """Choose the decoder. Tells whether enough was seen."""
        start = bytes(self._head[: len(_BOM)])
        if not last and start != _BOM and _BOM.startswith(start):
            return False
        head = bytes(self._head).removeprefix(_BOM).lstrip(_BLANK)
        self.form = _form(head, last=last or len(self._head) > self.max_length)
        self._news = _LINE_END if head else _TEXT
        if self.form:
            kind = {"sse": SSEDecoder, "json": ValueDecoder, "jsonl": LineDecoder}[self.form]
            self._decoder = kind(max_length=self.max_length)
        return bool(self.form)


def _form(head: bytes, *, last: bool) -> str:
    """Tell the form of the first bytes that are not blank; empty when more of them are needed."""
    first, *others = _LINE_END.split(head, maxsplit=1)
    ended = bool(others) or last
    if head.startswith(b"["):
        return "json"
    if head.startswith(b"{"):
        return _form_of_objects(first, others[0].lstrip(_BLANK) if others else b"", last=last) if ended else ""
    if _SSE_LINE.match(first) and (ended or b":" in first):
        return "sse"
    return "" if not ended and any(name.startswith(first) for name in _SSE_FIELDS) else "jsonl"


def _form_of_objects(first: bytes, following: bytes, *, last: bool) -> str:
    """Tell lines from a document that is spread over lines."""
    if not _is_cut(first):
        return "jsonl"
    if not following:
        return "jsonl" if last else ""
    # A document goes on with a key, or is empty, or goes on with part of a value. What goes on with a whole value
    # is a line that was cut.
    if following.startswith((b'"', b"}")):
        return "json"
    if not first.rstrip().endswith((b"{", b"[", b",", b":")):
        return "jsonl"
    second, *others = following.split(b"\n", 1)
    if not others and not last:
        return ""
    whole = second.startswith(b"{") and second.rstrip().endswith(b"}") and not _is_cut(second)
    return "jsonl" if whole else "json"


def _is_cut(data: bytes) -> bool:
    """Tell whether a value's text ends before its brackets do."""
    decoder = ValueDecoder()
    for _ in decoder.feed(data):
        pass
    for _ in decoder.finish():
        pass
    return decoder.cut is not None


def _shown(data: bytes) -> str:
    return repr(data.decode("utf-8", "backslashreplace"))
