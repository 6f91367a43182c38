"""
A message that a model streams -> the events of one model call.

Law: what has an index is kept under it, by kind, and may interleave; what has none goes on until something else begins. Fields
that the contract does not have stand on the block, in `x_langchain`, under their own names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.run import base64_document, data_url, json_text
from eventfold.jsonvalue import copy_json, is_object

from .calls import Calls
from .fields import DATA_FIELDS, MEDIA_TYPES, SERVER_FIELDS, index_of, merged, without
from .usage import merged_usage, reading, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable, Iterator

    from eventfold.dialects.run import Run
    from eventfold.shape import Wire


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
        self._plain: tuple[str, Hashable] | None = None  #: kind and key of the block that is open and has no index
        self._extras: dict[Hashable, Wire] = {}
        self._keys: list[Hashable] = []  #: of its blocks, but for calls
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
        self._keys.append(key)
        name = item.get("name") or item.get("filename")
        yield from self.run.open("data", key, media_type=known, name=name if isinstance(name, str) else None)
        yield from self.run.data(key, known, **content)
        if rest := without(item, DATA_FIELDS):
            self.run.note(key, {"x_langchain": rest})
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
            known = {"at": len(self._keys) + len(list(self.calls)), "block": block}
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

    def break_off(self) -> Iterator[Any]:
        """Close the block that has no index: something else begins."""
        plain, self._plain = self._plain, None
        if plain is not None:
            yield from self.run.close(plain[1])

    def finish(self, *, interrupted: bool = False) -> Iterator[Any]:
        """End the message: its blocks, its calls, its model call."""
        if self.finished:
            return
        self.finished = True
        for key in self._keys:
            if self.run.is_open(key):
                yield from self.run.close(key)
        for call in self.calls:
            yield from self.calls.end(call)
        facts = self.summary()
        yield from self.run.end_call(tokens(self.usage), {"langchain": facts} if facts else None, interrupted=interrupted)

    def summary(self) -> Wire:
        """Give what the message holds besides its content."""
        facts = copy_json(self.facts)
        if self.ids:
            facts["id"] = self.ids[max(self.ids)]
        if self.usage:
            facts["usage_metadata"] = copy_json(self.usage)
        return facts

    def _key(self, kind: str, index: Hashable) -> Generator[Any, None, Hashable]:
        """Give the key of a block, and close what it breaks off."""
        if index is None and self._plain is not None and self._plain[0] == kind:
            return self._plain[1]
        key: Hashable = (self._place, kind, index if index is not None else ("", len(self.run.parts)))
        if not self.run.is_open(key):
            yield from self.break_off()
            yield from self.calls.settle()
            self._keys.append(key)
        if index is None:
            self._plain = kind, key
        return key

    def _note(self, key: Hashable, extra: Wire | None, named: Wire) -> None:
        known = self._extras.setdefault(key, {})
        fields = {name: value for name, value in named.items() if value}
        if extra:
            fields["x_langchain"] = extra
        if fields:
            self._extras[key] = merged(known, fields)
            self.run.note(key, copy_json(self._extras[key]))


def text_of_output(output: Any) -> str:
    """Write the output of a provider's tool as text."""
    return "" if output is None else json_text(output)
