"""
Tool results, questions and answers.

Java leaves events out where its memory has a result: of calls that a user or a rule denied, of pending calls when the agent is broken
off, of results from outside in 2.0.0. What is certain is said all the same, with a remark; what is not stays open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.translation import UNFIT, Decoder, Unfit

from .blocks import read_part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

    from .calls import AgentCall, Call

    Key = tuple[str, str]

#: What Java writes into a result that somebody outside is to give.
PLACEHOLDER = "[Awaiting external execution]"


class Results(Decoder):
    """Writes results, and what comes between agent calls."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[Key, AgentCall] = {}  #: the newest call, by source and task
        self.parked: list[tuple[Key, AgentCall]] = []
        self.waiting: dict[Key, Wire] = {}  #: AGENT_STARTs of which it is not known yet what they start
        self.counts: dict[Key, int] = {}
        self._beside = 0

    def start_waiting(self, key: Key, following: tuple[Any, Wire] | None) -> Iterator[Any]:
        """Begin what AGENT_START began, when it is known what that is."""
        raise NotImplementedError

    def said(self, agent: AgentCall, head: Wire, kind: Any, **fields: Any) -> Any:
        """Make an event of a reply, with the id and metadata of the Java event."""
        if head.get("id") is None:
            self._beside += 1
            head = {**head, "id": f"{agent.reply_id}+{self._beside}", "metadata": None}
        return self.event(kind, **{**head, "reply_id": agent.reply_id, **fields})

    def beside(self, agent: AgentCall, head: Wire, kind: Any, **fields: Any) -> Any:
        """Make an event that no Java event stands for."""
        return self.said(agent, {"source_path": head.get("source_path")}, kind, **fields)

    def end_calls(self, agent: AgentCall) -> Iterator[Any]:
        """End the arguments of calls that Java ended: it will not open them again."""
        for call in agent.calls.values():
            if call.ended is not None and call.open:
                call.open = False
                ended = call.ended
                yield self.said(agent, ended["head"], structs.ToolCallEndEvent, tool_call_id=call.key, created_at=ended["at"])

    # --- results ----------------------------------------------------------------------------

    def result_event(self, agent: AgentCall, head: Wire, kind: Any, fields: Wire) -> Iterator[Any]:
        """Read a tool result. A suspended one goes on when its result comes."""
        key = fields["tool_call_id"]
        if not key:
            raise Unfit(UNFIT, "a tool result has a toolCallId", "/toolCallId")
        yield from self.end_calls(agent)
        call = agent.calls.get(key)
        if call is None:
            call = agent.calls[key] = self._called(key, fields.get("tool_call_name") or "")
        if call.state == "asking":
            self._unseen_answer(agent)
            yield self.beside(agent, head, structs.UserConfirmResultEvent, confirm_results=[{"confirmed": True, "tool_call": call.block()}])
            call.state = "pending"
        if kind is structs.ToolResultStartEvent:
            if call.result == "suspended":
                # The same call is handed out again.
                return
            call.result = call.result or "open"
            yield self.said(agent, head, kind, tool_call_id=key, tool_call_name=fields["tool_call_name"] or call.name)
        elif kind is structs.ToolResultTextDeltaEvent:
            yield from self._text(agent, head, call, fields["delta"])
        elif kind is structs.ToolResultDataDeltaEvent:
            yield from self._released(agent, call)
            yield from self._data(agent, head, key, fields["data"])
        else:
            yield from self._end_result(agent, head, call, fields["state"])

    @staticmethod
    def _called(key: str, name: str) -> Call:
        from .calls import Call  # noqa: PLC0415  only for a result without a call

        call = Call(key, name)
        call.open = False
        return call

    def _text(self, agent: AgentCall, head: Wire, call: Call, delta: Any) -> Iterator[Any]:
        if delta is None:
            return
        if call.result == "suspended" or (delta == PLACEHOLDER and call.key not in agent.held):
            # Perhaps no output: that shows when the result ends, or goes on.
            agent.held.setdefault(call.key, []).append({"head": head, "at": self.now, "delta": delta})
            return
        yield from self._released(agent, call)
        yield self.said(agent, head, structs.ToolResultTextDeltaEvent, tool_call_id=call.key, delta=delta)

    def _released(self, agent: AgentCall, call: Call) -> Iterator[Any]:
        """Say what was held back: it is output after all."""
        for held in agent.held.pop(call.key, ()):
            delta = {"delta": held["delta"], "created_at": held["at"]}
            yield self.said(agent, held["head"], structs.ToolResultTextDeltaEvent, tool_call_id=call.key, **delta)

    def _data(self, agent: AgentCall, head: Wire, key: str, block: Any) -> Iterator[Any]:
        count = self.counts[key, "part"] = self.counts.get((key, "part"), 0) + 1
        part = read_part(block, "/data", f"{key}/data{count}")
        kept = {name: part[name] for name in part if name not in {"type", "id", "source", "text"}}
        if kept:
            head = {**head, "metadata": {**(head.get("metadata") or {}), "agentscope_java_block": kept}}
        if part["type"] == "text":
            yield self.said(agent, head, structs.ToolResultTextDeltaEvent, tool_call_id=key, delta=part["text"])
            return
        source = part["source"]
        content = "url" if source["type"] == "url" else "data"
        carried = {"media_type": source["media_type"], content: source[content]}
        yield self.said(agent, head, structs.ToolResultDataDeltaEvent, tool_call_id=key, block_id=part["id"], **carried)

    def _end_result(self, agent: AgentCall, head: Wire, call: Call, state: str | None) -> Iterator[Any]:
        if state == "running":
            agent.held.pop(call.key, None)
            call.result = "suspended"
            given: Wire = head.get("metadata") or {}
            beyond = {name: item for name, item in given.items() if name != "agentscope_suspended"}
            if beyond:
                value = {"reply_id": agent.reply_id, "tool_call_id": call.key, "metadata": beyond}
                yield self.event(
                    structs.CustomEvent, **{**head, "metadata": None}, name="agentscope_java.tool_result_suspended", value=value
                )
            return
        yield from self._released(agent, call)
        if state is None:
            self.remark("java.result-no-state", f"the result of {call.key!r} ends without a state; it is taken for a success", "/state")
        call.result = "done"
        yield self.said(agent, head, structs.ToolResultEndEvent, tool_call_id=call.key, state=state or "success")

    # --- questions and answers --------------------------------------------------------------

    def request(self, agent: AgentCall, head: Wire, kind: Any, fields: Wire) -> Iterator[Any]:
        """Ask about calls, or hand them out."""
        yield from self.end_calls(agent)
        agent.answers.add(fields["reply_id"] or "")
        asks = kind is structs.RequireUserConfirmEvent
        for block in fields["tool_calls"]:
            call = agent.calls.get(block["id"])
            if call is None:
                call = agent.calls[block["id"]] = self._called(block["id"], block["name"])
                call.arguments = [block["input"]]
            call.state = "asking" if asks else "submitted"
        yield self.said(agent, head, kind, tool_calls=fields["tool_calls"])

    def answer(self, agent: AgentCall, head: Wire, kind: Any, fields: Wire) -> Iterator[Any]:
        """Take answers, or results from outside."""
        yield from self.end_calls(agent)
        if (fields["reply_id"] or "") not in agent.answers:
            self.remark("java.unknown-answer", f"nothing was asked by {fields['reply_id']!r}", "/replyId", agent.index)
        agent.resumed = False
        if kind is structs.UserConfirmResultEvent:
            for item in fields["confirm_results"]:
                call = agent.calls.get(item["tool_call"]["id"])
                if call is not None:
                    call.state = "pending" if item["confirmed"] else "denied"
        else:
            for result in fields["execution_results"]:
                call = agent.calls.get(result["id"])
                result["name"] = result.get("name") or (call.name if call is not None else "")
                if call is not None and result.get("state") != "running":
                    yield from self.hand_out(agent, head, [call])
                    call.result = "done"
        yield self.said(agent, head, kind, **{name: item for name, item in fields.items() if name != "reply_id"})

    def hand_out(self, agent: AgentCall, head: Wire, calls: list[Call]) -> Iterator[Any]:
        """Say that calls are handed out, of which Java shows only that their results are suspended."""
        given = [call for call in calls if call.result == "suspended" and call.state != "submitted"]
        for call in given:
            call.state = "submitted"
        if given:
            yield self.beside(agent, head, structs.RequireExternalExecutionEvent, tool_calls=[call.block() for call in given])

    def _unseen_answer(self, agent: AgentCall) -> None:
        if agent.resumed:
            self.remark(
                "java.unseen-answer", f"the agent call {agent.reply_id} goes on, and no event says how it was answered", "", agent.index
            )
        agent.resumed = False

    def settle(self, agent: AgentCall, head: Wire, *, last: bool = False, failed: bool = False) -> Iterator[Any]:
        """Say what became of calls that have no result: before the model is called again, and at the end, Java's memory has one."""
        yield from self.end_calls(agent)
        asked = {call.batch for call in agent.calls.values() if call.state in {"asking", "denied"}}
        for call in list(agent.calls.values()):
            if call.result in {"done", "unseen"} or (call.open and not last):
                continue
            if call.result == "suspended" or call.state == "submitted":
                self._unseen_answer(agent)
                self.remark(
                    "java.result-unseen", f"the result of {call.key!r} was given from outside, and no event shows it", "", agent.index
                )
                call.result = "unseen"
                continue
            if call.state == "asking":
                # It was not approved, else its result would be here.
                self._unseen_answer(agent)
                yield self.beside(
                    agent, head, structs.UserConfirmResultEvent, confirm_results=[{"confirmed": False, "tool_call": call.block()}]
                )
                call.state = "denied"
            yield from self._settle_one(
                agent, head, call, "denied" if call.state == "denied" or (call.batch in asked and not failed) else "error"
            )
        agent.resumed = False

    def _settle_one(self, agent: AgentCall, head: Wire, call: Call, state: str) -> Iterator[Any]:
        self.remark("java.result-unseen", f"the result of {call.key!r} ({state}) has no event", "", agent.index)
        if call.open:
            call.open = False
            yield self.beside(agent, head, structs.ToolCallEndEvent, tool_call_id=call.key)
        if not call.result:
            yield self.beside(agent, head, structs.ToolResultStartEvent, tool_call_id=call.key, tool_call_name=call.name)
        yield self.beside(agent, head, structs.ToolResultEndEvent, tool_call_id=call.key, state=state)
        call.result = "done"
