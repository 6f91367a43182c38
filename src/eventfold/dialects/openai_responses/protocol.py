"""The events of the protocol, as tables: what each is about, and where it says it."""

from __future__ import annotations

from typing import NamedTuple


class Texts(NamedTuple):
    """What events about texts are about."""

    type: str  #: of part
    place: str  #: the list that it is in
    holds: str  #: the field of a final event


TEXTS = {
    "response.output_text": Texts("output_text", "content", "text"),
    "response.refusal": Texts("refusal", "content", "refusal"),
    "response.reasoning_text": Texts("reasoning_text", "content", "text"),
    "response.reasoning_summary_text": Texts("summary_text", "summary", "text"),
}

#: Inputs of calls that are streamed: the item's type, and the field of a final event.
INPUTS = {
    "response.function_call_arguments": ("function_call", "arguments"),
    "response.custom_tool_call_input": ("custom_tool_call", "input"),
    "response.mcp_call_arguments": ("mcp_call", "arguments"),
    "response.code_interpreter_call_code": ("code_interpreter_call", "code"),
}

#: Where parts begin and end, and the list that they are in.
PLACES = {"response.content_part": "content", "response.reasoning_summary_part": "summary"}

#: Sound, and the block that it goes to.
SOUND = ("response.audio", "response.audio.transcript")

#: Statuses of a response that goes on, and how the others end.
GOES_ON = ("queued", "in_progress")
ENDS = {"completed": "completed", "incomplete": "completed", "failed": "error", "cancelled": "interrupted"}

#: Events that hold the response: the status that they stand for.
LIFECYCLE = {f"response.{name}": name for name in ("created", *GOES_ON, *ENDS)}

#: Events that tell how far a hosted tool is. No message shows them.
PROGRESS = tuple(
    f"response.{tool}.{step}"
    for tool, steps in {
        "file_search_call": ("in_progress", "searching", "completed"),
        "web_search_call": ("in_progress", "searching", "completed"),
        "code_interpreter_call": ("in_progress", "interpreting", "completed"),
        "image_generation_call": ("in_progress", "generating", "partial_image", "completed"),
        "mcp_call": ("in_progress", "completed", "failed"),
        "mcp_list_tools": ("in_progress", "completed", "failed"),
        "shell_call_command": ("added", "delta", "done"),
        "shell_call_output_content": ("delta", "done"),
        "compaction": ("compacting",),
    }.items()
    for step in steps
)

#: All events of the protocol.
EVENTS = frozenset(
    {
        *LIFECYCLE,
        *PROGRESS,
        *(f"{about}.{step}" for about in (*TEXTS, *INPUTS, *SOUND) for step in ("delta", "done")),
        *(f"{about}.{step}" for about in (*PLACES, "response.output_item") for step in ("added", "done")),
        "response.output_text.annotation.added",
        "error",
    }
)

#: Classes of errors by the provider's codes.
ERRORS = {
    "rate_limit_exceeded": "rate_limit",
    "insufficient_quota": "rate_limit",
    "invalid_api_key": "authentication",
    "context_length_exceeded": "invalid_request",
    "server_error": "upstream",
}

#: Fields of events that say where and how they came. Nothing else depends on them.
CARRIAGE = frozenset(
    {
        *("type", "sequence_number", "obfuscation", "output_index", "content_index", "summary_index", "item_id", "annotation_index"),
        *("delta", "text", "refusal", "arguments", "input", "code", "logprobs", "part", "item", "annotation"),
    }
)
