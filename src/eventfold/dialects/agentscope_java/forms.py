"""
Each event of ours as a Java event, without looking at others: a table of forms, read and written by one loop.

Law: read(write(event)) is the event. What the Java class has no field for stands in the metadata below our own key, with the id
of the reply, since Java changes its replyId with every phase.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from eventfold_models import structs
from eventfold_models.tables import EVENTS

from eventfold.dialects.translation import NAMESPACE, fields_of
from eventfold.jsonvalue import copy_json, depth_of, is_object
from eventfold.wire import InvalidEvent
from eventfold.wire.depth import MAX_DEPTH

from .columns import (
    REASONS,
    STOPPED,
    blocks_of,
    confirmations_of,
    hint_of,
    limited,
    number_of,
    read_data_delta,
    read_usage,
    reason_of,
    state_of,
    tag_of,
    write_confirmations,
    write_data_delta,
    write_hint,
    write_usage,
    written,
)
from .patch import applied, difference
from .scalars import object_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventfold.shape import Wire


class Column(NamedTuple):
    """A field of ours, the field of theirs, and how one is made of the other. `write` gives what replaces an absent value."""

    ours: str
    theirs: str
    read: Callable[[Any, str], Any] = text_of
    write: Callable[[Any], Any] = copy_json


class Form(NamedTuple):
    """The Java event that stands for one of ours."""

    type: str
    columns: tuple[Column, ...]
    #: What makes fields of several at once; gives (fields of ours) and (fields of theirs).
    read: Callable[[Wire], Wire] | None = None
    write: Callable[[Wire], Wire] | None = None


#: Java's event has the name of ours.
SAME = ""

_REPLY = Column("reply_id", "replyId")
_BLOCK = (_REPLY, Column("block_id", "blockId"))
_GROWS = (*_BLOCK, Column("delta", "delta"))
_CALL = (_REPLY, Column("tool_call_id", "toolCallId"))
_NAMED = (*_CALL, Column("tool_call_name", "toolCallName"))
_CALLS = Column("tool_calls", "toolCalls", blocks_of, written)

_TABLE: dict[type[Any], Form] = {
    structs.ReplyStartEvent: Form(
        "AGENT_START", (Column("session_id", "sessionId"), _REPLY, Column("name", "name"), Column("role", "role"))
    ),
    structs.ReplyEndEvent: Form("AGENT_END", (_REPLY,)),
    structs.ModelCallStartEvent: Form(SAME, (_REPLY,)),
    structs.ModelCallEndEvent: Form(SAME, (_REPLY,), read_usage, write_usage),
    structs.TextBlockStartEvent: Form(SAME, _BLOCK),
    structs.TextBlockDeltaEvent: Form(SAME, _GROWS),
    structs.TextBlockEndEvent: Form(SAME, _BLOCK),
    structs.ThinkingBlockStartEvent: Form(SAME, _BLOCK),
    structs.ThinkingBlockDeltaEvent: Form(SAME, _GROWS),
    structs.ThinkingBlockEndEvent: Form(SAME, _BLOCK),
    structs.DataBlockStartEvent: Form(SAME, _BLOCK),
    structs.DataBlockDeltaEvent: Form(SAME, (*_BLOCK, Column("data", "delta"))),
    structs.DataBlockEndEvent: Form(SAME, _BLOCK),
    structs.HintBlockEvent: Form(SAME, (*_BLOCK, Column("source", "hintSource"), Column("hint", "hint", hint_of, write_hint))),
    structs.ToolCallStartEvent: Form(SAME, _NAMED),
    structs.ToolCallDeltaEvent: Form(SAME, (*_CALL, Column("delta", "delta"))),
    structs.ToolCallEndEvent: Form(SAME, _CALL),
    structs.ToolResultStartEvent: Form(SAME, _NAMED),
    structs.ToolResultTextDeltaEvent: Form(SAME, (*_CALL, Column("delta", "delta"))),
    structs.ToolResultDataDeltaEvent: Form(SAME, _CALL, read_data_delta, write_data_delta),
    structs.ToolResultEndEvent: Form(SAME, (*_CALL, Column("state", "state", state_of))),
    structs.ExceedMaxItersEvent: Form(
        SAME,
        (_REPLY, Column("max_iters", "maxIters", number_of, limited), Column("current_iter", "currentIter", number_of, limited)),
    ),
    structs.RequireUserConfirmEvent: Form(SAME, (_REPLY, _CALLS)),
    structs.RequireExternalExecutionEvent: Form(SAME, (_REPLY, _CALLS)),
    structs.UserConfirmResultEvent: Form(
        SAME, (_REPLY, Column("confirm_results", "confirmResults", confirmations_of, write_confirmations))
    ),
    structs.ExternalExecutionResultEvent: Form(SAME, (_REPLY, Column("execution_results", "toolResults", blocks_of, written))),
    structs.RequestStopEvent: Form(SAME, (Column("reason", "reason"), Column("generate_reason", "generateReason", reason_of))),
    structs.SubagentExposedEvent: Form(
        SAME,
        (Column("subagent_id", "subagentId"), Column("agent_id", "agentId"), Column("session_id", "sessionId"), Column("label", "label")),
    ),
    structs.AllToolsDeniedEvent: Form(SAME, (Column("denied_tool_calls", "deniedToolCalls", blocks_of, written),)),
    structs.CustomEvent: Form(SAME, (Column("name", "name"), Column("value", "value", object_of))),
}
FORMS: dict[type[Any], Form] = {kind: form._replace(type=form.type or tag_of(kind)) for kind, form in _TABLE.items()}
#: Ours that go out as CUSTOM: Java has no USER_INTERRUPT, and 2.0.0 cannot read its own ALL_TOOLS_DENIED.
AS_CUSTOM = frozenset({structs.UserInterruptEvent, structs.AllToolsDeniedEvent})
#: The class of ours for each Java event; AGENT_RESULT has none.
BY_TYPE = {form.type: kind for kind, form in FORMS.items()}
RESULT = "AGENT_RESULT"
TYPES = frozenset({*BY_TYPE, RESULT})
_COMMON = {"type", "id", "createdAt", "source", "metadata"}
#: Fields that a Java event has besides its columns.
_BESIDES = {
    structs.ModelCallEndEvent: {"usage"},
    structs.ToolResultDataDeltaEvent: {"data", "toolCallName"},
    structs.ToolCallDeltaEvent: {"toolCallName"},
    structs.ToolCallEndEvent: {"toolCallName"},
    structs.ToolResultTextDeltaEvent: {"toolCallName"},
    structs.ToolResultEndEvent: {"toolCallName"},
}


def read_fields(kind: type[msgspec.Struct], value: Wire) -> Wire:
    """Read a Java event's fields as those of a class of ours, without id, time, source and metadata; absent ones are None. Raises Unfit."""
    form = FORMS[kind]
    fields = {column.ours: column.read(value.get(column.theirs), f"/{column.theirs}") for column in form.columns}
    return fields if form.read is None else {**fields, **form.read(value)}


