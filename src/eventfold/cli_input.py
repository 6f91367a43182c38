"""
What the commands read: a file or standard input, in a dialect that is named or recognised.

Law: a live stream is read as it arrives, and nothing that a file holds ends in a traceback.
"""

from __future__ import annotations

import os
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import CannotRun, complain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .check import Checker
    from .dialects import Dialect
    from .findings import Finding
    from .fold import Folder

#: How many bytes are read at once.
_PIECE = 1 << 20

#: The names that `--dialect` takes besides those of the dialects.
NATIVE, AUTO = "eventfold", "auto"

DialectOption = Annotated[
    str,
    typer.Option("--dialect", "-d", metavar="NAME", help="What the input speaks (`eventfold dialects` lists them); `auto` recognises it."),
]


def pieces_of(name: str) -> Iterator[bytes]:
    """Read a file or standard input piece by piece. Raises CannotRun."""
    if name == "-":
        # What has arrived is read at once: a pipe may be a live stream.
        if not sys.stdin:
            message = "standard input is closed"
            raise CannotRun(message)
        try:
            while piece := os.read(sys.stdin.fileno(), _PIECE):
                yield piece
        except OSError as error:
            message = f"standard input cannot be read: {error.strerror}"
            raise CannotRun(message) from None
        return
    try:
        with Path(name).open("rb") as stream:
            while piece := stream.read(_PIECE):
                yield piece
    except OSError as error:
        what = "is a directory; give files" if Path(name).is_dir() else f"cannot be read: {error.strerror}"
        message = f"{name} {what}"
        raise CannotRun(message) from None


def dialect_of(name: str) -> Dialect:
    """Load a dialect. Raises CannotRun."""
    from .dialects import UnknownDialect, dialect

    try:
        return dialect(name)
    except UnknownDialect as error:
        raise CannotRun(str(error)) from None


class Input:
    """A file or standard input, and who checks it. What could not be carried into the contract is in `losses`."""

    def __init__(self, name: str, dialect: str, folder: Folder) -> None:
        self.name = name
        self.dialect = dialect
        self._folder = folder
        self.checker = self._checker(NATIVE if dialect == AUTO else dialect)

    @property
    def losses(self) -> list[Any]:
        """Give what could not be carried."""
        return getattr(self.checker, "losses", [])

    def read(self) -> list[Finding]:
        """
        Check it all.

        Raises:
            CannotRun: it cannot be read, or holds neither an event nor a message.

        """
        size = 0
        head = b""
        for piece in self._recognised() if self.dialect == AUTO else pieces_of(self.name):
            head = head or piece
            size += len(piece)
            self.checker.feed(piece)
        findings = self.checker.finish()
        if not size:
            message = f"{self.name} is empty"
            raise CannotRun(message)
        if not self.checker.events and not self.checker.stored:
            reason = f" ({findings[0].rule}: {findings[0].message})" if findings else ""
            message = f"{self.name} holds no event{reason}"
            raise CannotRun(message)
        if self.dialect == NATIVE and not self.checker.folder.lifecycle.starts and findings:
            self._hint(head)
        return findings

    def _recognised(self) -> Iterator[bytes]:
        """Read pieces, once it is known what they speak."""
        from .dialects.reading import Recogniser

        recogniser = Recogniser()
        pieces = pieces_of(self.name)
        seen: list[bytes] = []
        for piece in pieces:
            seen.append(piece)
            if recogniser.feed(piece):
                break
        else:
            recogniser.finish()
        found = recogniser.found
        self.checker = self._checker(NATIVE if found is None else found.name)
        if seen:
            complain(
                f"{self.name} looks like nothing that is known; read as {NATIVE}"
                if found is None
                else f"{self.name} is read as {found.name} ({found.title})"
            )
        yield from chain(seen, pieces)

    def _hint(self, head: bytes) -> None:
        """Say what a stream without a reply looks like."""
        from .dialects.reading import Recogniser

        recogniser = Recogniser()
        if not recogniser.feed(head):
            recogniser.finish()
        found = recogniser.found
        if found is not None and found.name != NATIVE:
            complain(f"{self.name} looks like {found.title}: `--dialect {found.name}` reads it")

    def _checker(self, name: str) -> Checker:
        from .check import Checker

        if name == NATIVE:
            return Checker(folder=self._folder)
        found = dialect_of(name)
        if found.decoder is None:
            message = f"{name} has nothing to read; it can only be written (`eventfold convert --to {name}`)"
            raise CannotRun(message)
        from .dialects.reading import DialectChecker

        return DialectChecker(found, folder=self._folder)


def grouped(losses: Iterable[Any]) -> Iterator[str]:
    """Say losses, one line a reason."""
    counts: dict[str, int] = {}
    first: dict[str, Any] = {}
    for loss in losses:
        counts[loss.reason] = counts.get(loss.reason, 0) + 1
        first.setdefault(loss.reason, loss)
    for reason, loss in first.items():
        where = " ".join(part for part in ("" if loss.at is None else f"event {loss.at}", loss.pointer) if part)
        many = f"{counts[reason]} times, first " if counts[reason] > 1 else ""
        yield f"lost: {reason}" + (f" ({many}at {where})" if where else f" ({counts[reason]} times)" if many else "")
