"""
Messages of ours -> what a request to Anthropic holds: `system` and `messages`.

Law: every tool_use is answered by one tool_result, at the head of the next message of the user, and no tool_result lacks its
tool_use; thinking goes back only with Anthropic's own signature; empty text goes nowhere.
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

from .results import writing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from eventfold.dialects.turns import Answer, Turn
    from eventfold.shape import Wire

LOST_THINKING = "thinking that Anthropic has not signed"
LOST_BLANK = "text of nothing but white space"
LOST_DATA = "data that is neither an image nor a PDF nor plain text"
LOST_SPEAKER = "that data is the assistant's: the user says it"
LOST_ARGUMENTS = "arguments that are no JSON object: they are sent below the key INVALID_JSON"
LOST_ANSWER = "that a call has no result: it is answered with an error"
LOST_CALL = "that a result is one of a call that is not there: the user says it"
LOST_STATE = "the state of a result, if it is neither success nor error"
LOST_ID = "ids and names of tools with characters that the service refuses"
LOST_PLACE = "where system text stands, after others have spoken"
LOST_HOSTED = "a call or result of Anthropic's own tools without the other, when the conversation goes on"

LOSSES = {
    LOST_THINKING: ("/content/*",),
    LOST_BLANK: ("/content/*", "/content/*/output/*", "/content/*/hint/*"),
    LOST_DATA: ("/content/*", "/content/*/output/*", "/content/*/hint/*"),
    LOST_SPEAKER: ("/content/*",),
    LOST_ARGUMENTS: ("/content/*/input",),
    LOST_ANSWER: ("/content/*/state",),
    LOST_CALL: ("/content/*",),
    LOST_STATE: ("/content/*/state",),
    LOST_ID: ("/content/*/id", "/content/*/name"),
    LOST_PLACE: ("/content/*",),
    LOST_HOSTED: ("/content/*",),
}

_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 128
#: Provider fields of other providers. A signature beside one of them is not Anthropic's.
_OTHERS = frozenset({"x_openai", "x_gemini"})


def write_messages(messages: Iterable[Wire]) -> Said:
    """Say messages as a request does: an object with `messages`, and `system` if there is any."""
    writer = _Writer()
    talk = Conversation((with_last(message, "anthropic") for message in messages), is_hosted, frozenset({"data"}))
    for i, turn in enumerate(talk.turns):
        writer.turn(turn, last=i == len(talk.turns) - 1)
    for item in talk.late:
        writer.lose(LOST_PLACE, item.pointer)
    system = [text for item in (*talk.system, *talk.late) for text in writer.text(item)]
    return Said({**({"system": system} if system else {}), "messages": writer.messages}, writer.losses)


def is_hosted(call: Wire) -> bool:
    """Tell whether a call is one of a tool that Anthropic runs."""
    return str(_provider_fields(call).get("type")).endswith("_tool_use")


class _Writer:
    def __init__(self) -> None:
        self.messages: list[Wire] = []
        self.losses: list[Loss] = []
        self._ids: set[str] = set()

    def lose(self, reason: str, pointer: str) -> None:
        self.losses.append(Loss(pointer, reason))

    def turn(self, turn: Turn, *, last: bool) -> None:
        """Write a turn; the results of its calls begin the next message of the user."""
        if turn.role == "user":
            self._add("user", [part for item in turn.items for part in self._of_user(item)])
            return
        ids = {answer.call.pointer: self._id(answer.call) for answer in turn.answers}
        self._add("assistant", [*self._of_assistant(turn, ids, last=last)])
        self._add("user", [self._answer(answer, ids[answer.call.pointer]) for answer in turn.answers])

    def text(self, item: Item) -> Iterator[Wire]:
        """Write text, with its citations."""
        text = item.block["text"]
        if text.strip():
            said = _provider_fields(item.block)
            yield {"type": "text", "text": text, **copy_json(_own(said))}
        elif text:
            self.lose(LOST_BLANK, item.pointer)

    def _add(self, role: str, content: list[Wire]) -> None:
        if not content:
            return
        if self.messages and self.messages[-1]["role"] == role:
            self.messages[-1]["content"] += content
        else:
            self.messages.append({"role": role, "content": content})

    def _of_user(self, item: Item) -> Iterator[Wire]:
        kind, block = item.block["type"], item.block
        if kind == "text":
            yield from self.text(item)
        elif kind == "hint":
            yield from self._parts(block["hint"], f"{item.pointer}/hint")
        elif kind == "tool_result":
            self.lose(LOST_CALL, item.pointer)
            yield from self._parts(block["output"], f"{item.pointer}/output")
        else:
            if item.speaker == "assistant":
                self.lose(LOST_SPEAKER, item.pointer)
            yield from self._data(item)

    def _of_assistant(self, turn: Turn, ids: dict[str, str], *, last: bool) -> Iterator[Wire]:
        hosted = [item.block["id"] for item in turn.items if item.block["type"] == "tool_result" and _is_real(item.block)]
        after: list[Wire] = []  # what no block of the turn follows
        for item in turn.items:
            block, fields = item.block, _provider_fields(item.block)
            if block["type"] == "tool_result":
                fields = object_of(object_of(block.get("metadata")).get("anthropic"))
            before = fields.get("before")
            yield from copy_json(before) if is_array(before) else ()
            if block["type"] == "text":
                yield from self.text(item)
            elif block["type"] == "thinking":
                yield from self._thinking(item)
            elif item.pointer in ids:
                yield self._call(item, ids[item.pointer], _own(fields))
                after += copy_json(fields["after"]) if is_array(fields.get("after")) else []
            elif block["type"] == "tool_call":
                if last or block["id"] in hosted:
                    yield self._call(item, block["id"], _own(fields))
                else:
                    self.lose(LOST_HOSTED, item.pointer)
            elif _is_real(block):
                result = writing(block["id"], text_of(block["output"]), fields)
                if result is None:
                    self.lose(LOST_HOSTED, item.pointer)
                else:
                    yield result
        yield from after

    def _thinking(self, item: Item) -> Iterator[Wire]:
        block = item.block
        data, signature = block.get("redacted_thinking_data"), block.get("signature")
        ours = not _OTHERS.intersection(block)
        if ours and isinstance(data, str) and data:
            yield {"type": "redacted_thinking", "data": data}
        elif ours and isinstance(signature, str) and signature:
            yield {"type": "thinking", "thinking": block["thinking"], "signature": signature}
        else:
            self.lose(LOST_THINKING, item.pointer)

    def _call(self, item: Item, call_id: str, fields: Wire) -> Wire:
        name = item.block["name"]
        allowed = _REFUSED.sub("_", name)[:_LONGEST_NAME] or "_"
        if allowed != name:
            self.lose(LOST_ID, f"{item.pointer}/name")
        return {"type": "tool_use", **copy_json(fields), "id": call_id, "name": allowed, "input": self._arguments(item)}

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

    def _answer(self, answer: Answer, call_id: str) -> Wire:
        said: Wire = {"type": "tool_result", "tool_use_id": call_id}
        if answer.result is None:
            self.lose(LOST_ANSWER, f"{answer.call.pointer}/state")
            return {**said, "content": "no result", "is_error": True}
        result = answer.result
        state = result.block.get("state") or "running"
        if state not in {"success", "error"}:
            self.lose(LOST_STATE, f"{result.pointer}/state")
        content = [*self._parts(result.block["output"], f"{result.pointer}/output")]
        if state == "success":
            return {**said, "content": content} if content else said
        # The service refuses an error that says nothing.
        return {**said, "content": content or state, "is_error": True}

    def _parts(self, value: Any, pointer: str) -> Iterator[Wire]:
        """Write text, or a list of text and data."""
        if isinstance(value, str):
            if value.strip():
                yield {"type": "text", "text": value}
            elif value:
                self.lose(LOST_BLANK, pointer.rsplit("/", 1)[0])
            return
        for i, block in enumerate(value):
            item = Item(f"{pointer}/{i}", block)
            yield from self.text(item) if block["type"] == "text" else self._data(item)

    def _data(self, item: Item) -> Iterator[Wire]:
        source = item.block["source"]
        media = source["media_type"].split(";")[0].strip().lower()
        media = "image/jpeg" if media == "image/jpg" else media
        name = item.block.get("name")
        title = {"title": name} if isinstance(name, str) and name else {}
        inline = {"type": "base64", "media_type": media, "data": source.get("data")}
        if media in _IMAGES:
            yield {"type": "image", "source": {"type": "url", "url": source["url"]} if source["type"] == "url" else inline}
        elif media == "application/pdf":
            yield {"type": "document", "source": {"type": "url", "url": source["url"]} if source["type"] == "url" else inline, **title}
        elif (text := _plain_text(media, source)) is not None:
            yield {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": text}, **title}
        else:
            self.lose(LOST_DATA, item.pointer)

    def _id(self, call: Item) -> str:
        """Give a call an id that the service takes, and that no other call of the request has."""
        given = call.block["id"]
        allowed = plain = _REFUSED.sub("_", given)
        while allowed in self._ids:
            allowed = f"{plain}_{len(self._ids)}"
        self._ids.add(allowed)
        if allowed != given:
            self.lose(LOST_ID, f"{call.pointer}/id")
        return allowed


def _own(fields: Wire) -> Wire:
    """Give the fields that are Anthropic's own."""
    return {key: value for key, value in fields.items() if key not in {"before", "after"}}


def _provider_fields(block: Wire) -> Wire:
    return object_of(block.get("x_anthropic"))


def _is_real(result: Wire) -> bool:
    """Tell whether a result is one that Anthropic gave, and not one that stands for none."""
    fields = object_of(object_of(result.get("metadata")).get("anthropic"))
    return str(fields.get("type")).endswith("_tool_result")


def _plain_text(media: str, source: Wire) -> str | None:
    if not media.startswith("text/") or source["type"] == "url":
        return None
    try:
        return b64decode(source["data"], validate=True).decode("utf-8") or None
    except ValueError:
        return None
