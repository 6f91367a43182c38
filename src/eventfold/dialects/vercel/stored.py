"""
Stored UI messages -> messages of ours.

Law: a message is read as the stream that would have made it. User and system messages have text and files only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.translation import EPOCH, UNFIT, Said, Unfit
from eventfold.findings import Loss
from eventfold.fold import Folder
from eventfold.jsonvalue import copy_json, is_array, is_object

from .decoder import VercelDecoder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

NOT_READ = "a part of a user or system message that is neither text nor a file is left out"
#: A tuple, since a foreign role may be a value that no set can look for.
_ROLES = ("user", "assistant", "system")


def is_ui_message(value: Any) -> bool:
    """Tell a UI message: a role, and parts that have a type."""
    if not is_object(value) or value.get("role") not in _ROLES or not isinstance(value.get("id"), str):
        return False
    parts = value.get("parts")
    return is_array(parts) and bool(parts) and all(is_object(part) and isinstance(part.get("type"), str) for part in parts)


def read_messages(value: Any) -> Said:
    """Read UI messages, one or a list. Raises Unfit."""
    messages: list[Wire] = []
    losses: list[Loss] = []
    for i, stored in enumerate(value if is_array(value) else [value]):
        if not is_object(stored) or stored.get("role") not in _ROLES or not is_array(stored.get("parts")):
            raise Unfit(UNFIT, "a UI message has a role and a list of parts", f"/{i}")
        if stored["role"] == "assistant":
            messages.append(_reply(stored))
        else:
            message, lost = _said(stored)
            messages.append(message)
            losses += [Loss(f"/{i}/parts/{j}", NOT_READ) for j in lost]
    return Said(messages, losses)


def _said(stored: Wire) -> tuple[Wire, list[int]]:
    """Read what a user or the system said."""
    role, metadata = stored["role"], stored.get("metadata")
    reading = _Reading({"type": "start", "messageId": _id(stored), "messageMetadata": metadata})
    lost: list[int] = []
    for j, part in enumerate(stored["parts"]):
        kind = part.get("type") if is_object(part) else None
        if kind == "text" or (kind == "file" and role == "user"):
            reading.part(part, j)
        else:
            lost.append(j)
    message = reading.message()
    allowed = {key: message[key] for key in ("id", "created_at", "content", "finished_at", "metadata") if key in message}
    return {**allowed, "role": role, "name": role}, lost


def _reply(stored: Wire) -> Wire:
    """Read a message of the assistant."""
    reading = _Reading({"type": "start", "messageId": _id(stored), "messageMetadata": stored.get("metadata")})
    for j, part in enumerate(stored["parts"]):
        reading.part(part, j)
    return reading.message()


def _id(stored: Wire) -> str:
    return stored["id"] if isinstance(stored.get("id"), str) and stored["id"] else "vercel"


class _Reading:
    """Reads the parts of a message as chunks."""

    def __init__(self, start: Wire) -> None:
        self._decoder = VercelDecoder()
        self._folder = Folder()
        self._feed(start)

    def part(self, part: Any, place: int) -> None:
        """Take a part."""
        for chunk in _chunks(part, f"{place}") if is_object(part) else ():
            self._feed(chunk)

    def message(self) -> Wire:
        """Give the message."""
        self._feed({"type": "finish"})
        [message, *_] = self._folder.snapshots()
        message["created_at"] = EPOCH
        return message

    def _feed(self, chunk: Wire) -> None:
        for event in self._decoder.feed(chunk):
            self._folder.feed(event)


def _chunks(part: Wire, name: str) -> Iterator[Wire]:
    """Give the chunks that make a part."""
    kind = part.get("type")
    extra = {"providerMetadata": copy_json(part["providerMetadata"])} if is_object(part.get("providerMetadata")) else {}
    if kind in {"text", "reasoning"}:
        yield {"type": f"{kind}-start", "id": name, **extra}
        yield {"type": f"{kind}-delta", "id": name, "delta": part.get("text")}
        yield {"type": f"{kind}-end", "id": name}
    elif kind == "step-start":
        yield {"type": "start-step"}
    elif isinstance(kind, str) and (kind.startswith("tool-") or kind == "dynamic-tool"):
        yield from _tool(part, kind)
    else:
        yield part


def _tool(part: Wire, kind: str) -> Iterator[Wire]:
    name = part.get("toolName") if kind == "dynamic-tool" else kind.removeprefix("tool-")
    call_id, state, approval = part.get("toolCallId"), part.get("state"), part.get("approval")
    shared = {key: part[key] for key in ("providerExecuted", "title", "toolMetadata") if part.get(key) is not None}
    dynamic = {"dynamic": True} if kind == "dynamic-tool" else {}
    about = {"providerMetadata": part["callProviderMetadata"]} if part.get("callProviderMetadata") is not None else {}
    head = {"toolCallId": call_id, "toolName": name, **shared, **dynamic, **about}
    if state == "input-streaming":
        encoding = {"inputEncoding": part["inputEncoding"]} if part.get("inputEncoding") is not None else {}
        yield {"type": "tool-input-start", **head, **encoding}
        yield {"type": "tool-input-delta", "toolCallId": call_id, "inputTextDelta": part.get("rawInput") or ""}
        return
    given = part.get("input") if part.get("input") is not None else part.get("rawInput")
    yield {"type": "tool-input-available", **head, "input": given}
    if is_object(approval):
        asked = {key: approval[key] for key in ("signature", "inputSchemaInput") if key in approval}
        yield {"type": "tool-approval-request", "toolCallId": call_id, "approvalId": approval.get("id"), **asked}
        if isinstance(approval.get("approved"), bool):
            yield {"type": "tool-approval-response", "approvalId": approval.get("id"), "approved": approval["approved"]}
    result = {"providerMetadata": part["resultProviderMetadata"]} if part.get("resultProviderMetadata") is not None else {}
    if state == "output-available":
        early = {"preliminary": True} if part.get("preliminary") else {}
        yield {"type": "tool-output-available", "toolCallId": call_id, "output": part.get("output"), **early, **result}
    elif state == "output-error":
        yield {"type": "tool-output-error", "toolCallId": call_id, "errorText": part.get("errorText"), **result}
    elif state == "output-denied":
        yield {"type": "tool-output-denied", "toolCallId": call_id}
