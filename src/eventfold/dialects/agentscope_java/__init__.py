"""
AgentScope Java 2.0: its AgentEvents and Msgs, measured on 2.0.0 and read in the sources up to 2.0.2.

Nothing is lost: what Java's classes have no field for travels in their metadata below the key `eventfold`. A Java reader does
not see it, but keeps it. The page beside this module says what comes of a real agent's stream.
"""

from __future__ import annotations

from typing import Any

from eventfold_models import structs
from eventfold_models.tables import EVENTS

from eventfold.dialects.translation import COMMON, Dialect, Row, rule
from eventfold.jsonvalue import is_object

from .decoder import JavaDecoder
from .encoder import JavaEncoder
from .forms import AS_CUSTOM, FORMS, TYPES
from .frames import is_frame
from .messages import is_message, read_messages, write_messages

RULES = {
    **COMMON,
    "java.no-end": rule(
        "error",
        "An agent call has no AGENT_END",
        "An agent that fails says so by an error of its stream, which no event shows; a stream that was cut looks the same.",
    ),
    "java.not-started": rule(
        "error",
        "An event comes without AGENT_START",
        "The stream was not recorded from its start. A reply is begun where the first event stands, so that nothing is lost.",
    ),
    "java.after-end": rule(
        "error",
        "An event comes after AGENT_END",
        "AGENT_END is the last event of a call; what comes for its tools afterwards is given to the reply all the same.",
    ),
    "java.unknown-answer": rule(
        "warning",
        "An answer names no question",
        "An answer has the replyId of the event that asked. It is given to the reply that goes on.",
    ),
    "java.unseen-answer": rule(
        "warning",
        "A parked agent goes on, and no event says how it was answered",
        "AgentScope Java 2.0.0 writes no answers. What follows decides: a call that has a result was approved.",
    ),
    "java.result-differs": rule(
        "warning",
        "AGENT_RESULT is not what the events say",
        "A middleware or a provider changed one and not the other. The events are what a reader was shown, and they are kept.",
    ),
    "java.model-call-no-end": rule(
        "warning",
        "A model call has no MODEL_CALL_END",
        "The call failed and the agent answered all the same. It is ended without tokens.",
    ),
    "java.call-no-start": rule(
        "error",
        "Arguments come for a tool call that was not started",
        "A provider sent them under a placeholder name. The call is begun without a name, so that they are not lost.",
    ),
    "java.result-unseen": rule(
        "warning",
        "A tool call has a result that no event shows",
        "Java stores a result for every call, but writes no events for denied and broken off calls, and none for results from outside.",
    ),
    "java.result-no-state": rule(
        "warning",
        "A result ends without a state",
        "Java allows it. Its own readers take it for a success.",
    ),
    "java.repeated": rule(
        "warning",
        "An event comes twice",
        "The stream was joined from pieces that overlap. The second one is dropped.",
    ),
    "java.frame-gap": rule(
        "error", "Frames are missing", "The server keeps 256 frames for readers that connect again; older ones are gone."
    ),
    "java.frame-repeated": rule("note", "A frame comes twice", "A reader that connected again got it once more. It is dropped."),
}

_NOTES = {
    "ReplyStartEvent": "one for each call; a second one goes on with a parked reply",
    "ReplyEndEvent": "finished_reason, error and the rest in metadata.eventfold; Java readers see an AGENT_RESULT before it",
    "ModelCallEndEvent": "cachedTokens is a part of inputTokens, as cache_input_tokens is",
    "DataBlockStartEvent": "Java has no media type there",
    "ToolResultDataDeltaEvent": "Java sends a whole block",
    "HintBlockEvent": "source is hintSource",
    "ExternalExecutionResultEvent": "execution_results is toolResults",
    "UserInterruptEvent": "Java interrupts by a method call",
    "AllToolsDeniedEvent": "2.0.0 cannot read its own ALL_TOOLS_DENIED",
}


def _rows() -> tuple[Row, ...]:
    custom = FORMS[structs.CustomEvent].type
    customs = {kind.__name__ for kind in AS_CUSTOM}
    both = [
        Row(kind.__name__, form.type, "in" if kind in AS_CUSTOM else "both", _NOTES.get(kind.__name__, "") if kind not in AS_CUSTOM else "")
        for kind, form in FORMS.items()
    ]
    out = [Row(name, custom, "out", _NOTES[name]) for name in EVENTS.values() if name in customs]
    back = [Row(name, custom, "in", "as it was written") for name in EVENTS.values() if name in customs]
    return (
        *both,
        *out,
        *back,
        Row("ReplyEndEvent", "AGENT_RESULT", "out", "before the end, if only it tells Java readers why, or a structured output"),
        Row("CustomEvent", "AGENT_RESULT", "in", "agentscope_java.agent_result: the message, held against what was said"),
        Row(
            "CustomEvent",
            FORMS[structs.ToolResultEndEvent].type,
            "in",
            "agentscope_java.tool_result_suspended: running, with metadata of its own",
        ),
        Row("CustomEvent", "any other type", "in", "agentscope_java.unknown"),
        Row("the event in `payload`", "RemoteAgentEvent", "in", "frames of the Agent Protocol; older ones without payload, too"),
        Row("UserMsg, SystemMsg, ToolMsg", "Msg with role USER, SYSTEM, TOOL", "both"),
        Row("AssistantMsg", "Msgs with roles ASSISTANT and TOOL", "both", "one ASSISTANT a model call, one TOOL a result"),
        Row("ToolCallBlock.input", "tool_use: content, input", "both", "the raw text; the object where the text is not valid"),
        Row("created_at", "timestamp", "both", "without offset there"),
    )


def recognise(value: Any) -> bool:
    """Tell whether a value is surely of AgentScope Java: an event with createdAt, a frame, or a message with a role in capitals."""
    if not is_object(value):
        return False
    event = (
        isinstance(value.get("type"), str)
        and value["type"] in TYPES
        and isinstance(value.get("createdAt"), str)
        and "created_at" not in value
    )
    frame = is_frame(value) and isinstance(value.get("taskId"), str)
    return event or frame or is_message(value)


DIALECT = Dialect(
    name="agentscope_java",
    title="AgentScope Java 2.0.0 to 2.0.2",
    recognise=recognise,
    decoder=JavaDecoder,
    encoder=JavaEncoder,
    read_messages=read_messages,
    write_messages=write_messages,
    mapping=_rows(),
    losses={},
    rules=RULES,
)
