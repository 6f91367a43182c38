"""
What goes on in a candidate of Gemini: the text, thinking or data that is open, and what is kept for the next block.

Law: a block is closed with the provider's fields, and before the next begins. A part that the contract has no place for is kept
whole: a CUSTOM event at its place, and `before` in the provider fields of the block that follows it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.halves import Halves, repaired
from eventfold.dialects.response import Response
from eventfold.jsonvalue import copy_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.dialects.translation import Decoder
    from eventfold.shape import Wire

    from .arguments import Arguments


@dataclass(slots=True)
class Flow:
    """A block or call that may go on."""

    key: int
    kind: str  #: text, thinking, data, or the kind of part that calls
    name: str = ""  #: of what is called, or the media type
    id: str = ""  #: as the provider gave it
    signed: bool = False  #: nothing may be joined with it
    arguments: Arguments | None = None
    extra: Wire = field(default_factory=dict[str, Any])
    answered: bool = False


class Flows:
    """Writes the blocks of one candidate."""

    def __init__(self, decoder: Decoder, reply_id: str) -> None:
        self.own: Wire = {}  #: metadata
        self.response = Response(decoder.event, reply_id)
        self._remark = decoder.remark
        self._halves = Halves()
        self._count = 0
        self._flow: Flow | None = None  # text, thinking or data that goes on
        self._waiting: list[Wire] = []  # kept parts, for the next block

    def custom(self, what: str, value: Wire) -> Any:
        """Make an event of what the contract has no event for."""
        return self.response.event(structs.CustomEvent, name=f"gemini.{what}", value=value)

    def _append(self, flow: Flow, piece: str) -> Iterator[Any]:
        text = self._halves.feed(flow.key, piece)
        if text:
            yield from self.response.append(flow.kind, flow.key, text)

    def _keep(self, part: Wire) -> Iterator[Any]:
        """Keep a part that the contract has no place for."""
        yield from self._rest()
        kept: Wire = repaired(copy_json(part))
        self._waiting.append(kept)
        yield self.custom("part", kept)

    def _new(self, kind: str, name: str = "") -> Flow:
        self._count += 1
        flow = Flow(self._count, kind, name)
        if self._waiting:
            flow.extra["before"], self._waiting = self._waiting, []
        return flow

    def _rest(self) -> Iterator[Any]:
        """End the text, thinking or data that goes on."""
        flow, self._flow = self._flow, None
        if flow is None:
            return
        rest = self._halves.rest(flow.key)
        if rest:
            yield from self.response.append(flow.kind, flow.key, rest)
        if self._halves.told():
            self._remark("event.lone-surrogate", "half of a surrogate pair has no other half")
        yield from self._close(flow)

    def _close(self, flow: Flow) -> Iterator[Any]:
        extra = flow.extra
        signature = extra.pop("thoughtSignature", None) if flow.kind == "thinking" else None
        if signature is not None:
            extra = {**extra, "thought": True}
        fields = {"x_gemini": extra or None, "signature": signature}
        self.response.extra(flow.key, **fields)  # noqa: S610  ours, and not Django's
        yield from self.response.close(flow.key)
