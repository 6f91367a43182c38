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
from eventfold.wire import InvalidEvent

from .notices import Notices
from .recognition import is_call_result
from .rules import BATCH, LATE_RESPONSE, NO_REQUEST, REPEATED_RESPONSE, REUSED_ID, REUSED_TOKEN, UNANSWERED
from .session import Pending, Session, Watch, id_of
from .shapes import CALL_METHOD, CLIENT_KEY, LOG_LEVEL_KEY, LOGS_ASKED_FOR, MAX_MESSAGE, META, REQUESTS, SERVER_REQUESTS, VERSION_KEY
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
        self.notices = Notices(self)
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
            yield from self._request(value) if "id" in value else self.notices.read(value)
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
            self.unwatch(pending)
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

    def unwatch(self, pending: Pending) -> None:
        """Note that a request needs no more progress."""
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
