"""
What each effect does to the message.

Law: an effect looks at the event and at what it builds, never at a state: whether it is in order was
decided by the table. The names are those of schemas/meta/lifecycle.json, each explained in
schemas/README.md. Nothing of an event is shared with the message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models.tables import BLOCKS, CHILDREN, DEFAULTS, FIELDS

from .draft import DataDraft, MessageDraft, ResultDraft, TextDraft, WholeDraft
from .instances import Flaw
from .jsonvalue import copy_json, copy_object
from .lane import Appender
from .shape import carried
from .table import field_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from .instances import Instance, Reply
    from .lifecycle import Effect
    from .shape import Wire

#: The effects, by name.
EFFECTS: dict[str, Effect] = {}

#: Which field of a block grows. The others are data blocks.
GROWING = {"text": "text", "thinking": "thinking", "tool_call": "input"}

_USAGE = FIELDS["Usage"]

#: The largest count (schemas/parts/primitives.json).
LARGEST = 2**53 - 1

#: Marks a result that came whole from outside after it was started: the agent may stream it again. It is
#: gone when the result or the reply ends, and tells a stored message's reader what to expect.
PROVISIONAL = "x_provisional"


def _effect(function: Effect) -> Effect:
    EFFECTS[function.__name__] = function
    return function


@_effect
def open_message(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Begin the message: the reply's id, the speaker's name and role."""
    del instance, item
    reply.role = event.role or DEFAULTS["ReplyStartEvent"]["role"]
    head = {"id": event.reply_id, "name": event.name, "role": reply.role, "created_at": event.created_at}
    reply.draft = MessageDraft(head)
    _update_metadata(head, event)


