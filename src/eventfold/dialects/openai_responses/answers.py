"""
Calls, and what answers them, as items of a request.

Law: a call goes back as what it was: the provider knows a shell call from a function call. An answer is of the kind that
the call asks for.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from eventfold.jsonvalue import copy_json, is_array, is_object, object_of

from .content import part_of, text_in
from .items import ANSWERS, CALLS, FIELD, KEY, Call, Item, runs_here

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventfold.shape import Wire

_FUNCTION = CALLS["function_call"]

#: Fields that the provider asks for, and what they are when nothing is known.
_NEEDED: dict[str, Item] = {
    "code_interpreter_call": {"code": None, "outputs": None},
    "computer_call": {"pending_safety_checks": []},
    "mcp_list_tools": {"tools": []},
    "image_generation_call": {"result": None, "status": "failed"},
}


#: What kinds of calls of Chat Completions are here, where that is no function.
_CHAT = {"custom": "custom_tool_call"}

#: How an answer names its call, where it is not by `call_id`.
_NAMED = {"mcp_approval_request": "approval_request_id", "local_shell_call": "id"}


class Unsayable(ValueError):
    """A result that cannot be said as the answer that its call asks for."""


def restored(block: Wire, call_id: str, result: Wire | None) -> Item:
    """Give the item of a call that a client answers."""
    kind, call = _kind_of(block, result)
    own = object_of(block.get(FIELD)) if kind == object_of(block.get(FIELD)).get("type") else {}
    item = {**_NEEDED.get(kind, {}), **copy_json(own), "type": kind, **_input(block, call)}
    if call.own_id:
        item["id"] = call_id
    elif call_id != own.get("id"):
        item["call_id"] = call_id
    if not call.name:
        item["name"] = block["name"]
    if "status" in item and item["status"] not in {"in_progress", "completed", "incomplete"}:
        del item["status"]
    return item


def opaque_item(own: Item) -> Item:
    """Give the item of a block that only carries it."""
    return {**_NEEDED.get(str(own.get("type")), {}), **copy_json(own)}


def hosted_item(block: Wire, call: Call, result: Wire | None) -> Item:
    """Give the item of a call that the provider ran, with its answer."""
    own = copy_json(object_of(block.get(FIELD)))
    item = {**_NEEDED.get(own["type"], {}), "id": block["id"], **own, **_input(block, call)}
    if not call.name:
        item["name"] = block["name"]
    text = text_in(result["output"]) if result is not None else ""
    if call.output and call.output not in own and text and not own.get("error"):
        item[call.output] = text if call.raw else _parsed(text)
    return item


def answer_to(block: Wire, call_id: str, output: str | list[Item], result: Wire) -> Item:
    """Give the item that answers a call; none when the provider has the answer itself. Raises Unsayable."""
    kind, call = _kind_of(block, result)
    told = object_of(object_of(result.get("metadata")).get(KEY))
    own: Item = copy_json(told) if told.get("type") == call.answer else {}
    if runs_here(object_of(block.get(FIELD))) and not own:
        return {}
    said = _SAY.get(kind, _say_output)(result, output)
    named = {} if own and kind == "tool_search_call" and "call_id" not in own else {_NAMED.get(kind, "call_id"): call_id}
    holds = ANSWERS.get(call.answer)
    return {**said, **own, **({holds: said[holds]} if holds else {}), "type": call.answer, **named}


def _kind_of(block: Wire, result: Wire | None) -> tuple[str, Call]:
    """Tell what a call is sent as. An approval that a client has answered with a result was a call of that client."""
    kind = object_of(block.get(FIELD)).get("type")
    kind = _CHAT.get(kind, kind) if isinstance(kind, str) else ""
    if kind not in CALLS or CALLS[kind].hosted:
        return "function_call", _FUNCTION
    ran = kind == "mcp_approval_request" and result is not None and "output" in result and result.get("state") != "denied"
    return ("function_call", _FUNCTION) if ran else (kind, CALLS[kind])


def _input(block: Wire, call: Call) -> Item:
    if call.raw == "arguments":
        # The provider refuses arguments that are no text at all.
        return {call.raw: block["input"] or "{}"}
    if call.raw:
        return {call.raw: block["input"]}
    asked = _parsed(block["input"])
    return {name: asked[name] for name in call.asked if name in asked} if is_object(asked) else {}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _say_output(result: Wire, output: str | list[Item]) -> Item:
    del result
    return {"output": output}


def _approve(result: Wire, output: str | list[Item]) -> Item:
    if result["state"] == "success":
        return {"approve": True}
    text = text_in(result["output"]) if "output" in result else output
    return {"approve": False, **({"reason": text} if text else {})}


def _text(result: Wire, output: str | list[Item]) -> str:
    return text_in(result["output"]) if "output" in result else output if isinstance(output, str) else ""


def _shell(result: Wire, output: str | list[Item]) -> Item:
    text = _text(result, output)
    told = _parsed(text)
    if is_array(told) and told and all(is_object(chunk) and "outcome" in chunk for chunk in told):
        return {"output": told}
    code = 0 if result["state"] == "success" else 1
    return {"output": [{"stdout": text, "stderr": "", "outcome": {"type": "exit", "exit_code": code}}]}


def _patch(result: Wire, output: str | list[Item]) -> Item:
    return {"status": "completed" if result["state"] == "success" else "failed", "output": _text(result, output)}


def _screenshot(result: Wire, output: str | list[Item]) -> Item:
    told = _parsed(_text(result, output))
    if is_object(told) and told.get("type") == "computer_screenshot":
        return {"output": told}
    blocks = result.get("output")
    for block in blocks if is_array(blocks) else []:
        part = part_of(block)
        if part is not None and part["type"] == "input_image":
            return {"output": {"type": "computer_screenshot", "image_url": part["image_url"]}}
    raise Unsayable


def _tools(result: Wire, output: str | list[Item]) -> Item:
    told = _parsed(_text(result, output))
    return {"tools": told if is_array(told) else []}


def _program(result: Wire, output: str | list[Item]) -> Item:
    return {"result": _text(result, output)}


#: How an answer is said, where it is not text and data.
_SAY: dict[str, Callable[[Wire, str | list[Item]], Item]] = {
    "mcp_approval_request": _approve,
    "local_shell_call": lambda result, output: {"output": _text(result, output)},
    "shell_call": _shell,
    "apply_patch_call": _patch,
    "computer_call": _screenshot,
    "tool_search_call": _tools,
    "program": _program,
}
