"""
Our messages -> the `input` of a request.

Law: every call has one answer after it, and no answer lacks its call; a reasoning item stands before the item that follows
from it. What the provider wrote goes back as it wrote it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.translation import Said
from eventfold.findings import Loss
from eventfold.jsonvalue import copy_json, object_of

from .answers import Unsayable, answer_to, hosted_item, opaque_item, restored
from .content import output_of, part_of, parts_of
from .items import BESIDE, CALLS, FIELD, Item, runs_here
from .pairing import Pairing, Spot

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eventfold.shape import Wire

#: What is lost, and where it shows.
ALIEN = "thinking that the provider did not write is left out"
TRAILING = "a reasoning item that nothing follows from is left out"
UNHEARD = "audio and video are left out"
SPEAKER = "data of the assistant is said by the user"
UNANSWERED = "a call without a result is answered with a sentence"
ORPHAN = "a result without a call is left out"
STATE = "the state of a result is not said"
UNSAYABLE = "a call is left out, since its result is not what the provider wants"

LOSSES = {
    ALIEN: ("/content/*",),
    TRAILING: ("/content/*",),
    UNHEARD: ("/content/*", "/content/*/hint/*", "/content/*/output/*"),
    SPEAKER: ("/content/*",),
    UNANSWERED: ("/content/*",),
    ORPHAN: ("/content/*",),
    STATE: ("/content/*/state",),
    UNSAYABLE: ("/content/*",),
}

#: The answer to a call that nobody answered.
NO_RESULT = "There is no result: the call did not run to its end."

_STATUSES = ("in_progress", "completed", "incomplete")
#: What a part of the content that is thinking is called in Chat Completions. No item of this protocol is called so.
_CHAT_PART = "thinking"
#: What a client answers with. An answer that has an id was the provider's own.
_ANSWERED = frozenset(call.answer for call in CALLS.values() if call.answer)


def write_messages(messages: Iterable[Wire]) -> Said:
    """Write the `input` of a request."""
    writer = _Writer(list(messages))
    return Said({"input": writer.write()}, writer.losses)


class _Writer:
    """Writes a conversation."""

    def __init__(self, messages: list[Wire]) -> None:
        self.losses: list[Loss] = []
        self._messages = messages
        self._pairing = Pairing(messages)
        self._items: list[Item] = []
        self._spots: dict[int, Spot] = {}  #: of reasoning items, by id() of the item
        self._left_out: set[Spot] = set()

    def write(self) -> list[Item]:
        """Write all messages."""
        for i, message in enumerate(self._messages):
            if message["role"] in {"user", "system"}:
                self._say(message["role"], message["content"], f"/{i}/content")
            else:
                self._reply(i, message["content"])
        return self._items

    def _reply(self, i: int, blocks: list[Wire]) -> None:
        """Write a reply: what the assistant wrote, what the tools returned, what was hinted."""
        began = len(self._items)
        known: dict[str, Item] = {}
        waiting: list[Spot] = []
        for j, block in enumerate(blocks):
            kind = block["type"]
            if kind == "text":
                self._text(block, known)
            elif kind == "thinking":
                self._thinking((i, j), block, known)
            elif kind == "tool_call":
                waiting += self._call((i, j), block)
            elif kind == "tool_result":
                self._result((i, j), block)
            elif kind == "hint":
                self._say("user", block["hint"], f"/{i}/content/{j}/hint")
            else:
                self._data(block, f"/{i}/content/{j}")
        for spot in waiting:
            call = blocks[spot[1]]
            self._items.append(answer_to(call, self._pairing.ids[spot], NO_RESULT, {"state": "interrupted"}))
            self._lose(UNANSWERED, spot)
        self._drop_trailing(began)

    def _say(self, role: str, blocks: Any, pointer: str) -> None:
        parts = parts_of(blocks, lambda place: self.losses.append(Loss(pointer + place, UNHEARD)))
        if parts:
            self._items.append({"type": "message", "role": role, "content": parts})

    def _text(self, block: Wire, known: dict[str, Item]) -> None:
        own = object_of(block.get(FIELD))
        item_id = own.get("id")
        if not isinstance(item_id, str) or own.get("type") not in {"output_text", "refusal"}:
            if block["text"]:
                self._items.append({"type": "message", "role": "assistant", "content": block["text"]})
            return
        part: Item = {"type": "output_text", "text": block["text"], "annotations": []}
        if own["type"] == "refusal":
            part = {"type": "refusal", "refusal": block["text"]}
        part |= {name: own[name] for name in BESIDE if name in own} | object_of(own.get("part"))
        item = known.get(item_id)
        if item is None:
            rest = {key: value for key, value in own.items() if key not in {"type", "part", *BESIDE}}
            status = rest["status"] if rest.get("status") in _STATUSES else "completed"
            item = known[item_id] = {**copy_json(rest), "type": "message", "role": "assistant", "status": status, "content": []}
            self._items.append(item)
        item["content"].append(copy_json(part))

    def _thinking(self, spot: Spot, block: Wire, known: dict[str, Item]) -> None:
        own = object_of(block.get(FIELD))
        item_id, kind = own.get("id"), own.get("type")
        # An item with nothing to show is the provider's, of whatever kind; what says something and is no reasoning is another's.
        alien = not isinstance(item_id, str) if kind == "reasoning" else bool(block["thinking"]) or kind == _CHAT_PART
        if not isinstance(kind, str) or alien:
            self._lose(ALIEN, spot)
            return
        if kind != "reasoning":
            self._items.append(opaque_item(own))
            return
        item = known.get(str(item_id))
        if item is None:
            item = known[str(item_id)] = {"type": kind, "id": item_id, "summary": []}
            self._items.append(item)
            self._spots[id(item)] = spot
        places = {"summary_index": ("summary", "summary_text"), "content_index": ("content", "reasoning_text")}
        out = {"type", "part", "text", *places}
        item |= {key: copy_json(value) for key, value in own.items() if key not in out}
        for name, (where, part_type) in places.items():
            if name in own:
                text = own.get("text", block["thinking"])
                item.setdefault(where, []).append({"type": part_type, "text": text, **copy_json(object_of(own.get("part")))})

    def _call(self, spot: Spot, block: Wire) -> list[Spot]:
        """Write a call. Gives it back when nothing answers it."""
        own = object_of(block.get(FIELD))
        kind = own.get("type")
        call = CALLS.get(kind) if isinstance(kind, str) else None
        result_spot = self._pairing.result_of.get(spot)
        result = self._block(result_spot) if result_spot is not None else None
        if call is not None and call.hosted:
            self._items.append(hosted_item(block, call, result))
            return []
        try:
            item = restored(block, self._pairing.ids[spot], result)
            if result is not None:
                answer_to(block, self._pairing.ids[spot], "", result)
        except Unsayable:
            self._left_out.add(spot)
            self._lose(UNSAYABLE, spot)
            return []
        self._items.append(item)
        if result is not None or runs_here(own):
            return []
        if item["type"] == "mcp_approval_request" and block.get("state") in {"allowed", "finished"}:
            self._items.append(answer_to(block, self._pairing.ids[spot], "", {"state": "success"}))
            return []
        try:
            answer_to(block, self._pairing.ids[spot], NO_RESULT, {"state": "interrupted"})
        except Unsayable:
            self._items.pop()
            self._lose(UNSAYABLE, spot)
            return []
        return [spot]

    def _result(self, spot: Spot, block: Wire) -> None:
        call_spot = self._pairing.call_of.get(spot)
        if call_spot is None:
            self._lose(ORPHAN, spot)
            return
        call = self._block(call_spot)
        kind = object_of(call.get(FIELD)).get("type")
        if call_spot in self._left_out or (isinstance(kind, str) and kind in CALLS and CALLS[kind].hosted):
            return
        pointer = f"/{spot[0]}/content/{spot[1]}"
        output = output_of(block["output"], lambda place: self.losses.append(Loss(f"{pointer}/output{place}", UNHEARD)))
        item = answer_to(call, self._pairing.ids[call_spot], output, block)
        if item:
            self._items.append(item)
        if block.get("state", "running") != "success" and item.get("type") in {"function_call_output", "custom_tool_call_output"}:
            self.losses.append(Loss(f"{pointer}/state", STATE))

    def _data(self, block: Wire, pointer: str) -> None:
        own = object_of(block.get(FIELD))
        if own.get("type") == "image_generation_call" and isinstance(own.get("id"), str) and "data" in block["source"]:
            self._items.append({"status": "completed", **copy_json(own), "result": block["source"]["data"]})
            return
        part = part_of(block)
        if part is None:
            self.losses.append(Loss(pointer, UNHEARD))
            return
        self._items.append({"type": "message", "role": "user", "content": [part]})
        self.losses.append(Loss(pointer, SPEAKER))

    def _drop_trailing(self, began: int) -> None:
        """Leave out reasoning that nothing of the assistant follows: the provider refuses it."""
        follows = False
        kept: list[Item] = []
        for item in reversed(self._items[began:]):
            kind = item["type"]
            if kind == "reasoning" and not follows:
                self._lose(TRAILING, self._spots[id(item)])
                continue
            kept.append(item)
            follows = item.get("role", "assistant") == "assistant" and (
                kind not in _ANSWERED or ("id" in item and kind != "local_shell_call_output")
            )
        self._items[began:] = reversed(kept)

    def _block(self, spot: Spot) -> Wire:
        return self._messages[spot[0]]["content"][spot[1]]

    def _lose(self, reason: str, spot: Spot) -> None:
        self.losses.append(Loss(f"/{spot[0]}/content/{spot[1]}", reason))
