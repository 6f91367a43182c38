"""
The folder's state as JSON, and a reply's state read from its stored message.

Law: what goes on from a checkpoint, at any event, gives the same as the whole at once. What goes on
from a stored message does so for a reply that is parked; where the message does not tell a state, the
`stored` rows of schemas/lifecycle.json say which to assume.
"""

from __future__ import annotations

import binascii
from collections import Counter
from typing import TYPE_CHECKING, Any

from eventfold_models.tables import FIELDS, MESSAGES, WIRE_VERSION

from .base64_text import decode_base64
from .draft import TAIL, BlockDraft, DataDraft, MessageDraft, ResultDraft, TextDraft, WholeDraft
from .effects import GROWING
from .instances import Instance, Reply
from .jsonvalue import copy_json, is_object
from .lifecycle import MAX_OPEN
from .shape import wire_of
from .table import CALL_KIND, MACHINES, Machine

if TYPE_CHECKING:
    from .lifecycle import Lifecycle
    from .shape import Wire

#: Version of the checkpoint's form.
FORM = 4


# --- stored messages ----------------------------------------------------------------------------


def reply_from_message(wire: Wire) -> Reply:
    """Read the state of a reply from its message."""
    wire = wire_of(wire, MESSAGES[wire["role"]])
    reply = Reply(wire["id"])
    reply.role = wire["role"]
    reply.draft = draft = MessageDraft({})
    results: dict[str, list[ResultDraft]] = {}
    for block in wire["content"]:
        _adopt_block(reply, block, results)
    _pair(reply, wire["content"], results)
    draft.usage = {name: int(wire["usage"].get(name, 0)) for name in FIELDS["Usage"]} if "usage" in wire else None
    draft.tail = {key: wire[key] for key in wire if key in TAIL}
    draft.head = {key: value for key, value in wire.items() if key not in {"content", "usage", *TAIL}}
    for instance in (reply, *reply.every()):
        for machine in (state.machine for state in instance.states):
            _set_state(reply, instance, machine, wire)
        for part in instance.parts.values():
            _set_state(reply, part, part.states[0].machine, wire)
    return reply


def _adopt_block(reply: Reply, block: Wire, results: dict[str, list[ResultDraft]]) -> None:
    """Hold a block; a call takes the result of its own occurrence."""
    kind = block["type"]
    draft = _draft_of(kind, dict(block))
    reply.draft.content.append(draft)
    if isinstance(draft, ResultDraft):
        results.setdefault(block["id"], []).append(draft)
    elif any(machine.kind == kind for machine in MACHINES.values()):
        instances = reply.instances.setdefault(kind, {})
        instance = Instance("call" if kind == CALL_KIND else "block", kind, block["id"])
        instance.draft = draft
        instances[instance.key] = instance


def _pair(reply: Reply, content: list[Wire], results: dict[str, list[ResultDraft]]) -> None:
    """Give the newest call of each id the result of its occurrence; results without a call stand alone."""
    calls = Counter(block["id"] for block in content if block["type"] == CALL_KIND)
    instances = reply.instances.setdefault(CALL_KIND, {})
    for key, drafts in results.items():
        instance = instances.setdefault(key, Instance("call", CALL_KIND, key))
        if len(drafts) >= calls[key]:
            instance.result = drafts[max(calls[key], 1) - 1] if calls[key] else drafts[-1]
            _adopt_parts(instance)


def _adopt_parts(call: Instance) -> None:
    for part in call.result.parts:
        if isinstance(part, DataDraft):
            call.part(part.wire["id"]).draft = part


def _draft_of(kind: str, wire: Wire) -> BlockDraft:
    if kind in GROWING:
        return TextDraft(GROWING[kind], wire)
    if "output" in wire:
        output = wire.pop("output")
        result = ResultDraft(wire)
        if isinstance(output, str):
            result.output = output
        else:
            parts = (_draft_of(part["type"], dict(part)) for part in output)
            result.parts = [part for part in parts if not isinstance(part, ResultDraft)]
        return result
    source = wire.get("source")
    if is_object(source) and kind == MACHINES["data"].kind:
        source = dict(source)
        del wire["source"]
        try:
            return DataDraft(wire, source, decode_base64(source["data"])) if "data" in source else DataDraft.opaque(wire, source)
        except ValueError:
            return DataDraft.opaque(wire, source)
    return WholeDraft(wire)


