"""
A message under construction.

Law: work is linear in the bytes that come in. Text is written into a buffer and bytes into a bytearray,
and they are joined when somebody looks; a snapshot costs its message and shares nothing with the draft.
"""

from __future__ import annotations

import binascii
from io import StringIO
from typing import TYPE_CHECKING, Any

from .jsonvalue import copy_json, copy_object

if TYPE_CHECKING:
    from collections.abc import Callable

    from .shape import Wire


#: How long a text may be, in characters, that is put together anew with each delta: below, a buffer costs more than it saves.
_SHORT = 256

#: How many blocks are worth a look at the end of a message that grows.
_LOOKED_AT = 32


class TextDraft:
    """A block (or tool call) whose text grows in one field."""

    __slots__ = ("_buffer", "_write", "field", "said", "size", "text", "wire")

    def __init__(self, field: str, wire: Wire) -> None:
        self.field = field
        self.wire = wire
        #: The text while it is short, and what the buffer began with.
        self.text: str = wire[field]
        self._buffer: StringIO | None = None
        self._write: Callable[[str], Any] | None = None
        #: How long the text is, in characters.
        self.size = len(self.text)
        #: The newest delta with text, if it held all the text so far and more.
        self.said: str | None = None

    @property
    def buffer(self) -> StringIO:
        """The text as a file that is written at its end."""
        if self._buffer is None:
            self._buffer = StringIO()
            self._write = self._buffer.write
            self._write(self.text)
        return self._buffer

    def append(self, text: str) -> None:
        """Add text at the end."""
        size = len(text)
        if size > self.size or (size and self.said is not None):
            self.said = text if self.repeats(text) else None
        self.size += size
        write = self._write
        if write is not None:
            write(text)
        else:
            self._add(text)

    def replace(self, text: str) -> None:
        """Put text in place of all there is."""
        self.text = text
        self._buffer = self._write = None
        self.size = len(text)
        self.said = None

    def append_other(self, text: str) -> bool:
        """Add text at the end, unless it repeats all the text, as the one before it did not. Tells whether it was added."""
        size = len(text)
        if size > self.size and text.startswith(self.heard()):
            return False
        self.size += size
        write = self._write
        if write is not None:
            write(text)
        else:
            self._add(text)
        return True

    def _add(self, text: str) -> None:
        """Add text whose size is counted, while there is no buffer."""
        if self.size <= _SHORT:
            self.text += text
        else:
            self.buffer.write(text)

    def heard(self) -> str:
        """Give all the text so far as its producer has it: one that says all of it in each delta has done so in the newest."""
        if self.said is not None:
            return self.said
        return self.text if self._buffer is None else self._buffer.getvalue()

    def repeats(self, text: str) -> bool:
        """Tell whether a delta is longer than all the text so far and begins with it, as a cumulative producer's does."""
        return len(text) > (self.size if self.said is None else len(self.said)) and text.startswith(self.heard())

    def snapshot(self) -> Wire:
        """Give the block as it stands."""
        wire = copy_object(self.wire)
        wire[self.field] = self.text if self._buffer is None else self._buffer.getvalue()
        return wire

    def settle(self) -> None:
        """Hold the text in one piece. A buffer holds its pieces, many times their text; it is made again when more comes."""
        if self._buffer is not None:
            self.text = self._buffer.getvalue()
            self._buffer = self._write = None

    def end(self, most: int) -> Wire:
        """Give the block with the end of its text alone, to be looked at; but for the first time, in work that does not grow with it."""
        if self._buffer is None:
            return {**self.wire, self.field: self.text[-most:]}
        self.buffer.seek(max(0, self.buffer.tell() - most))
        return {**self.wire, self.field: self.buffer.read()}


