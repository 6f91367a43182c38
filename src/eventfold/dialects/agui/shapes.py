"""
The 31 events of AG-UI 1.0 as a table, with what they hold.

Law: what fits here is what the schemas of @ag-ui/core 1.0.0 take (`fitting` holds values against it).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from eventfold.jsonvalue import is_object

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: The largest integer that JavaScript holds exactly; time stamps and token counts are held to it.
LARGEST = 2**53 - 1


@dataclass(frozen=True)
class Leaf:
    """A value without parts that are looked at."""

    fits: Callable[[Any], bool]
    name: str


@dataclass(frozen=True)
class Items:
    """A list."""

    of: Any
    least: int = 0


@dataclass(frozen=True)
class Shape:
    """An object. `open` ones may hold what they do not name."""

    required: Mapping[str, Any]
    optional: Mapping[str, Any] = field(default_factory=dict[str, Any])
    open: bool = False


@dataclass(frozen=True)
class Union:
    """Objects, told apart by a tag."""

    tag: str
    members: Mapping[str, Shape]


@dataclass(frozen=True)
class StringOr:
    """A string, or what else may stand there."""

    other: Any


def _is_integer(low: int) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and low <= value <= LARGEST and (isinstance(value, int) or value.is_integer())

    return fits


def _one_of(*values: str) -> Leaf:
    return Leaf(lambda value: isinstance(value, str) and value in values, "one of " + ", ".join(values))


_POINTER = re.compile(r"(/([^/~]|~[01])*)*")

STRING = Leaf(lambda value: isinstance(value, str), "a string")
BOOLEAN = Leaf(lambda value: isinstance(value, bool), "a boolean")
TIME = Leaf(_is_integer(-LARGEST), "an integer of milliseconds")
COUNT = Leaf(_is_integer(0), "a count")
OBJECT = Leaf(is_object, "an object")
ANYTHING = Leaf(lambda _: True, "anything")
#: Anything, but where it is nothing it is left out.
PRESENT = Leaf(lambda value: value is not None, "anything but null")
PATH = Leaf(lambda value: isinstance(value, str) and _POINTER.fullmatch(value) is not None, "a JSON pointer")
ROLE = _one_of("developer", "system", "assistant", "user")

_SOURCE = Union(
    "type",
    {
        "data": Shape({"type": STRING, "value": STRING, "mimeType": STRING}),
        "url": Shape({"type": STRING, "value": STRING}, {"mimeType": STRING}),
        "file": Shape({"type": STRING, "value": STRING}, {"provider": STRING, "mimeType": STRING}),
    },
)
#: Parts that hold media rather than text.
MEDIA: Final = ("image", "audio", "video", "document")
_PART = Union(
    "type",
    {
        "text": Shape({"type": STRING, "text": STRING}, {"id": STRING, "metadata": PRESENT}),
        **{kind: Shape({"type": STRING, "source": _SOURCE}, {"id": STRING, "metadata": PRESENT}) for kind in MEDIA},
    },
)
_CONTENT = StringOr(Items(_PART))
_CALL = Shape(
    {"id": STRING, "type": _one_of("function"), "function": Shape({"name": STRING, "arguments": STRING})},
    {"encryptedValue": STRING, "metadata": OBJECT},
)
_HEAD = {"id": STRING, "role": STRING}
_TAIL = {"subagentRunId": STRING, "metadata": OBJECT}
_NAMED = {"name": STRING, "encryptedValue": STRING, **_TAIL}
MESSAGE = Union(
    "role",
    {
        "developer": Shape({**_HEAD, "content": STRING}, _NAMED),
        "system": Shape({**_HEAD, "content": STRING}, _NAMED),
        "assistant": Shape(_HEAD, {"content": STRING, "toolCalls": Items(_CALL), **_NAMED}),
        "user": Shape({**_HEAD, "content": _CONTENT}, _NAMED),
        "tool": Shape({**_HEAD, "content": _CONTENT, "toolCallId": STRING}, {"error": STRING, "encryptedValue": STRING, **_TAIL}),
        "activity": Shape({**_HEAD, "activityType": STRING, "content": OBJECT}, _TAIL),
        "reasoning": Shape({**_HEAD, "content": STRING}, {"encryptedValue": STRING, **_TAIL}),
    },
)
_OP: dict[str, Any] = {"op": STRING, "path": PATH}
_PATCH = Items(
    Union(
        "op",
        {
            "add": Shape({**_OP, "value": ANYTHING}, open=True),
            "remove": Shape(_OP, open=True),
            "replace": Shape({**_OP, "value": ANYTHING}, open=True),
            "move": Shape({**_OP, "from": PATH}, open=True),
            "copy": Shape({**_OP, "from": PATH}, open=True),
            "test": Shape({**_OP, "value": ANYTHING}, open=True),
        },
    )
)
_RESUME = Shape({"interruptId": STRING, "status": _one_of("resolved", "cancelled")}, {"payload": PRESENT, "metadata": OBJECT})
_INPUT = Shape(
    {"threadId": STRING, "runId": STRING, "messages": Items(MESSAGE)},
    {
        "protocolVersion": STRING,
        "parentRunId": STRING,
        "state": ANYTHING,
        "tools": Items(Shape({"name": STRING, "description": STRING}, {"parameters": PRESENT, "metadata": OBJECT})),
        "context": Items(Shape({"description": STRING, "value": STRING})),
        "forwardedProps": PRESENT,
        "resume": Items(_RESUME),
    },
)
_INTERRUPT = Shape(
    {"id": STRING, "reason": STRING},
    {
        "subagentRunId": STRING,
        "message": STRING,
        "toolCallId": STRING,
        "responseSchema": OBJECT,
        "expiresAt": STRING,
        "metadata": OBJECT,
    },
)
_OUTCOME = Union(
    "type",
    {
        "success": Shape({"type": STRING}, {"pendingToolCallIds": Items(STRING)}),
        "interrupt": Shape({"type": STRING, "interrupts": Items(_INTERRUPT, 1)}),
        "cancelled": Shape({"type": STRING}),
    },
)
_ENDING = Union("type", {"success": Shape({"type": STRING}), "suspended": Shape({"type": STRING}, {"interruptIds": Items(STRING)})})
#: Counts of TokenUsage.
TOKENS = ("inputTokens", "outputTokens", "totalTokens", "reasoningTokens", "cachedInputTokens", "cacheWriteInputTokens")
_USAGE = Items(Shape({}, {"provider": STRING, "model": STRING, **dict.fromkeys(TOKENS, COUNT)}))

_BASE = {"timestamp": TIME, "rawEvent": PRESENT, "metadata": OBJECT}
#: Events of a run, which nobody but the run itself sends.
_UNTAGGED = ("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "MESSAGES_SNAPSHOT")
_OWN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "RUN_STARTED": ({"threadId": STRING, "runId": STRING}, {"protocolVersion": STRING, "parentRunId": STRING, "input": _INPUT}),
    "RUN_FINISHED": ({"threadId": STRING, "runId": STRING}, {"result": PRESENT, "outcome": _OUTCOME, "usage": _USAGE}),
    "RUN_ERROR": ({"message": STRING}, {"code": STRING, "usage": _USAGE}),
    "STEP_STARTED": ({"stepName": STRING}, {}),
    "STEP_FINISHED": ({"stepName": STRING}, {}),
    "TEXT_MESSAGE_START": ({"messageId": STRING}, {"role": ROLE, "name": STRING}),
    "TEXT_MESSAGE_CONTENT": ({"messageId": STRING, "delta": STRING}, {}),
    "TEXT_MESSAGE_END": ({"messageId": STRING}, {}),
    "TEXT_MESSAGE_CHUNK": ({}, {"messageId": STRING, "role": ROLE, "delta": STRING, "name": STRING}),
    "TOOL_CALL_START": ({"toolCallId": STRING, "toolCallName": STRING}, {"parentMessageId": STRING}),
    "TOOL_CALL_ARGS": ({"toolCallId": STRING, "delta": STRING}, {}),
    "TOOL_CALL_END": ({"toolCallId": STRING}, {}),
    "TOOL_CALL_CHUNK": ({}, {"toolCallId": STRING, "toolCallName": STRING, "parentMessageId": STRING, "delta": STRING}),
    "TOOL_CALL_RESULT": ({"messageId": STRING, "toolCallId": STRING, "content": _CONTENT}, {"role": _one_of("tool")}),
    "STATE_SNAPSHOT": ({"snapshot": ANYTHING}, {}),
    "STATE_DELTA": ({"delta": _PATCH}, {}),
    "MESSAGES_SNAPSHOT": ({"messages": Items(MESSAGE)}, {}),
    "ACTIVITY_SNAPSHOT": ({"messageId": STRING, "activityType": STRING, "content": OBJECT}, {"replace": BOOLEAN}),
    "ACTIVITY_DELTA": ({"messageId": STRING, "activityType": STRING, "patch": _PATCH}, {}),
    "RAW": ({"event": ANYTHING}, {"source": STRING}),
    "CUSTOM": ({"name": STRING, "value": ANYTHING}, {}),
    "REASONING_START": ({"messageId": STRING}, {}),
    "REASONING_MESSAGE_START": ({"messageId": STRING, "role": _one_of("reasoning")}, {}),
    "REASONING_MESSAGE_CONTENT": ({"messageId": STRING, "delta": STRING}, {}),
    "REASONING_MESSAGE_END": ({"messageId": STRING}, {}),
    "REASONING_MESSAGE_CHUNK": ({}, {"messageId": STRING, "delta": STRING}),
    "REASONING_END": ({"messageId": STRING}, {}),
    "REASONING_ENCRYPTED_VALUE": ({"subtype": _one_of("tool-call", "message"), "entityId": STRING, "encryptedValue": STRING}, {}),
    "SUBAGENT_STARTED": (
        {"subagentRunId": STRING, "name": STRING},
        {"description": STRING, "parentSubagentRunId": STRING, "parentToolCallId": STRING, "parentMessageId": STRING},
    ),
    "SUBAGENT_FINISHED": ({"subagentRunId": STRING}, {"result": PRESENT, "outcome": _ENDING}),
    "SUBAGENT_ERROR": ({"subagentRunId": STRING, "message": STRING}, {"code": STRING}),
}
#: The events by their type.
EVENTS: dict[str, Shape] = {
    name: Shape(
        {"type": STRING, **required},
        {**_BASE, **({} if name in _UNTAGGED or "subagentRunId" in required else {"subagentRunId": STRING}), **optional},
    )
    for name, (required, optional) in _OWN.items()
}

#: Retired in 1.0; the client turns them into what stands beside, with ids of its own.
RETIRED = {
    "THINKING_START": "REASONING_START",
    "THINKING_END": "REASONING_END",
    "THINKING_TEXT_MESSAGE_START": "REASONING_MESSAGE_START",
    "THINKING_TEXT_MESSAGE_CONTENT": "REASONING_MESSAGE_CONTENT",
    "THINKING_TEXT_MESSAGE_END": "REASONING_MESSAGE_END",
}
