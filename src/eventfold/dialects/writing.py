"""
Events and messages -> values of a dialect, written as they come.

Law: what comes out of a stream is written before the next event is read, and what could not be said is given back.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

from eventfold.fold import Folder
from eventfold.jsonvalue import is_array
from eventfold.unfold import unfold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from eventfold.shape import Wire

    from . import Dialect, Loss


class TappedFolder(Folder):
    """A folder that shows each event to somebody when it has applied it."""

    def __init__(self, show: Callable[[Any], None]) -> None:
        super().__init__()
        self._show = show

    def feed(self, event: Any) -> None:
        """Apply an event, and show it."""
        super().feed(event)
        self._show(event)


class Writer:
    """Says events or messages in a dialect; `write` gets each value."""

    def __init__(self, target: Dialect, write: Callable[[Any], None]) -> None:
        self._target = target
        self._write = write
        self._encoder = target.encoder() if target.encoder is not None else None

    def event(self, event: Any) -> None:
        """Write an event."""
        if self._encoder is not None:
            self._write_all(self._encoder.feed(event))

    def messages(self, messages: Iterable[Wire]) -> list[Loss]:
        """Write messages. Gives what is lost."""
        if self._target.write_messages is None:
            return []
        value, losses = self._target.write_messages(messages)
        self._write_all(value if is_array(value) else [value])
        return losses

    def unfolded(self, messages: Iterable[Wire], cut: int | None = None) -> list[Loss]:
        """Write the events of messages, cut into pieces of a size. Gives what no event carries."""
        losses: list[Loss] = []
        for i, message in enumerate(messages):
            events, lost = unfold(message, () if cut is None else repeat(cut))
            losses += [loss._replace(pointer=f"/{i}{loss.pointer}") for loss in lost]
            for event in events:
                self.event(event)
        return losses

    def finish(self) -> list[Loss]:
        """Write what is left at the end. Gives what the encoder lost."""
        if self._encoder is None:
            return []
        self._write_all(self._encoder.finish())
        return self._encoder.losses

    def _write_all(self, values: Iterable[Any]) -> None:
        for value in values:
            self._write(value)