def unknown_in(value: Wire) -> Wire:
    """Give the fields that no class of Java has."""
    kind = BY_TYPE.get(value["type"])
    known = _COMMON | ({"result"} if kind is None else {*_BESIDES.get(kind, ()), *(column.theirs for column in FORMS[kind].columns)})
    return {key: copy_json(item) for key, item in value.items() if key not in known and item is not None}


#: How deep what is carried stands in an event: in its metadata.
_ABOVE = 2


def write_event(event: Any, **known: Any) -> Wire:
    """Write an event of the engine. `known` are fields that other events have told, such as the name of a call."""
    wire = fields_of(event)
    kind: Any = event.__class__
    given = {key: item for key, item in known.items() if item is not None}
    said = _write_custom(wire, kind, given) if kind in AS_CUSTOM else _write(wire, kind, given)
    carried = {"type": wire["type"]} if kind in AS_CUSTOM else {}
    rest = difference(wire, _read_back(kind, said))
    if "replyId" in said:
        # Also when there is nothing else to say, so that it is known to be ours.
        carried["reply_id"] = wire["reply_id"]
    if rest or carried:
        carried |= rest
        # What nests no deeper than an event may, does so below our key and `set`: as text, it does not.
        deep = depth_of(carried) + _ABOVE > MAX_DEPTH
        kept = msgspec.json.encode(carried).decode() if deep else carried
        said["metadata"] = {**said.get("metadata", {}), NAMESPACE: kept}
    return said


