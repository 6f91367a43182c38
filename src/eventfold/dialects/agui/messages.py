"""
Stored messages: ours as a list of AG-UI's, and back.

Law: what we write is read back whole, by `metadata.eventfold`. In a list of others, all that the agent said between two user
messages is one message of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models.tables import MESSAGES

from eventfold.dialects.translation import EPOCH, NAMESPACE, UNFIT, Said, Unfit
from eventfold.jsonvalue import copy_json, is_array, is_object, shown
from eventfold.shape import wire_of

from .content import LEFT, read_output, read_part, say_output, say_part
from .fitting import GONE, misfit, strip
from .lanes import FOREIGN, SPEAKER
from .names import Names
from .shapes import MESSAGE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eventfold.shape import Wire

#: Block -> the role of the message that says it, and the field of ours that its content says.
_TEXTUAL = {"text": "text", "thinking": "thinking"}
SIGNATURE = "signature"


def write_messages(messages: Iterable[Wire]) -> Said:
    """Give messages of ours as AG-UI's. Nothing is lost."""
    writer = _Writer()
    for message in messages:
        writer.write(wire_of(message, MESSAGES[message["role"]]))
    return Said(writer.said, [])


class _Writer:
    """Writes a list of messages, whose ids are unique in it."""

    def __init__(self) -> None:
        self.said: list[Wire] = []
        self._names = Names()
        self._carriers: dict[str, str] = {}

    def write(self, message: Wire) -> None:
        """Write a message. Its first one in AG-UI says all but the content."""
        first, role = len(self.said), message["role"]
        content: list[Wire] = message["content"]
        if role in {"user", "system"}:
            self._whole(message, content)
        else:
            for place, block in enumerate(content):
                self._block(message, place, block)
            if len(self.said) == first:
                self._add(message, "assistant", message["id"], {}, content="")
        head = {key: copy_json(value) for key, value in message.items() if key != "content"}
        self.said[first]["metadata"][NAMESPACE]["message"] = head

    def _add(self, message: Wire, role: str, key: str, own: Wire, /, **fields: Any) -> Wire:
        metadata = {NAMESPACE: {"of": message["id"], **own}}
        self.said.append({"id": self._names.take("message", key), "role": role, **fields, "metadata": metadata})
        return self.said[-1]

    def _whole(self, message: Wire, content: list[Wire]) -> None:
        """Write what a user or the system says: a string, or a user's parts."""
        named = {"name": message["name"]}
        if len(content) == 1 and content[0]["type"] == "text":
            self._add(
                message, message["role"], message["id"], {"at": 0, "block": _rest(content[0], "text")}, **named, content=content[0]["text"]
            )
        elif message["role"] == "user":
            self._add(message, "user", message["id"], {"parts": True}, **named, content=[say_part(block) for block in content])
        else:
            text = "".join(block["text"] for block in content)
            self._add(message, "system", message["id"], {"blocks": copy_json(content)}, **named, content=text)

    def _block(self, message: Wire, place: int, block: Wire) -> None:
        kind, key = block["type"], block["id"]
        if kind in _TEXTUAL:
            role = "assistant" if kind == "text" else "reasoning"
            encrypted = {"encryptedValue": block[SIGNATURE]} if isinstance(block.get(SIGNATURE), str) else {}
            field = _TEXTUAL[kind]
            self._add(message, role, key, {"at": place, "block": _rest(block, field)}, content=block[field], **encrypted)
        elif kind == "tool_call":
            self._call(message, place, block)
        elif kind == "tool_result":
            carrier = self._carriers.get(key, key)
            content, rests = say_output(block["output"])
            own: Wire = {"at": place, "block": _rest(block, "output"), **({"output": rests} if rests is not None else {})}
            self._add(message, "tool", f"{carrier}:result", own, toolCallId=carrier, content=content)
        else:
            own = {"at": place, "whole": True}
            self._add(message, "activity", key, own, activityType=f"{NAMESPACE}.{kind}", content=copy_json(block))

    def _call(self, message: Wire, place: int, block: Wire) -> None:
        """Write a call into the message of its round, or into one of its own."""
        last = self.said[-1] if place else None
        joins = last is not None and (last["role"] == "assistant") and last["metadata"][NAMESPACE]["of"] == message["id"]
        carrier = last if joins and last is not None else self._add(message, "assistant", block["id"], {})
        key = self._carriers[block["id"]] = self._names.take("call", block["id"])
        encrypted = {"encryptedValue": block[SIGNATURE]} if isinstance(block.get(SIGNATURE), str) else {}
        function = {"name": block["name"], "arguments": block["input"]}
        own = {NAMESPACE: {"at": place, "block": _rest(block, "input")}}
        carrier.setdefault("toolCalls", []).append({"id": key, "type": "function", "function": function, **encrypted, "metadata": own})


