"""
The shapes of MCP: what the messages, results and content blocks of protocol 2024-11-05 to 2026-07-28 look like, and what is surely one.

Law: shapes are judged as the SDK's own types judge them, but what they do not name is not lost: whoever reads a shape keeps the
value beside it.
"""

from __future__ import annotations

import json
from typing import Any, Literal, TypeVar

import msgspec
import orjson

from eventfold.dialects.translation import NAMESPACE, UNFIT, Unfit
from eventfold.jsonvalue import depth_of, is_array, is_object

T = TypeVar("T")

#: The notification that carries an event of ours, for which MCP has no message. As MCP says of methods that a peer does not know,
#: whoever is not eventfold ignores it.
EVENT_METHOD = "notifications/eventfold/event"
CALL_METHOD = "tools/call"
#: Where a value of MCP has its metadata.
META = "_meta"
#: Beginning of the keys of `_meta` that MCP keeps to itself.
RESERVED = "io.modelcontextprotocol/"
VERSION_KEY = f"{RESERVED}protocolVersion"
LOG_LEVEL_KEY = f"{RESERVED}logLevel"
CLIENT_KEY = f"{RESERVED}clientInfo"
SERVER_KEY = f"{RESERVED}serverInfo"
#: The first revision in which logs have to be asked for, request by request.
LOGS_ASKED_FOR = "2026-07-28"

#: How deep a message may nest: as deep as an event of ours, and what is around it.
MAX_MESSAGE = 120
#: How deep arguments may nest, that are written as text and parsed by somebody else.
MAX_ARGUMENTS = 90

LEVELS = frozenset({"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"})

#: Requests that the server sends, and a field that only their result has.
SERVER_REQUESTS = {"elicitation/create": "action", "sampling/createMessage": "model", "roots/list": "roots"}
#: Requests of the client, and two that either side sends.
REQUESTS = frozenset(
    {
        *SERVER_REQUESTS,
        CALL_METHOD,
        "initialize",
        "ping",
        "tools/list",
        "prompts/list",
        "prompts/get",
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
        "resources/templates/list",
        "completion/complete",
        "logging/setLevel",
        "server/discover",
        "subscriptions/listen",
        "tasks/get",
        "tasks/result",
        "tasks/list",
        "tasks/cancel",
        "tasks/update",
    }
)
NOTIFICATIONS = frozenset(
    {
        EVENT_METHOD,
        "notifications/initialized",
        "notifications/progress",
        "notifications/message",
        "notifications/cancelled",
        "notifications/roots/list_changed",
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
        "notifications/subscriptions/acknowledged",
        "notifications/elicitation/complete",
        "notifications/tasks/status",
    }
)
#: Methods that other protocols have, too, and the parameter that tells MCP's.
_SHARED = {"tasks/get": "taskId", "tasks/cancel": "taskId"}


# --- content ------------------------------------------------------------------------------------


class Text(msgspec.Struct, tag_field="type", tag="text"):
    """Text."""

    text: str


class Image(msgspec.Struct, tag_field="type", tag="image", rename="camel"):
    """An image, inline."""

    data: str
    mime_type: str


class Audio(msgspec.Struct, tag_field="type", tag="audio", rename="camel"):
    """Sound, inline."""

    data: str
    mime_type: str


class Link(msgspec.Struct, tag_field="type", tag="resource_link", rename="camel"):
    """A resource by its URI."""

    uri: str
    name: str
    mime_type: str | None = None


class Contents(msgspec.Struct, rename="camel"):
    """What is in a resource: text or a blob."""

    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None

    def __post_init__(self) -> None:
        """Refuse neither; msgspec makes a ValidationError of it."""
        if self.text is None and self.blob is None:
            message = "a resource has a text or a blob"
            raise ValueError(message)


class Resource(msgspec.Struct, tag_field="type", tag="resource"):
    """A resource, embedded."""

    resource: Contents


Content = Text | Image | Audio | Link | Resource
#: Tuples, where anything may be looked for: what is no text need not be hashable.
CONTENT_TYPES = ("text", "image", "audio", "resource_link", "resource")
SPEAKERS = ("user", "assistant")
INLINE = ("image", "audio")


