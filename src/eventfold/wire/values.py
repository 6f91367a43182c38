"""
JSON values that span lines: bytes -> the objects of an array, or of a sequence of documents.

Law: only brackets and strings are looked at, so that a value is cut out in linear time however deep it
is nested and however the bytes are cut; what it holds is for others to judge. Sans-io.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A whole string, a bracket, or the quote of a string that has not ended yet.
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}"]', re.DOTALL)
_IN_STRING = re.compile(rb'["\\]')
_FILL = b" \t\r\n,"


class ValueDecoder:
    """Cuts top-level values out, and the elements of a top-level array. Yields (line, bytes), line from 1."""

    def __init__(self) -> None:
        self.stray: list[tuple[int, bytes]] = []  #: what stands between the values
        self._buffer = b""
        self._line: int = 1
        self._depth: int = 0
        self._base: int = 0  #: depth at which values stand: 1 inside a top-level array
        self._start: int = 0  #: where the value that is being read begins
        self._done: int = 0  #: what lies before is dealt with
        self._at: int = 0  #: what lies before was scanned
        self._in_string = False

    @property
    def pending(self) -> int:
        """How many bytes are held back."""
        return len(self._buffer)

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Read bytes, cut anywhere."""
        self._buffer += data
        if self._in_string and not self._leave_string():
            return
        for token in _TOKEN.finditer(self._buffer, self._at):
            text = token.group()
            if text == b'"':
                self._at, self._in_string = token.end(), True
                self._leave_string()
                break
            self._at = token.end()
            if text in {b"[", b"{"}:
                self._open(token.start(), token.end(), array=text == b"[")
            elif text in {b"]", b"}"}:
                if self._depth == self._base + 1:
                    yield self._line, self._buffer[self._start : token.end()]
                    self._done_to(token.end())
                elif self._depth == self._base:
                    self._skip_to(token.start() if self._base else token.end())
                    self._done_to(token.end())
                    self._base = 0
                self._depth = max(self._depth - 1, 0)
        self._trim()

    def finish(self) -> tuple[int, bytes] | None:
        """Give what was cut at the end of the input: a value, or an array that did not end."""
        if self._depth == 0:
            self._skip_to(len(self._buffer))
            return None
        return self._line, self._buffer[self._done :].strip(_FILL)

    def drop(self) -> None:
        """Forget the value that is being read, and go on looking for values after what was scanned."""
        self._buffer = b""
        self._start = self._done = self._at = self._depth = self._base = 0
        self._in_string = False

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

    def _open(self, start: int, end: int, *, array: bool) -> None:
        if self._depth == self._base:
            self._skip_to(start)
            self._start = start
            if array and self._depth == 0:
                self._base = 1
                self._done_to(end)
        self._depth += 1

    def _skip_to(self, end: int) -> None:
        """Pass over what stands between values."""
        stray = self._buffer[self._done : end].strip(_FILL)
        if stray:
            self.stray.append((self._line, stray))
        self._done_to(end)

    def _done_to(self, end: int) -> None:
        self._line += self._buffer.count(b"\n", self._done, end)
        self._done = end

    def _trim(self) -> None:
        done = self._done
        if done:
            self._buffer = self._buffer[done:]
            self._at -= done
            self._start = max(self._start - done, 0)
            self._done = 0
