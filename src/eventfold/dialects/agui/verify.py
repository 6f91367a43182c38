"""
The order of AG-UI events, as `verifyEvents` of @ag-ui/client 1.0.0 holds it.

Law: the first event that it refuses is the first that the client refuses. Whatever it refuses changes nothing here, so that
what follows is judged as if the bad event had not come; only RUN_STARTED begins and RUN_FINISHED ends a run all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from eventfold.dialects.translation import Remark
from eventfold.jsonvalue import is_array, is_object

from .shapes import Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventfold.shape import Wire

#: Rules about order.
NOT_STARTED, NESTED = "agui.run-not-started", "agui.run-nested"
AFTER_ERROR, AFTER_FINISH = "agui.after-run-error", "agui.after-run-finished"
OPEN_AT_END, UNFINISHED = "agui.open-at-run-finished", "agui.run-unfinished"
STEP_OPEN, STEP_NOT_OPEN, STEP_OTHER = "agui.step-already-open", "agui.step-not-open", "agui.step-other-owner"
AGENT_OPEN, AGENT_REUSED = "agui.subagent-already-active", "agui.subagent-reused"
AGENT_NO_PARENT, AGENT_NOT_OPEN = "agui.subagent-parent-unknown", "agui.subagent-not-active"
ATTRIBUTION, CALL_OWNER = "agui.attribution", "agui.call-other-owner"


class _Step(NamedTuple):
    """What an event does to something that is opened and closed."""

    set: str  #: where the open ones are
    does: str  #: open, go (on) or close
    rule: str  #: what it breaks when it cannot
    kind: str  #: where the owners are
    key: str  #: the field with the id
    words: str


#: Events of what is opened and closed by an id.
STEPS: dict[str, _Step] = {
    Type.TEXT_MESSAGE_START: _Step("text", "open", "agui.text-already-open", "message", "messageId", "text message"),
    Type.TEXT_MESSAGE_CONTENT: _Step("text", "go", "agui.text-not-open", "message", "messageId", "text message"),
    Type.TEXT_MESSAGE_END: _Step("text", "close", "agui.text-end-not-open", "message", "messageId", "text message"),
    Type.TOOL_CALL_START: _Step("call", "open", "agui.call-already-open", "call", "toolCallId", "tool call"),
    Type.TOOL_CALL_ARGS: _Step("call", "go", "agui.call-args-not-open", "call", "toolCallId", "tool call"),
    Type.TOOL_CALL_END: _Step("call", "close", "agui.call-end-not-open", "call", "toolCallId", "tool call"),
    Type.REASONING_START: _Step("span", "open", "agui.span-already-open", "reasoning", "messageId", "reasoning span"),
    Type.REASONING_END: _Step("span", "close", "agui.span-not-open", "reasoning", "messageId", "reasoning span"),
    Type.REASONING_MESSAGE_START: _Step("reasoning", "open", "agui.reasoning-already-open", "reasoning", "messageId", "reasoning message"),
    Type.REASONING_MESSAGE_CONTENT: _Step("reasoning", "go", "agui.reasoning-not-open", "reasoning", "messageId", "reasoning message"),
    Type.REASONING_MESSAGE_END: _Step("reasoning", "close", "agui.reasoning-end-not-open", "reasoning", "messageId", "reasoning message"),
}
#: What may not be open when a run finishes, in the order in which the client looks.
_SETS = {
    "step": "steps",
    "text": "text messages",
    "reasoning": "reasoning messages",
    "span": "reasoning spans",
    "call": "tool calls",
    "agent": "sub-agents",
}

#: Who sent something: a sub-agent, or None for the parent agent; and the index of the event.
_Owner = tuple[Any, int]


def _who(tag: Any) -> str:
    return "the parent agent" if tag is None else f"sub-agent {tag!r}"


class Sequencer:
    """Where the runs of a stream stand."""

    def __init__(self) -> None:
        self.state = ""  #: "", running, finished or error
        self.since = -1  #: index of the event that made it so
        self._first = True
        self._renew()

    def _renew(self) -> None:
        self.open: dict[str, dict[Any, int]] = {name: {} for name in _SETS}
        self._owners: dict[str, dict[str, _Owner]] = {"message": {}, "call": {}, "activity": {}, "reasoning": {}}
        self._ended: dict[str, int] = {}

    def feed(self, event: Wire, index: int) -> Remark | None:
        """Judge an event, and take it in unless it breaks a rule."""
        name: str = event["type"]
        broken = self._lifecycle(name)
        if name == Type.RUN_STARTED and (broken is None or broken.rule == NESTED):
            if not self._first or broken is not None:
                self._renew()
            self.state, self.since = "running", index
        self._first = False
        if broken is not None:
            return broken
        if name in STEPS:
            return self._step(event, STEPS[name], index)
        act = _OTHERS.get(name)
        return act(self, event, index) if act is not None else None

    def end(self) -> Remark | None:
        """Judge the end of the stream, which the client does not."""
        if self.state != "running":
            return None
        return Remark(UNFINISHED, "the stream ends, and the run has neither finished nor failed", related=self.since)

    def _lifecycle(self, name: str) -> Remark | None:
        if self.state == "error" and name != Type.RUN_STARTED:
            return Remark(AFTER_ERROR, f"{name} after RUN_ERROR, which ended the run", related=self.since)
        if self.state == "finished" and name not in {Type.RUN_STARTED, Type.RUN_ERROR}:
            return Remark(AFTER_FINISH, f"{name} after RUN_FINISHED, which ended the run", related=self.since)
        if self._first and name not in {Type.RUN_STARTED, Type.RUN_ERROR}:
            return Remark(NOT_STARTED, f"the stream begins with {name} rather than RUN_STARTED")
        if self.state == "running" and name == Type.RUN_STARTED:
            return Remark(NESTED, "RUN_STARTED while the run before it has not ended", related=self.since)
        return None

    # --- what is opened and closed by an id -------------------------------------------------

    def _step(self, event: Wire, step: _Step, index: int) -> Remark | None:
        key: str = event[step.key]
        opened = self.open[step.set]
        if (key in opened) == (step.does == "open"):
            fault = "is open already" if key in opened else "is not open"
            return Remark(step.rule, f"{step.words} {key!r} {fault}", f"/{step.key}", opened.get(key))
        tag = event.get("subagentRunId")
        owner = self._owners[step.kind].get(key)
        broken, inherited = self._parent(event, key, tag, owner)
        broken = broken or self._disagrees(tag, owner, step.words, key)
        if broken is not None:
            return broken
        if step.does == "open":
            opened[key] = index
            if owner is None:
                self._owners[step.kind][key] = (tag, index) if tag is not None or inherited is None else inherited
        elif step.does == "close":
            del opened[key]
        return None

    def _parent(self, event: Wire, key: str, tag: Any, owner: _Owner | None) -> tuple[Remark | None, _Owner | None]:
        """Look at the message that carries a call. Gives the rule that is broken, and whom the call comes from."""
        parent = self._owners["message"].get(event["parentMessageId"]) if "parentMessageId" in event else None
        if parent is None:
            return None, None
        message = event["parentMessageId"]
        if tag is not None and tag != parent[0]:
            detail = f"the call is {_who(tag)}'s, and its message {message!r} is {_who(parent[0])}'s"
            return Remark(CALL_OWNER, detail, "/parentMessageId", parent[1]), None
        # Who disagrees by its own tag breaks another rule.
        if owner is not None and tag is None and parent[0] != owner[0]:
            detail = f"call {key!r} is {_who(owner[0])}'s, and its message {message!r} is {_who(parent[0])}'s"
            return Remark(CALL_OWNER, detail, "/parentMessageId", owner[1]), None
        return None, parent

    @staticmethod
    def _disagrees(tag: Any, owner: _Owner | None, words: str, key: str) -> Remark | None:
        if tag is None or owner is None or owner[0] == tag:
            return None
        return Remark(ATTRIBUTION, f"{words} {key!r} is {_who(owner[0])}'s, not {_who(tag)}'s", "/subagentRunId", owner[1])

    # --- the others -------------------------------------------------------------------------

    def step_started(self, event: Wire, index: int) -> Remark | None:
        """Begin a step."""
        key = (event.get("subagentRunId"), event["stepName"])
        if key in self.open["step"]:
            return Remark(STEP_OPEN, f"step {key[1]!r} is active already", "/stepName", self.open["step"][key])
        self.open["step"][key] = index
        return None

    def step_finished(self, event: Wire, index: int) -> Remark | None:
        """End a step, by whoever began it."""
        del index
        key = (event.get("subagentRunId"), event["stepName"])
        if self.open["step"].pop(key, None) is not None:
            return None
        for (owner, name), since in self.open["step"].items():
            if name == key[1]:
                return Remark(STEP_OTHER, f"step {name!r} is {_who(owner)}'s, not {_who(key[0])}'s", "/subagentRunId", since)
        return Remark(STEP_NOT_OPEN, f"step {key[1]!r} was not started", "/stepName")

    def agent_started(self, event: Wire, index: int) -> Remark | None:
        """Begin a sub-agent."""
        key: str = event["subagentRunId"]
        parent: Any = event.get("parentSubagentRunId")
        active = self.open["agent"]
        if key in active:
            return Remark(AGENT_OPEN, f"sub-agent {key!r} is active already", "/subagentRunId", active[key])
        if key in self._ended:
            return Remark(AGENT_REUSED, f"sub-agent {key!r} has ended in this run", "/subagentRunId", self._ended[key])
        if parent is not None and parent not in active and parent not in self._ended:
            return Remark(AGENT_NO_PARENT, f"its parent {parent!r} was not started in this run", "/parentSubagentRunId")
        active[key] = index
        return None

    def agent_ended(self, event: Wire, index: int) -> Remark | None:
        """End a sub-agent."""
        key: str = event["subagentRunId"]
        if self.open["agent"].pop(key, None) is None:
            return Remark(AGENT_NOT_OPEN, f"no active sub-agent {key!r}", "/subagentRunId", self._ended.get(key))
        self._ended[key] = index
        return None

    def run_started(self, event: Wire, index: int) -> Remark | None:
        """Take in the history that a run begins with."""
        given = event.get("input")
        self._seed(given.get("messages") if is_object(given) else None, index, restated=False)
        return None

    def run_finished(self, event: Wire, index: int) -> Remark | None:
        """End a run, in which nothing may be open."""
        del event
        self.state, self.since = "finished", index
        for name, words in _SETS.items():
            if self.open[name]:
                keys = ", ".join(repr(key[-1] if name == "step" else key) for key in self.open[name])
                return Remark(OPEN_AT_END, f"{words} are still active: {keys}", related=next(iter(self.open[name].values())))
        return None

    def run_error(self, event: Wire, index: int) -> Remark | None:
        """End a run, whatever is open."""
        del event
        self.state, self.since = "error", index
        return None

    def result(self, event: Wire, index: int) -> Remark | None:
        """Take in whose the message of a result is."""
        self._owners["message"][event["messageId"]] = (event.get("subagentRunId"), index)
        return None

    def snapshot(self, event: Wire, index: int) -> Remark | None:
        """Take in whose the messages of a snapshot are."""
        self._seed(event["messages"], index, restated=True)
        return None

    def activity(self, event: Wire, index: int) -> Remark | None:
        """Take in whose an activity is."""
        owners = self._owners["activity"]
        if event["messageId"] not in owners or event.get("replace") is not False:
            owners[event["messageId"]] = (event.get("subagentRunId"), index)
        return None

    def activity_delta(self, event: Wire, index: int) -> Remark | None:
        """Look whose an activity is."""
        del index
        key: str = event["messageId"]
        return self._disagrees(event.get("subagentRunId"), self._owners["activity"].get(key), "activity", key)

    def encrypted(self, event: Wire, index: int) -> Remark | None:
        """Look whose it is what an encrypted value belongs to."""
        del index
        key: str = event["entityId"]
        kinds = ("call",) if event["subtype"] == "tool-call" else ("message", "reasoning")
        owner = next((self._owners[kind][key] for kind in kinds if key in self._owners[kind]), None)
        return self._disagrees(event.get("subagentRunId"), owner, "message" if len(kinds) > 1 else "tool call", key)

    def _seed(self, messages: Any, index: int, *, restated: bool) -> None:
        """Take in whose the messages are that an event tells again."""
        for message in messages if is_array(messages) else ():
            kind = {"reasoning": "reasoning", "activity": "activity"}.get(message["role"], "message")
            owner = (message.get("subagentRunId"), index)
            if restated or message["id"] not in self._owners[kind]:
                self._owners[kind][message["id"]] = owner
            for call in message.get("toolCalls", ()):
                if restated or call["id"] not in self._owners["call"]:
                    self._owners["call"][call["id"]] = owner


_OTHERS: dict[str, Callable[[Sequencer, Wire, int], Remark | None]] = {
    Type.STEP_STARTED: Sequencer.step_started,
    Type.STEP_FINISHED: Sequencer.step_finished,
    Type.SUBAGENT_STARTED: Sequencer.agent_started,
    Type.SUBAGENT_FINISHED: Sequencer.agent_ended,
    Type.SUBAGENT_ERROR: Sequencer.agent_ended,
    Type.RUN_STARTED: Sequencer.run_started,
    Type.RUN_FINISHED: Sequencer.run_finished,
    Type.RUN_ERROR: Sequencer.run_error,
    Type.TOOL_CALL_RESULT: Sequencer.result,
    Type.MESSAGES_SNAPSHOT: Sequencer.snapshot,
    Type.ACTIVITY_SNAPSHOT: Sequencer.activity,
    Type.ACTIVITY_DELTA: Sequencer.activity_delta,
    Type.REASONING_ENCRYPTED_VALUE: Sequencer.encrypted,
}
