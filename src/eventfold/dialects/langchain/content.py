"""
Parts of a message's content -> what they say, by their type.

LangChain passes on what providers write: its own content blocks (version v1), those that it had before, and those of
Anthropic, OpenAI, Bedrock and Gemini. One row a type; what has no row is kept whole, in a CUSTOM event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.jsonvalue import is_array, is_object

from .fields import index_of, merged, name_in, without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventfold.shape import Wire

    from .turn import Turn

#: OpenAI's call of a tool that takes text.
CUSTOM_CALL = "custom_tool_call"
#: Calls that the client runs: where their id, name and arguments stand.
CALLS: dict[str, tuple[str, str, str]] = {
    "tool_call": ("id", "name", "args"),
    "tool_call_chunk": ("id", "name", "args"),
    "invalid_tool_call": ("id", "name", "args"),
    "tool_use": ("id", "name", "input"),
    "function_call": ("call_id", "name", "arguments"),
    CUSTOM_CALL: ("call_id", "name", "input"),
}
#: Calls that the provider runs: where their arguments stand.
SERVER_CALLS: dict[str, str] = {
    "server_tool_call": "args",
    "server_tool_call_chunk": "args",
    "server_tool_use": "input",
    "mcp_tool_use": "input",
}
#: Calls that the provider ran, with their result, as OpenAI writes them: name, fields of the arguments, field of the result.
SERVED: dict[str, tuple[str, tuple[str, ...], str]] = {
    "web_search_call": ("web_search", ("action",), ""),
    "file_search_call": ("file_search", ("queries",), "results"),
    "code_interpreter_call": ("code_interpreter", ("code",), "outputs"),
    "mcp_call": ("", ("arguments",), "output"),
    "mcp_list_tools": ("mcp_list_tools", (), "tools"),
}
#: Blocks of bytes, in the words of version v1.
DATA = ("image", "audio", "video", "file")


def content(turn: Turn, value: Any, *, mirrored: bool) -> Iterator[Any]:
    """Take the content of a chunk or message. `mirrored`: its calls stand in fields of their own as well."""
    if isinstance(value, str):
        yield from turn.write("text", None, value)
        return
    for item in value if is_array(value) else ():
        if isinstance(item, str):
            yield from turn.write("text", None, item)
        elif is_object(item):
            yield from part(turn, item, mirrored=mirrored)
        else:
            yield from turn.other(item)


def part(turn: Turn, item: Wire, *, mirrored: bool = False) -> Iterator[Any]:
    """Take a part of the content. What it says about a mirrored call is for `note_calls`, when the call is there."""
    kind = name_in(item, "type")
    if kind in CALLS or kind == "input_json_delta":
        yield from _call(turn, kind, item, mirrored=mirrored)
    elif kind in SERVER_CALLS:
        arguments = item.get("partial_json") or item.get(SERVER_CALLS[kind])
        yield from turn.server_call({**item, "type": kind.removesuffix("_chunk")}, item.get("id"), _name(item), arguments, None, None)
    elif kind in SERVED:
        yield from _served(turn, kind, item)
    elif kind == "server_tool_result":
        state = "error" if item.get("status") == "error" else "success"
        yield from turn.server_result(item, item.get("tool_call_id"), item.get("output"), state)
    elif kind.endswith("_tool_result") and "tool_use_id" in item:
        output = item.get("content")
        failed = item.get("is_error") or (is_object(output) and output.get("error_code"))
        yield from turn.server_result(item, item["tool_use_id"], output, "error" if failed else "success")
    elif kind in _HANDLERS:
        yield from _HANDLERS[kind](turn, item)
    else:
        yield from turn.other(item)


def said_by(item: Wire) -> tuple[str, str, Wire, Wire]:
    """Give the kind of block that a text or reasoning part is of, its text, its own fields, and those with a name of ours."""
    kind = name_in(item, "type")
    if kind == "refusal":
        return "text", _string(item.get("refusal")), {"type": "refusal", **without(item, {"type", "refusal", "index"})}, {}
    if kind in {"text", "output_text", "input_text"}:
        return "text", _string(item.get("text")), without(item, {"type", "text", "index"}), {}
    rest = without(item, {"type", "reasoning", "thinking", "index", "signature", "summary"})
    signature = item.get("signature") or rest.pop("signature", None)
    named = {"signature": signature} if isinstance(signature, str) else {}
    return "thinking", _string(item.get("thinking") if kind == "thinking" else item.get("reasoning")), rest, named


def _text(turn: Turn, item: Wire) -> Iterator[Any]:
    kind, text, extra, named = said_by(item)
    yield from turn.write(kind, index_of(item), text, extra, **named)


def _reasoning(turn: Turn, item: Wire) -> Iterator[Any]:
    """Take reasoning; OpenAI writes it as summaries, each a block of its own."""
    kind, text, extra, named = said_by(item)
    index, summaries = index_of(item), item.get("summary")
    parts = [each for each in summaries if is_object(each)] if is_array(summaries) else []
    if not parts:
        yield from turn.write(kind, index, text, extra, **named)
    for place, each in enumerate(parts):
        inner = index_of(each)
        key = (index, place if inner is None else inner) if index is not None else None
        # The item's own fields stand with its first summary.
        yield from turn.write(kind, key, _string(each.get("text")), extra if place == 0 else None, **(named if place == 0 else {}))


def _bedrock(turn: Turn, item: Wire) -> Iterator[Any]:
    inner = item.get("reasoning_content")
    inner = inner if is_object(inner) else {}
    signature = inner.get("signature")
    rest = without(inner, {"text", "signature"}) | without(item, {"type", "reasoning_content", "index"})
    named = {"signature": signature} if isinstance(signature, str) else {}
    yield from turn.write("thinking", index_of(item), _string(inner.get("text")), rest, **named)


def _redacted(turn: Turn, item: Wire) -> Iterator[Any]:
    rest = without(item, {"type", "data", "index"})
    yield from turn.write("thinking", index_of(item), "", rest, redacted_thinking_data=_string(item.get("data")))


def _wrapped(turn: Turn, item: Wire) -> Iterator[Any]:
    """Take what LangChain has no block for: some of it we have."""
    value = item.get("value")
    if is_object(value) and value.get("type") == "redacted_thinking":
        yield from _redacted(turn, {"index": item.get("index"), **value})
    else:
        yield from turn.other(item)


def _data(turn: Turn, item: Wire) -> Iterator[Any]:
    kind, source = str(item["type"]), item.get("source")
    if is_object(source):  # Anthropic's
        yield from turn.data(kind, item, source.get("media_type"), source.get("data"), source.get("url"))
    else:
        document = item.get("base64") if "base64" in item else item.get("data")
        yield from turn.data(kind, item, item.get("mime_type"), document, item.get("url"))


def _media(turn: Turn, item: Wire) -> Iterator[Any]:
    kind = _string(item.get("mime_type")).partition("/")[0]
    yield from turn.data(kind if kind in DATA else "file", item, item.get("mime_type"), item.get("data"), item.get("file_uri"))


def _image_url(turn: Turn, item: Wire) -> Iterator[Any]:
    url = item.get("image_url")
    yield from turn.data("image", item, None, None, url.get("url") if is_object(url) else url)


def _image_made(turn: Turn, item: Wire) -> Iterator[Any]:
    form = item.get("output_format")
    media_type = f"image/{form}" if isinstance(form, str) else None
    yield from turn.data("image", item, media_type, item.get("result"), None)


def _input_audio(turn: Turn, item: Wire) -> Iterator[Any]:
    inner = item.get("input_audio")
    inner = inner if is_object(inner) else {}
    yield from turn.data("audio", item, f"audio/{_string(inner.get('format')) or 'wav'}", inner.get("data"), None)


_HANDLERS: dict[str, Callable[[Turn, Wire], Iterator[Any]]] = {
    **dict.fromkeys(("text", "output_text", "input_text", "refusal", "thinking"), _text),
    **dict.fromkeys(DATA, _data),
    "reasoning": _reasoning,
    "reasoning_content": _bedrock,
    "redacted_thinking": _redacted,
    "non_standard": _wrapped,
    "media": _media,
    "image_url": _image_url,
    "image_generation_call": _image_made,
    "input_audio": _input_audio,
}


def _call(turn: Turn, kind: str, item: Wire, *, mirrored: bool) -> Iterator[Any]:
    index = index_of(item)
    if kind == "input_json_delta":
        known = turn.calls.find(index, "")
        if known is None or known.server or not mirrored:
            yield from turn.piece(index, None, None, item.get("partial_json") or item.get("input") or item.get("args"))
        return
    id_field, name_field, arguments_field = CALLS[kind]
    if not mirrored:
        yield from turn.piece(index, item.get(id_field), item.get(name_field), item.get(arguments_field))
        note_calls(turn, [item])


def note_calls(turn: Turn, value: Any) -> None:
    """Note what parts of the content say about calls besides what a call has names for."""
    for item in value if is_array(value) else ():
        kind = item.get("type") if is_object(item) else None
        if not is_object(item) or not isinstance(kind, str) or kind not in CALLS:
            continue
        call = turn.calls.find(index_of(item), _string(item.get(CALLS[kind][0])))
        rest = without(item, {*CALLS[kind], "type", "index", "partial_json", "error"})
        if kind == CUSTOM_CALL:
            rest["type"] = kind  # its input is no JSON, so that who sends it back has to know
        if call is not None and rest:
            call.extra = merged(call.extra, rest)


def _served(turn: Turn, kind: str, item: Wire) -> Iterator[Any]:
    name, fields, result = SERVED[kind]
    arguments = {field: item[field] for field in fields if item.get(field) is not None}
    [given] = arguments.values() if len(arguments) == 1 else [arguments]
    output = item.get(result) if result else None
    failed = item.get("status") == "failed" or item.get("error")
    if failed and output is None:
        output = item.get("error")
    said = given if is_object(given) or (isinstance(given, str) and kind == "mcp_call") else arguments
    rest = {key: value for key, value in item.items() if key not in fields and key != result}
    yield from turn.server_call(rest, item.get("id"), name or _name(item), said, output, "error" if failed else "success")


def _name(item: Wire) -> str:
    return _string(item.get("name"))


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
