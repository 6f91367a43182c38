"""
One model response -> the events of one reply: what every provider's stream has in common.

Law: a response is one reply with one model call. Its blocks are kept by the provider's own keys and closed in the order in
which they began; its usage is counted once. When tools are called that the client has to run, the reply parks: the calls are
requested by REQUIRE_EXTERNAL_EXECUTION (by REQUIRE_USER_CONFIRM, if the user is asked first), and there is no REPLY_END. A
stream that stops without saying why ends as an error.

Names of what the contract has no field for: on a block, a field `x_<provider>` that holds the provider's own fields under their
own names (and `signature` on a thinking block, which is what AgentScope calls it); on a message, metadata["<provider>"].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eventfold_models import structs
from eventfold_models.tables import DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from eventfold.shape import Wire

#: The events of each kind of block: start, delta, end.
_TRIADS: dict[str, tuple[Any, Any, Any]] = {
    "text": (structs.TextBlockStartEvent, structs.TextBlockDeltaEvent, structs.TextBlockEndEvent),
    "thinking": (structs.ThinkingBlockStartEvent, structs.ThinkingBlockDeltaEvent, structs.ThinkingBlockEndEvent),
    "data": (structs.DataBlockStartEvent, structs.DataBlockDeltaEvent, structs.DataBlockEndEvent),
}


@dataclass(slots=True)
class _Part:
    """A block or call of the response."""

    kind: str  #: text, thinking, data, tool_call
    id: str
    name: str = ""  #: of a call
    text: list[str] = field(default_factory=list[str])  #: what a call's arguments are made of
    extra: Wire = field(default_factory=dict[str, Any])
    open: bool = True
    answered: bool = False
    asked: bool = False  #: of a call: the user has to allow it


class Response:
    """Writes the events of one response. Methods give events; keys are the provider's own, of any hashable kind."""

    def __init__(self, make: Callable[..., Any], reply_id: str) -> None:
        self.reply_id = reply_id
        self.ended = False
        self.parts: dict[Hashable, _Part] = {}
        self.usage: Wire = {}  #: fields of MODEL_CALL_END, as last seen
        self.metadata: Wire = {}  #: of the message, set when it ends, and of MODEL_CALL_END
        self._make = make
        self._count = 0

    def event(self, kind: Any, **fields: Any) -> Any:
        """Make an event of this reply."""
        return self._make(kind, reply_id=self.reply_id, **fields)

    def start(self, model: str, *, name: str = "assistant", session_id: str = "", metadata: Wire | None = None) -> Iterator[Any]:
        """Begin the reply and its model call."""
        yield self.event(structs.ReplyStartEvent, session_id=session_id, name=name, metadata=metadata)
        yield self.event(structs.ModelCallStartEvent, model_name=model)

    def is_open(self, key: Hashable) -> bool:
        """Tell whether the key names something open."""
        return key in self.parts and self.parts[key].open

    def open(self, kind: str, key: Hashable, **fields: Any) -> Iterator[Any]:
        """Open a text, thinking or data block under a key; what was closed under it is replaced. Does nothing when it is open."""
        if self.is_open(key):
            return
        self._count += 1
        part = _Part(kind, f"{self.reply_id}/{self._count}")
        self.parts[key] = part
        yield self.event(_TRIADS[kind][0], block_id=part.id, **fields)

    def append(self, kind: str, key: Hashable, delta: str) -> Iterator[Any]:
        """Append to the text or thinking block of a key, which is opened when it is not open."""
        yield from self.open(kind, key)
        yield self.event(_TRIADS[kind][1], block_id=self.parts[key].id, delta=delta)

    def data(self, key: Hashable, media_type: str, **content: str) -> Iterator[Any]:
        """Give a data block's `data` (a base64 document) or `url`; the block is opened when it is not open."""
        yield from self.open("data", key, media_type=media_type)
        yield self.event(structs.DataBlockDeltaEvent, block_id=self.parts[key].id, media_type=media_type, **content)

    def call(self, key: Hashable, call_id: str, name: str) -> Iterator[Any]:
        """Begin a tool call."""
        self.parts[key] = _Part("tool_call", call_id, name)
        yield self.event(structs.ToolCallStartEvent, tool_call_id=call_id, tool_call_name=name)

    def arguments(self, key: Hashable, delta: str) -> Iterator[Any]:
        """Append to a call's arguments."""
        part = self.parts[key]
        part.text.append(delta)
        yield self.event(structs.ToolCallDeltaEvent, tool_call_id=part.id, delta=delta)

    def ask(self, key: Hashable) -> None:
        """Leave a call to the user's consent: when the response ends, it is asked about and not handed out."""
        self.parts[key].asked = True

    def extra(self, key: Hashable, **fields: Any) -> None:
        """Remember provider fields, which are set on the block when it closes."""
        self.parts[key].extra.update({name: value for name, value in fields.items() if value is not None})

    def close(self, key: Hashable, text: str | None = None) -> Iterator[Any]:
        """Close what a key names; `text` is the final text of a text block, if it differs from its deltas."""
        part = self.parts[key]
        if not part.open:
            return
        part.open = False
        extra = part.extra or None
        if part.kind == "tool_call":
            yield self.event(structs.ToolCallEndEvent, tool_call_id=part.id, extra=extra)
        elif part.kind == "text":
            yield self.event(structs.TextBlockEndEvent, block_id=part.id, text=text, extra=extra)
        else:
            yield self.event(_TRIADS[part.kind][2], block_id=part.id, extra=extra)

    def close_all(self, *but: str) -> Iterator[Any]:
        """Close everything that is open, in the order of its start, but for the kinds that are named."""
        for key in [key for key, part in self.parts.items() if part.open and part.kind not in but]:
            yield from self.close(key)

    def result(self, key: Hashable, output: str, state: str = "success", metadata: Wire | None = None) -> Iterator[Any]:
        """Give the whole result of a call that the provider ran itself."""
        part = self.parts[key]
        yield from self.close(key)
        part.answered = True
        yield self.event(structs.ToolResultStartEvent, tool_call_id=part.id, tool_call_name=part.name)
        if output:
            yield self.event(structs.ToolResultTextDeltaEvent, tool_call_id=part.id, delta=output)
        yield self.event(structs.ToolResultEndEvent, tool_call_id=part.id, state=state, metadata=metadata)

    def end(self, reason: str = "completed", error: Wire | None = None, **fields: Any) -> Iterator[Any]:
        """End the response: close what is open, count the usage once, then park for the client's tools, or end the reply."""
        if self.ended:
            return
        self.ended = True
        yield from self.close_all()
        metadata = self.metadata or None
        tokens = {"input_tokens": 0, "output_tokens": 0, **self.usage}
        interrupted = {"finished_reason": "interrupted"} if reason == "interrupted" else {}
        yield self.event(structs.ModelCallEndEvent, **tokens, **interrupted, metadata=metadata)
        waiting = [part for part in self.parts.values() if part.kind == "tool_call" and not part.answered]
        if waiting and reason == "completed":
            for kind, asked in ((structs.RequireUserConfirmEvent, True), (structs.RequireExternalExecutionEvent, False)):
                calls = [self._block(part) for part in waiting if part.asked is asked]
                if calls:
                    yield self.event(kind, tool_calls=calls, metadata=metadata)
            return
        yield self.event(structs.ReplyEndEvent, session_id="", finished_reason=reason, error=error, metadata=metadata, **fields)

    def stop(self, what: str) -> Iterator[Any]:
        """End a response whose stream stopped without saying why."""
        yield from self.end("error", {"type": "connection", "message": what})

    def _block(self, part: _Part) -> Wire:
        state: str = DEFAULTS["ToolCallBlock"]["state"]
        return {"type": "tool_call", "id": part.id, "name": part.name, "input": "".join(part.text), "state": state, **part.extra}
