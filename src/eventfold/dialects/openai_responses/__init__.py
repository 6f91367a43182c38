"""
OpenAI Responses: the stream of events of a response, the response as a whole, and the `input` of a request.

Streams and responses come in (one response is one reply), messages go out as a request. The provider's own fields stand in a
block's `x_openai` and in metadata["openai"]. Losses, all on the way out, are those of `LOSSES` in request.py.
"""

from __future__ import annotations

from typing import Any

from eventfold.dialects.others import lost_of, only, reporting
from eventfold.dialects.translation import Dialect, Row
from eventfold.jsonvalue import is_array, is_object

from .decoder import ResponsesDecoder
from .items import CALLS
from .protocol import EVENTS
from .request import LOSSES, write_messages
from .rules import NAME, RULES

_IN, _OUT, _BOTH = "in", "out", "both"
_HOSTED = ", ".join(sorted(kind for kind, call in CALLS.items() if call.hosted))

MAPPING = (
    Row("ReplyStartEvent", "response.created", _IN, "conversation.id is the session"),
    Row("ModelCallStartEvent", "response.created", _IN, "model"),
    Row("TextBlockStartEvent", "response.content_part.added (output_text, refusal)", _IN),
    Row("TextBlockDeltaEvent", "response.output_text.delta, response.refusal.delta", _IN),
    Row("TextBlockEndEvent", "response.output_item.done (message)", _IN, "text, where the final text is not what the deltas say"),
    Row("TextBlock", "message: output_text, refusal", _BOTH, "x_openai: type, id, status, phase, annotations, logprobs"),
    Row("ThinkingBlockStartEvent", "response.output_item.added (reasoning)", _IN, "at once, so that it stands before what follows"),
    Row("ThinkingBlockDeltaEvent", "response.reasoning_summary_text.delta, response.reasoning_text.delta", _IN),
    Row("ThinkingBlockEndEvent", "response.output_item.done (reasoning)", _IN),
    Row("ThinkingBlock", "reasoning: summary, content", _BOTH, "x_openai: type, id, encrypted_content, summary_index or content_index"),
    Row("ThinkingBlock", "compaction, additional_tools, mcp_approval_response", _BOTH, "empty; x_openai is the whole item"),
    Row("ToolCallStartEvent", "response.output_item.added (calls)", _IN),
    Row("ToolCallDeltaEvent", "response.function_call_arguments.delta and its like", _IN),
    Row("ToolCallEndEvent", "response.output_item.done (calls)", _IN),
    Row("ToolCallBlock", "function_call, custom_tool_call", _BOTH, "id is call_id; x_openai.id is the item's"),
    Row("ToolCallBlock", "computer_call, local_shell_call, shell_call, apply_patch_call, tool_search_call, program", _BOTH),
    Row("ToolCallBlock", _HOSTED, _BOTH, "the provider runs them; the item's answer is the result"),
    Row("ToolResultStartEvent, ToolResultTextDeltaEvent, ToolResultEndEvent", f"{_HOSTED}, *_output", _IN),
    Row("ToolResultBlock", "function_call_output and its like", _OUT, "in place of what the call asks for"),
    Row("RequireExternalExecutionEvent", "response.completed with calls for the client", _IN),
    Row("RequireUserConfirmEvent", "mcp_approval_request", _IN),
    Row("ToolCallBlock.state", "mcp_approval_response", _OUT, "allowed: approved; denied or not answered: refused"),
    Row("DataBlockStartEvent, DataBlockDeltaEvent, DataBlockEndEvent", "image_generation_call, response.audio", _IN),
    Row("DataBlock", "input_image, input_file", _OUT),
    Row("DataBlock", "image_generation_call", _BOTH, "x_openai: the item without its result"),
    Row("HintBlock", "message of role user", _OUT),
    Row("ModelCallEndEvent", "usage", _IN, "the provider's numbers; input_tokens holds the cached ones"),
    Row("ReplyEndEvent", "response.completed, response.incomplete", _IN, "completed; metadata.openai.incomplete_details says why"),
    Row("ReplyEndEvent.error", "response.failed, error", _IN),
    Row("ReplyEndEvent.finished_reason", "response.cancelled", _IN, "interrupted"),
    Row("CustomEvent", "events of progress; shell_call_command, shell_call_output_content; what is not known", _IN),
    Row("UserMsg, SystemMsg", "message of role user, system", _OUT),
    Row("ToolMsg", "function_call_output and its like", _OUT),
)


def is_responses(value: Any) -> bool:
    """Tell whether a value is an event of such a stream, or a whole response. OpenAI's Realtime has the same names, and event ids."""
    if not is_object(value):
        return False
    kind = value.get("type")
    if kind == "error":
        return isinstance(value.get("sequence_number"), int)
    if kind is None:
        return value.get("object") == "response" and is_array(value.get("output"))
    return isinstance(kind, str) and kind in EVENTS and "event_id" not in value


DIALECT = Dialect(
    name=NAME,
    title="OpenAI Responses (openai 3.57.0)",
    recognise=is_responses,
    decoder=ResponsesDecoder,
    write_messages=reporting(write_messages, only("x_openai")),
    mapping=MAPPING,
    losses={**LOSSES, **lost_of("x_openai")},
    rules=RULES,
)
