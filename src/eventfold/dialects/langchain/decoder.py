"""
Values of LangChain and LangGraph -> events.

Each value says by its shape what it is: a message or chunk, an event of astream_events v2, an event of the content-block protocol
(stream_events v3), an envelope of the agent protocol around one, or a stream mode of LangGraph with its payload. Lines that are
pairs of a message and its metadata come one value after the other: until it is known whether they do, and while they do, a
message waits for what comes next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.halves import repaired
from eventfold.dialects.run import json_text
from eventfold.dialects.translation import UNFIT, UNKNOWN, Decoder, Unfit
from eventfold.jsonvalue import copy_json, depth_of, is_array, is_object
from eventfold.wire import InvalidEvent

from .agent import Agent
from .chunks import chunk, is_whole, message_of, output_of, result_of
from .fields import name_in
from .graph import MODES, Graph, Item
from .protocol import EVENTS, Messages, model_name
from .replies import Replies
from .runs import RUN_EVENTS, runs
from .states import INTERRUPT

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from eventfold.shape import Wire

    from .turn import Turn

#: Nesting that is read.
_DEEPEST = 100
_ROLES = {"human": "user", "system": "system"}


def is_metadata(value: Any) -> bool:
    """Tell what a graph says about a message."""
    return is_object(value) and "type" not in value and ("langgraph_node" in value or "langgraph_step" in value)


class LangChainDecoder(Decoder):
    """Reads a stream of LangChain or LangGraph."""

    halves = True

    def __init__(self) -> None:
        super().__init__()
        self.replies = Replies(self.event, self.remark)
        self.messages = Messages(self)
        self._graph = Graph(self)
        self._agent = Agent(self)
        self._last: Turn | None = None
        #: Whether each message is followed by its metadata, as in lines of a graph's pairs; None before that is known.
        self._paired: bool | None = None
        self._held: Wire | None = None  #: a message whose metadata may come next

    def decode(self, value: Any) -> Iterator[Any]:
        """Translate a value. Raises Unfit."""
        held, self._held = self._held, None
        if held is not None:
            if is_metadata(value):
                self._paired = True
                yield from self._value([held, value])
                return
            self._paired = bool(self._paired)
            yield from self._settle(held)
            self.late = len(self.remarks)
        if self._paired is not False and not self._graph.waits and depth_of(value) <= _DEEPEST and message_of(value) is not None:
            self._held = copy_json(value)
        else:
            yield from self._value(value)

    @property
    def open_to_others(self) -> bool:
        """Whether values of any making may come: the mode `custom` of a graph is its author's."""
        return self._graph.seen

    def _settle(self, held: Wire) -> Iterator[Any]:
        """Take a message that was held. What is wrong with it costs the next value nothing."""
        try:
            yield from self._value(held)
        except Unfit as error:
            self.remarks.append(error.remark)
        except InvalidEvent as error:
            self.remark(UNFIT, str(error))

    def _value(self, value: Any) -> Iterator[Any]:
        if depth_of(value) > _DEEPEST:
            raise Unfit(UNFIT, f"nests deeper than {_DEEPEST}")
        if self._graph.waits:
            yield from self._graph.payload(value)
        elif value is None:
            return  # LangGraph's server ends a stream so: `event: end`, `data: null`
        elif isinstance(value, str) and value in MODES:
            self._graph.announce(value)
        elif is_array(value):
            yield from self._graph.lists(value)
        elif not is_object(value):
            raise Unfit(UNFIT, f"a value is {type(value).__name__}, expected an object or a stream mode")
        else:
            yield from self._named(value)

    def _named(self, value: Wire) -> Iterator[Any]:
        """Take an object, which says what it is."""
        if (message := message_of(value)) is not None:
            self._graph.streams = True
            yield from self.message(message)
        elif name_in(value, "event") in RUN_EVENTS and isinstance(value.get("run_id"), str):
            yield from runs(self, value)
        elif value.get("type") == "event" and is_object(params := value.get("params")):
            yield from self._agent.envelope(value, params)
        elif name_in(value, "event") in EVENTS:
            yield from self.messages.event(value, None, (), {})
        else:
            yield from self._object(value)

    def done(self) -> Iterator[Any]:
        """Translate the text [DONE]: the end of what is open, which `end` sees to."""
        return iter(())

    def end(self) -> Iterator[Any]:
        """End what is open. A message or run that did not say that it ended was cut."""
        held, self._held = self._held, None
        if held is not None:
            yield from self._settle(held)
        yield from self._graph.flush()
        for key, reply in list(self.replies.open.items()):
            if reply.error is not None:
                yield from self.replies.close(key, "error", reply.error)
            elif reply.marked or not reply.complete():
                what = "the run did not end" if reply.marked else "a message did not end"
                self.remark("langchain.truncated", f"{what}: reply {reply.reply_id!r}")
                yield from self.replies.close(key, "error", {"type": "connection", "message": "the stream stopped before its end"})
            else:
                yield from self.replies.close(key)

    def message(self, message: Wire, scope: Hashable = None, lane: Hashable = "", facts: Wire | None = None) -> Iterator[Any]:
        """Take a chunk or message. Without a scope, each message of the model is a reply."""
        kind = message["type"]
        if kind in {"AIMessageChunk", "ai"}:
            yield from self._model(message, scope, lane, facts or {})
        elif kind == "tool":
            yield from self.tool_message(message)
        elif kind in _ROLES:
            yield from self._said(message, scope, _ROLES[kind])
        else:
            yield from self.unknown(f"message-{kind}", message)

    def _model(self, message: Wire, scope: Hashable, lane: Hashable, facts: Wire) -> Iterator[Any]:
        about = message.get("response_metadata")
        names = (facts.get("metadata"), about) if is_object(about) else (facts.get("metadata"),)
        found = yield from self.replies.turn(scope, lane, message, model_name(*names), facts)
        if found is None:
            self.remark("langchain.after-end", f"the message {message.get('id')!r} is over; what comes for it is dropped")
            return
        key, turn = found
        self._last = turn
        if is_whole(message) and turn.said:
            self.remark("langchain.after-end", f"the message {message.get('id')!r} comes again, whole; its chunks count")
        else:
            yield from chunk(turn, message)
        if is_whole(message) or message.get("chunk_position") == "last":
            yield from self.replies.end_turn(key, turn)

    def tool_message(self, message: Wire) -> Iterator[Any]:
        """Take the result of a tool."""
        output, state, metadata = result_of(message)
        found = yield from self.replies.result(message.get("tool_call_id"), output, state, metadata)
        if not found:
            self.remark("langchain.result-without-call", f"a result for {message.get('tool_call_id')!r}, which no call has")
            yield self.replies.custom("tool", message)

    def _said(self, message: Wire, scope: Hashable, role: str) -> Iterator[Any]:
        """Take what a human or the system says: a reply of its own, or a hint to a run that goes on."""
        rest: Wire = {}
        output = output_of(message.get("content"), rest)
        reply = self.replies.open.get(scope) if scope is not None else None
        if reply is not None:
            yield from reply.hint(output, message.get("type"))
            return
        if self.replies.is_over(message.get("id")):
            self.remark("langchain.after-end", f"the message {message.get('id')!r} comes again")
            return
        yield from self.replies.said(message, role, output)

    def unknown(self, name: str, value: Wire) -> Iterator[Any]:
        """Keep a value of no known kind."""
        self.remark(UNKNOWN, f"{name} is nothing that the dialect knows")
        yield self.replies.custom(name, {"value": value})

    def fail(self, error: Wire, value: Wire) -> Iterator[Any]:
        """End all that is open with an error; what else it says is kept."""
        yield self.replies.custom("error", {"data": value})
        if not self.replies.open:
            yield from self.replies.reply(("error", self.index), "")
        for key in list(self.replies.open):
            yield from self.replies.close(key, "error", error)

    def _object(self, value: Wire) -> Iterator[Any]:
        """Take an object that is none of these: metadata of a chunk, of a run, an error of the server."""
        if self._last is not None and ("langgraph_node" in value or "langgraph_step" in value):
            self._last.facts.setdefault("metadata", copy_json(value))
        elif isinstance(value.get("run_id"), str) and set(value) <= {"run_id", "attempt", "thread_id"}:
            yield self.replies.custom("metadata", value)
        elif "error" in value and set(value) <= {"error", "message", "status_code", "code"}:
            said = value.get("message") or value["error"]
            yield from self.fail({"type": "upstream", "message": repaired(said if isinstance(said, str) else json_text(said))}, value)
        elif self._graph.takes(value):
            yield from self._graph.state(value)
        elif INTERRUPT in value:
            yield from self._graph.item(Item("updates", [], value))
        else:
            yield from self.unknown("value", value)
