"""
JSON values that span lines: bytes -> the objects of an array, or of a sequence of documents.

Law: only brackets and strings are looked at, so that a value is cut out in linear time however deep it
is nested and however the bytes are cut; what it holds is for others to judge. What stands between the
values comes out as well, in its place. Sans-io.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A whole string, a bracket, or the quote of a string that has not ended yet. Possessive: a string of
#: megabytes leaves nothing to go back to.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}"]', re.DOTALL)
_IN_STRING = re.compile(rb'["\\]')
_FILL = re.compile(rb"[ \t\r\n,]*")


class ValueDecoder:
    """Cuts top-level values out, and the elements of a top-level array. Yields (line, bytes), line from 1."""

    def __init__(self, *, max_length: int = sys.maxsize) -> None:
        self.cut: tuple[int, bytes] | None = None  #: what the end of the input cut: a value, or an array that did not end
        self.too_long: list[int] = []  #: where values began that were dropped
        self._max_length = max_length
        self._buffer = bytearray()
        self._line: int = 1
        self._depth: int = 0
        self._base: int = 0  #: depth at which values stand: 1 inside a top-level array
        self._done: int = 0  #: what lies before is dealt with; a value that is being read begins here
        self._at: int = 0  #: what lies before was scanned
        self._in_string = False
        self._dropping = False

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Read bytes, cut anywhere."""
        self._buffer += data
        if not self._in_string or self._leave_string():
            yield from self._scan()
        self._trim()

    def finish(self) -> Iterator[tuple[int, bytes]]:
        """Give what is left at the end of the input; see `cut` for what is incomplete."""
        if self._depth == 0:
            yield from self._between(len(self._buffer))
        elif not self._dropping:
            self._skip_fill()
            self.cut = self._line, bytes(self._buffer[self._done :]).strip()

    def _scan(self) -> Iterator[tuple[int, bytes]]:
        for token in _TOKEN.finditer(self._buffer, self._at):
            text = token.group()
            self._at = token.end()
            if text in {b"[", b"{"}:
                if self._depth == self._base:
                    yield from self._between(token.start())
                    if text == b"[" and self._depth == 0:
                        self._base = 1
                        self._done_to(token.end())
                self._depth += 1
            elif text in {b"]", b"}"}:
                if self._depth == self._base + 1:
                    yield from self._take(token.end())
                elif self._depth == self._base:
                    yield from self._between(token.start() if self._base else token.end())
                    self._done_to(token.end())
                    self._base = 0
                self._depth = max(self._depth - 1, 0)
            elif text == b'"':
                self._in_string = True
                self._leave_string()
                return
        self._at = len(self._buffer)

    def _leave_string(self) -> bool:
        """Find the end of a string that began in an earlier piece. Tells whether it is there."""
        while found := _IN_STRING.search(self._buffer, self._at):
            if found.group() == b'"':
                self._at, self._in_string = found.end(), False
                return True
            if found.end() == len(self._buffer):
                self._at = found.start()
                return False
            self._at = found.end() + 1
        self._at = len(self._buffer)
        return False

    def _take(self, end: int) -> Iterator[tuple[int, bytes]]:
        """Give what has been read up to here, unless it is too long."""
        if self._dropping:
            self._dropping = False
        elif end - self._done > self._max_length:
            self.too_long.append(self._line)
        else:
            yield self._line, bytes(self._buffer[self._done : end]).rstrip(b" \t\r\n,")
        self._done_to(end)

    def _between(self, end: int) -> Iterator[tuple[int, bytes]]:
        """Give what stands between values."""
        self._skip_fill()
        if self._dropping or self._done < end:
            yield from self._take(end)

    def _skip_fill(self) -> None:
        if not self._dropping and (fill := _FILL.match(self._buffer, self._done)):
            self._done_to(fill.end())

    def _done_to(self, end: int) -> None:
        self._line += self._buffer.count(b"\n", self._done, end)
        self._done = end

    def _trim(self) -> None:
        """Hold no more than is needed."""
        if self._depth == self._base:
            self._skip_fill()
        if not self._dropping and len(self._buffer) - self._done > self._max_length:
            self.too_long.append(self._line)
            self._dropping = True
        if self._dropping:
            self._done_to(self._at)
        del self._buffer[: self._done]
        self._at -= self._done
        self._done = 0
