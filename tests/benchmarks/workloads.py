"""
The streams that are measured: made by rule, the same bytes every time.

Law: a workload is a function of its scale alone. At scale 1 it has the size that the tables show; growth is measured at fractions.
Events carry the fields that AgentScope's producers send, an empty `metadata` included, in their order and written compactly.
"""

from __future__ import annotations

import binascii
import json
from collections import defaultdict
from datetime import datetime, timedelta
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Wire = dict[str, Any]
#: What a stream says: (reply, kind, id) -> text, or data in base64.
Told = dict[tuple[str, str, str], str]

ROOT = Path(__file__).resolve().parents[2]
RECORDINGS = sorted((ROOT / "tests/recordings").glob("agentscope-2.*/*.events.jsonl"))

_EPOCH = datetime.fromisoformat("2026-11-30T00:27:21.063399")
_WORDS = (" the", " stream", " of", " events", " is", " folded", ",", " and", ".", "\n", ' "so"', " naïve", " 消息", " it", "ing", " 42")
_IMAGE_BYTES, _CHUNK_BYTES = 8 * 2**20, 4096


class Writer:
    """Writes the events of a stream: ids, times and the fields that all have."""

    def __init__(self) -> None:
        self._count = 0
        self._random = Random(20261130)  # noqa: S311  the same words every time

    def id(self) -> str:
        """Give the next id: 32 hex digits, as uuid4().hex, that look drawn."""
        self._count += 1
        return f"{self._count * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128:032x}"

    def event(self, reply: str, name: str, /, **fields: Any) -> Wire:
        """Write an event."""
        at = (_EPOCH + timedelta(microseconds=137 * self._count)).isoformat()
        return {"id": self.id(), "created_at": at, "metadata": {}, "type": name, "reply_id": reply, **fields}

    def words(self, count: int) -> str:
        """Write some words."""
        return "".join(self._random.choices(_WORDS, k=count))

    def data(self, count: int) -> str:
        """Write so many bytes in base64."""
        return binascii.b2a_base64(self._random.randbytes(count), newline=False).decode()

    def reply(self, body: Callable[[str], Iterator[Wire]]) -> Iterator[Wire]:
        """Write a reply of one model call around its body."""
        reply = self.id()
        yield self.event(reply, "REPLY_START", session_id="session", name="analyst", role="assistant")
        yield self.event(reply, "MODEL_CALL_START", model_name="model-1")
        yield from body(reply)
        yield self.event(reply, "MODEL_CALL_END", input_tokens=812, output_tokens=307, cache_input_tokens=0, cache_creation_input_tokens=0)
        yield self.event(reply, "REPLY_END", session_id="session", finished_reason="completed", error=None)

    def block(self, reply: str, kind: str, deltas: int, words: int) -> Iterator[Wire]:
        """Write a block of text or thinking."""
        block = self.id()
        yield self.event(reply, f"{kind}_BLOCK_START", block_id=block)
        for _ in range(deltas):
            yield self.event(reply, f"{kind}_BLOCK_DELTA", block_id=block, delta=self.words(words))
        yield self.event(reply, f"{kind}_BLOCK_END", block_id=block)


def chat(scale: float) -> Iterator[Wire]:
    """20 replies of 1,000 short deltas, one after the other."""
    writer = Writer()
    for _ in range(20):
        yield from writer.reply(lambda reply: writer.block(reply, "TEXT", round(1000 * scale), 1))


def unknown(scale: float) -> Iterator[Wire]:
    """Give the chat with a field in every event that no schema knows."""
    return ({**event, "trace_id": "4bf92f3577b34da6"} for event in chat(scale))


def thinking(scale: float) -> Iterator[Wire]:
    """Think for 20,000 deltas of eight words, then give a short answer."""
    writer = Writer()
    yield from writer.reply(
        lambda reply: chain(writer.block(reply, "THINKING", round(20_000 * scale), 8), writer.block(reply, "TEXT", 20, 2))
    )


def tools(scale: float) -> Iterator[Wire]:
    """Call 4,000 tools in parallel; arguments and results come interleaved."""
    writer = Writer()

    def body(reply: str) -> Iterator[Wire]:
        calls = [f"call_{number}" for number in range(round(4000 * scale))]
        for call in calls:
            yield writer.event(reply, "TOOL_CALL_START", tool_call_id=call, tool_call_name="search")
        for delta in ('{"q": ', '"eventfold"}'):
            for call in calls:
                yield writer.event(reply, "TOOL_CALL_DELTA", tool_call_id=call, delta=delta)
        for call in calls:
            yield writer.event(reply, "TOOL_CALL_END", tool_call_id=call)
        for call in calls:
            yield writer.event(reply, "TOOL_RESULT_START", tool_call_id=call, tool_call_name="search")
        for call in calls:
            yield writer.event(reply, "TOOL_RESULT_TEXT_DELTA", tool_call_id=call, delta=writer.words(6))
        for call in calls:
            yield writer.event(reply, "TOOL_RESULT_END", tool_call_id=call, state="success")

    yield from writer.reply(body)


