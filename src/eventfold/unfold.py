"""
A message -> events that fold to it.

Law: fold(unfold(message)) = message outside the losses, however it is cut; for a message that the fold made
of a valid stream there are none, and the events are a valid stream. Blocks and deltas carry it wherever they
can; events that carry whole blocks appear where a state needs them. The order of the events is that of the
blocks, so that each block stands where it stood.
"""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from eventfold_models import structs
from eventfold_models.tables import BLOCKS, DEFAULTS, FIELDS, MESSAGES, ROLE_BLOCKS

from .draft import TAIL
from .effects import PROVISIONAL
from .findings import Loss
from .jsonvalue import copy_json, escape, is_array
from .lifecycle import decode_base64
from .shape import class_of, wire_of
from .table import PLAN_OF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from eventfold_models.models import Msg

    from .shape import Wire


#: Fields of a message that events carry in some other way.
_CARRIED = frozenset({"id", "name", "role", "created_at", "metadata", "content", "usage", *TAIL})
#: How the reason of an end decides what it is.
_END = PLAN_OF[structs.ReplyEndEvent].steps[0]
_RUNNING = DEFAULTS["ToolResultBlock"]["state"]
#: The type is annotated with its description: its first argument is the literal, and that one's are the roles.
_REPLY_ROLES: frozenset[str] = frozenset(get_args(get_args(structs.ReplyRole)[0]))


class Unfolded(NamedTuple):
    """Events as structs of the engine, and what they do not carry."""

    events: list[Any]
    losses: list[Loss]  #: with pointers into the message


def unfold(message: Msg | Wire, cuts: Iterable[int] = ()) -> Unfolded:
    """
    Give events that fold to the message.

    `cuts` are sizes of pieces, in characters of text or bytes of data, used up one after another over the
    whole message; 0 is an empty delta. When they are used up, the rest of each text is one piece.
    """
    wire: Wire = message if isinstance(message, dict) else message.model_dump()
    writer = _Writer(wire_of(wire, MESSAGES[wire["role"]]), iter(cuts))
    writer.write()
    return Unfolded(writer.events, sorted(writer.losses, key=lambda loss: (loss.pointer, loss.reason)))


