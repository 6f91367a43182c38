"""
LangChain and LangGraph: their streams are read, and messages are written for them.

Read are AIMessageChunks (JSON Lines), astream_events v2, stream_events v3 (the content-block protocol), LangGraph's stream modes
and its agent protocol (SSE), and stored messages. A run is a reply where the format tells runs apart; else a message is.
"""

from __future__ import annotations

from eventfold.dialects.others import lost_of, only, reporting
from eventfold.dialects.translation import COMMON, Dialect, Row, rule

from .decoder import LangChainDecoder
from .recognise import recognise
from .request import LOSSES, write_messages

__all__ = ["DIALECT", "LOSSES", "MAPPING", "RULES", "LangChainDecoder"]

MAPPING = (
    Row("ReplyStartEvent", "the first message; on_chain_start of the root run", "in", "its id is the message's, or the run's"),
    Row("ModelCallStartEvent", "on_chat_model_start, message-start, the first AIMessageChunk of a message", "in"),
    Row("TextBlockStartEvent, TextBlockDeltaEvent, TextBlockEndEvent", "text and refusal in the content; text-delta", "in"),
    Row("ThinkingBlockStartEvent, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent", "reasoning, thinking, reasoning_content", "in"),
    Row("DataBlockStartEvent, DataBlockDeltaEvent, DataBlockEndEvent", "image, audio, video, file; image_generation_call", "in"),
    Row("ToolCallStartEvent, ToolCallDeltaEvent, ToolCallEndEvent", "tool_call_chunks, tool_calls, invalid_tool_calls", "in"),
    Row("ToolResultStartEvent, ToolResultTextDeltaEvent, ToolResultEndEvent", "ToolMessage; tool-started to tool-finished", "in"),
    Row("ToolResultDataDeltaEvent", "bytes in a ToolMessage's content", "in"),
    Row("HintBlockEvent", "a HumanMessage or SystemMessage in a run", "in"),
    Row("ModelCallEndEvent", "chunk_position last, message-finish, on_chat_model_end", "in", "usage_metadata is the usage"),
    Row("RequireExternalExecutionEvent", "a message or run that ends with calls without results", "in"),
    Row("RequireUserConfirmEvent", "input.requested, __interrupt__", "in", "calls are found by the name of the tool"),
    Row("ExternalExecutionResultEvent", "ToolMessage after the message that called has ended", "in"),
    Row("ReplyEndEvent", "the end of the message or run; error", "in"),
    Row(
        "CustomEvent",
        "values and updates beside messages, custom, chains, retrievers; parts of the content of unknown type",
        "in",
        "langchain.NAME",
    ),
    Row("SystemMsg", "SystemMessage", "out"),
    Row("UserMsg", "HumanMessage", "out"),
    Row("AssistantMsg", "AIMessage, ToolMessage, AIMessage, ...", "out", "one AIMessage for each round of calls"),
    Row("ToolMsg", "ToolMessage", "out", "right behind the AIMessage that called"),
    Row("HintBlock", "HumanMessage", "out"),
)

RULES = {
    **COMMON,
    "langchain.truncated": rule(
        "error",
        "A stream stops before its message or run has ended",
        "Nothing says that the answer is whole. The reply ends as an error, with what came.",
    ),
    "langchain.bad-data": rule(
        "error", "The bytes of a block are no base64", "They cannot be read. The block is kept as it came, in a CUSTOM event."
    ),
    "langchain.call-without-name": rule(
        "error", "A tool call has no name", "Nobody can run it. It is kept, so that what the model wrote is not lost."
    ),
    "langchain.call-without-id": rule(
        "warning", "A tool call has no id", "Results refer to calls by id. The call gets one that is made of the reply's."
    ),
    "langchain.repeated-call-id": rule(
        "warning", "Two calls have one id", "A result could belong to either. The later call gets an id of its own."
    ),
    "langchain.broken-arguments": rule(
        "warning",
        "The arguments of a call are no JSON object",
        "They were cut, or are no JSON. They are kept as they are; LangChain repairs them to something that the model did not say.",
    ),
    "langchain.rewritten": rule(
        "warning",
        "A block ends as something else than what was sent of it",
        "A reader that showed the pieces has shown something else. The final text counts; of reasoning and arguments, the pieces do.",
    ),
    "langchain.result-without-call": rule(
        "warning", "A result is of no call in the stream", "No reply has the call. The result is kept in a CUSTOM event."
    ),
    "langchain.no-start": rule(
        "warning",
        "A block or message goes on that did not begin",
        "The beginning of the stream is missing, or lines are lost. It begins now.",
    ),
    "langchain.after-end": rule(
        "warning",
        "Something comes for a message that has ended",
        "The message was complete, and may have been used. What comes later is dropped.",
    ),
    "langchain.redelivered": rule("warning", "An event comes twice", "A connection was resumed too early. It is applied once."),
    "langchain.repeated-usage": rule(
        "note",
        "The usage of a call is sent more than once",
        "Some providers send the usage so far with every chunk. LangChain adds it up, here the last one counts.",
    ),
}

DIALECT = Dialect(
    name="langchain",
    title="LangChain (langchain-core 1.8.3, LangGraph 1.2.24, protocol 0.0.20)",
    recognise=recognise,
    decoder=LangChainDecoder,
    write_messages=reporting(write_messages, only("x_langchain")),
    mapping=MAPPING,
    losses={**LOSSES, **lost_of("x_langchain")},
    rules=RULES,
)
