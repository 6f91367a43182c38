"""
A reply as rounds, and results for calls: what requests of all providers have in common.

Law: every call has exactly one result behind its round, wherever it stood before, and no result is without its call. A round is
what the model said in one go; results and hints end it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from eventfold.findings import Loss

from .translation import Said

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from eventfold.shape import Wire

#: What is lost when calls and results do not pair, and where it shows.
LOSSES: dict[str, tuple[str, ...]] = {
    "a call without a result is answered as not run, since providers ask for an answer": ("/content/*",),
    "a result without a call is left out, since providers refuse it": ("/content/*",),
    "a call that repeats the id of another gets an id of its own": ("/content/*/id",),
}
UNANSWERED, ORPHAN, REPEATED = LOSSES

#: What stands in place of a result that there is not.
NOT_RUN = "The tool was not run."


class Placed(NamedTuple):
    """A block, and where it stands."""

    place: str  #: a JSON pointer
    block: Wire


class Round(NamedTuple):
    """Blocks that belong together."""

    kind: str  #: "said", "results" or "hints"
    blocks: list[Placed]


class Called(NamedTuple):
    """A call as it is written."""

    id: str  #: unique among the calls of its round
    placed: Placed


class Rounds:
    """The results of all messages, and the rounds of each."""

    def __init__(self, messages: Iterable[Wire], is_server: Callable[[Wire], bool]) -> None:
        self.losses: list[Loss] = []
        self._is_server = is_server
        self._results: dict[str, list[Placed]] = {}  #: that no call has taken yet
        for i, message in enumerate(messages):
            for j, block in enumerate(message["content"]):
                if block["type"] == "tool_result":
                    self._results.setdefault(block["id"], []).append(Placed(f"/{i}/content/{j}", block))

    def take(self, call_id: str) -> Placed | None:
        """Take the first result of a call that is left."""
        left = self._results.get(call_id)
        return left.pop(0) if left else None

    def answer(self, call: Placed) -> Placed | None:
        """Take the result of a call. That there is none is a loss."""
        found = self.take(call.block["id"])
        if found is None:
            self.losses.append(Loss(call.place, UNANSWERED))
        return found

    def finish(self) -> list[Loss]:
        """Give what was lost, with the results that no call has taken."""
        return [*self.losses, *(Loss(placed.place, ORPHAN) for left in self._results.values() for placed in left)]

    def calls(self, blocks: list[Placed]) -> list[Called]:
        """List the calls of a round that the client runs, with ids that are unique in it."""
        taken: dict[str, Called] = {}
        for placed in blocks:
            if placed.block["type"] != "tool_call" or self._is_server(placed.block):
                continue
            call_id: str = placed.block["id"]
            while call_id in taken:
                call_id += "#"
            if call_id != placed.block["id"]:
                self.losses.append(Loss(f"{placed.place}/id", REPEATED))
            taken[call_id] = Called(call_id, placed)
        return list(taken.values())

    def of(self, message: Wire, place: str, begins: Container[int] = ()) -> Iterator[Round]:
        """
        Cut a reply into rounds.

        The result of a call that the provider ran itself belongs to the round of the call. A round also begins at each place of
        the content that is in `begins`.
        """
        kind, blocks = "", list[Placed]()
        for j, block in enumerate(message["content"]):
            now = {"tool_result": "results", "hint": "hints"}.get(block["type"], "said")
            if now == "results" and kind == "said" and self._stays(block, blocks):
                now = "said"
            if kind and (now != kind or (j in begins and now == "said")):
                yield Round(kind, blocks)
                blocks = []
            kind = now
            blocks.append(Placed(f"{place}/content/{j}", block))
        if kind:
            yield Round(kind, blocks)

    def _stays(self, result: Wire, blocks: list[Placed]) -> bool:
        return any(block["type"] == "tool_call" and block["id"] == result["id"] and self._is_server(block) for _, block in blocks)


class RoundsWriter(ABC):
    """Writes messages one after the other; knows all results, since one may stand in a later message."""

    def __init__(self, messages: Iterable[Wire], is_server: Callable[[Wire], bool]) -> None:
        self._messages = list(messages)
        self.out: list[Wire] = []
        self.rounds = Rounds(self._messages, is_server)

    @abstractmethod
    def write(self, message: Wire, place: str) -> None:
        """Write a message of any role."""

    def said(self) -> Said:
        """Write all messages."""
        for i, message in enumerate(self._messages):
            self.write(message, f"/{i}")
        return Said(self.out, self.rounds.finish())
