"""
A stream of ours -> the MCP messages of its tool calls, and notifications of ours for what is no tool call.

Law: a tools/call goes out when the tool begins to run, with the arguments that it runs with, and is answered or cancelled; a call
that never ran (parked, denied, cut short) or whose arguments are no JSON object is no message of MCP. Whatever happens, reading the
messages back gives events that fold to the same message, because what cannot stand in a message of MCP in the usual order is told
by notifications, event by event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.translation import NAMESPACE, Encoder, fields_of
from eventfold.jsonvalue import is_object

from .calls import Call, Output
from .notes import object_of, text_of
from .results import to_result
from .shapes import CALL_METHOD, EVENT_METHOD, META

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventfold.shape import Wire

#: Losses: nothing is missing from what comes back, but who speaks MCP does not see it.
HIDDEN = "text, thinking, data and hints have no place among tool calls: only eventfold reads the notifications that carry them"
NO_OBJECT = "arguments that are no JSON object cannot be sent to a tool: call and result are carried by notifications"

#: What a header says of an event.
_HEADER = ("id", "created_at", "metadata", "source_path", "extra")
_HIDDEN = (structs.TextBlockStartEvent, structs.ThinkingBlockStartEvent, structs.DataBlockStartEvent, structs.HintBlockEvent)
#: States of a result that a message of MCP can bring.
_RUNNING = "running"


class McpEncoder(Encoder):
    """Says events as messages of MCP."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[str, dict[str, Call]] = {}
        self.requests = 0
        self._said: set[str] = set()

    def encode(self, event: Any) -> Iterator[Wire]:
        """Say an event: at once, or when its call runs."""
        handle = _HANDLERS.get(event.__class__)
        if handle is not None:
            yield from handle(self, event)
            return
        if isinstance(event, _HIDDEN):
            self._lose_once(HIDDEN)
        yield _told(event)

    def end(self) -> Iterator[Wire]:
        """Say what was held back."""
        for calls in self.calls.values():
            for call in calls.values():
                yield from self._release(call)
        self.calls.clear()

    def _lose_once(self, reason: str) -> None:
        if reason not in self._said:
            self._said.add(reason)
            self.lose(reason)

    def _call(self, event: Any) -> Call | None:
        return self.calls.get(event.reply_id, {}).get(event.tool_call_id)

    def _release(self, call: Call) -> Iterator[Wire]:
        """Tell by notifications what was held back; from now on, this half of the call is told so."""
        yield from map(_told, call.release())

    def _give_up(self, call: Call, event: Any) -> Iterator[Wire]:
        """Tell a call by notifications alone, from an event on that is out of order."""
        yield from self._release(call)
        call.odd = call.odd or call.request is None
        yield _told(event)

    # --- the arguments --------------------------------------------------------------------------

    def start(self, event: Any) -> Iterator[Wire]:
        """Tell that a call begins, so that its block stands where it does."""
        call = self._call(event)
        if call is not None:
            yield from self._give_up(call, event)
            return
        self.calls.setdefault(event.reply_id, {})[event.tool_call_id] = Call(event.reply_id, event.tool_call_id, event.tool_call_name)
        yield _told(event)

    def argue(self, event: Any) -> Iterator[Wire]:
        """Hold back the arguments, until the call runs."""
        call = self._call(event)
        if call is None:
            yield _told(event)
        elif call.end is not None or call.odd or call.told or event.id in call.seen:
            yield from self._give_up(call, event)
        else:
            call.hold(event)
            if isinstance(event, structs.ToolCallEndEvent):
                call.end = event
            else:
                call.pieces.append(event.delta)

    def ask(self, event: Any) -> Iterator[Wire]:
        """Tell that a user is asked. The call is not sent before the answer."""
        for item in event.tool_calls:
            call = self.calls.get(event.reply_id, {}).get(_field(item, "id"))
            if call is not None:
                yield from self._release(call)
                call.odd = call.odd or call.end is None
                call.asked = call.request is None if call.asked is None else call.asked
        yield _told(event)

    def answer(self, event: Any) -> Iterator[Wire]:
        """Tell the answer, after what was held back of its calls. What is sent is the call as the user confirmed it; one denied is not."""
        answered = [
            (self.calls.get(event.reply_id, {}).get(_field(_field(item, "tool_call"), "id")), item) for item in event.confirm_results
        ]
        for call, _ in answered:
            if call is not None:
                yield from self._release(call)
        yield _told(event)
        for call, item in answered:
            if call is not None:
                block = _field(item, "tool_call")
                call.answer(confirmed=_field(item, "confirmed"), name=_field(block, "name"), text=_field(block, "input"))

    def hand_out(self, event: Any) -> Iterator[Wire]:
        """Tell that calls are executed outside, and send them."""
        calls = [self.calls.get(event.reply_id, {}).get(_field(item, "id")) for item in event.tool_calls]
        found = [call for call in dict.fromkeys(calls) if call is not None]
        for call in found:
            yield from self._release(call)
            call.odd = call.odd or call.end is None
        yield _told(event)
        for call in found:
            call.asked = False
            if call.ready:
                yield from self._send(call)

    def _send(self, call: Call, start: Any = None) -> Iterator[Wire]:
        """Send a call, if it can be sent."""
        text = "".join(call.pieces)
        arguments = object_of(text)
        if arguments is None:
            call.odd = True
            self._lose_once(NO_OBJECT)
            return
        self.requests += 1
        call.request = self.requests
        note: Wire = {"reply_id": call.reply_id, "tool_call_id": call.id}
        if not call.told:
            note["end"] = _header(call.end)
            call.held, call.told = [], True
            if text_of(arguments) != text:
                note["input"] = text
        if start is not None:
            note["start"] = {**_header(start), "tool_call_name": start.tool_call_name}
        params = {"name": call.name, **({"arguments": arguments} if text else {}), META: {NAMESPACE: note}}
        yield {"jsonrpc": "2.0", "id": call.request, "method": CALL_METHOD, "params": params}

    # --- the result -----------------------------------------------------------------------------

    def run(self, event: Any) -> Iterator[Wire]:
        """Send the call: its tool begins to run."""
        call = self._call(event)
        if call is None:
            yield _told(event)
            return
        if call.ready:
            call.asked = False
            yield from self._send(call, event)
            if call.request is not None:
                call.output = Output(call.id)
                return
        elif call.request is not None and call.output is None:
            call.output = Output(call.id)
            yield _told(event)
            return
        yield from self._give_up(call, event)

    def grow(self, event: Any) -> Iterator[Wire]:
        """Hold back what a result gets, until it is whole."""
        call = self._call(event)
        if call is None or call.output is None:
            yield _told(event)
            return
        again = event.id in call.seen
        if again or not call.output.append(event) or call.output_told:
            call.seen.add(event.id)
            yield from self._give_up(call, event)
        else:
            call.hold(event)

    def finish_result(self, event: Any) -> Iterator[Wire]:
        """Answer the request, when the result is whole."""
        call = self._call(event)
        if call is None or call.output is None or call.request is None or event.state == _RUNNING:
            yield from self._give_up(call, event) if call is not None else (_told(event),)
            return
        block = call.output.block(call, event)
        if call.output_told:
            yield from self._give_up(call, event)
            yield self._respond(call, block, {"told": True})
        else:
            note = {"end": {key: item for key, item in _header(event).items() if key != "metadata"}}
            yield self._respond(call, block, note)

    def receive(self, event: Any) -> Iterator[Wire]:
        """Answer requests with results that come whole; what else there is of them is told."""
        wire = fields_of(event)
        blocks: list[Wire] = wire["execution_results"]
        calls = [self.calls.get(event.reply_id, {}).get(block["id"]) for block in blocks]
        waiting = [call for call in dict.fromkeys(calls) if call is not None and call.request is not None]
        whole = all(block.get("state", _RUNNING) != _RUNNING for block in blocks) and all(call.output is None for call in waiting)
        if blocks and whole and len(waiting) == len(blocks):
            for place, (call, block) in enumerate(zip(waiting, blocks, strict=True)):
                header = _header(event)
                header["id"] += f"/{place}" if place else ""
                yield self._respond(call, block, {"external": header, "name": block["name"]})
            return
        for call in calls:
            if call is not None:
                yield from self._release(call)
                call.odd = call.odd or call.request is None
        yield _told(event)
        for call, block in zip(calls, blocks, strict=True):
            if call is None or call.request is None:
                continue
            if call.output is None and block.get("state", _RUNNING) != _RUNNING:
                yield self._respond(call, block, {"told": True})
                continue
            if call.output is None:
                call.output = Output(call.id)
            call.output_told = True
            call.output.fill(block)

    def _respond(self, call: Call, block: Wire, note: Wire) -> Wire:
        """Answer the request of a call."""
        result = to_result(block).value
        result[META][NAMESPACE] |= note
        request, call.request = call.request, None
        del self.calls[call.reply_id][call.id]
        return {"jsonrpc": "2.0", "id": request, "result": result}

    def close(self, event: Any) -> Iterator[Wire]:
        """Tell what was held back and the end of the reply; what still runs is cancelled."""
        calls = self.calls.pop(event.reply_id, {})
        for call in calls.values():
            yield from self._release(call)
        yield _told(event)
        for call in calls.values():
            if call.request is not None:
                params = {"requestId": call.request, "reason": "the reply has ended", META: {NAMESPACE: {"told": True}}}
                yield {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


_HANDLERS: dict[type, Callable[[McpEncoder, Any], Iterator[Wire]]] = {
    structs.ToolCallStartEvent: McpEncoder.start,
    structs.ToolCallDeltaEvent: McpEncoder.argue,
    structs.ToolCallEndEvent: McpEncoder.argue,
    structs.RequireUserConfirmEvent: McpEncoder.ask,
    structs.UserConfirmResultEvent: McpEncoder.answer,
    structs.RequireExternalExecutionEvent: McpEncoder.hand_out,
    structs.ExternalExecutionResultEvent: McpEncoder.receive,
    structs.ToolResultStartEvent: McpEncoder.run,
    structs.ToolResultTextDeltaEvent: McpEncoder.grow,
    structs.ToolResultDataDeltaEvent: McpEncoder.grow,
    structs.ToolResultEndEvent: McpEncoder.finish_result,
    structs.ReplyEndEvent: McpEncoder.close,
}


def _told(event: Any) -> Wire:
    """Tell an event of ours as it is."""
    return {"jsonrpc": "2.0", "method": EVENT_METHOD, "params": {"event": fields_of(event)}}


def _header(event: Any) -> Wire:
    wire = fields_of(event)
    return {key: wire[key] for key in _HEADER if key in wire}


def _field(item: Any, name: str) -> Any:
    """Give a field of an item, which is a dict where a struct would lose something."""
    return item[name] if is_object(item) else getattr(item, name)
