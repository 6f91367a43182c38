"""
The notifications of MCP, and the one that is ours -> events of ours.

Law: nothing of a notification is lost: progress, logs and all that is not about a tool call become CUSTOM events, and what a
notification of ours carries comes back as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.translation import UNFIT, UNKNOWN, Unfit
from eventfold.jsonvalue import copy_json, is_object
from eventfold.wire import read_event

from .notes import ResultNote, note_of
from .rules import LATE_PROGRESS, LOG_NOT_REQUESTED, PROGRESS_NOT_INCREASING, UNKNOWN_LEVEL, UNKNOWN_REQUEST, UNKNOWN_TOKEN
from .session import FINISHED, id_of
from .shapes import CALL_METHOD, EVENT_METHOD, LEVELS, NOTIFICATIONS, Cancelled, Log, Progress, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

    from .decoder import McpDecoder


class Notices:
    """Reads the notifications of a decoder's stream."""

    def __init__(self, decoder: McpDecoder) -> None:
        self.decoder = decoder

    def read(self, value: Wire) -> Iterator[Any]:
        """Read a notification. Raises Unfit."""
        method: str = value["method"]
        params = value.get("params")
        handle = {
            EVENT_METHOD: self._event,
            "notifications/progress": self._progress,
            "notifications/message": self._log,
            "notifications/cancelled": self._cancelled,
        }.get(method)
        if handle is not None:
            if not is_object(params):
                raise Unfit(UNFIT, "params are an object", "/params")
            yield from handle(value, params)
            return
        if method not in NOTIFICATIONS:
            self.decoder.remark(UNKNOWN, f"no method of MCP: {method[:60]!r}", "/method")
        yield self.decoder.custom(f"mcp.{method}", value)

    def _event(self, value: Wire, params: Wire) -> Iterator[Any]:
        """Give the event of ours that a notification carries."""
        del value
        event = params.get("event")
        if not is_object(event):
            raise Unfit(UNFIT, "an event of ours is an object", "/params/event")
        read_back = read_event(event)
        self.decoder.now = read_back.created_at
        if getattr(read_back, "reply_id", None) == self.decoder.session.reply_id and not self.decoder.session.begun:
            # A reply of ours that is called as we would call theirs.
            self.decoder.session.reply_id += "/theirs"
        yield read_back

    def _progress(self, value: Wire, params: Wire) -> Iterator[Any]:
        del value
        progress = read(Progress, params, "/params")
        watch = self.decoder.session.tokens.get(id_of(progress.progress_token, "/params/progressToken"))
        kept = copy_json(params)
        if watch is None:
            self.decoder.remark(UNKNOWN_TOKEN, f"no request has the token {progress.progress_token!r:.60}", "/params/progressToken")
        else:
            if watch.call is not None:
                kept.setdefault("tool_call_id", watch.call.id)
            if not watch.active:
                self.decoder.remark(LATE_PROGRESS, "the request has its response", "/params/progressToken", watch.index)
            if watch.last is not None and not progress.progress > watch.last:
                self.decoder.remark(PROGRESS_NOT_INCREASING, f"{progress.progress} after {watch.last}", "/params/progress")
            watch.last = progress.progress
        yield self.decoder.custom("mcp_progress", kept)

    def _log(self, value: Wire, params: Wire) -> Iterator[Any]:
        del value
        log = read(Log, params, "/params")
        session = self.decoder.session
        if log.level not in LEVELS:
            self.decoder.remark(UNKNOWN_LEVEL, f"{log.level[:60]!r} is no level", "/params/level")
        if session.modern and not any(pending.logs for pending in session.waiting.values()):
            self.decoder.remark(LOG_NOT_REQUESTED, "no request that waits has asked for logs")
        yield self.decoder.custom("mcp_log", params)

    def _cancelled(self, value: Wire, params: Wire) -> Iterator[Any]:
        session = self.decoder.session
        cancelled = read(Cancelled, params, "/params")
        if cancelled.request_id is None:
            yield self.decoder.custom("mcp.notifications/cancelled", value)
            return
        request_id = id_of(cancelled.request_id, "/params/requestId")
        known = session.waiting if request_id in session.waiting else session.serving
        pending = known.pop(request_id, None)
        if pending is None:
            first = session.answered.get(request_id)
            self.decoder.remark(UNKNOWN_REQUEST, f"no request with the id {request_id!r:.60} waits", "/params/requestId", first)
            yield self.decoder.custom("mcp.notifications/cancelled", value)
            return
        session.cancelled[request_id] = self.decoder.index
        self.decoder.unwatch(pending)
        note = note_of(params, ResultNote)
        if pending.call is None or pending.method != CALL_METHOD:
            yield self.decoder.custom("mcp.notifications/cancelled", value)
        elif note is None or not note.told:
            yield from self.decoder.tools.interrupt(pending.call, {key: item for key, item in params.items() if key != "requestId"})
        else:
            pending.call.stage = FINISHED
