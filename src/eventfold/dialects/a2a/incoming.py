"""
A2A -> events of ours: what a task of somebody makes of a reply.

Law: whoever reads a stream, and whoever reads the Task that it left, reads the same message. Values of ours are read by their
notes (`reading.py`), those of others by what A2A says. What has no place in a message is kept in CUSTOM events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from . import rules
from .artifacts import Artifact
from .notes import others_in
from .speech import NAMES, Speech
from .states import PLAIN, STATES
from .tasks import Incoming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

#: Reasons of losses.
STUCK = "Bytes that were sent already cannot be taken back; what replaces them stands beside them."


class ForeignDecoder(Speech):
    """Reads what others say."""

    def __init__(self) -> None:
        super().__init__()
        self.newest: Incoming | None = None

    def end(self) -> Iterator[Any]:
        """Say which tasks were cut short, and end blocks that show something else at their end."""
        for task in self.tasks.values():
            if task.over is None and not STATES[task.state].waits:
                self.remark(rules.UNFINISHED, f"task {task.id!r} is in {task.state}", related=task.seen)
            for artifact in task.artifacts.values():
                yield from self.make(task.reply_id, artifact.end(only_changed=True))

    # --- tasks ------------------------------------------------------------------------------

    def find(self, taken: Wire, what: str) -> Incoming:
        """Find the task of an update, or begin one that was not announced."""
        task = self.tasks.get(taken["taskId"])
        if task is None:
            running = next((other for other in self.tasks.values() if other.over is None), None)
            if running is not None:
                self.remark(rules.OTHER, f"the task is {running.id!r}, not {taken['taskId']!r}", f"/{what}/taskId", running.seen)
            else:
                self.remark(rules.NOT_FIRST, f"no Task {taken['taskId']!r} came before", f"/{what}/taskId")
            task = self.open_task(taken["taskId"], taken["contextId"])
        self.same_context(task, taken["contextId"], f"/{what}/contextId")
        return task

    def open_task(self, task_id: str, context: str) -> Incoming:
        """Begin to read a task."""
        if self.alone is not None:
            self.remark(rules.SECOND_MESSAGE, "a task follows a Message", related=self.alone)
        task = self.newest = self.tasks[task_id] = Incoming(task_id, context, self.index)
        return task

    def same_context(self, task: Incoming, context: str, place: str) -> None:
        """Hold a context against the task's."""
        if context and task.context and context != task.context:
            self.remark(rules.CONTEXT, f"the context is {task.context!r}, not {context!r}", place, task.seen)
        task.context = task.context or context

    def after_end(self, task: Incoming, name: str, value: Wire) -> Iterator[Any]:
        """Keep what comes for a task that is over."""
        self.remark(rules.AFTER_END, f"task {task.id!r} was in {task.state} already", related=task.over)
        yield self.custom("late", {name: value}, task)

    def start(self, task: Incoming, metadata: Wire | None = None) -> Iterator[Any]:
        """Begin the task's reply, or that of its next turn, if none runs."""
        if task.open:
            return
        task.turn += 1
        task.open = True
        task.reply_id = self.reply_name(task.id if task.turn == 1 else f"{task.id}/{task.turn}")
        told = {"a2a": metadata} if metadata else None
        head = {"session_id": task.context, "name": NAMES["assistant"], "metadata": told}
        yield self.event(structs.ReplyStartEvent, reply_id=task.reply_id, **head)

    def task(self, taken: Wire) -> Iterator[Any]:
        """Read a Task: the first of a stream, or all there is once more."""
        task = self.tasks.get(taken["id"])
        fresh = task is None
        self.now = taken["status"].get("timestamp") or self.now
        task = self.open_task(taken["id"], taken.get("contextId", "")) if task is None else task
        self.same_context(task, taken.get("contextId", ""), "/contextId")
        history: list[Wire] = yield from self.history(taken)
        if fresh:
            told: Wire = {"metadata": others_in(taken), "history": history}
            yield from self.start(task, {name: item for name, item in told.items() if item})
        else:
            self.remark(rules.SECOND_TASK, f"task {task.id!r} comes again", related=task.seen)
            for message in history:
                yield self.custom("history", message, task)
            yield from self.keep_metadata(taken, task)
        if task.over is not None:
            changed = any(self.differs(task, artifact) for artifact in taken.get("artifacts", []))
            if changed or taken["status"]["state"] != task.state:
                yield from self.after_end(task, "task", taken)
            return
        for artifact in taken.get("artifacts", []):
            yield from self.show(task, artifact, append=False)
        status = taken["status"]
        message = status.get("message")
        if fresh or status["state"] != task.state or (message is not None and self.is_new(message)):
            yield from self.status(task, status)

    # --- artifacts --------------------------------------------------------------------------

    def artifact_update(self, taken: Wire) -> Iterator[Any]:
        """Read a chunk of an artifact."""
        task = self.find(taken, "artifactUpdate")
        if task.over is not None:
            yield from self.after_end(task, "artifactUpdate", taken)
            return
        artifact, append = taken["artifact"], taken.get("append", False)
        name = artifact["artifactId"]
        known = task.artifacts.get(name)
        if append and known is None:
            self.remark(rules.NO_ARTIFACT, f"there is no artifact {name!r}", "/artifactUpdate/append")
        if append and known is not None and known.last is not None:
            self.remark(rules.AFTER_LAST, f"artifact {name!r} was said to be complete", related=known.last)
        if known is not None and not append and known.runs:
            self.remark(rules.REPLACED, f"artifact {name!r} is replaced", "/artifactUpdate/append")
        yield from self.show(task, artifact, append=append)
        if taken.get("lastChunk"):
            task.artifact(name).last = self.index
        yield from self.keep_metadata(taken, task)

    def show(self, task: Incoming, artifact: Wire, *, append: bool) -> Iterator[Any]:
        """Make blocks of an artifact's parts."""
        parts = artifact.get("parts", [])
        if not parts:
            self.remark(rules.NO_PARTS, f"artifact {artifact['artifactId']!r} has no parts")
        known = task.artifact(artifact["artifactId"])
        known.describe(artifact)
        yield from self.start(task)
        made = known.append(parts) if append or not known.runs else known.replace(parts, self.stuck)
        yield from self.make(task.reply_id, made)
        if not known.runs and known.fields:
            yield self.custom("artifact", artifact, task)

    def stuck(self) -> None:
        """Note bytes that cannot be taken back."""
        self.lose(STUCK)

    @staticmethod
    def differs(task: Incoming, artifact: Wire) -> bool:
        """Tell whether an artifact that comes again is another."""
        again = Artifact("", set())
        for _ in again.append(artifact.get("parts", [])):
            pass
        known = task.artifacts.get(artifact["artifactId"])
        return known is None or known.holds() != again.holds()

    # --- statuses ---------------------------------------------------------------------------

    def status_update(self, taken: Wire) -> Iterator[Any]:
        """Read a status."""
        task = self.find(taken, "statusUpdate")
        self.now = taken["status"].get("timestamp") or self.now
        if task.over is not None:
            yield from self.after_end(task, "statusUpdate", taken)
            return
        if task.turn == 0:
            yield from self.start(task)
        yield from self.keep_metadata(taken, task)
        yield from self.status(task, taken["status"])

    def status(self, task: Incoming, status: Wire) -> Iterator[Any]:
        """Follow a state: progress is kept beside the message, what ends or interrupts speaks in it."""
        state, message = STATES[status["state"]], status.get("message")
        if status["state"] == "TASK_STATE_UNSPECIFIED":
            self.remark(rules.STATE, "the state is unspecified", "/status/state")
            state = STATES["TASK_STATE_WORKING"]
        else:
            task.state = status["state"]
        fresh = message is not None and self.first_sight(message)
        if message is not None and (not state.reason or state.fails):
            if fresh:
                yield self.custom("status", {"state": status["state"], "message": message}, task)
        elif message is not None and fresh:
            yield from self.start(task)
            yield from self.spoken(task, message)
        if state.waits:
            yield self.custom(f"{state.waits}_required", {"message": message} if message else {}, task)
        if state.terminal:
            task.over = self.index
        if not state.reason:
            return
        if not task.open and not state.fails:
            yield self.custom("status", {"state": status["state"]}, task)
            return
        yield from self.start(task)
        yield from self.stop(task, state.reason, message if state.fails else None)

    def spoken(self, task: Incoming, message: Wire) -> Iterator[Any]:
        """Make blocks of a status's message."""
        artifact = task.artifact(f"message:{message['messageId']}")
        artifact.name = message["messageId"]
        artifact.describe({name: message[name] for name in ("metadata", "extensions") if name in message})
        yield from self.make(task.reply_id, artifact.append(message.get("parts", [])))

    def stop(self, task: Incoming, reason: str, message: Wire | None) -> Iterator[Any]:
        """End the reply."""
        for artifact in task.artifacts.values():
            yield from self.make(task.reply_id, artifact.end())
        task.open = False
        error: Wire | None = None
        if reason == "error":
            parts: list[Wire] = message.get("parts", []) if message is not None else []
            error = {"type": "unknown", "message": "".join(part["text"] for part in parts if "text" in part)}
        told = {"a2a": {"state": task.state}} if task.state not in PLAIN else None
        head = {"session_id": task.context, "finished_reason": reason, "error": error, "metadata": told}
        yield self.event(structs.ReplyEndEvent, reply_id=task.reply_id, **head)
