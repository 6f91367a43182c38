"""
Which reply an event belongs to: agent calls begin, are parked, and go on.

Law: one reply for each call of an agent, and the same one when a parked call goes on. The link is the replyId of the question, which
the answer repeats; where a version does not write it, the calls that are named, or the agent's name, decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.translation import UNFIT

from .calls import AgentCall
from .endings import Endings

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from eventfold.shape import Wire

    Key = tuple[str, str]

RESULTS = (
    structs.ToolResultStartEvent,
    structs.ToolResultTextDeltaEvent,
    structs.ToolResultDataDeltaEvent,
    structs.ToolResultEndEvent,
)
ANSWERS = (structs.UserConfirmResultEvent, structs.ExternalExecutionResultEvent)


class Agents(Endings):
    """Begins agent calls, and goes on with them."""

    def start(self, key: Key, head: Wire, fields: Wire) -> Iterator[Any]:
        """Begin an agent call. Whether it goes on with a parked reply is not known yet."""
        before = self.agents.get(key)
        if key in self.waiting:
            yield from self.start_waiting(key, None)
            before = self.agents.get(key)
        if before is not None and before.stopped:
            # What it starts is told by the event that follows.
            self.waiting[key] = {"head": head, "fields": fields, "at": self.now, "index": self.index}
            return
        if before is not None and not before.ended:
            self.remark("java.no-end", f"the agent call {before.reply_id} has no AGENT_END, and another begins", "", before.index)
        yield from self._begin(key, head, fields, self.now, self.index)

    def _begin(self, key: Key, head: Wire, fields: Wire, at: str, index: int) -> Iterator[Any]:
        count = self._count(key)
        name = fields.get("name") or ""
        reply_id = fields.get("reply_id") or f"{key[0] or key[1] or 'reply'}/{count}"
        agent = AgentCall(reply_id, name, fields.get("session_id") or "", index)
        self.agents[key] = agent
        role = (fields.get("role") or "assistant").lower()
        if role not in {"user", "assistant", "system"}:
            self.remark(UNFIT, f"{role!r} is no role of a reply", "/role")
            role = "assistant"
        yield self.said(agent, head, structs.ReplyStartEvent, session_id=agent.session_id, name=name, role=role, created_at=at)

    def start_waiting(self, key: Key, following: tuple[Any, Wire] | None) -> Iterator[Any]:
        """Begin a new reply, or go on with a parked one, as the event that follows AGENT_START tells."""
        given = self.waiting.pop(key)
        head, fields, at, index = given["head"], given["fields"], given["at"], given["index"]
        agent = self._resumed_by(key, following, fields)
        if agent is None:
            yield from self._begin(key, head, fields, at, index)
            return
        self.agents[key] = agent
        self.parked = [(place, other) for place, other in self.parked if other is not agent]
        agent.stopped, agent.resumed, agent.reason = False, True, None
        agent.model.open = False
        role = {"role": fields["role"]} if fields.get("role") in {"user", "system"} else {}
        yield self.said(
            agent,
            head,
            structs.ReplyStartEvent,
            session_id=fields.get("session_id") or agent.session_id,
            name=agent.name,
            created_at=at,
            **role,
        )

    def _resumed_by(self, key: Key, following: tuple[Any, Wire] | None, start: Wire) -> AgentCall | None:
        """Find the parked reply that goes on: the one that the answer names, or whose calls the event names, or the last of this agent."""
        candidates = [agent for place, agent in reversed(self.parked) if place == key]
        if following is not None:
            kind, fields = following
            named = fields.get("reply_id")
            if kind in ANSWERS:
                for agent in candidates:
                    if named in agent.answers:
                        return agent
            touched = _touched(kind, fields)
            for agent in candidates:
                if any(call in agent.calls for call in touched):
                    return agent
        return next((agent for agent in candidates if not start.get("name") or agent.name == start["name"]), None)

    def unstarted(self, key: Key, head: Wire, kind: Any, fields: Wire) -> Generator[Any, None, AgentCall]:
        """Begin a reply for an event that came without AGENT_START, or go on with the one that it names."""
        agent = self.agents.get(key)
        touched = _touched(kind, fields)
        if agent is not None and any(call in agent.calls for call in touched):
            self.remark("java.after-end", f"the agent call {agent.reply_id} has ended", "", agent.index)
            agent.stopped = False
            self.parked = [(place, other) for place, other in self.parked if other is not agent]
            return agent
        self.remark("java.not-started", "there is no AGENT_START before the event; a reply begins here")
        start = {"reply_id": fields.get("reply_id"), "name": key[0].rsplit("/", 1)[-1]}
        yield from self._begin(key, {**head, "id": None, "metadata": None}, start, self.now, self.index)
        return self.agents[key]

    def _count(self, key: Key) -> int:
        self.counts[key] = self.counts.get(key, 0) + 1
        return self.counts[key]


def _touched(kind: Any, fields: Wire) -> list[Any]:
    """Give the ids of the calls that an answer or a result names."""
    if kind in RESULTS:
        return [fields["tool_call_id"]]
    if kind is structs.UserConfirmResultEvent:
        return [answer["tool_call"]["id"] for answer in fields["confirm_results"]]
    if kind is structs.ExternalExecutionResultEvent:
        return [result["id"] for result in fields["execution_results"]]
    return []
