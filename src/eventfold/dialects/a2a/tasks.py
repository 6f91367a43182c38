"""A task that is being read: what of it has come, and the reply that it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .artifacts import Artifact
from .content import read_head, texts
from .notes import note_in

if TYPE_CHECKING:
    from eventfold.shape import Wire


class Ours:
    """An artifact of ours: the head of its block, and its text, to tell what is new when it comes whole once more."""

    def __init__(self, head: Wire) -> None:
        self.head = head
        self._texts: list[str] = []

    def take(self, artifact: Wire, *, append: bool) -> None:
        """Take an update."""
        self.head = read_head(note_in(artifact)) or self.head
        if not append:
            self._texts.clear()
        self._texts += texts(artifact.get("parts", []))

    def text(self) -> str:
        """Give the text so far."""
        self._texts = ["".join(self._texts)]
        return self._texts[0]


class Incoming:
    """A task that is being read."""

    def __init__(self, task_id: str, context: str, index: int) -> None:
        self.id = task_id
        self.context = context
        self.seen = index  #: of the first value about it
        self.state = "TASK_STATE_UNSPECIFIED"
        self.over: int | None = None  #: index of the value that ended it
        self.reply_id = ""
        self.turn = 0
        self.open = False  #: whether its reply runs
        self.used: set[tuple[str, str]] = set()
        self.artifacts: dict[str, Artifact] = {}
        self.ours: dict[str, Ours] = {}
        self.head: Wire = {}  #: of the message, as our last note said it

    def artifact(self, name: str) -> Artifact:
        """Give an artifact of others, new if it is not there."""
        return self.artifacts.setdefault(name, Artifact(name, self.used))