@_effect
def close_message(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """End the message: time, reason, error, structured output; metadata is updated."""
    del instance, item
    draft: MessageDraft = reply.draft
    draft.tail["finished_at"] = event.created_at
    reason = field_of(event, "finished_reason")
    draft.tail["finished_reason"] = DEFAULTS["ReplyEndEvent"]["finished_reason"] if reason is None else reason
    children = CHILDREN["ReplyEndEvent"]
    for name in ("structured_output", "error"):
        value = field_of(event, name)
        if value is not None:
            draft.tail[name] = carried(value, children[name]) if name in children else copy_json(value)
    _update_metadata(draft.head, event)
    draft.settle()


@_effect
def add_usage(reply: Reply, instance: Instance, event: Any, item: Any) -> Flaw | None:
    """Add the tokens of a model call to the message's usage; a sum stops at what a count may be."""
    del instance, item
    spent = reply.draft.usage or dict.fromkeys(_USAGE, 0)
    sums = {name: spent.get(name, 0) + (getattr(event, name) or 0) for name in _USAGE}
    reply.draft.usage = sums
    if max(sums.values()) <= LARGEST:
        return None
    over = next(name for name, tokens in sums.items() if tokens > LARGEST)
    reply.draft.usage = {name: min(tokens, LARGEST) for name, tokens in sums.items()}
    return Flaw("model-call.too-many-tokens", f"/{over}", f"the sum of {over} is {sums[over]:,}")


@_effect
def open_block(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Begin an empty text, thinking or data block."""
    del item
    kind = instance.kind or ""
    wire: dict[str, Any] = {"type": kind, "id": instance.key}
    if kind in GROWING:
        wire[GROWING[kind]] = ""
        wire["created_at"] = event.created_at
        instance.draft = TextDraft(GROWING[kind], wire)
    else:
        if field_of(event, "name") is not None:
            wire["name"] = event.name
        wire["created_at"] = event.created_at
        instance.draft = DataDraft(wire, _bytes_of(event.media_type))
    reply.draft.content.append(instance.draft)


@_effect
def append_text(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Append the delta to the block's text."""
    del reply, item
    instance.draft.append(event.delta)


@_effect
def append_bytes(reply: Reply, instance: Instance, event: Any, item: Any) -> Flaw | None:
    """Append the decoded bytes to the data block."""
    del reply, event
    draft: DataDraft = instance.draft
    if draft.data is None:
        return Flaw("data.not-base64", "/data", "the stored data that it would be appended to is not base64")
    draft.data += item
    return None


@_effect
def set_url(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Make the URL the whole content of the data block."""
    del reply, item
    instance.draft.set_url(event.url)


@_effect
def close_block(reply: Reply, instance: Instance, event: Any, item: Any) -> Flaw | None:
    """End the block: time, final text if there is one, provider fields."""
    del reply, item
    text = field_of(event, "text")
    if text is not None:
        instance.draft.replace(text)
    instance.draft.wire["finished_at"] = event.created_at
    return _set_extra(instance, event)


@_effect
def add_hint(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Add a whole hint block."""
    del item
    wire: dict[str, Any] = {"type": instance.kind, "id": instance.key, "hint": carried(event.hint, CHILDREN["HintBlockEvent"]["hint"])}
    if field_of(event, "source") is not None:
        wire["source"] = event.source
    wire["created_at"] = wire["finished_at"] = event.created_at
    instance.draft = WholeDraft(wire)
    reply.draft.content.append(instance.draft)


@_effect
def open_call(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Begin a pending tool call with empty arguments."""
    del item
    name, time = event.tool_call_name, event.created_at
    _add_call(reply, instance, {"type": "tool_call", "id": instance.key, "name": name, "input": "", "state": "pending", "created_at": time})


@_effect
def append_arguments(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Append the delta to the call's arguments."""
    del reply, item
    instance.draft.append(event.delta)


@_effect
def close_call(reply: Reply, instance: Instance, event: Any, item: Any) -> Flaw | None:
    """End the arguments: time, provider fields."""
    return close_block(reply, instance, event, item)


@_effect
def create_call(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Add the call that a request carries."""
    wire = carried(item, BLOCKS["tool_call"])
    _add_call(reply, instance, {"type": "tool_call", "id": instance.key, **wire, "created_at": wire.get("created_at", event.created_at)})


@_effect
def ask_call(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Mark the call asking; take the suggested rules and unknown fields of the request."""
    del reply, event
    _take_request(instance, item, "asking")


@_effect
def submit_call(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Mark the call submitted; take the suggested rules and unknown fields of the request."""
    del reply, event
    _take_request(instance, item, "submitted")


@_effect
def confirm_call(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Mark the call allowed, with the name, input and unknown fields of what the user confirmed."""
    del reply, event
    call = carried(field_of(item, "tool_call"), BLOCKS["tool_call"])
    instance.draft.wire.update(_unknown(call), state="allowed", name=call["name"])
    instance.draft.replace(call["input"])


@_effect
def finish_call(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Mark the call finished."""
    del reply, event, item
    instance.draft.wire["state"] = "finished"


@_effect
def open_result(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Begin a running result without output."""
    del item
    name, time = event.tool_call_name, event.created_at
    wire: dict[str, Any] = {"type": "tool_result", "id": instance.key, "name": name, "output": [], "state": "running", "created_at": time}
    _add_result(reply, instance, wire)


@_effect
def append_output(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Append the delta to the result's last text, or begin a new one after data."""
    del reply, item
    instance.result.append_text(event.delta)


@_effect
def open_part(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Begin a data block inside the result."""
    del reply, item
    instance.draft = DataDraft({"type": "data", "id": instance.key}, _bytes_of(event.media_type))
    if instance.owner is not None:
        instance.owner.result.open_output()
        instance.owner.result.parts.append(instance.draft)


@_effect
def clear_output(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Forget what came from outside, since the agent streams the result again: it is running, without output."""
    del reply, event, item
    wire = instance.result.wire
    for name in ("finished_at", PROVISIONAL):
        wire.pop(name, None)
    wire["state"] = DEFAULTS["ToolResultBlock"]["state"]
    instance.result.clear()
    instance.forget_parts()


@_effect
def close_result(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """End the result: time, state; metadata is updated."""
    del reply, item
    wire = instance.result.wire
    wire.pop(PROVISIONAL, None)
    wire["state"] = event.state
    wire["finished_at"] = event.created_at
    _update_metadata(wire, event)


@_effect
def add_result(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Add the whole result that came from outside; times that it lacks are the event's."""
    given = _given_result(item)
    default = DEFAULTS["ToolResultBlock"]["state"]
    state = given.get("state", default)
    times = {"created_at": given.get("created_at", event.created_at)}
    if state != default:
        times["finished_at"] = given.get("finished_at", event.created_at)
    _add_result(reply, instance, {"type": "tool_result", "id": instance.key, **given, "state": state, **times})
    instance.result.output = given["output"]


@_effect
def fill_result(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Set output, state, metadata and unknown fields of the running result to what came from outside."""
    del reply, event
    given = _given_result(item)
    draft: ResultDraft = instance.result
    draft.wire["state"] = given.get("state", DEFAULTS["ToolResultBlock"]["state"])
    draft.wire.update(_unknown(given, "metadata"))
    draft.clear()
    instance.forget_parts()
    draft.output = given["output"]


@_effect
def mark_provisional(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Set finished_at to the external event's, and mark that the agent may stream the result again."""
    del reply
    wire = instance.result.wire
    wire["finished_at"] = field_of(item, "finished_at") or event.created_at
    wire[PROVISIONAL] = True


@_effect
def settle_result(reply: Reply, instance: Instance, event: Any, item: Any) -> None:
    """Take the mark off: the agent did not stream the result again."""
    del reply, event, item
    instance.result.wire.pop(PROVISIONAL, None)


def _append(instance: Instance) -> Callable[[str], Any]:
    return instance.draft.append


def _append_other(instance: Instance) -> Callable[[str], bool]:
    return instance.draft.append_other


#: Of the effects that do nothing but append the event's text, what appends to an instance.
APPENDERS: dict[str, Appender] = {
    append_text.__name__: Appender(_append, _append_other),
    append_arguments.__name__: Appender(_append),
}


def _given_result(item: Any) -> dict[str, Any]:
    """Give a result that came from outside, without the mark, which is the fold's own and tells how a stored message goes on."""
    return {key: value for key, value in carried(item, BLOCKS["tool_result"]).items() if key != PROVISIONAL}


def _add_call(reply: Reply, instance: Instance, wire: dict[str, Any]) -> None:
    instance.draft = TextDraft("input", wire)
    reply.draft.content.append(instance.draft)


def _bytes_of(media_type: str) -> dict[str, Any]:
    return {"type": "base64", "data": "", "media_type": media_type}


def _take_request(instance: Instance, item: Any, state: str) -> None:
    instance.draft.wire["state"] = state
    instance.draft.wire.update(_unknown(carried(item, BLOCKS["tool_call"]), "suggested_rules"))


def _unknown(block: Wire, *more: str) -> Wire:
    """Give the fields of a block that its schema does not name, and some more."""
    known = FIELDS[BLOCKS[block["type"]]]
    return {key: value for key, value in block.items() if key not in known or key in more}


def _add_result(reply: Reply, instance: Instance, wire: dict[str, Any]) -> None:
    instance.result = ResultDraft(wire)
    reply.draft.content.append(instance.result)


def _update_metadata(wire: dict[str, Any], event: Any) -> None:
    metadata = event.metadata
    if metadata:
        wire.setdefault("metadata", {}).update(copy_object(metadata))
    elif isinstance(metadata, dict):
        wire.setdefault("metadata", {})


def _set_extra(instance: Instance, event: Any) -> Flaw | None:
    """Set provider fields on the block; keys of the block's own schema are refused."""
    extra = field_of(event, "extra")
    if not extra:
        return None
    known = FIELDS[BLOCKS[instance.kind or ""]]
    instance.draft.wire.update({key: copy_json(value) for key, value in extra.items() if key not in known})
    refused = sorted(set(extra).intersection(known))
    if not refused:
        return None
    return Flaw("block.extra-names-field", f"/extra/{refused[0]}", f"{', '.join(refused)} cannot be set by extra")
