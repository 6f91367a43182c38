"""
What a user of AG-UI's client should see of our messages, written without a line of the encoder.

`project` says it from the folded message alone; `shown` tidies what the client made, so that the two can be compared: by reply,
with calls named by their place, results of one round in the order of their calls, and without ids and metadata.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from support import Wire

NAMESPACE = "eventfold"
MEDIA = ("image", "audio", "video")


def project(message: Wire) -> list[Wire]:
    """Say a message of ours as the client's messages."""
    seen: list[Wire] = []
    calls: list[tuple[str, Wire]] = []
    counts: dict[str, int] = {}
    before = ""
    for block in message["content"]:
        kind = block["type"]
        if kind == "text":
            seen.append({"role": message["role"], "content": block["text"], **_encrypted(block)})
        elif kind == "thinking":
            seen.append({"role": "reasoning", "content": block["thinking"], **_encrypted(block)})
        elif kind in {"data", "hint"}:
            seen.append({"role": "activity", "activityType": f"eventfold.{kind}", "content": block})
        elif kind == "tool_call":
            if before not in {"text", "tool_call"}:
                seen.append({"role": "assistant"})
            carrier = next(each for each in reversed(seen) if each["role"] != "tool")
            function = {"name": block["name"], "arguments": block["input"]}
            carrier.setdefault("toolCalls", []).append({"type": "function", "function": function, "call": len(calls), **_encrypted(block)})
            calls.append((block["id"], carrier))
        elif kind == "tool_result":
            # Results pair with the calls of their id, one after the other.
            nth = counts[block["id"]] = counts.get(block["id"], -1) + 1
            same = [place for place, (key, _) in enumerate(calls) if key == block["id"]]
            if block["state"] != "running" and "x_provisional" not in block:
                place = same[min(nth, len(same) - 1)]
                carrier = calls[place][1]
                behind = next(i for i, each in enumerate(seen) if each is carrier) + 1
                seen.insert(behind, {"role": "tool", "call": place, "content": _content(block["output"])})
        before = kind
    return _sorted(seen)


def _encrypted(block: Wire) -> Wire:
    ended = "finished_at" in block and isinstance(block.get("signature"), str)
    return {"encryptedValue": block["signature"]} if ended else {}


def _content(output: Any) -> Any:
    if isinstance(output, str):
        return output
    if len(output) <= 1 and all(part["type"] == "text" for part in output):
        return "".join(part["text"] for part in output)
    return [_part(part) for part in output]


def _part(part: Wire) -> Wire:
    if part["type"] == "text":
        return {"type": "text", "id": part["id"], "text": part["text"]}
    source = part["source"]
    kind = source["media_type"].split("/")[0]
    value = {"type": "url", "value": source["url"]} if source["type"] == "url" else {"type": "data", "value": source["data"]}
    return {"type": kind if kind in MEDIA else "document", "id": part["id"], "source": {**value, "mimeType": source["media_type"]}}


def _sorted(messages: list[Wire]) -> list[Wire]:
    """Put the results that follow each other into the order of their calls."""
    ordered: list[Wire] = []
    results: list[Wire] = []
    for message in [*messages, {"role": ""}]:
        if message["role"] == "tool":
            results.append(message)
        else:
            ordered += sorted(results, key=lambda each: json.dumps(each["call"]))
            results = []
            ordered.append(message)
    return ordered[:-1]


def owners(events: list[Wire]) -> dict[tuple[str, str], str]:
    """Tell whose the messages and calls are of a stream that went out: by the run, or the sub-agent, that they came in."""
    speakers: dict[str | None, str] = {}
    found: dict[tuple[str, str], str] = {}
    for event in events:
        own = event.get("metadata", {}).get(NAMESPACE, {})
        if event["type"] in {"RUN_STARTED", "SUBAGENT_STARTED"}:
            speakers[event.get("subagentRunId")] = own.get("resumed") or own.get("event", {}).get("reply_id", "")
        speaker = speakers.get(event.get("subagentRunId"), "")
        for kind, field in (("message", "messageId"), ("message", "parentMessageId"), ("call", "toolCallId")):
            if field in event:
                found.setdefault((kind, event[field]), speaker)
    return found


def shown(messages: list[Wire], events: list[Wire], reply_id: str) -> list[Wire]:
    """Tidy what the client made of a reply."""
    whose = owners(events)
    own = [message for message in messages if whose["message", message["id"]] == reply_id]
    order: dict[str, int] = {}
    for event in events:
        if event["type"] == "TOOL_CALL_START" and whose["call", event["toolCallId"]] == reply_id:
            order.setdefault(event["toolCallId"], len(order))
    return _sorted([_tidy(message, order) for message in own])


def _tidy(message: Wire, order: dict[str, int]) -> Wire:
    told = message.get("metadata", {}).get(NAMESPACE, {})
    tidy = {key: value for key, value in message.items() if key not in {"id", "metadata", "subagentRunId", "toolCallId", "toolCalls"}}
    if "text" in told.get("event", {}):
        # A final text that is no continuation of what was streamed.
        tidy["content"] = told["event"]["text"]
    if message["role"] == "tool":
        tidy["call"] = order[message["toolCallId"]]
        if not isinstance(message["content"], str):
            tidy["content"] = [{key: value for key, value in part.items() if key != "metadata"} for part in message["content"]]
    if "toolCalls" in message:
        tidy["toolCalls"] = [_tidy_call(call, order) for call in message["toolCalls"]]
    return tidy


def _tidy_call(call: Wire, order: dict[str, int]) -> Wire:
    told = call.get("metadata", {}).get(NAMESPACE, {})
    rest = {key: value for key, value in call.items() if key not in {"id", "metadata", "function"}}
    # What the user changed while confirming.
    edited = {"name": told["name"], "arguments": told["input"]} if "input" in told else call["function"]
    return {**rest, "function": edited, "call": order[call["id"]]}
