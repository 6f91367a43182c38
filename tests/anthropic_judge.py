"""Anthropic's own SDK as a judge: what it accumulates of a stream, and whether its types take a request."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import httpx2
from anthropic._models import construct_type
from anthropic._streaming import SSEDecoder
from anthropic.lib.streaming._beta_messages import accumulate_event as accumulate_beta_event
from anthropic.lib.streaming._messages import accumulate_event
from anthropic.types import MessageParam, RawMessageStreamEvent, TextBlockParam
from anthropic.types.beta import BetaMessageParam, BetaRawMessageStreamEvent
from pieces import exhausted
from pydantic import TypeAdapter

if TYPE_CHECKING:
    from pathlib import Path

    from support import Wire

_MESSAGES: TypeAdapter[Any] = TypeAdapter(list[MessageParam])
_BETA_MESSAGES: TypeAdapter[Any] = TypeAdapter(list[BetaMessageParam])
_SYSTEM: TypeAdapter[Any] = TypeAdapter(list[TextBlockParam])


def events_of(path: Path) -> list[Wire]:
    """Read the events of a recording with the SDK's own decoder."""
    raw = path.read_bytes()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in raw.splitlines() if line.strip()]
    # The SDK drops a last event that lacks its blank line.
    return [json.loads(sse.data) for sse in SSEDecoder().iter_bytes(iter([raw + b"\n\n"])) if sse.event not in {None, "ping"}]


def accumulated(events: list[Wire], *, beta: bool) -> Wire:
    """
    Give the message that the SDK makes of the events of one response, as it would send it back.

    Raises:
        Exception: whatever the SDK raises.

    """
    with warnings.catch_warnings():
        # Of what the SDK does not expect, pydantic warns when it writes it.
        warnings.simplefilter("ignore")
        return _accumulated(events, beta=beta)


def _accumulated(events: list[Wire], *, beta: bool) -> Wire:
    snapshot: Any = None
    buffers: dict[int, bytes] = {}
    for event in events:
        if event["type"] == "ping":
            continue
        if beta:
            made = construct_type(type_=BetaRawMessageStreamEvent, value=event)
            snapshot = accumulate_beta_event(
                event=made,  # pyright: ignore[reportArgumentType]  construct_type gives object
                current_snapshot=snapshot,
                json_bufs=buffers,
                request_headers=httpx2.Headers({}),
            )
        else:
            made = construct_type(type_=RawMessageStreamEvent, value=event)
            snapshot = accumulate_event(event=made, current_snapshot=snapshot, json_bufs=buffers)  # pyright: ignore[reportArgumentType]  the same
    return snapshot.to_dict()


def takes(request: Wire, *, beta: bool = False) -> Any:
    """Give a request as the SDK's types read it. Raises when they refuse it."""
    _SYSTEM.validate_python(request.get("system", []))
    adapter = _BETA_MESSAGES if beta else _MESSAGES
    return exhausted(adapter.validate_python(request["messages"]))
