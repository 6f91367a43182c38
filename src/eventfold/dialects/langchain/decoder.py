"""
Values of LangChain and LangGraph -> events.

Each value says by its shape what it is: a message or chunk, an event of astream_events v2, an event of the content-block protocol
(stream_events v3), an envelope of the agent protocol around one, or a stream mode of LangGraph with its payload, as one list or,
where a list was taken apart on the way, as one value after the other.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from eventfold.dialects.run import joined, json_text
from eventfold.dialects.translation import UNFIT, UNKNOWN, Decoder, Unfit
from eventfold.jsonvalue import copy_json, depth_of, is_array, is_object

from .chunks import chunk, is_whole, message_of, output_of, result_of
from .protocol import EVENTS, Blocks
from .replies import Replies
from .runs import RUN_EVENTS, runs

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from eventfold.shape import Wire

    from .replies import Reply
    from .turn import Turn

#: The stream modes of LangGraph.
MODES = frozenset({"messages", "values", "updates", "custom", "debug", "checkpoints", "tasks", "messages-tuple", "events"})
#: Nesting that is read.
_DEEPEST = 100
_ROLES = {"human": "user", "system": "system"}


class LangChainDecoder(Decoder):
    """Reads a stream of LangChain or LangGraph."""

    def __init__(self) -> None:
        super().__init__()
        self.replies = Replies(self.event, self.remark)
        self.blocks: dict[int, Blocks] = {}  #: readers of turns, by the turn
        self._mode: str | None = None  #: a mode whose payload comes next
        self._namespace: list[Any] = []
        self._metadata: Wire | None = None  #: of the graph's last chunk
        self._last: Turn | None = None
        self._steps: dict[Hashable, int] = {}
        self._run: Hashable = ("graph", 0)
        self._runs = 0
        self._results: dict[Hashable, tuple[Any, list[str]]] = {}  #: tool messages that come in blocks: the call, the text
        self._protocol_key: Hashable = ("protocol", 0)
        self._event_ids: set[Any] = set()
        self._graph: Wire | None = None  #: what the run that goes on said of itself

    def decode(self, value: Any) -> Iterator[Any]:
        """Translate a value. Raises Unfit."""
        if depth_of(value) > _DEEPEST:
            raise Unfit(UNFIT, f"nests deeper than {_DEEPEST}")
        if self._mode is not None:
            mode, self._mode = self._mode, None
            yield from self._payload(mode, self._namespace, value)
            self._namespace = []
        elif isinstance(value, str) and value in MODES:
            self._mode = value
        elif is_array(value):
            yield from self._list(value)
        elif not is_object(value):
            raise Unfit(UNFIT, f"a value is {type(value).__name__}, expected an object or a stream mode")
        elif (message := message_of(value)) is not None:
            yield from self.message(message)
        elif value.get("event") in RUN_EVENTS and isinstance(value.get("run_id"), str):
            yield from runs(self, value)
        elif value.get("type") == "event" and is_object(params := value.get("params")):
            yield from self._envelope(value, params)
        elif value.get("event") in EVENTS:
            yield from self._protocol(value, None, (), {})
        else:
            yield from self._object(value)

    def done(self) -> Iterator[Any]:
        """Translate the text [DONE]: the end of what is open, which `end` sees to."""
        return iter(())

    def end(self) -> Iterator[Any]:
        """End what is open. A message or run that did not say that it ended was cut."""
        for key, reply in list(self.replies.open.items()):
            if reply.error is not None:
                yield from self.replies.close(key, "error", reply.error)
            elif reply.marked or not reply.complete():
                what = "the run did not end" if reply.marked else "a message did not end"
                self.remark("langchain.truncated", f"{what}: reply {reply.reply_id!r}")
                yield from self.replies.close(key, "error", {"type": "connection", "message": "the stream stopped before its end"})
            else:
                yield from self.replies.close(key)

    # Messages.

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
        found = yield from self.replies.turn(scope, lane, message, _model_name(*names), facts)
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

    # LangGraph.

    def _list(self, value: list[Any]) -> Iterator[Any]:
        """Take a list: a mode and its payload, a namespace before them, or a chunk and its metadata."""
        if len(value) == 3 and is_array(value[0]) and isinstance(value[1], str):
            yield from self._payload(value[1], value[0], value[2])
        elif len(value) == 2 and isinstance(value[0], str):
            yield from self._payload(value[0], [], value[1])
        elif len(value) == 2 and message_of(value[0]) is not None and is_object(value[1]):
            yield from self._payload("messages", [], value)
        elif all(isinstance(item, str) for item in value):
            self._namespace = copy_json(value)  # of what comes next
        elif value and all(message_of(item) is not None for item in value):
            for item in value:
                yield from self.message({**item, "type": message_of(item)["type"]} if is_object(item) else item)
        else:
            yield from self.unknown("list", {"items": value})

    def _payload(self, mode: str, namespace: list[Any], payload: Any) -> Iterator[Any]:
        message = message_of(payload[0]) if is_array(payload) and len(payload) == 2 else None
        if mode.startswith("messages") and message is not None and is_object(payload[1]):
            yield from self._graph_message(message, payload[1])
        elif mode == "events" and is_object(payload):
            yield from self.decode(payload)
        else:
            said = {"payload": payload, **({"namespace": namespace} if namespace else {})}
            yield self.replies.custom(joined(mode), said)
            if mode == "updates" and is_object(payload) and "__interrupt__" in payload:
                self.ask(payload["__interrupt__"])

    def _graph_message(self, message: Wire, metadata: Wire) -> Iterator[Any]:
        """Take a message that a node of a graph gave."""
        namespace = metadata.get("langgraph_checkpoint_ns") or metadata.get("checkpoint_ns")
        lane = namespace if isinstance(namespace, str) else ""
        run_id, step = metadata.get("run_id"), metadata.get("langgraph_step")
        if isinstance(run_id, str) and run_id:
            scope: Hashable = ("graph", run_id)
        else:
            if isinstance(step, int) and "|" not in lane:
                if step < self._steps.get(self._run, step):
                    self._runs += 1  # a step that is lower than the last: another run has begun
                    yield from self.close_if_open(self._run)
                    self._run = ("graph", self._runs)
                self._steps[self._run] = step
            scope = self._run
        yield from self.message(message, scope, lane, {"metadata": copy_json(metadata)})

    def close_if_open(self, key: Hashable) -> Iterator[Any]:
        """End a run that another has followed."""
        if key in self.replies.open:
            yield from self.replies.close(key)

    def ask(self, interrupts: Any) -> None:
        """Note which calls a user is asked about."""
        for interrupt in interrupts if is_array(interrupts) else [interrupts]:
            payload = interrupt.get("value", interrupt.get("payload")) if is_object(interrupt) else None
            requests = payload.get("action_requests") if is_object(payload) else payload
            for request in requests if is_array(requests) else [requests]:
                action = request.get("action_request", request) if is_object(request) else None
                name = action.get("name", action.get("action")) if is_object(action) else None
                for reply in self.replies.open.values():
                    waiting = [key for key in reply.waiting() if key not in reply.asked and reply.parts[key].name == name]
                    reply.asked.update(waiting[:1])

    # The content-block protocol.

    def _envelope(self, value: Wire, params: Wire) -> Iterator[Any]:
        method, namespace, data = value.get("method"), params.get("namespace"), params.get("data")
        lane = tuple(str(item) for item in namespace) if is_array(namespace) else ()
        status = data.get("event") if is_object(data) else None
        begins = method == "lifecycle" and not lane and status in {"running", "started"}
        if begins and self._protocol_key not in self.replies.open:
            self._event_ids.clear()
        name = value.get("event_id", value.get("seq"))
        if isinstance(name, str | int) and name in self._event_ids:
            self.remark("langchain.redelivered", f"the event {name!r} came before")
            return
        self._event_ids.add(name if isinstance(name, str | int) else None)
        self._set_time(params.get("timestamp"))
        if method == "messages" and is_object(data) and data.get("event") in EVENTS:
            yield from self._protocol(data, self._protocol_key, (lane, data.get("run_id")), {"namespace": list(lane)} if lane else {})
        elif method == "tools" and is_object(data):
            yield from self._tool(data)
        elif method == "lifecycle" and not lane and is_object(data):
            yield from self._lifecycle(data)
        else:
            said = {"data": data, **({"namespace": list(lane)} if lane else {})}
            yield self.replies.custom(joined(str(method)), said)
            if method == "input.requested":
                self.ask(data)

    def _set_time(self, milliseconds: Any) -> None:
        if isinstance(milliseconds, int | float) and 0 <= milliseconds < 32503680000000:
            self.now = datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")

    def _lifecycle(self, data: Wire) -> Iterator[Any]:
        status, key = data.get("event"), self._protocol_key
        reply = self.replies.open.get(key)
        if status in {"running", "started"}:
            self._graph = {name: copy_json(item) for name, item in data.items() if name != "event"}
            if reply is not None:
                reply.marked = True
            return
        if reply is None or status not in {"completed", "failed", "interrupted"}:
            yield self.replies.custom("lifecycle", {"data": data})
            return
        if status == "failed" or reply.error is not None:
            message = data.get("error") if isinstance(data.get("error"), str) else None
            error = reply.error or {"type": "upstream", "message": joined(message or "the run failed")}
            yield from self.replies.close(key, "error", error)
        else:
            waits = reply.waiting()
            yield from self.replies.close(key, "completed" if waits or status == "completed" else "interrupted")
        self._runs += 1
        self._protocol_key = ("protocol", self._runs)
        self._graph = None

    def _protocol(self, value: Wire, scope: Hashable, lane: Hashable, facts: Wire) -> Iterator[Any]:
        """Take an event of a message. Without a scope, each message is a reply."""
        name = value["event"]
        tool = self._results.get(lane)
        if name == "message-start" and value.get("role") == "tool":
            self._results[lane] = (value.get("tool_call_id"), [])
        elif name == "message-start" and value.get("role") in {"human", "system", "user"}:
            self._results[lane] = (None, [])
            yield self.replies.custom("message", value)
        elif tool is not None and name != "message-start":
            yield from self._tool_blocks(lane, tool, value)
        elif name == "error":
            yield from self._failed(value, scope)
        else:
            self._results.pop(lane, None)
            yield from self._blocks(value, scope, lane, facts)

    def _blocks(self, value: Wire, scope: Hashable, lane: Hashable, facts: Wire) -> Iterator[Any]:
        message = {"id": value.get("id") if value["event"] == "message-start" else None}
        about = value.get("metadata")
        about = about if is_object(about) and value["event"] == "message-start" else {}
        provider = about.get("provider")
        if isinstance(provider, str):
            message["response_metadata"] = {"model_provider": provider}
        if isinstance(value.get("run_id"), str):
            facts = {**facts, "run_id": value["run_id"]}
        if value["event"] != "message-start" and self.replies.current(scope, lane) is None:
            self.remark("langchain.no-start", f"{value['event']} of a message that did not begin")
            if value["event"] in {"message-finish", "usage"}:
                return
        found = yield from self.replies.turn(scope, lane, message, _model_name(about), facts)
        if found is None:
            self.remark("langchain.after-end", f"the message {value.get('id')!r} is over")
            return
        key, turn = found
        reply = self.replies.open[key]
        if scope is not None and self._graph is not None:
            reply.marked, reply.facts = True, {**reply.facts, **self._graph}
        reader = self.blocks.setdefault(id(turn), Blocks(turn))
        yield from reader.feed(value)
        if turn.finished:
            del self.blocks[id(turn)]
            yield from self.replies.end_turn(key, turn)

    def _failed(self, value: Wire, scope: Hashable) -> Iterator[Any]:
        message = value.get("message")
        error = {"type": "upstream", "message": joined(message if isinstance(message, str) else json_text(value))}
        if scope is not None and scope in self.replies.open:
            self.replies.open[scope].error = error
            yield self.replies.custom("error", {"data": value})
            return
        yield from self.fail(error, value)

    def fail(self, error: Wire, value: Wire) -> Iterator[Any]:
        """End all that is open with an error; what else it says is kept."""
        yield self.replies.custom("error", {"data": value})
        if not self.replies.open:
            yield from self.replies.reply(("error", self.index), "")
        for key in list(self.replies.open):
            yield from self.replies.close(key, "error", error)

    def _tool_blocks(self, lane: Hashable, tool: tuple[Any, list[str]], value: Wire) -> Iterator[Any]:
        """Take the blocks of a message of a tool: its text, unless the tool's own events have told it."""
        call_id, texts = tool
        content, delta = value.get("content"), value.get("delta")
        if value["event"] == "content-block-finish" and is_object(content):
            texts.append(content["text"] if isinstance(content.get("text"), str) else json_text(content))
        elif value["event"] == "message-finish":
            del self._results[lane]
            if call_id is not None:
                yield from self.tool_message({"type": "tool", "tool_call_id": call_id, "content": "".join(texts)})
        elif value["event"] == "error":
            yield self.replies.custom("error", {"data": value})
        elif delta is not None and not is_object(delta):
            yield from self.unknown("delta", value)

    def _tool(self, data: Wire) -> Iterator[Any]:
        """Take an event of a tool that runs."""
        name, found = data.get("event"), self.replies.owner(data.get("tool_call_id"))
        if found is None:
            self.remark("langchain.result-without-call", f"{name} for {data.get('tool_call_id')!r}, which no call has")
            yield self.replies.custom("tools", {"data": data})
            return
        reply, key = found
        if name == "tool-started" and not reply.parked and key in reply.parts:
            yield from reply.open_result(key)
        elif name == "tool-output-delta" and not reply.parked and key in reply.running:
            delta = data.get("delta")
            yield from reply.result_text(key, delta if isinstance(delta, str) else json_text(delta))
        elif name == "tool-finished":
            yield from self._tool_end(reply, key, data)
        elif name == "tool-error":
            message = data.get("message")
            rest = {"langchain": {"code": copy_json(data["code"])}} if data.get("code") is not None else None
            output = joined(message if isinstance(message, str) else "")
            yield from self.replies.result(data.get("tool_call_id"), output, "error", rest)

    def _tool_end(self, reply: Reply, key: Hashable, data: Wire) -> Iterator[Any]:
        output = data.get("output")
        message = output if is_object(output) and "content" in output else {"content": output}
        said, state, rest = result_of({**message, "type": "tool"})
        streamed = reply.running.get(key)
        if streamed and isinstance(said, str):
            # The deltas have told it, or its beginning.
            said = said[len(streamed) :] if said.startswith(streamed) else ""
        yield from self.replies.result(data.get("tool_call_id"), said, state, rest)

    # The rest.

    def _object(self, value: Wire) -> Iterator[Any]:
        """Take an object that is none of these: metadata of a chunk, of a run, an error of the server."""
        if self._last is not None and ("langgraph_node" in value or "langgraph_step" in value):
            self._last.facts.setdefault("metadata", copy_json(value))
        elif isinstance(value.get("run_id"), str) and set(value) <= {"run_id", "attempt", "thread_id"}:
            yield self.replies.custom("metadata", value)
        elif "error" in value and set(value) <= {"error", "message", "status_code", "code"}:
            said = value.get("message") or value["error"]
            yield from self.fail({"type": "upstream", "message": joined(said if isinstance(said, str) else json_text(said))}, value)
        else:
            yield from self.unknown("value", value)


def _model_name(*places: Any) -> str:
    """Find the name of the model."""
    for place in places:
        for name in ("ls_model_name", "model", "model_name") if is_object(place) else ():
            if isinstance(place.get(name), str):
                return place[name]
    return ""


#: What gives events for a value of one kind.
Reader = "Callable[[LangChainDecoder, Wire], Iterator[Any]]"
