"""
Messages both ways. A Java agent stores a reply as several: one ASSISTANT message a model call, and one TOOL message a result.

Law: read_messages(write_messages(messages)) gives the messages. What Java's classes have no field for stands in their metadata.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models.tables import MESSAGES

from eventfold.dialects.translation import EPOCH, NAMESPACE, UNFIT, Said, Unfit
from eventfold.jsonvalue import copy_json, is_array, is_object
from eventfold.shape import wire_of

from .blocks import HAVE_METADATA, MEDIA_TYPES, read_block, rest_of, write_block
from .columns import LARGEST
from .encoder import GENERATE_REASONS
from .endings import FINISHED, REASON_KEY, RECOVERY, STRUCTURED_KEY, text_in
from .moment import from_java, to_java
from .patch import applied, difference
from .scalars import list_of, object_of, text_of, without_null
from .soundness import sound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eventfold.shape import Wire

ROLES = {"USER": "user", "ASSISTANT": "assistant", "SYSTEM": "system", "TOOL": "tool"}
#: The key below which we keep what a Java message says beyond ours.
KEPT = "agentscope_java"
USAGE_KEY = "_chat_usage"
_USAGE = {"input_tokens": "inputTokens", "output_tokens": "outputTokens", "cache_input_tokens": "cachedTokens"}
_KNOWN = frozenset({"id", "name", "role", "content", "metadata", "timestamp", "usage"})
_TERMINAL = frozenset({"success", "error", "interrupted", "denied"})


def is_message(value: Any) -> bool:
    """Tell whether a value is a message of Java's."""
    return (
        is_object(value)
        and isinstance(value.get("role"), str)
        and value["role"] in ROLES
        and is_array(value.get("content"))
        and "type" not in value
    )


# --- theirs -> ours -----------------------------------------------------------------------------


def read_messages(value: Any) -> Said:
    """Read a message, a list of them, or a stored agent state, whose `context` is one. Raises Unfit."""
    value = sound(value)
    given = value.get("context") if is_object(value) and "role" not in value else value
    messages = given if is_array(given) else [given]
    groups: list[list[Wire]] = []
    for i, message in enumerate(messages):
        if not is_object(message) or not isinstance(message.get("role"), str) or message["role"] not in ROLES:
            raise Unfit(UNFIT, f"a message is an object with a role of {', '.join(ROLES)}", f"/{i}" if is_array(given) else "")
        if groups and _continues(groups[-1], message):
            groups[-1].append(message)
        else:
            groups.append([message])
    return Said([_read(group) for group in groups], [])


def _own(message: Wire) -> Wire | None:
    metadata = message.get("metadata")
    carried = metadata.get(NAMESPACE) if is_object(metadata) else None
    return carried if is_object(carried) else None


def _continues(group: list[Wire], message: Wire) -> bool:
    """Tell whether a message goes on with the reply before it: with a result for one of its calls, or after such a result."""
    own, before = _own(message), _own(group[0])
    if own is not None or before is not None:
        return own is not None and before is not None and own.get("message") == before.get("message") and "message" in own
    assistants = [other for other in group if other["role"] == "ASSISTANT"]
    if not assistants:
        return False
    if message["role"] == "TOOL":
        calls = [block.get("id") for other in assistants for block in _blocks(other, "tool_use")]
        return any(block.get("id") in calls for block in _blocks(message, "tool_result"))
    named = message.get("name") == assistants[-1].get("name")
    if message["role"] != "ASSISTANT" or not named:
        return False
    return bool(_blocks(assistants[-1], "tool_use")) or _reason(message) == "INTERRUPTED" or text_in(_content(message)) == RECOVERY


def _content(message: Wire) -> list[Any]:
    content = message.get("content")
    return content if is_array(content) else []


def _blocks(message: Wire, kind: str) -> list[Wire]:
    return [block for block in _content(message) if is_object(block) and block.get("type") == kind]


def _reason(message: Wire) -> Any:
    metadata = message.get("metadata")
    return metadata.get(REASON_KEY) if is_object(metadata) else None


def _read(group: list[Wire]) -> Wire:
    own = _own(group[0])
    if own is not None:
        return applied(_assembled(group, kept=False), own)
    return _assembled(group, kept=True)


def _assembled(group: list[Wire], *, kept: bool) -> Wire:
    """Make one message of those of a reply, without what is carried beside for the whole of it."""
    first = group[0]
    role = "assistant" if len(group) > 1 else ROLES[first["role"]]
    if role == "tool" and len(_blocks(first, "tool_result")) < len(_content(first)):
        role = "assistant"
    content = [block for message in group for block in _read_content(message, role)]
    results = {block["id"] for block in content if block["type"] == "tool_result" and block.get("state") in _TERMINAL}
    for block in content:
        if block["type"] == "tool_call" and block["id"] in results:
            # Java leaves the state of a call as it was when it began to run.
            block["state"] = "finished"
    metadata, beyond = _read_metadata(group)
    message: Wire = {
        "id": text_of(first.get("id"), "/id") or "message",
        "name": text_of(first.get("name"), "/name") or "",
        "role": role,
        "created_at": from_java(text_of(first.get("timestamp"), "/timestamp") or EPOCH),
        "content": content,
    }
    if kept and beyond:
        metadata[KEPT] = {"messages": beyond}
    if metadata:
        message["metadata"] = metadata
    usages = [usage for usage in (object_of(other.get("usage"), "/usage") for other in group) if usage is not None]
    if usages:
        message["usage"] = {ours: sum(_count(usage.get(theirs)) for usage in usages) for ours, theirs in _USAGE.items()}
    return {**message, **_read_end(group[-1], metadata, content, role)}


