"""
The blocks of a message of Anthropic -> events.

Law: a block is addressed by its index, which is a key and no position. What the contract has no block for is kept whole: a
CUSTOM event at its place, and `before` in the provider fields of the block that follows it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.halves import Halves, repaired
from eventfold.dialects.translation import UNFIT, UNKNOWN
from eventfold.jsonvalue import copy_json, is_object, shown

from .forms import CUT, DELTAS, FORMS, KEPT, OURS, Block
from .results import reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.dialects.response import Response
    from eventfold.dialects.translation import Decoder
    from eventfold.shape import Wire


class Blocks:
    """Writes the events of the blocks of one message."""

    def __init__(self, decoder: Decoder, response: Response) -> None:
        self._remark = decoder.remark
        self._response = response
        self._halves = Halves()
        self._all: list[Block] = []
        self._at: dict[int, Block] = {}  # by index, the newest
        self._calls: dict[str, Block] = {}  # by id
        self._waiting: list[Wire] = []  # kept blocks, for the next block of ours

    def begin(self, index: int, block: Any, *, whole: bool = False) -> Iterator[Any]:
        """Begin a block."""
        if not is_object(block) or not isinstance(block.get("type"), str):
            self._remark(UNFIT, f"a block is {shown(block)}, expected an object with a type", "/content_block")
            return
        kind: str = block["type"]
        if index in self._at:
            self._remark("anthropic.index-in-use", f"index {index} is used by a second block")
            if not self._at[index].stopped:
                self._at[index].stopped = True
                yield from self._close(self._at[index])
        elif index != len(self._at):
            self._remark("anthropic.index-order", f"block {len(self._at)} has index {index}")
        form = FORMS.get(kind, "result" if kind.endswith("_tool_result") else "kept")
        call = self._calls.get(str(block.get("tool_use_id"))) if form == "result" else None
        if form == "result" and call is None:
            self._remark(
                "anthropic.result-without-call", f"{kind} names the call {shown(block.get('tool_use_id'))}, which this message lacks"
            )
            form = "kept"
        elif form == "kept" and kind not in KEPT:
            self._remark(UNKNOWN, f"a block of type {shown(kind)}", "/content_block/type")
        new = self._new(index, form, copy_json(block))
        if form in OURS:
            new.extra = {key: value for key, value in new.said.items() if key not in OURS[form] and value is not None}
            yield from self._begin_ours(new, kind, whole=whole)
        elif call is not None:
            yield from self._result(new, call)

    def delta(self, index: int, delta: Wire) -> Iterator[Any]:
        """Append to a block."""
        form, name = DELTAS.get(str(delta.get("type")), ("", ""))
        block, piece = self._at.get(index), delta.get(name)
        flaw = self._flaw(index, delta, form)
        if flaw in {"anthropic.unknown-index", "anthropic.after-stop"} and name == form and isinstance(piece, str):
            # Text and thinking are not lost: what was said goes into a block of its own.
            block = self._new(index, form, {"type": form})
            yield from self._begin_ours(block, form)
        elif flaw:
            yield self.custom("content_block_delta", repaired({"index": index, "delta": copy_json(delta)}))
            return
        if block is None:
            return
        rest = {key: copy_json(value) for key, value in delta.items() if key not in {"type", name} and value is not None}
        (block.said if form == "kept" else block.extra).update(rest)
        if name == "citation":
            block.extra["citations"] = [*block.extra.get("citations", []), copy_json(piece)]
        elif name and not isinstance(piece, str):
            self._remark(UNFIT, f"{name} is {shown(piece)}, expected a string", f"/delta/{name}")
        elif name == "signature":
            block.signature = str(piece)
        elif name:
            yield from self._append(block, str(piece))

    def _flaw(self, index: int, delta: Wire, form: str) -> str:
        """Say what is wrong with a delta; empty when nothing is."""
        block = self._at.get(index)
        if not form:
            rule, detail = UNKNOWN, f"a delta of type {shown(delta.get('type'))}"
        elif block is None:
            rule, detail = "anthropic.unknown-index", f"a delta for index {index}, at which no block began"
        elif block.form != form:
            rule, detail = "anthropic.delta-mismatch", f"{delta['type']} for a block of type {block.said['type']}"
        elif block.stopped:
            rule, detail = "anthropic.after-stop", f"{delta['type']} for index {index}, whose block has stopped"
        else:
            return ""
        self._remark(rule, detail, "/delta/type")
        return rule

    def _new(self, index: int, form: str, said: Wire) -> Block:
        block = Block(len(self._all), form, said)
        self._all.append(block)
        self._at[index] = block
        return block

    def note(self, index: int, fields: Wire) -> None:
        """Keep what else an event said of a block."""
        block = self._at.get(index)
        if block is not None and fields:
            (block.said if block.form == "kept" else block.extra).update(copy_json(fields))

    def stop(self, index: int) -> Iterator[Any]:
        """End a block."""
        block = self._at.get(index)
        if block is None:
            self._remark("anthropic.unknown-index", f"the end of index {index}, at which no block began")
        elif block.stopped:
            self._remark("anthropic.after-stop", f"index {index} stops twice")
        else:
            block.stopped = True
            yield from self._close(block)

    def close(self, *, quietly: bool) -> Iterator[Any]:
        """Close all blocks that are open."""
        for block in self._all:
            if not block.stopped:
                if not quietly:
                    self._remark("anthropic.open-at-end", f"a block of type {block.said['type']} has not stopped")
                yield from self._close(block)

    def after(self, *, parks: bool) -> list[Wire]:
        """
        Give the kept blocks that no block followed.

        Those of a reply that parks are given to its last call, which the request carries: its message gets no more metadata.
        """
        waiting = [call for call in self._calls.values() if not call.answered and "type" not in call.extra]
        if not self._waiting or not parks or not waiting:
            return self._waiting
        fields = {"x_anthropic": {**waiting[-1].extra, "after": self._waiting}}
        self._response.extra(waiting[-1].key, **fields)  # noqa: S610  ours, and not Django's
        return []

    def unanswered(self, stop_reason: str) -> Iterator[Any]:
        """Answer the calls that nobody is to run: those that the provider left open, and those whose arguments were cut."""
        for block in self._calls.values():
            cut = stop_reason in CUT and not block.answered and self._is_cut(block)
            if cut:
                self._remark("anthropic.call-cut", f"the arguments of {shown(block.said.get('name'))} end at {stop_reason}")
            if (cut or "type" in block.extra) and not block.answered:
                block.answered = True
                yield from self._response.result(block.key, "", "interrupted", {"anthropic": {"stop_reason": stop_reason}})

    def _is_cut(self, block: Block) -> bool:
        """
        Tell whether a call of a message that was cut lacks the end of its arguments; a block that was cut may be said to have stopped.

        No text is what a call without arguments has as well: it is cut where it did not stop, or where nothing was written after it.
        """
        if not block.text and block.stopped:
            return block is self._all[-1]
        return not _is_object_text("".join(block.text))

    def custom(self, what: str, value: Wire) -> Any:
        """Make an event of what the contract has no event for."""
        return self._response.event(structs.CustomEvent, name=f"anthropic.{what}", value=value)

    def _begin_ours(self, block: Block, kind: str, *, whole: bool = False) -> Iterator[Any]:
        """Begin a block that the contract has, and say what its start holds."""
        if self._waiting:
            block.extra["before"], self._waiting = self._waiting, []
        if block.form == "call":
            yield from self._begin_call(block, kind, whole=whole)
            return
        if block.form == "redacted":
            yield from self._response.open("thinking", block.key)
            return
        signature, text = block.said.get("signature"), block.said.get(kind)
        block.signature = signature if isinstance(signature, str) else ""
        yield from self._response.open(kind, block.key)
        if isinstance(text, str):
            yield from self._append(block, text)
        elif text is not None:
            self._remark(UNFIT, f"{kind} is {shown(text)}, expected a string", f"/content_block/{kind}")

    def _begin_call(self, block: Block, kind: str, *, whole: bool) -> Iterator[Any]:
        name, call_id, given = (block.said.get(key) for key in ("name", "id", "input"))
        if not isinstance(name, str) or not isinstance(call_id, str) or not call_id:
            self._remark(UNFIT, f"a {kind} block with id {shown(call_id)} and name {shown(name)}", "/content_block")
        ours = call_id if isinstance(call_id, str) and call_id else f"{self._response.reply_id}/call-{block.key}"
        if ours in self._calls:
            self._remark("anthropic.repeated-id", f"two calls have the id {shown(ours)}")
            ours = f"{ours}#{block.key}"
        self._calls[ours] = block
        if kind != "tool_use":
            block.extra["type"] = kind
        if isinstance(given, str):
            block.given = given
        elif given or (whole and given is not None):
            block.given = json.dumps(given, ensure_ascii=False)
        yield from self._response.call(block.key, ours, name if isinstance(name, str) else "")

    def _result(self, block: Block, call: Block) -> Iterator[Any]:
        """Give the result of a call that the provider ran."""
        if not call.stopped:
            call.stopped = True
            yield from self._close(call)
        output, state, rest = reading(block.said)
        if self._waiting:
            rest["before"], self._waiting = self._waiting, []
        if call.answered:
            self._remark("anthropic.repeated-id", f"two results name the call {shown(block.said.get('tool_use_id'))}")
            yield self.custom(block.said["type"], block.said)
            return
        call.answered = True
        yield from self._response.result(call.key, output, state, {"anthropic": rest})

    def _append(self, block: Block, piece: str) -> Iterator[Any]:
        text = self._halves.feed(block.key, piece)
        if not text:
            return
        block.text.append(text)
        if block.form == "call":
            yield from self._response.arguments(block.key, text)
        else:
            yield from self._response.append(block.form, block.key, text)

    def _close(self, block: Block) -> Iterator[Any]:
        """Close a block, with the provider's fields."""
        if block.form == "result":
            return
        if block.form == "kept":
            self._waiting.append(block.said)
            yield self.custom(block.said["type"], block.said)
            return
        rest = self._halves.rest(block.key)
        if rest:
            yield from self._append(block, rest)
        if self._halves.told():
            self._remark("event.lone-surrogate", "half of a surrogate pair has no other half")
        if block.form == "call" and not block.text and block.given:
            yield from self._append(block, block.given)
        if block.form == "call" and block.stopped and block.text and not _is_object_text("".join(block.text)):
            self._remark("anthropic.arguments-not-json", f"the arguments of {shown(block.said.get('name'))} are no JSON object")
        data = block.said.get("data") if block.form == "redacted" else None
        fields = {"x_anthropic": block.extra or None, "signature": block.signature or None, "redacted_thinking_data": data}
        self._response.extra(block.key, **fields)  # noqa: S610  ours, and not Django's
        yield from self._response.close(block.key)


def _is_object_text(text: str) -> bool:
    try:
        return is_object(json.loads(text))
    except (ValueError, RecursionError):
        return False
