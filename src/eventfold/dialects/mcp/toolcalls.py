"""
The tools/call requests of MCP and what answers them -> tool calls and results of ours.

Law: a result is streamed where deltas carry it, else it comes whole from outside; either way it folds to what `from_result` reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.translation import UNFIT
from eventfold.jsonvalue import copy_json, is_object
from eventfold.unfold import streamable

from .notes import CallNote, Header, ResultNote, note_of, text_of
from .results import deltas_of, read_result
from .rules import RETRY_WITHOUT_REQUEST, STATE_NOT_ECHOED
from .session import ALLOWED, ASKING, FINISHED, PENDING, SUBMITTED, Call, Pending
from .shapes import Call as CallParams
from .shapes import Failure, InputRequired, fits, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

    from .decoder import McpDecoder
    from .results import Reading
    from .session import RequestId

#: Parameters of tools/call that an event of ours shows.
_SHOWN = frozenset({"name", "arguments"})


class ToolCalls:
    """Reads the tool calls of a decoder's messages."""

    def __init__(self, decoder: McpDecoder) -> None:
        self.decoder = decoder

    # --- calls ----------------------------------------------------------------------------------

    def request(self, pending: Pending, request_id: RequestId, value: Wire) -> Iterator[Any]:
        """Read a tools/call: a call, or the retry of one that was parked. Raises Unfit."""
        params = read(CallParams, value, "/params")
        note = note_of(value, CallNote)
        if note is not None and note.reply_id and note.tool_call_id:
            yield from self._ours(pending, params, note)
            return
        if params.input_responses is not None or params.request_state is not None:
            call = self._parked(params)
            if call is not None:
                pending.call = call
                yield from self._resume(call, params, value)
                return
            self.decoder.remark(RETRY_WITHOUT_REQUEST, "no result has asked for this", "/params")
        yield from self._begin()
        session = self.decoder.session
        text = text_of(params.arguments or {})
        call = pending.call = Call(session.reply_id, session.call_id(request_id), params.name, text)
        session.open.add(call.id)
        more = {key: copy_json(item) for key, item in value.items() if key not in _SHOWN}
        yield from self._say_call(call, {"x_mcp": more} if more else None)

    def _begin(self) -> Iterator[Any]:
        session = self.decoder.session
        if not session.begun:
            session.begun = True
            yield self.decoder.event(
                structs.ReplyStartEvent, reply_id=session.reply_id, session_id=session.reply_id, name=session.name, role="assistant"
            )

    def _say_call(self, call: Call, extra: Wire | None) -> Iterator[Any]:
        event, place = self.decoder.event, {"reply_id": call.reply_id, "tool_call_id": call.id}
        yield event(structs.ToolCallStartEvent, **place, tool_call_name=call.name)
        yield event(structs.ToolCallDeltaEvent, **place, delta=call.input)
        yield event(structs.ToolCallEndEvent, **place, extra=extra)

    def _ours(self, pending: Pending, params: CallParams, note: CallNote) -> Iterator[Any]:
        """Give back the events that a request of ours stands for."""
        text = note.input if note.input is not None else "" if params.arguments is None else text_of(params.arguments)
        call = pending.call = Call(note.reply_id, note.tool_call_id, params.name, text, note)
        place = {"reply_id": call.reply_id, "tool_call_id": call.id}
        if note.end is not None:
            if text:
                yield self._event(structs.ToolCallDeltaEvent, _part(note.end, "input"), **place, delta=text)
            yield self._event(structs.ToolCallEndEvent, note.end, **place)
        if note.start is not None:
            yield self._event(structs.ToolResultStartEvent, note.start, **{"tool_call_name": params.name, **place})

    def _event(self, kind: type[Any], header: Header, **fields: Any) -> Any:
        """Make an event with a header that we have written."""
        event = self.decoder.event(kind, **{**fields, **header.fields()})
        self.decoder.now = event.created_at
        return event

    # --- results --------------------------------------------------------------------------------

    def response(self, pending: Pending, value: Wire) -> Iterator[Any]:
        """Read what answers a call."""
        call = pending.call
        assert call is not None  # noqa: S101  who calls has looked
        if "error" in value:
            yield from self.finish(call, self._failure(call, value["error"]))
            return
        result = value["result"]
        note = note_of(result, ResultNote)
        if call.note is not None and note is not None and (note.told or note.end or note.external):
            yield from self._our_result(call, result, note)
        elif is_object(result) and "content" not in result and result.get("resultType") == "input_required":
            yield from self._park(call, result)
        elif is_object(result) and "content" not in result and is_object(result.get("task")):
            yield from self._submit(call, result)
            task_id = result["task"].get("taskId")
            if isinstance(task_id, str):
                self.decoder.session.tasks[task_id] = call
        else:
            yield from self.finish(call, self._read(read_result(result, call.id, call.name)))

    def _read(self, reading: Reading, pointer: str = "/result") -> Wire:
        for remark in reading.remarks:
            self.decoder.remark(remark.rule, remark.detail, pointer + remark.pointer)
        return reading.block

    def _failure(self, call: Call, error: Any) -> Wire:
        """Read a JSON-RPC error as the result of a call: the tool did not run, or not to its end."""
        if not fits(Failure, error):
            self.decoder.remark(UNFIT, "an error has a code and a message", "/error")
        message = error.get("message") if is_object(error) else None
        text = message if isinstance(message, str) else text_of(error)
        output = [{"type": "text", "id": f"{call.id}/0", "text": text}]
        block: Wire = {"type": "tool_result", "id": call.id, "name": call.name, "output": output, "state": "error"}
        return {**block, "metadata": {"mcp": {"error": copy_json(error)}}}

    def finish(self, call: Call, block: Wire) -> Iterator[Any]:
        """Give a call its result."""
        event, place = self.decoder.event, {"reply_id": call.reply_id, "tool_call_id": call.id}
        if call.note is None:
            self.decoder.session.open.discard(call.id)
        if streamable(block):
            if call.note is None or call.note.start is None:
                yield event(structs.ToolResultStartEvent, **place, tool_call_name=call.name)
            for delta in deltas_of(block):
                kind = structs.ToolResultTextDeltaEvent if "delta" in delta else structs.ToolResultDataDeltaEvent
                yield event(kind, **place, **delta)
            yield event(structs.ToolResultEndEvent, **place, state=block["state"], metadata=block.get("metadata"))
        else:
            if call.stage != SUBMITTED:
                yield event(structs.RequireExternalExecutionEvent, reply_id=call.reply_id, tool_calls=[call.block()])
            yield event(structs.ExternalExecutionResultEvent, reply_id=call.reply_id, execution_results=[block])
        call.stage = FINISHED

    def _our_result(self, call: Call, result: Any, note: ResultNote) -> Iterator[Any]:
        """Give back the events that a result of ours stands for."""
        call.stage = FINISHED
        if note.told:
            return
        reading = read_result(result, call.id, call.name if note.name is None else note.name)
        block = self._read(reading)
        if reading.beside:
            yield self.decoder.custom("mcp.beside", {"tool_call_id": call.id, "_meta": reading.beside})
        place = {"reply_id": call.reply_id, "tool_call_id": call.id}
        if note.external is not None:
            yield self._event(structs.ExternalExecutionResultEvent, note.external, reply_id=call.reply_id, execution_results=[block])
        elif note.end is not None and not isinstance(block["output"], str):
            for number, delta in enumerate(deltas_of(block)):
                kind = structs.ToolResultTextDeltaEvent if "delta" in delta else structs.ToolResultDataDeltaEvent
                yield self._event(kind, _part(note.end, str(number)), **place, **delta)
            end = Header(id=note.end.id, created_at=note.end.created_at, source_path=note.end.source_path, metadata=block.get("metadata"))
            yield self._event(structs.ToolResultEndEvent, end, **place, state=block.get("state"))

    def orphan(self, call_id: str, value: Any, pointer: str) -> Iterator[Any]:
        """Keep a result whose request nobody has seen: a tool did run. The call is made up, without a name."""
        yield from self._begin()
        call = Call(self.decoder.session.reply_id, call_id, "", "{}")
        yield from self._say_call(call, {"x_mcp": {"unseen": True}})
        yield from self.finish(call, self._read(read_result(value, call_id, ""), pointer))

    def interrupt(self, call: Call, params: Wire) -> Iterator[Any]:
        """Read that a call was cancelled."""
        block: Wire = {"type": "tool_result", "id": call.id, "name": call.name, "output": [], "state": "interrupted"}
        yield from self.finish(call, {**block, "metadata": {"mcp": {"cancelled": copy_json(params)}}})

    # --- what is asked for in between -----------------------------------------------------------

    def awaited(self, method: str, params: Any) -> Call | None:
        """Give the call whose result a tasks/result asks for."""
        task_id = params.get("taskId") if method == "tasks/result" and is_object(params) else None
        return self.decoder.session.tasks.get(task_id) if isinstance(task_id, str) else None

    def _park(self, call: Call, result: Wire) -> Iterator[Any]:
        """Read a result that asks for more: of the user when it is an elicitation, else of the client."""
        required = read(InputRequired, result, "/result")
        call.input_requests, call.request_state = required.input_requests or {}, required.request_state
        if call not in self.decoder.session.parked:
            self.decoder.session.parked.append(call)
        asks = any(item.get("method") == "elicitation/create" for item in call.input_requests.values())
        if not asks or call.stage != PENDING:
            yield from self._submit(call, result)
            return
        call.stage = ASKING
        yield self.decoder.event(
            structs.RequireUserConfirmEvent, reply_id=call.reply_id, tool_calls=[call.block()], metadata={"mcp": copy_json(result)}
        )

    def _submit(self, call: Call, result: Wire) -> Iterator[Any]:
        """Say that something outside has to go on with a call."""
        if call.stage == SUBMITTED:
            yield self.decoder.custom("mcp.input_required", {"tool_call_id": call.id, "result": result})
            return
        call.stage = SUBMITTED
        yield self.decoder.event(
            structs.RequireExternalExecutionEvent, reply_id=call.reply_id, tool_calls=[call.block()], metadata={"mcp": copy_json(result)}
        )

    def _parked(self, params: CallParams) -> Call | None:
        """Find the call that a retry goes on with: by its state, or by what it answers."""
        keys = set(params.input_responses or {})
        calls = [call for call in self.decoder.session.parked if call.name == params.name]
        exact = [call for call in calls if call.request_state == params.request_state and keys <= set(call.input_requests)]
        near = [call for call in calls if keys & set(call.input_requests)]
        return next(iter([*exact, *near]), None)

    def _resume(self, call: Call, params: CallParams, value: Wire) -> Iterator[Any]:
        """Read a retry. A user who declines has answered the tool, and the tool decides: the call goes on."""
        self.decoder.session.parked.remove(call)
        if call.request_state != params.request_state:
            self.decoder.remark(STATE_NOT_ECHOED, "the state is not the one that the server gave", "/params/requestState")
        call.input = text_of(params.arguments or {})
        if call.stage == ASKING:
            call.stage = ALLOWED
            answer = {"confirmed": True, "tool_call": call.block()}
            yield self.decoder.event(
                structs.UserConfirmResultEvent, reply_id=call.reply_id, confirm_results=[answer], metadata={"mcp": copy_json(value)}
            )
        else:
            yield self.decoder.custom("mcp.input_responses", {"tool_call_id": call.id, "params": value})


def _part(header: Header, name: str) -> Header:
    """Derive the header of a delta from that of the end."""
    return Header(id=f"{header.id}/{name}" if header.id else None, created_at=header.created_at)
