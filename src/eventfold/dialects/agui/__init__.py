"""
AG-UI: the protocol between agents and user interfaces (ag-ui-protocol), version 1.0.

A run is a reply. What comes in is judged by the rules of AG-UI's own client, and read as well as it can be; what goes out is
accepted by that client whatever the stream, and comes back whole by what travels in `metadata.eventfold`. `shapes` says what
events hold, `chunks` what chunks stand for, `verify` their order; `decoder` reads, `encoder` writes, `messages` does both for
stored messages.

Losses: only two of what others send (see LOSSES); nothing of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.translation import COMMON, Dialect, Row, rule
from eventfold.jsonvalue import is_array, is_object

from . import chunks, decoder, lanes, verify
from .calls import MERGED
from .encoder import AguiEncoder
from .messages import read_messages, write_messages
from .shapes import EVENTS, RETIRED, Type

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Our class -> the AG-UI event that carries it, both ways.
BOTH: dict[type[Any], tuple[str, ...]] = {
    structs.ReplyStartEvent: (Type.RUN_STARTED, Type.SUBAGENT_STARTED),
    structs.ReplyEndEvent: (Type.RUN_FINISHED, Type.RUN_ERROR, Type.SUBAGENT_FINISHED, Type.SUBAGENT_ERROR),
    structs.TextBlockStartEvent: (Type.TEXT_MESSAGE_START,),
    structs.TextBlockDeltaEvent: (Type.TEXT_MESSAGE_CONTENT,),
    structs.TextBlockEndEvent: (Type.TEXT_MESSAGE_END,),
    structs.ThinkingBlockStartEvent: (Type.REASONING_MESSAGE_START,),
    structs.ThinkingBlockDeltaEvent: (Type.REASONING_MESSAGE_CONTENT,),
    structs.ThinkingBlockEndEvent: (Type.REASONING_MESSAGE_END,),
    structs.ToolCallStartEvent: (Type.TOOL_CALL_START,),
    structs.ToolCallDeltaEvent: (Type.TOOL_CALL_ARGS,),
    structs.ToolCallEndEvent: (Type.TOOL_CALL_END,),
    structs.ToolResultEndEvent: (Type.TOOL_CALL_RESULT,),
    structs.CustomEvent: (Type.CUSTOM,),
}
#: Our class -> the AG-UI event that carries it; what others send in it is read as the next table says.
OUT: dict[type[Any], tuple[str, ...]] = {
    structs.ModelCallStartEvent: (Type.STEP_STARTED,),
    structs.ModelCallEndEvent: (Type.STEP_FINISHED,),
    structs.DataBlockStartEvent: (Type.ACTIVITY_SNAPSHOT,),
    structs.DataBlockEndEvent: (Type.ACTIVITY_SNAPSHOT,),
    structs.HintBlockEvent: (Type.ACTIVITY_SNAPSHOT,),
}
#: Our classes that AG-UI has no event for. They go out whole, as CUSTOM `eventfold.<TYPE>`.
CARRIED: tuple[type[Any], ...] = (
    structs.DataBlockDeltaEvent,
    structs.ToolResultStartEvent,
    structs.ToolResultTextDeltaEvent,
    structs.ToolResultDataDeltaEvent,
    structs.RequireUserConfirmEvent,
    structs.RequireExternalExecutionEvent,
    structs.UserConfirmResultEvent,
    structs.ExternalExecutionResultEvent,
    structs.UserInterruptEvent,
    structs.ExceedMaxItersEvent,
    structs.RequestStopEvent,
    structs.AllToolsDeniedEvent,
    structs.SubagentExposedEvent,
)
#: AG-UI event -> what else it means when others send it.
IN: dict[str, tuple[type[Any], ...]] = {
    Type.RUN_STARTED: (structs.UserConfirmResultEvent, structs.ExternalExecutionResultEvent),
    Type.RUN_FINISHED: (
        structs.ModelCallStartEvent,
        structs.ModelCallEndEvent,
        structs.RequireUserConfirmEvent,
        structs.RequireExternalExecutionEvent,
    ),
    Type.RUN_ERROR: (structs.ModelCallStartEvent, structs.ModelCallEndEvent),
    Type.SUBAGENT_FINISHED: (structs.RequireExternalExecutionEvent,),
    Type.TEXT_MESSAGE_END: (structs.HintBlockEvent,),
    Type.TEXT_MESSAGE_CHUNK: (structs.TextBlockStartEvent, structs.TextBlockDeltaEvent),
    Type.TOOL_CALL_CHUNK: (structs.ToolCallStartEvent, structs.ToolCallDeltaEvent),
    Type.REASONING_MESSAGE_CHUNK: (structs.ThinkingBlockStartEvent, structs.ThinkingBlockDeltaEvent),
    Type.TOOL_CALL_RESULT: (structs.ToolResultStartEvent, structs.ToolResultTextDeltaEvent, structs.ToolResultDataDeltaEvent),
    Type.MESSAGES_SNAPSHOT: (
        structs.TextBlockStartEvent,
        structs.TextBlockDeltaEvent,
        structs.TextBlockEndEvent,
        structs.ThinkingBlockStartEvent,
        structs.ThinkingBlockDeltaEvent,
        structs.ToolCallStartEvent,
        structs.ToolCallDeltaEvent,
        structs.ToolResultStartEvent,
        structs.ToolResultTextDeltaEvent,
        structs.ToolResultEndEvent,
    ),
}
#: AG-UI events that are kept whole, as CUSTOM `agui.<TYPE>`, when others send them.
KEPT = (
    Type.STEP_STARTED,
    Type.STEP_FINISHED,
    Type.STATE_SNAPSHOT,
    Type.STATE_DELTA,
    Type.MESSAGES_SNAPSHOT,
    Type.ACTIVITY_SNAPSHOT,
    Type.ACTIVITY_DELTA,
    Type.RAW,
    Type.REASONING_START,
    Type.REASONING_END,
)
_NOTES: dict[str, str] = {
    Type.SUBAGENT_STARTED: "a reply that begins while another one is busy",
    Type.SUBAGENT_FINISHED: "its end",
    Type.SUBAGENT_ERROR: "its end with an error, or interrupted",
    Type.RUN_ERROR: "finished_reason error",
    Type.STEP_STARTED: "stepName is unique; the model's name is in the metadata",
    Type.TOOL_CALL_RESULT: "its START and deltas go before it, carried",
    Type.ACTIVITY_SNAPSHOT: "activityType eventfold.data or eventfold.hint, the block is the content",
}

MAPPING = (
    *(Row(ours.__name__, theirs, "both", _NOTES.get(theirs, "")) for ours, names in BOTH.items() for theirs in names),
    *(Row(ours.__name__, theirs, "out", _NOTES.get(theirs, "")) for ours, names in OUT.items() for theirs in names),
    *(Row(ours.__name__, Type.CUSTOM, "both", f"name eventfold.{ours.__struct_config__.tag}, the event is the value") for ours in CARRIED),
    *(Row(ours.__name__, theirs, "in", "of others") for theirs, classes in IN.items() for ours in classes),
    *(Row("CustomEvent", theirs, "in", f"of others; name agui.{theirs}, the event is the value") for theirs in KEPT),
    Row("CustomEvent", Type.REASONING_ENCRYPTED_VALUE, "in", "of others; or `signature` in the extra of the END that follows"),
    Row("ThinkingBlock.signature, ToolCallBlock.signature", Type.REASONING_ENCRYPTED_VALUE, "both"),
    Row("CustomEvent", "anything else", "in", "name agui.<type>, the event is the value"),
    Row("any event where it is out of order", Type.CUSTOM, "both", "name eventfold.<TYPE>, the event is the value"),
    Row("Msg.structured_output", "RUN_FINISHED.result", "both", "in: if it is an object"),
    Row("Msg.usage", "RUN_FINISHED.usage", "both", "out: the sum of each model"),
    Row("finished_reason interrupted, exceed_max_iters", "RUN_FINISHED.outcome cancelled", "both", "in: interrupted"),
    Row("a reply that waits for the user", "RUN_FINISHED.outcome interrupt", "both"),
    Row("a reply that waits for results", "RUN_FINISHED.outcome.pendingToolCallIds", "both", "in: or any call without a result"),
    Row("UserMsg, AssistantMsg, SystemMsg, ToolMsg", "Message[]", "both", "see `messages`"),
)

LOSSES: Mapping[str, tuple[str, ...]] = {
    lanes.TIMELESS: ("/created_at", "/finished_at", "/content/*/created_at", "/content/*/finished_at"),
    MERGED: ("/content/*/output/*",),
}


def _open(words: str) -> dict[str, str]:
    return rule(
        "error",
        f"{words} begins that is open",
        "The client ends the stream here. What is open goes on; the second beginning is kept as CUSTOM.",
    )


def _absent(words: str) -> dict[str, str]:
    return rule(
        "error",
        f"{words} goes on or ends that is not open",
        "The client ends the stream here. Content begins a block of its own, so that it is not lost.",
    )


_FATAL = "The client ends the stream here. It is read all the same, as well as it can be."
RULES: Mapping[str, Mapping[str, str]] = {
    **COMMON,
    verify.NOT_STARTED: rule("error", "A stream does not begin with RUN_STARTED or RUN_ERROR", _FATAL),
    verify.AFTER_ERROR: rule("error", "Something follows RUN_ERROR that is no new run", _FATAL),
    verify.AFTER_FINISH: rule("error", "Something follows RUN_FINISHED that is neither a new run nor a late error", _FATAL),
    verify.NESTED: rule("error", "A run begins before the one before it has ended", _FATAL),
    "agui.text-already-open": _open("A text message"),
    "agui.text-not-open": _absent("A text message"),
    "agui.text-end-not-open": _absent("A text message"),
    "agui.call-already-open": _open("A tool call"),
    "agui.call-args-not-open": _absent("A tool call"),
    "agui.call-end-not-open": _absent("A tool call"),
    "agui.span-already-open": _open("A reasoning span"),
    "agui.span-not-open": _absent("A reasoning span"),
    "agui.reasoning-already-open": _open("A reasoning message"),
    "agui.reasoning-not-open": _absent("A reasoning message"),
    "agui.reasoning-end-not-open": _absent("A reasoning message"),
    verify.STEP_OPEN: rule("error", "A step begins that is active", _FATAL),
    verify.STEP_NOT_OPEN: rule("error", "A step ends that was not started", _FATAL),
    verify.STEP_OTHER: rule("error", "A step is ended by another agent than the one that started it", _FATAL),
    verify.OPEN_AT_END: rule("error", "A run finishes while something in it is open", _FATAL),
    verify.AGENT_OPEN: rule("error", "A sub-agent begins that is active", _FATAL),
    verify.AGENT_REUSED: rule("error", "A sub-agent begins that has ended", "An id stands for one invocation. " + _FATAL),
    verify.AGENT_NO_PARENT: rule("error", "The parent of a sub-agent was not started in the run", _FATAL),
    verify.AGENT_NOT_OPEN: rule("error", "A sub-agent ends that is not active", _FATAL),
    verify.ATTRIBUTION: rule("error", "Something goes on under another agent than the one that began it", _FATAL),
    verify.CALL_OWNER: rule("error", "A tool call is another agent's than the message that carries it", _FATAL),
    verify.UNFINISHED: rule(
        "error",
        "The stream ends without the end of its run",
        "AG-UI: such a run has no outcome and must not be reported as a success. The client does not notice. The reply stays open.",
    ),
    chunks.UNOPENED: rule("error", "A chunk opens something without saying what", _FATAL),
    chunks.CONFLICT: rule("error", "A chunk says something else than the one that opened", _FATAL),
    chunks.AMBIGUOUS: rule("error", "A chunk could belong to several agents", _FATAL),
    decoder.NULL: rule("error", "An optional field is null", "AG-UI leaves out what is absent. The client ends the stream here."),
    decoder.EXTRA: rule(
        "note", "A field or a member of a union is unknown", "The client takes it off, with a warning. It is kept in a CUSTOM event."
    ),
    decoder.OLD: rule("warning", "An event was retired in AG-UI 1.0", "The client translates it for old agents, and will not for ever."),
    decoder.TEXTUAL: rule("error", "Text holds a lone surrogate", "It cannot be written as UTF-8. U+FFFD stands in its place."),
}


def recognise(value: Any) -> bool:
    """Tell whether a value is the first event of a stream, or a list of messages, of AG-UI."""
    if is_array(value):
        return bool(value) and all(map(_is_message, value))
    if not is_object(value):
        return False
    kind = value.get("type")
    if not isinstance(kind, str) or "created_at" in value:
        return _is_message(value)
    return (kind in EVENTS and kind != Type.CUSTOM and EVENTS[kind].required.keys() <= value.keys()) or kind in RETIRED


def _is_message(value: Any) -> bool:
    """Tell whether a value is a message that only AG-UI writes: with an id, and what ours and others' do not have."""
    if not is_object(value) or not isinstance(value.get("id"), str) or "created_at" in value or "type" in value:
        return False
    role = value.get("role")
    text = isinstance(value.get("content"), str)
    calls = role == "assistant" and is_array(value.get("toolCalls"))
    return (
        calls or (role == "tool" and isinstance(value.get("toolCallId"), str)) or (str(role) in {"activity", "reasoning", "user"} and text)
    )


DIALECT = Dialect(
    name="agui",
    title="AG-UI 1.0 (@ag-ui/client 1.0.0)",
    recognise=recognise,
    decoder=decoder.AguiDecoder,
    encoder=AguiEncoder,
    read_messages=read_messages,
    write_messages=write_messages,
    mapping=MAPPING,
    losses=LOSSES,
    rules=RULES,
)
