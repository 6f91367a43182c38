"""
The kinds of output items, as tables: what is a tool call, who runs it, and which of its fields say what.

Law: no field of an item is lost. What a block carries itself is taken out of the item; the rest stands in the block's
`x_openai` under the provider's own names, so that the item can be built again.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from eventfold.dialects.halves import mended, repaired
from eventfold.jsonvalue import is_array, is_object, object_of

Item = dict[str, Any]

#: The field of a block, and the key of a message's metadata.
FIELD, KEY = "x_openai", "openai"


class Call(NamedTuple):
    """An item that is a tool call. What it asks is our input, what it holds as answer is our result."""

    name: str = ""  #: of the tool; empty where the item has a field `name`
    raw: str = ""  #: the field that is the input, as text
    asked: tuple[str, ...] = ()  #: the fields that make the input, as JSON
    hosted: bool = False  #: the provider runs it, and the item holds the answer
    output: str = ""  #: the field that holds the answer
    answer: str = ""  #: the type of the item that holds the answer
    own_id: bool = False  #: it is known by `id`, not by `call_id`


CALLS: dict[str, Call] = {
    "function_call": Call(raw="arguments", answer="function_call_output"),
    "custom_tool_call": Call(raw="input", answer="custom_tool_call_output"),
    "mcp_approval_request": Call(raw="arguments", answer="mcp_approval_response", own_id=True),
    "computer_call": Call("computer", asked=("action", "actions"), answer="computer_call_output"),
    "local_shell_call": Call("local_shell", asked=("action",), answer="local_shell_call_output"),
    "shell_call": Call("shell", asked=("action",), answer="shell_call_output"),
    "apply_patch_call": Call("apply_patch", asked=("operation",), answer="apply_patch_call_output"),
    "tool_search_call": Call("tool_search", asked=("arguments",), answer="tool_search_output"),
    "program": Call("program", asked=("code",), answer="program_output"),
    "mcp_call": Call(raw="arguments", hosted=True, output="output", own_id=True),
    "mcp_list_tools": Call("mcp_list_tools", asked=("server_label",), hosted=True, output="tools", own_id=True),
    "file_search_call": Call("file_search", asked=("queries",), hosted=True, output="results", own_id=True),
    "web_search_call": Call("web_search", asked=("action",), hosted=True, own_id=True),
    "code_interpreter_call": Call("code_interpreter", asked=("code",), hosted=True, output="outputs", own_id=True),
}

#: Items that answer a call, and the field that holds the answer.
ANSWERS: dict[str, str] = {
    **{call.answer: "output" for call in CALLS.values() if call.answer and call.answer != "mcp_approval_response"},
    "program_output": "result",
    "tool_search_output": "tools",
}

#: Items with nothing to show, which go back as they came: empty thinking blocks.
OPAQUE = ("reasoning", "compaction", "additional_tools", "mcp_approval_response")

#: The kinds of items.
KINDS = frozenset({*CALLS, *ANSWERS, *OPAQUE, "message", "image_generation_call"})

#: What the contents and summaries of items are made of: kind of block, and the field that holds the text.
PARTS: dict[str, tuple[str, str]] = {
    "output_text": ("text", "text"),
    "refusal": ("text", "refusal"),
    "reasoning_text": ("thinking", "text"),
    "summary_text": ("thinking", "text"),
}

#: Fields of a part that stand beside those of its item.
BESIDE = ("annotations", "logprobs")


def rest_of(item: Item, *but: str) -> Item:
    """Copy an item without some fields. Null means absent."""
    return {repaired(key): mended(value) for key, value in item.items() if value is not None and key not in but}


def text_of(value: Any) -> str:
    """Give text that is meant to be a string: a gateway's object as JSON, null as nothing."""
    return "" if value is None else value if isinstance(value, str) else dumps(value)


def dumps(value: Any) -> str:
    """Write JSON as short as it gets."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def array_of(value: Any) -> list[Any]:
    """Give an array, or nothing."""
    return value if is_array(value) else []


def runs_here(item: Item) -> bool:
    """Tell whether a call's answer is the provider's affair."""
    kind = str(item.get("type"))
    if kind == "shell_call":
        return object_of(item.get("environment")).get("type") == "container_reference"
    return kind == "program" or (kind == "tool_search_call" and item.get("execution") == "server")


def input_of(item: Item, call: Call) -> str:
    """Give a call's input."""
    if call.raw:
        return text_of(item.get(call.raw))
    said = {name: mended(item[name]) for name in call.asked if item.get(name) is not None}
    return dumps(said) if said else ""


def call_id_of(item: Item, call: Call) -> str:
    """Give a call's id; empty when it has none."""
    ids = [item.get("id"), item.get("call_id")]
    return next((found for found in (ids if call.own_id else reversed(ids)) if isinstance(found, str) and found), "")


def rest_of_call(item: Item, call: Call, *, carried: bool) -> Item:
    """Give what a call and its result do not carry of an item; `carried` tells whether the input is the item's."""
    out = {"name", "call_id"} if not call.name else {"call_id"} if not call.own_id else set[str]()
    if carried:
        out |= {call.raw, *call.asked}
    if item.get(call.output):
        out.add(call.output)
    return rest_of(item, *out)


def output_of(item: Item, field: str) -> str:
    """Give a result as text: the provider's text, else JSON."""
    value = item.get(field)
    error = item.get("error")
    if not value and error:
        told = object_of(error).get("message")
        return repaired(told) if isinstance(told, str) else text_of(mended(error))
    return repaired(value) if isinstance(value, str) else dumps(mended(value)) if value else ""


def state_of(item: Item) -> str:
    """Give the state of a result."""
    if item.get("status") == "failed" or item.get("error"):
        return "error"
    return "interrupted" if item.get("status") == "incomplete" else "success"


def parts_of(item: Item) -> list[tuple[str, int, Item]]:
    """Give the parts of a message or reasoning item: in which list, at which place, what."""
    return [
        (name, i, part)
        for name in ("summary", "content")
        for i, part in enumerate(array_of(item.get(name)))
        if is_object(part) and part.get("type") in PARTS
    ]


def outline(item: Item) -> list[str]:
    """Give what an item says, to compare: its texts, its input."""
    call = CALLS.get(str(item.get("type")))
    if call is not None:
        return [input_of(item, call)]
    return [text_of(part.get(PARTS[part["type"]][1])) for _, _, part in parts_of(item)]
