"""
Messages between an MCP client and a server -> events of ours.

Law: a session folds to one message, the client's, which holds its tools/call requests and their results; all else is kept in CUSTOM
events, named `mcp.<method>`, or `mcp_progress` and `mcp_log`. Requests and results are paired by id, in whatever order they come. What
we have said ourselves comes back as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.translation import UNFIT, UNKNOWN, Decoder, Unfit
from eventfold.jsonvalue import copy_json, depth_of, is_array, is_object
from eventfold.wire import InvalidEvent, read_event

from .rules import (
    BATCH,
    LATE_PROGRESS,
    LATE_RESPONSE,
    LOG_NOT_REQUESTED,
    NO_REQUEST,
    PROGRESS_NOT_INCREASING,
    REPEATED_RESPONSE,
    REUSED_ID,
    REUSED_TOKEN,
    UNANSWERED,
    UNKNOWN_LEVEL,
    UNKNOWN_REQUEST,
    UNKNOWN_TOKEN,
)
from .session import FINISHED, Pending, Session, Watch, id_of
from .shapes import (
    CALL_METHOD,
    CLIENT_KEY,
    EVENT_METHOD,
    LEVELS,
    LOG_LEVEL_KEY,
    LOGS_ASKED_FOR,
    MAX_MESSAGE,
    META,
    NOTIFICATIONS,
    REQUESTS,
    SERVER_REQUESTS,
    VERSION_KEY,
    Cancelled,
    Log,
    Progress,
    ResultNote,
    is_call_result,
    note_of,
    read,
)
from .toolcalls import ToolCalls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

    from .session import RequestId


class McpDecoder(Decoder):
    """Reads messages of MCP, and results that stand alone."""

    def __init__(self) -> None:
        super().__init__()
        self.tools = ToolCalls(self)
        self.sessions = 1
        self.session = Session("mcp")
        self.at = ""  #: pointer to the message in its batch

    def remark(self, rule: str, detail: str, pointer: str = "", related: int | None = None) -> None:
        """Note what the message breaks, and go on."""
        super().remark(rule, detail, f"{self.at}{pointer}", related)

    def decode(self, value: Any) -> Iterator[Any]:
        """Read a message, or a batch of them."""
        if depth_of(value) > MAX_MESSAGE:
            raise Unfit(UNFIT, f"nested deeper than {MAX_MESSAGE}")
        if not is_array(value):
            yield from self._message(value)
            return
        self.remark(BATCH, "a batch of messages")
        for place, item in enumerate(value):
            self.at = f"/{place}"
            try:
                yield from self._message(item)
            except Unfit as error:
                self.remarks.append(error.remark._replace(pointer=self.at + error.remark.pointer))
            except InvalidEvent as error:
                self.remark(UNFIT, str(error))
        self.at = ""

    def end(self) -> Iterator[Any]:
        """Say which requests wait; the reply ends when each call has its result."""
        yield from self._close()

    def _close(self) -> Iterator[Any]:
        session = self.session
        for pending in session.unanswered():
            self.remark(UNANSWERED, f"{pending.method} has no response", "", pending.index)
        if session.begun and not session.open:
            yield self.event(structs.ReplyEndEvent, reply_id=session.reply_id, session_id=session.reply_id)

    def _message(self, value: Any) -> Iterator[Any]:
        if not is_object(value):
            raise Unfit(UNFIT, "a message is an object")
        if value.get("jsonrpc") != "2.0":
            if not is_call_result(value):
                raise Unfit(UNFIT, "neither a JSON-RPC 2.0 message nor the result of a tool")
            yield from self.tools.orphan(self.session.call_id(f"result-{self.index + 1}"), value, "")
        elif "method" in value:
            if not isinstance(value["method"], str):
                raise Unfit(UNFIT, "a method is text", "/method")
            yield from self._request(value) if "id" in value else self._notification(value)
        elif ("result" in value) != ("error" in value):
            yield from self._response(value)
        else:
            raise Unfit(UNFIT, "neither a request, a notification nor a response")

    def custom(self, name: str, value: Wire) -> Any:
        """Keep a value of theirs."""
        return self.event(structs.CustomEvent, name=name, value=copy_json(value))

    # --- requests -------------------------------------------------------------------------------

    def _request(self, value: Wire) -> Iterator[Any]:
        method: str = value["method"]
        request_id = id_of(value["id"])
        params = value.get("params")
        if method == "initialize" and (self.session.initialized or self.session.begun):
            yield from self._close()
            self.sessions += 1
            self.session = Session(f"mcp/{self.sessions}")
        if method in SERVER_REQUESTS:
            known = self.session.serving
        else:
            known = self.session.waiting
            self._learn(method, params if is_object(params) else {})
        if self._is_repeated(request_id, value, known):
            return
        pending = Pending(method, self.index, value)
        if method == CALL_METHOD:
            yield from self.tools.request(pending, request_id, {} if params is None else params)
        else:
            if method not in REQUESTS:
                self.remark(UNKNOWN, f"no method of MCP: {method[:60]!r}", "/method")
            pending.call = self.tools.awaited(method, params)
            yield self.custom(f"mcp.{method}", value)
        known[request_id] = pending
        self._watch(pending, params)

    def _learn(self, method: str, params: Wire) -> None:
        """Learn who the client is, and which revision it speaks."""
        meta = params.get(META)
        meta = meta if is_object(meta) else {}
        session = self.session
        session.initialized = session.initialized or method == "initialize"
        info = params.get("clientInfo") if method == "initialize" else meta.get(CLIENT_KEY)
        if is_object(info) and isinstance(info.get("name"), str):
            session.name = info["name"]
        version = meta.get(VERSION_KEY)
        session.modern = session.modern or (isinstance(version, str) and version >= LOGS_ASKED_FOR)

    def _is_repeated(self, request_id: RequestId, value: Wire, known: dict[RequestId, Pending]) -> bool:
        """Tell whether a request came before, word by word, and waits. One that only has its id goes on."""
        session = self.session
        side = known is session.serving
        before = known.get(request_id)
        first = session.used.setdefault((side, request_id), self.index)
        if before is not None and before.value == value:
            self.remark(REUSED_ID, "the same request again, while it waits", "/id", before.index)
            return True
        if first != self.index:
            self.remark(REUSED_ID, f"the id {request_id!r:.60} was used before", "/id", first)
        if before is not None:
            session.superseded.append(before)
        session.cancelled.pop(request_id, None)
        return False

    def _watch(self, pending: Pending, params: Any) -> None:
        """Note the progress token of a request, and whether it wants logs."""
        meta = params.get(META) if is_object(params) else None
        if not is_object(meta):
            return
        pending.logs = LOG_LEVEL_KEY in meta
        token = meta.get("progressToken")
        if token is None:
            return
        token = id_of(token, "/params/_meta/progressToken")
        before = self.session.tokens.get(token)
        if before is not None and before.active:
            self.remark(
                REUSED_TOKEN, f"the token {token!r:.60} belongs to a request that waits", "/params/_meta/progressToken", before.index
            )
        pending.token = token
        self.session.tokens[token] = Watch(pending.call, self.index)

    # --- responses ------------------------------------------------------------------------------

    def _response(self, value: Wire) -> Iterator[Any]:
        session = self.session
        if value.get("id") is None and "error" in value:
            yield self.custom("mcp.error", value)
            return
        request_id = id_of(value.get("id"))
        pending = self._take(request_id, value)
        if pending is None:
            yield from self._unexpected(request_id, value)
        else:
            session.answered[request_id] = self.index
            self._unwatch(pending)
            if pending.call is None:
                yield self.custom(f"mcp.{pending.method}.{'error' if 'error' in value else 'result'}", value)
            else:
                yield from self.tools.response(pending, value)

    def _take(self, request_id: RequestId, value: Wire) -> Pending | None:
        """Find the request of a response. Client and server count for themselves, so that what the result holds may have to decide."""
        waiting, serving = self.session.waiting, self.session.serving
        if request_id in waiting and request_id in serving:
            result = value.get("result")
            asked = is_object(result) and SERVER_REQUESTS[serving[request_id].method] in result
            return serving.pop(request_id) if asked else waiting.pop(request_id)
        return waiting.pop(request_id, None) or serving.pop(request_id, None)

    def _unwatch(self, pending: Pending) -> None:
        if pending.token is not None:
            self.session.tokens[pending.token].active = False

    def _unexpected(self, request_id: RequestId, value: Wire) -> Iterator[Any]:
        session = self.session
        result = value.get("result")
        if request_id in session.cancelled:
            self.remark(LATE_RESPONSE, f"the request {request_id!r:.60} was cancelled", "/id", session.cancelled[request_id])
        elif request_id in session.answered:
            self.remark(REPEATED_RESPONSE, f"the request {request_id!r:.60} has its response", "/id", session.answered[request_id])
        else:
            self.remark(NO_REQUEST, f"no request has the id {request_id!r:.60}", "/id")
            session.answered[request_id] = self.index
            if is_call_result(result):
                yield from self.tools.orphan(session.call_id(request_id), result, "/result")
                return
        yield self.custom("mcp.response", value)

    # --- notifications --------------------------------------------------------------------------

    def _notification(self, value: Wire) -> Iterator[Any]:
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
            self.remark(UNKNOWN, f"no method of MCP: {method[:60]!r}", "/method")
        yield self.custom(f"mcp.{method}", value)

    def _event(self, value: Wire, params: Wire) -> Iterator[Any]:
        """Give the event of ours that a notification carries."""
        del value
        event = params.get("event")
        if not is_object(event):
            raise Unfit(UNFIT, "an event of ours is an object", "/params/event")
        read_back = read_event(event)
        self.now = read_back.created_at
        if getattr(read_back, "reply_id", None) == self.session.reply_id and not self.session.begun:
            # A reply of ours that is called as we would call theirs.
            self.session.reply_id += "/theirs"
        yield read_back

    def _progress(self, value: Wire, params: Wire) -> Iterator[Any]:
        del value
        progress = read(Progress, params, "/params")
        watch = self.session.tokens.get(id_of(progress.progress_token, "/params/progressToken"))
        kept = copy_json(params)
        if watch is None:
            self.remark(UNKNOWN_TOKEN, f"no request has the token {progress.progress_token!r:.60}", "/params/progressToken")
        else:
            if watch.call is not None:
                kept.setdefault("tool_call_id", watch.call.id)
            if not watch.active:
                self.remark(LATE_PROGRESS, "the request has its response", "/params/progressToken", watch.index)
            if watch.last is not None and not progress.progress > watch.last:
                self.remark(PROGRESS_NOT_INCREASING, f"{progress.progress} after {watch.last}", "/params/progress")
            watch.last = progress.progress
        yield self.custom("mcp_progress", kept)

    def _log(self, value: Wire, params: Wire) -> Iterator[Any]:
        del value
        log = read(Log, params, "/params")
        session = self.session
        if log.level not in LEVELS:
            self.remark(UNKNOWN_LEVEL, f"{log.level[:60]!r} is no level", "/params/level")
        if session.modern and not any(pending.logs for pending in session.waiting.values()):
            self.remark(LOG_NOT_REQUESTED, "no request that waits has asked for logs")
        yield self.custom("mcp_log", params)

    def _cancelled(self, value: Wire, params: Wire) -> Iterator[Any]:
        session = self.session
        cancelled = read(Cancelled, params, "/params")
        if cancelled.request_id is None:
            yield self.custom("mcp.notifications/cancelled", value)
            return
        request_id = id_of(cancelled.request_id, "/params/requestId")
        known = session.waiting if request_id in session.waiting else session.serving
        pending = known.pop(request_id, None)
        if pending is None:
            first = session.answered.get(request_id)
            self.remark(UNKNOWN_REQUEST, f"no request with the id {request_id!r:.60} waits", "/params/requestId", first)
            yield self.custom("mcp.notifications/cancelled", value)
            return
        session.cancelled[request_id] = self.index
        self._unwatch(pending)
        note = note_of(params, ResultNote)
        if pending.call is None or pending.method != CALL_METHOD:
            yield self.custom("mcp.notifications/cancelled", value)
        elif note is None or not note.told:
            yield from self.tools.interrupt(pending.call, {key: item for key, item in params.items() if key != "requestId"})
        else:
            pending.call.stage = FINISHED
