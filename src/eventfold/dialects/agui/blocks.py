"""
Text and reasoning messages of AG-UI -> blocks of ours.

Law: content whose opener is missing begins a block all the same, so that half an answer is not lost. The end of reasoning
and of a call is held back for one event, since an encrypted value may follow it, which only the end can carry.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from eventfold_models import structs

from .outcomes import Outcomes
from .shapes import Type

if TYPE_CHECKING:
    from eventfold.shape import Wire

    from .lanes import Lane

#: Where an encrypted value stands in ours: providers call it the signature.
SIGNATURE = "signature"


class Kind(NamedTuple):
    """The classes of a kind of block."""

    start: Any
    delta: Any
    end: Any


TEXT = Kind(structs.TextBlockStartEvent, structs.TextBlockDeltaEvent, structs.TextBlockEndEvent)
THINKING = Kind(structs.ThinkingBlockStartEvent, structs.ThinkingBlockDeltaEvent, structs.ThinkingBlockEndEvent)


@dataclass(eq=False)
class Block:
    """A text or thinking block, by its message id in AG-UI."""

    lane: Lane
    id: str
    kind: Kind
    role: str = ""  #: who speaks, if not the reply: then it becomes a hint
    parts: list[str] = field(default_factory=list[str])
    extra: Wire = field(default_factory=dict[str, Any])
    metadata: Wire | None = None
    open: bool = True


class Blocks(Outcomes):
    """What is known of the messages of a stream."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: dict[tuple[Kind, str], Block] = {}
        self.seen: set[str] = set()  #: ids of messages that were streamed
        self._held: tuple[str, str, Any, Wire, Wire] | None = None

    # --- ends that are held back ------------------------------------------------------------

    def _hold(self, subtype: str, key: str, kind: Any, fields: Wire, extra: Wire) -> None:
        """Hold an end back."""
        self._held = (subtype, key, kind, {"created_at": self.now, **fields}, extra)

    def belongs(self, event: Wire) -> bool:
        """Tell whether an event belongs to what was held back, so that it may wait."""
        if self._held is None:
            return True
        return event["type"] == Type.REASONING_ENCRYPTED_VALUE or (
            event["type"] == Type.REASONING_END and event["messageId"] == self._held[1]
        )

    def release(self) -> None:
        """Give the end that was held back."""
        if self._held is not None:
            _, _, kind, fields, extra = self._held
            self._held = None
            self.add(kind, **fields, extra=extra or None)

    def encrypted(self, event: Wire) -> None:
        """Put an encrypted value where the end of what it belongs to carries it; keep it if that has gone."""
        subtype, key = event["subtype"], event["entityId"]
        extra = None
        if self._held is not None and self._held[:2] == (subtype, key):
            extra = self._held[4]
        elif subtype == "tool-call":
            call = self.calls.get(key)
            extra = call.extra if call is not None and call.open else None
        else:
            blocks = (self.blocks.get((kind, key)) for kind in (TEXT, THINKING))
            extra = next((block.extra for block in blocks if block is not None and block.open and not block.role), None)
        rest = self.kept(event, "subtype", "entityId", "encryptedValue")
        if extra is None or SIGNATURE in extra or rest is not None:
            self.keep(event)
        else:
            extra[SIGNATURE] = event["encryptedValue"]

    # --- text and reasoning -----------------------------------------------------------------

    def started(self, event: Wire, kind: Kind) -> None:
        """Begin a block, unless it is open."""
        if self._open(kind, event) is not None:
            self.keep(event)
        else:
            self._start(event, kind)

    def grew(self, event: Wire, kind: Kind) -> None:
        """Let a block grow."""
        block = self._open(kind, event)
        if block is None:
            block = self._start({key: event[key] for key in ("messageId", "subagentRunId") if key in event}, kind)
        if block.role:
            block.parts.append(event["delta"])
            self._note_rest(event, "messageId", "delta")
            return
        metadata = self.kept(event, "messageId", "delta")
        self.add(kind.delta, reply_id=block.lane.reply_id, block_id=block.id, delta=event["delta"], metadata=metadata)

    def closed(self, event: Wire, kind: Kind) -> None:
        """End a block."""
        block = self._open(kind, event)
        if block is None:
            self.keep(event)
            return
        block.open = False
        if block.role:
            self._note_rest(event, "messageId")
            self.hint(block)
            return
        fields: Wire = {"reply_id": block.lane.reply_id, "block_id": block.id, "metadata": self.kept(event, "messageId")}
        if kind is THINKING:
            self._hold("message", event["messageId"], kind.end, fields, block.extra)
        else:
            self.add(kind.end, **fields, extra=block.extra or None)

    def _open(self, kind: Kind, event: Wire) -> Block | None:
        block = self.blocks.get((kind, event["messageId"]))
        return block if block is not None and block.open and not block.lane.ended else None

    def _start(self, event: Wire, kind: Kind) -> Block:
        """Begin a block; a message of another role than the reply's is a hint, which comes whole."""
        key: str = event["messageId"]
        self.seen.add(key)
        lane = self.lane(event)
        role = event.get("role", "")
        block = self.blocks[kind, key] = Block(lane, self.unique(f"{lane.reply_id}\0{kind.start.__name__}", key), kind)
        used = ("messageId", "role") if role in {"assistant", "reasoning", ""} else ("messageId",)
        metadata = self.kept(event, *used)
        if kind is TEXT and role not in {"", "assistant"}:
            block.role, block.metadata = role, metadata
        else:
            self.add(kind.start, reply_id=lane.reply_id, block_id=block.id, metadata=metadata)
        return block

    def hint(self, block: Block) -> None:
        """Give a message of another role as a hint."""
        fields: Wire = {"block_id": block.id, "hint": "".join(block.parts), "source": block.role, "metadata": block.metadata}
        block.open, block.parts = False, []
        self.add(structs.HintBlockEvent, reply_id=block.lane.reply_id, **fields)

    def give_hints(self) -> None:
        """Give what there is of the messages of other roles that have not ended."""
        for block in self.blocks.values():
            if block.role and block.open:
                self.hint(block)

    def _note_rest(self, event: Wire, *used: str) -> None:
        if self.kept(event, *used) is not None:
            self.keep(event)