def image(scale: float) -> Iterator[Wire]:
    """Send 8 MB in chunks of 4 KB, each a base64 document of its own."""
    writer = Writer()

    def body(reply: str) -> Iterator[Wire]:
        head = {"block_id": writer.id(), "media_type": "image/png"}
        yield writer.event(reply, "DATA_BLOCK_START", **head)
        for _ in range(round(_IMAGE_BYTES * scale) // _CHUNK_BYTES):
            yield writer.event(reply, "DATA_BLOCK_DELTA", **head, data=writer.data(_CHUNK_BYTES))
        yield writer.event(reply, "DATA_BLOCK_END", block_id=head["block_id"])

    yield from writer.reply(body)


def replies(scale: float) -> Iterator[Wire]:
    """Send 200 replies of 100 deltas at once, event by event in turn."""
    writer = Writer()
    running = [writer.reply(lambda reply: writer.block(reply, "TEXT", 100, 2)) for _ in range(round(200 * scale))]
    return (event for turn in zip_longest(*running) for event in turn if event is not None)


def mix(scale: float) -> Iterator[Wire]:
    """Replay what AgentScope was recorded to send, 16 times under other ids: the mix of event types is the measured one."""
    recorded = [[json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in RECORDINGS]
    for number in range(round(16 * len(recorded) * scale)):
        copy, place = divmod(number, len(recorded))
        # Ids of calls and blocks are unique within a reply already. The last digits of a hex id make another hex id.
        suffix = f"{copy:04x}"
        for event in recorded[place]:
            yield {**event, "id": event["id"][:-4] + suffix, "reply_id": event["reply_id"][:-4] + suffix}


class Workload(NamedTuple):
    """A stream, by name."""

    name: str
    title: str
    make: Callable[[float], Iterator[Wire]]


WORKLOADS = (
    Workload("chat", "chat of short deltas", chat),
    Workload("unknown", "the chat, an unknown field in every event", unknown),
    Workload("thinking", "long thinking", thinking),
    Workload("tools", "4,000 parallel tool calls", tools),
    Workload("image", "8 MB image in 4 KB chunks", image),
    Workload("replies", "200 interleaved replies", replies),
    Workload("mix", "mix of the recordings", mix),
)


def lines_of(events: list[Wire]) -> bytes:
    """Write events as JSON Lines."""
    return b"".join(orjson.dumps(event) + b"\n" for event in events)


#: Event type -> kind of content, field of its id.
_GROWS = {
    "TEXT_BLOCK_DELTA": ("text", "block_id"),
    "THINKING_BLOCK_DELTA": ("thinking", "block_id"),
    "TOOL_CALL_DELTA": ("tool_call", "tool_call_id"),
    "TOOL_RESULT_TEXT_DELTA": ("tool_result", "tool_call_id"),
    "DATA_BLOCK_DELTA": ("data", "block_id"),
}


def told_by_events(events: list[Wire]) -> Told:
    """Join the deltas, without any of what is measured: what the messages have to hold. Leaves out calls that somebody answered."""
    pieces: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    answered: set[tuple[str, str]] = set()
    for event in events:
        for item in chain(event.get("confirm_results", ()), event.get("execution_results", ())):
            answered.add((event["reply_id"], item.get("tool_call", item)["id"]))
        if event["type"] in _GROWS:
            kind, field = _GROWS[event["type"]]
            piece = event.get("data") if kind == "data" else event["delta"]
            pieces[event["reply_id"], kind, event[field]].append(piece or "")
    joined = {key: _joined_base64(found) if key[1] == "data" else "".join(found) for key, found in pieces.items()}
    return {key: text for key, text in joined.items() if text and (key[0], key[2]) not in answered}


def told_by_messages(messages: list[Wire]) -> Told:
    """Read the same from messages."""
    told: Told = defaultdict(str)
    for message in messages:
        for block in message["content"]:
            told[message["id"], block["type"], block["id"]] += _said(block)
    return told


def _said(block: Wire) -> str:
    if block["type"] == "data":
        return block["source"].get("data", "")
    if block["type"] == "tool_result":
        output: str | list[Wire] = block["output"]
        return output if isinstance(output, str) else "".join(part.get("text", "") for part in output)
    return block[{"text": "text", "thinking": "thinking", "tool_call": "input", "hint": "hint"}[block["type"]]]


def _joined_base64(pieces: list[str]) -> str:
    return binascii.b2a_base64(b"".join(binascii.a2b_base64(piece) for piece in pieces), newline=False).decode()
