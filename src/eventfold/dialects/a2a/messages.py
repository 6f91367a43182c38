"""
Messages of ours -> A2A, and back.

Law: read_messages(write_messages(messages)) = messages. What a user or the system says is a Message, what an agent or a tool says
a Task with an artifact for each block, as a server keeps it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs
from eventfold_models.tables import MESSAGES

from eventfold.dialects.translation import Said, Unfit
from eventfold.findings import Loss
from eventfold.fold import Folder
from eventfold.jsonvalue import is_array, is_object
from eventfold.shape import wire_of

from .content import EMPTY, write_block
from .notes import note_in, noted, object_in, text_of
from .ours import artifacts_of, message_of
from .payload import ERROR, REQUEST, payload_of
from .reading import A2ADecoder
from .shapes import Reading
from .states import PARKED, WORKING, state_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eventfold.shape import Wire

#: Reason of a loss.
BESIDE = "What stands beside the messages (progress, foreign metadata) is kept in a stream only."
#: Roles that speak by a Message, and how.
_SPEAKERS = {"user": "ROLE_USER", "system": "ROLE_USER"}
#: States of a call that somebody is waited for.
_WAITING = frozenset({"asking", "submitted"})


def write_messages(messages: Iterable[Wire]) -> Said:
    """Say messages as Messages and Tasks."""
    return Said([_write(wire_of(message, MESSAGES[message["role"]])) for message in messages], [])


def _write(message: Wire) -> Wire:
    head = {key: item for key, item in message.items() if key != "content"}
    blocks = [write_block(block) for block in message["content"]]
    if message["role"] in _SPEAKERS:
        parts = [its_parts[0] | {"metadata": noted(block=text_of(block))} for block, its_parts in blocks]
        said = {"messageId": message["id"], "role": _SPEAKERS[message["role"]], "parts": parts or [dict(EMPTY)]}
        return said | {"metadata": noted(message=text_of(head))}
    waits = any(block["type"] == "tool_call" and block.get("state") in _WAITING for block in message["content"])
    return {
        "id": message["id"],
        "contextId": message["id"],
        "status": {"state": state_of(message) if "finished_at" in message else PARKED if waits else WORKING},
        "artifacts": [
            {"artifactId": f"{place}", "parts": its_parts, "metadata": noted(block=text_of(block))}
            for place, (block, its_parts) in enumerate(blocks)
        ],
        "metadata": noted(message=text_of(head)),
    }


def read_messages(value: Any) -> Said:
    """
    Read a Message or a Task, bare or in a response, or a list of them.

    Raises:
        Unfit: it is none.

    """
    said = Said([], [])
    for place, item in enumerate(value if is_array(value) else [value]):
        pointer = f"/{place}" if is_array(value) else ""
        read = _ours(item)
        if read is None:
            read = _theirs(item, pointer)
        said.value.extend(read.value)
        said.losses.extend(read.losses)
    return said


def _ours(value: Any) -> Said | None:
    """Read what we wrote; None when it is not."""
    payload = payload_of(value)
    if payload.name == ERROR or not is_object(payload.body):
        return None
    shape, body = {"task": "Task", "message": "Message", REQUEST: "SendMessageRequest"}.get(payload.name), payload.body
    if shape is None:
        return None
    taken = Reading().take(shape, body, payload.place)
    taken = taken["message"] if payload.name == REQUEST else taken
    note = note_in(taken)
    if object_in(note, "message") is None:
        return None
    if shape == "Task":
        earlier = [message for message in taken.get("history", []) if not note_in(message)]
        before = [_theirs(message, "") for message in earlier]
        said = Said([message for read in before for message in read.value], [loss for read in before for loss in read.losses])
        said.value.append(message_of(note, taken.get("artifacts", [])))
        return said
    return Said([message_of(note, artifacts_of(taken))], [])


def _theirs(value: Any, pointer: str) -> Said:
    decoder, folder = A2ADecoder(), Folder()
    beside = 0
    for event in decoder.feed(value):
        folder.feed(event)
        beside += isinstance(event, structs.CustomEvent)
    if not folder.snapshots() and decoder.remarks:
        first = decoder.remarks[0]
        raise Unfit(first.rule, first.detail, pointer + first.pointer)
    lost = [Loss(pointer, BESIDE)] * bool(beside)
    return Said(folder.snapshots(), [*decoder.losses, *lost])
