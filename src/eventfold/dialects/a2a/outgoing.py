"""
Events of ours -> A2A: a task for each reply, an artifact for each block.

Law: after every event, what was sent of a task, put together as a server does, is the reply's message as the fold has it. The
events themselves travel in notes, so that whoever reads the stream reads the same events. A folder says what each one did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.translation import Encoder, fields_of
from eventfold.fold import Folder
from eventfold.table import DELIVERY, PLAN_OF, Plan, field_of

from .content import text_part
from .mirror import Mirror, Update
from .notes import noted, text_of
from .speaking import ANSWERS, SPOKEN, message_parts, said_of, status_of
from .states import PARKED, WORKING, state_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.draft import BlockDraft, MessageDraft
    from eventfold.lifecycle import Breach, Reply
    from eventfold.shape import Wire

#: Reasons of losses.
REDELIVERED = "An event that is delivered again is said once."
NOT_STARTED = "An event of a reply that has not begun has no task."
AFTER_END = "A2A allows nothing after a terminal state, and the event changes no message."
LATE = "A2A allows nothing after a terminal state, and a tool that ran on still has a result."
NO_TASK = "A signal beside the replies needs a task that runs."

_AGAIN = DELIVERY.states["applied"].cells["same"].rule
#: Events whose text or bytes are a part of an artifact that needs no note, in a block that is known.
_PLAIN = (
    structs.TextBlockDeltaEvent,
    structs.ThinkingBlockDeltaEvent,
    structs.ToolCallDeltaEvent,
    structs.DataBlockDeltaEvent,
    structs.ToolResultTextDeltaEvent,
)
_DELTAS = (*_PLAIN, structs.ToolResultDataDeltaEvent)
_PLAIN_FIELDS = frozenset({"type", "reply_id", "created_at", "block_id", "tool_call_id", "media_type"})
_LAST = (
    structs.TextBlockEndEvent,
    structs.ThinkingBlockEndEvent,
    structs.DataBlockEndEvent,
    structs.HintBlockEvent,
    structs.ToolCallEndEvent,
    structs.ToolResultEndEvent,
)
#: Fields of an event that a part can say, and how the part names them.
_CONTENT = {"delta": "text", "text": "text", "hint": "text", "data": "raw", "url": "url"}


class Outgoing:
    """A task that is being written."""

    def __init__(self, reply_id: str, session_id: str) -> None:
        self.reply_id = reply_id
        self.ids = {"taskId": reply_id, "contextId": session_id or reply_id}
        self.state = WORKING
        self.over = False
        self.mirrors: list[Mirror] = []
        self.names: list[str] = []
        self.places: dict[int, int] = {}
        self._used: dict[str, int] = {}

    def adopt(self, draft: BlockDraft) -> int:
        """Give a new block an artifact, whose id no other has. Gives its place."""
        name = f"{draft.wire['type']}:{draft.wire['id']}"
        count = self._used[name] = self._used.get(name, 0) + 1
        while count > 1 and f"{name}#{count}" in self._used:
            count += 1
        name = name if count == 1 else f"{name}#{count}"
        self._used.setdefault(name, 1)
        self.places[id(draft)] = len(self.mirrors)
        self.mirrors.append(Mirror(draft))
        self.names.append(name)
        return len(self.mirrors) - 1

    def artifact(self, place: int, update: Update) -> Wire:
        """Say an update."""
        artifact: Wire = {"artifactId": self.names[place], "parts": update.parts}
        if update.head is not None:
            artifact["metadata"] = noted(block=update.head)
        return {**self.ids, "artifact": artifact} | ({"append": True} if update.append else {})


class A2AEncoder(Encoder):
    """Says events as StreamResponse values. The values of several replies are those of several tasks, and each names its own."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = Folder(report=self._hear)
        self._rules: set[str] = set()
        self._tasks: dict[str, Outgoing] = {}
        self._running: Outgoing | None = None
        #: Signals for which no task runs.
        self._held: list[Any] = []

    def _hear(self, breach: Breach) -> None:
        self._rules.add(breach.rule)

    def encode(self, event: Any) -> Iterator[Wire]:
        """Say an event: first what it changed, then, if that does not say it, itself."""
        plan = PLAN_OF[type(event)]
        if not plan.steps:
            yield from self._signal(event)
            return
        self._rules.clear()
        index = self._folder.index
        self._folder.feed(event)
        reply = self._folder.lifecycle.replies.get(event.reply_id)
        if reply is None:
            self.lose(NOT_STARTED)
            return
        applied = reply.seen.get(event.id, ("", -1))[1] == index
        task = self._tasks.get(reply.key)
        if task is not None and task.over:
            self.lose(LATE if applied and plan.kind is not None else AFTER_END)
        elif _AGAIN in self._rules and not applied:
            self.lose(REDELIVERED)
        elif task is None:
            yield from self._begin(event, reply)
        else:
            yield from self._go_on(task, event, plan, reply, applied=applied)

    def end(self) -> Iterator[Wire]:
        """Say signals for which no task ran, as the one Message of a stream without tasks."""
        if not self._held:
            return
        if self._tasks:
            for _ in self._held:
                self.lose(NO_TASK)
            return
        events = [text_of(fields_of(event)) for event in self._held]
        data = [{"data": {"kind": str(fields_of(event)["type"])}} for event in self._held]
        message = {"messageId": self._held[0].id, "role": "ROLE_AGENT", "parts": data}
        yield {"message": message | {"metadata": noted(events=f"[{','.join(events)}]")}}

    def _begin(self, event: Any, reply: Reply) -> Iterator[Wire]:
        task = self._running = self._tasks[reply.key] = Outgoing(reply.key, event.session_id)
        note = noted(message=text_of(head_of(reply.draft)), start=text_of(said_of(event)))
        ids = {"id": reply.key, "contextId": task.ids["contextId"]}
        yield {"task": {**ids, "status": status_of(WORKING, event), "metadata": note}}
        held, self._held = self._held, []
        for signal in held:
            yield from self._signal(signal)

    def _signal(self, event: Any) -> Iterator[Wire]:
        """Say an event that changes no message, in its reply's task or the newest."""
        task = self._tasks.get(field_of(event, "reply_id") or "", self._running)
        if task is None or task.over:
            task = next((other for other in self._tasks.values() if not other.over), None)
        if task is None:
            self._held.append(event)
            return
        reply = self._folder.lifecycle.replies[task.reply_id]
        yield self._update(task, reply, event, state=task.state)

    def _go_on(self, task: Outgoing, event: Any, plan: Plan, reply: Reply, *, applied: bool) -> Iterator[Wire]:
        ended = "finished_at" in reply.draft.tail
        drafts = _touched(event, plan, reply) if applied else []
        places = {task.places[id(draft)] for draft in drafts if id(draft) in task.places}
        places |= {task.adopt(draft) for draft in reply.draft.content[len(task.mirrors) :]}
        if ended:
            places |= set(range(len(task.mirrors)))
        part = field_of(event, "block_id") or ""
        updates = [(place, task.mirrors[place].update(part)) for place in sorted(places)]
        said = [(place, update) for place, update in updates if update is not None]
        carries = applied and plan.kind is not None and plan.items is None
        if carries and not said and isinstance(event, _DELTAS) and drafts:
            # An empty delta: it may be what makes a block. Of a call with a result, it is the event that says which of the two grows.
            draft = drafts[0 if isinstance(event, structs.ToolCallDeltaEvent) else -1]
            said = [(task.places[id(draft)], Update([text_part(draft.wire["type"], "")], append=True, head=None))]
        for number, (place, update) in enumerate(said):
            value = task.artifact(place, update)
            if carries and number == 0:
                _carry(value, event, update)
            yield {"artifactUpdate": value}
        state = state_of(reply.draft.tail) if ended else PARKED if reply.parked else WORKING
        if not (carries and said):
            yield self._update(task, reply, event, state=state)
        elif state != task.state:
            yield self._update(task, reply, None, state=state)
        task.state = state
        if ended:
            task.over = True
            task.mirrors, task.names, task.places = [], [], {}

    @staticmethod
    def _update(task: Outgoing, reply: Reply, event: Any | None, *, state: str) -> Wire:
        """Say a status. What the task's metadata held before is replaced, so that the message's head is in each."""
        note = {"message": text_of(head_of(reply.draft))}
        status = status_of(state, event)
        parts = message_parts(event, state) if event is not None else []
        own: Wire = {}
        if isinstance(event, SPOKEN):
            # A request or an answer is its message, and stays in the task's history with it.
            own = {"metadata": noted(event=text_of(said_of(event)))}
        elif event is not None:
            note["event"] = text_of(said_of(event))
        if event is not None and parts:
            role = "ROLE_USER" if isinstance(event, ANSWERS) else "ROLE_AGENT"
            status["message"] = {"messageId": event.id, **task.ids, "role": role, "parts": parts, **own}
        return {"statusUpdate": {**task.ids, "status": status, "metadata": noted(**note)}}


