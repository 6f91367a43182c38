"""
Envelopes of the agent protocol -> events.

Law: what happens between `lifecycle` running and its end, at the root, is one reply. A tool is told of by its own events and by a
message: what comes first counts. An event that comes twice, after a connection was lost, is applied once.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from eventfold.dialects.halves import repaired
from eventfold.dialects.run import json_text
from eventfold.jsonvalue import copy_json, is_array, is_object

from .chunks import result_of
from .fields import name_in
from .protocol import EVENTS

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from eventfold.shape import Wire

    from .decoder import LangChainDecoder
    from .replies import Reply

#: The year 3000, in milliseconds: what comes later is no time.
_LATEST = 32503680000000


class Agent:
    """Reads envelopes."""

    def __init__(self, decoder: LangChainDecoder) -> None:
        self._decoder = decoder
        self._run: Hashable = ("agent", 0)
        self._runs = 0
        self._seen: set[str | int] = set()  #: ids of the events of the run
        self._facts: Wire | None = None  #: what the run that goes on said of itself

    def envelope(self, value: Wire, params: Wire) -> Iterator[Any]:
        """Take an envelope."""
        method, namespace, data = value.get("method"), params.get("namespace"), params.get("data")
        lane = tuple(str(item) for item in namespace) if is_array(namespace) else ()
        status = name_in(data, "event") if is_object(data) else ""
        if method == "lifecycle" and not lane and status in {"running", "started"} and self._run not in self._decoder.replies.open:
            self._seen.clear()
        name = value.get("event_id", value.get("seq"))
        if isinstance(name, str | int):
            if name in self._seen:
                self._decoder.remark("langchain.redelivered", f"the event {name!r} came before")
                return
            self._seen.add(name)
        self._set_time(params.get("timestamp"))
        if method == "messages" and is_object(data) and status in EVENTS:
            place = (lane, data.get("run_id") if isinstance(data.get("run_id"), str) else None)
            yield from self._decoder.messages.event(data, self._run, place, {"namespace": list(lane)} if lane else {})
            self._mark()
        elif method == "tools" and is_object(data):
            yield from self._tool(data)
        elif method == "lifecycle" and not lane and is_object(data):
            yield from self._lifecycle(data)
        else:
            said = {"data": data, **({"namespace": list(lane)} if lane else {})}
            yield self._decoder.replies.custom(repaired(str(method)), said)
            if method == "input.requested":
                self._decoder.replies.ask(data)

    def _set_time(self, milliseconds: Any) -> None:
        if isinstance(milliseconds, int | float) and 0 <= milliseconds < _LATEST:
            self._decoder.now = datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")

    def _mark(self) -> None:
        """Note of the reply that the run said that it began, so that it will say that it ends."""
        reply = self._decoder.replies.open.get(self._run)
        if reply is not None and self._facts is not None:
            reply.marked, reply.facts = True, {**reply.facts, **self._facts}

    def _lifecycle(self, data: Wire) -> Iterator[Any]:
        """Take what the run says of itself."""
        replies, status = self._decoder.replies, name_in(data, "event")
        reply = replies.open.get(self._run)
        if status in {"running", "started"}:
            self._facts = {name: copy_json(item) for name, item in data.items() if name != "event"}
            self._mark()
            return
        if reply is None or status not in {"completed", "failed", "interrupted"}:
            yield replies.custom("lifecycle", {"data": data})
            return
        if status == "failed" or reply.error is not None:
            message = data.get("error") if isinstance(data.get("error"), str) else None
            error = reply.error or {"type": "upstream", "message": repaired(message or "the run failed")}
            yield from replies.close(self._run, "error", error)
        else:
            parked = status == "completed" or bool(reply.waiting())
            yield from replies.close(self._run, "completed" if parked else "interrupted")
        self._runs += 1
        self._run = ("agent", self._runs)
        self._facts = None

    def _tool(self, data: Wire) -> Iterator[Any]:
        """Take an event of a tool that runs."""
        replies, name, call_id = self._decoder.replies, data.get("event"), data.get("tool_call_id")
        found = replies.owner(call_id)
        if found is None:
            self._decoder.remark("langchain.result-without-call", f"{name} for {call_id!r}, which no call has")
            yield replies.custom("tools", {"data": data})
            return
        reply, key = found
        if name == "tool-started" and not reply.parked and key in reply.parts:
            yield from reply.open_result(key)
        elif name == "tool-output-delta" and not reply.parked and key in reply.running:
            yield from reply.result_text(key, json_text(data.get("delta") or ""))
        elif name == "tool-finished":
            yield from self._tool_end(reply, key, data)
        elif name == "tool-error":
            rest = {"langchain": {"code": copy_json(data["code"])}} if data.get("code") is not None else None
            yield from replies.result(call_id, repaired(json_text(data.get("message") or "")), "error", rest)
        else:
            yield replies.custom("tools", {"data": data})

    def _tool_end(self, reply: Reply, key: Hashable, data: Wire) -> Iterator[Any]:
        output = data.get("output")
        message = output if is_object(output) and "content" in output else {"content": output}
        said, state, rest = result_of({**message, "type": "tool"})
        streamed = reply.running.get(key)
        if streamed and isinstance(said, str):
            # The deltas have told it, or its beginning.
            said = said[len(streamed) :] if said.startswith(streamed) else ""
        yield from self._decoder.replies.result(data.get("tool_call_id"), said, state, rest)