class Annotations(msgspec.Struct, rename="camel"):
    """What a client may do with content."""

    audience: list[Literal["user", "assistant"]] | None = None
    priority: float | None = None
    last_modified: str | None = None

    def __post_init__(self) -> None:
        """Refuse a priority that is none."""
        if self.priority is not None and not 0 <= self.priority <= 1:
            message = "a priority lies between 0 and 1"
            raise ValueError(message)


class Icon(msgspec.Struct, rename="camel"):
    """An icon of a resource."""

    src: str
    mime_type: str | None = None
    sizes: list[str] | None = None
    theme: Literal["light", "dark"] | None = None


class Trimmings(msgspec.Struct, rename={"meta": "_meta"}):
    """What content may have besides what it shows, as far as MCP names it."""

    annotations: Annotations | None = None
    title: str | None = None
    description: str | None = None
    size: int | None = None
    icons: list[Icon] | None = None
    meta: dict[str, Any] | None = None


# --- requests and notifications -----------------------------------------------------------------


class Call(msgspec.Struct, rename={"meta": "_meta", "input_responses": "inputResponses", "request_state": "requestState"}):
    """Parameters of tools/call."""

    name: str
    arguments: dict[str, Any] | None = None
    input_responses: dict[str, dict[str, Any]] | None = None
    request_state: str | None = None
    meta: dict[str, Any] | None = None


class Progress(msgspec.Struct, rename="camel"):
    """Parameters of notifications/progress."""

    progress_token: str | int
    progress: float
    total: float | None = None
    message: str | None = None


class Log(msgspec.Struct):
    """Parameters of notifications/message."""

    level: str
    data: Any
    logger: str | None = None


class Cancelled(msgspec.Struct, rename="camel"):
    """Parameters of notifications/cancelled."""

    request_id: str | int | None = None
    reason: str | None = None


class InputRequired(msgspec.Struct, rename="camel"):
    """A result that asks for more."""

    input_requests: dict[str, dict[str, Any]] | None = None
    request_state: str | None = None

    def __post_init__(self) -> None:
        """Refuse neither."""
        if not self.input_requests and self.request_state is None:
            message = "it has neither inputRequests nor a requestState"
            raise ValueError(message)


class Failure(msgspec.Struct):
    """A JSON-RPC error."""

    code: int
    message: str


def read(shape: type[T], value: Any, pointer: str) -> T:
    """Read a value as a shape. Raises Unfit, which says where it differs."""
    try:
        return msgspec.convert(value, shape)
    except (msgspec.ValidationError, ValueError, OverflowError, RecursionError) as error:
        raise Unfit(UNFIT, str(error), pointer) from None


def fits(shape: Any, value: Any) -> bool:
    """Tell whether a value has a shape."""
    try:
        msgspec.convert(value, shape)
    except (msgspec.ValidationError, ValueError, OverflowError, RecursionError):
        return False
    return True


# --- arguments ----------------------------------------------------------------------------------


