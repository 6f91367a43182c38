"""
Events of LangChain's content-block protocol -> a turn: stream_events v3, and the channel `messages` of the agent protocol.

Law: a block is kept under its index and its kind, since some producers count text and reasoning apart. What finishes a block
is its last word; usage is that of the whole call, and the last one counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.run import json_text
from eventfold.jsonvalue import copy_json, is_object

from .content import CALLS, DATA, SERVER_CALLS, note_calls, part, said_by
from .turn import index_of, without

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from eventfold.shape import Wire

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
        kind = item.get("type")
        self._seen.add(index)
        if isinstance(kind, str) and kind in _TEXTS:
            ours, text, extra, named = said_by(item)
            yield from self._turn.begin(ours, index)
            yield from self._turn.write(ours, index, text, extra, **named)
        elif isinstance(kind, str) and (kind in CALLS or kind in SERVER_CALLS):
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
        kind = delta.get("type")
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
        kind = fields.get("type")
        if kind in {"tool_call_chunk", "server_tool_call_chunk"}:
            yield from self._turn.calls.snapshot(index, fields.get("id"), fields.get("name"), fields.get("args"))
        elif kind == "input_json_delta":
            # Anthropic's piece of the arguments, which a `tool_call_chunk` repeats.
            return
        elif isinstance(kind, str) and kind in _TEXTS:
            ours, _, extra, named = said_by(fields)
            yield from self._turn.write(ours, index, "", extra, **named)
        else:
            yield from self._turn.other({"index": index, "fields": fields})

    def _finish(self, value: Wire) -> Iterator[Any]:
        turn = self._turn
        index, item = _place(value)
        kind = item.get("type")
        if isinstance(kind, str) and kind in _TEXTS:
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
        server = item.get("type") in SERVER_CALLS
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
