"""
The messages of MCP's sampling -> messages of ours.

Law: read_messages(write_messages(messages)) are the messages. Whatever else is read gives messages that the schemas allow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from eventfold.dialects.translation import EPOCH, NAMESPACE, UNFIT, Said, Unfit
from eventfold.jsonvalue import copy_json, depth_of, is_array, is_object

from .notes import text_of
from .recognition import is_call_result
from .results import read_part, read_result, rest_of
from .shapes import INLINE, MAX_MESSAGE, META, SPEAKERS, fits

if TYPE_CHECKING:
    from eventfold.shape import Wire

#: Fields of a SamplingMessage that ours shows.
_SHOWN = frozenset({"role", "content"})


class _Head(msgspec.Struct):
    """What `_meta` of a message says of ours. Read for its types; unknown fields go with it."""

    id: str
    name: str
    role: str
    created_at: str
    metadata: dict[str, Any] | None = None


class _CallRest(msgspec.Struct):
    """What `_meta` says of a call of ours. Read for its types; unknown fields go with it."""

    state: Literal["pending", "asking", "allowed", "submitted", "finished"] | None = None
    suggested_rules: list[dict[str, Any]] | None = None
    created_at: str | None = None
    finished_at: str | None = None


def read_messages(value: Any) -> Said:
    """
    Read SamplingMessages: a list of them, one, the parameters of sampling/createMessage, its result, or the result of a tool.

    Of messages that are not ours, the results of tools go to the message whose calls they answer, and the next message of the
    assistant goes on with that one.

    Raises:
        Unfit: it is none of these.

    """
    if depth_of(value) > MAX_MESSAGE:
        raise Unfit(UNFIT, f"nested deeper than {MAX_MESSAGE}")
    if is_call_result(value):
        block = read_result(value, "result-1", "").block
        return Said([{**_new_head("tool", 1), "content": [block]}], [])
    if is_object(value) and is_array(value.get("messages")):
        value = value["messages"]
    reader = _Reader()
    for number, item in enumerate(value if is_array(value) else [value]):
        reader.read(item, f"/{number}")
    return Said(reader.finish(), [])


class _Reader:
    """Reads messages one by one."""

    def __init__(self) -> None:
        self.messages: list[Wire] = []
        self.places: dict[int, list[tuple[int, Wire]]] = {}  #: blocks of ours, by the place of their message
        self.continues = False  #: results have come, so that the assistant goes on

    def read(self, item: Any, pointer: str) -> None:
        """Read a message."""
        if not is_object(item) or item.get("role") not in SPEAKERS or "content" not in item:
            raise Unfit(UNFIT, "a message has a role, user or assistant, and content", pointer)
        content = item["content"] if is_array(item["content"]) else [item["content"]]
        meta = item.get(META)
        note = meta.get(NAMESPACE) if is_object(meta) else None
        if is_object(note) and is_object(note.get("message")) and fits(_Head, note["message"]):
            self.messages.append({**copy_json(note["message"]), "content": []})
            self.places[len(self.messages) - 1] = self._unsaid(note) + self._ours(content)
        elif is_object(note) and self._current() is not None and note.get("continues") == self.messages[-1]["id"]:
            self.places[len(self.messages) - 1] += self._ours(content)
        else:
            self._theirs(item, content)

    def finish(self) -> list[Wire]:
        """Give the messages; the blocks of those of ours stand in their order."""
        for number, placed in self.places.items():
            self.messages[number]["content"] = [block for _, block in sorted(placed, key=lambda pair: pair[0])]
        return self.messages

    def _current(self) -> list[tuple[int, Wire]] | None:
        return self.places.get(len(self.messages) - 1)

    @staticmethod
    def _unsaid(note: Wire) -> list[tuple[int, Wire]]:
        unsaid = note.get("unsaid")
        pairs = unsaid if is_array(unsaid) else []
        return [
            (pair[0], copy_json(pair[1]))
            for pair in pairs
            if is_array(pair) and len(pair) == 2 and type(pair[0]) is int and is_object(pair[1])  # noqa: PLR2004  place and block
        ]

    @staticmethod
    def _ours(content: list[Any]) -> list[tuple[int, Wire]]:
        """Read blocks that we have said."""
        placed: list[tuple[int, Wire]] = []
        for number, item in enumerate(content):
            meta = item.get(META) if is_object(item) else None
            note = meta.get(NAMESPACE) if is_object(meta) else None
            note = note if is_object(note) else {}
            place = note.get("place")
            placed.append((place if type(place) is int else number, _block_of(item, note, str(number))))
        return placed

    def _theirs(self, item: Wire, content: list[Any]) -> None:
        """Read a message that somebody else has said."""
        results = [block for block in content if is_object(block) and block.get("type") == "tool_result"]
        others = [block for block in content if not (is_object(block) and block.get("type") == "tool_result")]
        for result in results:
            self._answer(result)
        goes_on = item["role"] == "assistant" and self.continues
        if results:
            self.continues = self.messages[-1]["role"] == "assistant"
        if not others and (results or goes_on):
            return
        if not goes_on:
            self.messages.append({**_new_head(item["role"], len(self.messages) + 1), "content": []})
        self.continues = False
        message = self.messages[-1]
        for block in others:
            use = item["role"] == "assistant" and is_object(block) and block.get("type") == "tool_use"
            message["content"].append(_block_of(block, {}, f"{message['id']}/{len(message['content'])}", use=use))
        if more := {key: copy_json(field) for key, field in item.items() if key not in _SHOWN}:
            message.setdefault("metadata", {}).setdefault("mcp", {}).update(more)

    def _answer(self, result: Wire) -> None:
        """Add a result to the message whose call it answers; one without a call is a message of its own."""
        key = result.get("toolUseId")
        for message in reversed(self.messages):
            blocks: list[Wire] = message["content"] if message["role"] == "assistant" else []
            for block in blocks:
                if block["type"] == "tool_call" and block["id"] == key and block["state"] == "pending":
                    block["state"] = "finished"
                    message["content"].append(read_result(_as_result(result), block["id"], block["name"]).block)
                    return
        if not self.messages or self.messages[-1]["role"] != "tool":
            self.messages.append({**_new_head("tool", len(self.messages) + 1), "content": []})
        number = len(self.messages[-1]["content"])
        found = key if isinstance(key, str) and key else f"{self.messages[-1]['id']}/{number}"
        self.messages[-1]["content"].append(read_result(_as_result(result), found, "").block)


def _new_head(role: str, number: int) -> Wire:
    """Begin a message that has no id and no time: they are derived."""
    return {"id": f"message-{number}", "name": role, "role": role, "created_at": EPOCH}


def _as_result(block: Wire) -> Wire:
    """Give a tool_result block as the CallToolResult that it is, but for its name."""
    return {key: item for key, item in block.items() if key not in {"type", "toolUseId"}}


def _block_of(item: Any, note: Wire, derived: str, *, use: bool = True) -> Wire:
    """Read a block; `note` is what we have said of it."""
    kind = item.get("type") if is_object(item) else None
    if kind == "tool_use" and use:
        return _call_of(item, note, derived)
    if kind == "tool_result" and isinstance(item.get("toolUseId"), str) and item["toolUseId"]:
        name = note.get("name")
        return read_result(_as_result(item), item["toolUseId"], name if isinstance(name, str) else "").block
    part, more = read_part(item, "", None if is_object(note.get("block")) else [])
    rest = rest_of(note)
    legacy = rest is not None and "source" in part and note["block"].get("type") in INLINE
    if rest is not None and (rest.get("id") or legacy):
        part = {**part, **rest, "type": note["block"]["type"] if legacy else part["type"]}
        if "source" in part:
            extra = note.get("source")
            part["source"] = {**copy_json(extra if is_object(extra) else {}), **part["source"]}
        return part
    return {**part, "id": derived, **({"x_mcp": more} if more else {})}


def _call_of(item: Wire, note: Wire, derived: str) -> Wire:
    rest = rest_of(note, _CallRest)
    text = note.get("input")
    call_id, name = item.get("id"), item.get("name")
    known = {"type", "id", "name", "input"}
    block: Wire = {
        "type": "tool_call",
        "id": call_id if isinstance(call_id, str) and call_id else derived,
        "name": name if isinstance(name, str) else "",
        "input": text if isinstance(text, str) else text_of(item.get("input", {})),
    }
    if rest is not None:
        return {**rest, **block}
    more = {key: copy_json(field) for key, field in item.items() if key not in known}
    return {**block, "state": "pending", **({"x_mcp": more} if more else {})}
