"""
Gemini's generateContent: streams and whole responses in, requests out.

A response is one reply. A reply that calls the client's functions parks; code and tools that Gemini runs have their results in
the response. Losses, on the way out, stand in `request`; what is read is kept whole.
"""

from __future__ import annotations

from typing import Any

from eventfold.dialects.others import lost_of, only, reporting
from eventfold.dialects.translation import COMMON, Dialect, Row, rule
from eventfold.jsonvalue import is_array, is_object

from .names import in_camel_case
from .request import LOSSES, write_messages
from .stream import OF_OTHERS, GeminiDecoder

RULES = {
    **COMMON,
    "gemini.truncated": rule(
        "error",
        "A response breaks off",
        "The stream stopped, or another response began, before a finishReason. The reply ends as an error and keeps what came.",
    ),
    "gemini.after-finish": rule(
        "warning",
        "Content after the finishReason",
        "A reader that stops at the finishReason does not see it. It is read.",
    ),
    "gemini.call-not-ended": rule(
        "warning",
        "A call whose arguments were to go on, and do not",
        "Vertex leaves out the empty functionCall that ends a call. The call ends with what came, when another begins or the response "
        "ends.",
    ),
    "gemini.call-cut": rule(
        "warning",
        "A call whose arguments were cut",
        "The response ended inside the arguments, and not by itself. They are kept as far as they came, and the call is answered with an "
        "interrupted result, so that nobody runs it.",
    ),
    "gemini.unknown-call": rule(
        "error",
        "A piece of a call that has not begun",
        "A functionCall without a name goes on with the call before it, and there is none. The part is kept in a CUSTOM event.",
    ),
    "gemini.bad-path": rule(
        "error",
        "A piece of arguments that belongs nowhere",
        "Its jsonPath is none, leaves out an element of an array, or leads through a value that is neither object nor array. It is kept in "
        "a CUSTOM event.",
    ),
    "gemini.result-without-call": rule(
        "warning",
        "A result of a call that the response does not have",
        "The part is kept in a CUSTOM event and goes back at its place.",
    ),
    "gemini.repeated-id": rule(
        "warning",
        "Two responses or calls have one id",
        "They could not be told apart, so the later one gets an id of its own.",
    ),
}

MAPPING = (
    Row("ReplyStartEvent", "the first chunk of a responseId, for each candidate", "in", "modelVersion and more in metadata.gemini"),
    Row("ModelCallStartEvent", "modelVersion", "in"),
    Row("TextBlockStartEvent, TextBlockDeltaEvent, TextBlockEndEvent", "text", "in", "x_gemini.thoughtSignature"),
    Row("ThinkingBlockStartEvent, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent", "text with thought", "in", "signature"),
    Row("DataBlockStartEvent, DataBlockDeltaEvent, DataBlockEndEvent", "inlineData, fileData", "in"),
    Row(
        "ToolCallStartEvent, ToolCallDeltaEvent, ToolCallEndEvent",
        "functionCall with args or partialArgs, executableCode, toolCall",
        "in",
        "x_gemini.part is the kind, unless it is functionCall",
    ),
    Row("ToolResultStartEvent, ToolResultTextDeltaEvent, ToolResultEndEvent", "codeExecutionResult, toolResponse", "in"),
    Row("ModelCallEndEvent", "the last usageMetadata", "in"),
    Row("RequireExternalExecutionEvent", "the end of a response whose functionCall parts have no result", "in"),
    Row("ReplyEndEvent", "finishReason, error, promptFeedback.blockReason", "in", "everything else in metadata.gemini"),
    Row("CustomEvent gemini.WHAT", "other parts and chunks, pieces of arguments that belong nowhere", "in"),
    Row("TextBlock", "text", "both"),
    Row("ThinkingBlock", "text with thought", "both"),
    Row("ToolCallBlock", "functionCall", "both", "executableCode and toolCall by x_gemini.part"),
    Row("ToolResultBlock", "functionResponse of the user's next content", "out", "output, or error unless it is a success"),
    Row("HintBlock", "text, inlineData, fileData of the user", "out"),
    Row("DataBlock, ImageBlock, AudioBlock, VideoBlock", "inlineData, fileData", "both"),
    Row("SystemMsg", "systemInstruction", "out"),
)

_OF_CHUNKS = ("usageMetadata", "promptFeedback", "modelVersion", "responseId")
#: What an error of Google says; that of OpenAI has no status, and its code is no number.
_OF_ERRORS = {"code": int, "message": str, "status": str}


def recognise(value: Any) -> bool:
    """Tell whether a value is a chunk or response of Gemini, an error, a content of its model, or a request."""
    if not is_object(value) or any(key in value for key in OF_OTHERS):
        return False
    value = in_camel_case(value)
    error = value.get("error")
    if is_object(error) and all(isinstance(error.get(key), kind) for key, kind in _OF_ERRORS.items()):
        return True
    candidates = value.get("candidates")
    if is_array(candidates) and candidates:
        return all(is_object(each) and any(key in each for key in ("content", "finishReason", "index")) for each in candidates)
    if is_object(value.get("usageMetadata")) or is_object(value.get("promptFeedback")):
        return sum(key in value for key in _OF_CHUNKS) > 1
    contents = value["contents"] if is_array(value.get("contents")) else [value] if value.get("role") == "model" else []
    return bool(contents) and all(is_object(each) and is_array(each.get("parts")) for each in contents)


DIALECT = Dialect(
    name="gemini",
    title="Google Gemini generateContent (google-genai 3.6.1)",
    recognise=recognise,
    decoder=GeminiDecoder,
    write_messages=reporting(write_messages, only("x_gemini")),
    mapping=MAPPING,
    losses={**LOSSES, **lost_of("x_gemini")},
    rules=RULES,
)
