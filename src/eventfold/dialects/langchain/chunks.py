"""
AIMessageChunk, AIMessage and ToolMessage -> a turn, and results.

A message comes as LangChain's `model_dump` writes it, as `messages_to_dict` does (`type` and `data`), or as `dumpd` does
(`lc`, `id` and `kwargs`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.halves import repaired
from eventfold.dialects.run import base64_document, data_url, json_text
from eventfold.jsonvalue import copy_json, is_array, is_object

from .content import DATA, content, note_calls
from .fields import MEDIA_TYPES, merged, name_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

    from .turn import Turn

#: The class names of messages, and their types.
KINDS = {
    **{f"{name}Message{end}": kind for name, kind in (("Human", "human"), ("System", "system"), ("Tool", "tool")) for end in ("", "Chunk")},
    "AIMessage": "ai",
    "AIMessageChunk": "AIMessageChunk",
    "ChatMessage": "chat",
    "FunctionMessage": "function",
    "RemoveMessage": "remove",
}
#: The types of messages that are whole, or pieces.
TYPES = frozenset({*KINDS, *KINDS.values()})
#: Fields of a message that have a place of their own.
KNOWN = frozenset(
    {
        "content",
        "type",
        "id",
        "tool_calls",
        "invalid_tool_calls",
        "tool_call_chunks",
        "usage_metadata",
        "response_metadata",
        "additional_kwargs",
        "chunk_position",
    }
)
#: What says in response_metadata that the model has stopped.
STOPS = ("finish_reason", "stop_reason", "done_reason", "stopReason")


def message_of(value: Any) -> Wire | None:
    """Give a message in its flat form; None when it is none."""
    if not is_object(value):
        return None
    kind, data, kwargs = value.get("type"), value.get("data"), value.get("kwargs")
    if kind == "constructor" and value.get("lc") == 1 and is_object(kwargs) and is_array(names := value.get("id")) and names:
        kind = KINDS.get(str(names[-1]))
        return {"content": "", **kwargs, "type": kind} if kind is not None else None
    if not isinstance(kind, str) or kind not in TYPES:
        return None
    if is_object(data) and "content" in data and set(value) == {"type", "data"}:
        return {**data, "type": KINDS.get(kind, kind)}
    return {**value, "type": KINDS.get(kind, kind)} if "content" in value else None


def is_whole(message: Wire) -> bool:
    """Tell a whole message of the model from a piece."""
    return message["type"] == "ai"


def stopped(message: Wire) -> bool:
    """Tell whether a chunk says that the model has stopped."""
    facts = message.get("response_metadata")
    return (is_object(facts) and any(facts.get(name) for name in STOPS)) or message.get("chunk_position") == "last"


def is_empty(message: Wire) -> bool:
    """Tell whether a chunk has no content."""
    return not any(message.get(name) for name in ("content", "tool_call_chunks", "tool_calls", "invalid_tool_calls"))


def chunk(turn: Turn, message: Wire) -> Iterator[Any]:
    """Take a chunk, or a whole message, of the model."""
    pieces, whole, broken = (message.get(name) for name in ("tool_call_chunks", "tool_calls", "invalid_tool_calls"))
    kwargs = message.get("additional_kwargs")
    kwargs = dict(kwargs) if is_object(kwargs) else {}
    yield from _reasoning(turn, message, kwargs)
    yield from content(turn, message.get("content"), mirrored=bool(pieces or whole or broken))
    if is_array(pieces) and pieces:
        kwargs.pop("tool_calls", None)
        for piece in pieces:
            if is_object(piece):
                yield from turn.piece(_index(piece), piece.get("id"), piece.get("name"), piece.get("args"))
        note_calls(turn, message.get("content"))
    else:
        calls = [call for calls in (whole, broken) if is_array(calls) for call in calls if is_object(call)]
        for place, call in enumerate(calls):
            yield from turn.piece(("whole", place), call.get("id"), call.get("name"), _said(call.get("args")))
        if calls:
            kwargs.pop("tool_calls", None)
            note_calls(turn, message.get("content"))
    yield from _openai(turn, kwargs)
    _facts(turn, message, kwargs)
    turn.count(message.get("usage_metadata"))
    turn.stopped = turn.stopped or stopped(message)


def _reasoning(turn: Turn, message: Wire, kwargs: Wire) -> Iterator[Any]:
    """Take reasoning that stands beside the content, unless the content has some."""
    inside = message.get("content")
    kinds = {name_in(item, "type") for item in inside if is_object(item)} if is_array(inside) else set[str]()
    beside = kwargs.get("reasoning_content")
    if isinstance(beside, str) and not kinds & {"reasoning", "thinking"}:
        del kwargs["reasoning_content"]
        yield from turn.write("thinking", None, beside)
    refusal = kwargs.get("refusal")
    if isinstance(refusal, str) and "refusal" not in kinds:
        del kwargs["refusal"]
        yield from turn.write("text", None, refusal, {"type": "refusal"})


def _openai(turn: Turn, kwargs: Wire) -> Iterator[Any]:
    """Take calls that stand only where OpenAI's own format has them."""
    calls = kwargs.pop("tool_calls", None)
    for call in calls if is_array(calls) else ():
        function = call.get("function") if is_object(call) else None
        if is_object(call) and is_object(function):
            yield from turn.piece(_index(call), call.get("id"), function.get("name"), function.get("arguments"))
    function = kwargs.get("function_call")
    if (
        is_object(function)
        and ("name" in function or "arguments" in function)
        and all(call.index == "function_call" for call in turn.calls)
    ):
        del kwargs["function_call"]
        yield from turn.piece("function_call", None, function.get("name"), function.get("arguments"))


