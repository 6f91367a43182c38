"""
How an agent call ends: AGENT_RESULT, which holds its last message, and AGENT_END, which says nothing.

What only AGENT_RESULT says gets into the message: a text without events, a structured output, why the agent stopped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.translation import UNFIT, Unfit
from eventfold.jsonvalue import copy_json, is_array, is_object

from .blocks import read_block
from .patch import same
from .results import Results
from .scalars import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

    from .calls import AgentCall

    Key = tuple[str, str]

#: What an interrupted agent says; 2.0.0 does not say in any other way that it was.
RECOVERY = "I noticed that you have interrupted me. What can I do for you?"
#: Why a reply ended, by Java's words for why the agent stopped.
FINISHED = {"INTERRUPTED": "interrupted", "MAX_ITERATIONS": "exceed_max_iters"}
REASON_KEY, STRUCTURED_KEY = "agentscope_generate_reason", "_structured_output"


class Endings(Results):
    """Ends agent calls."""

    def result(self, key: Key, head: Wire, value: Wire) -> Iterator[Any]:
        """Hold AGENT_RESULT's message against what was said, and take what only it says."""
        message = value.get("result")
        agent = self.agents.get(key)
        if not is_object(message):
            if message is not None:
                raise Unfit(UNFIT, "a result is a message", "/result")
            message = {}
        if key in self.waiting:
            yield from self.start_waiting(key, None)
            agent = self.agents.get(key)
        whole = copy_json(message)
        if agent is not None and not agent.ended:
            metadata = message.get("metadata")
            metadata = metadata if is_object(metadata) else {}
            reason = text_of(metadata.get(REASON_KEY), f"/result/metadata/{REASON_KEY}")
            agent.reason = reason or agent.reason
            agent.structured = copy_json(metadata.get(STRUCTURED_KEY))
            content = message.get("content")
            content = content if is_array(content) else []
            if text_in(content) == RECOVERY:
                agent.reason = agent.reason or "INTERRUPTED"
            yield from self.end_calls(agent)
            yield from self._compare(agent, head, message, content)
            if agent.reason == "TOOL_SUSPENDED":
                yield from self.hand_out(agent, head, list(agent.calls.values()))
        yield self.event(structs.CustomEvent, **head, name="agentscope_java.agent_result", value=whole)

    def _compare(self, agent: AgentCall, head: Wire, message: Wire, content: list[Any]) -> Iterator[Any]:
        model = agent.model
        said, given = "".join(model.text), text_in(content)
        calls = [block.get("id") for block in content if is_object(block) and block.get("type") == "tool_use"]
        suspended = any(is_object(block) and block.get("type") == "tool_result" for block in content)
        if given == said and (calls == model.calls or (suspended and set(map(str, calls)) <= set(model.calls))):
            usage = message.get("usage")
            if is_object(usage) and model.usage is not None:
                counts = {
                    "input_tokens": usage.get("inputTokens"),
                    "output_tokens": usage.get("outputTokens"),
                    "cache_input_tokens": usage.get("cachedTokens", 0),
                }
                if not same(counts, model.usage):
                    self.remark("java.result-differs", "its usage is not that of the last model call", "/result/usage", agent.index)
            return
        own = not calls and given and (model.open or not said or agent.reason in {"INTERRUPTED", "STRUCTURED_OUTPUT"})
        if suspended and not given:
            return
        if not own:
            self.remark(
                "java.result-differs", "its message is not what the events of the last model call say", "/result/content", agent.index
            )
            return
        for i, block in enumerate(content):
            yield from self._shown(agent, head, block, f"/result/content/{i}", text_of(message.get("id"), "/result/id") or "result", i)

    def _shown(self, agent: AgentCall, head: Wire, block: Any, pointer: str, message: str, place: int) -> Iterator[Any]:
        """Say a block that only AGENT_RESULT carries."""
        read = read_block(block, pointer, f"{message}:{place}")
        if read["type"] == "text":
            yield self.beside(agent, head, structs.TextBlockStartEvent, block_id=read["id"])
            yield self.beside(agent, head, structs.TextBlockDeltaEvent, block_id=read["id"], delta=read["text"])
            yield self.beside(agent, head, structs.TextBlockEndEvent, block_id=read["id"])
        elif read["type"] == "thinking":
            yield self.beside(agent, head, structs.ThinkingBlockStartEvent, block_id=read["id"])
            yield self.beside(agent, head, structs.ThinkingBlockDeltaEvent, block_id=read["id"], delta=read["thinking"])
            yield self.beside(agent, head, structs.ThinkingBlockEndEvent, block_id=read["id"])

    def close(self, agent: AgentCall, head: Wire) -> Iterator[Any]:
        """End the agent call: the reply too, unless it is parked."""
        yield from self.end_calls(agent)
        if agent.parked:
            yield from self.hand_out(agent, head, list(agent.calls.values()))
            agent.stopped = True
            self.parked.append((next(key for key, other in self.agents.items() if other is agent), agent))
            return
        finished = FINISHED.get(agent.reason or "")
        if finished is None:
            finished = "exceed_max_iters" if agent.exceeded else "interrupted" if agent.model.open or agent.opened else "completed"
        yield from self.settle(agent, head, last=True, failed=finished != "completed")
        if agent.model.open and finished != "interrupted":
            self.remark("java.model-call-no-end", "the last model call has no MODEL_CALL_END", "", agent.index)
            yield self.beside(agent, head, structs.ModelCallEndEvent, input_tokens=0, output_tokens=0)
        structured = agent.structured if is_object(agent.structured) or agent.structured is None else {"value": agent.structured}
        metadata: Wire = {**(head.get("metadata") or {}), **({REASON_KEY: agent.reason} if agent.reason else {})}
        agent.ended = True
        fields = {"session_id": agent.session_id, "finished_reason": finished, "structured_output": structured}
        yield self.said(agent, {**head, "metadata": metadata or None}, structs.ReplyEndEvent, **fields)


def text_in(content: list[Any]) -> str:
    """Join the texts of a message."""
    return "".join(str(block.get("text") or "") for block in content if is_object(block) and block.get("type") == "text")
