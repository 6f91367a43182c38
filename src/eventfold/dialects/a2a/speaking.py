"""
The words of a status: when, and what people and programs that do not know us are told.

Law: whoever reads no notes still learns who waits for what, what was answered and what went wrong.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.translation import fields_of
from eventfold.table import field_of

from .states import FAILED

if TYPE_CHECKING:
    from eventfold.shape import Wire

REQUESTS = (structs.RequireUserConfirmEvent, structs.RequireExternalExecutionEvent)
ANSWERS = (structs.UserConfirmResultEvent, structs.ExternalExecutionResultEvent, structs.UserInterruptEvent)
#: Events that are a message of somebody.
SPOKEN = REQUESTS + ANSWERS


def said_of(event: Any) -> Wire:
    """Give an event's fields, without the id, which no message shows."""
    return {key: item for key, item in fields_of(event).items() if key != "id"}


def status_of(state: str, event: Any) -> Wire:
    """Give a status; with the event's time, if it is a point in time."""
    try:
        moment = datetime.fromisoformat(event.created_at) if event is not None else None
        if moment is not None and moment.tzinfo is not None:
            return {"state": state, "timestamp": moment.astimezone(UTC).isoformat().replace("+00:00", "Z")}
    except (ValueError, OverflowError):
        pass
    return {"state": state}


def message_parts(event: Any, state: str) -> list[Wire]:
    """Give what people and programs that do not know us are told: who waits for what, what was answered, what went wrong."""
    kind = str(fields_of(event)["type"])
    if isinstance(event, REQUESTS):
        calls = [{name: field_of(call, name) for name in ("id", "name", "input")} for call in event.tool_calls]
        return [{"data": {"kind": kind, "toolCalls": calls}}]
    if isinstance(event, structs.UserConfirmResultEvent):
        answers = [{"id": field_of(_call_of(result), "id"), "confirmed": field_of(result, "confirmed")} for result in event.confirm_results]
        return [{"data": {"kind": kind, "answers": answers}}]
    if isinstance(event, structs.ExternalExecutionResultEvent):
        results = [{"id": field_of(result, "id"), "name": field_of(result, "name")} for result in event.execution_results]
        return [{"data": {"kind": kind, "results": results}}]
    if isinstance(event, structs.UserInterruptEvent):
        return [{"data": {"kind": kind}}]
    error = field_of(event, "error") if state == FAILED else None
    if error is None:
        return []
    return [{"text": field_of(error, "message")}]


def _call_of(result: Any) -> Any:
    return field_of(result, "tool_call")
