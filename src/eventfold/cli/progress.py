"""
How far a check has come, on a terminal.

Law: it goes to standard error, only where that is a terminal and the work takes long enough to ask; it is drawn at most ten
times a second, and what is written to standard output never meets it on one line.
"""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress

#: Seconds before it shows, and between two drawings.
_PATIENCE, _INTERVAL = 0.5, 0.1


class Bar:
    """A bar with files, rate and time left. Without a size there is no time left to tell."""

    def __init__(self, files: int, size: int | None, stream: Any = None, clock: Callable[[], float] = monotonic) -> None:
        self._files = files
        self._size = size
        self._stream = stream if stream is not None else sys.stderr
        self._clock = clock
        self._next = clock() + _PATIENCE
        self._shows = bool(self._stream) and self._stream.isatty()
        self._read = self._done = 0
        self._progress: Progress | None = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def tick(self, size: int) -> None:
        """Count bytes that were read."""
        self._read += size
        self._draw()

    def file_done(self) -> None:
        """Count a file."""
        self._done += 1
        self._draw()

    def clear(self) -> None:
        """Make room for a line of output; the bar is back with the next drawing."""
        if self._progress is not None:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()

    def _draw(self) -> None:
        if not self._shows or self._clock() < self._next:
            return
        self._next = self._clock() + _INTERVAL
        if self._progress is None:
            self._start()
        if self._progress is not None:
            self._progress.update(self._task, completed=self._read, done=self._done)
            self._progress.refresh()

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

        self._progress = Progress(
            BarColumn(bar_width=24),
            TextColumn("{task.fields[done]:,} of {task.fields[files]:,} files"),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=Console(file=self._stream),
            # Drawn by hand: no thread, and nothing else that writes to the terminal is caught.
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._progress.add_task("", total=self._size, done=0, files=self._files)
        self._progress.start()
