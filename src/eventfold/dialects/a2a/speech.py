"""
A2A -> events of ours: messages of somebody, and how events are made.

Law: a Message is a message, of whoever spoke. One that comes again, in a history or by a second delivery, is read once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.translation import Decoder
from eventfold.jsonvalue import copy_json

from . import rules
from .artifacts import Artifact, Made
from .notes import others_in, text_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from eventfold.shape import Wire

    from .tasks import Incoming

#: Names of speakers that do not say theirs.
NAMES = {"assistant": "agent", "user": "user"}


class Speech(Decoder):
    """Reads messages."""

    def __init__(self) -> None:
        super().__init__()
        self.tasks: dict[str, Incoming] = {}
        self._shown: set[str] = set()  #: messages, with their parts
        self._reply_ids: set[str] = set()
        self.alone: int | None = None  #: index of the Message that is all there is

    def make(self, reply_id: str, made: Iterable[Made]) -> Iterator[Any]:
        """Make events of a reply."""
        for kind, fields in made:
            yield self.event(kind, **{"reply_id": reply_id, **fields})

    def custom(self, what: str, value: Wire, task: Incoming | None = None) -> Any:
        """Keep what has no place in a message."""
        reply_id = task.reply_id if task is not None and task.reply_id else None
        return self.event(structs.CustomEvent, name=f"a2a.{what}", value=copy_json(value), reply_id=reply_id)

    def keep_metadata(self, value: Wire, task: Incoming) -> Iterator[Any]:
        """Keep the metadata of a task or an update."""
        if others := others_in(value):
            yield self.custom("metadata", others, task)

    def reply_name(self, wanted: str) -> str:
        """Give a reply an id that no other has."""
        name, count = wanted, 1
        while name in self._reply_ids:
            count += 1
            name = f"{wanted}/{count}"
        self._reply_ids.add(name)
        return name

    def first_sight(self, message: Wire) -> bool:
        """Tell whether a message was not seen before. Some agents give all of theirs one id."""
        key = text_of([message["messageId"], message.get("parts", [])])
        fresh = key not in self._shown
        self._shown.add(key)
        return fresh

    def is_new(self, message: Wire) -> bool:
        """Tell whether a message was not seen, without seeing it."""
        return text_of([message["messageId"], message.get("parts", [])]) not in self._shown

    def history(self, taken: Wire) -> Generator[Any, None, list[Wire]]:
        """Read a task's history: what users said are messages; gives what agents said."""
        told: list[Wire] = []
        for message in taken.get("history", []):
            if self.first_sight(message):
                if message["role"] == "ROLE_USER":
                    yield from self.whole(message)
                else:
                    told.append(message)
        return told

    def message(self, taken: Wire) -> Iterator[Any]:
        """Read a message that stands for itself."""
        if taken["role"] == "ROLE_USER":
            self.alone = None
        elif (running := next((task for task in self.tasks.values() if task.over is None), None)) is not None:
            self.remark(rules.IN_TASK, f"task {running.id!r} runs", related=running.seen)
        elif self.alone is not None:
            self.remark(rules.SECOND_MESSAGE, "it follows a Message", related=self.alone)
        else:
            self.alone = self.index
        if self.first_sight(taken):
            yield from self.whole(taken)

    def whole(self, message: Wire) -> Iterator[Any]:
        """Make a reply of a message."""
        role = "user" if message["role"] == "ROLE_USER" else "assistant"
        if not message.get("parts"):
            self.remark(rules.BARE_MESSAGE, "the message has no parts")
        kept = {name: item for name, item in message.items() if name not in {"messageId", "contextId", "role", "parts", "metadata"}}
        kept |= {"metadata": others_in(message)} if others_in(message) else {}
        reply_id = self.reply_name(message["messageId"])
        context = message.get("contextId", "")
        head = {"session_id": context, "name": NAMES[role], "role": role, "metadata": {"a2a": kept} if kept else None}
        yield self.event(structs.ReplyStartEvent, reply_id=reply_id, **head)
        blocks = Artifact(message["messageId"], set())
        yield from self.make(reply_id, blocks.append(message.get("parts", [])))
        yield from self.make(reply_id, blocks.end())
        yield self.event(structs.ReplyEndEvent, reply_id=reply_id, session_id=context, finished_reason="completed")
