"""
Making messages by hand, and reading them.

Outside the core: what is not given (id, time) is taken from the machine. The names and conveniences
are those that AgentScope's users know. A block that the role forbids raises pydantic's ValidationError.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from .models import AssistantMsg, SystemMsg, TextBlock, ToolMsg, UserMsg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .models import Msg


def user_msg(name: str, content: str | Sequence[Any], **fields: Any) -> UserMsg:
    """
    Make a message of the user: text and data blocks, a plain string becomes one TextBlock.

    Further fields are those of UserMsg. A message that is not streamed is finished when it is made.
    """
    return UserMsg(**_finished(_common(name, content, fields)))


def assistant_msg(name: str, content: str | Sequence[Any], **fields: Any) -> AssistantMsg:
    """Make a message of the assistant; finished_at is left to the caller. Further fields are those of AssistantMsg."""
    return AssistantMsg(**_common(name, content, fields))


def system_msg(name: str, content: str | Sequence[Any], **fields: Any) -> SystemMsg:
    """Make a message of the system: text blocks only. Further fields are those of SystemMsg."""
    return SystemMsg(**_finished(_common(name, content, fields)))


def tool_msg(name: str, content: Sequence[Any], **fields: Any) -> ToolMsg:
    """Make a message of tool results. Further fields are those of ToolMsg."""
    return ToolMsg(**_finished(_common(name, content, fields)))


def get_text_content(msg: Msg, separator: str = "\n") -> str | None:
    """Join the texts of a message's text blocks; None when there is no text block."""
    return msg.get_text_content(separator)


def get_content_blocks(msg: Msg, kind: str | Sequence[str] | None = None) -> list[Any]:
    """Give a message's blocks of a kind, or of any of several kinds, in order; all blocks without one."""
    return msg.get_content_blocks(kind)


def has_content_blocks(msg: Msg, kind: str | Sequence[str] | None = None) -> bool:
    """Tell whether a message has a block of the kind, of any of the kinds, or any block at all."""
    return msg.has_content_blocks(kind)


def _common(name: str, content: str | Sequence[Any], fields: dict[str, Any]) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat()
    blocks = [TextBlock(id=uuid4().hex, text=content, created_at=now, finished_at=now)] if isinstance(content, str) else list(content)
    given = {key: value for key, value in fields.items() if value is not None}
    return {"name": name, "content": blocks, "id": uuid4().hex, "created_at": now, **given}


def _finished(fields: dict[str, Any]) -> dict[str, Any]:
    return {"finished_at": fields["created_at"], **fields}
