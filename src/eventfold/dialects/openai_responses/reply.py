"""
One response of the provider -> the events of one reply.

Law: an item is known by its place in the output (`output_index`), never by its id, which some gateways change in every
event. What the response ends with fills in what the stream left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.response import Response
from eventfold.jsonvalue import is_object

from .calls import Calls
from .image import image_type, is_base64
from .items import ANSWERS, CALLS, KINDS, OPAQUE, PARTS, Item, array_of, outline, rest_of, text_of
from .parts import Parts
from .rules import AFTER_END, ANOTHER_ID, DIFFERS, NEW_ITEM, NOT_BASE64, TAKEN, UNADDED, UNFINISHED, UNPAIRED
from .slots import Pen, Place, Slot

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator


class Reply:
    """Writes the events of a response while its items grow."""

    def __init__(self, make: Callable[..., Any], remark: Callable[..., None], reply_id: str) -> None:
        self.response = Response(make, reply_id)
        self.slots: dict[Hashable, Slot] = {}
        self.pen = Pen(self.response, remark)
        self._parts = Parts(self.pen)
        self._calls = Calls(self.pen)
        self._serial = 0

    def add(self, index: Hashable, item: Item) -> Iterator[Any]:
        """Begin an item."""
        old = self.slots.get(index)
        kind = text_of(item.get("type"))
        if old is not None:
            self.pen.remark(TAKEN, f"place {index!r} of the output is taken", "/output_index")
            if kind == old.type and not _clashes(old, item):
                return
            yield from self._settle(old)
            self.slots["old", old.serial] = self.slots.pop(index)
        self._serial += 1
        slot = self.slots[index] = Slot(self._serial, item, kind)
        yield from self._parts.begin(slot)
        if kind in CALLS:
            yield from self._calls.begin(slot)

    def text(self, index: Hashable, place: Place, kind: str, delta: Any) -> Iterator[Any]:
        """Append to a part of an item; `kind` is what the provider calls it."""
        of = "message" if PARTS[kind][0] == "text" else "reasoning"
        yield from self._made(index, of)
        if self._grows(index, of):
            yield from self._parts.append(self._parts.part(self.slots[index], place, kind), delta)

    def said(self, index: Hashable, place: Place, kind: str, final: Any = None, extra: Item | None = None) -> Iterator[Any]:
        """Take the final text of a part, and what stands beside it."""
        yield from self.text(index, place, kind, "")
        if place in self.slots[index].parts:
            part = self.slots[index].parts[place]
            part.final = part.final if final is None else text_of(final)
            part.know(extra or {})

    def annotate(self, index: Hashable, place: Place, annotation: Any) -> Iterator[Any]:
        """Take an annotation of a text."""
        yield from self.text(index, place, "output_text", "")
        if place in self.slots[index].parts:
            self.slots[index].parts[place].extra.setdefault("annotations", []).append(annotation)

    def ask(self, index: Hashable, kind: str, delta: Any) -> Iterator[Any]:
        """Append to the input of a call."""
        yield from self._made(index, kind)
        if self._grows(index, kind):
            yield from self._calls.append(self.slots[index], delta)

    def asked(self, index: Hashable, kind: str, final: Any) -> Iterator[Any]:
        """Take the final input of a call."""
        yield from self._made(index, kind)
        if self._grows(index, kind):
            self._calls.know(self.slots[index], text_of(final))

    def done(self, index: Hashable, item: Item) -> Iterator[Any]:
        """End an item."""
        slot = self.slots.get(index)
        if slot is not None and slot.type == item.get("type"):
            if slot.done:
                self.pen.remark(TAKEN, f"the item at {index!r} is done already", "/output_index")
                return
            if _clashes(slot, item):
                self.pen.remark(ANOTHER_ID, f"the item at {index!r} has another id than before", "/item/id")
        else:
            yield from self.add(index, item)
        yield from self._settle(self.slots[index], item)

    def finish(self, output: Any, *, whole: bool) -> Iterator[Any]:
        """Take what the response ended with; `whole` tells whether the response says that it is complete."""
        for i, item in enumerate(array_of(output)):
            if not is_object(item):
                continue
            index = self._find(i, item)
            if index not in self.slots or not self.slots[index].done:
                yield from self.done(index, item)
            elif any(outline(item)) and outline(item) != outline(self.slots[index].item):
                self.pen.remark(DIFFERS, f"item {i} of the final output is not as it was when it was done", f"/response/output/{i}")
        for slot in list(self.slots.values()):
            if not slot.done:
                if whole:
                    self.pen.remark(UNFINISHED, f"an item of type {slot.type} is not done at the end")
                yield from self._settle(slot)

    def cut(self, *, everything: bool) -> Iterator[Any]:
        """Answer the calls that nobody may run: those that are not whole, those of the provider, or all."""
        yield from self._calls.cut(self.slots.values(), everything=everything)

    def place_of(self, item_id: Any, kind: str) -> Hashable:
        """Find the place of an item by its id, or the newest of a kind, or a new one."""
        by_id = (index for index, slot in self.slots.items() if item_id and slot.item.get("id") == item_id)
        newest = (index for index, slot in reversed(self.slots.items()) if kind and slot.type == kind and not slot.done)
        return next(by_id, next(newest, ("new", self._serial)))

    def _settle(self, slot: Slot, item: Item | None = None) -> Iterator[Any]:
        """Close what an item made, with what it says at last, if it says so."""
        if slot.done:
            return
        slot.item = slot.item if item is None else item
        slot.done = True
        if slot.type in CALLS:
            yield from self._calls.settle(slot, done=item is not None)
        elif slot.type in ANSWERS:
            yield from self._answer(slot)
        elif slot.type == "image_generation_call":
            yield from self._image(slot)
        elif slot.type in {"message", "reasoning"} or slot.parts:
            yield from self._parts.settle(slot)
        else:
            if slot.type not in OPAQUE:
                self.pen.remark(NEW_ITEM, f"an item of type {slot.type!r}", "/item/type")
            yield from self._opaque(slot)

    def _answer(self, slot: Slot) -> Iterator[Any]:
        call = self._calls.answered_by(self.slots.values(), slot)
        if call is None:
            self.pen.remark(UNPAIRED, f"an item of type {slot.type!r} answers no call of the response", "/item/call_id")
            yield from self._opaque(slot)
            return
        yield from self._settle(call)
        yield from self._calls.answer(call, slot)

    def _image(self, slot: Slot) -> Iterator[Any]:
        if is_base64(slot.item.get("result")):
            yield from self.response.data(slot.key, image_type(slot.item), data=slot.item["result"])
            self.pen.note(slot.key, rest_of(slot.item, "result"))
            yield from self.response.close(slot.key)
            return
        if slot.item.get("result"):
            self.pen.remark(NOT_BASE64, "the image cannot be decoded", "/item/result")
        yield from self._opaque(slot)

    def _opaque(self, slot: Slot) -> Iterator[Any]:
        """Carry an item that has nothing to show."""
        yield from self.response.open("thinking", slot.key)
        self.pen.note(slot.key, {"type": slot.type, **rest_of(slot.item)})
        yield from self.response.close(slot.key)

    def _made(self, index: Hashable, kind: str) -> Iterator[Any]:
        """Make up the item that an event is about, if it was not added."""
        if index not in self.slots:
            self.pen.remark(UNADDED, f"no item was added at {index!r}", "/output_index")
            yield from self.add(index, {"type": kind})

    def _grows(self, index: Hashable, kind: str) -> bool:
        """Tell whether an item may grow as one of a kind does. Remarks when it may not."""
        slot = self.slots[index]
        # An item of a kind that is not known may hold texts; calls are told by their fields.
        other = slot.type != kind and (slot.type in KINDS or kind in CALLS)
        if slot.done:
            self.pen.remark(AFTER_END, f"the item at {index!r} is done", "/output_index")
        elif other:
            self.pen.remark(UNADDED, f"the item at {index!r} is a {slot.type}, no {kind}", "/output_index")
        return not (slot.done or other)

    def _find(self, i: int, item: Item) -> Hashable:
        """Find the place of an item of the final output: where it stands, unless another one stands there."""
        kind = item.get("type")
        if i not in self.slots or (self.slots[i].type == kind and not _clashes(self.slots[i], item)):
            return i
        for name in ("call_id", "id"):
            for index, slot in self.slots.items():
                if slot.type == kind and item.get(name) and slot.item.get(name) == item[name]:
                    return index
        return i if self.slots[i].type == kind else ("final", i)


def _clashes(slot: Slot, item: Item) -> bool:
    """Tell whether an item has another id than the one that is in its place."""
    return any(slot.item.get(name) and item.get(name) and slot.item[name] != item[name] for name in ("id", "call_id"))
