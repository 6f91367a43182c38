"""
AgentScope's own reducer, as a program: a list of events a line in, the message that `Msg.append_event` makes of them out.

A program, so that a version other than the installed one can be run: its folder stands first on PYTHONPATH.
"""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

from agentscope.event import AgentEvent
from agentscope.message import Msg
from pydantic import TypeAdapter, ValidationError

_EVENT: TypeAdapter[Any] = TypeAdapter(AgentEvent)


def append_all(events: list[dict[str, Any]]) -> tuple[dict[str, Any], list[int]]:
    """Append a reply's events, in AgentScope's own form, to the message that its first one begins. Names those that it refuses."""
    head = events[0]
    message = Msg(
        name=head["name"],
        role=head.get("role") or "assistant",
        id=head["reply_id"],
        created_at=head["created_at"],
        content=[],
        metadata=head.get("metadata") or {},
    )
    refused: list[int] = []
    for place, event in enumerate(events):
        try:
            message.append_event(_EVENT.validate_json(json.dumps(event)))
        except (ValidationError, AttributeError, ValueError):
            refused.append(place)
    return message.model_dump(mode="json"), refused


def main() -> None:
    """Answer line by line."""
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(append_all(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
