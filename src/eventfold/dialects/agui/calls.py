"""
Calls, results and snapshots of AG-UI -> blocks of ours.

Law: a call has one result; a second one is kept beside it. Of a snapshot, what this run said and nobody streamed is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventfold_models import structs

from eventfold.jsonvalue import copy_json

from .blocks import Blocks
from .content import LEFT, read_output
from .lanes import FOREIGN, Call
from .shapes import Type

if TYPE_CHECKING:
    from eventfold.shape import Wire

#: A loss of what others send.
MERGED = "texts that follow each other in a result become one"


class Calls(Blocks):
    """What is known of the calls of a stream."""

    def call_started(self, event: Wire) -> None:
        """Begin a call, unless its arguments are open."""
        call = self.calls.get(event["toolCallId"])
        if call is not None and call.open and not call.lane.ended:
            self.keep(event)
        else:
            self._start_call(event)

    def call_grew(self, event: Wire) -> None:
        """Let the arguments of a call grow."""
        call = self.calls.get(event["toolCallId"])
        if call is None or not call.open or call.lane.ended:
            head = {key: event[key] for key in ("toolCallId", "subagentRunId") if key in event}
            call = self._start_call({**head, "toolCallName": call.name if call is not None else ""})
        call.args.append(event["delta"])
        metadata = self.kept(event, "toolCallId", "delta")
        fields: Wire = {"tool_call_id": call.id, "delta": event["delta"], "metadata": metadata}
        self.add(structs.ToolCallDeltaEvent, reply_id=call.lane.reply_id, **fields)

    def call_ended(self, event: Wire) -> None:
        """End the arguments of a call."""
        call = self.calls.get(event["toolCallId"])
        if call is None or not call.open or call.lane.ended:
            self.keep(event)
            return
        call.open = False
        fields: Wire = {"tool_call_id": call.id, "metadata": self.kept(event, "toolCallId")}
        self._hold("tool-call", event["toolCallId"], structs.ToolCallEndEvent, {"reply_id": call.lane.reply_id, **fields}, call.extra)

    def _start_call(self, event: Wire) -> Call:
        """Begin a call. One that is known goes on, as long as it has no result."""
        key: str = event["toolCallId"]
        lane = self.lane(event)
        call = self.calls.get(key)
        if call is None or call.answered or call.lane is not lane:
            call = self.calls[key] = Call(lane, self.unique(f"{lane.reply_id}\0call", key), event["toolCallName"])
        call.open = True
        metadata = self.kept(event, "toolCallId", "toolCallName")
        name = event["toolCallName"]
        self.add(structs.ToolCallStartEvent, reply_id=lane.reply_id, tool_call_id=call.id, tool_call_name=name, metadata=metadata)
        return call

    def result(self, event: Wire) -> None:
        """Give a result whole. A second one for a call is kept beside it."""
        self.seen.add(event["messageId"])
        call = self.calls.get(event["toolCallId"])
        if call is not None and call.answered:
            self.keep(event)
            return
        if call is None:
            lane = self.lane(event)
            call = self.calls[event["toolCallId"]] = Call(lane, self.unique(f"{lane.reply_id}\0call", event["toolCallId"]), "")
        call.answered = True
        fields: Wire = {"reply_id": call.lane.reply_id, "tool_call_id": call.id}
        self.add(structs.ToolResultStartEvent, **fields, tool_call_name=call.name)
        if isinstance(event["content"], str):
            if event["content"]:
                self.add(structs.ToolResultTextDeltaEvent, **fields, delta=event["content"])
        else:
            self._parts(event, fields)
        # What is said here becomes the metadata of the result.
        metadata = self.kept(event, "messageId", "toolCallId", "content", "role")
        self.add(structs.ToolResultEndEvent, **fields, state="success", metadata=metadata)

    def _parts(self, event: Wire, fields: Wire) -> None:
        before = ""
        for block in read_output(event["content"], None, f"{event['messageId']}/"):
            kept = {FOREIGN: {"part": block[LEFT]}} if LEFT in block else None
            if block["type"] == "text":
                if before == "text":
                    self.lose(MERGED, "/content")
                self.add(structs.ToolResultTextDeltaEvent, **fields, delta=block["text"], metadata=kept)
            else:
                source = block["source"]
                given = {key: source[key] for key in ("data", "url", "media_type") if key in source}
                self.add(structs.ToolResultDataDeltaEvent, **fields, **given, block_id=block["id"], metadata=kept)
            before = block["type"]

    def snapshot(self, event: Wire) -> None:
        """Keep a snapshot, and take out of it what this run said and nobody streamed: what follows the last user message."""
        self.keep(event)
        said: list[Wire] = []
        for message in event["messages"]:
            said = [] if message["role"] == "user" else [*said, message]
        for message in said:
            if message["id"] in self.seen:
                continue
            self.seen.add(message["id"])
            for told in _streamed(message):
                self.replay(copy_json(told))

    def replay(self, event: Wire) -> None:
        """Translate an event that a snapshot stands for."""
        raise NotImplementedError


def _streamed(message: Wire) -> list[Wire]:
    """Say a message of a snapshot as the events that it could have been streamed by."""
    role, key = message["role"], message["id"]
    tag = {"subagentRunId": message["subagentRunId"]} if "subagentRunId" in message else {}
    text = message.get("content")
    if role == "tool":
        return [{"type": Type.TOOL_CALL_RESULT, "messageId": key, "toolCallId": message["toolCallId"], "content": text, **tag}]
    if role not in {"assistant", "reasoning"}:
        return []
    name = "TEXT_MESSAGE" if role == "assistant" else "REASONING_MESSAGE"
    events: list[Wire] = []
    if text:
        events = [
            {"type": f"{name}_START", "messageId": key, **tag, "role": role},
            {"type": f"{name}_CONTENT", "messageId": key, **tag, "delta": text},
            {"type": f"{name}_END", "messageId": key, **tag},
        ]
    if "encryptedValue" in message:
        value = {"subtype": "message", "entityId": key, "encryptedValue": message["encryptedValue"]}
        events.insert(-1, {"type": Type.REASONING_ENCRYPTED_VALUE, **value})
    for call in message.get("toolCalls", ()):
        function = call["function"]
        events += [
            {"type": Type.TOOL_CALL_START, "toolCallId": call["id"], "toolCallName": function["name"], "parentMessageId": key, **tag},
            {"type": Type.TOOL_CALL_ARGS, "toolCallId": call["id"], **tag, "delta": function["arguments"]},
            {"type": Type.TOOL_CALL_END, "toolCallId": call["id"], **tag},
        ]
    return events
