"""
MCP, the Model Context Protocol: tools/call requests and their results, and the messages of its sampling.

Measured on mcp 2.3.0 (protocol 2026-07-28, and back to 2024-11-05). The page beside this package, mcp.md, says what becomes of what.

A stream is what passes between one client and one server, in either direction, in the order in which it was seen: JSON-RPC messages,
or results of tools that stand alone. It folds to one message a session, with the id `mcp` (`mcp/2` after another initialize), whose
session id is the same, and whose name is the client's.

Our own tool calls go out as tools/call and come back whole. What is no tool call travels in notifications of the method
`notifications/eventfold/event`, one an event, which an MCP peer ignores, as it does all methods that it does not know.
Nothing is lost on the way back; what a peer does not see is reported.
"""

from __future__ import annotations

from eventfold_models import structs
from eventfold_models.tables import EVENTS

from eventfold.dialects.translation import Dialect, Row

from .decoder import McpDecoder
from .encoder import HIDDEN, NO_OBJECT, McpEncoder
from .recognition import recognise
from .results import BESIDE, from_result, to_result
from .rules import RULES
from .sampling_in import read_messages
from .sampling_out import OTHER_ROLE, UNSAID, write_messages
from .shapes import CALL_METHOD, EVENT_METHOD

__all__ = ["DIALECT", "from_result", "read_messages", "to_result", "write_messages"]

#: What is a result on the wire: the response to a tools/call.
RESULT = "CallToolResult"

#: The events that a tools/call of ours and its response stand for.
_CALLS = (
    Row(
        structs.ToolCallDeltaEvent.__name__,
        CALL_METHOD,
        "both",
        "the text of the arguments in `_meta`, unless it is how we would write them",
    ),
    Row(structs.ToolCallEndEvent.__name__, CALL_METHOD, "both", "sent when the tool begins to run"),
    Row(structs.ToolResultStartEvent.__name__, CALL_METHOD, "both", "the tool begins to run"),
    Row(structs.ToolResultTextDeltaEvent.__name__, RESULT, "both", "a content block for each part; text"),
    Row(structs.ToolResultDataDeltaEvent.__name__, RESULT, "both", "image, audio, resource with a blob, resource_link"),
    Row(structs.ToolResultEndEvent.__name__, RESULT, "both", "isError; the state itself in `_meta`"),
    Row(structs.ExternalExecutionResultEvent.__name__, RESULT, "both", "one event for each result"),
)
_NOTES = {
    structs.ToolCallStartEvent.__name__: "at once, so that the block stands where it does",
    structs.ToolCallDeltaEvent.__name__: "when the call does not run, or a user is asked about it",
    structs.ToolCallEndEvent.__name__: "when the call does not run, or a user is asked about it",
    structs.ToolResultStartEvent.__name__: "when the request is out already, or no request goes out",
    structs.ToolResultTextDeltaEvent.__name__: "when the result does not become whole",
    structs.ToolResultDataDeltaEvent.__name__: "when the result does not become whole",
    structs.ToolResultEndEvent.__name__: "when the result has been told, or no request is out",
    structs.ExternalExecutionResultEvent.__name__: "when some of its results answer no request",
}

#: What becomes of messages that are not ours.
_THEIRS = (
    Row(structs.ReplyStartEvent.__name__, CALL_METHOD, "in", "the first of a session"),
    Row(structs.ToolCallStartEvent.__name__, CALL_METHOD, "in", "the id is that of the request"),
    Row(structs.ReplyEndEvent.__name__, "the end of the stream", "in", "when each call has its result; `initialize` ends a session, too"),
    Row(structs.ToolResultStartEvent.__name__, RESULT, "in"),
    Row(structs.RequireExternalExecutionEvent.__name__, RESULT, "in", "before a result that deltas cannot carry"),
    Row(structs.RequireUserConfirmEvent.__name__, "InputRequiredResult", "in", "that holds an elicitation; whole in the event's metadata"),
    Row(structs.RequireExternalExecutionEvent.__name__, "InputRequiredResult", "in", "without one, or the second of a call"),
    Row(structs.CustomEvent.__name__, "InputRequiredResult", "in", "`mcp.input_required`: the third of a call, and so on"),
    Row(structs.RequireExternalExecutionEvent.__name__, "CreateTaskResult", "in", "the response to `tasks/result` is the result"),
    Row(
        structs.UserConfirmResultEvent.__name__, "tools/call with inputResponses", "in", "confirmed, whatever the answer: the tool decides"
    ),
    Row(structs.CustomEvent.__name__, "tools/call with inputResponses", "in", "`mcp.input_responses`, when no user was asked"),
    Row(structs.ToolResultEndEvent.__name__, "JSON-RPC error", "in", "state error; the error in the metadata"),
    Row(structs.ToolResultEndEvent.__name__, "notifications/cancelled", "in", "state interrupted"),
    Row(structs.CustomEvent.__name__, "notifications/progress", "in", "`mcp_progress`, with the call's id"),
    Row(structs.CustomEvent.__name__, "notifications/message", "in", "`mcp_log`"),
    Row(structs.CustomEvent.__name__, "any other message", "in", "`mcp.<method>`, `mcp.<method>.result`, `mcp.<method>.error`"),
)

DIALECT = Dialect(
    name="mcp",
    title="MCP 2024-11-05 to 2026-07-28 (mcp 2.3.0)",
    recognise=recognise,
    decoder=McpDecoder,
    encoder=McpEncoder,
    read_messages=read_messages,
    write_messages=write_messages,
    mapping=(
        *_CALLS,
        *(Row(name, EVENT_METHOD, "both", _NOTES.get(name, "")) for name in EVENTS.values()),
        Row(structs.ReplyEndEvent.__name__, "notifications/cancelled", "out", "for each call that still runs"),
        *_THEIRS,
    ),
    losses={HIDDEN: (), NO_OBJECT: (), UNSAID: (), OTHER_ROLE: (), BESIDE: ()},
    rules=RULES,
)