def _write(wire: Wire, kind: type[msgspec.Struct], given: Wire) -> Wire:
    form = FORMS[kind]
    said: Wire = {"type": form.type, "id": wire["id"], "createdAt": wire["created_at"]}
    for column in form.columns:
        if column.ours in wire:
            said[column.theirs] = column.write(wire[column.ours])
    if kind is structs.RequestStopEvent and said.get("generateReason") not in REASONS:
        said["generateReason"] = STOPPED
    if kind is structs.ExceedMaxItersEvent:
        said = {**said, "maxIters": said.get("maxIters", 0), "currentIter": said.get("currentIter", 0)}
    if kind is structs.CustomEvent:
        said.setdefault("value", {})
    if form.write is not None:
        said |= form.write(wire)
    return _with_common({**said, **given}, wire)


def _write_custom(wire: Wire, kind: type[msgspec.Struct], given: Wire) -> Wire:
    form = FORMS.get(kind)
    value = {column.theirs: column.write(wire[column.ours]) for column in form.columns} if form is not None else {}
    said: Wire = {
        "type": tag_of(structs.CustomEvent),
        "id": wire["id"],
        "createdAt": wire["created_at"],
        "name": wire["type"],
        "value": value,
    }
    return _with_common({**said, **given}, wire)


def _with_common(said: Wire, wire: Wire) -> Wire:
    if "source_path" in wire:
        said["source"] = wire["source_path"]
    given: Wire = wire.get("metadata") or {}
    metadata = {key: copy_json(item) for key, item in given.items() if key != NAMESPACE}
    return {**said, "metadata": metadata} if metadata else said


def _read_back(kind: type[msgspec.Struct], said: Wire) -> Wire:
    """Read what was written, as `read_own` does before it applies what is carried beside."""
    tag = tag_of(kind)
    if kind in AS_CUSTOM:
        form = FORMS.get(kind)
        fields = {column.ours: column.read(said["value"].get(column.theirs), "") for column in form.columns} if form is not None else {}
    else:
        fields = read_fields(kind, said)
    common = {"type": tag, "id": said.get("id"), "created_at": said.get("createdAt"), "source_path": said.get("source")}
    metadata = said.get("metadata")
    own = {key: copy_json(item) for key, item in metadata.items() if key != NAMESPACE} if is_object(metadata) else {}
    read = {**common, **fields, "metadata": own or None}
    return {key: item for key, item in read.items() if item is not None}


def carried_by(value: Wire) -> Wire | None:
    """Give what an event of ours carries in a Java event's metadata; None when it is not of ours."""
    metadata = value.get("metadata")
    carried = metadata.get(NAMESPACE) if is_object(metadata) else None
    if isinstance(carried, str):
        try:
            carried = msgspec.json.decode(carried)
        except (msgspec.DecodeError, RecursionError):
            return None
    return carried if is_object(carried) else None


def read_own(value: Wire) -> Wire:
    """Read a Java event that was written by `write_event`. Raises Unfit, or InvalidEvent for what nobody wrote."""
    carried = carried_by(value) or {}
    tag = carried.get("type")
    name = EVENTS.get(tag, "") if isinstance(tag, str) else ""
    kind = getattr(structs, name) if name else BY_TYPE[value["type"]]
    if name and kind not in AS_CUSTOM:
        message = f"{tag} is not written as CUSTOM"
        raise InvalidEvent(message)
    if kind in AS_CUSTOM and not is_object(value.get("value")):
        kind = BY_TYPE[value["type"]]
    return applied(_read_back(kind, value), carried)
