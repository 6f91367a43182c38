"""
Runs of AG-UI -> replies of ours: when one begins, and whom an event belongs to.

Law: a run is a reply, and so is a sub-agent in it. The next run of a thread goes on with a reply that waits. What belongs to no
run gets a reply of its own, which nobody ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.translation import UNFIT, Decoder
from eventfold.jsonvalue import copy_json, is_object
from eventfold.wire import InvalidEvent

from .names import Names

if TYPE_CHECKING:
    from eventfold.shape import Wire

#: The key below which what only AG-UI says is kept in our `metadata`, and how CUSTOM events are named that keep it.
FOREIGN = "agui"
#: What a run without a name of its own is called in ours.
SPEAKER = "assistant"
#: An id of ours is never empty.
NAMELESS = "agui-empty"

#: A loss of what others send.
TIMELESS = "no calendar of four-digit years has this time"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(eq=False)
class Lane:
    """A reply that grows: of a run, or of a sub-agent in it."""

    reply_id: str
    session: str
    ended: bool = False


@dataclass(eq=False)
class Call:
    """A tool call, by its id in AG-UI."""

    lane: Lane
    id: str
    name: str
    args: list[str] = field(default_factory=list[str])
    answered: bool = False
    open: bool = False
    extra: Wire = field(default_factory=dict[str, Any])

    def block(self) -> Wire:
        """Give it as a request carries it."""
        return {"type": "tool_call", "id": self.id, "name": self.name, "input": "".join(self.args)}


class Lanes(Decoder):
    """What is known of the runs of a stream."""

    def __init__(self) -> None:
        super().__init__()
        self.out: list[Any] = []
        #: The replies of the run that is active, by sub-agent; the run's own has no name.
        self.lanes: dict[str | None, Lane] = {}
        self.session = ""
        #: The replies that wait for an answer, by thread and sub-agent; and what their interrupts ask about.
        self.parked: dict[tuple[str, str | None], Lane] = {}
        self.asked: dict[str, Call] = {}
        self.calls: dict[str, Call] = {}
        self._names = Names()

    # --- writing ----------------------------------------------------------------------------

    def add(self, kind: type[Any], **fields: Any) -> None:
        """Add an event; one that the contract refuses becomes a remark."""
        try:
            self.out.append(self.event(kind, **fields))
        except InvalidEvent as error:
            self.remark(UNFIT, str(error))

    def keep(self, event: Wire) -> None:
        """Keep an event that ours have no word for, whole."""
        self.note(str(event.get("type")), {key: value for key, value in event.items() if key != "type"})

    def note(self, name: str, value: Wire) -> None:
        """Keep a value under a name, with the reply that is growing."""
        lane = self._near(value)
        reply_id = lane.reply_id if lane is not None else None
        self.add(structs.CustomEvent, name=f"{FOREIGN}.{name}", value=copy_json(value), reply_id=reply_id)

    def _near(self, event: Wire) -> Lane | None:
        """Give the reply that an event would belong to, if there is one. What is kept may be malformed."""
        tag = event.get("subagentRunId")
        return (self.lanes.get(tag) if isinstance(tag, str) else None) or self.lanes.get(None)

    def kept(self, event: Wire, *used: str) -> Wire | None:
        """Give what of an event is said nowhere else, as metadata."""
        rest = {key: copy_json(value) for key, value in event.items() if key not in {"type", "timestamp", "subagentRunId", *used}}
        return {FOREIGN: rest} if rest else None

    def unique(self, kind: str, name: str) -> str:
        """Give an id of ours that is free in the stream: the name, or the name with a number."""
        return self._names.take(kind, name or NAMELESS)

    def tell_time(self, event: Wire) -> None:
        """Take the time of an event."""
        if "timestamp" in event:
            try:
                moment = _EPOCH + timedelta(milliseconds=int(event["timestamp"]))
            except OverflowError:
                self.lose(TIMELESS, "/timestamp")
                return
            self.now = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    # --- who speaks -------------------------------------------------------------------------

    def lane(self, event: Wire) -> Lane:
        """Give the reply that an event belongs to; begin one where none is."""
        tag: Any = event.get("subagentRunId")
        lane = self.lanes.get(tag)
        return lane if lane is not None else self.begin(tag, tag or f"{FOREIGN}-{self.index}", tag or SPEAKER, None)

    def begin(self, tag: str | None, name: str, speaker: str, metadata: Wire | None) -> Lane:
        """Begin a reply, or go on with the one that waits."""
        lane = self.parked.pop((self.session, tag), None)
        if lane is None:
            lane = Lane(self.unique("reply", name), self.session)
        self.lanes[tag] = lane
        self.add(structs.ReplyStartEvent, reply_id=lane.reply_id, session_id=lane.session, name=speaker, metadata=metadata)
        return lane

    def run_started(self, event: Wire) -> None:
        """Begin a run; answers that came with it are given."""
        self.lanes.clear()
        self.session = event["threadId"]
        given = event.get("input")
        # A run that goes on with a reply, or has the id of another one, has an id that its reply does not say.
        told = (self.session, None) not in self.parked and event["runId"] and ("reply", event["runId"]) not in self._names
        metadata = self.kept(event, "threadId", *(("runId",) if told else ()))
        lane = self.begin(None, event["runId"], SPEAKER, metadata)
        if is_object(given):
            self._confirm(given.get("resume", []))
            self._execute(given["messages"], lane)

    def _confirm(self, entries: list[Wire]) -> None:
        """Give the user's answers to interrupts."""
        answers: dict[Lane, list[Wire]] = {}
        for entry in entries:
            call = self.asked.pop(entry["interruptId"], None)
            if call is None:
                self.note("resume", entry)
                continue
            payload = entry.get("payload")
            approved = payload.get("approved") if is_object(payload) else None
            confirmed = entry["status"] == "resolved" and approved is not False
            answers.setdefault(call.lane, []).append({"confirmed": confirmed, "tool_call": call.block()})
            if set(entry) > {"interruptId", "status"} and payload not in ({"approved": True}, {"approved": False}):
                self.note("resume", entry)
        for lane, results in answers.items():
            self.add(structs.UserConfirmResultEvent, reply_id=lane.reply_id, confirm_results=results)

    def _execute(self, messages: list[Wire], lane: Lane) -> None:
        """Give the results that came with a run for calls that wait."""
        from .content import read_output  # noqa: PLC0415  which needs this module's names

        results: list[Wire] = []
        for message in messages:
            call = self.calls.get(message["toolCallId"]) if message["role"] == "tool" else None
            if call is None or call.answered or call.lane is not lane:
                continue
            call.answered = True
            state = "error" if "error" in message else "success"
            output = read_output(message["content"], None, f"{call.id}/")
            results.append({"type": "tool_result", "id": call.id, "name": call.name, "output": output, "state": state})
        if results:
            self.add(structs.ExternalExecutionResultEvent, reply_id=lane.reply_id, execution_results=results)

    def custom(self, event: Wire) -> None:
        """Give a CUSTOM event of others; a value that is no object is put into one."""
        lane = self._near(event)
        value = copy_json(event["value"]) if is_object(event["value"]) else {"value": copy_json(event["value"])}
        fields: Wire = {"name": event["name"], "value": value, "metadata": self.kept(event, "name", "value")}
        self.add(structs.CustomEvent, **fields, reply_id=lane.reply_id if lane is not None else None)

    def agent_started(self, event: Wire) -> None:
        """Begin the reply of a sub-agent, unless it runs."""
        lane = self.lanes.get(event["subagentRunId"])
        if lane is not None and not lane.ended:
            self.keep(event)
            return
        self.begin(event["subagentRunId"], event["subagentRunId"], event["name"], self.kept(event, "name"))
