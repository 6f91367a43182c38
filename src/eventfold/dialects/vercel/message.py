"""
A UI message that is being written: its steps, text, reasoning, files, and what stands beside them.

Law: text and reasoning are kept by their ids until they end, or their step does. What a provider said of a part last, counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from eventfold_models import structs

from eventfold.dialects.halves import repaired
from eventfold.dialects.run import Run, base64_bytes, count_of, data_url
from eventfold.jsonvalue import copy_json, is_object

from .tools import Tools

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from eventfold.shape import Wire

#: Fields of chunks of text, reasoning and files that have a place of their own.
_OWN = frozenset({"type", "id", "delta", "url", "mediaType"})
#: What stands on a thinking block under names of ours: theirs, and ours.
_THINKING = (("signature", "signature"), ("redactedData", "redacted_thinking_data"))


class Message:
    """Writes the events of one message. Methods give events."""

    def __init__(self, run: Run, remark: Callable[[str, str], None]) -> None:
        self.run = run
        self.tools = Tools(run, remark)
        self.facts: Wire = {}  #: for metadata
        self.error: Wire | None = None
        self.step = 0
        self.blocks = 0  #: how many blocks have begun
        self.used = False  #: whether there was content, or a step
        self._calling = False
        self._open: dict[tuple[str, str], Hashable] = {}  #: text and reasoning, by kind and id
        self._extras: dict[Hashable, Wire] = {}
        self._count = 0
        self._remark = remark

    def merge(self, metadata: Any) -> None:
        """Merge metadata of the message into what is known of it."""
        if metadata is not None:
            self.facts["messageMetadata"] = merged(self.facts.get("messageMetadata"), metadata)

    def call(self) -> Iterator[Any]:
        """Begin a model call, if none goes on: not all streams have steps."""
        self.used = True
        if not self._calling:
            self._calling = True
            yield from self.run.begin_call("")

    def start_step(self) -> Iterator[Any]:
        """Begin a step."""
        self.step += 1
        if self._calling:
            self._calling = False
            yield from self.run.end_call()
        self.facts.setdefault("steps", []).append(self.blocks)
        yield from self.call()

    def finish_step(self) -> Iterator[Any]:
        """End a step: text and reasoning that are open end with it."""
        self._open.clear()
        yield from self.run.close_all("tool_call")

    def text(self, kind: str, what: str, chunk: Wire) -> Iterator[Any]:
        """Take a chunk of text or reasoning."""
        yield from self.call()
        name = (kind, chunk["id"])
        key = self._open.get(name)
        if what == "start" and key is not None:
            self._remark("vercel.already-started", f"the part {chunk['id']!r} has begun")
            yield from self.run.close(key)
        elif what != "start" and key is None:
            self._remark("vercel.not-started", f"{chunk['type']} of the part {chunk['id']!r}, which did not begin")
            if what == "end":
                return
        if what == "start" or key is None:
            self._count += 1
            key = self._open[name] = (kind, self._count)
            yield from self.run.open(kind, key)
        self.note(key, chunk)
        if what == "delta":
            yield from self.run.write(kind, key, chunk["delta"])
        elif what == "end":
            del self._open[name]
            yield from self.run.close(key)

    def file(self, chunk: Wire) -> Iterator[Any]:
        """Take a file: a data URL is its bytes. Returns whether it can be read."""
        yield from self.call()
        url = chunk["url"]
        document = _document(url) if url.startswith("data:") or not url else None
        if document is None and (url.startswith("data:") or not url):
            self._remark("vercel.bad-data", "the URL of a file is no data URL that can be read")
            yield custom(self.run.event, "file", chunk)
            return
        content = {"url": url} if document is None else {"data": document}
        self._count += 1
        key = ("file", self._count)
        yield from self.run.data(key, chunk["mediaType"], **content)
        self.note(key, chunk)
        yield from self.run.close(key)

    def note(self, key: Hashable, chunk: Wire) -> None:
        """Keep what a chunk says of a block."""
        known = self._extras.setdefault(key, {})
        known |= {name: copy_json(item) for name, item in chunk.items() if name not in _OWN and item is not None}
        if not known:
            return
        fields: Wire = {"x_vercel": copy_json(known)}
        if self.run.parts[key].kind == "thinking":
            for provider in known.get("providerMetadata", {}).values():
                fields |= {ours: provider[theirs] for theirs, ours in _THINKING if isinstance(provider.get(theirs), str)}
        self.run.note(key, fields)

    def end(self, reason: str, finish: str | None = None) -> Iterator[Any]:
        """End the message. Usage is counted here: it is the message's."""
        yield from self.run.close_all("tool_call")
        yield from self.tools.finish()
        if self._calling:
            self._calling = False
            metadata = {"vercel": {"finishReason": finish}} if finish else None
            yield from self.run.end_call(usage_of(self.facts.get("messageMetadata")), metadata, interrupted=reason == "interrupted")
        self.run.metadata = {"vercel": self.facts} if self.facts else {}
        yield from self.run.end("error" if self.error else reason, self.error)


def custom(make: Callable[..., Any], kind: str, chunk: Wire) -> Any:
    """Make a CUSTOM event of a chunk."""
    value = {name: copy_json(item) for name, item in chunk.items() if name != "type"}
    return make(structs.CustomEvent, name=f"vercel.{repaired(kind)}", value=value)


def add_part(parts: list[Wire], kind: str, chunk: Wire, place: int) -> None:
    """Add a part that no block stands for; data of a type and id that is there is replaced."""
    name = chunk.get("id")
    known = next((part for part in parts if name is not None and (part["type"], part.get("id")) == (kind, name)), None)
    if known is not None:
        known["data"] = copy_json(chunk.get("data"))
    else:
        parts.append({**copy_json(chunk), "at": place})


def merged(known: Any, given: Any) -> Any:
    """Merge values as the AI SDK does: objects key by key, anything else replaces."""
    if is_object(known) and is_object(given):
        return {**known, **{key: merged(known.get(key), item) for key, item in given.items()}}
    return copy_json(given)


def usage_of(metadata: Any) -> Wire:
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


def _document(url: str) -> str | None:
    """Read a data URL, in base64 or in percent signs."""
    inline = data_url(url)
    if inline is not None:
        return inline[1]
    head, comma, data = url.partition(",")
    return base64_bytes(unquote_to_bytes(data)) if comma and not head.endswith(";base64") else None