def _read_content(message: Wire, role: str) -> list[Wire]:
    own = _own(message) or {}
    rests = own.get("blocks")
    blocks = list_of(message.get("content"), "/content")
    read: list[Wire] = []
    for i, block in enumerate(blocks):
        if block is None:
            continue
        item = read_block(block, f"/content/{i}", f"{message.get('id') or 'message'}:{i}")
        if item["type"] in MEDIA_TYPES and item["type"] != "data" and role == "assistant":
            # Only a user's message may hold the older blocks here.
            item = {**item, "type": "data", "id": f"{message.get('id') or 'message'}:{i}", "x_block": copy_json(block)}
        read.append(applied(item, rests.get(str(i))) if is_object(rests) else item)
    return read


def _read_metadata(group: list[Wire]) -> tuple[Wire, list[Wire]]:
    """Give the metadata of a reply, and what its messages say beyond ours."""
    merged: Wire = {}
    beyond: list[Wire] = []
    for message in group:
        metadata = object_of(message.get("metadata"), "/metadata") or {}
        merged |= {key: item for key, item in metadata.items() if key not in {NAMESPACE, USAGE_KEY, STRUCTURED_KEY}}
        rest = {key: copy_json(item) for key, item in message.items() if key not in _KNOWN}
        usage = message.get("usage")
        told = len(group) == 1 and not rest and not is_object(usage)
        if not told:
            wanted = {key: copy_json(message.get(key)) for key in ("id", "timestamp", "usage") if message.get(key) is not None}
            beyond.append({**rest, **wanted, "role": message["role"], "blocks": len(_content(message))})
    return merged, beyond


def _read_end(last: Wire, metadata: Wire, content: list[Wire], role: str) -> Wire:
    """Give how the reply ended; nothing while somebody is asked."""
    own = object_of(last.get("metadata"), "/metadata") or {}
    structured = own.get(STRUCTURED_KEY)
    end: Wire = {"structured_output": structured if is_object(structured) else {"value": structured}} if structured is not None else {}
    waits = any(block["type"] == "tool_call" and block.get("state") != "finished" for block in content)
    if role != "assistant" or waits or last.get("timestamp") is None:
        return end
    reason = FINISHED.get(str(metadata.get(REASON_KEY)), "completed")
    return {"finished_at": from_java(text_of(last["timestamp"], "/timestamp") or EPOCH), "finished_reason": reason, **end}


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST else 0


# --- ours -> theirs -----------------------------------------------------------------------------


def write_messages(messages: Iterable[Wire]) -> Said:
    """Write messages as a Java agent stores them."""
    return Said([said for message in messages for said in _write(wire_of(message, MESSAGES[message["role"]]))], [])


def _write(message: Wire) -> list[Wire]:
    parts = _parts(message)
    said = [_write_part(message, role, blocks, place) for place, (role, blocks) in enumerate(parts)]
    _write_end(message, said[-1])
    # Beside each block, what its class cannot hold; beside the first message, what the messages together do not say.
    for place, ((_, blocks), part) in enumerate(zip(parts, said, strict=True)):
        carried: Wire = {"message": message["id"], "part": place}
        rests = {str(i): rest_of(block, f"{part['id']}:{i}") for i, block in enumerate(blocks) if block["type"] not in HAVE_METADATA}
        if any(rests.values()):
            carried["blocks"] = {key: rest for key, rest in rests.items() if rest}
        part["metadata"][NAMESPACE] = carried
    rest = difference(message, _assembled(said, kept=False))
    said[0]["metadata"][NAMESPACE] |= rest
    return said


def _parts(message: Wire) -> list[tuple[str, list[Wire]]]:
    """Cut a reply where a Java agent does: each result is a message."""
    blocks: list[Wire] = message["content"]
    if message["role"] != "assistant":
        return [(message["role"].upper(), blocks)]
    results = {block["id"] for block in blocks if block["type"] == "tool_result" and block.get("state") in _TERMINAL}
    parts: list[tuple[str, list[Wire]]] = []
    for block in blocks:
        if block["type"] == "tool_result":
            parts.append(("TOOL", [block]))
            continue
        if not parts or parts[-1][0] == "TOOL":
            parts.append(("ASSISTANT", []))
        ran = block["type"] == "tool_call" and block.get("state") == "finished" and block["id"] in results
        parts[-1][1].append({**block, "state": "allowed"} if ran else block)
    return parts or [("ASSISTANT", [])]


def _write_part(message: Wire, role: str, blocks: list[Wire], place: int) -> Wire:
    key = f"{message['id']}/{place}" if place else message["id"]
    metadata = without_null(message.get("metadata")) or {} if not place else {}
    return {
        "id": key,
        "name": message["name"],
        "role": role,
        "content": [write_block(block, f"{key}:{i}") for i, block in enumerate(blocks)],
        "metadata": metadata,
        "timestamp": to_java(message["created_at"]),
        "usage": None,
    }


def _write_end(message: Wire, last: Wire) -> None:
    reason = GENERATE_REASONS.get(message.get("finished_reason", ""))
    if reason is not None:
        last["metadata"][REASON_KEY] = reason
    if message.get("structured_output") is not None:
        last["metadata"][STRUCTURED_KEY] = copy_json(message["structured_output"])
    if "finished_at" in message:
        last["timestamp"] = to_java(message["finished_at"])
    usage = message.get("usage")
    if usage is not None:
        counts = {theirs: min(int(usage.get(ours) or 0), LARGEST) for ours, theirs in _USAGE.items()}
        last["usage"] = {**counts, "time": 0.0}
