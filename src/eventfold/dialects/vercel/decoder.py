"""
Chunks of a UI message stream -> events.

Law: a message is a reply, and a step is a model call. What the message holds and no block of ours stands for (sources, data, metadata)
is told in CUSTOM events, and stands in the message's metadata. A message that waits for outputs or answers goes on when they come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.halves import repaired
from eventfold.dialects.run import Run
from eventfold.dialects.translation import UNFIT, UNKNOWN, Decoder, Unfit
from eventfold.jsonvalue import copy_json, depth_of, is_object

from .message import Message, add_part, custom, merged
from .shapes import check

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from eventfold.shape import Wire

    from .tools import Tool

_DEEPEST = 100
_KINDS = {"text": "text", "reasoning": "thinking"}
#: Chunks that do not begin a reply where none has begun, besides data-*.
_BESIDE = frozenset({"message-metadata", "source-url", "source-document"})
#: What begins a block of the message.
_BLOCKS = (
    structs.TextBlockStartEvent,
    structs.ThinkingBlockStartEvent,
    structs.DataBlockStartEvent,
    structs.ToolCallStartEvent,
    structs.ToolResultStartEvent,
    structs.ExternalExecutionResultEvent,
)


class VercelDecoder(Decoder):
    """Reads a UI message stream."""

    halves = True

    def __init__(self) -> None:
        super().__init__()
        self._message: Message | None = None
        self._parked: dict[str, Message] = {}
        self._before: list[Wire] = []  #: parts that came before the message began
        self._metadata: Any = None  #: of the message that has not begun
        self._ids: dict[str, int] = {}  #: ids that replies have, and how often each was wanted

    def decode(self, value: Any) -> Iterator[Any]:
        """Translate a chunk. Raises Unfit."""
        if depth_of(value) > _DEEPEST:
            raise Unfit(UNFIT, f"nests deeper than {_DEEPEST}")
        kind = value.get("type") if is_object(value) else None
        if not is_object(value) or not isinstance(kind, str):
            raise Unfit(UNFIT, "a chunk is an object with a type")
        if not check(value, kind):
            self.remark(UNKNOWN, f"{kind!r} is no type of chunk that the dialect knows")
            yield custom(self.event, kind, value)
            return
        for event in self._chunk(kind, value):
            if isinstance(event, _BLOCKS) and self._message is not None:
                self._message.blocks += 1
            yield event

    def done(self) -> Iterator[Any]:
        """Translate [DONE], with which the stream ends."""
        if self._message is not None and self._message.error is None:
            self.remark("vercel.no-finish", "[DONE] comes without a finish")
        yield from self._end("completed")

    def end(self) -> Iterator[Any]:
        """End a message that neither finish nor [DONE] has ended."""
        if self._message is not None:
            self._cut(self._message, "the stream stopped before its end")
        yield from self._end("completed")

    def _chunk(self, kind: str, chunk: Wire) -> Iterator[Any]:
        if kind == "start":
            yield from self._start(chunk)
        elif kind.startswith("data-") or kind in _BESIDE:
            yield from self._beside(kind, chunk)
        elif kind.startswith(("tool-output", "tool-approval")):
            yield from self._answer(kind, chunk)
        elif kind in {"finish", "abort"}:
            yield from self._finish(kind, chunk)
        else:
            message = yield from self._ensure()
            yield from self._content(message, kind, chunk)

    def _content(self, message: Message, kind: str, chunk: Wire) -> Iterator[Any]:
        name, _, what = kind.partition("-")
        if kind == "error":
            message.error = {"type": "upstream", "message": repaired(chunk["errorText"])}
        elif kind == "start-step":
            yield from message.start_step()
        elif kind == "finish-step":
            yield from message.finish_step()
        elif kind in {"file", "reasoning-file"}:
            yield from message.file(chunk)
        elif name in _KINDS:
            yield from message.text(_KINDS[name], what, chunk)
        else:
            yield from self._input(message, kind, chunk)

    # The message.

    def _start(self, chunk: Wire) -> Iterator[Any]:
        message, wanted = self._message, chunk.get("messageId")
        if message is not None and wanted not in {None, message.run.reply_id} and message.used:
            self._cut(message, "another message began")
            yield from self._end("completed")
        elif message is not None:
            message.merge(chunk.get("messageMetadata"))
        if self._message is None and wanted in self._parked:
            self._message = self._parked.pop(str(wanted))
            self._message.merge(chunk.get("messageMetadata"))
            yield from self._message.run.resume()
        yield from self._ensure(wanted, chunk.get("messageMetadata"), said=True)

    def _ensure(self, wanted: str | None = None, metadata: Any = None, *, said: bool = False) -> Generator[Any, None, Message]:
        """Give the message that goes on; begin one where none does."""
        if self._message is not None:
            return self._message
        if not said:
            self.remark("vercel.no-start", "the message goes on without a start")
        name = repaired(wanted or "vercel")
        count = self._ids.get(name, 0)
        self._ids[name] = count + 1
        self._message = message = Message(Run(self.event, f"{name}#{count}" if count else name), self.remark)
        message.merge(self._metadata)
        message.merge(metadata)
        if self._before:
            message.facts["parts"] = self._before
        self._metadata, self._before = None, []
        yield from message.run.begin(metadata={"vercel": copy_json(message.facts)} if message.facts else None)
        return message

    def _finish(self, kind: str, chunk: Wire) -> Iterator[Any]:
        message = self._message
        if message is None:
            self.remark("vercel.after-end", f"{kind} where no message goes on")
            return
        message.merge(chunk.get("messageMetadata"))
        reason = chunk.get("finishReason")
        if kind == "abort":
            message.facts |= {"abortReason": chunk["reason"]} if "reason" in chunk else {}
        elif reason is not None:
            message.facts["finishReason"] = reason
        if reason == "error" and message.error is None:
            message.error = {"type": "upstream", "message": "the model ended with an error"}
        yield from self._end("interrupted" if kind == "abort" or reason == "interrupted" else "completed", reason)

    def _cut(self, message: Message, why: str) -> None:
        """Note that a message did not end."""
        if message.error is None:
            self.remark("vercel.truncated", f"the message {message.run.reply_id!r} did not end")
            message.error = {"type": "connection", "message": why}

    def _end(self, reason: str, finish: str | None = None) -> Iterator[Any]:
        message = self._message
        if message is None:
            return
        yield from message.end(reason, finish)
        self._message = None
        if message.run.parked:
            self._parked[message.run.reply_id] = message

    def _beside(self, kind: str, chunk: Wire) -> Iterator[Any]:
        """Take a part that no block of ours stands for."""
        message = self._message
        if kind == "message-metadata":
            if message is not None:
                message.merge(chunk.get("messageMetadata"))
            elif chunk.get("messageMetadata") is not None:
                self._metadata = merged(self._metadata, chunk["messageMetadata"])
            return
        yield custom(self.event, kind, chunk)
        if not chunk.get("transient"):
            parts = self._before if message is None else message.facts.setdefault("parts", [])
            add_part(parts, kind, chunk, 0 if message is None else message.blocks)

    # Tools.

    def _input(self, message: Message, kind: str, chunk: Wire) -> Iterator[Any]:
        yield from message.call()
        tools, call_id = message.tools, chunk["toolCallId"]
        tool = tools.find(call_id)
        if kind == "tool-input-delta":
            if tool is None:
                self.remark("vercel.not-started", f"input for the call {call_id!r}, which did not begin")
                yield custom(self.event, kind, chunk)
            else:
                yield from tools.piece(tool, chunk["inputTextDelta"])
            return
        if kind == "tool-input-start" or tool is None or (tool.available and tool.step != message.step):
            yield from tools.begin(chunk, message.step)
            tool = tools.find(call_id) or tools.all[-1]
        if kind == "tool-input-available":
            yield from tools.available(tool, chunk)
        elif kind == "tool-input-error":
            if not tool.available:
                # What the provider says of it, it says of the result.
                yield from tools.available(tool, {name: item for name, item in chunk.items() if name != "providerMetadata"})
            tools.hold(tool, chunk["errorText"], "error", chunk)

    def _answer(self, kind: str, chunk: Wire) -> Iterator[Any]:
        """Take what is said about a call: that a user is asked, or answers, or its output."""
        found = self._owner(chunk)
        if found is None:
            self.remark("vercel.unknown-tool", f"{kind} for a call that no message has")
            yield custom(self.event, kind, chunk)
            return
        message, tool = found
        run, tools = message.run, message.tools
        if kind == "tool-approval-request":
            tool.approval = {name: copy_json(item) for name, item in chunk.items() if name not in {"type", "toolCallId"}}
            message.facts.setdefault("approvals", {})[tool.id] = tool.approval
            run.asked.add(tool.key)
        elif kind == "tool-approval-response":
            yield from tools.approve(tool, chunk)
        elif kind == "tool-output-available":
            yield from tools.result(tool, chunk.get("output"), "success", chunk)
        elif kind == "tool-output-error":
            yield from tools.result(tool, chunk["errorText"], "error", chunk)
        else:
            yield from tools.result(tool, "", "denied", chunk)
        yield from run.unpark()
        if run.ended and not run.parked:
            self._parked.pop(run.reply_id, None)

    def _owner(self, chunk: Wire) -> tuple[Message, Tool] | None:
        """Find the message and the tool part that a chunk is about."""
        messages = [*self._parked.values(), *([self._message] if self._message is not None else [])]
        for message in reversed(messages):
            tools = message.tools
            tool = tools.find(chunk["toolCallId"]) if "toolCallId" in chunk else tools.asked(chunk["approvalId"])
            if tool is not None:
                return message, tool
        return None
