"""
Server-sent events: bytes -> data fields, by the algorithm of WHATWG HTML 9.2.6.

Law: a line ends at LF, CR or CRLF and nowhere else (U+2028 is text), however the bytes are cut. Sans-io.
One thing differs from a browser: an event at the end of the input that lacks its blank line is read,
and said.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class SSEDecoder:
    """Reads a stream of server-sent events. Yields (line, data): the line of the first data field, from 1."""

    def __init__(self) -> None:
        self.id = b""  #: the last event id, for Last-Event-ID
        self.unterminated = False  #: whether the last event lacked its blank line
        self._buffer = b""
        self._line = 0
        self._first = 0
        self._data: list[bytes] = []
        self._begun = False

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Read bytes, cut anywhere."""
        self._buffer += data
        if not self._begun:
            if len(self._buffer) < len(_BOM) and _BOM.startswith(self._buffer):
                return
            self._begun = True
            self._buffer = self._buffer.removeprefix(_BOM)
        # A CR at the very end may be half of a CRLF: its line waits for the next byte.
        *lines, self._buffer = self._cut(self._buffer)
        for line in lines:
            yield from self._take(line)

    def finish(self) -> Iterator[tuple[int, bytes]]:
        """Read what is left at the end of the input."""
        if self._buffer:
            for line in _LINE_END.split(self._buffer.removesuffix(b"\r")):
                yield from self._take(line)
            self._buffer = b""
        if self._data:
            self.unterminated = True
            yield from self._take(b"")

    @property
    def pending(self) -> int:
        """How many bytes are held back."""
        return len(self._buffer) + sum(map(len, self._data))

    def drop(self) -> None:
        """Forget the event that is being read."""
        self._buffer = b""
        self._data.clear()

    @staticmethod
    def _cut(data: bytes) -> list[bytes]:
        if data.endswith(b"\r"):
            *lines, last = _LINE_END.split(data[:-1])
            return [*lines, last + b"\r"]
        return _LINE_END.split(data)

    def _take(self, line: bytes) -> Iterator[tuple[int, bytes]]:
        self._line += 1
        if not line:
            if self._data:
                yield self._first, b"\n".join(self._data)
                self._data.clear()
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            if not self._data:
                self._first = self._line
            self._data.append(value)
        elif field == b"id" and b"\0" not in value:
            self.id = value
