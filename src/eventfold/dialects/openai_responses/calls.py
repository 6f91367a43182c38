"""
Items that are tool calls, and items that answer them.

Law: a call begins when its id and its name are known. What the provider runs itself has its result in the same reply. The
input that was streamed stands: what was asked for cannot change afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .items import (
    ANSWERS,
    CALLS,
    KEY,
    Call,
    call_id_of,
    dumps,
    input_of,
    output_of,
    repaired,
    rest_of,
    rest_of_call,
    runs_here,
    state_of,
)
from .rules import DIFFERS, NAMELESS, NO_ID, REPEATED_ID

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .slots import Pen, Slot


class Calls:
    """Writes tool calls and their results."""

    def __init__(self, pen: Pen) -> None:
        self._pen = pen
        self._ids: set[str] = set()

    def begin(self, slot: Slot) -> Iterator[Any]:
        """Begin a call, if its id and its name are known."""
        call = CALLS[slot.type]
        name = call.name or slot.item.get("name")
        found = call_id_of(slot.item, call)
        if not (isinstance(name, str) and name and (found or slot.done)):
            return
        if not found:
            found = f"{self._pen.response.reply_id}/call_{slot.serial}"
            self._pen.remark(NO_ID, f"a call of {name} has no id", "/item/call_id")
        slot.id = self._unique(repaired(found))
        yield from self._pen.response.call(slot.key, slot.id, repaired(name))
        if slot.type == "mcp_approval_request":
            self._pen.response.ask(slot.key)
        if slot.input.said:
            yield from self._pen.response.arguments(slot.key, "".join(slot.input.said))

    def append(self, slot: Slot, delta: Any) -> Iterator[Any]:
        """Append to the input of a call."""
        text = self._pen.whole(slot.input.take(delta))
        call = CALLS[slot.type]
        if not call.raw:
            # The one field that is streamed of an input that is JSON is a string.
            text = _open(call, text) if not slot.input.said else _inner(text)
        if text:
            slot.input.said.append(text)
            if slot.id:
                yield from self._pen.response.arguments(slot.key, text)

    def know(self, slot: Slot, final: str) -> None:
        """Take the final input, as its own event says it."""
        call = CALLS[slot.type]
        slot.input.final = final if call.raw else dumps({call.asked[0]: final})

    def settle(self, slot: Slot, *, done: bool) -> Iterator[Any]:
        """Close a call, with what it says at last; `done` tells whether the provider said that it is."""
        call = CALLS[slot.type]
        if not slot.id:
            yield from self.begin(slot)
        said = "".join(slot.input.said)
        final = self._pen.whole(self._final(slot, call, done=done))
        if not slot.id:
            self._pen.remark(NAMELESS, "a call has no name", "/item/name")
            yield self._pen.custom("call", {**slot.item, "input": final or said})
            return
        if not final:
            final = said + self._pen.whole(slot.input.held) + ('"}' if said and not call.raw else "")
        carried = final.startswith(said)
        if carried:
            # An input that is empty is said to be empty.
            if final != said or not said:
                yield from self._pen.response.arguments(slot.key, final[len(said) :])
        else:
            self._pen.remark(DIFFERS, f"the final input of {slot.id!r} is not what its deltas say")
        slot.complete = (done or slot.input.final is not None) and slot.item.get("status") != "incomplete"
        self._pen.note(slot.key, {"type": slot.type, **rest_of_call(slot.item, call, carried=carried)})
        if call.hosted and done:
            yield from self._pen.response.result(slot.key, output_of(slot.item, call.output), state_of(slot.item))
        else:
            yield from self._pen.response.close(slot.key)

    def answered_by(self, slots: Iterable[Slot], answer: Slot) -> Slot | None:
        """Find the call of the response that an item answers."""
        wanted = answer.item.get("call_id") or answer.item.get("id")
        waiting = (slot for slot in slots if slot.id == wanted and slot.type in CALLS and self._waits(slot))
        return next((slot for slot in waiting if CALLS[slot.type].answer == answer.type), None)

    def answer(self, slot: Slot, answer: Slot) -> Iterator[Any]:
        """Give the answer to a call that has closed."""
        holds = ANSWERS[answer.type]
        metadata = {KEY: rest_of(answer.item, holds)}
        yield from self._pen.response.result(slot.key, output_of(answer.item, holds), state_of(answer.item), metadata)

    def cut(self, slots: Iterable[Slot], *, everything: bool) -> Iterator[Any]:
        """Answer the calls that nobody may run: those that are not whole, those of the provider, or all."""
        for slot in slots:
            if slot.id and self._waits(slot) and (everything or not slot.complete or runs_here(slot.item) or CALLS[slot.type].hosted):
                yield from self._pen.response.result(slot.key, "", "interrupted")

    def _waits(self, slot: Slot) -> bool:
        part = self._pen.response.parts.get(slot.key)
        return part is not None and not part.answered

    def _final(self, slot: Slot, call: Call, *, done: bool) -> str:
        """Give the input as the provider says it at last: when it is done, or in its own event, or when it began."""
        if done:
            return input_of(slot.item, call) or slot.input.final or ""
        if slot.input.final is not None or slot.input.said:
            return slot.input.final or ""
        return input_of(slot.item, call)

    def _unique(self, wanted: str) -> str:
        found = wanted
        if found in self._ids:
            self._pen.remark(REPEATED_ID, f"two calls have the id {found!r}", "/item/call_id")
            found = next(new for i in range(1, len(self._ids) + 2) if (new := f"{wanted}#{i}") not in self._ids)
        self._ids.add(found)
        return found


def _inner(text: str) -> str:
    return dumps(text)[1:-1]


def _open(call: Call, text: str) -> str:
    return f'{{"{call.asked[0]}":"{_inner(text)}'
