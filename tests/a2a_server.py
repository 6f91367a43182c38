"""
A2A's own SDK as a judge: its server plays values, its client receives them, and its store says what the task is in the end.

All in one process, over JSON-RPC and server-sent events as on a wire. The client splits lines where U+2028, U+2029 or U+0085
stands, which JSON allows (a fault of a2a-sdk 1.3.0); this server escapes them, as one that writes ASCII would.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
)
from a2a.utils.proto_utils import validate_proto_required_fields
from google.protobuf.json_format import MessageToDict, ParseDict
from starlette.applications import Starlette

from eventfold.jsonvalue import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, MutableMapping

    from a2a.server.agent_execution import RequestContext
    from a2a.server.events.event_queue import EventQueue
    from starlette.types import Receive, Scope, Send
    from support import Wire

logging.getLogger("a2a").setLevel(logging.CRITICAL)

_URL = "http://agent/rpc"
CARD = AgentCard(
    name="agent",
    description="plays values",
    version="1",
    supported_interfaces=[AgentInterface(url=_URL, protocol_binding="JSONRPC", protocol_version="1.0")],
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="s", name="s", description="s", tags=["x"])],
)
_ESCAPES = {"\u2028".encode(): b"\\u2028", "\u2029".encode(): b"\\u2029", "\u0085".encode(): b"\\u0085"}


class Played(NamedTuple):
    """What the SDK made of a task's values."""

    received: list[Wire]  #: by the client
    task: Wire | None  #: as the server keeps it
    error: str | None


def parsed(value: Wire) -> StreamResponse:
    """Parse a value as the SDK's types, strictly, and hold it against what the protocol requires."""
    response = ParseDict(value, StreamResponse())
    validate_proto_required_fields(response)
    return response


def renamed(value: Any, ids: Wire) -> Any:
    """Put a server's ids in place of those of a task and its context; metadata and parts are left alone."""
    if is_array(value):
        return [renamed(item, ids) for item in value]
    if not is_object(value):
        return value
    said = {key: item if key in {"metadata", "parts"} else renamed(item, ids) for key, item in value.items()}
    if "status" in said and "id" in said:
        said["id"] = ids["taskId"]
    return said | {key: item for key, item in ids.items() if key in said}


class _Player(AgentExecutor):
    def __init__(self, values: list[Wire]) -> None:
        self.values = values

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        ids = {"taskId": context.task_id, "contextId": context.context_id}
        for value in self.values:
            response = parsed(renamed(value, ids))
            await event_queue.enqueue_event(getattr(response, response.WhichOneof("payload") or ""))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


def _ascii(app: Starlette) -> Any:
    """Escape what the SDK's client takes for line ends. They stand in JSON strings only."""

    async def escaping(scope: Scope, receive: Receive, send: Send) -> None:
        async def escaped(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.body":
                body: bytes = message.get("body", b"")
                for raw, escape in _ESCAPES.items():
                    body = body.replace(raw, escape)
                message = {**message, "body": body}
            elif message["type"] == "http.response.start":
                message = {**message, "headers": [(key, item) for key, item in message["headers"] if key != b"content-length"]}
            await send(message)

        await app(scope, receive, escaped)

    return escaping


async def _play(values: list[Wire]) -> Played:
    handler = DefaultRequestHandler(agent_executor=_Player(values), task_store=InMemoryTaskStore(), agent_card=CARD)
    app = Starlette(routes=create_jsonrpc_routes(handler, "/rpc"))
    received: list[Wire] = []
    error: str | None = None
    task: Wire | None = None
    task_id = ""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=_ascii(app)), base_url="http://agent", timeout=20) as http:
        client = ClientFactory(ClientConfig(streaming=True, httpx_client=http)).create(CARD)
        request = SendMessageRequest(message=Message(message_id="u1", role=Role.ROLE_USER, parts=[Part(text="hi")]))
        stream: AsyncIterator[Any] = client.send_message(request)
        try:
            async for response in stream:
                received.append(MessageToDict(response))
                holder = getattr(response, response.WhichOneof("payload"))
                task_id = getattr(holder, "task_id", "") or (holder.id if response.HasField("task") else "") or task_id
        except Exception as fault:  # noqa: BLE001  whatever it is, it is the verdict
            error = f"{type(fault).__name__}: {fault}"
        if task_id:
            task = MessageToDict(await client.get_task(GetTaskRequest(id=task_id)))
    return Played(received, task, error)


def play(values: list[Wire]) -> Played:
    """Play the values of one task, or one message."""
    return asyncio.run(asyncio.wait_for(_play(values), 60))


def by_task(values: list[Wire]) -> list[list[Wire]]:
    """Split a stream of several tasks: a server has one stream for each."""
    streams: dict[str, list[Wire]] = {}
    for value in values:
        [(name, body)] = value.items()
        streams.setdefault(body["id"] if name == "task" else body.get("taskId", ""), []).append(value)
    return list(streams.values())