class DataDraft:
    """A data block: bytes that grow, or a URL."""

    __slots__ = ("data", "source", "wire")

    def __init__(self, wire: Wire, source: Wire, data: bytes = b"") -> None:
        self.wire = wire
        self.source = source
        self.data: bytearray | None = bytearray(data)

    @classmethod
    def opaque(cls, wire: Wire, source: Wire) -> DataDraft:
        """Hold a source that takes no bytes: a URL, or stored data that is not base64."""
        draft = cls(wire, source)
        draft.data = None
        return draft

    def set_url(self, url: str) -> None:
        """Make a URL the whole content."""
        self.source = {"type": "url", "url": url, "media_type": self.source["media_type"]}
        self.data = None

    def snapshot(self) -> Wire:
        """Give the block as it stands. Bytes are encoded as one base64 document."""
        source = copy_json(self.source)
        if self.data is not None:
            source["data"] = binascii.b2a_base64(self.data, newline=False).decode("ascii")
        wire = copy_object(self.wire)
        wire["source"] = source
        return wire

    def end(self, most: int) -> Wire:
        """Give the block with its size in place of its bytes, to be looked at."""
        del most
        size = None if self.data is None else {"url": f"{len(self.data):,} bytes", "media_type": self.source["media_type"]}
        return {**self.wire, "source": size or self.source}


class WholeDraft:
    """A block that came whole."""

    __slots__ = ("wire",)

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    def snapshot(self) -> Wire:
        """Give the block."""
        return copy_json(self.wire)

    def end(self, most: int) -> Wire:
        """Give the block with the ends of its texts, to be looked at."""
        return {key: value[-most:] if isinstance(value, str) else value for key, value in self.wire.items()}


class ResultDraft:
    """A tool result: an output that came whole, or parts that grow."""

    __slots__ = ("output", "parts", "wire")

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        #: What came whole, as text or blocks; None while the output is made of parts.
        self.output: Any = None
        self.parts: list[TextDraft | DataDraft | WholeDraft] = []

    def append_text(self, text: str) -> None:
        """Add text to the last part, or to a new one whose id is derived from its place."""
        self.open_output()
        last = self.parts[-1] if self.parts else None
        if not isinstance(last, TextDraft):
            last = TextDraft("text", {"type": "text", "id": self._place(), "text": ""})
            self.parts.append(last)
        last.append(text)

    def open_output(self) -> None:
        """Make parts of an output that came whole, so that it can grow."""
        if isinstance(self.output, str):
            self.parts = [TextDraft("text", {"type": "text", "id": self._place(), "text": self.output})]
        elif self.output is not None:
            self.parts = [TextDraft("text", block) if block.get("type") == "text" else WholeDraft(block) for block in self.output]
        self.output = None

    def clear(self) -> None:
        """Forget the output."""
        self.output = None
        self.parts = []

    def snapshot(self) -> Wire:
        """Give the result as it stands."""
        wire = copy_object(self.wire)
        wire["output"] = [part.snapshot() for part in self.parts] if self.output is None else copy_json(self.output)
        return wire

    def end(self, most: int) -> Wire:
        """Give the result with the end of its output, to be looked at."""
        if isinstance(self.output, str):
            return {**self.wire, "output": self.output[-most:]}
        parts = self.parts if self.output is None else [WholeDraft(block) for block in self.output[-most:]]
        return {**self.wire, "output": [part.end(most) for part in parts[-_LOOKED_AT:]]}

    def _place(self) -> str:
        return f"{self.wire['id']}/{len(self.parts)}"


BlockDraft = TextDraft | DataDraft | WholeDraft | ResultDraft


#: Fields of a message that only its end sets, so that they are written last.
TAIL = ("finished_at", "finished_reason", "structured_output", "error")


class MessageDraft:
    """A message: its head, its blocks in the order of their starts, and its end."""

    __slots__ = ("content", "head", "tail", "usage")

    def __init__(self, head: Wire) -> None:
        self.head = head
        self.content: list[BlockDraft] = []
        self.usage: dict[str, int] | None = None
        self.tail: Wire = {}

    def snapshot(self) -> Wire:
        """Give the message as it stands."""
        wire: Wire = copy_object(self.head)
        wire["content"] = [block.snapshot() for block in self.content]
        if self.usage is not None:
            wire["usage"] = dict(self.usage)
        return wire | copy_object(self.tail)

    def settle(self) -> None:
        """Hold the texts in one piece each: most messages that have ended get no more."""
        for block in self.content:
            for draft in block.parts if isinstance(block, ResultDraft) else (block,):
                if isinstance(draft, TextDraft):
                    draft.settle()

    def end(self, most: int) -> Wire:
        """Give the message with the end of its content, at most so many characters of each block: what a screen can show."""
        content = [block.end(most) for block in self.content[-_LOOKED_AT:]]
        return {**self.head, "content": content, **({"usage": self.usage} if self.usage is not None else {}), **self.tail}
