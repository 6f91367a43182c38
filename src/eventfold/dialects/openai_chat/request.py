"""
Messages of ours -> messages[] of a request.

Law: the provider accepts what comes out. Every call has exactly one result, which follows the message of the call before
anything else does, and no result lacks its call. What cannot be said so is left out, and reported.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from eventfold_models.tables import MESSAGES

from eventfold.dialects.translation import Said
from eventfold.findings import Loss
from eventfold.jsonvalue import copy_json, is_array, is_object
from eventfold.shape import wire_of

from .delta import DETAILS, PIECES, REASONING, SECRET, SUMMARY
from .media import part_of
from .pairs import pairs_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eventfold.shape import Wire

    from .pairs import Place

THINKING = "thinking that no provider of this protocol wrote"
UNANSWERED = "that a tool call has no result: it is answered with a word that says so"
UNASKED = "that a text is a tool's: it answers no call, so the user says it"
STATE = "the state of a tool result that is not success"
WRITTEN = "that data is the assistant's: the user says it"
NO_PART = "data of a kind that the request has no part for"
NAME = "a name that the request does not take"
SILENT = "a message or hint that says nothing"

LOSSES: dict[str, tuple[str, ...]] = {
    THINKING: ("/content/*",),
    UNANSWERED: ("/content/*",),
    UNASKED: ("/content/*",),
    STATE: ("/content/*/state",),
    WRITTEN: ("/content/*",),
    NO_PART: ("/content/*", "/content/*/output/*", "/content/*/hint/*", "/content/*/x_openai/content"),
    NAME: ("/name",),
    SILENT: ("", "/content/*"),
}

_PLACE = re.compile(r"[0-9]{1,6}")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

#: What answers a call that nobody answered.
_NO_RESULT = "no result"
#: Kinds of calls whose input is text of any kind, here and in the Responses API.
_CUSTOM = frozenset({"custom", "custom_tool_call"})


def write_messages(messages: Iterable[Wire]) -> Said:
    """Write the messages of a request."""
    writer = _Writer([wire_of(message, MESSAGES[message["role"]]) for message in messages])
    return Said(writer.write(), sorted(writer.losses))


def _said_of(message: Wire) -> Wire:
    """Give what the provider said of a message, as the way in keeps it."""
    fields = message.get("metadata", {}).get("openai")
    return fields if is_object(fields) else {}


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
    read: list[str] = field(default_factory=list[str])  #: of sound that is sent back by its id: the provider has it
    calls: list[tuple[Wire, Place | None]] = field(default_factory=list[Any])  #: with the place of the result
    data: list[Wire] = field(default_factory=list[Any])  #: what the user says after it
    over: bool = False  #: whether a result was passed: what follows is of the next message

    def holds(self, call_id: str) -> bool:
        """Tell whether a call of this id is in it."""
        return any(entry["id"] == call_id for entry, _ in self.calls)


class _Writer:
    def __init__(self, messages: list[Wire]) -> None:
        self.messages = messages
        self.losses: list[Loss] = []
        self.out: list[Wire] = []
        self._pairs = pairs_of(messages)
        self._answers = frozenset(self._pairs.values())

    def write(self) -> list[Wire]:
        """Write all messages."""
        for i, message in enumerate(self.messages):
            before = len(self.out), len(self.losses)
            if message["role"] == "assistant":
                self._assistant(i, message)
            elif message["role"] == "tool":
                for j, block in enumerate(message["content"]):
                    self._orphan(block, (i, j))
                continue
            else:
                self._other(i, message)
            if before == (len(self.out), len(self.losses)):
                self._lose(SILENT, f"/{i}")
        return self.out

    def _other(self, i: int, message: Wire) -> None:
        """Write a message of the system or the user."""
        said = _said_of(message)
        content = self._parts(message["content"], f"/{i}/content", said.get("content"))
        if content:
            role = "developer" if (message["role"], said.get("role")) == ("system", "developer") else message["role"]
            self.out.append({"role": role, "content": content, **self._name(i, message)})

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

    def _parts(self, blocks: list[Wire], pointer: str, kept: Any = None) -> str | list[Wire]:
        """Write content: one text as a string, the rest as parts, with those that the way in kept, by their places. May be empty."""
        parts: list[Wire] = []
        for j, block in enumerate(blocks):
            part = part_of(block, own(block))
            if part is None:
                self._lose(NO_PART, f"{pointer}/{j}")
            else:
                parts.append(part)
        for place, part in _places(kept):
            parts.insert(place, part)
        return parts[0]["text"] if len(parts) == 1 and parts[0].get("type") == "text" else parts

    # --- the assistant ---------------------------------------------------------------------------

    def _assistant(self, i: int, message: Wire) -> None:
        turn = _Turn()
        heard = _heard(message)
        kept = _said_of(message).get("message")
        audio = kept.get("audio") if is_object(kept) else None
        if is_object(audio) and isinstance(audio.get("id"), str):
            turn.fields["audio"] = {"id": audio["id"]}
        for j, block in enumerate(message["content"]):
            kind = block["type"]
            if kind == "tool_result" and (i, j) in self._answers:
                turn.over = turn.over or any(place == (i, j) for _, place in turn.calls)
                continue
            again = kind == "tool_call" and turn.holds(block["id"])
            if turn.over or again or kind in {"hint", "tool_result"}:
                self._flush(i, turn)
                turn = _Turn()
            if kind == "text":
                kind = str(own(block).get("type"))
                texts = {"refusal": turn.refusal, "transcript": turn.read if heard else turn.text}.get(kind, turn.text)
                texts.append(block["text"])
            elif kind == "tool_result":
                self._orphan(block, (i, j))
            elif kind == "tool_call":
                self._call(turn, block, (i, j))
            else:
                say = {"hint": self._hint, "thinking": self._thinking, "data": self._data}[kind]
                say(turn, block, f"/{i}/content/{j}")
        self._flush(i, turn)

    def _hint(self, turn: _Turn, block: Wire, pointer: str) -> None:
        del turn
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
        name, text = fields.get("field"), block["thinking"]
        listed = next((known for known in PIECES if is_object(fields.get(known))), None)
        if listed is not None:
            piece = _piece(listed, fields[listed], block)
            if listed == SUMMARY:
                turn.parts.append({"type": "reasoning", SUMMARY: [piece]})
            else:
                turn.fields.setdefault(listed, []).append(piece)
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
        elif part is not None:
            turn.data.append(part)
            self._lose(WRITTEN, pointer)
        else:
            self._lose(NO_PART, pointer)

    def _flush(self, i: int, turn: _Turn) -> None:
        """Write a message of the assistant, the results of its calls, and what these hold besides text."""
        text, refusal = "".join(turn.text), "".join(turn.refusal)
        content: Any = text or (None if refusal or turn.calls or "audio" in turn.fields else "")
        if turn.parts:
            content = [*turn.parts, *([{"type": "text", "text": text}] if text else [])]
        said: Wire = {"role": "assistant", "content": content, **turn.fields, **self._name(i, self.messages[i])}
        if refusal:
            said["refusal"] = refusal
        if turn.calls:
            said["tool_calls"] = [entry for entry, _ in turn.calls]
        if text or refusal or turn.fields or turn.parts or turn.calls:
            self.out.append(said)
        data: list[Wire] = []
        for entry, place in turn.calls:
            answer = {"role": "tool", "tool_call_id": entry["id"], "content": _NO_RESULT}
            if place is not None:
                answer["content"], more = self._output(place, entry["id"])
                data += more
            self.out.append(answer)
        if data or turn.data:
            self.out.append({"role": "user", "content": [*data, *turn.data]})

    def _output(self, place: Place, call_id: str) -> tuple[str | list[Wire], list[Wire]]:
        """Give the text of a result, and its data, which the user shows: a tool's message holds text only."""
        pointer = f"/{place[0]}/content/{place[1]}"
        block = self.messages[place[0]]["content"][place[1]]
        if block.get("state", "running") != "success":
            self._lose(STATE, f"{pointer}/state")
        if own(block).get("content"):
            # A part that stood in a tool's message and that no block can hold, as the way in keeps it.
            self._lose(NO_PART, f"{pointer}/x_openai/content")
        output: Any = block["output"]
        if isinstance(output, str):
            return output, []
        data: list[Wire] = []
        for k, item in enumerate(output):
            part = part_of(item, own(item))
            if part is None:
                self._lose(NO_PART, f"{pointer}/output/{k}")
            elif item["type"] != "text":
                data.append(part)
        label = {"type": "text", "text": f"Data of the result of {block['name']} ({call_id}):"}
        return self._parts([item for item in output if item["type"] == "text"], "") or "", [label, *data] if data else []

    def _orphan(self, block: Wire, place: Place) -> None:
        """Write a result that answers no call as what the user says."""
        if place in self._answers:
            return
        self._lose(UNASKED, f"/{place[0]}/content/{place[1]}")
        text, data = self._output(place, block["id"])
        texts = text if not isinstance(text, str) else [{"type": "text", "text": text}] if text else []
        said = text if not data else [*texts, *data[1:]]
        if said:
            self.out.append({"role": "user", "content": said})


def _piece(name: str, kept: Wire, block: Wire) -> Wire:
    """Write a piece of a list of thinking: what was kept of it, its secrets, and its text, unless it is encrypted."""
    said: Wire = {field: block[called] for field, called in SECRET.items() if isinstance(block.get(called), str)}
    if block["thinking"] or "data" not in said:
        summed = name == DETAILS and str(kept.get("type")).endswith("summary")
        said["summary" if summed else PIECES[name][0]] = block["thinking"]
    return {**copy_json(kept), **said}


def _places(kept: Any) -> list[tuple[int, Wire]]:
    """Give the parts that no block can hold, with their places among all parts, as the way in keeps them."""
    held = kept.items() if is_object(kept) else ()
    found = [(int(place), copy_json(part)) for place, part in held if _PLACE.fullmatch(place) and is_object(part)]
    return sorted(found, key=itemgetter(0))


def _heard(message: Wire) -> bool:
    """Tell whether a message holds sound that is sent back by its id, which stands for its transcript as well."""
    audio = [own(block).get("audio") for block in message["content"] if block["type"] == "data"]
    return any(is_object(fields) and isinstance(fields.get("id"), str) for fields in audio)
