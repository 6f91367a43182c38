"""
Messages of ours -> messages[] of a request.

Law: the provider accepts what comes out. Every call has exactly one result, which follows the message of the call before
anything else does, and no result lacks its call. What cannot be said so is left out, and reported.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eventfold_models.tables import MESSAGES

from eventfold.dialects.translation import Said
from eventfold.findings import Loss
from eventfold.jsonvalue import copy_json, is_array, is_object
from eventfold.shape import wire_of

from .choice import DETAILS, REASONING
from .media import part_of
from .pairs import pairs_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eventfold.shape import Wire

    from .pairs import Place

THINKING = "thinking that no provider of this protocol wrote"
UNANSWERED = "a tool call without a result"
UNASKED = "a tool result without a call"
STATE = "the state of a tool result that is not success"
WRITTEN = "data that the assistant wrote"
NO_PART = "data of a kind that the request has no part for"
NAME = "a name that the request does not take"
SILENT = "a message or hint that says nothing"

LOSSES: dict[str, tuple[str, ...]] = {
    THINKING: ("/content/*",),
    UNANSWERED: ("/content/*",),
    UNASKED: ("/content/*",),
    STATE: ("/content/*/state",),
    WRITTEN: ("/content/*",),
    NO_PART: ("/content/*", "/content/*/output/*", "/content/*/hint/*"),
    NAME: ("/name",),
    SILENT: ("", "/content/*"),
}

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

#: Kinds of calls whose input is text of any kind, here and in the Responses API.
_CUSTOM = frozenset({"custom", "custom_tool_call"})


def write_messages(messages: Iterable[Wire]) -> Said:
    """Write the messages of a request."""
    writer = _Writer([wire_of(message, MESSAGES[message["role"]]) for message in messages])
    return Said(writer.write(), sorted(writer.losses))


def own(block: Wire) -> Wire:
    """Give what the provider said of a block, as the way in keeps it."""
    fields = block.get("x_openai")
    return fields if is_object(fields) else {}


@dataclass(slots=True)
class _Turn:
    """What one message of the assistant says."""

    fields: Wire = field(default_factory=dict[str, Any])  #: thinking, images, audio, under their own names
    parts: list[Wire] = field(default_factory=list[Any])  #: thinking that stands in the content
    text: list[str] = field(default_factory=list[str])
    refusal: list[str] = field(default_factory=list[str])
    calls: list[tuple[Wire, Place]] = field(default_factory=list[Any])  #: with the place of the result
    answered: bool = False  #: whether a result was passed: what follows is of the next message

    def holds(self, call_id: str) -> bool:
        """Tell whether a call of this id is in it."""
        return any(entry["id"] == call_id for entry, _ in self.calls)


class _Writer:
    def __init__(self, messages: list[Wire]) -> None:
        self.messages = messages
        self.losses: list[Loss] = []
        self.out: list[Wire] = []
        self._pairs, unasked = pairs_of(messages)
        for i, j in unasked:
            self._lose(UNASKED, f"/{i}/content/{j}")

    def write(self) -> list[Wire]:
        for i, message in enumerate(self.messages):
            before = len(self.out)
            if message["role"] == "assistant":
                self._assistant(i, message)
            elif message["role"] != "tool":
                content = self._parts(message["content"], f"/{i}/content")
                if content:
                    self.out.append({"role": message["role"], "content": content, **self._name(i, message)})
            lost = any(loss.pointer.startswith(f"/{i}/content") for loss in self.losses)
            if len(self.out) == before and not lost and message["role"] != "tool":
                self._lose(SILENT, f"/{i}")
        return self.out

    def _lose(self, reason: str, pointer: str) -> None:
        self.losses.append(Loss(pointer, reason))

    def _name(self, i: int, message: Wire) -> Wire:
        name = message["name"]
        if name in {"", message["role"]}:
            return {}
        if _NAME.fullmatch(name):
            return {"name": name}
        if not any(loss.pointer == f"/{i}/name" for loss in self.losses):
            self._lose(NAME, f"/{i}/name")
        return {}

    def _parts(self, blocks: list[Wire], pointer: str) -> str | list[Wire]:
        """Write content: one text as a string, the rest as parts. Empty when there is nothing to say."""
        parts: list[Wire] = []
        for j, block in enumerate(blocks):
            part = part_of(block, own(block))
            if part is None:
                self._lose(NO_PART, f"{pointer}/{j}")
            else:
                parts.append(part)
        return parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts

    # --- the assistant ---------------------------------------------------------------------------

    def _assistant(self, i: int, message: Wire) -> None:
        turn = _Turn()
        for j, block in enumerate(message["content"]):
            kind = block["type"]
            if kind == "tool_result":
                turn.answered = turn.answered or any(place == (i, j) for _, place in turn.calls)
                continue
            if turn.answered or kind == "hint" or (kind == "tool_call" and turn.holds(block["id"])):
                self._flush(i, turn)
                turn = _Turn()
            if kind == "hint":
                self._hint(block, f"/{i}/content/{j}")
            elif kind == "tool_call":
                self._call(turn, block, (i, j))
            elif kind == "thinking":
                self._thinking(turn, block, f"/{i}/content/{j}")
            elif kind == "text":
                texts = {"refusal": turn.refusal, "transcript": None}.get(own(block).get("type", ""), turn.text)
                if texts is not None:
                    texts.append(block["text"])
                elif not _heard(message):
                    turn.text.append(block["text"])
            else:
                self._data(turn, block, f"/{i}/content/{j}")
        self._flush(i, turn)

    def _hint(self, block: Wire, pointer: str) -> None:
        hint = block["hint"]
        content = self._parts(hint, f"{pointer}/hint") if is_array(hint) else hint
        if content:
            self.out.append({"role": "user", "content": content})
        else:
            self._lose(SILENT, pointer)

    def _call(self, turn: _Turn, block: Wire, place: Place) -> None:
        answer = self._pairs.get(place)
        if answer is None:
            self._lose(UNANSWERED, f"/{place[0]}/content/{place[1]}")
            return
        fields = own(block)
        kept = fields.get("tool_call")
        entry: Wire = copy_json(kept) if is_object(kept) else {}
        kind, grows = ("custom", "input") if fields.get("type") in _CUSTOM else ("function", "arguments")
        inner = entry.get(kind)
        # A call without arguments has none to parse, which some providers take amiss.
        text = block["input"] or ("" if kind == "custom" else "{}")
        function = {**(inner if is_object(inner) else {}), "name": block["name"], grows: text}
        turn.calls.append(({**entry, "id": block["id"], "type": kind, kind: function}, answer))

    def _thinking(self, turn: _Turn, block: Wire, pointer: str) -> None:
        """Send thinking back under the name under which the provider wrote it."""
        fields = own(block)
        name, detail = fields.get("field"), fields.get(DETAILS)
        text = block["thinking"]
        if is_object(detail):
            secrets = {"signature": block.get("signature"), "data": block.get("redacted_thinking_data")}
            grows = "summary" if str(detail.get("type")).endswith("summary") else "text"
            said = {**({grows: text} if text or "data" not in detail else {}), **{k: v for k, v in secrets.items() if isinstance(v, str)}}
            turn.fields.setdefault(DETAILS, []).append({**copy_json(detail), **said})
        elif name in REASONING:
            turn.fields[name] = turn.fields.get(name, "") + text
        elif fields.get("type") == "thinking":
            turn.parts.append({**copy_json(fields), "thinking": [{"type": "text", "text": text}]})
        else:
            self._lose(THINKING, pointer)

    def _data(self, turn: _Turn, block: Wire, pointer: str) -> None:
        fields = own(block)
        audio = fields.get("audio")
        part = part_of(block, fields)
        if is_object(audio) and isinstance(audio.get("id"), str):
            turn.fields["audio"] = {"id": audio["id"]}
        elif fields.get("type") == "image_url" and part is not None:
            turn.fields.setdefault("images", []).append(part)
        else:
            self._lose(WRITTEN, pointer)

    def _flush(self, i: int, turn: _Turn) -> None:
        """Write a message of the assistant, the results of its calls, and what these hold besides text."""
        text, refusal = "".join(turn.text), "".join(turn.refusal)
        if not (turn.text or refusal or turn.fields or turn.parts or turn.calls):
            return
        content: Any = text or ("" if not (refusal or turn.calls or "audio" in turn.fields) else None)
        if turn.parts:
            content = [*turn.parts, *([{"type": "text", "text": text}] if text else [])]
        said: Wire = {"role": "assistant", "content": content, **turn.fields, **self._name(i, self.messages[i])}
        if refusal:
            said["refusal"] = refusal
        if turn.calls:
            said["tool_calls"] = [entry for entry, _ in turn.calls]
        self.out.append(said)
        data: list[Wire] = []
        for entry, place in turn.calls:
            data += self._result(entry["id"], place)
        if data:
            self.out.append({"role": "user", "content": data})

    def _result(self, call_id: str, place: Place) -> list[Wire]:
        """Write a result. Gives its data, which a message of the user shows: a tool's holds text only."""
        i, j = place
        block = self.messages[i]["content"][j]
        if block.get("state", "running") != "success":
            self._lose(STATE, f"/{i}/content/{j}/state")
        output: Any = block["output"]
        data: list[Wire] = []
        if is_array(output):
            texts = [item for item in output if item["type"] == "text"]
            for k, item in enumerate(output):
                part = part_of(item, own(item)) if item["type"] != "text" else None
                if part is not None:
                    data.append(part)
                elif item["type"] != "text":
                    self._lose(NO_PART, f"/{i}/content/{j}/output/{k}")
            output = self._parts(texts, "") or ""
        self.out.append({"role": "tool", "tool_call_id": call_id, "content": output})
        label = {"type": "text", "text": f"Data of the result of {block['name']} ({call_id}):"}
        return [label, *data] if data else []


def _heard(message: Wire) -> bool:
    """Tell whether a message holds sound that is sent back by its id, which stands for its transcript as well."""
    audio = [own(block).get("audio") for block in message["content"] if block["type"] == "data"]
    return any(is_object(fields) and isinstance(fields.get("id"), str) for fields in audio)