class _Writer:
    """Writes the events of one message."""

    def __init__(self, message: Wire, cuts: Iterator[int]) -> None:
        self.message = message
        self.cuts = cuts
        self.events: list[Any] = []
        self.losses: list[Loss] = []
        self.role: str = message["role"] if message["role"] in _REPLY_ROLES else DEFAULTS["ReplyStartEvent"]["role"]
        #: Blocks that were left open; calls, and whether the newest of each id has a result.
        self.open: set[tuple[str, str]] = set()
        self.answered: dict[str, bool] = {}
        #: Calls whose result has not ended.
        self.running: set[str] = set()
        self.now: str = message["created_at"]

    def write(self) -> None:
        """Write everything."""
        message = self.message
        if self.role != message["role"]:
            self.lose("/role", f"no reply has the role {message['role']}")
        self.lose_unknown("", message, _CARRIED)
        self.add(structs.ReplyStartEvent, session_id="", name=message["name"], role=self.role, metadata=copy_json(message.get("metadata")))
        usage = message.get("usage")
        if usage is not None:
            self.lose_unknown("/usage", usage, FIELDS["Usage"])
            self.add(structs.ModelCallStartEvent, model_name="")
        for place, block in enumerate(message["content"]):
            self.write_block(f"/content/{place}", place, block)
        if usage is not None:
            tokens: Wire = {key: int(usage[key]) for key in FIELDS["Usage"] if key in usage}
            self.add(structs.ModelCallEndEvent, **tokens)
        self.write_end()

    def add(self, event: Any, at: str | None = None, **fields: Any) -> None:
        """Add an event; `at` is its time, else that of the one before."""
        self.now = self.now if at is None else at
        given = {key: value for key, value in fields.items() if value is not None}
        self.events.append(event(id=f"e{len(self.events) + 1}", created_at=self.now, reply_id=self.message["id"], **given))

    def lose(self, pointer: str, reason: str) -> None:
        """Note a loss."""
        self.losses.append(Loss(pointer, reason))

    def lose_unknown(self, pointer: str, value: Wire, known: Iterable[str]) -> None:
        """Note the fields that no event carries."""
        for key in value:
            if key not in known:
                self.lose(f"{pointer}/{escape(key)}", "no event carries this field")

    def write_end(self) -> None:
        """End the reply, if the message has ended."""
        message = self.message
        if "finished_at" not in message:
            for key in TAIL:
                if key in message:
                    self.lose(f"/{key}", "the message has not ended, and only the end carries it")
            return
        if "finished_reason" not in message:
            self.lose("/finished_reason", "an end has a reason")
        carried = {key: copy_json(message.get(key)) for key in ("finished_reason", "error", "structured_output")}
        self.add(structs.ReplyEndEvent, message["finished_at"], session_id="", **carried)

    def write_block(self, pointer: str, place: int, block: Wire) -> None:
        """Write a block, if a reply of this role can hold it there."""
        kind, key = block["type"], block.get("id", "")
        write = _WRITERS.get(kind)
        if write is None or kind not in ROLE_BLOCKS[self.role]:
            self.lose(pointer, f"no event of a reply of role {self.role} carries a {kind} block")
        elif (kind, key) in self.open:
            self.lose(pointer, f"the {kind} block before it with this id is open, so that its events would go on with that one")
        else:
            write(self, pointer, place, block)

    # --- blocks that grow -------------------------------------------------------------------

    def begin(self, pointer: str, block: Wire) -> str:
        """Give the time of a block's first event."""
        if "created_at" not in block:
            self.lose(f"{pointer}/created_at", "the event that begins a block has a time")
        return block.get("created_at", self.now)

    def end(self, event: Any, pointer: str, block: Wire, **fields: Any) -> None:
        """End a block, with its provider fields, if it has ended."""
        known = FIELDS[BLOCKS[block["type"]]]
        extra = {key: copy_json(value) for key, value in block.items() if key not in known}
        if "finished_at" in block:
            self.add(event, block["finished_at"], **fields, extra=extra or None)
        elif "finished_at" in self.message and completes(self.message):
            self.add(event, **fields, extra=extra or None)
            self.lose(f"{pointer}/finished_at", "a completed reply has no open block")
        else:
            self.open.add((block["type"], block["id"]))
            self.lose_unknown(pointer, block, known)

    def pieces(self, whole: Any) -> Iterator[Any]:
        """Cut a text or bytes. Nothing has no piece, unless a cut makes an empty one."""
        at = 0
        for size in self.cuts:
            yield whole[at : at + size]
            at += size
            if at >= len(whole):
                return
        if at < len(whole):
            yield whole[at:]

    def write_text(self, pointer: str, _place: int, block: Wire) -> None:
        """Write a text block."""
        self.add(structs.TextBlockStartEvent, self.begin(pointer, block), block_id=block["id"])
        for piece in self.pieces(block["text"]):
            self.add(structs.TextBlockDeltaEvent, block_id=block["id"], delta=piece)
        self.end(structs.TextBlockEndEvent, pointer, block, block_id=block["id"])

    def write_thinking(self, pointer: str, _place: int, block: Wire) -> None:
        """Write a thinking block."""
        self.add(structs.ThinkingBlockStartEvent, self.begin(pointer, block), block_id=block["id"])
        for piece in self.pieces(block["thinking"]):
            self.add(structs.ThinkingBlockDeltaEvent, block_id=block["id"], delta=piece)
        self.end(structs.ThinkingBlockEndEvent, pointer, block, block_id=block["id"])

    def write_data(self, pointer: str, _place: int, block: Wire) -> None:
        """Write a data block."""
        source = block["source"]
        start = {"media_type": source["media_type"], "name": block.get("name")}
        self.add(structs.DataBlockStartEvent, self.begin(pointer, block), block_id=block["id"], **start)
        self.lose_unknown(f"{pointer}/source", source, FIELDS[class_of(source, "DataSource")])
        if decoded(source) is None:
            self.lose(f"{pointer}/source/data", "the data is not base64, as a delta's is")
        for carried in self.carriers(source):
            self.add(structs.DataBlockDeltaEvent, block_id=block["id"], **carried)
        self.end(structs.DataBlockEndEvent, pointer, block, block_id=block["id"])

    def carriers(self, source: Wire) -> Iterator[Wire]:
        """Give what deltas carry of a source."""
        if source["type"] == "url":
            yield {"media_type": source["media_type"], "url": source["url"]}
            return
        for piece in self.pieces(decoded(source) or b""):
            yield {"media_type": source["media_type"], "data": binascii.b2a_base64(piece, newline=False).decode("ascii")}

    def write_hint(self, pointer: str, _place: int, block: Wire) -> None:
        """Write a hint block."""
        at = self.begin(pointer, block)
        if block.get("finished_at") != at:
            self.lose(f"{pointer}/finished_at", "a hint begins and ends with one event")
        self.lose_unknown(pointer, block, FIELDS[BLOCKS["hint"]])
        self.add(structs.HintBlockEvent, at, block_id=block["id"], hint=copy_json(block["hint"]), source=block.get("source"))

    # --- calls and results ------------------------------------------------------------------

    def write_call(self, pointer: str, place: int, block: Wire) -> None:
        """Write a tool call, and the request and answer that bring it into its state."""
        key = block["id"]
        if self.answered.get(key) is False or key in self.running:
            self.lose(pointer, "the call before it with this id has no ended result, so that its events would go on with that one")
            return
        self.answered[key] = False
        self.add(structs.ToolCallStartEvent, self.begin(pointer, block), tool_call_id=key, tool_call_name=block["name"])
        for piece in self.pieces(block["input"]):
            self.add(structs.ToolCallDeltaEvent, tool_call_id=key, delta=piece)
        self.end(structs.ToolCallEndEvent, pointer, block, tool_call_id=key)
        self.open.discard((block["type"], key))
        self.request(pointer, block, self.result_of(place))

    def request(self, pointer: str, block: Wire, result: Wire | None) -> None:
        """Ask about a call, or hand it out, and answer, as its state and its result need it."""
        state = block.get("state", DEFAULTS[BLOCKS["tool_call"]]["state"])
        ended = result is not None and result.get("state", _RUNNING) != _RUNNING
        # A call is finished by its result, by one that came from outside and is streamed again, or by a denial.
        again = result is not None and _refilled(result) and streamable(result)
        if ended and state != "finished":
            self.lose(f"{pointer}/state", "a call with a result in a terminal state is finished")
        elif again and state != "finished":
            self.lose(f"{pointer}/state", "a call whose result came from outside is finished, though it is streamed again")
        denied = state == "finished" and not ended and not again
        carried = {name: copy_json(block[name]) for name in ("type", "id", "name", "input", "suggested_rules") if name in block}
        if state == "submitted":
            self.add(structs.RequireExternalExecutionEvent, tool_calls=[carried])
        elif state == "pending" and "suggested_rules" in block:
            self.lose(f"{pointer}/suggested_rules", "only a request carries rules, and the call was not requested")
        elif denied or "suggested_rules" in block or state in {"asking", "allowed"}:
            self.add(structs.RequireUserConfirmEvent, tool_calls=[carried])
            if state != "asking":
                self.add(structs.UserConfirmResultEvent, confirm_results=[{"confirmed": not denied, "tool_call": carried}])

    def result_of(self, place: int) -> Wire | None:
        """Give the result of the call at a place: the next of its id that is written. Another call before it is not."""
        key = self.message["content"][place]["id"]
        if ("tool_result", key) in self.open:
            return None
        following = self.message["content"][place + 1 :]
        return next((block for block in following if block["type"] == "tool_result" and block.get("id") == key), None)

    def write_result(self, pointer: str, _place: int, block: Wire) -> None:
        """Write a tool result: by deltas where they carry it, else whole."""
        key, state = block["id"], block.get("state", _RUNNING)
        called = key in self.answered
        if self.answered.get(key):
            self.lose(pointer, "the call with this id has its result already")
            return
        streamed = streamable(block)
        if not called and not streamed:
            self.lose(pointer, "without a call, no event carries it whole")
            return
        if called:
            self.answered[key] = True
            if state == _RUNNING:
                self.running.add(key)
        else:
            self.open.add((block["type"], key))
        at = self.begin(pointer, block)
        provisional = block.get(PROVISIONAL) is True and state != _RUNNING and "finished_at" not in self.message
        again = state == _RUNNING and (not streamed or _refilled(block))
        if called and (provisional or again):
            self.write_running(pointer, block, at)
        elif streamed and not (called and self.unknown_of(block)):
            self.lose_unknown(pointer, block, FIELDS[BLOCKS["tool_result"]])
            self.start_result(block, at)
            self.write_parts(block)
            self.end_result(pointer, block)
        else:
            if "finished_at" not in block and state != _RUNNING:
                self.lose(f"{pointer}/finished_at", "a result that came from outside is finished")
            if PROVISIONAL in block:
                self.lose(f"{pointer}/{PROVISIONAL}", "the mark is the fold's own")
            whole = {**block, "created_at": at}
            self.add(structs.ExternalExecutionResultEvent, block.get("finished_at", at), execution_results=[copy_json(whole)])

    @staticmethod
    def unknown_of(block: Wire) -> list[str]:
        """Give the fields of a result that no schema names."""
        return [key for key in block if key not in FIELDS[BLOCKS["tool_result"]]]

    def start_result(self, block: Wire, at: str) -> None:
        """Begin a result."""
        self.add(structs.ToolResultStartEvent, at, tool_call_id=block["id"], tool_call_name=block["name"])

    def end_result(self, pointer: str, block: Wire) -> None:
        """End a result, if it has ended."""
        if block.get("state", _RUNNING) == _RUNNING:
            for name in ("finished_at", "metadata"):
                if name in block:
                    self.lose(f"{pointer}/{name}", "the result has not ended, and only the end carries it")
            return
        if "finished_at" not in block:
            self.lose(f"{pointer}/finished_at", "the end of a result has a time")
        carried = {"state": block["state"], "metadata": copy_json(block.get("metadata"))}
        self.add(structs.ToolResultEndEvent, block.get("finished_at"), tool_call_id=block["id"], **carried)

    def write_running(self, pointer: str, block: Wire, at: str) -> None:
        """Write a result that was started and came whole from outside, and perhaps is streamed again."""
        self.start_result(block, at)
        state = block.get("state", _RUNNING)
        again = state == _RUNNING and streamable(block) and block["output"]
        whole = {key: copy_json(value) for key, value in block.items() if key not in {"created_at", "finished_at", PROVISIONAL}}
        if again:
            whole |= {"state": "success", "output": ""}
        if state == _RUNNING and "finished_at" in block:
            self.lose(f"{pointer}/finished_at", "a running result is not finished")
        elif state != _RUNNING and "finished_at" not in block:
            self.lose(f"{pointer}/finished_at", "a result that came from outside is finished")
        if state == _RUNNING and PROVISIONAL in block:
            self.lose(f"{pointer}/{PROVISIONAL}", "a running result is not provisional")
        self.add(structs.ExternalExecutionResultEvent, None if again else block.get("finished_at"), execution_results=[whole])
        if again:
            self.write_parts(block)

    def write_parts(self, block: Wire) -> None:
        """Write the output of a result by deltas; each part has at least one."""
        for part in block["output"]:
            if part["type"] == "text":
                for piece in list(self.pieces(part["text"])) or [""]:
                    self.add(structs.ToolResultTextDeltaEvent, tool_call_id=block["id"], delta=piece)
                continue
            source = part["source"]
            empty = {"media_type": source["media_type"], "data": ""}
            for carried in list(self.carriers(source)) or [empty]:
                self.add(structs.ToolResultDataDeltaEvent, tool_call_id=block["id"], block_id=part["id"], **carried)


