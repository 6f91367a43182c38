"""
Events of astream_events v2 -> events.

Law: the root run is the reply; each chat model or LLM that runs in it is a model call. Chains repeat what runs inside them, so
that their events are kept as CUSTOM, and only the root's say when the reply begins and ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.halves import repaired
from eventfold.dialects.run import json_text
from eventfold.jsonvalue import copy_json, is_array, is_object

from .chunks import chunk, message_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

    from .decoder import LangChainDecoder

_KINDS = ("chat_model", "llm", "chain", "tool", "retriever", "prompt", "parser")
#: All events. on_*_error is what callbacks call it; of these v2 itself writes on_tool_error.
RUN_EVENTS = frozenset({f"on_{kind}_{what}" for kind in _KINDS for what in ("start", "stream", "end", "error")} | {"on_custom_event"})
#: Fields that are kept of a model's run.
_FACTS = ("run_id", "parent_ids", "name", "tags", "metadata")


def runs(decoder: LangChainDecoder, value: Wire) -> Iterator[Any]:
    """Take an event."""
    name, run_id = str(value["event"]), value["run_id"]
    parents = value.get("parent_ids")
    root = str(parents[0]) if is_array(parents) and parents else run_id
    data = value.get("data")
    data = data if is_object(data) else {}
    _, kind, what = name.replace("chat_model", "chatmodel").split("_", 2)
    if kind in {"chatmodel", "llm"} and what != "error":
        yield from _model(decoder, root, value, data, what)
    elif name in {"on_tool_end", "on_tool_error"}:
        yield from _tool(decoder, value, data, what)
    else:
        yield decoder.replies.custom(name, {key: item for key, item in value.items() if key != "event"})
    if run_id != root:
        return
    reply = decoder.replies.open.get(("v2", root))
    if what == "start":
        yield from decoder.replies.reply(("v2", root), root, facts={})
        decoder.replies.open["v2", root].marked = True
    elif reply is not None and what == "end":
        yield from decoder.replies.close(("v2", root))
    elif reply is not None and what == "error":
        said = data.get("error")
        message = repaired(said if isinstance(said, str) else json_text(said))
        yield from decoder.replies.close(("v2", root), "error", {"type": "upstream", "message": message})


def _model(decoder: LangChainDecoder, root: str, value: Wire, data: Wire, what: str) -> Iterator[Any]:
    """Take an event of a model's run."""
    replies, run_id, scope = decoder.replies, value["run_id"], ("v2", root)
    metadata = value.get("metadata")
    metadata = metadata if is_object(metadata) else {}
    about = {"ls_provider": metadata["ls_provider"]} if isinstance(metadata.get("ls_provider"), str) else {}
    yield from replies.reply(scope, root, facts=about)
    reply = replies.open[scope]
    model = metadata.get("ls_model_name")
    if run_id not in reply.turns:
        facts = {key: copy_json(value[key]) for key in _FACTS if value.get(key)}
        yield from reply.add(run_id, model if isinstance(model, str) else "", facts)
    turn = reply.turns[run_id]
    if what == "start":
        if data:
            yield replies.custom(str(value["event"]), {"run_id": run_id, "data": data})
        return
    if turn.finished:
        decoder.remark("langchain.after-end", f"the run {run_id!r} has ended")
        return
    given = data.get("chunk") if what == "stream" else data.get("output")
    message = message_of(given)
    if message is not None and (what == "stream" or not turn.said):
        if isinstance(message.get("id"), str):
            turn.ids[2] = message["id"]
        yield from chunk(turn, {**message, "usage_metadata": None} if what == "end" and turn.usage else message)
    elif message is None and (what == "stream" or not turn.said):
        yield from turn.write("text", None, _text(given))
    elif message is not None and not turn.usage:
        turn.count(message.get("usage_metadata"))
    if what == "end":
        yield from turn.finish()


def _tool(decoder: LangChainDecoder, value: Wire, data: Wire, what: str) -> Iterator[Any]:
    """Take the end of a tool's run: a ToolMessage, or several, or an error with the id of the call."""
    output = data.get("output")
    if what == "error" and isinstance(data.get("tool_call_id"), str):
        said = data.get("error")
        message = {"type": "tool", "tool_call_id": data["tool_call_id"], "content": said if isinstance(said, str) else json_text(said)}
        yield from decoder.tool_message({**message, "status": "error"})
        return
    messages = [found for item in (output if is_array(output) else [output]) if (found := message_of(item)) and found["type"] == "tool"]
    for message in messages:
        yield from decoder.tool_message(message)
    if not messages:
        yield decoder.replies.custom(str(value["event"]), {key: item for key, item in value.items() if key != "event"})


def _text(value: Any) -> str:
    """Give the text of what an LLM, which is no chat model, gave."""
    if isinstance(value, str):
        return value
    if not is_object(value):
        return ""
    if isinstance(value.get("text"), str):
        return value["text"]
    generations = value.get("generations")
    while is_array(generations) and generations:
        generations = generations[0]
    return _text(generations) if is_object(generations) and generations is not value else ""
