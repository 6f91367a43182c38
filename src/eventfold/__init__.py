"""
The contract between an agent's event stream and its message.

`fold` turns events into one message per reply, `check` says what a stream breaks, `check_and_fold` does
both from bytes. The models are in `eventfold.models`. Names are loaded when they are used, so that
whoever needs only bytes pays for no models.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .check import Checked, Checker, check, check_and_fold
    from .findings import Finding, Severity
    from .fold import Folder, UnknownReply, fold
    from .messages import (
        assistant_msg,
        get_content_blocks,
        get_text_content,
        has_content_blocks,
        system_msg,
        tool_msg,
        user_msg,
    )
    from .unfold import unfold
    from .wire import InvalidEvent, read_event

_HOMES = {
    "Checked": "check",
    "Checker": "check",
    "Finding": "findings",
    "Folder": "fold",
    "InvalidEvent": "wire",
    "Severity": "findings",
    "UnknownReply": "fold",
    "assistant_msg": "messages",
    "check": "check",
    "check_and_fold": "check",
    "fold": "fold",
    "get_content_blocks": "messages",
    "get_text_content": "messages",
    "has_content_blocks": "messages",
    "read_event": "wire",
    "system_msg": "messages",
    "tool_msg": "messages",
    "unfold": "unfold",
    "user_msg": "messages",
}

__all__ = [
    "Checked",
    "Checker",
    "Finding",
    "Folder",
    "InvalidEvent",
    "Severity",
    "UnknownReply",
    "assistant_msg",
    "check",
    "check_and_fold",
    "fold",
    "get_content_blocks",
    "get_text_content",
    "has_content_blocks",
    "read_event",
    "system_msg",
    "tool_msg",
    "unfold",
    "user_msg",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        message = f"module 'eventfold' has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


class _Package(ModuleType):
    """Keeps `eventfold.fold` the function: importing the module of that name would put the module there."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in _HOMES):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
