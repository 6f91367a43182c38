"""
What each Java event does to the agent call that it belongs to, and which events of ours come of it.

Law: of a stream as a real agent writes it comes a stream that is valid here, with one reply for each agent; where Java shows less than
it did (an answer, a result), a remark says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.translation import UNFIT, Unfit

from .agents import ANSWERS, RESULTS, Agents
from .calls import Call, ModelCall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

    from .calls import AgentCall

    Key = tuple[str, str]

#: The kinds of blocks that start, grow and end, by class.
_BLOCKS = {
    structs.TextBlockStartEvent: "text",
    structs.TextBlockDeltaEvent: "text",
    structs.TextBlockEndEvent: "text",
    structs.ThinkingBlockStartEvent: "thinking",
    structs.ThinkingBlockDeltaEvent: "thinking",
    structs.ThinkingBlockEndEvent: "thinking",
    structs.DataBlockStartEvent: "data",
    structs.DataBlockDeltaEvent: "data",
    structs.DataBlockEndEvent: "data",
}
_STARTS = (structs.TextBlockStartEvent, structs.ThinkingBlockStartEvent, structs.DataBlockStartEvent)
_ENDS = (structs.TextBlockEndEvent, structs.ThinkingBlockEndEvent, structs.DataBlockEndEvent)
_GROWS = (structs.TextBlockDeltaEvent, structs.ThinkingBlockDeltaEvent, structs.DataBlockDeltaEvent)
_KINDS = ("text", "thinking", "data")
_ARGUMENTS = (structs.ToolCallStartEvent, structs.ToolCallDeltaEvent, structs.ToolCallEndEvent)
_REQUESTS = (structs.RequireUserConfirmEvent, structs.RequireExternalExecutionEvent)
#: Names that stand for no tool.
_PLACEHOLDER = "__"
#: What data is when Java does not say.
_BYTES = "application/octet-stream"


class Reading(Agents):
    """Follows agent calls by source and task."""

    def read(self, key: Key, head: Wire, kind: Any, fields: Wire) -> Iterator[Any]:
        """Read an event of a reply."""
        if kind is structs.ReplyStartEvent:
            yield from self.start(key, head, fields)
            return
        if key in self.waiting:
            yield from self.start_waiting(key, (kind, fields))
        agent = self.agents.get(key)
        if agent is None or agent.ended or agent.stopped:
            agent = yield from self.unstarted(key, head, kind, fields)
        yield from self._dispatch(agent, head, kind, fields)

    def free(self, key: Key, head: Wire, kind: Any, fields: Wire) -> Iterator[Any]:
        """Read an event that belongs to no reply; one may say why the agent stops."""
        agent = self.agents.get(key)
        if kind is structs.RequestStopEvent and agent is not None and not agent.ended:
            agent.reason = fields["generate_reason"]
        yield self.event(kind, **head, **fields)

    def _dispatch(self, agent: AgentCall, head: Wire, kind: Any, fields: Wire) -> Iterator[Any]:
        if agent.implicit and kind not in _GROWS:
            yield from self.end_implicit(agent, head)
        if kind in _BLOCKS:
            yield from self._block(agent, head, kind, fields)
        elif kind in _ARGUMENTS:
            yield from self._arguments(agent, head, kind, fields)
        elif kind in RESULTS:
            yield from self.result_event(agent, head, kind, fields)
        elif kind in ANSWERS:
            yield from self.answer(agent, head, kind, fields)
        elif kind in _REQUESTS:
            yield from self.request(agent, head, kind, fields)
        else:
            yield from self._phase(agent, head, kind, fields)

    def _phase(self, agent: AgentCall, head: Wire, kind: Any, fields: Wire) -> Iterator[Any]:
        """Read an event that comes whole, or begins or ends a phase."""
        if kind is structs.ModelCallStartEvent:
            yield from self.settle(agent, head)
            agent.model = ModelCall(fields["reply_id"] or "")
            yield self.said(agent, head, kind, model_name="")
        elif kind is structs.ModelCallEndEvent:
            yield from self.end_calls(agent)
            agent.model.open = False
            agent.model.usage = {name: fields[name] for name in ("input_tokens", "output_tokens", "cache_input_tokens")}
            yield self.said(agent, head, kind, **{name: item for name, item in fields.items() if name != "reply_id"})
        elif kind is structs.ExceedMaxItersEvent:
            agent.exceeded = True
            yield from self.end_calls(agent)
            yield self.said(agent, head, kind, name=agent.name, max_iters=fields["max_iters"], current_iter=fields["current_iter"])
        elif kind is structs.HintBlockEvent:
            block = fields["block_id"] or agent.begin("hint", "", "hint")
            agent.opened.discard(("hint", "", "hint"))
            yield self.said(agent, head, kind, block_id=block, hint=fields["hint"], source=fields["source"])
        else:
            yield from self.close(agent, head)

    # --- blocks -----------------------------------------------------------------------------

    def _block(self, agent: AgentCall, head: Wire, kind: Any, fields: Wire) -> Iterator[Any]:
        what, model = _BLOCKS[kind], fields["reply_id"] or ""
        name = fields["block_id"]
        if not name:
            raise Unfit(UNFIT, "a block has a blockId", "/blockId")
        extra: Wire = {"media_type": _BYTES} if what == "data" and kind not in _ENDS else {}
        if kind in _GROWS:
            delta = fields["data" if what == "data" else "delta"]
            if delta is None:
                return
            if what == "text" and model == agent.model.key:
                agent.model.text.append(delta)
            extra["data" if what == "data" else "delta"] = delta
        if kind in _GROWS and not model and (what, model, name) not in agent.opened:
            # An older frame of the Agent Protocol: it gives neither replyId nor start.
            start = _STARTS[_GROWS.index(kind)]
            yield from self.end_implicit(agent, head)
            agent.implicit[what, model, name] = agent.begin(what, model, name)
            typed = {"media_type": _BYTES} if what == "data" else {}
            yield self.beside(agent, head, start, block_id=agent.implicit[what, model, name], **typed)
        block = agent.begin(what, model, name) if kind in _STARTS else agent.block(what, model, name)
        yield self.said(agent, head, kind, block_id=block, **extra)
        if kind in _ENDS:
            agent.opened.discard((what, model, name))

    def end_implicit(self, agent: AgentCall, head: Wire) -> Iterator[Any]:
        """End the blocks that nothing started."""
        for key, block in agent.implicit.items():
            agent.opened.discard(key)
            yield self.beside(agent, head, _ENDS[_KINDS.index(key[0])], block_id=block)
        agent.implicit.clear()

    def _arguments(self, agent: AgentCall, head: Wire, kind: Any, fields: Wire) -> Iterator[Any]:
        key = fields["tool_call_id"] or (agent.model.calls[-1] if agent.model.calls else None)
        if key is None:
            raise Unfit(UNFIT, "a tool call has a toolCallId, and none is there that it could go on with", "/toolCallId")
        call = agent.calls.get(key)
        new = call is None or call.result == "done"
        if new and kind is structs.ToolCallEndEvent:
            # Java would ignore it; the engine says that it was never started.
            yield self.said(agent, head, kind, tool_call_id=key)
            return
        if call is None or new:
            given = fields.get("tool_call_name")
            name = given if given and not given.startswith(_PLACEHOLDER) else ""
            call = agent.calls[key] = Call(key, name)
            call.batch = fields["reply_id"] or ""
            agent.model.calls.append(key)
            started = kind is structs.ToolCallStartEvent
            if not started:
                self.remark("java.call-no-start", f"the tool call {key!r} was not started; its arguments are kept", "/toolCallId")
            yield self.said(
                agent, head if started else {**head, "id": None}, structs.ToolCallStartEvent, tool_call_id=key, tool_call_name=name
            )
        elif kind is structs.ToolCallStartEvent:
            # Java closes a call when another begins, and opens it again when it goes on.
            call.ended = None
        if kind is structs.ToolCallDeltaEvent and fields["delta"] is not None:
            # After an END, a fragment under a placeholder name: the end that was held back still stands.
            call.arguments.append(fields["delta"])
            yield self.said(agent, head, kind, tool_call_id=key, delta=fields["delta"])
        elif kind is structs.ToolCallEndEvent:
            call.ended = {"head": head, "at": self.now}
