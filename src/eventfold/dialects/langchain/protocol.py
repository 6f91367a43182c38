"""
Events of LangChain's content-block protocol -> a turn: stream_events v3, and the channel `messages` of the agent protocol.

Law: a block is kept under its index and its kind, since some producers count text and reasoning apart. What finishes a block
is its last word; usage is that of the whole call, and the last one counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.halves import repaired
from eventfold.dialects.run import json_text
from eventfold.jsonvalue import copy_json, is_object

from .content import CALLS, DATA, SERVER_CALLS, note_calls, part, said_by
from .fields import index_of, name_in, without

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from eventfold.shape import Wire

    from .decoder import LangChainDecoder
    from .turn import Turn

#: The events of one message.
EVENTS = frozenset(
    {"message-start", "content-block-start", "content-block-delta", "content-block-finish", "message-finish", "usage", "error"}
)
#: Fields of events that have a place of their own.
_KNOWN = frozenset({"event", "id", "role", "usage", "run_id", "index", "content", "content_block", "delta", "tool_call_id", "name"})
_TEXTS = frozenset({"text", "reasoning", "thinking", "refusal", "output_text"})


class Blocks:
    """Reads the events of one message."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._data: dict[Hashable, list[str]] = {}
        self._seen: set[Hashable] = set()

    def feed(self, value: Wire) -> Iterator[Any]:
        """Take an event, but for `error`."""
        turn, name = self._turn, value["event"]
        turn.replace_usage(value.get("usage"))
        if name == "content-block-start":
            yield from self._start(value)
        elif name == "content-block-delta":
            yield from self._delta(value)
        elif name == "content-block-finish":
            yield from self._finish(value)
        else:
            self._facts(value)
        if name == "message-finish":
            turn.stopped = True
            yield from turn.finish()

    def _facts(self, value: Wire) -> None:
        facts = self._turn.facts
        rest = without(value, _KNOWN | {"metadata", "responseMetadata"})
        if is_object(kwargs := rest.pop("additional_kwargs", None)):
            facts["additional_kwargs"] = {**facts.get("additional_kwargs", {}), **kwargs}
        facts.update(rest)
        for name in ("metadata", "responseMetadata"):
            said = value.get(name)
            if is_object(said) and said:
                facts["response_metadata"] = {**facts.get("response_metadata", {}), **copy_json(said)}

    def _start(self, value: Wire) -> Iterator[Any]:
        index, item = _place(value)
        kind = name_in(item, "type")
        self._seen.add(index)
        if kind in _TEXTS:
            ours, text, extra, named = said_by(item)
            yield from self._turn.begin(ours, index)
            yield from self._turn.write(ours, index, text, extra, **named)
        elif kind in CALLS or kind in SERVER_CALLS:
            arguments = item.get("args", item.get("input"))
            yield from self._turn.piece(index, item.get("id"), item.get("name"), arguments, server=kind in SERVER_CALLS)

    def _delta(self, value: Wire) -> Iterator[Any]:
        turn, index = self._turn, index_of(value)
        delta = value.get("delta")
        if not is_object(delta):
            old = value.get("content_block")  # what deltas were before they had types
            if is_object(old):
                yield from part(turn, {**old, "index": index})
            return
        kind = name_in(delta, "type")
        if kind in {"text-delta", "reasoning-delta"}:
            field, ours = ("text", "text") if kind == "text-delta" else ("reasoning", "thinking")
            text = delta.get(field)
            self._check(index)
            yield from turn.write(ours, index, text if isinstance(text, str) else "")
        elif kind == "tool-call-delta":
            self._check(index)
            yield from turn.piece(index, None, None, delta.get("args"))
        elif kind == "data-delta":
            data = delta.get("data")
            self._data.setdefault(index, []).append(data if isinstance(data, str) else "")
        elif kind == "block-delta" and is_object(fields := delta.get("fields")):
            yield from self._fields(index, fields)
        else:
            yield from turn.other({"index": index, "delta": delta})

    def _fields(self, index: Hashable, fields: Wire) -> Iterator[Any]:
        """Take fields of a block that replace those it had."""
        kind = name_in(fields, "type")
        if kind in {"tool_call_chunk", "server_tool_call_chunk"}:
            yield from self._turn.calls.snapshot(index, fields.get("id"), fields.get("name"), fields.get("args"))
        elif kind == "input_json_delta":
            # Anthropic's piece of the arguments, which a `tool_call_chunk` repeats.
            return
        elif kind in _TEXTS:
            ours, _, extra, named = said_by(fields)
            yield from self._turn.write(ours, index, "", extra, **named)
        else:
            yield from self._turn.other({"index": index, "fields": fields})

    def _finish(self, value: Wire) -> Iterator[Any]:
        turn = self._turn
        index, item = _place(value)
        kind = name_in(item, "type")
        if kind in _TEXTS:
            ours, text, extra, named = said_by(item)
            yield from turn.end(ours, index, text, extra, **named)
        elif kind in SERVER_CALLS or (kind == "invalid_tool_call" and _is_server(turn, index)):
            yield from turn.server_call({**item, "index": index}, item.get("id"), item.get("name") or "", None, None, None)
            yield from self._end_call(index, item)
        elif kind in CALLS or kind == "input_json_delta":
            yield from self._end_call(index, item)
        elif kind in DATA:
            pieces = "".join(self._data.pop(index, ()))
            yield from part(turn, {**({"base64": pieces} if pieces else {}), **item, "index": index})
        else:
            yield from part(turn, {**item, "index": index})

    def _end_call(self, index: Hashable, item: Wire) -> Iterator[Any]:
        turn = self._turn
        turn.said = True
        arguments = item.get("args", item.get("arguments"))
        server = name_in(item, "type") in SERVER_CALLS
        note = {key: value for key, value in item.items() if key != "input"}
        if turn.calls.find(index, "") is None:
            call_id, name = item.get("id"), item.get("name")
            yield from turn.piece(index, call_id, name, "" if arguments is None else json_text(arguments), server=server)
        if not server:
            note_calls(turn, [{**note, "type": "tool_call", "index": index}])
        yield from turn.calls.whole(index, item.get("id"), item.get("name"), arguments, server=server)

    def _check(self, index: Hashable) -> None:
        if index not in self._seen:
            self._seen.add(index)
            self._turn.remark("langchain.no-start", f"a delta of block {index!r}, which did not begin")


