"""
AgentScope Python: the wire is ours, but its own models are stricter in places and hold less in others.

`to_agentscope` says a message or event so that `agentscope.message.Msg` and `agentscope.event.AgentEvent`
(2.0.11) load it. Losses, and nothing else:

- values of open strings that its enums do not know become the fallback of CLOSED;
- a tool message becomes an assistant message, since it has no role `tool`;
- legacy image, audio and video blocks become data blocks, with an id derived from their place;
- fields that its classes do not have (LACKS, and all unknown ones) are left out, except on thinking blocks;
- event types that it does not have become CUSTOM events of the same name, with the rest as value;
- a URL that pydantic's AnyUrl rewrites is rewritten; a block whose URL it refuses becomes a text block.

What it adds by itself (ids and times that are absent, empty metadata) is no loss.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eventfold_models.tables import BLOCKS, CHILDREN, EVENTS, FIELDS, MESSAGES

from eventfold.findings import Loss
from eventfold.jsonvalue import copy_json, escape, is_array, is_object
from eventfold.shape import class_of, wire_of

from .eventfold import NATIVE
from .translation import Encoder, Row, Said

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from eventfold.shape import Wire

#: Fields that none of its events have; and one that only its other events have.
_ADDED = frozenset({"source_path", "structured_output", "extra", "max_iters", "current_iter"})
#: Fields that AgentScope's classes do not have.
LACKS: dict[str, frozenset[str]] = {
    **{name: _ADDED.intersection(FIELDS[name]) for name in EVENTS.values()},
    "CustomEvent": frozenset({"source_path", "reply_id"}),
}

#: Open strings of ours that are enums there, as (class, field): the values, and what stands for others.
_REASONS = (("completed", "interrupted", "exceed_max_iters", "error"), "completed")
_ERRORS = ("authentication", "permission", "rate_limit", "invalid_request", "upstream", "connection", "internal", "setup", "unknown")
CLOSED: dict[tuple[str, str], tuple[tuple[str, ...], str]] = {
    ("ReplyEndEvent", "finished_reason"): _REASONS,
    **{(name, "finished_reason"): _REASONS for name in MESSAGES.values()},
    ("ModelCallEndEvent", "finished_reason"): (("completed", "interrupted"), "completed"),
    ("ErrorInfo", "type"): (_ERRORS, "unknown"),
}

#: Blocks that are data blocks there.
LEGACY = frozenset({"image", "audio", "video"})

#: Classes whose unknown fields it keeps.
KEEPS = frozenset({"ThinkingBlock"})

#: Event types that it does not have.
FOREIGN = frozenset({"RequestStopEvent", "AllToolsDeniedEvent", "SubagentExposedEvent"})


def to_agentscope(value: Any) -> tuple[Wire, list[Loss]]:
    """
    Say a message or an event (model, struct or dict) as AgentScope's own models read it, and list what was lost.

    Raises:
        ValueError: it is neither a message nor an event.

    """
    wire, name = _named(value)
    losses: list[Loss] = []
    if name in FOREIGN or name not in FIELDS:
        losses.append(Loss("/type", f"AgentScope has no event {wire['type']}; said as CUSTOM"))
        head = {key: wire[key] for key in ("id", "created_at") if key in wire}
        rest = {key: copy_json(item) for key, item in wire.items() if key not in {"id", "created_at", "type"}}
        return {**head, "type": _custom(), "name": wire["type"], "value": rest}, losses
    said = _say(wire, name, "", losses)
    if said.get("role") == "tool":
        losses.append(Loss("/role", "AgentScope has no role tool; said as assistant"))
        said["role"] = "assistant"
    return said, losses


def from_agentscope(value: Any) -> Wire:
    """Read a message or an event as AgentScope's models dump it. Nothing is lost: nulls mean absent."""
    wire, name = _named(value)
    return wire_of(wire, name)


def _named(value: Any) -> tuple[Wire, str]:
    if is_object(value):
        wire = value
    elif hasattr(value, "model_dump"):
        wire = value.model_dump(mode="json")
    else:
        wire = wire_of(value, "")
    if wire.get("type") in EVENTS or ("type" in wire and "role" not in wire):
        return wire, EVENTS.get(str(wire["type"]), "")
    if wire.get("role") in MESSAGES:
        return wire, MESSAGES[wire["role"]]
    message = "neither a message (with a role) nor an event (with a type)"
    raise ValueError(message)


