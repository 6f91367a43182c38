"""
Messages of ours -> the turns of a request, as the providers want them: each call with its result right after it.

Law: every call of the client's tools stands in a turn of the assistant together with its answer, once; a result that has no
call is something that the user says. Calls and results pair by occurrence, wherever in the messages they stand.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from eventfold.jsonvalue import is_array, object_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from eventfold.shape import Wire

#: Blocks of an assistant's message that the user says, since there is no other place for them; of results, those that have no call.
_OF_THE_USER = frozenset({"hint", "tool_result"})


class Item(NamedTuple):
    """A block, and where it stands in the messages."""

    pointer: str
    block: Wire
    speaker: str = ""  #: the role of its message


class Answer(NamedTuple):
    """A call, and its result if there is one."""

    call: Item
    result: Item | None


@dataclass(slots=True)
class Turn:
    """What one side says in a row."""

    role: str  #: user or assistant
    items: list[Item] = field(default_factory=list[Item])
    answers: list[Answer] = field(default_factory=list[Answer])  #: to the client's calls among the items, in their order
    over: bool = False  #: a result or another message has followed the calls


class Conversation:
    """
    Messages, as turns.

    `hosted` tells which calls the provider ran itself: their results stand beside them. `foreign` are kinds of block that
    the assistant cannot say there, so that the user does.
    """

    def __init__(self, messages: Iterable[Wire], hosted: Callable[[Wire], bool], foreign: frozenset[str] = frozenset()) -> None:
        self._foreign = _OF_THE_USER | foreign
        self.system: list[Item] = []
        self.late: list[Item] = []  #: system text that stands after others have spoken
        self.turns: list[Turn] = []
        said = [*_items(messages)]
        calls = {item.pointer: item for _, item in said}
        self._hosted = hosted
        self._results = _paired([item for _, item in said])
        self._called = {result.pointer: calls[call] for call, result in self._results.items()}  # by results
        self._place: dict[str, Turn] = {}  # of a call
        before = -1
        for head, item in said:
            if head != before and self.turns and self.turns[-1].answers:
                self.turns[-1].over = True
            before = head
            self._take(item)

    def _take(self, item: Item) -> None:
        kind: Any = item.block.get("type")
        if item.speaker == "system":
            (self.late if self.turns else self.system).append(item)
        elif item.pointer in self._called:
            self._take_result(self._called[item.pointer], item)
        elif item.speaker == "assistant" and kind not in self._foreign:
            turn = self._last("assistant")
            turn.items.append(item)
            if kind == "tool_call":
                self._take_call(turn, item)
        else:
            self._last("user").items.append(item)

    def _take_call(self, turn: Turn, call: Item) -> None:
        self._place[call.pointer] = turn
        result = self._results.get(call.pointer)
        if not self._hosted(call.block):
            turn.answers.append(Answer(call, result))
        elif result is not None and result.pointer in self._place:
            turn.items.append(result)

    def _take_result(self, call: Item, result: Item) -> None:
        """Take a result that has a call, which may stand behind it."""
        turn = self._place.get(call.pointer)
        if turn is None:
            self._place[result.pointer] = Turn("early")
        elif self._hosted(call.block):
            turn.items.append(result)
        else:
            turn.over = True

    def _last(self, role: str) -> Turn:
        """Give the last turn if it is of the role and goes on; begin one otherwise."""
        if not self.turns or self.turns[-1].role != role or self.turns[-1].over:
            self.turns.append(Turn(role))
        return self.turns[-1]


def _items(messages: Iterable[Wire]) -> Iterator[tuple[int, Item]]:
    """Give each block with the place of its message."""
    for i, message in enumerate(messages):
        for j, block in enumerate(message["content"]):
            yield i, Item(f"/{i}/content/{j}", block, message["role"])


def _paired(items: list[Item]) -> dict[str, Item]:
    """Give the result of each call, by the call's pointer."""
    owed: dict[str, deque[str]] = {}
    early: dict[str, deque[Item]] = {}
    pairs: dict[str, Item] = {}
    for item in items:
        kind, key = item.block.get("type"), str(item.block.get("id"))
        if kind == "tool_call":
            if early.get(key):
                pairs[item.pointer] = early[key].popleft()
            else:
                owed.setdefault(key, deque()).append(item.pointer)
        elif kind == "tool_result":
            if owed.get(key):
                pairs[owed[key].popleft()] = item
            else:
                early.setdefault(key, deque()).append(item)
    return pairs


def with_last(message: Wire, provider: str) -> Wire:
    """Give a reply with what the provider said after its last block, which a block of empty text carries that is not sent."""
    after = object_of(object_of(message.get("metadata")).get(provider)).get("after")
    if message["role"] != "assistant" or not is_array(after):
        return message
    return {**message, "content": [*message["content"], {"type": "text", "text": "", f"x_{provider}": {"before": after}}]}


def text_of(output: Any) -> str:
    """Give the text of a result's output."""
    return output if isinstance(output, str) else "".join(str(block.get("text", "")) for block in output)
