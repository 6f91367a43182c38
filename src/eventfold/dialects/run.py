"""
One run -> the events of one reply: what formats have in common in which an agent calls a model more than once.

Law: a run is one reply, with a model call for each message or step, each with its own usage. Results of tools that ran in
the stream stand in it. Calls that are left unanswered park the reply; what answers them later is an external result, and the
last one ends the reply. Halves of a surrogate pair that two deltas share are put together; half a pair alone is U+FFFD.
"""

from __future__ import annotations

import binascii
import json
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from .halves import Halves, mended
from .response import Response

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from eventfold.shape import Wire

_MOST_TOKENS = 2**53 - 1


class Run(Response):
    """Writes the events of one reply of several model calls. Methods give events."""

    def __init__(self, make: Callable[..., Any], reply_id: str) -> None:
        super().__init__(make, reply_id)
        self.parked = False
        self.asked: set[Hashable] = set()  #: calls about which the user is asked
        self.requested: set[Hashable] = set()  #: calls that were handed out, or asked about
        self.running: dict[Hashable, str] = {}  #: results that are open, by call, with all their text
        self._calling: int = 0
        self._halves = Halves()

    def begin(
        self, *, name: str = "assistant", session_id: str = "", role: str | None = None, metadata: Wire | None = None
    ) -> Iterator[Any]:
        """Begin the reply, without a model call."""
        yield self.event(structs.ReplyStartEvent, session_id=session_id, name=name, role=role, metadata=metadata)

    def begin_call(self, model: str) -> Iterator[Any]:
        """Begin a model call."""
        self._calling += 1
        yield self.event(structs.ModelCallStartEvent, model_name=model)

    def end_call(self, usage: Wire | None = None, metadata: Wire | None = None, *, interrupted: bool = False) -> Iterator[Any]:
        """End a model call."""
        if self._calling:
            self._calling -= 1
            tokens = {"input_tokens": 0, "output_tokens": 0, **(usage or {})}
            reason = "interrupted" if interrupted else None
            yield self.event(structs.ModelCallEndEvent, **tokens, finished_reason=reason, metadata=metadata)

    def write(self, kind: str, key: Hashable, delta: str) -> Iterator[Any]:
        """Append to a text or thinking block, which is opened when it is not open."""
        yield from self.open(kind, key)
        if whole := self.whole(key, delta):
            yield from self.append(kind, key, whole)

    def whole(self, key: Hashable, delta: str) -> str:
        """Give what can be said of a delta: a high surrogate at its end waits for the next."""
        return self._halves.feed(key, delta)

    def close(self, key: Hashable, text: str | None = None) -> Iterator[Any]:
        """Close what a key names. Half a surrogate pair that nothing followed is U+FFFD."""
        part = self.parts[key]
        if part.open and (rest := self._halves.rest(key)):
            yield from self.arguments(key, rest) if part.kind == "tool_call" else self.append(part.kind, key, rest)
        yield from super().close(key, text)

    def note(self, key: Hashable, fields: Wire) -> None:
        """Remember provider fields, which are set on the block when it closes."""
        self.parts[key].extra.update(fields)

    def open_result(self, key: Hashable) -> Iterator[Any]:
        """Begin the result of a call. Does nothing when it has one."""
        part = self.parts[key]
        if part.answered or key in self.running:
            return
        yield from self.close(key)
        self.running[key] = ""
        yield self.event(structs.ToolResultStartEvent, tool_call_id=part.id, tool_call_name=part.name)

    def result_text(self, key: Hashable, delta: str) -> Iterator[Any]:
        """Append text to the result of a call, which is opened when it is not open."""
        yield from self.open_result(key)
        text = self.whole(("result", key), delta)
        self.running[key] += text
        yield self.event(structs.ToolResultTextDeltaEvent, tool_call_id=self.parts[key].id, delta=text)

    def close_result(
        self, key: Hashable, output: str | list[Wire] = "", state: str = "success", metadata: Wire | None = None
    ) -> Iterator[Any]:
        """Give what is left of a call's result, text or blocks, and end it."""
        part = self.parts[key]
        yield from self.open_result(key)
        for block in blocks_of(output):
            if block["type"] == "text":
                yield from self.result_text(key, block["text"])
                continue
            source = block["source"]
            content = {"url": source["url"]} if "url" in source else {"data": source["data"]}
            yield self.event(
                structs.ToolResultDataDeltaEvent,
                tool_call_id=part.id,
                block_id=block["id"],
                media_type=source["media_type"],
                **content,
            )
        if rest := self._halves.rest(("result", key)):
            yield self.event(structs.ToolResultTextDeltaEvent, tool_call_id=part.id, delta=rest)
        part.answered = True
        del self.running[key]
        yield self.event(structs.ToolResultEndEvent, tool_call_id=part.id, state=state, metadata=metadata)

    def answer(self, key: Hashable, output: str | list[Wire], state: str = "success", metadata: Wire | None = None) -> Iterator[Any]:
        """Give the result of a call that was handed out. The last one ends a parked reply."""
        part = self.parts[key]
        if part.answered:
            return
        part.answered = True
        said = mended(output)
        block = {"type": "tool_result", "id": part.id, "name": part.name, "output": said, "state": state}
        if metadata is not None:
            block["metadata"] = metadata
        yield self.event(structs.ExternalExecutionResultEvent, execution_results=[block])
        yield from self.unpark()

    def confirm(self, key: Hashable, *, confirmed: bool) -> Iterator[Any]:
        """Give the user's answer about a call that was asked about."""
        self.asked.discard(key)
        self.requested.discard(key)
        answer = {"confirmed": confirmed, "tool_call": self._block(self.parts[key])}
        yield self.event(structs.UserConfirmResultEvent, confirm_results=[answer])

    def unpark(self) -> Iterator[Any]:
        """End a parked reply when nothing waits any more."""
        if self.parked and not self.waiting():
            self.parked = False
            yield self.event(structs.ReplyEndEvent, session_id="", finished_reason="completed", metadata=self.metadata or None)

    def resume(self) -> Iterator[Any]:
        """Go on with a parked reply."""
        self.parked = self.ended = False
        yield from self.begin()

    def waiting(self) -> list[Hashable]:
        """Give the calls that nothing answered."""
        return [key for key, part in self.parts.items() if part.kind == "tool_call" and not part.answered]

    def end(self, reason: str = "completed", error: Wire | None = None, **fields: Any) -> Iterator[Any]:
        """End the run: close what is open, then park for whoever answers the calls, or end the reply."""
        if self.ended:
            return
        self.ended = True
        yield from self.close_all()
        while self._calling:
            yield from self.end_call(interrupted=reason == "interrupted")
        metadata = self.metadata or None
        waiting = self.waiting()
        if waiting and reason == "completed":
            self.parked = True
            new = [key for key in waiting if key not in self.requested]
            self.requested.update(new)
            asked = [self._block(self.parts[key]) for key in new if key in self.asked]
            rest = [self._block(self.parts[key]) for key in new if key not in self.asked]
            if rest:
                yield self.event(structs.RequireExternalExecutionEvent, tool_calls=rest, metadata=metadata)
            if asked:
                yield self.event(structs.RequireUserConfirmEvent, tool_calls=asked, metadata=metadata)
            return
        for key in waiting if reason != "error" else ():
            yield from self.close_result(key, state="interrupted")
        yield self.event(structs.ReplyEndEvent, session_id="", finished_reason=reason, error=error, metadata=metadata, **fields)


def json_text(value: Any) -> str:
    """Write a JSON value as text, as a tool reads it; a string as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def blocks_of(output: str | list[Wire]) -> list[Wire]:
    """Give a result's output as blocks."""
    if isinstance(output, str):
        return [{"type": "text", "text": output}] if output else []
    return output


def base64_document(text: Any) -> str | None:
    """Give base64 as one document in its canonical form; None when it is none."""
    if not isinstance(text, str):
        return None
    try:
        return b64encode(b64decode(text + "=" * (-len(text) % 4), validate=True)).decode()
    except (binascii.Error, ValueError):
        return None


def count_of(value: Any) -> int | None:
    """Give a count of tokens; None when it is none."""
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
    return value if good else None


def data_url(url: str) -> tuple[str, str] | None:
    """Give the media type and the base64 document of a data URL; None when it is another URL."""
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        return None
    document = base64_document(data)
    return None if document is None else (head.removeprefix("data:").removesuffix(";base64"), document)


def base64_bytes(data: bytes) -> str:
    """Write bytes as one base64 document."""
    return b64encode(data).decode()
