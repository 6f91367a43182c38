"""
Bytes, perhaps compressed -> the bytes that they hold: gzip and Zstandard, by their first bytes and not by a name.

Law: whatever the data, no more than a piece of it is held, so that a small file that expands to terabytes costs time and not
memory. What is cut or damaged ends in InputCut, after all that could be read.
"""

from __future__ import annotations

import sys
import zlib
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from .console import InputCut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: How many bytes are given at once.
PIECE = 1 << 17

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
#: As many bytes as it takes to tell.
_TELLING = 4


class _Member(Protocol):
    """One of the compressed streams that a file is made of, one after the other."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def expand(self, data: bytes) -> bytes:
        """Give at most a piece; with b"" what is left of the last one. Gives b"" when more is needed."""
        ...


class _Gzip:
    """A member of a gzip file (RFC 1952)."""

    def __init__(self) -> None:
        self._decoder = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data

    def expand(self, data: bytes) -> bytes:
        return self._decoder.decompress(self._decoder.unconsumed_tail + data, PIECE)


def _zstd() -> _Member:
    """Begin a frame of a Zstandard file (RFC 8878)."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    class Frame:
        def __init__(self) -> None:
            self._decoder = zstd.ZstdDecompressor()

        @property
        def eof(self) -> bool:
            return self._decoder.eof

        @property
        def unused_data(self) -> bytes:
            return self._decoder.unused_data

        def expand(self, data: bytes) -> bytes:
            try:
                return self._decoder.decompress(data, PIECE)
            except zstd.ZstdError as error:
                raise zlib.error(str(error)) from None

    return Frame()


def expanded(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """
    Give what the bytes hold, as soon as it is there.

    Raises:
        InputCut: the compressed data stops in the middle, or is damaged.

    """
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= _TELLING or not (_GZIP.startswith(head[:2]) or _ZSTD.startswith(head)):
            break
    whole = chain([head], pieces) if head else pieces
    if head.startswith(_GZIP):
        yield from _members(whole, _Gzip, "gzip")
    elif head.startswith(_ZSTD):
        yield from _members(whole, _zstd, "Zstandard")
    else:
        yield from whole


def _members(pieces: Iterator[bytes], begin: Callable[[], _Member], name: str) -> Iterator[bytes]:
    member: _Member | None = None
    for piece in pieces:
        data = piece
        while data:
            if member is None:
                # Zeros pad a file to the blocks of a tape.
                data = data.lstrip(b"\0")
                if not data:
                    break
                member = begin()
            try:
                while not member.eof and (part := member.expand(data)):
                    yield part
                    data = b""
            except zlib.error as error:
                message = f"the {name} data is damaged ({error})"
                raise InputCut(message) from None
            data = b""
            if member.eof:
                data, member = member.unused_data, None
    if member is not None:
        message = f"the {name} data stops before its end"
        raise InputCut(message)
