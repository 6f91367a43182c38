"""
A harness for AgentScope's own reducer, `Msg.append_event`.

Events go through `to_agentscope`, so that what shows are faults of the reducer and not the strictness of its models. It begins
each message as AgentScope's consumers do (name, role and time from REPLY_START, by hand: append_event takes none of
them), and gives what the message dumps.
"""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

from agentscope.event import AgentEvent
from agentscope.message import Msg
from pydantic import TypeAdapter, ValidationError

from eventfold.dialects.agentscope import to_agentscope
from eventfold.jsonvalue import is_array, is_object

_EVENT: TypeAdapter[Any] = TypeAdapter(AgentEvent)
#: Fields that the contract wants, even empty; others that AgentScope dumps empty are left out.
_WANTED = {"content", "output"}


def fold(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Fold a stream: events that its models refuse are dropped, as its channels do."""
    messages: dict[str, Msg] = {}
    for event in events:
        try:
            read = _EVENT.validate_json(json.dumps(to_agentscope(event)[0]))
        except (ValidationError, ValueError, LookupError, TypeError):
            continue
        reply_id: str = getattr(read, "reply_id", None) or ""
        if event["type"] == "REPLY_START" and reply_id not in messages:
            messages[reply_id] = Msg(
                id=reply_id, name=read.name, role=read.role, created_at=read.created_at, content=[], metadata=event.get("metadata") or {}
            )
        if reply_id in messages:
            messages[reply_id].append_event(read)
    return [_plain(message.model_dump(mode="json")) for message in messages.values()]


def _plain(value: Any) -> Any:
    """Leave out what is null, or empty by default."""
    if is_object(value):
        kept = {key: _plain(item) for key, item in value.items() if item is not None}
        return {key: item for key, item in kept.items() if item not in ([], {}) or key in _WANTED}
    return [_plain(item) for item in value] if is_array(value) else value


def main() -> None:
    """Speak the protocol."""
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        request = json.loads(line)
        if request["cmd"] == "start":
            answer: dict[str, Any] = {"protocol": 1, "name": "agentscope", "language": "python"}
        elif request["cmd"] == "run":
            try:
                answer = {"seq": request["seq"], "messages": fold(request["events"])}
            except Exception as error:
                answer = {"seq": request["seq"], "error": f"{type(error).__name__}: {error}"}
        else:
            return
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
