"""
The shapes of MCP: what the messages, results and content blocks of protocol 2024-11-05 to 2026-07-28 look like.

Law: shapes are judged as the SDK's own types judge them, but what they do not name is not lost: whoever reads a shape keeps the
value beside it.
"""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import msgspec

from eventfold.dialects.translation import UNFIT, Unfit

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
