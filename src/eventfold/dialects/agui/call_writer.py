"""
Our calls and results -> those of AG-UI.

Law: a call stands in the message of its round, which a text before it begins. A result is shown when nothing can change it any
more: one that came from outside, and that the agent may stream again, when it has ended or its reply has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.table import CALL_KIND, MACHINES, PLAN_OF, field_of

from .block_writer import BlockWriter
from .content import say_output
from .runs import Item, Speaker, own_event
from .shapes import Type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.lifecycle import Instance
    from eventfold.shape import Wire

_RESULT = MACHINES["result"]
_CLOSED = _RESULT.states["closed"]


class CallWriter(BlockWriter):
    """Writes calls and results."""

    def start_call(self, speaker: Speaker, event: Any, _before: str) -> Iterator[Wire]:
        """Open a call; one that goes on after its end is carried, since AG-UI has it already."""
        known = speaker.items.get((CALL_KIND, event.tool_call_id))
        if known is not None and not known.answered and self._place(speaker, event.tool_call_id) in speaker.places:
            yield from self.carry(speaker, event)
            return
        item = self._new_call(speaker, event.tool_call_id, event.tool_call_name)
        yield self.say(speaker, Type.TOOL_CALL_START, event.created_at, {"event": own_event(event)}, toolCallId=item.id, **item.head)

    def _place(self, speaker: Speaker, key: str) -> int:
        """Find where a call stands in the message. Calls are looked for from the end."""
        reply = self.reply(speaker)
        draft = reply.instances[CALL_KIND][key].draft
        return next((i for i in reversed(range(len(reply.draft.content))) if reply.draft.content[i] is draft), -1)

    def _new_call(self, speaker: Speaker, key: str, name: str) -> Item:
        """Give a call its id, and the message that carries it: that of its round, which a text may begin."""
        item = speaker.items[CALL_KIND, key] = Item(CALL_KIND, self.take("call", key), key)
        place = self._place(speaker, key)
        parent = speaker.places.get(place - 1) or self.take("message", item.id)
        speaker.places[place] = parent
        item.head = {"toolCallName": name, "parentMessageId": parent}
        return item

    def asked(self, speaker: Speaker, event: Any, _before: str) -> Iterator[Wire]:
        """Carry a request or an answer; show calls that nobody began, and what the user changed in others."""
        yield from self.carry(speaker, event)
        calls = self.reply(speaker).instances.get(CALL_KIND, {})
        given: list[Any] = getattr(event, str(PLAN_OF[type(event)].items))
        for key in dict.fromkeys(_call_id(item) for item in given):
            call = calls.get(key)
            if call is not None and call.draft is not None:
                yield from self._show(speaker, key, call)

    def _show(self, speaker: Speaker, key: str, call: Instance) -> Iterator[Wire]:
        block = call.draft.snapshot()
        item = speaker.items.get((CALL_KIND, key))
        if item is None:
            item = self._new_call(speaker, key, block["name"])
            yield self.say(speaker, Type.TOOL_CALL_START, None, {"copy": True}, toolCallId=item.id, **item.head)
            yield self.say(speaker, Type.TOOL_CALL_ARGS, None, {"copy": True}, toolCallId=item.id, delta=block["input"])
        elif block["state"] == "allowed":
            yield from self.open(speaker, item)
        if item.open:
            told = {"name": block["name"], "input": block["input"]} if block["state"] == "allowed" else {}
            yield from self.close(speaker, item, None, {"copy": True, **told})

    def executed(self, speaker: Speaker, event: Any, _before: str) -> Iterator[Wire]:
        """Carry results from outside; show those that nothing can follow."""
        yield from self.asked(speaker, event, "")
        yield from self.results(speaker, [_call_id(item) for item in event.execution_results])

    def results(self, speaker: Speaker, keys: list[str]) -> Iterator[Wire]:
        """Show results that have ended and were not shown."""
        calls = self.reply(speaker).instances.get(CALL_KIND, {})
        for key in dict.fromkeys(keys):
            call = calls.get(key)
            ended = call is not None and call.result is not None and call.states[_RESULT.slot] is _CLOSED
            if call is not None and ended and not self._item(speaker, key).answered:
                yield self._result(speaker, key, call, None, {"copy": True})

    def result_ended(self, speaker: Speaker, event: Any, _before: str) -> Iterator[Wire]:
        """Show a result."""
        call = self.reply(speaker).instances[CALL_KIND][event.tool_call_id]
        if self._item(speaker, event.tool_call_id).answered:
            yield from self.carry(speaker, event)
        else:
            yield self._result(speaker, event.tool_call_id, call, event.created_at, {"event": own_event(event)})

    def _item(self, speaker: Speaker, key: str) -> Item:
        """Give a call; one that nobody began has an id, too."""
        item = speaker.items.get((CALL_KIND, key))
        if item is None:
            item = speaker.items[CALL_KIND, key] = Item(CALL_KIND, self.take("call", key), key, {"toolCallName": ""}, open=False)
        return item

    def _result(self, speaker: Speaker, key: str, call: Instance, at: str | None, own: Wire) -> Wire:
        item = self._item(speaker, key)
        item.answered = True
        block = call.result.snapshot()
        content, rests = say_output(block.pop("output"))
        own = {**own, "block": block, **({"output": rests} if rests is not None else {})}
        fields = {"messageId": self.take("message", f"{item.id}:result"), "toolCallId": item.id, "content": content, "role": "tool"}
        return self.say(speaker, Type.TOOL_CALL_RESULT, at, own, **fields)


def _call_id(item: Any) -> str:
    """Give the id of the call that an item of a request or an answer is about, be it a struct or a dict."""
    call = field_of(item, "tool_call")
    return field_of(item if call is None else call, "id")
