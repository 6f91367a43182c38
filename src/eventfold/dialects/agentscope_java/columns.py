"""How fields of events are read and written that are more than a string."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.translation import UNFIT, Unfit
from eventfold.jsonvalue import copy_json, is_object

from .blocks import MEDIA_TYPES, RESULT_STATES, read_block, read_source, write_block, write_source
from .scalars import choice_of, list_of, object_of, text_of

if TYPE_CHECKING:
    from eventfold.shape import Wire


def tag_of(kind: Any) -> str:
    """Give the type of an event by its class."""
    return kind.__struct_config__.tag


#: The largest int that Java reads.
LARGEST = 2**31 - 1
REASONS = (
    "MODEL_STOP",
    "TOOL_CALLS",
    "STRUCTURED_OUTPUT",
    "TOOL_SUSPENDED",
    "REASONING_STOP_REQUESTED",
    "ACTING_STOP_REQUESTED",
    "PERMISSION_ASKING",
    "MIDDLEWARE_STOP_REQUESTED",
    tag_of(structs.AllToolsDeniedEvent),
    "INTERRUPTED",
    "MAX_ITERATIONS",
)
#: What REQUEST_STOP means when it gives no reason.
STOPPED = "MIDDLEWARE_STOP_REQUESTED"


def number_of(value: Any, pointer: str) -> int | None:
    """Read a number."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float) and abs(value) <= LARGEST:
        return int(value)
    raise Unfit(UNFIT, "a number is expected", pointer)


def limited(value: Any) -> int:
    """Write a count as far as Java's int goes."""
    return max(0, min(int(value or 0), LARGEST))


def blocks_of(value: Any, pointer: str) -> list[Wire]:
    """Read blocks."""
    return [read_block(block, f"{pointer}/{i}", f"{pointer}/{i}") for i, block in enumerate(list_of(value, pointer))]


def written(blocks: list[Wire]) -> list[Wire]:
    """Write blocks."""
    return [write_block(block, f"/{i}") for i, block in enumerate(blocks)]


def confirmations_of(value: Any, pointer: str) -> list[Wire]:
    """Read answers of a user."""
    read: list[Wire] = []
    for i, item in enumerate(list_of(value, pointer)):
        place = f"{pointer}/{i}"
        answer = object_of(item, place) or {}
        if answer.get("toolCall") is None:
            raise Unfit(UNFIT, "an answer names its tool call", f"{place}/toolCall")
        call = read_block(answer["toolCall"], f"{place}/toolCall", place)
        rules = {"rules": copy_json(answer["rules"])} if answer.get("rules") is not None else {}
        read.append({"confirmed": answer.get("confirmed") is True or answer.get("confirmed") == "true", "tool_call": call, **rules})
    return read


def write_confirmations(answers: list[Wire]) -> list[Wire]:
    """Write answers of a user."""
    return [
        {
            "confirmed": answer["confirmed"],
            "toolCall": write_block(answer["tool_call"], ""),
            "rules": [_write_rule(rule) for rule in answer["rules"]] if answer.get("rules") is not None else None,
        }
        for answer in answers
    ]


def _write_rule(rule: Wire) -> Wire:
    return {key: rule[key] for key in ("tool_name", "rule_content", "behavior", "source")}


def reason_of(value: Any, pointer: str) -> str:
    """Read why an agent stops."""
    return choice_of(value, pointer, REASONS, STOPPED)


def state_of(value: Any, pointer: str) -> str | None:
    """Read how a result ended."""
    return None if value is None else choice_of(value, pointer, RESULT_STATES, "")


def read_usage(value: Wire) -> Wire:
    """Read the tokens of a model call."""
    usage = object_of(value.get("usage"), "/usage") or {}
    names = {"input_tokens": "inputTokens", "output_tokens": "outputTokens", "cache_input_tokens": "cachedTokens"}
    counts = {ours: number_of(usage.get(theirs), f"/usage/{theirs}") or 0 for ours, theirs in names.items()}
    return {**counts, "cache_creation_input_tokens": 0, "finished_reason": "completed"}


def write_usage(event: Wire) -> Wire:
    """Write the tokens of a model call."""
    usage = {
        "inputTokens": limited(event["input_tokens"]),
        "outputTokens": limited(event["output_tokens"]),
        "cachedTokens": limited(event.get("cache_input_tokens")),
        "time": 0.0,
    }
    return {"usage": usage}


def read_data_delta(value: Wire) -> Wire:
    """Read the block that a data delta holds."""
    block = value.get("data")
    if not is_object(block):
        raise Unfit(UNFIT, "a data delta holds a block", "/data")
    source = read_source(block.get("source"), "/data/source", MEDIA_TYPES.get(str(block.get("type")), MEDIA_TYPES["data"]))
    content = "url" if source["type"] == "url" else "data"
    return {"block_id": text_of(block.get("id"), "/data/id"), "media_type": source["media_type"], content: source[content]}


def write_data_delta(event: Wire) -> Wire:
    """Write the block that a data delta holds."""
    content = "url" if "url" in event else "data"
    kind = "url" if content == "url" else "base64"
    source = write_source({"type": kind, content: event[content], "media_type": event["media_type"]})
    return {"data": {"type": "data", "source": source, "id": event["block_id"]}}


def hint_of(value: Any, pointer: str) -> str:
    """Read a hint."""
    return text_of(value, pointer) or ""


def write_hint(hint: Any) -> str:
    """Write the text of a hint."""
    return hint if isinstance(hint, str) else "".join(part["text"] for part in hint if part["type"] == "text")
