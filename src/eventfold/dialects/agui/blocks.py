"""
Messages, calls and results of AG-UI -> blocks of ours.

Law: content whose opener is missing begins a block all the same, so that half an answer is not lost. The end of reasoning
and of a call is held back for one event, since an encrypted value may follow it, which only the end can carry.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from eventfold_models import structs

from eventfold.jsonvalue import copy_json

from .content import LEFT, read_output
from .lanes import FOREIGN, Call, Lane, Lanes

if TYPE_CHECKING:
    from eventfold.shape import Wire

#: Where an encrypted value stands in ours: providers call it the signature.
SIGNATURE = "signature"
#: A loss of what others send.
MERGED = "texts that follow each other in a result become one"


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


class Blocks(Lanes):
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
        return event["type"] == "REASONING_ENCRYPTED_VALUE" or (event["type"] == "REASONING_END" and event["messageId"] == self._held[1])

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

    # --- calls and results ------------------------------------------------------------------

    def call_started(self, event: Wire) -> None:
        """Begin a call, unless its arguments are open."""
        call = self.calls.get(event["toolCallId"])
        if call is not None and call.open and not call.lane.ended:
            self.keep(event)
        else:
            self._start_call(event)

    def call_grew(self, event: Wire) -> None:
        """Let the arguments of a call grow."""
        call = self.calls.get(event["toolCallId"])
        if call is None or not call.open or call.lane.ended:
            head = {key: event[key] for key in ("toolCallId", "subagentRunId") if key in event}
            call = self._start_call({**head, "toolCallName": call.name if call is not None else ""})
        call.args.append(event["delta"])
        metadata = self.kept(event, "toolCallId", "delta")
        fields: Wire = {"tool_call_id": call.id, "delta": event["delta"], "metadata": metadata}
        self.add(structs.ToolCallDeltaEvent, reply_id=call.lane.reply_id, **fields)

    def call_ended(self, event: Wire) -> None:
        """End the arguments of a call."""
        call = self.calls.get(event["toolCallId"])
        if call is None or not call.open or call.lane.ended:
            self.keep(event)
            return
        call.open = False
        fields: Wire = {"tool_call_id": call.id, "metadata": self.kept(event, "toolCallId")}
        self._hold("tool-call", event["toolCallId"], structs.ToolCallEndEvent, {"reply_id": call.lane.reply_id, **fields}, call.extra)

    def _start_call(self, event: Wire) -> Call:
        """Begin a call. One that is known goes on, as long as it has no result."""
        key: str = event["toolCallId"]
        lane = self.lane(event)
        call = self.calls.get(key)
        if call is None or call.answered or call.lane is not lane:
            call = self.calls[key] = Call(lane, self.unique(f"{lane.reply_id}\0call", key), event["toolCallName"])
        call.open = True
        metadata = self.kept(event, "toolCallId", "toolCallName")
        name = event["toolCallName"]
        self.add(structs.ToolCallStartEvent, reply_id=lane.reply_id, tool_call_id=call.id, tool_call_name=name, metadata=metadata)
        return call

    def result(self, event: Wire) -> None:
        """Give a result whole. A second one for a call is kept beside it."""
        self.seen.add(event["messageId"])
        call = self.calls.get(event["toolCallId"])
        if call is not None and call.answered:
            self.keep(event)
            return
        if call is None:
            lane = self.lane(event)
            call = self.calls[event["toolCallId"]] = Call(lane, self.unique(f"{lane.reply_id}\0call", event["toolCallId"]), "")
        call.answered = True
        fields: Wire = {"reply_id": call.lane.reply_id, "tool_call_id": call.id}
        self.add(structs.ToolResultStartEvent, **fields, tool_call_name=call.name)
        if isinstance(event["content"], str):
            if event["content"]:
                self.add(structs.ToolResultTextDeltaEvent, **fields, delta=event["content"])
        else:
            self._parts(event, fields)
        # What is said here becomes the metadata of the result.
        metadata = self.kept(event, "messageId", "toolCallId", "content", "role")
        self.add(structs.ToolResultEndEvent, **fields, state="success", metadata=metadata)

    def _parts(self, event: Wire, fields: Wire) -> None:
        before = ""
        for block in read_output(event["content"], None, f"{event['messageId']}/"):
            kept = {FOREIGN: {"part": block[LEFT]}} if LEFT in block else None
            if block["type"] == "text":
                if before == "text":
                    self.lose(MERGED, "/content")
                self.add(structs.ToolResultTextDeltaEvent, **fields, delta=block["text"], metadata=kept)
            else:
                source = block["source"]
                given = {key: source[key] for key in ("data", "url", "media_type") if key in source}
                self.add(structs.ToolResultDataDeltaEvent, **fields, **given, block_id=block["id"], metadata=kept)
            before = block["type"]

    def snapshot(self, event: Wire) -> None:
        """Keep a snapshot, and take out of it what this run said and nobody streamed: what follows the last user message."""
        self.keep(event)
        said: list[Wire] = []
        for message in event["messages"]:
            said = [] if message["role"] == "user" else [*said, message]
        for message in said:
            if message["id"] in self.seen:
                continue
            self.seen.add(message["id"])
            for told in _streamed(message):
                self.replay(copy_json(told))

    def replay(self, event: Wire) -> None:
        """Translate an event that a snapshot stands for."""
        raise NotImplementedError


def _streamed(message: Wire) -> list[Wire]:
    """Say a message of a snapshot as the events that it could have been streamed by."""
    role, key = message["role"], message["id"]
    tag = {"subagentRunId": message["subagentRunId"]} if "subagentRunId" in message else {}
    text = message.get("content")
    if role == "tool":
        return [{"type": "TOOL_CALL_RESULT", "messageId": key, "toolCallId": message["toolCallId"], "content": text, **tag}]
    if role not in {"assistant", "reasoning"}:
        return []
    name = "TEXT_MESSAGE" if role == "assistant" else "REASONING_MESSAGE"
    events: list[Wire] = []
    if text:
        events = [
            {"type": f"{name}_START", "messageId": key, **tag, "role": role},
            {"type": f"{name}_CONTENT", "messageId": key, **tag, "delta": text},
            {"type": f"{name}_END", "messageId": key, **tag},
        ]
    if "encryptedValue" in message:
        value = {"subtype": "message", "entityId": key, "encryptedValue": message["encryptedValue"]}
        events.insert(-1, {"type": "REASONING_ENCRYPTED_VALUE", **value})
    for call in message.get("toolCalls", ()):
        function = call["function"]
        events += [
            {"type": "TOOL_CALL_START", "toolCallId": call["id"], "toolCallName": function["name"], "parentMessageId": key, **tag},
            {"type": "TOOL_CALL_ARGS", "toolCallId": call["id"], **tag, "delta": function["arguments"]},
            {"type": "TOOL_CALL_END", "toolCallId": call["id"], **tag},
        ]
    return events
