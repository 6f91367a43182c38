"""
A block's artifact: what of a block that grows has been sent, and what has not.

Law: the parts that were sent since the last replacement, put together, are the block as it stands; growing costs what has
grown. What was not sent is found by looking, not by what an event means to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from eventfold.draft import BlockDraft, DataDraft, ResultDraft, TextDraft

from .content import HOLDING, base64_of, source_part, text_part, write_block
from .notes import noted, text_of

if TYPE_CHECKING:
    from eventfold.shape import Wire


class Update(NamedTuple):
    """What brings an artifact up to date."""

    parts: list[Wire]
    append: bool
    head: str | None  #: the block's head, as text; None when it is as it was


class Mirror:
    """What has been sent of a block."""

    def __init__(self, draft: BlockDraft) -> None:
        self.draft = draft
        self.head = ""
        self._basis: Any = None  #: what content was sent of: when it is another, all is sent again
        self._length = 0  #: how much of it
        self._children: list[Mirror] = []
        self._by_id: dict[str, Mirror] = {}

    def update(self, part: str = "") -> Update | None:
        """Give what was not sent, and count it as sent. `part` names a data block inside a result that may have grown."""
        head = text_of(_head_of(self.draft))
        if self._basis is not (basis := _basis_of(self.draft)):
            self._basis, self.head = basis, head
            return Update(self._whole(), append=False, head=head)
        parts = [] if isinstance(self.draft, ResultDraft) and self.draft.output is not None else self._grown(part)
        if parts is None:
            self._basis = basis
            return Update(self._whole(), append=False, head=head)
        if not parts and head == self.head:
            return None
        changed = head if head != self.head else None
        self.head = head
        return Update(parts or [text_part(self.draft.wire["type"], "")], append=True, head=changed)

    def _whole(self) -> list[Wire]:
        """Give all parts."""
        draft = self.draft
        self._length = (
            draft.buffer.tell() if isinstance(draft, TextDraft) else len(draft.data or b"") if isinstance(draft, DataDraft) else 0
        )
        self._children, self._by_id = [], {}
        if isinstance(draft, ResultDraft) and draft.output is None:
            for child in draft.parts:
                self._adopt(child)
        return write_block(draft.snapshot())[1]

    def _adopt(self, child: BlockDraft) -> Update | None:
        mirror = Mirror(child)
        self._children.append(mirror)
        if not isinstance(child, TextDraft):
            self._by_id[child.wire["id"]] = mirror
        return mirror.update()

    def _grown(self, part: str) -> list[Wire] | None:
        """Give the parts that have come since; None when what was there is no longer."""
        draft = self.draft
        if isinstance(draft, TextDraft):
            draft.buffer.seek(self._length)
            text = draft.buffer.read()
            self._length += len(text)
            return [text_part(draft.wire["type"], text)] if text else []
        if isinstance(draft, DataDraft):
            data = bytes(draft.data[self._length :]) if draft.data is not None else b""
            self._length += len(data)
            return [source_part(draft.wire | {"source": draft.source}, raw=base64_of(data))] if data else []
        return self._grown_result(draft, part) if isinstance(draft, ResultDraft) else []

    def _grown_result(self, draft: ResultDraft, part: str) -> list[Wire] | None:
        parts: list[Wire] = []
        looked_at = [*self._children[-1:], *([self._by_id[part]] if part in self._by_id else [])]
        for child in dict.fromkeys(looked_at):
            update = child.update()
            if update is None:
                continue
            if not update.append:
                return None
            noting = {} if isinstance(child.draft, TextDraft) else {"metadata": noted(part=child.draft.wire["id"])}
            parts += [piece | noting for piece in update.parts]
        for child in draft.parts[len(self._children) :]:
            update = self._adopt(child)
            if update is not None:
                parts += [piece | {"metadata": noted(block=update.head or "")} for piece in update.parts]
        return parts


def _basis_of(draft: BlockDraft) -> Any:
    """Give the object that holds the content: appending keeps it, replacing makes another."""
    if isinstance(draft, TextDraft):
        return draft.buffer
    if isinstance(draft, DataDraft):
        return draft.source if draft.data is None else draft.data
    if isinstance(draft, ResultDraft):
        return draft.parts if draft.output is None else draft.output
    return draft


def _head_of(draft: BlockDraft) -> Wire:
    """Give a block's head, as write_block does, without looking at what is long."""
    if isinstance(draft, TextDraft):
        return {key: item for key, item in draft.wire.items() if key != draft.field}
    if isinstance(draft, DataDraft):
        if draft.data is None:
            return write_block(draft.snapshot())[0]
        return draft.wire | {"source": {key: item for key, item in draft.source.items() if key != "data"}}
    if isinstance(draft, ResultDraft):
        field = HOLDING["tool_result"]
        head = {key: item for key, item in draft.wire.items() if key != field}
        return head if isinstance(draft.output, str) else head | {field: []}
    return write_block(draft.wire)[0]