def _rest(block: Wire, said: str) -> Wire:
    return {key: copy_json(value) for key, value in block.items() if key != said}


# --- reading ------------------------------------------------------------------------------------


def read_messages(value: Any) -> Said:
    """Give messages of ours for a list of AG-UI's, one of them, or the input of a run. Raises Unfit."""
    given = value["messages"] if is_object(value) and is_array(value.get("messages")) else value
    reader = _Reader()
    for place, message in enumerate(given if is_array(given) else [given]):
        reader.read(_fitting(message, f"/{place}"))
    return Said(reader.messages, [])


def _fitting(message: Any, pointer: str) -> Wire:
    if not is_object(message) or not isinstance(message.get("role"), str):
        raise Unfit(UNFIT, f"{shown(message)} is no message with a role", pointer)
    taken: list[str] = []
    known = strip(message, MESSAGE, pointer, taken)
    if known is GONE:
        raise Unfit(UNFIT, f"{shown(message['role'])} is no role of a message", f"{pointer}/role")
    found = misfit(known, MESSAGE, pointer)
    if found is not None:
        raise Unfit(UNFIT, found.detail, found.pointer)
    return message


class _Reader:
    """Reads a list of messages."""

    def __init__(self) -> None:
        self.messages: list[Wire] = []
        self._of: Any = None  #: the message of ours that goes on: its id if we wrote it, "" if others did
        self._places: list[tuple[int, Wire]] = []
        self._calls: dict[str, Wire] = {}

    def read(self, message: Wire) -> None:
        """Read a message."""
        metadata = message.get("metadata")
        own = metadata.get(NAMESPACE) if is_object(metadata) else None
        if is_object(own) and (is_object(own.get("message")) or (self._of and own.get("of") == self._of)):
            self._own(message, own)
        elif message["role"] in {"user", "system", "developer"}:
            self._of = None
            self._said(message)
        else:
            self._spoken(message)

    def _own(self, message: Wire, own: Wire) -> None:
        """Take what we wrote back in."""
        head = own.get("message")
        if is_object(head):
            self._of, self._places = own.get("of"), []
            self.messages.append({**copy_json(head), "content": []})
        for block in _own_blocks(message, own):
            self._places.append(block)
        # Calls stand behind the text of their message, wherever in ours they were.
        self.messages[-1]["content"] = [block for _, block in sorted(self._places, key=lambda pair: pair[0])]

    def _said(self, message: Wire) -> None:
        """Read what a user or the system said."""
        role, content = message["role"], message["content"]
        blocks = [{"type": "text", "id": message["id"] or "0", "text": content}] if isinstance(content, str) else []
        blocks = blocks or [read_part(part, f"{message['id']}/{i}") for i, part in enumerate(content) if isinstance(part, dict)]
        left = {key: copy_json(value) for key, value in message.items() if key not in {"id", "role", "name", "content"}}
        left |= {"role": role} if role == "developer" else {}
        self._begin(message, "user" if role == "user" else "system", left)
        self.messages[-1]["content"] = blocks

    def _begin(self, message: Wire, role: str, left: Wire) -> None:
        head: Wire = {"id": message["id"] or f"{FOREIGN}-{len(self.messages)}", "name": message.get("name", role), "role": role}
        metadata = {"metadata": {FOREIGN: left}} if left else {}
        self.messages.append({**head, "created_at": EPOCH, **metadata, "content": []})

    def _spoken(self, message: Wire) -> None:
        """Read what the agent said, called, thought or got."""
        if self._of != "":
            self._of = ""
            self._begin({**message, "name": message.get("name", SPEAKER)}, "assistant", {})
        role = message["role"]
        content: list[Wire] = self.messages[-1]["content"]
        used = {"id", "role", "content", "toolCalls", "encryptedValue", "toolCallId"}
        left = {key: copy_json(value) for key, value in message.items() if key not in used}
        more: Wire = {LEFT: left} if left else {}
        encrypted = {SIGNATURE: message["encryptedValue"]} if "encryptedValue" in message else {}
        key = message["id"] or f"{FOREIGN}-{len(content)}"
        if role == "activity":
            held = self.messages[-1].setdefault("metadata", {}).setdefault(FOREIGN, {}).setdefault("activities", [])
            held.append(copy_json(message))
        elif role == "reasoning":
            content.append({"type": "thinking", "id": key, "thinking": message["content"], **encrypted, **more})
        elif role == "tool":
            self._got(message, more, encrypted, content)
        else:
            text = message.get("content")
            if text or more or encrypted:
                content.append({"type": "text", "id": key, "text": text or "", **encrypted, **more})
            content.extend(self._called(call) for call in message.get("toolCalls", ()))

    def _called(self, call: Wire) -> Wire:
        left = {key: copy_json(value) for key, value in call.items() if key not in {"id", "type", "function", "encryptedValue"}}
        encrypted = {SIGNATURE: call["encryptedValue"]} if "encryptedValue" in call else {}
        function = call["function"]
        block: Wire = {
            "type": "tool_call",
            "id": call["id"] or f"{FOREIGN}-empty",
            "name": function["name"],
            "input": function["arguments"],
        }
        self._calls[call["id"]] = block
        return block | {"state": "pending"} | encrypted | ({LEFT: left} if left else {})

    def _got(self, message: Wire, more: Wire, encrypted: Wire, content: list[Wire]) -> None:
        key = message["toolCallId"] or f"{FOREIGN}-empty"
        call = self._calls.get(message["toolCallId"])
        output = read_output(message["content"], None, f"{key}/")
        state = "error" if "error" in message else "success"
        name = call["name"] if call is not None else ""
        content.append({"type": "tool_result", "id": key, "name": name, "output": output, "state": state, **encrypted, **more})
        for held in self.messages:
            for block in held["content"]:
                if block["type"] == "tool_call" and block["id"] == key:
                    block["state"] = "finished"


def _own_blocks(message: Wire, own: Wire) -> list[tuple[int, Wire]]:
    """Give the blocks that a message of ours says, with their places."""
    content = message.get("content")
    if own.get("parts") is True and is_array(content):
        return list(enumerate(read_part(part, "") for part in content))
    if is_array(own.get("blocks")):
        given: list[Wire] = copy_json(own["blocks"])
        return list(enumerate(given))
    blocks: list[tuple[int, Wire]] = []
    place, rest = own.get("at"), own.get("block")
    if isinstance(place, int) and own.get("whole") is True:
        blocks.append((place, copy_json(content)))
    elif isinstance(place, int) and is_object(rest):
        kind = rest.get("type")
        if kind == "tool_result":
            blocks.append((place, {**copy_json(rest), "output": read_output(content, own.get("output"), "")}))
        else:
            blocks.append((place, {**copy_json(rest), _TEXTUAL.get(str(kind), "text"): content}))
    for call in message.get("toolCalls", ()):
        said = call.get("metadata", {}).get(NAMESPACE, {})
        if isinstance(said.get("at"), int) and is_object(said.get("block")):
            blocks.append((said["at"], {**copy_json(said["block"]), "input": call["function"]["arguments"]}))
    return blocks
