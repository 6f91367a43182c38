"""
Which message belongs to which reply, and which chunk to which message.

Law: where a format tells runs apart, a run is a reply; else a message is. A chunk belongs to the message of its id; an id that is
new belongs to the message that is being written, if that has none of the kind (a provider's id, or LangChain's own). The
result of a tool belongs to the reply that has the call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.run import Run, blocks_of
from eventfold.jsonvalue import copy_json, is_array, is_object

from .chunks import is_empty
from .turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable, Iterator

    from eventfold.shape import Wire

#: How many ids of messages that ended are remembered.
_KEPT = 1000


class Reply(Run):
    """A reply: the messages of a run, or one message."""

    def __init__(self, make: Callable[..., Any], reply_id: str, facts: Wire, *, single: bool, remark: Callable[[str, str], None]) -> None:
        super().__init__(make, reply_id)
        self.facts = facts  #: of the reply, for metadata
        self.single = single  #: whether it ends with its message
        self.marked = False  #: whether the format will say when the run ends
        self.error: Wire | None = None
        self.turns: dict[Hashable, Turn] = {}
        self._hints = 0
        self._remark = remark

    def add(self, key: Hashable, model: str, facts: Wire) -> Iterator[Any]:
        """Begin a message."""
        turn = Turn(self, len(self.turns), self._remark)
        turn.facts.update(facts)
        self.turns[key] = turn
        yield from self.begin_call(model)

    def key_of(self, call_id: str) -> Hashable:
        """Find a call by its id: one without a result first; None when there is none."""
        found = [key for key, part in self.parts.items() if part.kind == "tool_call" and part.id == call_id]
        found += [call.key for turn in self.turns.values() for call in turn.calls if call.id == call_id and not call.begun]
        return next((key for key in reversed(found) if key not in self.parts or not self.parts[key].answered), found[-1] if found else None)

    def settle(self, reason: str = "completed", error: Wire | None = None) -> Iterator[Any]:
        """End the messages that are open, then the reply. What was said of the messages is said of the reply."""
        if self.ended:
            return
        for turn in self.turns.values():
            yield from turn.finish()
        for key, part in list(self.parts.items()):
            if part.kind == "tool_call" and not part.answered and self._is_server(key):
                yield from self.close_result(key, state="interrupted")
        calls = [facts for turn in self.turns.values() if (facts := turn.summary())]
        facts = {**self.facts, **({"calls": calls} if calls else {})}
        self.metadata = {"langchain": facts} if facts else {}
        yield from self.end(reason, error)

    def hint(self, output: str | list[Wire], source: Any) -> Iterator[Any]:
        """Give what somebody said in the middle of the run."""
        self._hints += 1
        known = source if isinstance(source, str) else None
        yield self.event(structs.HintBlockEvent, block_id=f"{self.reply_id}/hint-{self._hints}", hint=copy_json(output), source=known)

    def complete(self) -> bool:
        """Tell whether every message has said that it ended."""
        return all(turn.finished or turn.stopped for turn in self.turns.values())

    def _is_server(self, key: Hashable) -> bool:
        return any(call.key == key and call.server for turn in self.turns.values() for call in turn.calls)


class Replies:
    """All replies of a stream. Methods that give events are generators."""

    def __init__(self, make: Callable[..., Any], remark: Callable[[str, str], None]) -> None:
        self.open: dict[Hashable, Reply] = {}  #: by run, or by message
        self._make = make
        self._remark = remark
        self._ids: dict[str, int] = {}  #: ids that replies have, and how often each was wanted
        self._over: dict[str, None] = {}  #: ids of messages that ended
        self._current: dict[Hashable, tuple[Hashable, Turn]] = {}  #: the message that is being written, by lane
        self._messages: dict[tuple[Hashable, str], tuple[Hashable, Turn]] = {}  #: messages by scope and id
        self._waiting: dict[str, Reply] = {}  #: parked replies by call
        self._count = 0

    def reply(
        self, key: Hashable, wanted: str, *, single: bool = False, role: str | None = None, facts: Wire | None = None
    ) -> Iterator[Any]:
        """Begin a reply, unless it has begun."""
        if key in self.open:
            return
        facts = facts or {}
        name = facts.pop("name", None)
        reply = Reply(self._make, self._free(wanted), facts, single=single, remark=self._remark)
        self.open[key] = reply
        metadata = {"langchain": copy_json(facts)} if facts else None
        yield from reply.begin(name=name if isinstance(name, str) and name else role or "assistant", role=role, metadata=metadata)

    def turn(
        self, scope: Hashable, lane: Hashable, message: Wire, model: str, facts: Wire
    ) -> Generator[Any, None, tuple[Hashable, Turn] | None]:
        """Find the message of a chunk, or begin one. Returns None when it is over. Without a scope, each message is a reply."""
        message_id = message.get("id") if isinstance(message.get("id"), str) else None
        rank = _rank(message_id) if message_id else None
        found = self._messages.get((scope, message_id)) if message_id else None
        current = self._current.get((scope, lane))
        if found is None and current is not None and not current[1].finished:
            turn = current[1]
            same = rank is None or (rank not in turn.ids and (not turn.stopped or is_empty(message)))
            found = current if same else None
        if found is None and message_id in self._over:
            return None
        if found is None:
            if current is not None and current[1].stopped:
                yield from self.end_turn(*current)
            self._count += 1
            key = scope if scope is not None else ("message", self._count)
            given = {"name": message.get("name"), **_provider(message)}
            yield from self.reply(key, message_id or "", single=scope is None, facts={k: v for k, v in given.items() if v})
            reply = self.open[key]
            yield from reply.add((lane, self._count), model, facts)
            found = key, reply.turns[lane, self._count]
            self._current[scope, lane] = found
        key, turn = found
        if message_id and rank is not None:
            turn.ids.setdefault(rank, message_id)
            self._messages[scope, message_id] = found
        return found

    def end_turn(self, key: Hashable, turn: Turn) -> Iterator[Any]:
        """End a message, and its reply, if that is all of it."""
        yield from turn.finish()
        for message_id in turn.ids.values():
            self._over[message_id] = None
            self._messages = {place: found for place, found in self._messages.items() if found[1] is not turn}
        while len(self._over) > _KEPT:
            del self._over[next(iter(self._over))]
        reply = self.open.get(key)
        if reply is not None and reply.single:
            yield from self.close(key)

    def close(self, key: Hashable, reason: str = "completed", error: Wire | None = None) -> Iterator[Any]:
        """End a reply."""
        reply = self.open.pop(key)
        yield from reply.settle(reason, error)
        if reply.parked:
            self._waiting.update((reply.parts[call].id, reply) for call in reply.waiting())

    def is_over(self, message_id: Any) -> bool:
        """Tell whether a message of the id has ended."""
        return isinstance(message_id, str) and message_id in self._over

    def owner(self, call_id: Any) -> tuple[Reply, Hashable] | None:
        """Find the reply that has a call, and the call's key."""
        if not isinstance(call_id, str):
            return None
        for reply in reversed(self.open.values()):
            key = reply.key_of(call_id)
            if key is not None:
                return reply, key
        reply = self._waiting.get(call_id)
        return None if reply is None else (reply, reply.key_of(call_id))

    def result(self, call_id: Any, output: str | list[Wire], state: str, metadata: Wire | None) -> Generator[Any, None, bool]:
        """Give the result of a call. Returns whether there is such a call."""
        found = self.owner(call_id)
        if found is None:
            return False
        reply, key = found
        if reply.parked:
            yield from reply.answer(key, output, state, metadata)
            if not reply.parked:
                self._waiting = {name: other for name, other in self._waiting.items() if other is not reply}
            return True
        for turn in reply.turns.values():
            for call in turn.calls:
                if call.key == key:
                    yield from turn.calls.end(call)
        if not reply.parts[key].answered:
            yield from reply.close_result(key, output, state, metadata)
        return True

    def ask(self, interrupts: Any) -> None:
        """Note which calls a user is asked about."""
        for interrupt in interrupts if is_array(interrupts) else [interrupts]:
            payload = interrupt.get("value", interrupt.get("payload")) if is_object(interrupt) else None
            requests = payload.get("action_requests") if is_object(payload) else payload
            for request in requests if is_array(requests) else [requests]:
                action = request.get("action_request", request) if is_object(request) else None
                name = action.get("name", action.get("action")) if is_object(action) else None
                for reply in self.open.values():
                    waiting = [key for key in reply.waiting() if key not in reply.asked and reply.parts[key].name == name]
                    reply.asked.update(waiting[:1])

    def current(self, scope: Hashable, lane: Hashable) -> Turn | None:
        """Give the message that is being written in a lane."""
        found = self._current.get((scope, lane))
        return None if found is None or found[1].finished else found[1]

    def said(self, message: Wire, role: str, output: str | list[Wire]) -> Iterator[Any]:
        """Give what a human or the system said, as a reply of its own."""
        self._count += 1
        key, message_id = ("said", self._count), message.get("id")
        wanted = message_id if isinstance(message_id, str) else ""
        known = {"content", "type", "id", "name"}
        facts = {name: copy_json(item) for name, item in message.items() if name not in known and item not in (None, {}, [], False)}
        yield from self.reply(key, wanted, role=role, facts={**facts, "name": message.get("name")})
        reply = self.open[key]
        for place, block in enumerate(blocks_of(output)):
            if block["type"] == "text":
                yield from reply.write("text", place, block["text"])
                yield from reply.close(place)
            elif role == "user":
                source = block["source"]
                content = {"url": source["url"]} if "url" in source else {"data": source["data"]}
                yield from reply.data(place, source["media_type"], **content)
                yield from reply.close(place)
        self._over[wanted] = None
        yield from self.close(key)

    def custom(self, name: str, value: Wire) -> Any:
        """Make a CUSTOM event of what no message holds."""
        return self._make(structs.CustomEvent, name=f"langchain.{name}", value=copy_json(value))

    def _free(self, wanted: str) -> str:
        wanted = wanted or "langchain"
        count = self._ids.get(wanted, 0)
        self._ids[wanted] = count + 1
        return f"{wanted}#{count}" if count else wanted


def _rank(message_id: str) -> int:
    """Rank an id as LangChain does: a provider's before that of a run, and that before others of its own."""
    if message_id.startswith("lc_run-"):
        return 1
    return 0 if message_id.startswith("lc_") else 2


def _provider(message: Wire) -> Wire:
    facts = message.get("response_metadata")
    return {"model_provider": facts["model_provider"]} if is_object(facts) and isinstance(facts.get("model_provider"), str) else {}
