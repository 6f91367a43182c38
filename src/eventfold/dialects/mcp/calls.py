"""
A call of ours on its way out: what of it has been said, what is held back, and what its result is so far.

Law: the output is what the fold makes of the same events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.draft import DataDraft, ResultDraft
from eventfold.jsonvalue import copy_json, is_object
from eventfold.lifecycle import decode_base64

if TYPE_CHECKING:
    from eventfold.shape import Wire


class Output:
    """What a running result holds."""

    def __init__(self, call_id: str) -> None:
        self.draft = ResultDraft({"id": call_id})
        self.parts: dict[str, DataDraft] = {}
        self.metadata: Wire | None = None
        self.refilled = False  #: it came from outside, and the first delta replaces it

    def fill(self, block: Wire) -> None:
        """Take the output that came from outside."""
        self.clear()
        self.draft.output = copy_json(block["output"])
        self.metadata = copy_json(block.get("metadata"))
        self.refilled = True

    def clear(self) -> None:
        """Forget the output."""
        self.draft.clear()
        self.parts.clear()
        self.refilled = False

    def append(self, event: Any) -> bool:
        """Append a delta, and tell whether it was in order; one that was not changes what the fold changes."""
        if self.refilled:
            self.clear()
        if isinstance(event, structs.ToolResultTextDeltaEvent):
            self.draft.append_text(event.delta)
            return True
        is_url = isinstance(event.url, str)
        try:
            data = b"" if is_url else decode_base64(event.data)
        except ValueError:
            return False
        part = self.parts.get(event.block_id)
        fresh = part is None
        if part is None:
            part = self.parts[event.block_id] = DataDraft(
                {"type": "data", "id": event.block_id}, {"type": "base64", "media_type": event.media_type}
            )
            self.draft.open_output()
            self.draft.parts.append(part)
        if part.data is None:
            return False
        if is_url:
            part.set_url(event.url)
            return fresh
        part.data += data
        return True

    def block(self, call: Call, event: Any) -> Wire:
        """Give the result as a block, as TOOL_RESULT_END closes it."""
        block: Wire = {
            "type": "tool_result",
            "id": call.id,
            "name": call.name,
            "output": self.draft.snapshot()["output"],
            "state": event.state,
        }
        given = event.metadata if is_object(event.metadata) else None
        if given is None and self.metadata is None:
            return block
        return {**block, "metadata": {**(self.metadata or {}), **copy_json(given or {})}}


class Call:
    """A call, and what of it has not been said yet."""

    def __init__(self, reply_id: str, call_id: str, name: str) -> None:
        self.reply_id = reply_id
        self.id = call_id
        self.name = name
        self.pieces: list[str] = []
        self.held: list[Any] = []  #: events of the arguments, or deltas of the result, in order
        self.seen: set[str] = set()  #: ids of events that were held back
        self.end: Any = None  #: TOOL_CALL_END
        self.odd = False  #: it is told by notifications alone
        self.told = False  #: its arguments were told by notifications
        self.asked: bool | None = None  #: whether a user is asked; None when nobody was
        self.request: int | None = None  #: id of the request that is not answered
        self.output: Output | None = None  #: while the result runs
        self.output_told = False  #: its result is told by notifications

    @property
    def ready(self) -> bool:
        """Tell whether it could be sent."""
        return self.end is not None and not self.odd and self.request is None

    def hold(self, event: Any) -> None:
        """Hold an event back."""
        self.seen.add(event.id)
        self.held.append(event)

    def release(self) -> list[Any]:
        """Give what was held back, to be told; from now on, this half of the call is told so."""
        held, self.held = self.held, []
        self.told = True
        self.output_told = self.output_told or self.output is not None
        return held

    def answer(self, *, confirmed: bool, name: str, text: str) -> None:
        """Take the user's answer: the call as it was confirmed is what runs; one that was denied does not."""
        if self.asked:
            self.asked = False
            self.odd = self.odd or not confirmed
            self.name, self.pieces = name, [text]