def head_of(draft: MessageDraft) -> Wire:
    """Give a message without its content."""
    usage = {"usage": draft.usage} if draft.usage is not None else {}
    return {**draft.head, **usage, **draft.tail}


def _carry(value: Wire, event: Any, update: Update) -> None:
    """Put an event into the update of its artifact; what the part says is not said again."""
    if isinstance(event, _LAST):
        value["lastChunk"] = True
    fields = said_of(event)
    note: dict[str, str] = {}
    if len(update.parts) == 1:
        said = [name for name, member in _CONTENT.items() if name in fields and update.parts[0].get(member) == fields[name]]
        note = {"content": said[0]} if said else {}
    fields.pop(note.get("content", ""), None)
    if not (note and isinstance(event, _PLAIN) and _PLAIN_FIELDS.issuperset(fields) and update.append and update.head is None):
        value["metadata"] = noted(event=text_of(fields), **note)


def _touched(event: Any, plan: Plan, reply: Reply) -> list[BlockDraft]:
    """Give the blocks that an event names, in the order of the message."""
    drafts: list[BlockDraft] = []
    for source in [event] if plan.items is None else getattr(event, plan.items):
        key: Any = source
        for name in plan.key:
            key = field_of(key, name)
        instance = reply.instances.get(plan.kind or "", {}).get(key) if isinstance(key, str) else None
        if instance is not None:
            drafts += [draft for draft in (instance.draft, instance.result) if draft is not None]
    return drafts
