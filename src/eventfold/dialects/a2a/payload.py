"""
Which payload a value holds: a StreamResponse, bare or in JSON-RPC; a Task, a Message, or a request with one.

Law: nothing is guessed. What is none of these is kept whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from eventfold.dialects.translation import UNKNOWN, Unfit
from eventfold.jsonvalue import escape, is_object, shown

from . import rules
from .shapes import PAYLOADS, camel

if TYPE_CHECKING:
    from eventfold.shape import Wire

#: Names of what is no payload.
ERROR, REQUEST = "error", "request"
#: Fields by which a bare payload is told.
_MARKS = {"task": ("id", "status"), "message": ("messageId", "role")}
#: Kinds of A2A 0.3, with the field that makes them sure.
_OLD = {"task": "status", "status-update": "status", "artifact-update": "artifact", "message": "messageId"}


class Payload(NamedTuple):
    """What was found."""

    name: str  #: of PAYLOADS, or ERROR or REQUEST
    body: Any
    place: str = ""
    unknown: tuple[tuple[str, Any], ...] = ()  #: fields beside it, with their places


def payload_of(value: Any) -> Payload:
    """
    Find the payload of a value.

    Raises:
        Unfit: there is none, or more than one.

    """
    if not is_object(value):
        raise Unfit(UNKNOWN, f"{shown(value)} is no JSON object")
    place = ""
    if "jsonrpc" in value:
        if value.get("error") is not None:
            return Payload(ERROR, value["error"], "/error")
        place = "/params" if "method" in value else "/result"
        value = value.get(place[1:])
        if not is_object(value):
            raise Unfit(UNKNOWN, f"{shown(value)} holds nothing", place)
    return _bare(value, place)


def _bare(value: Wire, place: str) -> Payload:
    names = {camel(key): key for key in value}
    found = [name for name in PAYLOADS if value.get(names.get(name, "")) is not None]
    if len(found) > 1:
        raise Unfit(rules.ONE_PAYLOAD, f"it holds {' and '.join(found)}", place)
    if not found:
        bare = [name for name, marks in _MARKS.items() if all(mark in names for mark in marks)]
        if "kind" in value:
            raise Unfit(rules.OLD, f"the kind {shown(value['kind'])} is of A2A 0.3", f"{place}/kind")
        if not bare:
            raise Unfit(UNKNOWN, f"{shown(value)} is no payload of A2A", place)
        return Payload(bare[0], value, place)
    name, key = found[0], names[found[0]]
    others = {other: item for other, item in value.items() if other != key and item is not None}
    if name == "message" and others and set(others) <= {"tenant", "configuration", "metadata"}:
        return Payload(REQUEST, value, place)
    return Payload(name, value[key], f"{place}/{escape(key)}", tuple((f"{place}/{escape(other)}", item) for other, item in others.items()))


def _is_old(value: Any) -> bool:
    """Tell a value of A2A 0.3, whose kind is not to be taken for somebody else's."""
    return is_object(value) and _OLD.get(str(value.get("kind"))) in value


def is_a2a(value: Any) -> bool:
    """Tell whether a value is surely one of A2A: by its payload, and by an enum's name in it; or one of A2A 0.3, by its kind."""
    try:
        payload = payload_of(value)
    except Unfit as error:
        return error.remark.rule == rules.OLD and _is_old(value.get("result", value))
    body = payload.body
    if payload.name == ERROR or not is_object(body):
        return False
    body = {camel(key): item for key, item in body.items()}
    if payload.name == REQUEST:
        body = body["message"] if is_object(body["message"]) else {}
    if payload.name in {"task", "statusUpdate"}:
        status = body.get("status")
        return is_object(status) and str(status.get("state")).startswith("TASK_STATE_")
    if payload.name == "artifactUpdate":
        return "taskId" in body and is_object(body.get("artifact"))
    return str(body.get("role")).startswith("ROLE_")
