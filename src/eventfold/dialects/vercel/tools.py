"""
Tool parts of a UI message: their input, approval and output.

Law: the input that becomes available is the input; pieces that say the same stay as the model wrote them. An output that is
preliminary is replaced by the next, and so is the error of an input: what stands last is the result.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from eventfold.dialects.halves import repaired
from eventfold.jsonvalue import copy_json

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from eventfold.dialects.run import Run
    from eventfold.shape import Wire

#: Fields of chunks about a call that stay with the call.
CALL_FIELDS = ("providerExecuted", "providerMetadata", "toolMetadata", "dynamic", "title", "inputEncoding")


@dataclass(slots=True)
class Tool:
    """A tool part."""

    key: Hashable
    id: str
    step: int
    fields: Wire = field(default_factory=dict[str, Any])  #: of the call, that the contract does not have
    text: list[str] = field(default_factory=list[str])
    available: bool = False  #: whether its input is
    approval: Wire | None = None
    result: tuple[str, str, Wire] | None = None  #: output, state and metadata that something may still replace


class Tools:
    """The tool parts of one message."""

    def __init__(self, run: Run, remark: Callable[[str, str], None]) -> None:
        self.run = run
        self.all: list[Tool] = []
        self._remark = remark

    def find(self, call_id: str) -> Tool | None:
        """Find the newest part of a call."""
        return next((tool for tool in reversed(self.all) if tool.id == call_id), None)

    def asked(self, approval_id: str) -> Tool | None:
        """Find the part about which a user is asked by an id."""
        return next((tool for tool in reversed(self.all) if tool.approval and tool.approval.get("approvalId") == approval_id), None)

    def approve(self, tool: Tool, chunk: Wire) -> Iterator[Any]:
        """Take the user's answer."""
        if tool.approval is not None:
            tool.approval["approved"] = chunk["approved"]
        if tool.key in self.run.requested and tool.key in self.run.asked:
            yield from self.run.confirm(tool.key, confirmed=chunk["approved"])
        self.run.asked.discard(tool.key)

    def begin(self, chunk: Wire, step: int) -> Iterator[Any]:
        """Begin a part, unless the step has one of the call, or one of an earlier step has no result yet."""
        known = self.find(chunk["toolCallId"])
        if known is not None and known.step != step:
            yield from self.settle(known)
        if known is not None and (known.step == step or not self.run.parts[known.key].answered):
            self._remark("vercel.already-started", f"the call {known.id!r} has begun")
            return
        call_id = chunk["toolCallId"] or f"{self.run.reply_id}/call-{len(self.all) + 1}"
        tool = Tool(("tool", len(self.all)), chunk["toolCallId"], step)
        self.all.append(tool)
        _note(tool.fields, chunk)
        yield from self.run.call(tool.key, call_id, repaired(chunk["toolName"]))

    def piece(self, tool: Tool, delta: str) -> Iterator[Any]:
        """Append to a call's input."""
        if tool.available:
            self._remark("vercel.after-end", f"input for the call {tool.id!r}, whose input is complete")
            return
        tool.text.append(delta)
        if whole := self.run.whole(tool.key, delta):
            yield from self.run.arguments(tool.key, whole)

    def available(self, tool: Tool, chunk: Wire) -> Iterator[Any]:
        """Take the input as it is at the end."""
        if tool.available:
            self._remark("vercel.after-end", f"input for the call {tool.id!r}, whose input is complete")
            return
        tool.available = True
        _note(tool.fields, chunk)
        given, said = chunk.get("input"), "".join(tool.text)
        as_text = tool.fields.get("inputEncoding") == "text"
        if not said:
            yield from self.run.arguments(
                tool.key, repaired(given if as_text and isinstance(given, str) else json.dumps(given, ensure_ascii=False))
            )
        elif not _same(said, given, as_text=as_text):
            tool.fields["input"] = copy_json(given)
            self._remark("vercel.rewritten", f"the input of the call {tool.id!r} becomes something else than its pieces")
        yield from self.close(tool)

    def close(self, tool: Tool) -> Iterator[Any]:
        """Close the call."""
        if self.run.is_open(tool.key):
            if tool.fields:
                self.run.note(tool.key, {"x_vercel": tool.fields})
            yield from self.run.close(tool.key)

    def result(self, tool: Tool, output: Any, state: str, chunk: Wire) -> Iterator[Any]:
        """Give the result of a call; a preliminary one waits for the next."""
        if self.run.parts[tool.key].answered:
            self._remark("vercel.after-end", f"a result for the call {tool.id!r}, which has one")
            return
        rest = {name: copy_json(chunk[name]) for name in ("providerMetadata", "toolMetadata") if name in chunk}
        if state == "success" and not isinstance(output, str):
            rest["outputType"] = "json"
            output = json.dumps(output, ensure_ascii=False)
        if chunk.get("preliminary"):
            rest["preliminary"] = True
        tool.result = repaired(output), state, rest
        if not chunk.get("preliminary"):
            yield from self.settle(tool)

    def hold(self, tool: Tool, output: str, state: str, chunk: Wire) -> None:
        """Note a result that an output may still replace."""
        rest = {name: copy_json(chunk[name]) for name in ("providerMetadata", "toolMetadata") if name in chunk}
        tool.result = repaired(output), state, {**rest, "inputError": True}

    def settle(self, tool: Tool) -> Iterator[Any]:
        """Give the result that is held."""
        if tool.result is None or self.run.parts[tool.key].answered:
            return
        output, state, rest = tool.result
        metadata = {"vercel": rest} if rest else None
        yield from self.close(tool)
        if tool.key in self.run.requested and tool.key in self.run.asked:
            yield from self.run.confirm(tool.key, confirmed=state != "denied")
        if tool.key in self.run.requested:
            yield from self.run.answer(tool.key, output, state, metadata)
        else:
            yield from self.run.close_result(tool.key, output, state, metadata)

    def finish(self) -> Iterator[Any]:
        """Settle all: results that are held, calls whose input was cut, calls of the provider without a result."""
        for tool in self.all:
            if self.run.parts[tool.key].answered:
                continue
            if tool.result is not None:
                yield from self.settle(tool)
            elif not tool.available:
                self._remark("vercel.input-open", f"the input of the call {tool.id!r} never became available")
                yield from self.close(tool)
                yield from self.run.close_result(tool.key, state="interrupted")
            elif tool.fields.get("providerExecuted"):
                yield from self.run.close_result(tool.key, state="interrupted")


def _note(fields: Wire, chunk: Wire) -> None:
    """Keep what chunks say of a call: the last word counts."""
    for name in CALL_FIELDS:
        if chunk.get(name) is not None:
            fields[name] = copy_json(chunk[name])


def _same(said: str, given: Any, *, as_text: bool) -> bool:
    if as_text and isinstance(given, str):
        return said == given
    try:
        return orjson.loads(said) == given
    except ValueError:
        return False
