"""
Events of ours -> Java events.

Law: every value is one that AgentScope's Jackson classes read, whatever the stream. A reply that is parked at the end gets the
AGENT_END with which a Java agent stops there; what only AGENT_RESULT can say to a Java reader (a structured output, why the agent
stopped) is said by one before the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.translation import EPOCH, NAMESPACE, Encoder, fields_of

from .forms import RESULT, write_event
from .moment import to_java
from .scalars import without_null

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

#: Java's words for why an agent stopped, by our reason.
GENERATE_REASONS = {"interrupted": "INTERRUPTED", "exceed_max_iters": "MAX_ITERATIONS"}
#: Events of Java that name the call's tool, where ours do not.
_NAME_TOO = (
    structs.ToolCallDeltaEvent,
    structs.ToolCallEndEvent,
    structs.ToolResultTextDeltaEvent,
    structs.ToolResultDataDeltaEvent,
    structs.ToolResultEndEvent,
)


class _Reply:
    """What later events of a reply need to say."""

    def __init__(self, start: structs.ReplyStartEvent) -> None:
        self.start = start
        self.tools: dict[str, str] = {}
        self.asked: set[str] = set()
        self.now = start.created_at


class JavaEncoder(Encoder):
    """Writes events one by one; remembers the names of tools, and which replies are parked."""

    def __init__(self) -> None:
        super().__init__()
        self._replies: dict[str, _Reply] = {}

    def encode(self, event: Any) -> Iterator[Wire]:
        """Write an event, after the AGENT_RESULT that it needs."""
        if isinstance(event, structs.ReplyStartEvent):
            self._replies.setdefault(event.reply_id, _Reply(event))
        reply = self._replies.get(getattr(event, "reply_id", None) or "")
        known: Wire = {}
        if reply is not None:
            reply.now = event.created_at
            self._follow(reply, event)
            if isinstance(event, _NAME_TOO):
                known["toolCallName"] = reply.tools.get(event.tool_call_id)
            if isinstance(event, structs.ReplyEndEvent):
                yield from _result(reply, event)
                del self._replies[event.reply_id]
        yield write_event(event, **known)

    def end(self) -> Iterator[Wire]:
        """Stop at what is parked, as a Java agent does."""
        for key, reply in self._replies.items():
            if reply.asked:
                yield {
                    "type": "AGENT_END",
                    "id": f"{key}/parked",
                    "createdAt": reply.now,
                    "replyId": key,
                    **({"source": reply.start.source_path} if isinstance(reply.start.source_path, str) else {}),
                    "metadata": {NAMESPACE: {"reply_id": key, "beside": True}},
                }

    @staticmethod
    def _follow(reply: _Reply, event: Any) -> None:
        """Learn names of tools, and which calls wait for somebody."""
        if isinstance(event, structs.ToolCallStartEvent | structs.ToolResultStartEvent):
            reply.tools[event.tool_call_id] = event.tool_call_name
        elif isinstance(event, structs.RequireUserConfirmEvent | structs.RequireExternalExecutionEvent):
            for call in fields_of(event)["tool_calls"]:
                reply.asked.add(call["id"])
                reply.tools.setdefault(call["id"], call["name"])
        elif isinstance(event, structs.UserConfirmResultEvent):
            reply.asked.difference_update(answer["tool_call"]["id"] for answer in fields_of(event)["confirm_results"])
        elif isinstance(event, structs.ExternalExecutionResultEvent):
            reply.asked.difference_update(result["id"] for result in fields_of(event)["execution_results"])
        elif isinstance(event, structs.ToolResultEndEvent):
            reply.asked.discard(event.tool_call_id)


def _result(reply: _Reply, event: structs.ReplyEndEvent) -> Iterator[Wire]:
    """Say with AGENT_RESULT what AGENT_END has no field for, to Java readers; ours read it from the end itself."""
    end = fields_of(event)
    metadata: Wire = {}
    if end.get("finished_reason") in GENERATE_REASONS:
        metadata["agentscope_generate_reason"] = GENERATE_REASONS[end["finished_reason"]]
    if end.get("structured_output") is not None:
        metadata["_structured_output"] = without_null(end["structured_output"])
    if not metadata:
        return
    message: Wire = {
        "id": event.reply_id,
        "name": reply.start.name,
        "role": "ASSISTANT",
        "content": [],
        "metadata": metadata,
        "timestamp": to_java(event.created_at or EPOCH),
        "usage": None,
    }
    yield {
        "type": RESULT,
        "id": f"{event.id}/result",
        "createdAt": event.created_at,
        "result": message,
        **({"source": event.source_path} if isinstance(event.source_path, str) else {}),
        "metadata": {NAMESPACE: {"reply_id": event.reply_id, "beside": True}},
    }
