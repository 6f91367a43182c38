"""
What is known of a running agent call: its blocks, its tool calls, and what its newest model call said.

Java changes the replyId with every phase and uses the same block ids again, so that what belongs together has to be remembered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eventfold.shape import Wire


class Call:
    """A tool call, and where it stands."""

    def __init__(self, key: str, name: str) -> None:
        self.key = key
        self.name = name
        self.arguments: list[str] = []
        #: The TOOL_CALL_END that is held back, since Java may open the call again: its head.
        self.ended: Wire | None = None
        self.open = True
        self.state = "pending"  #: pending, asking, denied, submitted
        self.result = ""  #: empty, open, suspended, done; unseen when Java has one that no event shows
        self.batch = ""  #: the model call that made it

    def block(self) -> Wire:
        """Give the call as a block of ours."""
        return {"type": "tool_call", "id": self.key, "name": self.name, "input": "".join(self.arguments)}


class ModelCall:
    """A model call: what it said so far."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.open = True
        self.text: list[str] = []
        self.calls: list[str] = []
        self.usage: Any = None


class AgentCall:
    """A reply of one agent: one call of it, or several when it was parked."""

    def __init__(self, reply_id: str, name: str, session_id: str, index: int) -> None:
        self.reply_id = reply_id
        self.name = name
        self.session_id = session_id
        self.index = index
        self.ended = False
        self.stopped = False  #: parked, and AGENT_END was seen
        self.resumed = False  #: went on, and nothing has said yet how it was answered
        self.answers: set[str] = set()  #: replyIds that an answer may name
        self.calls: dict[str, Call] = {}
        self.model = ModelCall("")
        self.model.open = False
        self.blocks: dict[tuple[str, str, str], str] = {}  #: block ids of ours, of what is open or was the newest
        self.opened: set[tuple[str, str, str]] = set()
        self.used: dict[tuple[str, str], int] = {}
        self.held: dict[str, list[Wire]] = {}  #: placeholder texts of results, until it is known what they are
        self.reason: str | None = None
        self.exceeded = False
        self.implicit: dict[tuple[str, str, str], str] = {}  #: blocks that nothing started, and that nothing will end
        self.structured: Any = None

    @property
    def parked(self) -> bool:
        """Tell whether somebody outside is to do something."""
        return any(
            (call.state in {"asking", "submitted"} or call.result == "suspended") and call.result not in {"done", "unseen"}
            for call in self.calls.values()
        )

    def begin(self, kind: str, model: str, block: str) -> str:
        """Give the id for a block that starts. A block that is open keeps it."""
        key = (kind, model, block)
        if key not in self.opened:
            base = f"{model or self.reply_id}:{block}"
            count = self.used[kind, base] = self.used.get((kind, base), 0) + 1
            self.blocks[key] = base if count == 1 else f"{base}#{count}"
            self.opened.add(key)
        return self.blocks[key]

    def block(self, kind: str, model: str, block: str) -> str:
        """Give the id of a block that was started, or the one that it would have."""
        return self.blocks.get((kind, model, block), f"{model or self.reply_id}:{block}")
