"""
Messages and reasoning: items that are made of texts.

Law: each part of a message is a text block, each part of a reasoning item a thinking block. A reasoning item that says
nothing is an empty thinking block, and stands where it began: before what follows from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .items import BESIDE, PARTS, Item, parts_of, rest_of, text_of
from .rules import DIFFERS
from .slots import Part, Pen, Place, Slot

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

#: What the second block of a reasoning item, and those after it, do not repeat.
_ONCE = ("encrypted_content", "status")
#: What blocks say themselves.
_CARRIED = ("content", "summary", "role", "type")


class Parts:
    """Writes the blocks of messages and reasoning items."""

    def __init__(self, pen: Pen) -> None:
        self._pen = pen

    def begin(self, slot: Slot) -> Iterator[Any]:
        """Begin a reasoning item at once: it may never say anything."""
        if slot.type == "reasoning":
            yield from self._pen.response.open("thinking", (slot.serial, 0))

    def part(self, slot: Slot, place: Place, kind: str) -> Part:
        """Give a part of an item; `kind` is what the provider calls it."""
        if place not in slot.parts:
            slot.parts[place] = Part((slot.serial, len(slot.parts)), PARTS[kind][0], kind)
        return slot.parts[place]

    def append(self, part: Part, delta: Any) -> Iterator[Any]:
        """Append to a part."""
        yield from self._pen.response.open(part.kind, part.key)
        if text := self._pen.whole(part.take(delta)):
            part.said.append(text)
            yield from self._pen.response.append(part.kind, part.key, text)

    def settle(self, slot: Slot) -> Iterator[Any]:
        """Close the blocks of an item, with what it says at last."""
        for name, i, given in parts_of(slot.item):
            part = self.part(slot, (name, i), given["type"])
            holds = PARTS[given["type"]][1]
            part.final = text_of(given.get(holds))
            part.know(rest_of(given, holds))
        rest = rest_of(slot.item, *_CARRIED)
        for (name, i), part in slot.parts.items():
            yield from self._complete(part)
            if part.kind == "thinking":
                again = part.key != (slot.serial, 0)
                own = {"type": "reasoning", **rest_of(rest, *(_ONCE if again else ())), f"{name}_index": i}
                beside = ()
            else:
                beside = BESIDE
                own: Item = {"type": part.type, **rest, **{key: part.extra[key] for key in beside if key in part.extra}}
            more = rest_of(part.extra, "type", *beside)
            yield from self._close(part, {**own, **({"part": more} if more else {})})
        first: Hashable = (slot.serial, 0)
        if self._pen.response.is_open(first):
            self._pen.note(first, {"type": slot.type, **rest})
            yield from self._pen.response.close(first)

    def _complete(self, part: Part) -> Iterator[Any]:
        """Say what the final text says more than the deltas, and what is held."""
        yield from self._pen.response.open(part.kind, part.key)
        more = self._pen.whole(part.held) if part.final is None else ""
        if part.final is not None:
            part.final = self._pen.whole(part.final)
            said = "".join(part.said)
            if part.final.startswith(said):
                more = part.final[len(said) :]
        if more:
            part.said.append(more)
            yield from self._pen.response.append(part.kind, part.key, more)

    def _close(self, part: Part, own: Item) -> Iterator[Any]:
        said = "".join(part.said)
        text = None
        if part.final is not None and part.final != said:
            self._pen.remark(DIFFERS, f"the final text has {len(part.final):,} characters, its deltas have {len(said):,}")
            if part.kind == "text":
                # Some gateways end with empty texts; nobody streams a text and takes all of it back.
                text = part.final or None
            elif part.final:
                own["text"] = part.final
        self._pen.note(part.key, own)
        yield from self._pen.response.close(part.key, text)