def _set_state(reply: Reply, instance: Instance, machine: Machine, message: Wire) -> None:
    """Put a machine into the state of the first of its `stored` rows that fits."""
    if machine.scope == "reply":
        stored: Wire | None = message
    else:
        draft = instance.result if machine.kind == MACHINES["result"].kind else instance.draft
        stored = draft.snapshot() if draft is not None else None
    if stored is None:
        return
    for row in machine.stored:
        if not all(_fits(stored, name, wanted) for name, wanted in row.get("field", {}).items()):
            continue
        if not all(_sibling(reply, instance, name, message) in wanted for name, wanted in row.get("machine", {}).items()):
            continue
        if "holds" in row and not any(block["type"] in row["holds"] for block in message["content"]):
            continue
        state = machine.states[row["state"]]
        instance.put(machine.slot, state)
        reply.parked += state.parks
        if machine.scope == "reply":
            reply.counts[machine.slot] = row.get("count", 0)
        return


def _fits(stored: Wire, name: str, wanted: Any) -> bool:
    value: Any = stored
    for part in name.split("."):
        value = value.get(part) if is_object(value) else None
    return value is not None if wanted is True else value in wanted


def _sibling(reply: Reply, instance: Instance, name: str, message: Wire) -> str:
    machine = MACHINES[name]
    _set_state(reply, instance, machine, message)
    return instance.states[machine.slot].name


# --- checkpoints --------------------------------------------------------------------------------


def dump(lifecycle: Lifecycle) -> dict[str, Any]:
    """Write the state of every reply."""
    return {
        "form": FORM,
        "wire": WIRE_VERSION,
        "keep_ended": lifecycle.keep_ended,
        "max_open": lifecycle.max_open,
        "starts": lifecycle.starts,
        "last_start": lifecycle.last_start,
        "ended": list(lifecycle.ended),
        "gone": list(lifecycle.gone),
        "replies": [_dump_reply(reply) for reply in lifecycle.replies.values()],
    }


def load(checkpoint: dict[str, Any], lifecycle: Lifecycle) -> None:
    """
    Read what `dump` wrote.

    Raises:
        ValueError: the form or the wire is another version's.

    """
    if not isinstance(checkpoint, dict) or (checkpoint.get("form"), checkpoint.get("wire")) != (FORM, WIRE_VERSION):  # pyright: ignore[reportUnnecessaryIsInstance]  it is read from JSON
        message = f"not a checkpoint of form {FORM} and wire {WIRE_VERSION}: fold the stream again from its start"
        raise ValueError(message)
    lifecycle.keep_ended = checkpoint["keep_ended"]
    lifecycle.max_open = checkpoint.get("max_open", MAX_OPEN)
    lifecycle.starts = checkpoint["starts"]
    lifecycle.last_start = checkpoint["last_start"]
    lifecycle.ended.update(dict.fromkeys(checkpoint["ended"]))
    lifecycle.gone.update(dict.fromkeys(checkpoint["gone"]))
    lifecycle.replies.update((saved["id"], _load_reply(saved)) for saved in checkpoint["replies"])
    for reply_id in [*lifecycle.ended][:-1]:
        lifecycle.replies[reply_id].pack()


def _dump_reply(reply: Reply) -> dict[str, Any]:
    draft: MessageDraft = reply.draft
    places = {id(block): place for place, block in enumerate(draft.content)}
    return {
        "id": reply.key,
        "role": reply.role,
        "started": reply.started,
        "counts": reply.counts.copy(),
        "parked": reply.parked,
        "parked_at": reply.parked_at,
        "head": copy_json(draft.head),
        "usage": copy_json(draft.usage),
        "tail": copy_json(draft.tail),
        "content": [_dump_draft(block) for block in draft.content],
        "instances": [{"kind": instance.kind, **_dump_instance(instance, places)} for instance in reply.every()],
        # Fingerprints have 64 bits, more than a JSON number holds (RFC 7493, section 2.2).
        "seen": [[key, f"{digest:016x}", index] for key, (digest, index) in reply.applied.items()],
        "reused": sorted([key, f"{digest:016x}"] for key, digest in reply.reused),
        **_dump_states(reply),
    }


