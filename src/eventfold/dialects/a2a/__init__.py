"""
A2A: agents that talk to each other by tasks, artifacts and statuses.

Each reply is a task, each block an artifact. What A2A has no field for travels as JSON text below `eventfold` in metadata, so
that our own output comes back whole. The page beside this file says what others' streams become.
"""

from __future__ import annotations

from eventfold.dialects.translation import Dialect, Row

from .incoming import STUCK
from .messages import BESIDE, read_messages, write_messages
from .outgoing import AFTER_END, LATE, NO_TASK, NOT_STARTED, REDELIVERED, A2AEncoder
from .payload import is_a2a
from .reading import A2ADecoder
from .rules import RULES
from .snapshot import SNAPSHOT

#: Where a loss shows in a message of ours; nowhere, if it concerns events only.
LOSSES: dict[str, tuple[str, ...]] = {
    REDELIVERED: (),
    NOT_STARTED: (),
    AFTER_END: (),
    NO_TASK: (),
    LATE: ("/content/*",),
    STUCK: ("/content/*",),
    SNAPSHOT: ("/content/*", "/usage", "/finished_at", "/finished_reason"),
    BESIDE: (),
}

MAPPING = (Row("ReplyStartEvent", "task", "both"),)

DIALECT = Dialect(
    name="a2a",
    title="A2A 1.x (a2a-sdk 1.3.0)",
    recognise=is_a2a,
    decoder=A2ADecoder,
    encoder=A2AEncoder,
    read_messages=read_messages,
    write_messages=write_messages,
    mapping=MAPPING,
    losses=LOSSES,
    rules=RULES,
)
