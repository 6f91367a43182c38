"""
Messages drawn on a terminal while they grow.

Law: at most ten drawings a second, however fast the stream, and the newest state is drawn also when the stream pauses. A drawing
costs what fits on the screen, not what the messages hold.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from itertools import islice
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from rich.console import Console, RenderableType

    from eventfold.fold import Folder
    from eventfold.lifecycle import Reply

#: Seconds between two drawings.
INTERVAL = 0.1
#: Among how many of the newest replies those are looked for that still grow.
_NEWEST = 64
#: Lines of a panel besides its text, and the least that a panel is worth.
_FRAME, _LEAST = 2, 6


class Screen:
    """Draws the messages of a folder, which is fed within `growing()`."""

    def __init__(
        self, folder: Folder, reply: str | None = None, console: Console | None = None, clock: Callable[[], float] = monotonic
    ) -> None:
        from rich.console import Console
        from rich.live import Live

        self.draws = 0  #: how often it was drawn
        self._folder = folder
        self._reply = reply
        self._console = console if console is not None else Console(file=sys.stdout, highlight=False, emoji=False)
        self._clock = clock
        self._next = clock()
        self._changed = False
        self._lock = Lock()
        self._ended = Event()
        # Drawn by hand. What else writes to the terminal is not caught: it does so after the end.
        self._live = Live(console=self._console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False)
        self._thread = Thread(target=self._draw_in_pauses, daemon=True)

    def __enter__(self) -> Self:
        self._live.start()
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        # The messages are printed whole; after an interrupt the last drawing is all there is, and stays.
        self._live.transient = kind is None
        self._live.stop()

    @contextmanager
    def growing(self) -> Generator[None]:
        """Keep the drawing away while the folder is fed, and draw afterwards if it is time."""
        with self._lock:
            yield
            self._changed = True
            self._draw_if_due()

    def _draw_in_pauses(self) -> None:
        """Draw what came last when nothing more comes."""
        while not self._ended.wait(INTERVAL):
            with self._lock:
                self._draw_if_due()

    def _draw_if_due(self) -> None:
        if not self._changed or self._clock() < self._next:
            return
        self._changed = False
        self._live.update(self.picture(), refresh=True)
        self.draws += 1
        self._next = self._clock() + INTERVAL

    def picture(self) -> RenderableType:
        """Draw the ends of the messages that are worth the room."""
        from rich.console import Group

        from eventfold.report.terminal import message_panel

        width, height = self._console.size
        shown = self._shown(max(1, height // _LEAST))
        lines = max(1, (height - 1) // max(1, len(shown)) - _FRAME)
        return Group(*(message_panel(reply.draft.end(lines * width), lines) for reply in reversed(shown)))

    def _shown(self, most: int) -> list[Reply]:
        """Choose the replies to draw, newest first: those that grow, or else the newest."""
        lifecycle = self._folder.lifecycle
        if self._reply is not None:
            return [reply for reply in (lifecycle.replies.get(self._reply),) if reply is not None]
        newest = list(islice(reversed(lifecycle.replies.values()), _NEWEST))
        return [reply for reply in newest if reply.key not in lifecycle.ended][:most] or newest[:1]
