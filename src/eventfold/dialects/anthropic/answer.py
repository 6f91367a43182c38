"""
One message of Anthropic -> the events of one reply.

Law: what is said of the message is kept in metadata.anthropic under its own names; usage is counted once, and what came last
holds, as it is the total so far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.response import Response
from eventfold.dialects.translation import UNFIT
from eventfold.jsonvalue import copy_json, is_array, is_object, shown

from .blocks import Blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.dialects.translation import Decoder
    from eventfold.shape import Wire

_TOKENS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_input_tokens": "cache_input_tokens",
    "cache_creation_input_tokens": "cache_creation_input_tokens",
}
_MOST_TOKENS = 2**53 - 1


class Answer:
    """Writes the events of one message; those of its blocks are written by `blocks`."""

    def __init__(self, decoder: Decoder, message_id: str) -> None:
        self.id = message_id
        self.stop_reason = ""
        self._remark = decoder.remark
        self._response = Response(decoder.event, message_id)
        self.blocks = Blocks(decoder, self._response)
        self._own: Wire = {}  # metadata
        self._usage: Wire = {}

    def start(self, message: Wire) -> Iterator[Any]:
        """Begin the reply, with the blocks that the message holds already."""
        self._own = {key: copy_json(message[key]) for key in message if key not in {"id", "type", "role", "content", "usage"}}
        self._own = {key: value for key, value in self._own.items() if value is not None}
        if message.get("role", "assistant") != "assistant":
            self._remark(UNFIT, f"the role is {shown(message['role'])}, expected assistant", "/role")
        model = message.get("model")
        self.stop_reason = str(self._own.get("stop_reason", ""))
        self.count(message.get("usage"))
        if "usage" not in message:
            self._remark("anthropic.no-usage", "the message begins without usage")
        # A parked reply keeps this: nothing that comes later sets the metadata of its message.
        usage = {key: value for key, value in self._usage.items() if key not in _TOKENS}
        own = copy_json({**self._own, **({"usage": usage} if usage else {})})
        metadata = {"anthropic": own} if own else None
        yield from self._response.start(model if isinstance(model, str) else "", metadata=metadata)
        content = message.get("content", [])
        if not is_array(content):
            self._remark(UNFIT, f"content is {shown(content)}, expected an array", "/content")
            return
        for i, block in enumerate(content):
            yield from self.begin(i, block, whole=True)
            yield from self.blocks.stop(i)

    def begin(self, index: int, block: Any, *, whole: bool = False) -> Iterator[Any]:
        """Begin a block."""
        if is_object(block) and block.get("type") == "fallback" and is_object(block.get("to")) and "model" in block["to"]:
            self._own["model"] = copy_json(block["to"]["model"])  # as Anthropic's SDK says it
        yield from self.blocks.begin(index, block, whole=whole)

    def more(self, fields: Wire) -> None:
        """Take fields of the message that came later; null takes one away."""
        for key, value in fields.items():
            if value is not None:
                self._own[key] = copy_json(value)
            elif key != "container":
                self._own.pop(key, None)
        self.stop_reason = str(self._own.get("stop_reason", ""))

    def count(self, usage: Any) -> None:
        """Take usage: what is given is the total so far, what is null or absent stays."""
        if usage is None:
            return
        if not is_object(usage):
            self._remark(UNFIT, f"usage is {shown(usage)}, expected an object", "/usage")
            return
        self._usage.update({key: copy_json(value) for key, value in usage.items() if value is not None})

    def end(self, reason: str = "completed", error: Wire | None = None) -> Iterator[Any]:
        """End the reply, or park it for the client's tools."""
        yield from self.blocks.close(quietly=reason != "completed")
        if reason == "completed":
            yield from self.blocks.unanswered(self.stop_reason)
        after = self.blocks.after(parks=reason == "completed")
        self._response.usage = self._tokens()
        own = {**self._own, **({"after": after} if after else {}), **({"usage": self._usage} if self._usage else {})}
        self._response.metadata = {"anthropic": own} if own else {}
        yield from self._response.end(reason, error)

    def _tokens(self) -> Wire:
        """Take the counts that the contract has out of the usage."""
        tokens: Wire = {}
        for name, ours in _TOKENS.items():
            value = self._usage.pop(name, 0)
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS:
                tokens[ours] = value
            else:
                self._remark(UNFIT, f"{name} is {shown(value)}, expected a count", f"/usage/{name}")
                self._usage[name] = value
        return tokens