def _is_server(turn: Turn, index: Hashable) -> bool:
    call = turn.calls.find(index, "")
    return call is not None and call.server


def _place(value: Wire) -> tuple[Hashable, Wire]:
    """Give the index of a block and its content."""
    item = value.get("content")
    item = item if is_object(item) else value.get("content_block")
    return index_of(value), item if is_object(item) else {}


class Messages:
    """Reads the events of messages, of the model and of tools, and knows which is being written."""

    def __init__(self, decoder: LangChainDecoder) -> None:
        self._decoder = decoder
        self._readers: dict[int, Blocks] = {}  #: by the turn
        self._tools: dict[Hashable, tuple[Any, list[str]]] = {}  #: messages of tools: the call, the text

    def event(self, value: Wire, scope: Hashable, lane: Hashable, facts: Wire) -> Iterator[Any]:
        """Take an event of a message. Without a scope, each message is a reply."""
        name, role = value["event"], name_in(value, "role")
        if name == "message-start":
            self._tools.pop(lane, None)
        if name == "message-start" and role in {"tool", "human", "system", "user"}:
            self._tools[lane] = (value.get("tool_call_id") if role == "tool" else None, [])
            if role != "tool":
                yield self._decoder.replies.custom("message", value)
        elif lane in self._tools:
            yield from self._tool(lane, value)
        elif name == "error":
            yield from self._failed(value, scope)
        else:
            yield from self._model(value, scope, lane, facts)

    def _model(self, value: Wire, scope: Hashable, lane: Hashable, facts: Wire) -> Iterator[Any]:
        replies, begins = self._decoder.replies, value["event"] == "message-start"
        about = value.get("metadata")
        about = about if is_object(about) and begins else {}
        message: Wire = {"id": value.get("id") if begins else None}
        if isinstance(about.get("provider"), str):
            message["response_metadata"] = {"model_provider": about["provider"]}
        if isinstance(value.get("run_id"), str):
            facts = {**facts, "run_id": value["run_id"]}
        if not begins and replies.current(scope, lane) is None:
            self._decoder.remark("langchain.no-start", f"{value['event']} of a message that did not begin")
            if value["event"] in {"message-finish", "usage"}:
                return
        found = yield from replies.turn(scope, lane, message, model_name(about), facts)
        if found is None:
            self._decoder.remark("langchain.after-end", f"the message {value.get('id')!r} is over")
            return
        key, turn = found
        yield from self._readers.setdefault(id(turn), Blocks(turn)).feed(value)
        if turn.finished:
            del self._readers[id(turn)]
            yield from replies.end_turn(key, turn)

    def _failed(self, value: Wire, scope: Hashable) -> Iterator[Any]:
        """Take an error: of a run, which will end with it, or of a message."""
        message = value.get("message")
        error = {"type": "upstream", "message": repaired(message if isinstance(message, str) else json_text(value))}
        reply = self._decoder.replies.open.get(scope)
        if reply is not None:
            reply.error = error
            yield self._decoder.replies.custom("error", {"data": value})
        else:
            yield from self._decoder.fail(error, value)

    def _tool(self, lane: Hashable, value: Wire) -> Iterator[Any]:
        """Take the blocks of a message of a tool. Its deltas are in its finish."""
        call_id, texts = self._tools[lane]
        content = value.get("content")
        if value["event"] == "content-block-finish" and is_object(content):
            texts.append(content["text"] if isinstance(content.get("text"), str) else json_text(content))
        elif value["event"] == "message-finish":
            del self._tools[lane]
            if call_id is not None:
                yield from self._decoder.tool_message({"type": "tool", "tool_call_id": call_id, "content": "".join(texts)})
        elif value["event"] == "error":
            yield self._decoder.replies.custom("error", {"data": value})


def model_name(*places: Any) -> str:
    """Find the name of the model."""
    for place in places:
        for name in ("ls_model_name", "model", "model_name") if is_object(place) else ():
            if isinstance(place.get(name), str):
                return place[name]
    return ""
