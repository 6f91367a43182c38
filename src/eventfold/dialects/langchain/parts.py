"""
Blocks of ours -> parts of the content of LangChain's messages, and calls.

Law: they are LangChain's own content blocks (version v1). What only a provider knows stands in `extras`, where LangChain's models
look for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from eventfold.jsonvalue import copy_json, is_array, is_object

from .content import CUSTOM_CALL
from .fields import name_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

_MEDIA = {"image": "image", "audio": "audio", "video": "video"}


def arguments_of(text: str) -> Wire | None:
    """Read a call's arguments; None when they are no JSON object."""
    if not text.strip():
        return {}
    try:
        value = orjson.loads(text)
    except ValueError:
        return None
    return value if is_object(value) else None


def calls_of(block: Wire, call_id: str) -> Iterator[Wire]:
    """Write a call as a part of the content."""
    arguments, extra = arguments_of(block["input"]), block.get("x_langchain")
    # What OpenAI calls the id of a call's item is an extra in LangChain's own blocks.
    named = {"item_id" if key == "id" else key: copy_json(item) for key, item in extra.items()} if is_object(extra) else {}
    if "item_id" in named and arguments:
        named["arguments"] = block["input"]  # as the model wrote them
    extras = extras_of(named)
    if arguments is None:
        error = "the arguments are no JSON object"
        yield {"type": "invalid_tool_call", "id": call_id, "name": block["name"], "args": block["input"], "error": error, **extras}
        return
    if named.get("type") == CUSTOM_CALL:
        item = {"id": named.pop("item_id")} if "item_id" in named else {}
        given = arguments.get("__arg1", block["input"])  # LangChain's name for the text of such a call
        named = {key: value for key, value in named.items() if key not in {"type", "arguments"}}
        yield {
            "type": "non_standard",
            "value": {"type": CUSTOM_CALL, "call_id": call_id, "name": block["name"], "input": given, **item, **named},
        }
        return
    yield {"type": "tool_call", "id": call_id, "name": block["name"], "args": arguments, **extras}


def listed_calls(block: Wire) -> Iterator[Wire]:
    """Give what stands of a part of the content in `tool_calls`."""
    value = block.get("value")
    if block["type"] == "tool_call":
        yield bare(block, "tool_call")
    elif is_object(value) and value.get("type") == CUSTOM_CALL and "call_id" in value:
        yield {"id": value["call_id"], "name": value.get("name"), "args": {"__arg1": value.get("input")}, "type": "tool_call"}


def bare(block: Wire, kind: str) -> Wire:
    """Write a call as `tool_calls` or `invalid_tool_calls` have it."""
    names = ("id", "name", "args") if kind == "tool_call" else ("id", "name", "args", "error")
    return {**{name: copy_json(block[name]) for name in names}, "type": kind}


def parts_of(blocks: list[Wire]) -> list[Wire]:
    """Write blocks as parts of the content."""
    return [part for block in blocks for part in part_of(block)]


def part_of(block: Wire) -> Iterator[Wire]:
    """Write a block as a part of the content; a call or result is none."""
    own = block.get("x_langchain")
    extra: Wire = copy_json(own) if is_object(own) else {}
    kind = block["type"]
    if kind == "text" and extra.get("type") == "refusal":
        del extra["type"]
        yield {"type": "refusal", "refusal": block["text"], **_named(extra), **extras_of(extra)}
    elif kind == "text":
        notes = [*_listed(extra.pop("annotations", None)), *_listed(extra.pop("citations", None))]
        annotations = {"annotations": [_annotation(note) for note in notes]} if notes else {}
        yield {"type": "text", "text": block["text"], **_named(extra), **annotations, **extras_of(extra)}
    elif hides_for_openai(block):
        # Without its secrets, which LangChain's models would send to Anthropic.
        if block["thinking"]:
            yield {"type": "reasoning", "reasoning": block["thinking"], **_named(extra), **extras_of(extra)}
    elif kind == "thinking" and block.get("redacted_thinking_data") and not block["thinking"]:
        yield {"type": "non_standard", "value": {"type": "redacted_thinking", "data": block["redacted_thinking_data"]}}
    elif kind == "thinking":
        if isinstance(block.get("signature"), str):
            extra["signature"] = block["signature"]
        said = {"reasoning": block["thinking"]} if block["thinking"] else {}
        yield {"type": "reasoning", **said, **_named(extra), **extras_of(extra)}
    elif "source" in block:
        source = block["source"]
        media = _MEDIA.get(source["media_type"].partition("/")[0], "file")
        where = {"url": source["url"]} if source["type"] == "url" else {"base64": source["data"]}
        if block.get("name"):
            extra["name"] = block["name"]
        yield {"type": media, **where, "mime_type": source["media_type"], **extras_of(extra)}


def hides_for_openai(block: Wire) -> bool:
    """Tell whether thinking holds what an answer in OpenAI's form signed or hid: LangChain has no place in which that goes back."""
    secret = any(isinstance(block.get(name), str) and block[name] for name in ("signature", "redacted_thinking_data"))
    return block["type"] == "thinking" and block.get("x_openai") is not None and secret


def _named(extra: Wire) -> Wire:
    """Take the fields out that LangChain's own blocks have beside `extras`."""
    return {name: extra.pop(name) for name in ("id", "phase") if isinstance(extra.get(name), str)}


def _annotation(note: Any) -> Wire:
    """Write a provider's citation so that it comes back to it as it is."""
    known = is_object(note) and name_in(note, "type") in {"citation", "non_standard_annotation"}
    return copy_json(note) if known else {"type": "non_standard_annotation", "value": copy_json(note)}


def _listed(value: Any) -> list[Any]:
    return value if is_array(value) else []


def output_of_text(text: str) -> Any:
    """Read the output of a provider's tool, which stands as JSON text in ours."""
    try:
        value = orjson.loads(text)
    except ValueError:
        return text
    return value if is_object(value) or is_array(value) else text


def extras_of(extra: Wire) -> Wire:
    """Give fields as `extras`, if there are any."""
    return {"extras": extra} if extra else {}


def plain(parts: list[Wire]) -> str | list[Wire]:
    """Write text alone as a string."""
    if not parts:
        return ""
    if len(parts) == 1 and set(parts[0]) == {"type", "text"}:
        return parts[0]["text"]
    return parts
