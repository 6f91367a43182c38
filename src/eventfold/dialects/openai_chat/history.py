"""
messages[] of a request -> messages of ours.

Law: what is written of them is what was read. A message of the assistant holds the results of its calls, which follow it as
messages of their own. A request has no ids and no times, so that ids are counted and the time is EPOCH.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.halves import mended
from eventfold.dialects.translation import EPOCH, UNFIT, Said, Unfit
from eventfold.fold import Folder
from eventfold.jsonvalue import is_array, is_object

from .fields import text_of
from .media import block_of
from .stream import ChatDecoder

if TYPE_CHECKING:
    from eventfold.shape import Wire

#: What the roles of a request are here.
_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool", "function": "tool"}
#: Fields of a message that are read one by one.
_READ = frozenset({"role", "name", "content", "tool_call_id"})


def read_messages(value: Any) -> Said:
    """Read the messages of a request: an array of them, or an object that holds one. Raises Unfit."""
    held = value.get("messages") if is_object(value) and "role" not in value else value
    reader = _Reader()
    for i, message in enumerate(held if is_array(held) else [held]):
        if not is_object(message) or text_of(message.get("role")) not in _ROLES:
            raise Unfit(UNFIT, f"a message is a JSON object with one of the roles {', '.join(_ROLES)}", f"/{i}")
        reader.read(message, text_of(message["role"]), i)
    return Said(reader.messages, [])


def is_stored(value: Any) -> bool:
    """Tell whether a value is a message of a request, and of no other format: only those with calls and results say so."""
    if not is_object(value) or "type" in value:
        return False
    if value.get("role") == "tool":
        return isinstance(value.get("tool_call_id"), str)
    calls = value.get("tool_calls")
    entries = [call for call in calls if is_object(call)] if is_array(calls) else []
    return value.get("role") == "assistant" and any(is_object(entry.get(kind)) for entry in entries for kind in ("function", "custom"))


class _Reader:
    def __init__(self) -> None:
        self.messages: list[Wire] = []
        self._waiting: dict[str, Wire] = {}  #: calls of the last message of the assistant
        self._asking: list[Any] = []  #: its blocks, which take the results

    def read(self, message: Wire, role: str, i: int) -> None:
        """Read a message of the request."""
        if role == "assistant":
            self._assistant(message, i)
            return
        blocks, left = _blocks(message.get("content"), f"message-{i + 1}")
        rest = {key: mended(item) for key, item in message.items() if key not in _READ and item is not None}
        rest |= {"content": left} if left else {}
        if _ROLES[role] == "tool":
            self._result(message, blocks, rest, i)
            return
        rest |= {"role": role} if role != _ROLES[role] else {}
        self._add(_ROLES[role], message, i, blocks, rest)

    def _add(self, role: str, message: Wire, i: int, content: list[Any], own: Wire) -> None:
        head = {"id": f"message-{i + 1}", "name": text_of(message.get("name")) or role, "role": role, "created_at": EPOCH}
        self.messages.append({**head, "content": content, **({"metadata": {"openai": own}} if own else {})})

    def _assistant(self, message: Wire, i: int) -> None:
        """Read a message of the assistant as a response that has come."""
        folder, decoder = Folder(), ChatDecoder()
        said = {key: item for key, item in message.items() if key != "name"}
        for event in decoder.feed({"id": f"message-{i + 1}", "choices": [{"index": 0, "finish_reason": "stop", "message": said}]}):
            folder.feed(event)
        for remark in decoder.remarks:
            if remark.rule == UNFIT:
                raise Unfit(UNFIT, remark.detail, f"/{i}{remark.pointer.removeprefix('/choices/0/message')}")
        [made] = folder.snapshots()
        own = {key: item for key, item in made.get("metadata", {}).get("openai", {}).items() if key != "finish_reason"}
        self._add("assistant", message, i, made["content"], own)
        self._asking = made["content"]
        self._waiting = {block["id"]: block for block in made["content"] if block["type"] == "tool_call"}

    def _result(self, message: Wire, blocks: list[Wire], rest: Wire, i: int) -> None:
        call_id = text_of(message.get("tool_call_id")) or "call_function"
        call = self._waiting.pop(call_id, None)
        content = message.get("content")
        name = text_of(message.get("name")) or (call["name"] if call is not None else "")
        output = mended(content) if isinstance(content, str) else blocks
        result: Wire = {"type": "tool_result", "id": call_id, "name": name, "output": output, "state": "success"}
        if rest:
            result["x_openai"] = rest
        if call is None:
            self._add("tool", message, i, [result], {})
        else:
            call["state"] = "finished"
            self._asking.append(result)


def _blocks(content: Any, name: str) -> tuple[list[Wire], Wire]:
    """Read content: its blocks, and parts that no block can hold, by their places. Raises Unfit."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content if is_array(content) else []
    blocks: list[Wire] = []
    left: Wire = {}
    for j, part in enumerate(parts):
        if not is_object(part):
            raise Unfit(UNFIT, "a part of the content is an object", f"/content/{j}")
        block = block_of(part, f"{name}/{j + 1}")
        if block is None:
            left[str(j)] = mended(part)
        else:
            blocks.append(block)
    return blocks, left
