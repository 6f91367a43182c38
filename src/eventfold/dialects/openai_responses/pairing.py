"""
Which result answers which call, over all messages of a conversation.

Law: an answer comes after its call, and the first answers the first. A call that runs while another has its id gets an id
of its own, so that no result can be taken for another's. Ids are not longer than the provider takes.
"""

from __future__ import annotations

from collections import deque
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eventfold.shape import Wire

Spot = tuple[int, int]  #: message, block

#: The provider's limit.
_LONGEST = 64


class Pairing:
    """Calls and results, by where they stand."""

    def __init__(self, messages: Sequence[Wire]) -> None:
        self.ids: dict[Spot, str] = {}  #: of calls, as they are sent
        self.result_of: dict[Spot, Spot] = {}  #: call -> result
        self.call_of: dict[Spot, Spot] = {}  #: result -> call
        open_calls: dict[str, deque[Spot]] = {}
        running: set[str] = set()
        for i, message in enumerate(messages):
            for j, block in enumerate(message["content"]):
                if block["type"] == "tool_call":
                    self.ids[i, j] = sent = _free(_short(block["id"]), running)
                    running.add(sent)
                    open_calls.setdefault(block["id"], deque()).append((i, j))
                elif block["type"] == "tool_result" and (waiting := open_calls.get(block["id"])):
                    call = waiting.popleft()
                    running.discard(self.ids[call])
                    self.result_of[call], self.call_of[i, j] = (i, j), call


def _short(call_id: str) -> str:
    return call_id if len(call_id) <= _LONGEST else "call_" + sha256(call_id.encode()).hexdigest()[:40]


def _free(wanted: str, taken: set[str]) -> str:
    if wanted not in taken:
        return wanted
    return next(new for i in range(2, len(taken) + 3) if (new := f"{wanted[: _LONGEST - 12]}#{i}") not in taken)
