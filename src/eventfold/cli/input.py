"""
What the commands read: a file, a URL or standard input, in a dialect that is named or recognised.

Law: a live stream is read as it arrives, and nothing that an input holds ends in a traceback.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .console import CannotRun, InputCut, complain
from .decompression import PIECE, expanded
from .http import Access, pieces_of_url, shown_url
from .options import AUTO, NATIVE
from .sources import is_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from eventfold.check import Checker
    from eventfold.dialects import Dialect
    from eventfold.findings import Finding, Severity
    from eventfold.fold import Folder


def pieces_of(name: str, access: Access | None = None, tick: Callable[[int], None] | None = None) -> Iterator[bytes]:
    """
    Read a file, a URL or standard input piece by piece, and expand what is compressed.

    `tick` is told how many bytes were read, before they are expanded.

    Raises:
        CannotRun: it cannot be read.
        InputCut: it breaks off in the middle.

    """
    pieces = _standard_input() if name == "-" else pieces_of_url(name, access or Access()) if is_url(name) else _file(name)
    return expanded(pieces if tick is None else _ticking(pieces, tick))


def _ticking(pieces: Iterator[bytes], tick: Callable[[int], None]) -> Iterator[bytes]:
    for piece in pieces:
        tick(len(piece))
        yield piece


def _standard_input() -> Iterator[bytes]:
    # What has arrived is read at once: a pipe may be a live stream.
    if not sys.stdin:
        message = "standard input is closed"
        raise CannotRun(message)
    try:
        while piece := os.read(sys.stdin.fileno(), PIECE):
            yield piece
    except OSError as error:
        message = f"standard input cannot be read: {error.strerror}"
        raise CannotRun(message) from None


def _file(name: str) -> Iterator[bytes]:
    try:
        with Path(name).open("rb") as stream:
            while piece := stream.read1(PIECE):
                yield piece
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        what = "is a directory; give files" if "\0" not in name and Path(name).is_dir() else f"cannot be read: {reason}"
        message = f"{name} {what}"
        raise CannotRun(message) from None


def dialect_of(name: str) -> Dialect:
    """Load a dialect. Raises CannotRun."""
    from eventfold.dialects import UnknownDialect, dialect

    try:
        return dialect(name)
    except UnknownDialect as error:
        raise CannotRun(str(error)) from None


class Input:
    """An input, and who checks it. What could not be carried into the contract is in `losses`."""

    def __init__(
        self,
        name: str,
        dialect: str,
        folder: Folder,
        *,
        access: Access | None = None,
        tick: Callable[[int], None] | None = None,
        say: Callable[[str], None] = complain,
    ) -> None:
        self.name = shown_url(name) if is_url(name) else name
        self.dialect = dialect
        #: How many findings were given, of which severity.
        self.wrong: Counter[Severity] = Counter()
        self._pieces = pieces_of(name, access, tick)
        self._say = say
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
        return [finding for batch in self.batches() for finding in batch]

    def batches(self, hold: Callable[[], AbstractContextManager[object]] = nullcontext) -> Iterator[list[Finding]]:
        """
        Check it, and give findings, by place, when they need not be held any more; most at the end.

        `hold` is entered while a piece is checked.

        Raises:
            CannotRun: as above; findings may have been given.

        """
        size, head, cut = 0, b"", ""
        try:
            for piece in self._recognised() if self.dialect == AUTO else self._pieces:
                head = head or piece
                size += len(piece)
                with hold():
                    self.checker.feed(piece)
                if batch := self.checker.overflow():
                    yield self._counted(batch)
        except InputCut as reason:
            cut = str(reason)
        if not size:
            message = f"{self.name} is empty" if not cut else f"{self.name} holds nothing that can be read: {cut}"
            raise CannotRun(message)
        findings = self.checker.finish(cut)
        if not self.checker.events and not self.checker.messages:
            reason = f" ({cut})" if cut else f" ({findings[0].rule}: {findings[0].message})" if findings else ""
            message = f"{self.name} holds no event and no message{reason}"
            raise CannotRun(message)
        if findings:
            yield self._counted(findings)
        if self.dialect == NATIVE and not self.checker.folder.lifecycle.starts and self.wrong:
            self._hint(head)

    def _counted(self, findings: list[Finding]) -> list[Finding]:
        self.wrong.update(finding.severity for finding in findings)
        return findings

    def _recognised(self) -> Iterator[bytes]:
        """Read pieces, once it is known what they speak."""
        from eventfold.dialects.reading import Recogniser

        recogniser = Recogniser()
        pieces = self._pieces
        seen: list[bytes] = []
        cut: InputCut | None = None
        try:
            for piece in pieces:
                seen.append(piece)
                if recogniser.feed(piece):
                    break
            else:
                recogniser.finish()
        except InputCut as reason:
            cut = reason
            recogniser.finish()
        found = recogniser.found
        self.checker = self._checker(NATIVE if found is None else found.name)
        if seen:
            self._say(
                f"{self.name} looks like {recogniser.like or 'nothing that is known'}; read as {NATIVE}"
                if found is None
                else f"{self.name} is read as {found.name} ({found.title})"
            )
        yield from seen
        if cut is not None:
            raise cut
        yield from pieces

    def _hint(self, head: bytes) -> None:
        """Say what a stream without a reply looks like."""
        from eventfold.dialects.reading import Recogniser

        recogniser = Recogniser()
        if not recogniser.feed(head):
            recogniser.finish()
        found = recogniser.found
        if found is not None and found.name != NATIVE:
            self._say(f"{self.name} looks like {found.title}: `--dialect {found.name}` reads it")
        elif found is None and recogniser.like:
            self._say(f"{self.name} looks like {recogniser.like}")

    def _checker(self, name: str) -> Checker:
        from eventfold.check import Checker

        if name == NATIVE:
            return Checker(folder=self._folder, keep_messages=self._folder.keep_messages)
        found = dialect_of(name)
        if found.decoder is None:
            message = f"{name} has nothing to read; it can only be written (`eventfold convert --to {name}`)"
            raise CannotRun(message)
        from eventfold.dialects.reading import DialectChecker

        return DialectChecker(found, folder=self._folder, keep_messages=self._folder.keep_messages)


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