def text_of(value: Any) -> str:
    """Write a JSON value as models write arguments. Raises Unfit for a number that no text of JSON holds."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except ValueError as error:
        raise Unfit(UNFIT, str(error)) from None


def object_of(text: str) -> dict[str, Any] | None:
    """Read the arguments of a call: nothing is an empty object; None when the text is no JSON object that every reader reads alike."""
    if not text:
        return {}
    try:
        value = msgspec.json.decode(text)
        # What does not come back by the same words could be read in two ways: huge numbers, names that stand twice.
        plain = json.loads(text, object_pairs_hook=_unique) == value and depth_of(value) <= MAX_ARGUMENTS
        orjson.dumps(value)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return None
    return value if plain and is_object(value) else None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        message = "a name stands twice"
        raise ValueError(message)
    return value


# --- what is said in `_meta` ---------------------------------------------------------------------


class Header(msgspec.Struct):
    """An event of ours without what MCP shows of it."""

    id: str | None = None
    created_at: str | None = None
    metadata: dict[str, Any] | None = None
    source_path: str | None = None
    extra: dict[str, Any] | None = None
    tool_call_name: str | None = None

    def fields(self) -> dict[str, Any]:
        """Give the fields that are there."""
        return {key: value for key, value in msgspec.structs.asdict(self).items() if value is not None}


class CallNote(msgspec.Struct):
    """What `_meta` of a tools/call of ours says: whose call it is, and the events around it."""

    reply_id: str
    tool_call_id: str
    input: str | None = None  #: the text of the arguments, where `text_of` would write another
    end: Header | None = None  #: TOOL_CALL_END; absent when notifications have told the call
    start: Header | None = None  #: TOOL_RESULT_START; absent when a notification will tell it


class ResultNote(msgspec.Struct):
    """What `_meta` of a result of ours says besides the block: the event that brought it."""

    told: bool = False  #: notifications have told it already
    end: Header | None = None  #: TOOL_RESULT_END
    external: Header | None = None  #: EXTERNAL_EXECUTION_RESULT
    name: str | None = None  #: the name that it says of the tool


def note_of(value: Any, shape: type[T]) -> T | None:
    """Read what we said in a value's `_meta`; None when there is nothing of ours."""
    meta = value.get(META) if is_object(value) else None
    said = meta.get(NAMESPACE) if is_object(meta) else None
    if not is_object(said):
        return None
    try:
        return msgspec.convert(said, shape)
    except (msgspec.ValidationError, RecursionError):
        return None


# --- recognition --------------------------------------------------------------------------------


def is_call_result(value: Any) -> bool:
    """Tell whether a value is surely the result of a tools/call."""
    if not is_object(value) or "role" in value or "type" in value or not is_array(value.get("content")):
        return False
    if not any(key in value for key in ("isError", "resultType", "structuredContent", META)):
        return False
    return all(is_object(block) and block.get("type") in CONTENT_TYPES for block in value["content"])


#: Fields that tell results of MCP: any whole row.
_RESULTS = (
    ("protocolVersion", "capabilities", "serverInfo"),
    ("supportedVersions", "capabilities"),
    ("tools", "resultType"),
    ("resultType", "inputRequests"),
    ("resultType", "requestState"),
)


def is_message(value: Any) -> bool:
    """Tell whether a value is surely a JSON-RPC message of MCP. A2A speaks JSON-RPC, too, with methods and results of its own."""
    if not is_object(value) or value.get("jsonrpc") != "2.0":
        return False
    method = value.get("method")
    if isinstance(method, str):
        params = value.get("params")
        tells = _SHARED.get(method)
        return (method in REQUESTS or method in NOTIFICATIONS) and (tells is None or (is_object(params) and tells in params))
    result = value.get("result")
    if not is_object(result):
        return False
    return is_call_result(result) or any(all(key in result for key in row) for row in _RESULTS)


def is_sampling(value: Any) -> bool:
    """Tell whether a value is surely a message of MCP's sampling. Other protocols have messages that look alike until MCP's names occur."""
    if not is_object(value) or value.get("role") not in SPEAKERS or "created_at" in value:
        return False
    content = value.get("content")
    blocks = content if is_array(content) else [content]
    if "stopReason" in value and isinstance(value.get("model"), str):
        return bool(blocks) and all(is_object(block) and "type" in block for block in blocks)
    return any(
        is_object(block)
        and (
            (block.get("type") in INLINE and "mimeType" in block and "data" in block)
            or (block.get("type") == "tool_result" and "toolUseId" in block)
            or NAMESPACE in _object(block.get(META))
        )
        for block in blocks
    ) or (is_array(content) and NAMESPACE in _object(value.get(META)))


def _object(value: Any) -> dict[str, Any]:
    return value if is_object(value) else {}


def recognise(value: Any) -> bool:
    """Tell whether a value is surely MCP: a JSON-RPC message of it, the result of a tool, or a message of its sampling."""
    if is_array(value):
        return bool(value) and all(is_message(item) for item in value)
    return is_message(value) or is_call_result(value) or is_sampling(value)
