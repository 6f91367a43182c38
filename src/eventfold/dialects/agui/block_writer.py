"""
Our blocks and model calls -> messages, activities and steps of AG-UI.

Law: what was closed when its run ended is opened again before it goes on. An event that AG-UI has no word for goes out whole, as
CUSTOM `eventfold.<TYPE>`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.translation import NAMESPACE
from eventfold.jsonvalue import copy_json, is_object
from eventfold.table import CALL_KIND, MACHINES, PLAN_OF

from .endings import Endings
from .runs import Item, Speaker, own_event
from .shapes import Type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

TEXT, THINKING, DATA, HINT = (str(MACHINES[name].kind) for name in ("text", "thinking", "data", "hint"))

#: The provider field that AG-UI calls encryptedValue.
SIGNATURE = "signature"

#: What each kind of block is opened, continued and closed by, and the field with its id.
TRIADS = {
    TEXT: (Type.TEXT_MESSAGE_START, Type.TEXT_MESSAGE_CONTENT, Type.TEXT_MESSAGE_END, "messageId"),
    THINKING: (Type.REASONING_MESSAGE_START, Type.REASONING_MESSAGE_CONTENT, Type.REASONING_MESSAGE_END, "messageId"),
    CALL_KIND: (Type.TOOL_CALL_START, Type.TOOL_CALL_ARGS, Type.TOOL_CALL_END, "toolCallId"),
}


class BlockWriter(Endings):
    """Writes blocks."""

    def carry(self, speaker: Speaker | None, event: Any) -> Iterator[Wire]:
        """Say an event whole, as CUSTOM. CUSTOM of ours are said as what they are."""
        if type(event) is structs.CustomEvent:
            yield from self.shelter()
            own = {"event": own_event(event, "name", "value")}
            # The value has to be there, so that null stands for none.
            given: Any = event.value
            value = copy_json(given) if is_object(given) else None
            yield {**self.say(speaker, Type.CUSTOM, event.created_at, own, name=event.name), "value": value}
            return
        if speaker is not None and speaker.end is None and PLAN_OF[type(event)].steps:
            yield from self.resume(speaker)
        yield from self.shelter()
        fields = own_event(event)
        yield self.say(speaker, Type.CUSTOM, event.created_at, {"carries": True}, name=f"{NAMESPACE}.{fields['type']}", value=fields)

    # --- blocks that grow -------------------------------------------------------------------

    def open(self, speaker: Speaker, item: Item) -> Iterator[Wire]:
        """Open something again that was closed when its run ended."""
        if not item.open:
            item.open = True
            if item.kind == THINKING:
                yield self.say(speaker, Type.REASONING_START, None, {"copy": True}, messageId=item.id)
            start, *_, key = TRIADS[item.kind]
            yield self.say(speaker, start, None, {"copy": True}, **{key: item.id}, **item.head)

    def close(self, speaker: Speaker, item: Item, at: str | None, own: Wire) -> Iterator[Wire]:
        """Close something."""
        item.open = False
        *_, end, key = TRIADS[item.kind]
        yield self.say(speaker, end, at, own, **{key: item.id})
        if item.kind == THINKING:
            yield self.say(speaker, Type.REASONING_END, at, {"copy": True}, messageId=item.id)

    def close_items(self, speaker: Speaker) -> Iterator[Wire]:
        """Close what is open of a reply."""
        for item in speaker.items.values():
            if item.open and item.kind == DATA:
                item.open = False
                yield self._activity(speaker, item, self.reply(speaker).instances[DATA][item.key].draft.snapshot(), None, {"copy": True})
            elif item.open:
                yield from self.close(speaker, item, None, {"copy": True})
        for name, _ in speaker.steps:
            yield self.say(speaker, Type.STEP_FINISHED, None, {"copy": True}, stepName=name)
        speaker.steps.clear()

    def start_text(self, speaker: Speaker, event: Any, _before: str) -> Iterator[Wire]:
        """Open a text or reasoning message."""
        kind = TEXT if isinstance(event, structs.TextBlockStartEvent) else THINKING
        head = {"role": speaker.role if kind == TEXT else "reasoning"}
        item = speaker.items[kind, event.block_id] = Item(kind, self.take("message", event.block_id), event.block_id, head)
        if kind == THINKING:
            yield self.say(speaker, Type.REASONING_START, event.created_at, {"copy": True}, messageId=item.id)
        else:
            speaker.places[len(self.reply(speaker).draft.content) - 1] = item.id
        start, *_ = TRIADS[kind]
        yield self.say(speaker, start, event.created_at, {"event": own_event(event)}, messageId=item.id, **head)

    def grow(self, speaker: Speaker, event: Any, _before: str) -> Iterator[Wire]:
        """Let a message or arguments grow. What a delta says besides is kept."""
        kind = str(PLAN_OF[type(event)].kind)
        item = speaker.items.get((kind, event.tool_call_id if kind == CALL_KIND else event.block_id))
        if item is None:
            yield from self.carry(speaker, event)
            return
        yield from self.open(speaker, item)
        fields = own_event(event, "delta")
        own = {"event": fields} if "metadata" in fields or "source_path" in fields else None
        _, content, _, key = TRIADS[kind]
        yield self.say(speaker, content, event.created_at, own, **{key: item.id}, delta=event.delta)

    def finish_block(self, speaker: Speaker, event: Any, before: str) -> Iterator[Wire]:
        """Close a message or arguments. A final text that only goes on is said; another one is for us to know."""
        kind = str(PLAN_OF[type(event)].kind)
        key = event.tool_call_id if kind == CALL_KIND else event.block_id
        item = speaker.items.get((kind, key))
        if item is None:
            yield from self.carry(speaker, event)
            return
        yield from self.open(speaker, item)
        text: str = getattr(event, "text", None) or ""
        if len(text) > len(before) and text.startswith(before):
            yield self.say(
                speaker, Type.TEXT_MESSAGE_CONTENT, event.created_at, {"copy": True}, messageId=item.id, delta=text[len(before) :]
            )
        block = self.reply(speaker).instances[kind][key].draft.snapshot()
        signature = block.get(SIGNATURE)
        if isinstance(signature, str):
            subtype = "tool-call" if kind == CALL_KIND else "message"
            fields = {"subtype": subtype, "entityId": item.id, "encryptedValue": signature}
            yield self.say(speaker, Type.REASONING_ENCRYPTED_VALUE, event.created_at, {"copy": True}, **fields)
        own: Wire = {"event": own_event(event), "created_at": block["created_at"]}
        yield from self.close(speaker, item, event.created_at, own)

    # --- data and hints ---------------------------------------------------------------------

    def _activity(self, speaker: Speaker, item: Item, block: Wire, at: str | None, own: Wire) -> Wire:
        fields = {"messageId": item.id, "activityType": f"{NAMESPACE}.{item.kind}", "content": block}
        return self.say(speaker, Type.ACTIVITY_SNAPSHOT, at, own, **fields)

    def data(self, speaker: Speaker, event: Any, _before: str) -> Iterator[Wire]:
        """Show a data block as it stands."""
        key = (DATA, event.block_id)
        ends = isinstance(event, structs.DataBlockEndEvent)
        item = speaker.items.get(key)
        if not ends or item is None:
            item = speaker.items[key] = Item(DATA, self.take("message", event.block_id), event.block_id)
        item.open = not ends
        block = self.reply(speaker).instances[DATA][event.block_id].draft.snapshot()
        yield self._activity(speaker, item, block, event.created_at, {"event": own_event(event)})

    def data_grew(self, speaker: Speaker, event: Any, _before: str) -> Iterator[Wire]:
        """Carry a delta of a data block, which is shown when it ends."""
        item = speaker.items.get((DATA, event.block_id))
        if item is not None:
            item.open = True
        yield from self.carry(speaker, event)

    def hint(self, speaker: Speaker, event: Any, _before: str) -> Iterator[Wire]:
        """Show a hint."""
        item = Item(HINT, self.take("message", event.block_id), event.block_id)
        block = self.reply(speaker).instances[HINT][event.block_id].draft.snapshot()
        yield self._activity(speaker, item, block, event.created_at, {"event": own_event(event, "hint")})

    # --- model calls -----------------------------------------------------------

    def model_called(self, speaker: Speaker, event: Any, _before: str) -> Iterator[Wire]:
        """Begin a step for a model call."""
        name = self.take("step", "model_call")
        speaker.steps.append((name, event.model_name))
        yield self.say(speaker, Type.STEP_STARTED, event.created_at, {"event": own_event(event)}, stepName=name)

    def model_answered(self, speaker: Speaker, event: Any, _before: str) -> Iterator[Wire]:
        """End the oldest step, and count its tokens."""
        name, model = speaker.steps.pop(0) if speaker.steps else ("", "")
        if self.run is not None:
            counts = self.run.usage.setdefault(model, [0, 0])
            counts[0] += event.input_tokens
            counts[1] += event.output_tokens
        if name:
            yield self.say(speaker, Type.STEP_FINISHED, event.created_at, {"event": own_event(event)}, stepName=name)
        else:
            yield from self.carry(speaker, event)
