"""
What a decoder remembers of a session: requests that wait, ids that were used, calls that are parked.

Law: ids and tokens are told apart as JSON does: 1 is not "1". Ids of calls are derived from those of requests, and no two are alike.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eventfold.dialects.translation import UNFIT, Unfit

if TYPE_CHECKING:
    from eventfold.shape import Wire

    from .notes import CallNote

RequestId = int | str
#: Whole numbers from here on are not held by all readers of JSON.
_LARGEST = 2**63
_WHOLE = re.compile(r"-?\d+\Z")

#: Where a call of theirs stands, in the words of ours.
PENDING, ASKING, ALLOWED, SUBMITTED, FINISHED = "pending", "asking", "allowed", "submitted", "finished"


@dataclass
class Call:
    """A tools/call, and the retries of it."""

    reply_id: str
    id: str
    name: str
    input: str
    note: CallNote | None = None  #: what it says of itself, when it is ours
    stage: str = PENDING
    input_requests: Wire = field(default_factory=dict[str, Any])  #: what the server asked for
    request_state: str | None = None

    def block(self) -> Wire:
        """Give the call as a request of ours carries it."""
        return {"type": "tool_call", "id": self.id, "name": self.name, "input": self.input}


@dataclass
class Pending:
    """A request that waits for its response."""

    method: str
    index: int
    value: Any
    call: Call | None = None
    token: int | str | None = None
    logs: bool = False  #: it asked for logs


@dataclass
class Watch:
    """A progress token."""

    call: Call | None
    index: int
    last: float | None = None
    active: bool = True


class Session:
    """One connection, which folds to one message."""

    def __init__(self, reply_id: str) -> None:
        self.reply_id = reply_id
        self.name = "mcp"  #: of the client, who calls the tools
        self.begun = False
        self.modern = False  #: its revision is one in which logs have to be asked for
        self.initialized = False
        self.waiting: dict[RequestId, Pending] = {}  #: requests of the client
        self.serving: dict[RequestId, Pending] = {}  #: requests of the server, whose ids are its own
        self.superseded: list[Pending] = []
        self.used: dict[tuple[bool, RequestId], int] = {}
        self.answered: dict[RequestId, int] = {}
        self.cancelled: dict[RequestId, int] = {}
        self.tokens: dict[int | str, Watch] = {}
        self.parked: list[Call] = []
        self.tasks: dict[str, Call] = {}
        self.open: set[str] = set()  #: calls that have no result
        self.taken: set[str] = set()

    def call_id(self, request_id: RequestId) -> str:
        """Derive the id of a call from that of its request. Text that could be a number's is quoted, so that they differ."""
        text = str(request_id) if isinstance(request_id, int) else request_id
        if isinstance(request_id, str) and (not text or text.startswith('"') or _WHOLE.match(text)):
            text = json.dumps(text)
        again = 2
        found = text
        while found in self.taken:
            found, again = f"{text}#{again}", again + 1
        self.taken.add(found)
        return found

    def unanswered(self) -> list[Pending]:
        """Give the requests that wait, in order."""
        return sorted([*self.superseded, *self.waiting.values(), *self.serving.values()], key=lambda pending: pending.index)


def id_of(value: Any, pointer: str = "/id") -> RequestId:
    """Read an id or token. Raises Unfit: it is neither text nor a whole number, or one that JSON readers do not hold."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST:
        return value
    raise Unfit(UNFIT, "neither text nor a whole number", pointer)
