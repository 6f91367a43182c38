"""
What the commands write to, and why they cannot.

Law: what cannot be written, or read, ends in one clear line; the terminal is steered by nothing that comes from a stream.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType


class CannotRun(Exception):
    """Why a command cannot do its work, in one line."""


class CannotWrite(CannotRun):
    """Why output cannot be written. Not an OSError, since typer would end some of those by itself."""


class ReaderGone(CannotWrite):
    """Nobody reads the output any more."""


class InputCut(Exception):
    """What went wrong in the middle of an input; what came before is to be used all the same."""


class Writing:
    """Tells why output cannot be written."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, BrokenPipeError):
            message = "the reader of the output has gone"
            raise ReaderGone(message) from None
        if isinstance(error, OSError):
            message = f"the output cannot be written: {error.strerror}"
            raise CannotWrite(message) from None


def write(data: bytes, stream: Any = None) -> None:
    """Write bytes to standard output, or to a stream."""
    with Writing():
        (stream or sys.stdout).buffer.write(data)


def say(line: str) -> None:
    """Write a line to standard output."""
    write(f"{line}\n".encode(sys.stdout.encoding, "backslashreplace"))


def show(parts: Iterable[RenderableType], stream: Any, *, soft_wrap: bool = False) -> None:
    """Write for people. The console gets no stream to write to: it would end the program when nobody reads."""
    if not stream:
        return
    from rich.console import Console

    held = BytesIO()
    text = TextIOWrapper(held, encoding=stream.encoding, errors="backslashreplace", write_through=True)
    console = Console(file=text, force_terminal=stream.isatty() or None, highlight=False, emoji=False)
    for part in parts:
        console.print(part, soft_wrap=soft_wrap)
        write(held.getvalue(), stream)
        held.seek(0)
        held.truncate()


def coloured(stream: Any) -> bool:
    """Tell whether a stream takes colours: it is a terminal, or the environment asks for them as other programs are asked."""
    return bool(stream) and (stream.isatty() or bool(os.environ.get("FORCE_COLOR")))


def complain(reason: str) -> None:
    """Say a line on standard error, if there is one."""
    from eventfold.report.plain import one_line

    if sys.stderr:
        with suppress(OSError):
            print(f"eventfold: {one_line(reason)}", file=sys.stderr, flush=True)  # noqa: T201  the one line
