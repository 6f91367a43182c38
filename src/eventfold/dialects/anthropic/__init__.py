"""
Anthropic's Messages: streams and whole messages in, requests out.

A message is one reply. A reply that calls the client's tools parks; the tools that Anthropic runs have their results in the
stream. Losses, on the way out, stand in `request`; what is read is kept whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.others import lost_of, only, reporting
from eventfold.dialects.translation import COMMON, Dialect, Row, rule
from eventfold.jsonvalue import is_array, is_object

from .request import LOSSES, write_messages
from .stream import AnthropicDecoder

if TYPE_CHECKING:
    from eventfold.shape import Wire

RULES = {
    **COMMON,
    "anthropic.truncated": rule(
        "error",
        "A message breaks off",
        "The stream stopped, or another message began, before a stop_reason. The reply ends as an error and keeps what came.",
    ),
    "anthropic.no-message-start": rule(
        "error",
        "An event of a message that has not begun",
        "Anthropic's SDK raises here. A block begins a reply of its own; what belongs to no block is kept in a CUSTOM event.",
    ),
    "anthropic.repeated-start": rule(
        "warning",
        "A message starts twice",
        "Gateways that try again send message_start a second time. The message goes on with what came so far.",
    ),
    "anthropic.repeated-id": rule(
        "warning",
        "Two messages, calls or results have one id",
        "They could not be told apart, so the later one gets an id of its own; a second result of one call is kept in a CUSTOM event.",
    ),
    "anthropic.no-usage": rule(
        "warning",
        "A message begins without usage",
        "Anthropic's SDK raises at the message_delta that follows. The tokens count as 0 until they are said.",
    ),
    "anthropic.no-stop-reason": rule(
        "warning",
        "A message ends and does not say why",
        "Whether it is whole cannot be told. It counts as completed, since its end was said.",
    ),
    "anthropic.no-message-stop": rule(
        "warning",
        "A message lacks its message_stop",
        "Its stop_reason was said, so that it counts as completed; a reader that waits for message_stop would hang.",
    ),
    "anthropic.index-in-use": rule(
        "error",
        "A second block with the index of another",
        "Deltas are addressed by index. The new block is a block of its own, and the index means it from then on.",
    ),
    "anthropic.index-order": rule(
        "warning",
        "An index that is not the next one",
        "Anthropic's SDK takes the index for a position and appends to the wrong block, or raises. Here it is a key.",
    ),
    "anthropic.unknown-index": rule(
        "error",
        "An index at which no block began",
        "Text and thinking get a block of their own; everything else is kept in a CUSTOM event.",
    ),
    "anthropic.after-stop": rule(
        "error",
        "A block goes on after it has stopped",
        "Text and thinking go on in a block of their own; everything else is kept in a CUSTOM event.",
    ),
    "anthropic.delta-mismatch": rule(
        "error",
        "A delta of a kind that the block does not take",
        "Anthropic's SDK ignores it. It is kept in a CUSTOM event.",
    ),
    "anthropic.open-at-end": rule(
        "warning",
        "A message ends and a block has not stopped",
        "Anthropic leaves the last block open when a limit cuts it. It is closed with the message.",
    ),
    "anthropic.call-cut": rule(
        "warning",
        "A call whose arguments were cut",
        "A limit or a refusal ended the message inside the arguments, or before them; the block may have stopped all the same. They are "
        "kept as they are, not repaired, and the call is answered with an interrupted result, so that nobody runs it.",
    ),
    "anthropic.arguments-not-json": rule(
        "warning",
        "Arguments that are no JSON object",
        "Anthropic's SDK raises here. The text is kept as the model wrote it.",
    ),
    "anthropic.result-without-call": rule(
        "warning",
        "A result of a call that the message does not have",
        "It goes on with a message that paused. The block is kept in a CUSTOM event and goes back at its place.",
    ),
}

MAPPING = (
    Row("ReplyStartEvent", "message_start", "in", "its fields in metadata.anthropic"),
    Row("ModelCallStartEvent", "message_start.message.model", "in"),
    Row("TextBlockStartEvent, TextBlockDeltaEvent, TextBlockEndEvent", "text, text_delta, citations_delta", "in", "x_anthropic.citations"),
    Row(
        "ThinkingBlockStartEvent, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent",
        "thinking, thinking_delta, signature_delta",
        "in",
        "signature",
    ),
    Row("ThinkingBlockStartEvent, ThinkingBlockEndEvent", "redacted_thinking", "in", "redacted_thinking_data"),
    Row(
        "ToolCallStartEvent, ToolCallDeltaEvent, ToolCallEndEvent",
        "tool_use, server_tool_use, mcp_tool_use, input_json_delta",
        "in",
        "x_anthropic.type is the type, unless it is tool_use",
    ),
    Row(
        "ToolResultStartEvent, ToolResultTextDeltaEvent, ToolResultEndEvent",
        "*_tool_result",
        "in",
        "the rest of the block in metadata.anthropic",
    ),
    Row("ModelCallEndEvent", "message_stop", "in", "with the usage of message_start, overwritten by message_delta"),
    Row("RequireExternalExecutionEvent", "message_stop", "in", "when tool_use blocks have no result"),
    Row("ReplyEndEvent", "message_stop, error", "in", "everything else of the message in metadata.anthropic"),
    Row("CustomEvent anthropic.TYPE", "compaction, fallback, container_upload, mcp_tool_listing and unknown blocks, deltas, events", "in"),
    Row("TextBlock", "text", "both"),
    Row("ThinkingBlock", "thinking, redacted_thinking", "both", "out only with Anthropic's signature"),
    Row("ToolCallBlock", "tool_use", "both", "server_tool_use and mcp_tool_use by x_anthropic.type"),
    Row("ToolResultBlock", "tool_result of the next user message", "out", "is_error unless success"),
    Row("HintBlock", "text, image, document of a user message", "out"),
    Row("DataBlock, ImageBlock", "image, document", "out"),
    Row("SystemMsg", "system", "out"),
)

_STREAM = {
    "message_start": "message",
    "content_block_start": "content_block",
    "content_block_delta": "delta",
    "message_delta": "delta",
    "error": "error",
}
#: What OpenAI says in an error of the same form, and Anthropic never does.
_OF_OPENAI = ("code", "param")


def recognise(value: Any) -> bool:
    """Tell whether a value is an event of Anthropic's streams, an error, a whole message, or a message or request that answers tools."""
    if not is_object(value):
        return False
    kind = value.get("type")
    if isinstance(kind, str) and kind in _STREAM:
        part = value.get(_STREAM[kind])
        return is_object(part) and (kind != "error" or _is_error(part))
    content = value.get("content")
    if kind == "message":
        return value.get("role") == "assistant" and is_array(content) and "stop_reason" in value
    if kind is not None:
        return False
    if "messages" in value:
        messages = value["messages"]
        return is_array(messages) and any(recognise(message) for message in messages)
    blocks = content if value.get("role") == "user" and is_array(content) else []
    return any(is_object(block) and block.get("type") == "tool_result" and "tool_use_id" in block for block in blocks)


def _is_error(error: Wire) -> bool:
    """Tell whether what stands in an event of type `error` is Anthropic's: it says its type and a message."""
    said = all(isinstance(error.get(key), str) for key in ("type", "message"))
    return said and not any(key in error for key in _OF_OPENAI)


DIALECT = Dialect(
    name="anthropic",
    title="Anthropic Messages (anthropic 2.14.0)",
    recognise=recognise,
    decoder=AnthropicDecoder,
    write_messages=reporting(write_messages, only("x_anthropic")),
    mapping=MAPPING,
    losses={**LOSSES, **lost_of("x_anthropic")},
    rules=RULES,
)
