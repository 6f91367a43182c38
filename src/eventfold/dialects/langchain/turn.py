"""
A message that a model streams -> the events of one model call.

Law: what has an index is kept under it, by kind, and may interleave; what has none goes on until something else begins. Fields
that the contract does not have stand on the block, in `x_langchain`, under their own names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.run import base64_document, count_of, data_url, json_text
from eventfold.jsonvalue import copy_json, is_array, is_object

from .calls import Calls

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from eventfold.dialects.run import Run
    from eventfold.shape import Wire

#: Media types of blocks that name none.
MEDIA_TYPES = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4", "file": "application/octet-stream"}


class Turn:
    """One model call of a run. Methods give events."""

    def __init__(self, run: Run, place: Hashable, remark: Callable[[str, str], None]) -> None:
        self.run = run
        self.ids: dict[int, str] = {}  #: ids of the message, by rank
        self.facts: Wire = {}  #: what the message holds besides its content, for metadata
        self.usage: Wire = {}  #: as LangChain writes it, summed
        self.calls = Calls(run, place, remark)
        self.finished = False
        self.stopped = False  #: whether a reason to stop was seen
        self.said = False  #: whether there was content
        self._place = place
        self.remark = remark
        self._plain: Hashable = None  #: the open block that has no index
        self._extras: dict[Hashable, Wire] = {}
        self._others: dict[Hashable, Wire] = {}  #: parts of the content that have no block, by index
        self._texts: dict[Hashable, list[str]] = {}

    def write(self, kind: str, index: Hashable, delta: str, extra: Wire | None = None, **named: Any) -> Iterator[Any]:
        """Append to a text or thinking block; `extra` is LangChain's own, `named` are fields that have a name of their own."""
        if not delta and not extra and not any(named.values()):
            return
        self.said = True
        key = yield from self._key(kind, index)
        yield from self.run.write(kind, key, delta)
        self._texts.setdefault(key, []).append(delta)
        self._note(key, extra, named)

    def begin(self, kind: str, index: Hashable) -> Iterator[Any]:
        """Open a text or thinking block."""
        key = yield from self._key(kind, index)
        yield from self.run.open(kind, key)

    def end(self, kind: str, index: Hashable, final: str, extra: Wire | None = None, **named: Any) -> Iterator[Any]:
        """Close a text or thinking block; `final` is all its text, if it is not empty."""
        key = yield from self._key(kind, index)
        if key in self.run.parts and not self.run.is_open(key):
            return
        said = "".join(self._texts.get(key, ()))
        if final.startswith(said) and final != said:
            yield from self.write(kind, index, final[len(said) :])
            said = final
        yield from self.run.open(kind, key)
        self._note(key, extra, named)
        if final not in {"", said}:
            self.remark("langchain.rewritten", f"a {kind} block ends as something else than what was sent before")
        yield from self.run.close(key, final if kind == "text" and final not in {"", said} else None)

    def piece(self, index: Hashable, call_id: Any, name: Any, arguments: Any, *, server: bool = False) -> Iterator[Any]:
        """Take a piece of a call."""
        self.said = True
        yield from self.break_off()
        yield from self.calls.piece(index, call_id, name, arguments, server=server)

    def data(self, kind: str, item: Wire, media_type: Any, document: Any, url: Any) -> Iterator[Any]:
        """Give a data block, whole: of base64 or a URL. What has neither is given as it is."""
        self.said = True
        yield from self.break_off()
        known = media_type if isinstance(media_type, str) and media_type else MEDIA_TYPES[kind]
        if isinstance(url, str) and (inline := data_url(url)):
            content = {"data": inline[1]}
            known = media_type or inline[0]
        elif isinstance(url, str) and url:
            content = {"url": url}
        else:
            said = base64_document(document)
            if said is None:
                if document is not None:
                    self.remark("langchain.bad-data", f"the data of a block of type {item.get('type')!r} is no base64")
                yield from self.other(item)
                return
            content = {"data": said}
        key = (self._place, "data", len(self.run.parts))
        name = item.get("name") or item.get("filename")
        yield from self.run.open("data", key, media_type=known, name=name if isinstance(name, str) else None)
        yield from self.run.data(key, known, **content)
        if rest := without(item, DATA_FIELDS):
            self.run.extra(key, x_langchain=rest)
        yield from self.run.close(key)

    def other(self, item: Any) -> Iterator[Any]:
        """Give a part of the content that no block of ours stands for, as it is."""
        self.said = True
        index = index_of(item) if is_object(item) else None
        known = self._others.get(index) if index is not None else None
        if known is not None:
            known["block"] = merged(known["block"], {key: part for key, part in item.items() if key != "index"})
        else:
            block = {key: copy_json(part) for key, part in item.items() if key != "index"} if is_object(item) else copy_json(item)
            known = {"at": sum(isinstance(key, tuple) and key[0] == self._place for key in self.run.parts), "block": block}
            self.facts.setdefault("blocks", []).append(known)
            if index is not None and is_object(block):
                self._others[index] = known
        yield self.run.event(structs.CustomEvent, name="langchain.block", value={"block": copy_json(item)})

    def server_call(self, item: Wire, call_id: Any, name: str, arguments: Any, output: Any, state: str | None) -> Iterator[Any]:
        """Give a call that the provider ran, with its result when the state is known."""
        self.said = True
        yield from self.break_off()
        index = index_of(item)
        yield from self.calls.piece(index, call_id, name, arguments, server=True)
        call = self.calls.find(index, call_id if isinstance(call_id, str) else "")
        if call is not None:
            call.extra = merged(call.extra, without(item, SERVER_FIELDS))
            if state is not None:
                yield from self.calls.end(call)
                yield from self.run.close_result(call.key, text_of_output(output), state)

    def server_result(self, item: Wire, call_id: Any, output: Any, state: str) -> Iterator[Any]:
        """Give the result of a call that the provider ran."""
        self.said = True
        yield from self.break_off()
        call = self.calls.find(None, call_id if isinstance(call_id, str) else "")
        if call is None or not call.server:
            self.remark("langchain.result-without-call", f"a result for {call_id!r}, which no call of the provider has")
            yield from self.other(item)
            return
        yield from self.calls.end(call)
        rest = without(item, {"tool_call_id", "tool_use_id", "status", "output", "content", "is_error", "index"})
        if rest.get("type") == "server_tool_result":
            del rest["type"]
        yield from self.run.close_result(call.key, text_of_output(output), state, {"langchain": rest} if rest else None)

    def count(self, usage: Any) -> None:
        """Count usage: what comes in parts adds up; a reading that is nowhere smaller than all before replaces them."""
        if not is_object(usage):
            return
        if reading(self.usage, usage):
            self.remark("langchain.repeated-usage", "the usage is that of the whole call so far; it is not added to what came before")
            self.usage = merged_usage({}, usage, self.usage)
        else:
            self.usage = merged_usage(self.usage, usage)

    def replace_usage(self, usage: Any) -> None:
        """Take usage that stands for all the call, field by field."""
        if is_object(usage):
            self.usage = merged_usage({}, usage, self.usage)

    def tokens(self) -> Wire:
        """Give the usage as fields of the end of a model call."""
        details = self.usage.get("input_token_details")
        details = details if is_object(details) else {}
        named = {
            "input_tokens": self.usage.get("input_tokens"),
            "output_tokens": self.usage.get("output_tokens"),
            "cache_input_tokens": details.get("cache_read"),
            "cache_creation_input_tokens": details.get("cache_creation"),
        }
        return {name: count for name, value in named.items() if (count := count_of(value)) is not None}

    def break_off(self) -> Iterator[Any]:
        """Close the block that has no index: something else begins."""
        key, self._plain = self._plain, None
        if key is not None:
            yield from self.run.close(key)

    def finish(self, *, interrupted: bool = False) -> Iterator[Any]:
        """End the message: its blocks, its calls, its model call."""
        if self.finished:
            return
        self.finished = True
        for key in [key for key, part in self.run.parts.items() if isinstance(key, tuple) and key[0] == self._place and part.open]:
            if self.run.parts[key].kind != "tool_call":
                yield from self.run.close(key)
        for call in self.calls:
            yield from self.calls.end(call)
        facts = self.summary()
        yield from self.run.end_call(self.tokens(), {"langchain": facts} if facts else None, interrupted=interrupted)

    def summary(self) -> Wire:
        """Give what the message holds besides its content."""
        facts = copy_json(self.facts)
        if self.ids:
            facts["id"] = self.ids[max(self.ids)]
        if self.usage:
            facts["usage_metadata"] = copy_json(self.usage)
        return facts

    def _key(self, kind: str, index: Hashable) -> Iterator[Any]:
        """Give the key of a block, and close what it breaks off."""
        if index is not None:
            key = (self._place, kind, index)
            if not self.run.is_open(key):
                yield from self.break_off()
                yield from self.calls.settle()
            return key
        plain = self._plain
        if isinstance(plain, tuple) and plain[1] == kind and self.run.is_open(plain):
            return plain
        yield from self.break_off()
        yield from self.calls.settle()
        self._plain = (self._place, kind, ("", len(self.run.parts)))
        return self._plain

    def _note(self, key: Hashable, extra: Wire | None, named: Wire) -> None:
        known = self._extras.setdefault(key, {})
        fields = {name: value for name, value in named.items() if value}
        if extra:
            fields["x_langchain"] = extra
        if fields:
            self._extras[key] = merged(known, fields)
            self.run.extra(key, **copy_json(self._extras[key]))


