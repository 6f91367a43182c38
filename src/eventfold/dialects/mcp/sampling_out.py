"""
Messages of ours -> the messages of MCP's sampling.

Law: what is written keeps the rules of sampling: a message with results of tools holds nothing else, and each tool_use is answered in
the very next message; so that a message of ours is said as several, assistant and user by turns. What sampling has no place for
travels in `_meta`, and each such block is reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.translation import NAMESPACE, Said
from eventfold.findings import Loss
from eventfold.jsonvalue import copy_json, is_object

from .notes import object_of, text_of
from .results import to_result
from .shapes import INLINE, META

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eventfold.shape import Wire

#: Losses: nothing is missing from what comes back, but whoever samples does not see it.
UNSAID = "sampling has no place for this block: only eventfold reads it, in _meta"
OTHER_ROLE = "sampling has no other role than user and assistant: the message is said as a user's"

_ROLES = {"user": "user", "assistant": "assistant", "system": "user", "tool": "user"}


def write_messages(messages: Iterable[Wire]) -> Said:
    """Say messages, as dicts on the wire, as a list of SamplingMessages."""
    said: list[Wire] = []
    losses: list[Loss] = []
    for number, message in enumerate(messages):
        writer = _Writer(message)
        said += writer.write()
        if message["role"] not in {"user", "assistant"}:
            losses.append(Loss(f"/{number}/role", OTHER_ROLE))
        losses += [Loss(f"/{number}/content/{place}", UNSAID) for place, _ in writer.unsaid]
    return Said(said, losses)


class _Writer:
    """Says one message."""

    def __init__(self, message: Wire) -> None:
        self.message = message
        self.said: list[Wire] = []
        self.unsaid: list[list[Any]] = []
        self.piece: list[Wire] = []
        self.results: list[Wire] = []
        self.waiting: set[str] = set()
        self.pairs = _pairs_of(message["content"])
        self.skipped: set[int] = set()  #: places of results whose call cannot be said

    def write(self) -> list[Wire]:
        """Say the message, in rounds: what the assistant says and calls, then what the tools returned."""
        blocks: list[Wire] = self.message["content"]
        answers = set(self.pairs.values())
        for place, block in enumerate(blocks):
            if self.results and not self.waiting and place not in answers:
                self._turn()
            if place in answers:
                self._write_result(place, block)
                continue
            said = self._say_call(place, block) if block["type"] == "tool_call" else _say_block(block)
            if said is None:
                self.unsaid.append([place, copy_json(block)])
            else:
                self.piece.append(_noted(said, {"place": place}))
        self._turn()
        return self._headed()

    def _say_call(self, place: int, block: Wire) -> Wire | None:
        """Say a call that has its result. The same id twice in a round is none: the results could not be told apart."""
        if place not in self.pairs or block["id"] in self.waiting:
            self.skipped.add(self.pairs.get(place, -1))
            return None
        self.waiting.add(block["id"])
        return _say_call(block)

    def _write_result(self, place: int, block: Wire) -> None:
        if place in self.skipped:
            self.unsaid.append([place, copy_json(block)])
            return
        self.results.append(_noted(_say_result(block), {"place": place, "name": block["name"]}))
        self.waiting.discard(block["id"])

    def _headed(self) -> list[Wire]:
        """Give the messages: the first tells what there is of ours besides, the others that they go on with it."""
        head: Wire = {"message": {key: copy_json(item) for key, item in self.message.items() if key != "content"}}
        if self.unsaid:
            head["unsaid"] = self.unsaid
        if not self.said:
            self.said.append({"role": _ROLES[self.message["role"]], "content": []})
        for number, message in enumerate(self.said):
            message[META] = {NAMESPACE: {"continues": self.message["id"]} if number else head}
        return self.said

    def _turn(self) -> None:
        """End a round."""
        if self.piece:
            self.said.append({"role": _ROLES[self.message["role"]], "content": self.piece})
        if self.results:
            self.said.append({"role": "user", "content": self.results})
        self.piece, self.results = [], []


def _pairs_of(blocks: list[Wire]) -> dict[int, int]:
    """Pair the places of calls that can be said with those of their results."""
    pairs: dict[int, int] = {}
    open_calls: dict[str, int] = {}
    for place, block in enumerate(blocks):
        if block["type"] == "tool_call":
            open_calls[block["id"]] = place
        elif block["type"] == "tool_result" and block["id"] in open_calls:
            call = open_calls.pop(block["id"])
            if object_of(blocks[call]["input"]) is not None:
                pairs[call] = place
    return pairs


def _noted(said: Wire, note: Wire) -> Wire:
    """Add to what `_meta` of a block says."""
    meta = said.get(META, {})
    return {**said, META: {**meta, NAMESPACE: {**meta.get(NAMESPACE, {}), **note}}}


def _say_call(block: Wire) -> Wire:
    arguments = object_of(block["input"]) or {}
    rest: Wire = {"block": {key: copy_json(item) for key, item in block.items() if key not in {"type", "id", "name", "input"}}}
    if text_of(arguments) != block["input"]:
        rest["input"] = block["input"]
    return {"type": "tool_use", "id": block["id"], "name": block["name"], "input": arguments, META: {NAMESPACE: rest}}


def _say_result(block: Wire) -> Wire:
    result: Wire = to_result(block).value
    result.pop("resultType")
    return {"type": "tool_result", "toolUseId": block["id"], **result}


def _say_block(block: Wire) -> Wire | None:
    """Say a block that has a place in sampling: text, images and sound."""
    rest = {key: copy_json(item) for key, item in block.items() if key not in {"text", "source"}}
    if block["type"] == "text":
        return {"type": "text", "text": block["text"], META: {NAMESPACE: {"block": rest}}}
    source = block.get("source")
    if not is_object(source) or source["type"] != "base64" or block["type"] == "video":
        return None
    kind = source["media_type"].partition("/")[0].lower()
    if kind not in INLINE:
        return None
    more = {key: copy_json(item) for key, item in source.items() if key not in {"type", "data", "media_type"}}
    note = {"block": rest, "source": more}
    return {"type": kind, "data": source["data"], "mimeType": source["media_type"], META: {NAMESPACE: note}}
