"""
Our events -> AG-UI.

Law: whatever comes, the client accepts what goes out, at every prefix; and what comes back of it folds to the same message.
An event that AG-UI has no word for, or not here, goes out whole as CUSTOM `eventfold.<TYPE>`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs
from eventfold_models.tables import DEFAULTS

from eventfold.dialects.translation import NAMESPACE
from eventfold.jsonvalue import copy_json, is_object
from eventfold.table import CALL_KIND, MACHINES, PLAN_OF, field_of

from .content import say_output
from .runs import Item, Runs, Speaker, own_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventfold.lifecycle import Instance
    from eventfold.shape import Wire

TEXT, THINKING, DATA, HINT = (str(MACHINES[name].kind) for name in ("text", "thinking", "data", "hint"))
_RESULT = MACHINES["result"]
_CLOSED = _RESULT.states["closed"]

#: What answers a parked reply: the run in which it was asked is over.
ANSWERS = (structs.UserConfirmResultEvent, structs.ExternalExecutionResultEvent, structs.UserInterruptEvent)
#: The provider field that AG-UI calls encryptedValue.
SIGNATURE = "signature"

#: What each kind of block is opened, continued and closed by, and the field with its id.
TRIADS = {
    TEXT: ("TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "messageId"),
    THINKING: ("REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_END", "messageId"),
    CALL_KIND: ("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "toolCallId"),
}


class AguiEncoder(Runs):
    """Writes a stream of AG-UI events."""

    def encode(self, event: Any) -> Iterator[Wire]:
        """Say an event."""
        kind: Any = event.__class__
        reply_id: str = getattr(event, "reply_id", None) or ""
        speaker = self.speakers.get(reply_id)
        first = kind is structs.ReplyStartEvent and speaker is None
        if speaker is None and reply_id and PLAN_OF[kind].steps:
            speaker = self._meet(event, first=first)
        if kind is structs.ReplyStartEvent and speaker is not None and not speaker.started:
            # What came before was no part of the reply, so that it is no redelivery when it comes again.
            speaker.started = True
            self.reply(speaker).seen.clear()
            self.reply(speaker).reused.clear()
        if speaker is not None and speaker.busy and kind in ANSWERS and self.waits(speaker) and self.idle():
            yield from self.close_run()
        before = self._text_of(event) if kind is structs.TextBlockEndEvent else ""
        applied = self.apply(event)
        if applied is None:
            return
        write = _WRITERS.get(kind) if applied and (speaker is None or speaker.end is None) else None
        if first and applied and speaker is not None:
            yield from self.enter(speaker, {"event": own_event(event)}, event.created_at, event.name)
        elif write is None or speaker is None:
            yield from self.carry(speaker, event)
        else:
            yield from self.resume(speaker)
            yield from write(self, speaker, event, before)

    def end(self) -> Iterator[Wire]:
        """End the run that is active."""
        yield from self.close_run()

    def _meet(self, event: Any, *, first: bool) -> Speaker:
        """Get to know a reply: from its start, or from the middle, as a stream does that goes on with a stored message."""
        role = (event.role if first else None) or DEFAULTS["ReplyStartEvent"]["role"]
        session = event.session_id if first else self.thread
        if not first:
            unknown = structs.ReplyStartEvent(id="eventfold", created_at=event.created_at, reply_id=event.reply_id, session_id="", name="")
            self.folder.feed(unknown)
        speaker = self.speakers[event.reply_id] = Speaker(event.reply_id, session, role, first)
        return speaker

    def _text_of(self, event: Any) -> str:
        """Give the text of a block before its end, which may replace it."""
        reply = self.folder.lifecycle.replies.get(event.reply_id)
        instance = reply.instances.get(TEXT, {}).get(event.block_id) if reply is not None else None
        return instance.draft.snapshot()["text"] if instance is not None and event.text else ""

    def carry(self, speaker: Speaker | None, event: Any) -> Iterator[Wire]:
        """Say an event whole, as CUSTOM. CUSTOM of ours are said as what they are."""
        if type(event) is structs.CustomEvent:
            yield from self.shelter()
            own = {"event": own_event(event, "name", "value")}
            # The value has to be there, so that null stands for none.
            given: Any = event.value
            value = copy_json(given) if is_object(given) else None
            yield {**self.say(speaker, "CUSTOM", event.created_at, own, name=event.name), "value": value}
            return
        if speaker is not None and speaker.end is None and PLAN_OF[type(event)].steps:
            yield from self.resume(speaker)
        yield from self.shelter()
        fields = own_event(event)
        yield self.say(speaker, "CUSTOM", event.created_at, {"carries": True}, name=f"{NAMESPACE}.{fields['type']}", value=fields)

    # --- blocks that grow -------------------------------------------------------------------

    def open(self, speaker: Speaker, item: Item) -> Iterator[Wire]:
        """Open something again that was closed when its run ended."""
        if not item.open:
            item.open = True
            if item.kind == THINKING:
                yield self.say(speaker, "REASONING_START", None, {"copy": True}, messageId=item.id)
            start, *_, key = TRIADS[item.kind]
            yield self.say(speaker, start, None, {"copy": True}, **{key: item.id}, **item.head)

    def close(self, speaker: Speaker, item: Item, at: str | None, own: Wire) -> Iterator[Wire]:
        """Close something."""
        item.open = False
        *_, end, key = TRIADS[item.kind]
        yield self.say(speaker, end, at, own, **{key: item.id})
        if item.kind == THINKING:
            yield self.say(speaker, "REASONING_END", at, {"copy": True}, messageId=item.id)

    def close_items(self, speaker: Speaker) -> Iterator[Wire]:
        """Close what is open of a reply."""
        for item in speaker.items.values():
            if item.open and item.kind == DATA:
                item.open = False
                yield self._activity(speaker, item, self.reply(speaker).instances[DATA][item.key].draft.snapshot(), None, {"copy": True})
            elif item.open:
                yield from self.close(speaker, item, None, {"copy": True})
        for name, _ in speaker.steps:
            yield self.say(speaker, "STEP_FINISHED", None, {"copy": True}, stepName=name)
        speaker.steps.clear()

    def start_text(self, speaker: Speaker, event: Any, _before: str) -> Iterator[Wire]:
        """Open a text or reasoning message."""
        kind = TEXT if isinstance(event, structs.TextBlockStartEvent) else THINKING
        head = {"role": speaker.role if kind == TEXT else "reasoning"}
        item = speaker.items[kind, event.block_id] = Item(kind, self.take("message", event.block_id), event.block_id, head)
        if kind == THINKING:
            yield self.say(speaker, "REASONING_START", event.created_at, {"copy": True}, messageId=item.id)
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
            yield self.say(speaker, "TEXT_MESSAGE_CONTENT", event.created_at, {"copy": True}, messageId=item.id, delta=text[len(before) :])
        block = self.reply(speaker).instances[kind][key].draft.snapshot()
        signature = block.get(SIGNATURE)
        if isinstance(signature, str):
            subtype = "tool-call" if kind == CALL_KIND else "message"
            fields = {"subtype": subtype, "entityId": item.id, "encryptedValue": signature}
            yield self.say(speaker, "REASONING_ENCRYPTED_VALUE", event.created_at, {"copy": True}, **fields)
        own: Wire = {"event": own_event(event), "created_at": block["created_at"]}
        yield from self.close(speaker, item, event.created_at, own)

    # --- data and hints ---------------------------------------------------------------------

    def _activity(self, speaker: Speaker, item: Item, block: Wire, at: str | None, own: Wire) -> Wire:
        fields = {"messageId": item.id, "activityType": f"{NAMESPACE}.{item.kind}", "content": block}
        return self.say(speaker, "ACTIVITY_SNAPSHOT", at, own, **fields)

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

    # --- model calls, and the end -----------------------------------------------------------

    def model_called(self, speaker: Speaker, event: Any, _before: str) -> Iterator[Wire]:
        """Begin a step for a model call."""
        name = self.take("step", "model_call")
        speaker.steps.append((name, event.model_name))
        yield self.say(speaker, "STEP_STARTED", event.created_at, {"event": own_event(event)}, stepName=name)

    def model_answered(self, speaker: Speaker, event: Any, _before: str) -> Iterator[Wire]:
        """End the oldest step, and count its tokens."""
        name, model = speaker.steps.pop(0) if speaker.steps else ("", "")
        if self.run is not None:
            counts = self.run.usage.setdefault(model, [0, 0])
            counts[0] += event.input_tokens
            counts[1] += event.output_tokens
        if name:
            yield self.say(speaker, "STEP_FINISHED", event.created_at, {"event": own_event(event)}, stepName=name)
        else:
            yield from self.carry(speaker, event)

    def reply_ended(self, speaker: Speaker, event: Any, _before: str) -> Iterator[Wire]:
        """Say the results that came from outside for good, and end the reply."""
        yield from self.results(speaker, list(self.reply(speaker).instances.get(CALL_KIND, {})))
        yield from self.ended(speaker, own_event(event))

    # --- calls ------------------------------------------------------------------------------

    def start_call(self, speaker: Speaker, event: Any, _before: str) -> Iterator[Wire]:
        """Open a call; one that goes on after its end is carried, since AG-UI has it already."""
        known = speaker.items.get((CALL_KIND, event.tool_call_id))
        if known is not None and not known.answered and self._place(speaker, event.tool_call_id) in speaker.places:
            yield from self.carry(speaker, event)
            return
        item = self._new_call(speaker, event.tool_call_id, event.tool_call_name)
        yield self.say(speaker, "TOOL_CALL_START", event.created_at, {"event": own_event(event)}, toolCallId=item.id, **item.head)

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
            yield self.say(speaker, "TOOL_CALL_START", None, {"copy": True}, toolCallId=item.id, **item.head)
            yield self.say(speaker, "TOOL_CALL_ARGS", None, {"copy": True}, toolCallId=item.id, delta=block["input"])
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
        return self.say(speaker, "TOOL_CALL_RESULT", at, own, **fields)


def _call_id(item: Any) -> str:
    """Give the id of the call that an item of a request or an answer is about, be it a struct or a dict."""
    call = field_of(item, "tool_call")
    return field_of(item if call is None else call, "id")


_WRITERS: dict[type[Any], Callable[[AguiEncoder, Speaker, Any, str], Iterator[Wire]]] = {
    structs.ReplyEndEvent: AguiEncoder.reply_ended,
    structs.ModelCallStartEvent: AguiEncoder.model_called,
    structs.ModelCallEndEvent: AguiEncoder.model_answered,
    structs.TextBlockStartEvent: AguiEncoder.start_text,
    structs.TextBlockDeltaEvent: AguiEncoder.grow,
    structs.TextBlockEndEvent: AguiEncoder.finish_block,
    structs.ThinkingBlockStartEvent: AguiEncoder.start_text,
    structs.ThinkingBlockDeltaEvent: AguiEncoder.grow,
    structs.ThinkingBlockEndEvent: AguiEncoder.finish_block,
    structs.DataBlockStartEvent: AguiEncoder.data,
    structs.DataBlockDeltaEvent: AguiEncoder.data_grew,
    structs.DataBlockEndEvent: AguiEncoder.data,
    structs.HintBlockEvent: AguiEncoder.hint,
    structs.ToolCallStartEvent: AguiEncoder.start_call,
    structs.ToolCallDeltaEvent: AguiEncoder.grow,
    structs.ToolCallEndEvent: AguiEncoder.finish_block,
    structs.ToolResultEndEvent: AguiEncoder.result_ended,
    structs.RequireUserConfirmEvent: AguiEncoder.asked,
    structs.RequireExternalExecutionEvent: AguiEncoder.asked,
    structs.UserConfirmResultEvent: AguiEncoder.asked,
    structs.ExternalExecutionResultEvent: AguiEncoder.executed,
}
