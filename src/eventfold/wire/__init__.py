"""
Bytes -> events: JSON Lines, a JSON array, documents over several lines, server-sent events.

Sans-io: bytes are fed, cut anywhere, and events come out. Nothing is raised for bad input.
"""

from .framing import MAX_LENGTH, Framer, Problem
from .json_text import TOO_DEEP
from .reader import DONE, EventReader, InvalidEvent, Remark, StoredMessage, read_event
from .sse import SSEDecoder

__all__ = [
    "DONE",
    "MAX_LENGTH",
    "TOO_DEEP",
    "EventReader",
    "Framer",
    "InvalidEvent",
    "Problem",
    "Remark",
    "SSEDecoder",
    "StoredMessage",
    "read_event",
]