def _custom() -> str:
    return next(name for name, class_name in EVENTS.items() if class_name == "CustomEvent")


def _say(value: Any, name: str, pointer: str, losses: list[Loss]) -> Any:
    """Say a value of a class or union, or a list of them."""
    if is_array(value):
        return [_say(item, name, f"{pointer}/{i}", losses) for i, item in enumerate(value)]
    if not is_object(value):
        return value
    wire = wire_of(value, name)
    name = class_of(wire, name)
    said: Wire = {}
    for key, item in wire.items():
        place = f"{pointer}/{escape(key)}"
        if (key not in FIELDS[name] and name not in KEEPS) or key in LACKS.get(name, ()):
            losses.append(Loss(place, f"AgentScope's {name} has no {key}"))
        elif (name, key) in CLOSED and item not in CLOSED[name, key][0]:
            fallback = CLOSED[name, key][1]
            losses.append(Loss(place, f"AgentScope does not know {item!r}; said as {fallback!r}"))
            said[key] = fallback
        elif key in CHILDREN.get(name, {}):
            said[key] = _say(item, CHILDREN[name][key], place, losses)
        else:
            said[key] = copy_json(item)
    return _as_data(said, pointer, losses) if name in BLOCKS.values() else said


def _as_data(block: Wire, pointer: str, losses: list[Loss]) -> Wire:
    """Say legacy blocks as data blocks, and URLs as AnyUrl reads them."""
    if block["type"] in LEGACY:
        losses.append(Loss(f"{pointer}/type", f"AgentScope has no {block['type']} block; said as data"))
        block = {**block, "type": "data", "id": block.get("id") or pointer.removeprefix("/").replace("/", "-")}
    source = block.get("source")
    if block["type"] != "data" or not is_object(source) or "url" not in source:
        return block
    from pydantic_core import Url  # noqa: PLC0415  only for URLs

    url: str = source["url"]
    try:
        written = str(Url(url))
    except ValueError:
        losses.append(Loss(pointer, f"AgentScope refuses the URL {url!r}; said as text"))
        return {
            "type": "text",
            "id": block["id"],
            "text": url,
            **{key: block[key] for key in ("created_at", "finished_at") if key in block},
        }
    if written != url:
        losses.append(Loss(f"{pointer}/source/url", f"AgentScope writes it as {written!r}"))
    return {**block, "source": {**source, "url": written}}


class _Encoder(Encoder):
    def encode(self, event: Any) -> Iterator[Wire]:
        said, losses = to_agentscope(event)
        self.losses += [loss._replace(at=self.index) for loss in losses]
        yield said


def _write_messages(messages: Iterable[Wire]) -> Said:
    said = [to_agentscope(message) for message in messages]
    return Said(
        [value for value, _ in said],
        [loss._replace(pointer=f"/{i}{loss.pointer}") for i, (_, losses) in enumerate(said) for loss in losses],
    )


def _never(value: Any) -> bool:
    del value
    return False


#: Its streams are recognised as the contract's own: they are the same on the wire.
DIALECT = replace(
    NATIVE,
    name="agentscope",
    title="AgentScope Python 2.0.4 to 2.0.11",
    recognise=_never,
    encoder=_Encoder,
    write_messages=_write_messages,
    mapping=(
        Row("every event and message", "the same", "both"),
        Row("RequestStopEvent, AllToolsDeniedEvent, SubagentExposedEvent", "CUSTOM of that name", "out", "the fields are its value"),
        Row("ImageBlock, AudioBlock, VideoBlock", "DataBlock", "out", "with an id derived from the place"),
        Row("ToolMsg", "Msg of role assistant", "out"),
    ),
    # What is reported names the value besides, so that no pattern of pointers is declared.
    losses={
        "values of open strings that its enums do not know": (),
        "the role tool": (),
        "fields that its classes do not have, but for those of thinking blocks": (),
        "URLs that pydantic's AnyUrl refuses or rewrites": (),
    },
)
