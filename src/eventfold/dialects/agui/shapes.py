"""
The 31 events of AG-UI 1.0 as a table, with what they hold.

Law: what fits here is what the schemas of @ag-ui/core 1.0.0 take (`fitting` holds values against it).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum, auto
from typing import TYPE_CHECKING, Any, Final

from eventfold.jsonvalue import is_object

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Type(StrEnum):
    """The events of AG-UI, by name. Some have the names of ours, and are other events all the same."""

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[Any]) -> str:
        del start, count, last_values
        return name

    RUN_STARTED = auto()
    RUN_FINISHED = auto()
    RUN_ERROR = auto()
    STEP_STARTED = auto()
    STEP_FINISHED = auto()
    TEXT_MESSAGE_START = auto()
    TEXT_MESSAGE_CONTENT = auto()
    TEXT_MESSAGE_END = auto()
    TEXT_MESSAGE_CHUNK = auto()
    TOOL_CALL_START = auto()
    TOOL_CALL_ARGS = auto()
    TOOL_CALL_END = auto()
    TOOL_CALL_CHUNK = auto()
    TOOL_CALL_RESULT = auto()
    STATE_SNAPSHOT = auto()
    STATE_DELTA = auto()
    MESSAGES_SNAPSHOT = auto()
    ACTIVITY_SNAPSHOT = auto()
    ACTIVITY_DELTA = auto()
    RAW = auto()
    CUSTOM = auto()
    REASONING_START = auto()
    REASONING_MESSAGE_START = auto()
    REASONING_MESSAGE_CONTENT = auto()
    REASONING_MESSAGE_END = auto()
    REASONING_MESSAGE_CHUNK = auto()
    REASONING_END = auto()
    REASONING_ENCRYPTED_VALUE = auto()
    SUBAGENT_STARTED = auto()
    SUBAGENT_FINISHED = auto()
    SUBAGENT_ERROR = auto()


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
_UNTAGGED = (Type.RUN_STARTED, Type.RUN_FINISHED, Type.RUN_ERROR, Type.MESSAGES_SNAPSHOT)
_OWN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    Type.RUN_STARTED: ({"threadId": STRING, "runId": STRING}, {"protocolVersion": STRING, "parentRunId": STRING, "input": _INPUT}),
    Type.RUN_FINISHED: ({"threadId": STRING, "runId": STRING}, {"result": PRESENT, "outcome": _OUTCOME, "usage": _USAGE}),
    Type.RUN_ERROR: ({"message": STRING}, {"code": STRING, "usage": _USAGE}),
    Type.STEP_STARTED: ({"stepName": STRING}, {}),
    Type.STEP_FINISHED: ({"stepName": STRING}, {}),
    Type.TEXT_MESSAGE_START: ({"messageId": STRING}, {"role": ROLE, "name": STRING}),
    Type.TEXT_MESSAGE_CONTENT: ({"messageId": STRING, "delta": STRING}, {}),
    Type.TEXT_MESSAGE_END: ({"messageId": STRING}, {}),
    Type.TEXT_MESSAGE_CHUNK: ({}, {"messageId": STRING, "role": ROLE, "delta": STRING, "name": STRING}),
    Type.TOOL_CALL_START: ({"toolCallId": STRING, "toolCallName": STRING}, {"parentMessageId": STRING}),
    Type.TOOL_CALL_ARGS: ({"toolCallId": STRING, "delta": STRING}, {}),
    Type.TOOL_CALL_END: ({"toolCallId": STRING}, {}),
    Type.TOOL_CALL_CHUNK: ({}, {"toolCallId": STRING, "toolCallName": STRING, "parentMessageId": STRING, "delta": STRING}),
    Type.TOOL_CALL_RESULT: ({"messageId": STRING, "toolCallId": STRING, "content": _CONTENT}, {"role": _one_of("tool")}),
    Type.STATE_SNAPSHOT: ({"snapshot": ANYTHING}, {}),
    Type.STATE_DELTA: ({"delta": _PATCH}, {}),
    Type.MESSAGES_SNAPSHOT: ({"messages": Items(MESSAGE)}, {}),
    Type.ACTIVITY_SNAPSHOT: ({"messageId": STRING, "activityType": STRING, "content": OBJECT}, {"replace": BOOLEAN}),
    Type.ACTIVITY_DELTA: ({"messageId": STRING, "activityType": STRING, "patch": _PATCH}, {}),
    Type.RAW: ({"event": ANYTHING}, {"source": STRING}),
    Type.CUSTOM: ({"name": STRING, "value": ANYTHING}, {}),
    Type.REASONING_START: ({"messageId": STRING}, {}),
    Type.REASONING_MESSAGE_START: ({"messageId": STRING, "role": _one_of("reasoning")}, {}),
    Type.REASONING_MESSAGE_CONTENT: ({"messageId": STRING, "delta": STRING}, {}),
    Type.REASONING_MESSAGE_END: ({"messageId": STRING}, {}),
    Type.REASONING_MESSAGE_CHUNK: ({}, {"messageId": STRING, "delta": STRING}),
    Type.REASONING_END: ({"messageId": STRING}, {}),
    Type.REASONING_ENCRYPTED_VALUE: ({"subtype": _one_of("tool-call", "message"), "entityId": STRING, "encryptedValue": STRING}, {}),
    Type.SUBAGENT_STARTED: (
        {"subagentRunId": STRING, "name": STRING},
        {"description": STRING, "parentSubagentRunId": STRING, "parentToolCallId": STRING, "parentMessageId": STRING},
    ),
    Type.SUBAGENT_FINISHED: ({"subagentRunId": STRING}, {"result": PRESENT, "outcome": _ENDING}),
    Type.SUBAGENT_ERROR: ({"subagentRunId": STRING, "message": STRING}, {"code": STRING}),
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
    "THINKING_START": Type.REASONING_START,
    "THINKING_END": Type.REASONING_END,
    "THINKING_TEXT_MESSAGE_START": Type.REASONING_MESSAGE_START,
    "THINKING_TEXT_MESSAGE_CONTENT": Type.REASONING_MESSAGE_CONTENT,
    "THINKING_TEXT_MESSAGE_END": Type.REASONING_MESSAGE_END,
}
