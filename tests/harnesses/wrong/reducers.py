"""
Reducers that are right but for one classic fault each: what eventfold fuzz must find.

Each is the right fold, with the events changed before it or the messages after it.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from eventfold_models.tables import EVENTS

from eventfold import check_and_fold

if TYPE_CHECKING:
    from collections.abc import Iterator

Wire = dict[str, Any]


def fold(events: list[Wire]) -> list[Wire]:
    """Fold as it is right."""
    return check_and_fold(b"".join(json.dumps(event).encode() + b"\n" for event in events)).messages


def _is(event: Wire, *kinds: str) -> bool:
    return event.get("type") in kinds


def _blocks(messages: list[Wire], kind: str) -> Iterator[Wire]:
    return (block for message in messages for block in message["content"] if block["type"] == kind)


def usage_overwritten(events: list[Wire]) -> list[Wire]:
    """Keep the tokens of the last model call alone."""
    last = {event.get("reply_id"): event for event in events if _is(event, "MODEL_CALL_END")}
    return fold([event for event in events if not _is(event, "MODEL_CALL_END") or last[event.get("reply_id")] is event])


def base64_joined_as_text(events: list[Wire]) -> list[Wire]:
    """Join base64 documents as strings."""
    messages = fold(events)
    for block in _blocks(messages, "data"):
        pieces = [event.get("data") or "" for event in events if _is(event, "DATA_BLOCK_DELTA") and event.get("block_id") == block["id"]]
        if "data" in block["source"]:
            block["source"]["data"] = "".join(pieces)
    return messages


def _to_the_newest(events: list[Wire], start: str, delta: str, key: str) -> list[Wire]:
    """Fold with each delta given to what was started last, whatever it names."""
    newest = ""
    changed: list[Wire] = []
    for event in events:
        if _is(event, start):
            newest = event.get(key, "")
        changed.append({**event, key: newest} if _is(event, delta) and newest else event)
    return fold(changed)


def the_open_block(events: list[Wire]) -> list[Wire]:
    """Put each text delta into the text block that was started last."""
    return _to_the_newest(events, "TEXT_BLOCK_START", "TEXT_BLOCK_DELTA", "block_id")


def result_by_position(events: list[Wire]) -> list[Wire]:
    """Put each text of a result into the result that was started last."""
    return _to_the_newest(events, "TOOL_RESULT_START", "TOOL_RESULT_TEXT_DELTA", "tool_call_id")


def times_from_the_clock(events: list[Wire]) -> list[Wire]:
    """Stamp text blocks with the time at which they are read."""
    messages = fold(events)
    for block in _blocks(messages, "text"):
        block["created_at"] = datetime.now(UTC).isoformat()
    return messages


def redeliveries_applied(events: list[Wire]) -> list[Wire]:
    """Apply what comes again after a reconnect again."""
    return fold([{**event, "id": f"{event.get('id')}-{place}"} for place, event in enumerate(events)])


def redelivery_by_bare_id(events: list[Wire]) -> list[Wire]:
    """Drop every event whose id was seen, whatever it holds."""
    seen: set[tuple[Any, Any]] = set()
    kept: list[Wire] = []
    for event in events:
        key = (event.get("reply_id"), event.get("id"))
        if key not in seen:
            kept.append(event)
        seen.add(key)
    return fold(kept)


def _as_asked(asked: dict[str, Wire], call_id: str) -> Wire:
    return {key: asked[call_id][key] for key in ("name", "input")} if call_id in asked else {}


def edits_ignored(events: list[Wire]) -> list[Wire]:
    """Show the call that was asked about, and not the one that the user made of it."""
    asked = {call["id"]: call for event in events if _is(event, "REQUIRE_USER_CONFIRM") for call in event.get("tool_calls", [])}
    changed: list[Wire] = []
    for event in events:
        results: list[Wire] = event.get("confirm_results", []) if _is(event, "USER_CONFIRM_RESULT") else []
        restored = [{**result, "tool_call": {**result["tool_call"], **_as_asked(asked, result["tool_call"]["id"])}} for result in results]
        changed.append({**event, "confirm_results": restored} if restored else event)
    return fold(changed)


def external_results_ignored(events: list[Wire]) -> list[Wire]:
    """Wait for the agent to stream what came from outside."""
    return fold([event for event in events if not _is(event, "EXTERNAL_EXECUTION_RESULT")])


def last_end_wins(events: list[Wire]) -> list[Wire]:
    """Let a second end replace the first."""
    last = {event.get("reply_id"): event for event in events if _is(event, "REPLY_END")}
    return fold([event for event in events if not _is(event, "REPLY_END") or last[event.get("reply_id")] is event])


def one_reply_a_stream(events: list[Wire]) -> list[Wire]:
    """Take all events for the first reply's."""
    return fold(events)[:1]


def empty_deltas_dropped(events: list[Wire]) -> list[Wire]:
    """Drop empty deltas, also the first of a result's text."""
    return fold([event for event in events if event.get("delta") != ""])


def final_text_ignored(events: list[Wire]) -> list[Wire]:
    """Keep what the deltas made, also when the end says otherwise."""
    return fold([{key: value for key, value in event.items() if key != "text" or not _is(event, "TEXT_BLOCK_END")} for event in events])


def _end_of(block: Wire) -> str:
    return block.get("finished_at") or "~"


def sorted_blocks(events: list[Wire]) -> list[Wire]:
    """Order blocks by their ends."""
    messages = fold(events)
    for message in messages:
        blocks: list[Wire] = message["content"]
        blocks.sort(key=_end_of)
    return messages


def unknown_types_raise(events: list[Wire]) -> list[Wire]:
    """Know today's types only."""
    if any(event.get("type") not in EVENTS for event in events):
        message = "no such event"
        raise KeyError(message)
    return fold(events)
