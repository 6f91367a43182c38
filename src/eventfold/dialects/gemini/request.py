"""
Messages of ours -> what a request to Gemini holds: `contents` and `systemInstruction`.

Law: every functionCall is answered by one functionResponse, all of a turn in the content that follows it and nothing else with
them; signatures go back with the part on which they came.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from typing import TYPE_CHECKING, Any

from eventfold.dialects.translation import Said
from eventfold.dialects.turns import Conversation, Item, text_of, with_last
from eventfold.findings import Loss
from eventfold.jsonvalue import copy_json, is_array, is_object, object_of

from .parts import CODE, part_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from eventfold.dialects.turns import Answer, Turn
    from eventfold.shape import Wire

LOST_SIGNATURE = "what another provider signed or hid in thinking"
LOST_DATA = "data that is not base64"
LOST_ARGUMENTS = "arguments that are no JSON object: they are sent below the key INVALID_JSON"
LOST_ANSWER = "that a call has no result: it is answered with an error"
LOST_CALL = "that a result is one of a call that is not there: the user says it"
LOST_STATE = "the state of a result, if it is neither success nor error"
LOST_NAME = "names of functions with characters that the service refuses"
LOST_PLACE = "where system text stands, after others have spoken"
LOST_HOSTED = "a call or result of Gemini's own tools without the other, when the conversation goes on"

LOSSES = {
    LOST_SIGNATURE: ("/content/*",),
    LOST_DATA: ("/content/*", "/content/*/output/*", "/content/*/hint/*"),
    LOST_ARGUMENTS: ("/content/*/input",),
    LOST_ANSWER: ("/content/*/state",),
    LOST_CALL: ("/content/*",),
    LOST_STATE: ("/content/*/state",),
    LOST_NAME: ("/content/*/name",),
    LOST_PLACE: ("/content/*",),
    LOST_HOSTED: ("/content/*",),
}

_REFUSED = re.compile(r"[^a-zA-Z0-9_.:-]")
_LONGEST_NAME = 128
#: Fields of `x_gemini` that are ours and no part's.
_OURS = frozenset({"before", "after", "apart", "part", "id", "inlineData", "fileData", "functionCall"})


def write_messages(messages: Iterable[Wire]) -> Said:
    """Say messages as a request does: an object with `contents`, and `systemInstruction` if there is any."""
    writer = _Writer()
    talk = Conversation((with_last(message, "gemini") for message in messages), is_hosted)
    for i, turn in enumerate(talk.turns):
        writer.turn(turn, last=i == len(talk.turns) - 1)
    for item in talk.late:
        writer.lose(LOST_PLACE, item.pointer)
    system = [part for item in (*talk.system, *talk.late) for part in writer.text(item.block["text"], item.block)]
    return Said({"contents": writer.contents, **({"systemInstruction": {"parts": system}} if system else {})}, writer.losses)


def is_hosted(call: Wire) -> bool:
    """Tell whether a call is one of code or a tool that Gemini runs."""
    return object_of(call.get("x_gemini")).get("part") in {CODE, "toolCall"}


class _Writer:
    def __init__(self) -> None:
        self.contents: list[Wire] = []
        self.losses: list[Loss] = []

    def lose(self, reason: str, pointer: str) -> None:
        self.losses.append(Loss(pointer, reason))

    def turn(self, turn: Turn, *, last: bool) -> None:
        """Write a turn; the results of its calls are a content of their own."""
        if turn.role == "user":
            self._add("user", [part for item in turn.items for part in self._of_user(item)])
            return
        real = [item.block["id"] for item in turn.items if item.block["type"] == "tool_result" and "part" in _fields_of(item.block)]
        parts: list[Wire] = []
        for item in turn.items:
            before = _fields_of(item.block).get("before")
            parts += copy_json(before) if is_array(before) else []
            parts += self._of_model(item, kept=last or item.block.get("id") in real)
        for after in (_fields_of(item.block).get("after") for item in turn.items):
            parts += copy_json(after) if is_array(after) else []
        self._add("model", parts)
        if turn.answers:
            self.contents.append({"role": "user", "parts": [self._answer(answer) for answer in turn.answers]})

    def text(self, text: str, block: Wire, **more: Any) -> Iterator[Wire]:
        """Write text, and its signature on the part on which it came."""
        fields = object_of(block.get("x_gemini"))
        own = {**{key: copy_json(value) for key, value in fields.items() if key not in _OURS}, **more}
        thought = {"thought": True} if own.get("thought") is True else {}
        if fields.get("apart") is True:
            yield {"text": text, **thought}
            yield {"text": "", **own}
        elif text or set(own) - {"thought"}:
            yield {"text": text, **own}

    def _add(self, role: str, parts: list[Wire]) -> None:
        if not parts:
            return
        before = self.contents[-1] if self.contents else None
        if before is not None and before["role"] == role and not any("functionResponse" in part for part in before["parts"]):
            before["parts"] += parts
        else:
            self.contents.append({"role": role, "parts": parts})

    def _of_user(self, item: Item) -> Iterator[Wire]:
        kind, block = item.block["type"], item.block
        if kind == "text":
            yield from self.text(block["text"], block)
        elif kind == "hint":
            yield from self._parts(block["hint"], f"{item.pointer}/hint")
        elif kind == "tool_result":
            self.lose(LOST_CALL, item.pointer)
            yield from self._parts(block["output"], f"{item.pointer}/output")
        else:
            yield from self._data(item)

    def _of_model(self, item: Item, *, kept: bool) -> Iterator[Wire]:
        block, kind = item.block, item.block["type"]
        if kind == "text":
            yield from self.text(block["text"], block)
        elif kind == "thinking":
            yield from self._thinking(item)
        elif kind == "tool_result":
            fields = _fields_of(block)
            if "part" in fields:
                yield part_of(text_of(block["output"]), fields)
        elif kind != "tool_call":
            yield from self._data(item)
        elif not is_hosted(block):
            yield self._call(item)
        elif kept:
            yield self._hosted(item)
        else:
            self.lose(LOST_HOSTED, item.pointer)

    def _thinking(self, item: Item) -> Iterator[Wire]:
        block = item.block
        signature = block.get("signature")
        if "x_gemini" in block and isinstance(signature, str):
            yield from self.text(block["thinking"], block, thought=True, thoughtSignature=signature)
            return
        if signature is not None or block.get("redacted_thinking_data") is not None:
            self.lose(LOST_SIGNATURE, item.pointer)
        yield from self.text(block["thinking"], block, thought=True)

    def _call(self, item: Item) -> Wire:
        block, fields = item.block, object_of(item.block.get("x_gemini"))
        call = {
            **_id_of(block),
            "name": self._name(item),
            "args": self._arguments(item),
            **object_of(copy_json(fields.get("functionCall"))),
        }
        return {"functionCall": call, **{key: copy_json(value) for key, value in fields.items() if key not in _OURS}}

    def _hosted(self, item: Item) -> Wire:
        block, fields = item.block, object_of(item.block.get("x_gemini"))
        args = self._arguments(item)
        call = {**args, **_id_of(block)} if fields["part"] == CODE else {**_id_of(block), "toolType": block["name"], "args": args}
        return {fields["part"]: call, **{key: copy_json(value) for key, value in fields.items() if key not in _OURS}}

    def _name(self, item: Item) -> str:
        name = item.block["name"]
        allowed = _REFUSED.sub("_", name)[:_LONGEST_NAME] or "_"
        if allowed != name:
            self.lose(LOST_NAME, f"{item.pointer}/name")
        return allowed

    def _arguments(self, item: Item) -> Wire:
        text = item.block["input"]
        if not text.strip():
            return {}
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if is_object(value):
            return value
        self.lose(LOST_ARGUMENTS, f"{item.pointer}/input")
        return {"INVALID_JSON": text}

    def _answer(self, answer: Answer) -> Wire:
        call = answer.call.block
        name = _REFUSED.sub("_", call["name"])[:_LONGEST_NAME] or "_"
        said: Wire = {**_id_of(call), "name": name}
        if answer.result is None:
            self.lose(LOST_ANSWER, f"{answer.call.pointer}/state")
            return {"functionResponse": {**said, "response": {"error": "no result"}}}
        result = answer.result
        state = result.block.get("state") or "running"
        if state not in {"success", "error"}:
            self.lose(LOST_STATE, f"{result.pointer}/state")
        parts = [*self._parts(result.block["output"], f"{result.pointer}/output")]
        text = "\n".join(part["text"] for part in parts if "text" in part)
        data = [part for part in parts if "text" not in part]
        response = {"output": text} if state == "success" else {"error": text or state}
        return {"functionResponse": {**said, "response": response, **({"parts": data} if data else {})}}

    def _parts(self, value: Any, pointer: str) -> Iterator[Wire]:
        """Write text, or a list of text and data."""
        if isinstance(value, str):
            yield from [{"text": value}] if value else []
            return
        for i, block in enumerate(value):
            item = Item(f"{pointer}/{i}", block)
            yield from self.text(block["text"], {}) if block["type"] == "text" else self._data(item)

    def _data(self, item: Item) -> Iterator[Wire]:
        source, fields = item.block["source"], object_of(item.block.get("x_gemini"))
        own = {key: copy_json(value) for key, value in fields.items() if key not in _OURS}
        if source["type"] == "url":
            file = {"fileUri": source["url"], "mimeType": source["media_type"], **object_of(copy_json(fields.get("fileData")))}
            yield {"fileData": file, **own}
        elif _is_base64(source["data"]):
            blob = {"mimeType": source["media_type"], "data": source["data"], **object_of(copy_json(fields.get("inlineData")))}
            yield {"inlineData": blob, **own}
        else:
            self.lose(LOST_DATA, item.pointer)


def _fields_of(block: Wire) -> Wire:
    """Give Gemini's own fields of a block or result."""
    return object_of(object_of(block.get("metadata")).get("gemini")) if block["type"] == "tool_result" else object_of(block.get("x_gemini"))


def _id_of(call: Wire) -> Wire:
    """Give the id of a call, unless Gemini gave it none."""
    given = object_of(call.get("x_gemini")).get("id", call["id"])
    return {"id": given} if given else {}


def _is_base64(text: str) -> bool:
    try:
        b64decode(text, validate=True)
    except ValueError:
        return False
    return True