_WRITERS: dict[str, Callable[[_Writer, str, int, Wire], None]] = {
    "text": _Writer.write_text,
    "thinking": _Writer.write_thinking,
    "data": _Writer.write_data,
    "hint": _Writer.write_hint,
    "tool_call": _Writer.write_call,
    "tool_result": _Writer.write_result,
}


def completes(message: Wire) -> bool:
    """Tell whether an end completes its reply, so that it leaves no block open."""
    return _END.values.get(message.get("finished_reason", ""), _END.otherwise) == _END.otherwise


def decoded(source: Wire) -> bytes | None:
    """Give the bytes of an inline source; nothing of a URL; None of what is not base64 as a delta's is."""
    if source["type"] == "url":
        return b""
    try:
        return decode_base64(source["data"])
    except ValueError:
        return None


def streamable(block: Wire) -> bool:
    """Tell whether deltas carry a result's output: parts as the fold makes them, with derived ids and no times."""
    output = block["output"]
    if not is_array(output):
        return False
    ids: set[str] = set()
    for place, part in enumerate(output):
        if part["type"] == "text":
            alone = place == 0 or output[place - 1]["type"] != "text"
            if set(part) != {"type", "id", "text"} or part["id"] != f"{block['id']}/{place}" or not alone:
                return False
        else:
            source = part["source"]
            plain = set(part) == {"type", "id", "source"} and set(source) == set(FIELDS[class_of(source, "DataSource")])
            if not plain or decoded(source) is None or part["id"] in ids:
                return False
            ids.add(part["id"])
    return True


def _refilled(block: Wire) -> bool:
    """Tell whether a running result keeps what only an external result can have brought."""
    known = FIELDS[BLOCKS["tool_result"]]
    running = block.get("state", _RUNNING) == _RUNNING
    return running and bool(block["output"]) and ("metadata" in block or any(key not in known for key in block))
