"""
Which result answers which call, over all messages.

Law: results pair with calls by id and occurrence; an id that a later message uses again is another call's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eventfold.shape import Wire

#: Where a block stands: the message's place, and its own within it.
Place = tuple[int, int]


def pairs_of(messages: list[Wire]) -> dict[Place, Place]:
    """Give the place of the result for that of each call that has one."""
    pairs: dict[Place, Place] = {}
    owed: dict[str, list[Place]] = {}
    early: dict[str, list[Place]] = {}
    for i, message in enumerate(messages):
        for j, block in enumerate(message["content"]):
            if block["type"] not in {"tool_call", "tool_result"}:
                continue
            key: str = block["id"]
            waiting = owed.setdefault(key, [])
            before = early.setdefault(key, [])
            if block["type"] == "tool_result":
                if waiting:
                    pairs[waiting.pop(0)] = (i, j)
                else:
                    before.append((i, j))
            elif before and before[-1][0] == i:
                # It stands before its call, in the same message.
                pairs[i, j] = before.pop()
            else:
                owed[key] = [*(place for place in waiting if place[0] == i), (i, j)]
    return pairs
