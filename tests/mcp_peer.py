"""
MCP's own library as a judge: a real server and a real client in memory, and the types that every message has to fit.

The server says what it is given; what the client was handed is what counts.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any

import mcp_types
from mcp import Client
from mcp.server import Server

if TYPE_CHECKING:
    from collections.abc import Iterable

    from support import Wire

logging.getLogger("mcp").setLevel(logging.CRITICAL)
logging.getLogger("client").setLevel(logging.CRITICAL)

_NOTIFICATIONS = {"notifications/cancelled": mcp_types.CancelledNotification}


def accept(message: Wire) -> None:
    """Validate a message with the SDK's types: its frame, and what it holds. Raises what the SDK raises."""
    text = json.dumps(message)
    mcp_types.jsonrpc_message_adapter.validate_json(text)
    if message.get("method") == "tools/call":
        mcp_types.CallToolRequest.model_validate_json(text)
    elif message.get("method") in _NOTIFICATIONS:
        _NOTIFICATIONS[message["method"]].model_validate_json(text)
    elif "result" in message:
        mcp_types.CallToolResult.model_validate_json(json.dumps(message["result"]))


def called(exchanges: Iterable[tuple[Wire, Wire]]) -> list[tuple[Wire, Wire]]:
    """Call tools: (params, result) as they are sent -> (params, result) as server and client were handed them."""
    return asyncio.run(_called(list(exchanges)))


async def _called(exchanges: list[tuple[Wire, Wire]]) -> list[tuple[Wire, Wire]]:
    if not exchanges:
        return []
    received: list[Wire] = []
    answers = iter([result for _, result in exchanges])

    async def list_tools(*_: Any) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(tools=[])

    async def call_tool(_: Any, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        received.append(params.model_dump(mode="json", by_alias=True, exclude_unset=True))
        return mcp_types.CallToolResult.model_validate(next(answers))

    results: list[Wire] = []
    async with Client(Server("peer", on_list_tools=list_tools, on_call_tool=call_tool)) as client:
        for params, _ in exchanges:
            result = await client.call_tool(params["name"], params.get("arguments"), meta=params.get("_meta"))
            results.append(result.model_dump(mode="json", by_alias=True, exclude_unset=True))
    return list(zip(received, results, strict=True))


def replayed(messages: list[Wire]) -> list[Wire]:
    """Give a log in which every request that has its response was really sent, and really answered."""
    results = {message["id"]: message["result"] for message in messages if "result" in message}
    sent = [message for message in messages if message.get("id") in results and "method" in message]
    seen = dict(
        zip((message["id"] for message in sent), called((message["params"], results[message["id"]]) for message in sent), strict=True)
    )
    log: list[Wire] = []
    for message in messages:
        if message.get("id") not in seen:
            log.append(message)
        elif "method" in message:
            log.append({**message, "params": seen[message["id"]][0]})
        else:
            log.append({**message, "result": seen[message["id"]][1]})
    return log
