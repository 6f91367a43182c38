"""
Which call a piece of tool_calls belongs to, and when the call can be told.

Law: an index is a key and no position. A piece goes on with a call unless it surely begins one: by a new id together with a
name, or by a name when the arguments before it are whole. A call is told once its id and name are known and its arguments have
begun, since a name may come in pieces; or when something else follows it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from .fields import is_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventfold.shape import Wire


@dataclass(slots=True, eq=False)
class Call:
    """A call of a choice, as far as it is known."""

    number: int  #: how many calls of the choice were there before it
    index: int | None  #: the provider's
    id: str = ""
    name: str = ""
    started: bool = False  #: whether it has been told
    empty: bool = False  #: whether it is said to have none
    text: list[str] = field(default_factory=list[str])  #: its arguments so far
    held: list[str] = field(default_factory=list[str])  #: those that have not been told
    extra: Wire = field(default_factory=dict[str, Any])  #: the provider's own fields

    @property
    def whole(self) -> bool:
        """Tell whether the arguments are a whole JSON object."""
        return is_whole("".join(self.text))

    @property
    def ready(self) -> bool:
        """Tell whether it can be told."""
        return bool(self.id and self.name)


class Piece(NamedTuple):
    """What an entry of tool_calls says of which call it is of."""

    at: int | None  #: the index, if there is one
    id: str
    name: str


class Calls:
    """The calls of a choice. `say(rule, detail)` is told what is odd about them."""

    def __init__(self, say: Callable[[str, str], None]) -> None:
        self.all: list[Call] = []
        self._say = say
        self._at: dict[int, Call] = {}
        self._named: dict[str, Call] = {}
        self._ids: set[str] = set()

    def take(self, piece: Piece) -> Call:
        """Give the call that a piece belongs to, with what the piece says of its id and name."""
        known = self._find(piece)
        call = self._new(piece) if known is None else known
        if piece.at is not None:
            self._at[piece.at] = call
        if piece.id and not call.id:
            self._identify(call, piece.id)
        elif piece.id and piece.id not in {call.id, call.extra.get("id")}:
            self._say("openai-chat.call-id-changed", f"{piece.id!r} stands in a piece of the call {call.id!r}")
        self._name(call, piece.name)
        return call

    def waiting(self, before: Call | None = None) -> Iterator[Call]:
        """Give calls that can be told and have not been, those before a call or all."""
        for call in self.all:
            if call is before:
                return
            if call.ready and not call.started:
                yield call

    def complete(self) -> None:
        """Give ids to calls that have none."""
        for call in self.all:
            if not call.id:
                made = f"call_{call.number if call.index is None else call.index}"
                self._say("openai-chat.call-without-id", f"the call of {call.name!r} has no id; {made} stands for it")
                self._identify(call, made)
            if not call.name:
                self._say("openai-chat.call-without-name", f"the call {call.id!r} has no name")

    def _find(self, piece: Piece) -> Call | None:
        slot = None if piece.at is None else self._at.get(piece.at)
        known = self._named.get(piece.id) if piece.id else None
        if known is not None:
            elsewhere = known is not slot and slot is None and piece.at is not None
            if not (elsewhere and piece.name and known.whole):
                return known
            self._say("openai-chat.call-id-reused", f"{piece.id!r} is the id of an earlier call")
            return None
        if piece.at is None:
            return self._open(piece)
        if slot is None:
            return None
        if piece.name and self._begins(piece, slot):
            self._say("openai-chat.index-reused", f"index {piece.at} is that of the call {slot.id!r}")
            return None
        return slot

    def _open(self, piece: Piece) -> Call | None:
        """Give the call that a piece without an index goes on with: the last, unless it begins one."""
        if not self.all:
            return None
        last = self.all[-1]
        if piece.id and last.id:
            return None
        return None if piece.name and last.name and last.whole else last

    def _begins(self, piece: Piece, slot: Call) -> bool:
        if piece.id and slot.id:
            return piece.id != slot.id
        return bool(slot.name) and (bool(piece.id) or piece.name != slot.name) and slot.whole

    def _new(self, piece: Piece) -> Call:
        call = Call(len(self.all), piece.at)
        self.all.append(call)
        if piece.at is None:
            self._say("openai-chat.no-index", f"the call {piece.id or piece.name!r} has no index")
        return call

    def _identify(self, call: Call, given: str) -> None:
        call.id, count = given, 1
        while call.id in self._ids:
            count += 1
            call.id = f"{given}~{count}"
        if call.id != given:
            call.extra["id"] = given
        self._ids.add(call.id)
        self._named[given] = call

    def _name(self, call: Call, piece: str) -> None:
        if not piece or piece == call.name:
            return
        if call.started or (call.text and call.name):
            self._say("openai-chat.name-changed", f"the call {call.id!r} of {call.name!r} is said to be of {piece!r}")
        elif piece.startswith(call.name):
            call.name = piece
        else:
            call.name += piece
