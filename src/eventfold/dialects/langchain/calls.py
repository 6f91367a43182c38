"""
Pieces of tool calls -> calls.

Law: a call begins when its id and its name are known and its arguments begin, or when its message ends. An empty id or name
is an absent one. The index is a key and no place: a piece belongs to the call of its id, else of its index, else to the last.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from eventfold.dialects.run import json_text
from eventfold.jsonvalue import is_object

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from eventfold.dialects.run import Run
    from eventfold.shape import Wire


@dataclass(slots=True)
class Call:
    """A call of a message, as far as its pieces have come."""

    key: Hashable
    index: Hashable
    server: bool = False  #: run by the provider
    id: str = ""
    name: str = ""
    text: list[str] = field(default_factory=list[str])
    extra: Wire = field(default_factory=dict[str, Any])
    begun: bool = False


class Calls:
    """The tool calls of one message."""

    def __init__(self, run: Run, place: Hashable, remark: Callable[[str, str], None]) -> None:
        self._run = run
        self._place = place
        self._remark = remark
        self._all: list[Call] = []

    def __iter__(self) -> Iterator[Call]:
        return iter(self._all)

    def find(self, index: Hashable, call_id: str) -> Call | None:
        """Find a call by its id, or by its index."""
        by_id = next((call for call in reversed(self._all) if call_id and call.id == call_id), None)
        return by_id or next((call for call in reversed(self._all) if index is not None and call.index == index), None)

    def piece(self, index: Hashable, call_id: Any, name: Any, arguments: Any, *, server: bool = False) -> Iterator[Any]:
        """Take a piece: any of id, name and arguments; arguments that are no text are whole."""
        yield from self._others(index, _text(call_id))
        call = self._call(index, _text(call_id), _text(name), server=server)
        if not isinstance(arguments, str):
            # As an object they come once, and repeat what pieces of text have said.
            # An empty one stands where pieces are to come.
            arguments = "" if not arguments or call.text else json_text(arguments)
        yield from self._take(call, arguments)

    def snapshot(self, index: Hashable, call_id: Any, name: Any, arguments: Any) -> Iterator[Any]:
        """Take a piece that holds all the arguments so far."""
        yield from self._others(index, _text(call_id))
        call = self._call(index, _text(call_id), _text(name))
        known, now = "".join(call.text), arguments if isinstance(arguments, str) else ""
        if not now.startswith(known) and not known.startswith(now):
            self._remark("langchain.rewritten", f"the arguments of {call.name!r} do not go on from what was sent before")
        yield from self._take(call, now[len(known) :] if now.startswith(known) else "")

    def whole(self, index: Hashable, call_id: Any, name: Any, arguments: Any, *, server: bool = False) -> Iterator[Any]:
        """Take a call as it is at its end, and end it. Arguments that came in pieces stay as the model wrote them."""
        call = self.find(index, _text(call_id)) or self._call(index, _text(call_id), _text(name), server=server)
        said = "".join(call.text)
        call.id, call.name = call.id or _text(call_id), call.name or _text(name)
        if not said:
            yield from self._take(call, "" if arguments is None else json_text(arguments))
        elif arguments is not None and not _same(said, arguments):
            self._remark("langchain.rewritten", f"the arguments of {call.name!r} end as something else than what was sent before")
        yield from self.end(call)

    def settle(self) -> Iterator[Any]:
        """Begin what is known of calls: something else begins, and blocks stand in the order of their starts."""
        for call in self._all:
            if call.id and call.name:
                yield from self._begin(call)

    def end(self, call: Call) -> Iterator[Any]:
        """End a call; it begins now, if it has not."""
        yield from self._begin(call)
        if call.extra:
            self._run.note(call.key, {"x_langchain": call.extra})
        said = "".join(call.text)
        if self._run.is_open(call.key) and said and not _is_json(said):
            self._remark("langchain.broken-arguments", f"the arguments of {call.name!r} are no JSON object: {said[-40:]!r}")
        yield from self._run.close(call.key)

    def _call(self, index: Hashable, call_id: str, name: str, *, server: bool = False) -> Call:
        call = self.find(index, call_id)
        if call is None and index is None and not call_id and self._all:
            call = self._all[-1]
        # A new id with a name is a new call; without one it is the same call of a producer that changes ids. One id in two
        # places is two calls, if the second has a name.
        elsewhere = call is not None and index is not None and call.index is not None and call.index != index
        if call is None or (name and call.id and ((call_id and call_id != call.id) or (elsewhere and call.begun))):
            call = Call((self._place, "call", len(self._all)), index, server)
            self._all.append(call)
        call.id = call.id or call_id
        if name and name != call.name and not call.begun:
            call.name += name
        return call

    def _others(self, index: Hashable, call_id: str) -> Iterator[Any]:
        """Begin the calls before a new one."""
        if (index is not None or call_id) and self.find(index, call_id) is None:
            yield from self.settle()

    def _take(self, call: Call, text: str) -> Iterator[Any]:
        if not text:
            return
        call.text.append(text)
        if call.begun:
            if whole := self._run.whole(call.key, text):
                yield from self._run.arguments(call.key, whole)
        elif call.id and call.name:
            yield from self._begin(call)

    def _begin(self, call: Call) -> Iterator[Any]:
        if call.begun:
            return
        call.begun = True
        if not call.name:
            self._remark("langchain.call-without-name", f"the call {call.id!r} has no name")
        if not call.id:
            call.id = f"{self._run.reply_id}/call-{len(self._run.parts) + 1}"
            self._remark("langchain.call-without-id", f"the call of {call.name!r} has no id; it gets {call.id!r}")
        unanswered = {self._run.parts[key].id for key in self._run.waiting()}
        if call.id in unanswered:
            again = next(f"{call.id}#{n}" for n in range(1, len(unanswered) + 2) if f"{call.id}#{n}" not in unanswered)
            self._remark("langchain.repeated-call-id", f"the id {call.id!r} is that of another call; this one gets {again!r}")
            call.extra["call_id"], call.id = call.id, again
        yield from self._run.call(call.key, call.id, call.name)
        if whole := self._run.whole(call.key, "".join(call.text)):
            yield from self._run.arguments(call.key, whole)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _same(said: str, arguments: Any) -> bool:
    if isinstance(arguments, str):
        return said == arguments
    try:
        return orjson.loads(said) == arguments
    except ValueError:
        return False


def _is_json(text: str) -> bool:
    try:
        return is_object(orjson.loads(text))
    except ValueError:
        return False
