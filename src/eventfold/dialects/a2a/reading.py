"""
A2A -> events of ours: each value by its payload, and what we said ourselves by its notes.

Law: our own stream gives the events that it was made of. A Task of ours that comes without its stream gives events that fold to
the message that it holds; one that comes again gives what is new in it, and doubles nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from eventfold_models import structs

from eventfold.dialects.translation import Unfit
from eventfold.jsonvalue import copy_json, depth_of

from . import rules
from .content import read_head
from .incoming import ForeignDecoder
from .notes import note_in, object_in
from .ours import Made, artifacts_of, event_of, events_of, growth_of, message_of
from .payload import ERROR, REQUEST, payload_of
from .shapes import PAYLOADS, Reading
from .snapshot import SNAPSHOT, grown, unfolded
from .speech import NAMES
from .states import STATES
from .tasks import Incoming, Ours

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventfold.shape import Wire

#: How deep a value may nest: what protobuf readers take, less what stands around it in an event of ours.
DEEPEST = 90
#: Fields of a message that its end says.
_TAIL = ("finished_reason", "structured_output", "error", "metadata")


def _count(head: Wire) -> Any:
    """Give what the events between a message's start and its end say of it, besides its blocks."""
    return head.get("usage")


class A2ADecoder(ForeignDecoder):
    """Reads StreamResponse values, bare or in JSON-RPC, tasks and messages."""

    def decode(self, value: Any) -> Iterator[Any]:
        """Read a value."""
        if depth_of(value) > DEEPEST:
            raise Unfit(rules.DEEP, f"more than {DEEPEST} levels")
        reading = Reading()
        try:
            payload = payload_of(value)
        except Unfit as error:
            self.remarks.append(error.remark)
            if error.remark.rule != rules.ONE_PAYLOAD:
                yield self.custom("unread", {"value": reading.copy(value, "")})
            return
        if payload.name == ERROR:
            self.remark(rules.RPC, "the server answered with an error", payload.place)
            yield self.custom("error", {"error": reading.copy(payload.body, "")})
            return
        read = self._READERS[payload.name]
        taken = reading.take(PAYLOADS.get(payload.name, "SendMessageRequest"), payload.body, payload.place)
        unknown = {**reading.unknown, **{where: reading.copy(item, where) for where, item in payload.unknown}}
        for flaw in reading.flaws[:1]:
            self.remark(rules.SURROGATE, "a lone surrogate", flaw)
        yield from read(self, taken)
        for where in unknown:
            self.remark(rules.UNKNOWN_FIELD, f"{where} is no field of A2A 1", where)
        if unknown:
            yield self.custom("unknown_fields", unknown, self.newest)

    # --- tasks of ours ----------------------------------------------------------------------

    def _task(self, taken: Wire) -> Iterator[Any]:
        note = note_in(taken)
        artifacts: list[Wire] = taken.get("artifacts", [])
        start = object_in(note, "start")
        try:
            message = message_of(note, artifacts)
        except Unfit as error:
            self._spoilt(taken, error)
            yield from self.task(taken)
            return
        # What we said there ourselves shows in the artifacts.
        history = [said for said in taken.get("history", []) if not note_in(said)]
        told: list[Wire] = yield from self.history({"history": history})
        for said in told:
            yield self.custom("history", said)
        task = self.tasks.get(taken["id"])
        if task is None:
            task = self.open_task(taken["id"], taken.get("contextId", ""))
            task.turn, task.open, task.reply_id = 1, True, self.reply_name(message["id"])
            if start is None:
                yield from self._emit(unfolded(message, task.context, self.lose), task)
                yield from self._remember(task, artifacts)
            else:
                yield from self._emit([event_of(start, {}, [])], task)
                yield from self._unseen(task, message, artifacts)
        else:
            self.remark(rules.SECOND_TASK, f"task {task.id!r} comes again", related=task.seen)
            if task.over is None:
                yield from self._unseen(task, message, artifacts)
                yield from self._ended(task, message, taken["status"]["state"])
        self._follow(task, taken["status"], message)
        yield from self.keep_metadata(taken, task)

    def _unseen(self, task: Incoming, message: Wire, artifacts: list[Wire]) -> Iterator[Any]:
        """Take what is new in a Task of ours."""
        heads = [(artifact, head) for artifact in artifacts if (head := read_head(note_in(artifact))) is not None]
        fresh: list[Wire] = []
        for (artifact, head), block in zip(heads, message["content"], strict=True):
            known = task.ours.get(artifact["artifactId"])
            if known is None:
                fresh.append(block)
            else:
                yield from self._emit(grown(known, head, block, self.lose), task)
        if task.head and _count(task.head) != _count(message):
            self.lose(SNAPSHOT)
        if fresh:
            head = {key: item for key, item in message.items() if key in {"id", "name", "role", "created_at"}}
            yield from self._emit(unfolded({**head, "content": fresh}, task.context, self.lose, blocks_only=True), task)
        yield from self._remember(task, artifacts)

    def _remember(self, task: Incoming, artifacts: list[Wire]) -> Iterator[Any]:
        """Remember artifacts of ours; show those of others."""
        for artifact in artifacts:
            head = read_head(note_in(artifact))
            if head is None:
                yield from self.show(task, artifact, append=False)
            else:
                task.ours.setdefault(artifact["artifactId"], Ours(head)).take(artifact, append=False)

    def _ended(self, task: Incoming, message: Wire, state: str) -> Iterator[Any]:
        """End a reply whose end came with a Task only."""
        if STATES[state].terminal and "finished_at" in message:
            carried = {name: message.get(name) for name in _TAIL}
            times = {"session_id": task.context, "created_at": message["finished_at"]}
            yield self.event(structs.ReplyEndEvent, reply_id=task.reply_id, **times, **carried)

    def _follow(self, task: Incoming, status: Wire, message: Wire) -> None:
        """Follow the state of a task of ours."""
        task.state, task.head = status["state"], message
        self.now = status.get("timestamp") or self.now
        if STATES[task.state].terminal:
            task.open, task.over = False, self.index if task.over is None else task.over

    def _emit(self, made: Iterator[Made] | list[Made], task: Incoming | None) -> Iterator[Any]:
        """Make events that say themselves which reply they are of; those that do not are of the task's."""
        for kind, fields in made:
            told = {} if task is None or "reply_id" in fields else {"reply_id": task.reply_id}
            yield self.event(kind, **told, **copy_json(fields))

    def _spoilt(self, value: Wire, error: Unfit | None = None) -> None:
        """Note that a note is none that we write; the value is read as if it had none."""
        if note_in(value):
            self.remark(rules.NOTE, str(error) if error is not None else "the note is not as eventfold writes it", "/metadata")

    # --- updates of ours --------------------------------------------------------------------

    def _joined(self, taken: Wire, what: str, head: Wire) -> Iterator[Any]:
        """Begin a reply of ours whose Task did not come."""
        task = self.find(taken, what)
        task.turn, task.open, task.reply_id = 1, True, self.reply_name(str(head.get("id") or task.id))
        told = {name: head.get(name) for name in ("role", "created_at", "metadata")}
        name = head.get("name", NAMES["assistant"])
        yield self.event(structs.ReplyStartEvent, reply_id=task.reply_id, session_id=task.context, name=name, **told)

    def _status(self, taken: Wire) -> Iterator[Any]:
        message = taken["status"].get("message")
        head = object_in(note_in(taken), "message")
        task = self.tasks.get(taken["taskId"])
        if head is None or (task is not None and (task.over is not None)):
            if head is None:
                self._spoilt(taken)
            yield from self.status_update(taken)
            return
        if task is None:
            yield from self._joined(taken, "statusUpdate", head)
        task = self.tasks[taken["taskId"]]
        self.same_context(task, taken["contextId"], "/statusUpdate/contextId")
        self._follow(task, taken["status"], head)
        if message is not None:
            self.first_sight(message)
        for note in (note_in(taken), note_in(message or {})):
            if "event" in note:
                yield from self._emit([event_of(object_in(note, "event"), {}, [])], task)
        yield from self.keep_metadata(taken, task)

    def _artifact(self, taken: Wire) -> Iterator[Any]:
        artifact, note = taken["artifact"], note_in(taken)
        name, append, parts = artifact["artifactId"], taken.get("append", False), artifact.get("parts", [])
        head = read_head(note_in(artifact))
        task = self.tasks.get(taken["taskId"])
        known = task.ours.get(name) if task is not None else None
        if (task is not None and task.over is not None) or (head is None and known is None):
            self._spoilt(taken if note else artifact)
            yield from self.artifact_update(taken)
            return
        event = event_of(object_in(note, "event"), note, parts) if "event" in note else None
        if task is None:
            yield from self._joined(taken, "artifactUpdate", {"id": event[1].get("reply_id")} if event is not None else {})
        task = self.tasks[taken["taskId"]]
        self.same_context(task, taken["contextId"], "/artifactUpdate/contextId")
        if known is None:
            if append:
                self.remark(rules.NO_ARTIFACT, f"there is no artifact {name!r}", "/artifactUpdate/append")
            known = task.ours[name] = Ours(head or {})
        known.take(artifact, append=append)
        if event is not None:
            yield from self._emit([event], task)
        elif head is None:
            yield from self._emit([growth_of(known.head, part) for part in parts], task)
        yield from self.keep_metadata(taken, task)

    def _message(self, taken: Wire) -> Iterator[Any]:
        note = note_in(taken)
        if "event" in note:
            if self.first_sight(taken):
                yield from self._emit([event_of(object_in(note, "event"), {}, [])], None)
        elif "events" in note:
            yield from self._emit(events_of(note), None)
        elif "message" in note:
            message = message_of(note, artifacts_of(taken))
            task = Incoming(taken["messageId"], taken.get("contextId", ""), self.index)
            task.reply_id = self.reply_name(message["id"])
            yield from self._emit(unfolded(message, task.context, self.lose), task)
        else:
            yield from self.message(taken)

    def _request(self, taken: Wire) -> Iterator[Any]:
        yield from self._message(taken["message"])
        if others := {name: item for name, item in taken.items() if name != "message"}:
            yield self.custom("request", others)

    _READERS: ClassVar[dict[str, Callable[[A2ADecoder, Wire], Iterator[Any]]]] = {
        "task": _task,
        "message": _message,
        "statusUpdate": _status,
        "artifactUpdate": _artifact,
        REQUEST: _request,
    }
