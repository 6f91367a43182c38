"""
OpenAI Chat Completions: the stream of chunks and the whole responses of OpenAI and of all who speak as it does.

DeepSeek, Qwen, Mistral, Moonshot, xAI, Z.ai, Perplexity, OpenRouter, Groq, Azure, Snowflake and gateways of all sorts
differ in what they leave out, repeat and add; the page beside this says how each is read. Nothing is lost on the way in.
"""

from __future__ import annotations

from eventfold.dialects.others import lost_of, only, reporting
from eventfold.dialects.translation import COMMON, Dialect, Row, rule

from .history import is_stored, read_messages
from .request import LOSSES, write_messages
from .stream import ChatDecoder, is_chat, is_error

RULES = {
    "openai-chat.truncated": rule(
        "error",
        "A stream stops before its response is finished",
        "There is neither a finish_reason nor [DONE]: the connection broke. The reply ends as an error, with all that came.",
    ),
    "openai-chat.no-finish-reason": rule(
        "warning",
        "A response ends without a finish_reason",
        "[DONE] ends the stream, but nothing says whether the model was done, cut off or filtered. It is taken as completed.",
    ),
    "openai-chat.finish-changed": rule(
        "warning",
        "A choice has two different finish_reasons",
        "A choice ends once. The last one counts, as in OpenAI's own reducer.",
    ),
    "openai-chat.after-finish": rule(
        "warning",
        "A choice goes on after its finish_reason",
        "Readers that stop at the finish_reason lose what follows. It is read all the same.",
    ),
    "openai-chat.after-done": rule(
        "warning",
        "A chunk of a response comes after its [DONE]",
        "[DONE] ends the stream: OpenAI's client never sees what follows. It is kept whole, in a CUSTOM event.",
    ),
    "openai-chat.id-changed": rule(
        "warning",
        "The id of a response changes in the middle",
        "All chunks of a response have one id. The chunk does not begin a response, so it goes on with the one that is there.",
    ),
    "openai-chat.id-reused": rule(
        "warning",
        "Two responses have one id",
        "Replies are told apart by their ids, so the later one is given another.",
    ),
    "openai-chat.no-index": rule(
        "note",
        "A piece of a tool call has no index",
        "OpenAI's own reducer fails on it. It goes on with the call that has its id, or with the last.",
    ),
    "openai-chat.index-reused": rule(
        "warning",
        "Two tool calls have one index",
        "OpenAI's own reducer joins them into one. A new id with a name is a new call.",
    ),
    "openai-chat.call-id-changed": rule(
        "warning",
        "The id of a tool call changes in the middle",
        "A piece without a name does not begin a call. The first id counts.",
    ),
    "openai-chat.call-id-reused": rule(
        "warning",
        "Two tool calls of a response have one id",
        "Results are paired by id, so the later call is given another.",
    ),
    "openai-chat.call-without-id": rule(
        "warning",
        "A tool call has no id",
        "Its result could not be paired with it. An id is made of its index.",
    ),
    "openai-chat.call-without-name": rule(
        "error",
        "A tool call has no name",
        "Nobody can run it.",
    ),
    "openai-chat.name-changed": rule(
        "warning",
        "The name of a tool call changes after its arguments have begun",
        "The call may be running under its first name already. That name counts.",
    ),
    "openai-chat.arguments-not-text": rule(
        "warning",
        "The arguments of a tool call are JSON and no text",
        "They are text that holds JSON, so that they can come in pieces. They are written as text.",
    ),
    "openai-chat.cut-arguments": rule(
        "warning",
        "The arguments of a tool call are cut",
        "The model was stopped while it wrote them. What it meant is unknown, so nothing is completed or run: the reply ends as an error.",
    ),
    "openai-chat.reasoning-differs": rule(
        "warning",
        "Two fields of a delta hold different thinking",
        "Providers say the same in several fields. What differs is kept in a CUSTOM event.",
    ),
    "openai-chat.lone-surrogate": rule(
        "error",
        "Half of a character stands without its other half",
        "A character may be split between two deltas, but here the other half never comes. U+FFFD stands in its place.",
    ),
    "openai-chat.not-base64": rule(
        "error",
        "A piece of audio is not base64",
        "It cannot be decoded, and is dropped.",
    ),
    "openai-chat.not-a-count": rule(
        "error",
        "A number of tokens is none",
        "Tokens are counted in whole numbers from 0. It is kept in the metadata.",
    ),
}

#: What of ours stands for what; the events come of streams, the blocks go into requests.
MAPPING = (
    Row(
        "ReplyStartEvent",
        "the first chunk of a choice",
        "in",
        "`id`, and `id#1` for the second choice; what is known of the response is its metadata",
    ),
    Row("ModelCallStartEvent", "`model`", "in"),
    Row(
        "TextBlockStartEvent, TextBlockDeltaEvent, TextBlockEndEvent",
        "`content`, `refusal`, `audio.transcript`",
        "in",
        "`x_openai.type` tells a refusal and a transcript; annotations and log-probabilities stand beside",
    ),
    Row(
        "ThinkingBlockStartEvent, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent",
        "`reasoning_details`, `thinking_blocks`, `reasoning_content`, `reasoning`, `reasoning_text`, parts `thinking` and `reasoning`",
        "in",
        "`x_openai` tells which: `field`, `type`, or the name of the list; signatures and encrypted data stand on the block",
    ),
    Row("DataBlockStartEvent, DataBlockDeltaEvent, DataBlockEndEvent", "`audio.data`, `images`", "in"),
    Row("ToolCallStartEvent, ToolCallDeltaEvent, ToolCallEndEvent", "`tool_calls`, `function_call`", "in", "told when the arguments begin"),
    Row("ModelCallEndEvent", "the last `usage`", "in", "of the first choice; its other fields are metadata"),
    Row("RequireExternalExecutionEvent", "the end of a choice with calls", "in"),
    Row("ReplyEndEvent", "the end of any other choice; `error`", "in", "`finish_reason` is metadata"),
    Row(
        "CustomEvent",
        "parts of content of unknown kinds, thinking that differs, values of other protocols",
        "in",
        "nothing else is made of them",
    ),
    Row("SystemMsg", "`role: system` or `developer`", "both"),
    Row("UserMsg", "`role: user`", "both"),
    Row("AssistantMsg", "`role: assistant`, `role: tool`, again `role: assistant`, ...", "both", "a message for each round of calls"),
    Row("ToolMsg", "`role: tool`", "both", "its results stand behind the calls that they answer"),
    Row("TextBlock", "`content`, `refusal`", "both", "texts of one message of the assistant are joined"),
    Row("ThinkingBlock", "the field that it was read from", "both"),
    Row("ToolCallBlock", "`tool_calls`", "both", "no arguments are written as `{}`"),
    Row("ToolResultBlock", "`role: tool`", "both", "its data is shown by a message of the user"),
    Row("DataBlock", "`image_url`, `input_audio`, `file`, `audio.id`, `images`", "both"),
    Row("HintBlock", "`role: user`", "out"),
    Row("ImageBlock, AudioBlock", "`image_url`, `input_audio`", "out"),
)

DIALECT = Dialect(
    name="openai_chat",
    title="OpenAI Chat Completions (openai 3.57.0)",
    recognise=lambda value: is_chat(value) or is_stored(value),
    last_resort=is_error,
    decoder=ChatDecoder,
    read_messages=read_messages,
    write_messages=reporting(write_messages, only("x_openai")),
    losses={**LOSSES, **lost_of("x_openai")},
    rules={**COMMON, **RULES},
    mapping=MAPPING,
)
