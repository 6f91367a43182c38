"""
AG-UI events -> ours.

Law: an event goes through the stages of the client: what it holds (`shapes`), chunks (`chunks`), order (`verify`). A rule that
it breaks is a remark, and it is translated as well as it can be. Our own events, told by `metadata.eventfold`, come back whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from eventfold_models import structs
from eventfold_models.tables import EVENTS as OURS

from eventfold.dialects.translation import NAMESPACE, UNFIT, UNKNOWN, Unfit
from eventfold.jsonvalue import copy_json, depth_of, is_array, is_object, shown, value_at

from .blocks import TEXT, THINKING, Block
from .calls import Calls
from .chunks import AMBIGUOUS, CONFLICT, Expander
from .fitting import misfit, strip
from .lanes import Call, Lane
from .shapes import EVENTS, RETIRED, Type
from .verify import Sequencer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import msgspec

    from eventfold.shape import Wire

NULL, EXTRA, OLD, TEXTUAL = "agui.null-field", "agui.unknown-material", "agui.retired-event", "agui.lone-surrogate"

#: Deepest nesting that still fits into an event of ours when it is kept whole.
_DEEPEST = 90

#: Which of our fields the AG-UI event says itself, by our class: (field, path).
NATIVE: dict[type[Any], tuple[tuple[str, str], ...]] = {
    structs.TextBlockDeltaEvent: (("delta", "delta"),),
    structs.ThinkingBlockDeltaEvent: (("delta", "delta"),),
    structs.ToolCallDeltaEvent: (("delta", "delta"),),
    structs.CustomEvent: (("name", "name"), ("value", "value")),
    structs.ReplyEndEvent: (("structured_output", "result"),),
    structs.HintBlockEvent: (("hint", "content/hint"),),
}

#: What names the block that an event of ours opens.
_OPENS = {structs.TextBlockStartEvent: TEXT, structs.ThinkingBlockStartEvent: THINKING}


class AguiDecoder(Calls):
    """Reads a stream of AG-UI events."""

    def __init__(self) -> None:
        super().__init__()
        self._sequencer = Sequencer()
        self._expander = Expander()
        self._thoughts: dict[str, str] = {}  #: ids that stand for what retired events do not name

    def decode(self, value: Any) -> Iterator[Any]:
        """Translate an event."""
        self.out = []
        event = self._readable(value)
        if _is_time(event.get("timestamp")):
            self.tell_time(event)
        known = self._known(event)
        for told in self._expanded(known) if known is not None else ():
            refused = self._sequencer.feed(told, self.index)
            if refused is not None:
                self.remarks.append(refused)
            self._tell(told)
        yield from self.out

    def end(self) -> Iterator[Any]:
        """Give what was held back."""
        self.out = []
        self.release()
        self.give_hints()
        unfinished = self._sequencer.end()
        if unfinished is not None:
            self.remarks.append(unfinished)
        yield from self.out

    # --- what an event holds ----------------------------------------------------------------

    def _readable(self, value: Any) -> Wire:
        """Give an event that is well-formed text and not too deep. Raises Unfit."""
        if not is_object(value) or not isinstance(value.get("type"), str):
            raise Unfit(UNFIT, f"{shown(value)} is no object with a type")
        try:
            dumped = orjson.dumps(value)
        except (TypeError, RecursionError):
            dumped = b"[" * (_DEEPEST + 1)
        if dumped.count(b"[") + dumped.count(b"{") > _DEEPEST and depth_of(value) > _DEEPEST:
            raise Unfit(UNFIT, f"it nests deeper than {_DEEPEST}")
        repaired = _well_formed(value) if dumped.startswith(b"[") else value
        if repaired != value:
            self.remark(TEXTUAL, "a lone surrogate was replaced by U+FFFD")
        return repaired

    def _known(self, event: Wire) -> Wire | None:
        """Give what the schemas know of an event; None when it was kept instead."""
        name: str = event["type"]
        if name in RETIRED:
            event = self._renamed(event)
            name = event["type"]
        shape = EVENTS.get(name)
        if shape is None:
            self.remark(UNKNOWN, f"no event is called {name!r}", "/type")
            self.release()
            self.keep(event)
            return None
        taken: list[str] = []
        known = strip(event, shape, "", taken)
        for pointer in taken:
            self.remark(EXTRA, f"nobody knows what stands at {pointer}", pointer)
        while (found := misfit(known, shape)) is not None:
            field = found.pointer[1:]
            if not (found.null and field in shape.optional):
                self.remark(NULL if found.null else UNFIT, found.detail, found.pointer)
                self.release()
                self.keep(event)
                return None
            self.remark(NULL, f"{field} is null; what is optional is left out", found.pointer)
            del known[field]
        left = {pointer: copy_json(value_at(event, pointer)) for pointer in taken}
        if left:
            self.release()
            self.note("unknown", {"event": name, "values": left})
        return known

    def _renamed(self, event: Wire) -> Wire:
        """Give a retired event under its new name; the ids that it lacks are made."""
        name = RETIRED[event["type"]]
        self.remark(OLD, f"{event['type']} is now {name}", "/type")
        thing = "span" if name in {Type.REASONING_START, Type.REASONING_END} else "message"
        if name.endswith("_START"):
            self._thoughts[thing] = f"agui-thinking-{self.index}"
        key = self._thoughts.get(thing, f"agui-thinking-{self.index}")
        role = {"role": "reasoning"} if name == Type.REASONING_MESSAGE_START else {}
        return {**event, "type": name, "messageId": key, **role}

    def _expanded(self, event: Wire) -> list[Wire]:
        """Expand a chunk; what does not belong together is told apart, so that nothing is lost."""
        for _ in range(len(event) + 4):
            try:
                return self._expander.feed(event, self.index)
            except Unfit as error:
                self.remarks.append(error.remark)
                name = error.remark.pointer[1:]
                if error.remark.rule == CONFLICT:
                    event = {key: value for key, value in event.items() if key != name}
                elif error.remark.rule == AMBIGUOUS:
                    event = {**event, "toolCallId" if event["type"] == Type.TOOL_CALL_CHUNK else "messageId": f"agui-{self.index}"}
                else:
                    event = {**event, name: f"agui-{self.index}" if name.endswith("Id") else ""}
        return []

    # --- what it says -----------------------------------------------------------------------

    def replay(self, event: Wire) -> None:
        """Translate an event that a snapshot stands for."""
        self._tell(event)

    def _tell(self, event: Wire) -> None:
        if not self.belongs(event):
            self.release()
        if event["type"] in {Type.RUN_FINISHED, Type.RUN_ERROR}:
            self.give_hints()
        own = event.get("metadata", {}).get(NAMESPACE)
        if is_object(own) and self._own(event, own):
            return
        say = _SAID.get(event["type"])
        if say is not None:
            say(self, event)
        else:
            self.keep(event)

    def _own(self, event: Wire, own: Wire) -> bool:
        """Give back what our encoder has said. Tells whether it was that."""
        if own.get("copy") is True:
            if event["type"] in {Type.RUN_FINISHED, Type.RUN_ERROR}:
                self.lanes.clear()
            return True
        carried = event.get("value") if own.get("carries") is True else own.get("event")
        opens = event["type"] in {Type.RUN_STARTED, Type.SUBAGENT_STARTED}
        if opens and isinstance(own.get("resumed"), str) and own["resumed"]:
            self._enter(event, own["resumed"])
            return True
        if not is_object(carried) or not isinstance(carried.get("type"), str) or carried["type"] not in OURS:
            return False
        kind: type[msgspec.Struct] = getattr(structs, OURS[carried["type"]])
        fields = {key: copy_json(value) for key, value in carried.items() if key not in {"type", "id"}}
        if own.get("carries") is not True:
            fields |= {name: copy_json(said) for name, path in NATIVE.get(kind, ()) if (said := value_at(event, f"/{path}")) is not None}
        reply_id = fields.get("reply_id")
        if isinstance(reply_id, str) and reply_id:
            self._learn(event, kind, fields, reply_id)
        if isinstance(fields.get("created_at"), str):
            self.now = fields["created_at"]
        self.add(kind, **fields)
        return True

    def _learn(self, event: Wire, kind: type[Any], fields: Wire, reply_id: str) -> None:
        """Learn what ids of AG-UI stand for."""
        if kind is structs.ReplyStartEvent and event["type"] != Type.CUSTOM:
            self._enter(event, reply_id)
        elif kind is structs.ReplyEndEvent and event["type"] in {Type.RUN_FINISHED, Type.RUN_ERROR}:
            self.lanes.clear()
        elif kind in _OPENS and event["type"] in {Type.TEXT_MESSAGE_START, Type.REASONING_MESSAGE_START} and fields.get("block_id"):
            self.seen.add(event["messageId"])
            opened = _OPENS[kind]
            self.blocks[opened, event["messageId"]] = Block(Lane(reply_id, ""), str(fields["block_id"]), opened)
        elif kind is structs.ToolCallStartEvent and event["type"] == Type.TOOL_CALL_START and fields.get("tool_call_id"):
            call = Call(Lane(reply_id, ""), str(fields["tool_call_id"]), event["toolCallName"], answered=True, open=True)
            self.calls[event["toolCallId"]] = call

    def _enter(self, event: Wire, reply_id: str) -> None:
        """Let what says nothing else belong to a reply of ours from now on."""
        if event["type"] == Type.RUN_STARTED:
            self.lanes.clear()
            self.session = event["threadId"]
        self.unique("reply", reply_id)
        self.lanes[event.get("subagentRunId")] = Lane(reply_id, self.session)


_SAID: dict[str, Callable[[AguiDecoder, Wire], None]] = {
    Type.RUN_STARTED: AguiDecoder.run_started,
    Type.RUN_FINISHED: AguiDecoder.run_finished,
    Type.RUN_ERROR: AguiDecoder.run_failed,
    Type.TEXT_MESSAGE_START: lambda self, event: self.started(event, TEXT),
    Type.TEXT_MESSAGE_CONTENT: lambda self, event: self.grew(event, TEXT),
    Type.TEXT_MESSAGE_END: lambda self, event: self.closed(event, TEXT),
    Type.REASONING_MESSAGE_START: lambda self, event: self.started(event, THINKING),
    Type.REASONING_MESSAGE_CONTENT: lambda self, event: self.grew(event, THINKING),
    Type.REASONING_MESSAGE_END: lambda self, event: self.closed(event, THINKING),
    Type.REASONING_ENCRYPTED_VALUE: AguiDecoder.encrypted,
    Type.TOOL_CALL_START: AguiDecoder.call_started,
    Type.TOOL_CALL_ARGS: AguiDecoder.call_grew,
    Type.TOOL_CALL_END: AguiDecoder.call_ended,
    Type.TOOL_CALL_RESULT: AguiDecoder.result,
    Type.MESSAGES_SNAPSHOT: AguiDecoder.snapshot,
    Type.SUBAGENT_STARTED: AguiDecoder.agent_started,
    Type.SUBAGENT_FINISHED: AguiDecoder.agent_finished,
    Type.SUBAGENT_ERROR: AguiDecoder.agent_failed,
    Type.CUSTOM: AguiDecoder.custom,
}


def _is_time(value: Any) -> bool:
    shape: Any = EVENTS[Type.RAW].optional["timestamp"]
    return value is not None and shape.fits(value)


def _well_formed(value: Any) -> Any:
    """Give a value with U+FFFD in place of lone surrogates."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if is_object(value):
        return {_well_formed(key): _well_formed(item) for key, item in value.items()}
    return [_well_formed(item) for item in value] if is_array(value) else value
