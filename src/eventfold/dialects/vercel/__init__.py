"""
UI message streams of the Vercel AI SDK: streams and stored UI messages are read, and messages are written for its models.

A message is a reply, and a step is a model call.
"""

from __future__ import annotations

from typing import Any

from eventfold.dialects.others import lost_of, reporting
from eventfold.dialects.translation import COMMON, Dialect, Row, rule
from eventfold.jsonvalue import is_object

from .decoder import VercelDecoder
from .request import LOSSES as WRITTEN
from .request import says, write_messages
from .stored import NOT_READ, is_ui_message, read_messages

__all__ = ["DIALECT", "LOSSES", "MAPPING", "RULES", "VercelDecoder"]

#: Types of chunks that no other protocol has, with a field that they must have.
_SURE = {
    "text-start": "id",
    "text-delta": "delta",
    "text-end": "id",
    "reasoning-start": "id",
    "reasoning-delta": "delta",
    "reasoning-end": "id",
    "tool-input-start": "toolCallId",
    "tool-input-delta": "toolCallId",
    "tool-input-available": "toolCallId",
    "tool-input-error": "toolCallId",
    "tool-output-available": "toolCallId",
    "tool-output-error": "toolCallId",
    "tool-output-denied": "toolCallId",
    "tool-approval-request": "approvalId",
    "source-url": "sourceId",
    "source-document": "sourceId",
    "message-metadata": "messageMetadata",
}
#: Fields that `start` has, and nothing else.
_START = frozenset({"type", "messageId", "messageMetadata"})

LOSSES = {**WRITTEN, NOT_READ: ()}

MAPPING = (
    Row("ReplyStartEvent", "start", "in", "its id is the messageId"),
    Row("ModelCallStartEvent", "start-step", "in", "the name of the model is not told"),
    Row("TextBlockStartEvent, TextBlockDeltaEvent, TextBlockEndEvent", "text-start, text-delta, text-end", "in"),
    Row("ThinkingBlockStartEvent, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent", "reasoning-start, reasoning-delta, reasoning-end", "in"),
    Row("DataBlockStartEvent, DataBlockDeltaEvent, DataBlockEndEvent", "file", "in"),
    Row("ToolCallStartEvent, ToolCallDeltaEvent", "tool-input-start, tool-input-delta", "in"),
    Row("ToolCallEndEvent", "tool-input-available, tool-input-error", "in"),
    Row(
        "ToolResultStartEvent, ToolResultTextDeltaEvent, ToolResultEndEvent", "tool-output-available, -error, -denied", "in", "the last one"
    ),
    Row("RequireUserConfirmEvent", "tool-approval-request", "in", "when the message ends"),
    Row("UserConfirmResultEvent", "tool-approval-response; the output of a call that was asked about", "in"),
    Row("RequireExternalExecutionEvent", "a message that ends with calls without output", "in"),
    Row("ExternalExecutionResultEvent", "the output of such a call", "in"),
    Row("ModelCallEndEvent", "the next start-step, or the end", "in", "usage, if the application put it into messageMetadata"),
    Row("ReplyEndEvent", "finish, abort, error, [DONE]", "in"),
    Row("CustomEvent", "data-*, source-url, source-document, unknown types", "in", "vercel.TYPE"),
    Row("SystemMsg", "system", "out"),
    Row("UserMsg", "user", "out"),
    Row("AssistantMsg", "assistant, tool, assistant, ...", "out", "one assistant message for each round of calls, or step"),
    Row("ToolMsg", "tool", "out", "behind the assistant message that called"),
    Row("HintBlock", "user", "out"),
)

RULES = {
    **COMMON,
    "vercel.truncated": rule(
        "error",
        "A stream stops before its message has ended",
        "Nothing says that the answer is whole. The reply ends as an error, with what came.",
    ),
    "vercel.not-started": rule(
        "error",
        "Something goes on that did not begin",
        "The AI SDK raises, and shows nothing that comes after. Text is kept in a block of its own, input in a CUSTOM event.",
    ),
    "vercel.unknown-tool": rule(
        "error", "An output, or a request, is of no call in the stream", "The AI SDK raises. What was said is kept in a CUSTOM event."
    ),
    "vercel.bad-data": rule(
        "error", "A file's data URL cannot be read", "There are no bytes to show. The chunk is kept in a CUSTOM event."
    ),
    "vercel.already-started": rule(
        "warning",
        "A part begins that has begun",
        "The AI SDK begins another part, or the input again. Here text goes on in a new block, and a call goes on.",
    ),
    "vercel.after-end": rule(
        "warning",
        "Something comes for a part or message that has ended",
        "It was complete, and may have been used. What comes later is dropped.",
    ),
    "vercel.rewritten": rule(
        "warning",
        "The input of a call is not what its pieces say",
        "A reader that showed the pieces has shown something else. Both are kept.",
    ),
    "vercel.input-open": rule(
        "warning", "The input of a call never became available", "It may be cut, so nobody can run it. Its result is interrupted."
    ),
    "vercel.no-start": rule(
        "note", "A message goes on without a start", "Applications may leave it out; the message has no id of its own then."
    ),
    "vercel.no-finish": rule("note", "[DONE] comes without a finish", "Applications may leave it out; nothing says why the message ended."),
}


def recognise(value: Any) -> bool:
    """Tell whether a value is a chunk of a UI message stream, or a stored UI message."""
    if is_ui_message(value):
        return True
    if not is_object(value) or "role" in value:
        return False
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    if kind == "start":
        return set(value) <= _START and isinstance(value.get("messageId", ""), str)
    if kind in {"start-step", "finish-step"}:
        return len(value) == 1
    field = _SURE.get(kind)
    return field is not None and field in value


DIALECT = Dialect(
    name="vercel",
    title="Vercel AI SDK UI message stream (ai 6.0.326)",
    recognise=recognise,
    decoder=VercelDecoder,
    read_messages=read_messages,
    write_messages=reporting(write_messages, says),
    mapping=MAPPING,
    losses={**LOSSES, **lost_of("x_vercel")},
    rules=RULES,
)