def _load_reply(saved: dict[str, Any]) -> Reply:
    reply = Reply(saved["id"])
    for name in ("role", "started", "counts", "parked", "parked_at"):
        setattr(reply, name, copy_json(saved[name]))
    reply.draft = draft = MessageDraft(copy_json(saved["head"]))
    draft.usage = copy_json(saved["usage"])
    draft.tail = copy_json(saved["tail"])
    draft.content = [_load_draft(block) for block in saved["content"]]
    for entry in saved["instances"]:
        kind = entry["kind"]
        instance = Instance("call" if kind == CALL_KIND else "block", kind, entry["key"])
        _load_instance(instance, entry, draft.content)
        reply.instances.setdefault(kind, {})[instance.key] = instance
    reply.seen = {key: (int(digest, 16), index) for key, digest, index in saved["seen"]}
    reply.reused = {(key, int(digest, 16)) for key, digest in saved["reused"]}
    _load_states(reply, saved)
    return reply


def _dump_states(instance: Instance) -> dict[str, Any]:
    return {"states": [state.name for state in instance.states], "since": instance.since.copy()}


def _load_states(instance: Instance, saved: dict[str, Any]) -> None:
    instance.states = tuple(state.machine.states[name] for state, name in zip(instance.states, saved["states"], strict=True))
    instance.since = list(saved["since"])


def _dump_instance(instance: Instance, places: dict[int, int]) -> dict[str, Any]:
    result: ResultDraft | None = instance.result
    parts = {id(part): place for place, part in enumerate(result.parts)} if result is not None else {}
    return {
        "key": instance.key,
        "draft": places.get(id(instance.draft)),
        "result": places.get(id(instance.result)),
        "parts": [{"key": part.key, "draft": parts.get(id(part.draft)), **_dump_states(part)} for part in instance.parts.values()],
        **_dump_states(instance),
    }


def _load_instance(instance: Instance, saved: dict[str, Any], content: list[BlockDraft]) -> None:
    instance.draft = content[int(saved["draft"])] if saved["draft"] is not None else None
    result = content[int(saved["result"])] if saved["result"] is not None else None
    instance.result = result
    for entry in saved["parts"]:
        part = instance.part(entry["key"])
        part.draft = result.parts[entry["draft"]] if isinstance(result, ResultDraft) and entry["draft"] is not None else None
        _load_states(part, entry)
    _load_states(instance, saved)


def _dump_draft(draft: BlockDraft) -> dict[str, Any]:
    if isinstance(draft, TextDraft):
        return {"grows": draft.field, "said": draft.said, "wire": draft.snapshot()}
    if isinstance(draft, DataDraft):
        data = None if draft.data is None else binascii.b2a_base64(draft.data, newline=False).decode("ascii")
        return {"source": copy_json(draft.source), "data": data, "wire": copy_json(draft.wire)}
    if isinstance(draft, ResultDraft):
        return {"parts": [_dump_draft(part) for part in draft.parts], "output": copy_json(draft.output), "wire": copy_json(draft.wire)}
    return {"wire": draft.snapshot()}


def _load_draft(saved: dict[str, Any]) -> Any:
    wire = copy_json(saved["wire"])
    if "grows" in saved:
        text = TextDraft(saved["grows"], wire)
        text.said = saved["said"]
        return text
    if "source" in saved:
        source = copy_json(saved["source"])
        return DataDraft.opaque(wire, source) if saved["data"] is None else DataDraft(wire, source, decode_base64(saved["data"]))
    if "parts" in saved:
        result = ResultDraft(wire)
        result.output = copy_json(saved["output"])
        result.parts = [_load_draft(part) for part in saved["parts"]]
        return result
    return WholeDraft(wire)