def _facts(turn: Turn, message: Wire, kwargs: Wire) -> None:
    rest = {key: copy_json(value) for key, value in message.items() if key not in KNOWN and value is not None}
    turn.facts.update(rest)
    if kwargs:
        turn.facts["additional_kwargs"] = merged(turn.facts.get("additional_kwargs", {}), kwargs)
    facts = message.get("response_metadata")
    if is_object(facts) and facts:
        # The last word counts: put together, a reason to stop that is sent twice would be "stopstop".
        known = {key: copy_json(value) for key, value in facts.items() if value is not None or key not in turn.facts}
        turn.facts["response_metadata"] = {**turn.facts.get("response_metadata", {}), **known}


def _said(arguments: Any) -> str:
    return "" if arguments is None else json_text(arguments)


def _index(piece: Wire) -> int | str | None:
    index = piece.get("index")
    return index if isinstance(index, int | str) else None


def result_of(message: Wire) -> tuple[str | list[Wire], str, Wire | None]:
    """Give what a ToolMessage says: the output, its state, its metadata."""
    state = "error" if message.get("status") == "error" else "success"
    known = {"content", "type", "status", "tool_call_id", "name"}
    rest = {key: copy_json(value) for key, value in message.items() if key not in known and value not in (None, {}, [])}
    return output_of(message.get("content"), rest), state, {"langchain": rest} if rest else None


def output_of(said: Any, rest: Wire) -> str | list[Wire]:
    """Give the content of a ToolMessage as output. Parts that no block of ours stands for go to the rest."""
    if not is_array(said):
        return "" if said is None else json_text(said)
    blocks: list[Wire] = []
    for item in said:
        block = _output_block(item, len(blocks))
        if block is None:
            rest.setdefault("content", []).append(copy_json(item))
        else:
            blocks.append(block)
    return blocks


def _output_block(item: Any, place: int) -> Wire | None:
    if isinstance(item, str):
        return {"type": "text", "id": f"{place}", "text": repaired(item)}
    if not is_object(item):
        return None
    kind, text = name_in(item, "type"), item.get("text")
    if kind in {"text", "output_text", "input_text"} and isinstance(text, str):
        return {"type": "text", "id": f"{place}", "text": repaired(text)}
    inner = item.get("source")
    source = inner if is_object(inner) else item
    url = item.get("image_url") if kind == "image_url" else source.get("url")
    url = url.get("url") if is_object(url) else url
    if kind not in {*DATA, "image_url"}:
        return None
    media_type = source.get("mime_type") or source.get("media_type") or MEDIA_TYPES["image" if kind == "image_url" else str(kind)]
    inline = data_url(url) if isinstance(url, str) else None
    document = inline[1] if inline else base64_document(source.get("base64") or source.get("data"))
    if document:
        found = {"type": "base64", "data": document, "media_type": inline[0] if inline else str(media_type)}
    elif isinstance(url, str) and url:
        found = {"type": "url", "url": url, "media_type": str(media_type)}
    else:
        return None
    return {"type": "data", "id": f"{place}", "source": found}
