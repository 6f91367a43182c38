"""
Chunks of a UI message stream -> events.

Law: a message is a reply, and a step is a model call. Text and reasoning are kept by their ids, tools by theirs. What the message
holds and no block of ours stands for (sources, data, metadata) is told in CUSTOM events, and stands in the message's metadata.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from eventfold_models import structs

from eventfold.dialects.run import Run, base64_bytes, count_of, data_url, joined
from eventfold.dialects.translation import UNFIT, UNKNOWN, Decoder, Unfit
from eventfold.jsonvalue import copy_json, depth_of, is_object

from .shapes import check
from .tools import Tool, Tools

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from eventfold.shape import Wire

_DEEPEST = 100
_KINDS = {"text": "text", "reasoning": "thinking"}
#: Chunks that do not begin a reply where none has begun.
_BESIDE = frozenset({"message-metadata", "source-url", "source-document"})
_BLOCKS = (
    structs.TextBlockStartEvent,
    structs.ThinkingBlockStartEvent,
    structs.DataBlockStartEvent,
    structs.ToolCallStartEvent,
    structs.ToolResultStartEvent,
    structs.ExternalExecutionResultEvent,
)


class Message:
    """What is known of a message that is being written."""

    def __init__(self, run: Run, tools: Tools) -> None:
        self.run = run
        self.tools = tools
        self.facts: Wire = {}  #: for metadata
        self.error: Wire | None = None
        self.calling = False
        self.step = 0
        self.open: dict[tuple[str, str], Hashable] = {}  #: text and reasoning, by kind and id
        self.extras: dict[Hashable, Wire] = {}
        self.blocks = 0  #: how many blocks have begun
        self.count = 0


class VercelDecoder(Decoder):
    """Reads a UI message stream."""

    def __init__(self) -> None:
        super().__init__()
        self._message: Message | None = None
        self._parked: dict[str, Message] = {}
        self._before: list[Wire] = []  #: parts that came before the message began
        self._metadata: Any = None  #: of the message that has not begun
        self._ids: dict[str, int] = {}
        self._any = False

    def decode(self, value: Any) -> Iterator[Any]:
        """Translate a chunk. Raises Unfit."""
        if depth_of(value) > _DEEPEST:
            raise Unfit(UNFIT, f"nests deeper than {_DEEPEST}")
        kind = value.get("type") if is_object(value) else None
        if not is_object(value) or not isinstance(kind, str):
            raise Unfit(UNFIT, "a chunk is an object with a type")
        if not check(value, kind):
            self.remark(UNKNOWN, f"{kind!r} is no type of chunk that the dialect knows")
            yield self._custom(kind, value)
            return
        self._any = True
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
        message = self._message
        if message is not None and message.error is None:
            self.remark("vercel.truncated", f"the message {message.run.reply_id!r} did not end")
            message.error = {"type": "connection", "message": "the stream stopped before its end"}
        yield from self._end("completed")

    def _chunk(self, kind: str, chunk: Wire) -> Iterator[Any]:
        if kind == "start":
            yield from self._start(chunk)
            return
        if kind.startswith("data-") or kind in _BESIDE:
            yield from self._beside(kind, chunk)
            return
        if kind in {"finish", "abort"} and self._message is None:
            self.remark("vercel.after-end", f"{kind} where no message goes on")
            return
        if kind.startswith(("tool-output", "tool-approval")):
            yield from self._answer(kind, chunk)
            return
        yield from self._ensure()
        name, _, what = kind.partition("-")
        if name in _KINDS and what in {"start", "delta", "end"}:
            yield from self._text(_KINDS[name], what, chunk)
        elif kind.startswith("tool-input"):
            yield from self._input(kind, chunk)
        else:
            yield from _HANDLERS[kind](self, chunk)

    # The message.

    def _start(self, chunk: Wire) -> Iterator[Any]:
        message, wanted = self._message, chunk.get("messageId")
        if message is not None and wanted not in {None, message.run.reply_id} and message.count:
            self.remark("vercel.truncated", f"the message {message.run.reply_id!r} did not end before another began")
            message.error = message.error or {"type": "connection", "message": "another message began"}
            yield from self._end("completed")
        if self._message is None and wanted in self._parked:
            self._message = self._parked.pop(str(wanted))
            yield from self._message.run.resume()
        yield from self._ensure(wanted, chunk.get("messageMetadata"), said=True)
        if message is not None and self._message is message:
            self._merge(chunk.get("messageMetadata"))

    def _ensure(self, wanted: str | None = None, metadata: Any = None, *, said: bool = False) -> Iterator[Any]:
        """Begin a message, unless one goes on."""
        if self._message is not None:
            return
        if not said:
            self.remark("vercel.no-start", "the message goes on without a start")
        name = joined(wanted or "vercel")
        count = self._ids.get(name, 0)
        self._ids[name] = count + 1
        run = Run(self.event, f"{name}#{count}" if count else name)
        self._message = message = Message(run, Tools(run, self.remark))
        self._merge(self._metadata)
        self._merge(metadata)
        message.facts.update({"parts": self._before} if self._before else {})
        self._metadata, self._before = None, []
        yield from run.begin(metadata={"vercel": copy_json(message.facts)} if message.facts else None)

    def _merge(self, metadata: Any) -> None:
        """Merge metadata of the message into what is known of it, deeply."""
        if metadata is None:
            return
        if self._message is None:
            self._metadata = _merged(self._metadata, metadata)
        else:
            self._message.facts["messageMetadata"] = _merged(self._message.facts.get("messageMetadata"), metadata)

    def _end(self, reason: str, finish: str | None = None) -> Iterator[Any]:
        message, self._message = self._message, None
        if message is None:
            return
        run = message.run
        yield from run.close_all("tool_call")
        yield from message.tools.finish()
        if message.calling:
            metadata = {"vercel": {"finishReason": finish}} if finish else None
            yield from run.end_call(_usage(message.facts.get("messageMetadata")), metadata, interrupted=reason == "interrupted")
        run.metadata = {"vercel": message.facts} if message.facts else {}
        yield from run.end("error" if message.error else reason, message.error)
        if run.parked:
            self._parked[run.reply_id] = message
            message.calling = False

    def _finish(self, chunk: Wire) -> Iterator[Any]:
        message = self._here()
        self._merge(chunk.get("messageMetadata"))
        reason = chunk.get("finishReason")
        if reason is not None:
            message.facts["finishReason"] = reason
        if reason == "error" and message.error is None:
            message.error = {"type": "upstream", "message": "the model ended with an error"}
        yield from self._end("interrupted" if reason == "interrupted" else "completed", reason)

    def _abort(self, chunk: Wire) -> Iterator[Any]:
        if chunk.get("reason") is not None:
            self._here().facts["abortReason"] = chunk["reason"]
        yield from self._end("interrupted")

    def _error(self, chunk: Wire) -> Iterator[Any]:
        self._here().error = {"type": "upstream", "message": joined(chunk["errorText"])}
        yield from ()

    def _start_step(self, chunk: Wire) -> Iterator[Any]:
        del chunk
        message = self._here()
        message.step += 1
        message.count += 1
        if message.calling:
            yield from message.run.end_call()
        message.calling = True
        message.facts.setdefault("steps", []).append(message.blocks)
        yield from message.run.begin_call("")

    def _finish_step(self, chunk: Wire) -> Iterator[Any]:
        del chunk
        message = self._here()
        message.open.clear()
        yield from message.run.close_all("tool_call")

    def _call(self) -> Iterator[Any]:
        """Begin a model call, if none goes on: not all streams have steps."""
        message = self._here()
        message.count += 1
        if not message.calling:
            message.calling = True
            yield from message.run.begin_call("")

    def _here(self) -> Message:
        if self._message is None:
            raise Unfit(UNFIT, "no message goes on")
        return self._message

    # Text, reasoning, files.

    def _text(self, kind: str, what: str, chunk: Wire) -> Iterator[Any]:
        yield from self._call()
        message, name = self._here(), (kind, chunk["id"])
        run, key = message.run, message.open.get((kind, chunk["id"]))
        if what == "start" and key is not None:
            self.remark("vercel.already-started", f"the part {chunk['id']!r} has begun")
            yield from run.close(key)
        elif what != "start" and key is None:
            self.remark("vercel.not-started", f"{chunk['type']} of the part {chunk['id']!r}, which did not begin")
            if what == "end":
                return
        if what == "start" or key is None:
            key = message.open[name] = (kind, message.count)
            yield from run.open(kind, key)
        self._note(key, chunk)
        if what == "delta":
            yield from run.write(kind, key, chunk["delta"])
        elif what == "end":
            del message.open[name]
            yield from run.close(key)

    def _note(self, key: Hashable, chunk: Wire) -> None:
        """Keep what a chunk says of a block. Of metadata of the provider, the last word counts."""
        message = self._here()
        known = message.extras.setdefault(key, {})
        known |= {name: copy_json(item) for name, item in chunk.items() if name not in _OWN and item is not None}
        if not known:
            return
        fields: Wire = {"x_vercel": copy_json(known)}
        for provider in known.get("providerMetadata", {}).values() if message.run.parts[key].kind == "thinking" else ():
            for theirs, ours in (("signature", "signature"), ("redactedData", "redacted_thinking_data")):
                if isinstance(provider.get(theirs), str):
                    fields[ours] = provider[theirs]
        message.run.note(key, fields)

    def _file(self, chunk: Wire) -> Iterator[Any]:
        yield from self._call()
        message, url = self._here(), chunk["url"]
        key = ("file", message.count)
        content = {"url": url} if url else {"data": ""}
        if url.startswith("data:"):
            inline = data_url(url)
            document = inline[1] if inline else _percent(url)
            if document is None:
                self.remark("vercel.bad-data", "the URL of a file is no data URL that can be read")
                yield self._custom("file", chunk)
                return
            content = {"data": document}
        yield from message.run.data(key, chunk["mediaType"], **content)
        self._note(key, chunk)
        yield from message.run.close(key)

    def _beside(self, kind: str, chunk: Wire) -> Iterator[Any]:
        """Take a part that no block of ours stands for."""
        if kind == "message-metadata":
            self._merge(chunk.get("messageMetadata"))
            return
        yield self._custom(kind, chunk)
        if chunk.get("transient"):
            return
        facts = self._message.facts if self._message is not None else {"parts": self._before}
        parts: list[Wire] = facts.setdefault("parts", [])
        same = (part for part in parts if chunk.get("id") is not None and (part["type"], part.get("id")) == (kind, chunk["id"]))
        known = next(same, None)
        if known is not None:
            known["data"] = copy_json(chunk.get("data"))
        else:
            parts.append({**copy_json(chunk), "at": self._message.blocks if self._message is not None else 0})

    def _custom(self, kind: str, chunk: Wire) -> Any:
        value = {name: copy_json(item) for name, item in chunk.items() if name != "type"}
        reply_id = self._message.run.reply_id if self._message is not None else None
        return self.event(structs.CustomEvent, name=f"vercel.{joined(kind)}", value=value, reply_id=reply_id)

    # Tools.

    def _input(self, kind: str, chunk: Wire) -> Iterator[Any]:
        yield from self._call()
        message = self._here()
        tools, call_id = message.tools, chunk["toolCallId"]
        tool = tools.find(call_id)
        if kind == "tool-input-delta":
            if tool is None:
                self.remark("vercel.not-started", f"input for the call {call_id!r}, which did not begin")
                yield self._custom(kind, chunk)
            else:
                yield from tools.piece(tool, chunk["inputTextDelta"])
            return
        if kind == "tool-input-start" or tool is None or (tool.available and tool.step != message.step):
            yield from tools.begin(chunk, message.step)
            tool = tools.all[-1]
        if kind == "tool-input-available":
            yield from tools.available(tool, chunk)
        elif kind == "tool-input-error":
            if not tool.available:
                yield from tools.available(tool, {name: item for name, item in chunk.items() if name != "providerMetadata"})
            tools.hold(tool, chunk["errorText"], "error", chunk)

    def _answer(self, kind: str, chunk: Wire) -> Iterator[Any]:
        """Take what is said about a call: that a user is asked, or answers, or its output."""
        found = self._owner(chunk)
        if found is None:
            self.remark("vercel.unknown-tool", f"{kind} for a call that no message has")
            yield self._custom(kind, chunk)
            return
        message, tool = found
        run, tools = message.run, message.tools
        if kind == "tool-approval-request":
            tool.approval = {name: copy_json(item) for name, item in chunk.items() if name not in {"type", "toolCallId"}}
            message.facts.setdefault("approvals", {})[tool.id] = tool.approval
            run.asked.add(tool.key)
        elif kind == "tool-approval-response":
            if tool.approval is not None:
                tool.approval["approved"] = chunk["approved"]
            if tool.key in run.requested and tool.key in run.asked:
                yield from run.confirm(tool.key, confirmed=chunk["approved"])
            run.asked.discard(tool.key)
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
            if "toolCallId" in chunk:
                tool = message.tools.find(chunk["toolCallId"])
            else:
                asked = (tool for tool in message.tools.all if tool.approval and tool.approval.get("approvalId") == chunk["approvalId"])
                tool = next(asked, None)
            if tool is not None:
                return message, tool
        return None


_HANDLERS: dict[str, Callable[[VercelDecoder, Wire], Iterator[Any]]] = {
    "finish": VercelDecoder._finish,  # noqa: SLF001  a table of its own methods
    "abort": VercelDecoder._abort,  # noqa: SLF001
    "error": VercelDecoder._error,  # noqa: SLF001
    "start-step": VercelDecoder._start_step,  # noqa: SLF001
    "finish-step": VercelDecoder._finish_step,  # noqa: SLF001
    "file": VercelDecoder._file,  # noqa: SLF001
    "reasoning-file": VercelDecoder._file,  # noqa: SLF001
}
#: Fields of chunks of text, reasoning and files that have a place of their own.
_OWN = frozenset({"type", "id", "delta", "url", "mediaType"})


def _merged(known: Any, given: Any) -> Any:
    """Merge values as the AI SDK does: objects key by key, anything else replaces."""
    if is_object(known) and is_object(given):
        return {**known, **{key: _merged(known.get(key), item) for key, item in given.items()}}
    return copy_json(given)


def _percent(url: str) -> str | None:
    """Read a data URL that is no base64."""
    head, comma, data = url.partition(",")
    return base64_bytes(unquote_to_bytes(data)) if comma and not head.endswith(";base64") else None


def _usage(metadata: Any) -> Wire:
    """Find the usage that an application put into the metadata, in the AI SDK's own words."""
    usage = metadata.get("totalUsage", metadata.get("usage")) if is_object(metadata) else None
    if not is_object(usage):
        return {}
    details = usage.get("inputTokenDetails")
    details = details if is_object(details) else {}
    named = {
        "input_tokens": usage.get("inputTokens"),
        "output_tokens": usage.get("outputTokens"),
        "cache_input_tokens": details.get("cacheReadTokens", usage.get("cachedInputTokens")),
        "cache_creation_input_tokens": details.get("cacheWriteTokens"),
    }
    return {name: count for name, value in named.items() if (count := count_of(value)) is not None}
