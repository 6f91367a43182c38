"""
Which form bytes have, and where each event begins and ends in them.

Law: the same events come out however the bytes are cut, and nothing is raised. What is wrong with the
form is kept in `problems`, for whoever judges. Sans-io.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import orjson

from .sse import SSEDecoder
from .values import ValueDecoder

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Longest event that is read, in bytes. An event of 8 MB of base64 passes; a runaway line does not.
MAX_LENGTH = 32 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"
_SSE_LINE = re.compile(rb"(?:data|event|id|retry)(?::|$)|:")
_BLANK = b" \t\r\n"


class Problem(NamedTuple):
    """A rule that the form of the bytes breaks."""

    rule: str
    line: int
    detail: str


class LineDecoder:
    """JSON Lines: one event a line. A line ends at LF only; U+2028 is text."""

    def __init__(self) -> None:
        self._buffer = b""
        self._line = 0

    @property
    def pending(self) -> int:
        """How many bytes are held back."""
        return len(self._buffer)

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Read bytes, cut anywhere."""
        *lines, self._buffer = (self._buffer + data).split(b"\n") if self._buffer else data.split(b"\n")
        for line in lines:
            self._line += 1
            if line and not line.isspace():
                yield self._line, line

    def finish(self) -> tuple[int, bytes] | None:
        """Give the last line if it lacks its end."""
        return None if not self._buffer or self._buffer.isspace() else (self._line + 1, self._buffer)

    def drop(self) -> None:
        """Forget the line that is being read."""
        self._buffer = b""


class Framer:
    """Finds the form out by itself, then gives (line, bytes) for each event."""

    def __init__(self, *, max_length: int = MAX_LENGTH) -> None:
        self.max_length = max_length
        self.problems: list[Problem] = []
        self.form = ""  #: "jsonl", "json" or "sse", once known
        self._head = b""
        self._decoder: LineDecoder | SSEDecoder | ValueDecoder | None = None
        self._dropping = False

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Read bytes, cut anywhere."""
        if self._decoder is None:
            self._head += data
            if not self._recognise(last=False):
                return
            data, self._head = self._head, b""
        yield from self._read(data)

    def finish(self) -> Iterator[tuple[int, bytes]]:
        """Read what is left at the end of the input."""
        if self._decoder is None:
            self._recognise(last=True)
            data, self._head = self._head, b""
            yield from self._read(data)
        decoder = self._decoder
        if isinstance(decoder, SSEDecoder):
            yield from self._within(decoder.finish())
            if decoder.unterminated:
                self.problems.append(Problem("wire.unterminated", 0, "the input ends without the blank line of its last event"))
        elif isinstance(decoder, LineDecoder) and (rest := decoder.finish()) is not None:
            if _is_json(rest[1]):
                yield from self._within(iter((rest,)))
            else:
                self._cut(*rest)
        elif isinstance(decoder, ValueDecoder):
            rest = decoder.finish()
            self._stray(decoder)
            if rest is not None:
                self._cut(*rest)

    def _read(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        decoder = self._decoder
        if decoder is None:
            return
        yield from self._within(decoder.feed(data))
        if isinstance(decoder, ValueDecoder) and decoder.stray:
            self._stray(decoder)
        if decoder.pending > self.max_length:
            if not self._dropping:
                self.problems.append(Problem("wire.too-long", 0, f"an event is longer than {self.max_length:,} bytes"))
            self._dropping = True
            decoder.drop()

    def _within(self, frames: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        """Pass on what is not too long."""
        for line, data in frames:
            if self._dropping:
                # The tail of an event whose head was dropped.
                self._dropping = False
            elif len(data) > self.max_length:
                self.problems.append(Problem("wire.too-long", line, f"an event of {len(data):,} bytes is longer than {self.max_length:,}"))
            else:
                yield line, data

    def _stray(self, decoder: ValueDecoder) -> None:
        for line, text in decoder.stray:
            self.problems.append(Problem("wire.not-json", line, f"{_shown(text)} stands between the events"))
        decoder.stray.clear()

    def _cut(self, line: int, data: bytes) -> None:
        what = f"ends in {_shown(data[-40:])}" if data else "ends before its array does"
        self.problems.append(Problem("wire.truncated", line, f"the input {what}"))

    def _recognise(self, *, last: bool) -> bool:
        """Choose the decoder. Tells whether enough was seen; at the end of the input, it was."""
        head = self._head.removeprefix(_BOM).lstrip(_BLANK)
        if not last and (not head or (len(self._head) < len(_BOM) and _BOM.startswith(self._head))):
            return False
        lines = head.split(b"\n", 2)
        if not last and len(lines) == 1 and not head.startswith(b"["):
            return False
        if _SSE_LINE.match(lines[0].rstrip(b"\r")):
            self.form, self._decoder = "sse", SSEDecoder()
            return True
        if head.startswith(b"["):
            self.form, self._decoder = "json", ValueDecoder()
        elif head.startswith(b"{") and not _is_json(lines[0]):
            following = b"".join(lines[1:]).lstrip(_BLANK)
            if not following and not last:
                return False
            # A document that is spread over lines goes on with a key, or is empty.
            spread = following.startswith((b'"', b"}"))
            self.form, self._decoder = ("json", ValueDecoder()) if spread else ("jsonl", LineDecoder())
        else:
            self.form, self._decoder = "jsonl", LineDecoder()
        self._head = self._head.removeprefix(_BOM)
        return True


def _is_json(data: bytes) -> bool:
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        return False
    return True


def _shown(data: bytes) -> str:
    text = data[:60].decode("utf-8", "backslashreplace")
    return repr(text if len(data) <= 60 else text + "...")  # noqa: PLR2004  enough to recognise it