#: Fields of content that a data block holds under names of its own.
DATA_FIELDS = frozenset({"type", "index", "base64", "data", "url", "mime_type", "source_type", "name", "filename", "source", "result"})
#: Fields of a provider's call that a call has names for.
SERVER_FIELDS = frozenset({"id", "name", "args", "input", "partial_json", "index"})


def index_of(item: Wire) -> Hashable:
    """Give the index of a part of the content; None when it has none."""
    index = item.get("index")
    return index if isinstance(index, int | str) else None


def without(item: Wire, known: frozenset[str] | set[str]) -> Wire:
    """Give the fields that are not known, and not null; `extras` stand among them."""
    rest = {key: copy_json(value) for key, value in item.items() if key not in known and value is not None and key != "extras"}
    extras = item.get("extras")
    return {**rest, **copy_json(extras)} if is_object(extras) else rest


def merged(left: Wire, right: Wire) -> Wire:
    """Put fields together that came in pieces: text and lists go on, ids and what is equal stays."""
    result = dict(left)
    for key, value in right.items():
        known = result.get(key)
        if known is None:
            result[key] = copy_json(value)
        elif is_object(known) and is_object(value):
            result[key] = merged(known, value)
        elif is_array(known) and is_array(value):
            result[key] = [*known, *copy_json(value)]
        elif isinstance(known, str) and isinstance(value, str):
            result[key] = known if key in {"id", "type"} or known == value else known + value
        elif value is not None:
            result[key] = copy_json(value)
    return result


def reading(known: Wire, usage: Wire) -> bool:
    """Tell usage of the whole call from usage that adds up: it is nowhere smaller, and counts the input again."""
    before = [count_of(known.get(name)) or 0 for name in ("input_tokens", "output_tokens")]
    after = [count_of(usage.get(name)) or 0 for name in ("input_tokens", "output_tokens")]
    return before[0] > 0 and after[0] >= before[0] and after[1] >= before[1]


def merged_usage(left: Wire, right: Wire, fallback: Wire | None = None) -> Wire:
    """Add usage up, details and all; `fallback` gives what neither has."""
    result = copy_json({**(fallback or {}), **left})
    for key, value in right.items():
        known = left.get(key)
        if is_object(value):
            before = result.get(key)
            result[key] = merged_usage(known if is_object(known) else {}, value, before if is_object(before) else {})
        elif count_of(value) is not None:
            result[key] = value + (count_of(known) or 0)
        elif value is not None:
            result[key] = copy_json(value)
    return result


def text_of_output(output: Any) -> str:
    """Write the output of a provider's tool as text."""
    return "" if output is None else json_text(output)
