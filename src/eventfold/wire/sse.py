"""
Server-sent events: bytes -> data fields, by the algorithm of WHATWG HTML 9.2.6.

Law: a line ends at LF, CR or CRLF and nowhere else (U+2028 is text), however the bytes are cut. Sans-io.
One thing differs from a browser: an event at the end of the input that lacks its blank line is read,
and said.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"
_FIELD = b"data: "


class SSEDecoder:
    """Reads a stream of server-sent events. Yields (line, data): the line of the first data field, from 1."""

    def __init__(self, *, max_length: int = sys.maxsize) -> None:
        self.id = b""  #: the last event id, for Last-Event-ID
        self.unterminated = False  #: whether the last event lacked its blank line
        self.too_long: list[int] = []  #: where events began that were dropped
        self._max_length = max_length
        self._parts: list[bytes] = []  #: the line that is being read
        self._held = 0
        self._line = 0
        self._data: list[bytes] = []
        self._size = 0
        self._first = 0
        self._begun = False
        self._after_cr = False
        self._dropping = False

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Read bytes, cut anywhere."""
        if not self._begun:
            data = b"".join((*self._parts, data))
            self._parts = [data]
            if len(data) < len(_BOM) and _BOM.startswith(data):
                return
            self._begun, self._parts = True, []
            data = data.removeprefix(_BOM)
        if data and self._after_cr:
            # A CR ends its line at once; an LF that comes right after belongs to it.
            data, self._after_cr = data.removeprefix(b"\n"), False
        self._after_cr = data.endswith(b"\r") if data else self._after_cr
        *lines, rest = _LINE_END.split(data)
        if lines:
            lines[0] = b"".join((*self._parts, lines[0]))
            self._parts, self._held = [], 0
        for line in lines:
            yield from self._take(line)
        if rest:
            self._hold(rest)

    def finish(self) -> Iterator[tuple[int, bytes]]:
        """Read what is left at the end of the input."""
        if rest := b"".join(self._parts):
            self._parts = []
            yield from self._take(rest)
        if self._data:
            self.unterminated = True
            yield from self._take(b"")

    def _hold(self, part: bytes) -> None:
        self._parts.append(part)
        self._held += len(part)
        if self._held > self._max_length + len(_FIELD):
            self._drop(self._line + 1)
            # What is still to come of this line is read as a comment.
            self._parts, self._held = [b":"], 1

    def _drop(self, line: int) -> None:
        """Forget the event that is being read, up to its blank line."""
        if not self._dropping:
            self.too_long.append(self._first if self._data else line)
        self._dropping = True
        self._data.clear()

    def _take(self, line: bytes) -> Iterator[tuple[int, bytes]]:
        self._line += 1
        if not line:
            if self._data:
                yield self._first, b"\n".join(self._data)
            self._data.clear()
            self._dropping = False
            return
        if len(line) > self._max_length + len(_FIELD):
            self._drop(self._line)
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"id" and b"\0" not in value:
            self.id = value
        elif field == b"data" and not self._dropping:
            if not self._data:
                self._first, self._size = self._line, -1
            self._data.append(value)
            self._size += 1 + len(value)
            if self._size > self._max_length:
                self._drop(self._line)
