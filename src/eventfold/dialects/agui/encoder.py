"""
Our events -> AG-UI.

Law: whatever comes, the client accepts what goes out, at every prefix; and what comes back of it folds to the same message.
An event that AG-UI has no word for, or not here, goes out whole as CUSTOM `eventfold.<TYPE>`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs
from eventfold_models.tables import DEFAULTS

from eventfold.table import CALL_KIND, PLAN_OF

from .block_writer import TEXT
from .call_writer import CallWriter
from .runs import Speaker, own_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventfold.shape import Wire

#: What answers a parked reply: the run in which it was asked is over.
ANSWERS = (structs.UserConfirmResultEvent, structs.ExternalExecutionResultEvent, structs.UserInterruptEvent)


class AguiEncoder(CallWriter):
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
            if speaker.end is None:
                self.reply(speaker).seen.clear()
                self.reply(speaker).reused.clear()
            else:
                # Nor was its end: the reply begins now, and all of it is carried whole.
                self.folder.lifecycle.forget(reply_id)
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

    def reply_ended(self, speaker: Speaker, event: Any, _before: str) -> Iterator[Wire]:
        """Say the results that came from outside for good, and end the reply."""
        yield from self.results(speaker, list(self.reply(speaker).instances.get(CALL_KIND, {})))
        speaker.end = own_event(event)
        if speaker.tag is None and not self.idle():
            # Its run has to wait for others. What comes for the reply meanwhile comes after its end.
            speaker.told = True
            yield from self.carry(speaker, event)
        yield from self.ended(speaker)


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
