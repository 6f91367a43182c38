"""
The provider's stream -> our events: responses that begin, go on and end.

Law: whatever comes, each response that began is one reply. A whole response that was not streamed is one as well.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.halves import mended, repaired
from eventfold.dialects.translation import UNFIT, UNKNOWN, Decoder, Unfit
from eventfold.effects import LARGEST
from eventfold.jsonvalue import depth_of, is_object, object_of
from eventfold.wire.json_text import MAX_DEPTH

from .growing import grow
from .items import KEY, Item, rest_of, text_of
from .protocol import ENDS, ERRORS, EVENTS, GOES_ON, LIFECYCLE
from .reply import Reply
from .rules import AFTER_END, ANOTHER_ID, CREATED_AGAIN, CUSTOM, GAP, NO_COUNT, NOT_CREATED, REDELIVERED, REPEATED_ID, TRUNCATED

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Our counts, and where the provider's usage has them.
_USAGE = {
    "input_tokens": ("input_tokens",),
    "output_tokens": ("output_tokens",),
    "cache_input_tokens": ("input_tokens_details", "cached_tokens"),
    "cache_creation_input_tokens": ("input_tokens_details", "cache_write_tokens"),
}
#: When the provider's clock begins, and the last second that has a date.
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = 253402300799


class ResponsesDecoder(Decoder):
    """Reads streams of events, and whole responses."""

    halves = True

    def __init__(self) -> None:
        super().__init__()
        self._reply: Reply | None = None
        self._id = ""  #: of the response that runs or ran last, as the provider says it
        self._error: Item | None = None  #: what an event told, until the response ends
        self._ids: set[str] = set()
        self._sent: dict[int, Any] = {}  #: what came, by sequence_number
        self._last: int | None = None  #: the greatest of these numbers
        self._trusted = True  #: whether sequence_number tells events apart

    def decode(self, value: Any) -> Iterator[Any]:
        """Translate a value."""
        if not is_object(value):
            raise Unfit(UNFIT, "an event is a JSON object")
        if any(item and isinstance(item, dict | list) for item in value.values()) and depth_of(value) > MAX_DEPTH:
            raise Unfit(UNFIT, f"nested deeper than {MAX_DEPTH}")
        kind = text_of(value.get("type"))
        if kind in LIFECYCLE:
            response = value.get("response")
            if not is_object(response):
                raise Unfit(UNFIT, "a response is a JSON object", "/response")
            yield from self._live(response, LIFECYCLE[kind], value)
        elif not kind and value.get("object") == "response":
            status = text_of(value.get("status"))
            if status not in ENDS and status not in GOES_ON:
                raise Unfit(UNFIT, f"a response of status {status!r}", "/status")
            yield from self._live(value, status, value)
        elif kind == "error" or (kind not in EVENTS and value.get("error")):
            yield from self._fail(value)
        elif kind in EVENTS:
            yield from self._go_on(value)
        elif not self._runs() or not self._again(value):
            # Its number counts, though nobody knows what it says: otherwise the next event would seem to leave one out.
            self.remark(UNKNOWN, f"a value of type {kind!r}", "/type")
            name = CUSTOM + (repaired(kind.removeprefix("response.")) or "value")
            yield self.event(structs.CustomEvent, name=name, value=mended(value))

    def done(self) -> Iterator[Any]:
        """Translate the text [DONE], which gateways send."""
        yield from super().done()
        yield from self._stop()

    def end(self) -> Iterator[Any]:
        """Translate the end."""
        yield from self._stop()

    def _live(self, response: Item, status: str, value: Item) -> Iterator[Any]:
        """Translate a value that holds the response: it begins, goes on or ends."""
        found = response.get("id")
        found = found if isinstance(found, str) else ""
        whole = value is response
        running = self._runs()
        another = found != self._id or (not found and self._reply is not None and bool(self._reply.slots))
        if running and another and (whole or status == "created"):
            yield from self._stop()
            running = False
        if running and found != self._id and found:
            if self._id:
                self.remark(ANOTHER_ID, f"the response was {self._id!r} and is {found!r}", "/response/id")
            self._id = found
        elif running and status == "created":
            self.remark(CREATED_AGAIN, f"{found!r} runs already", "/response/id")
        elif not running:
            if found and found == self._id and status != "created" and not whole:
                self.remark(AFTER_END, f"the response {found!r} has ended", "/response/id")
                return
            if status != "created" and not whole:
                self.remark(NOT_CREATED, f"the response {found!r} was not created", "/type")
            yield from self._begin(response, value)
        self._again(value)
        if status in ENDS and self._reply is not None:
            yield from self._finish(self._reply, response, status)

    def _runs(self) -> bool:
        """Tell whether a response has begun and not ended."""
        return self._reply is not None and not self._reply.response.ended

    def _begin(self, response: Item, value: Item) -> Iterator[Any]:
        self._id = response["id"] if isinstance(response.get("id"), str) else ""
        wanted = repaired(self._id) or f"response-{len(self._ids) + 1}"
        reply_id = wanted
        if reply_id in self._ids:
            self.remark(REPEATED_ID, f"there was a response {reply_id!r} before", "/response/id")
            reply_id = next(new for i in range(1, len(self._ids) + 2) if (new := f"{wanted}#{i}") not in self._ids)
        self._ids.add(reply_id)
        self._sent.clear()
        self._last = None
        self._trusted = True
        self._error = None
        self._tell_time(response.get("created_at"))
        self._reply = Reply(self.event, self.remark, reply_id)
        session = object_of(response.get("conversation")).get("id")
        said = _metadata(response) if value is response else _metadata(response, "status")
        yield from self._reply.response.start(
            repaired(model) if isinstance(model := response.get("model"), str) else "",
            session_id=repaired(session) if isinstance(session, str) else "",
            metadata={KEY: said} if said else None,
        )

    def _go_on(self, value: Item) -> Iterator[Any]:
        if self._reply is None:
            self.remark(NOT_CREATED, "the response was not created", "/type")
            yield from self._begin({}, value)
        if self._reply is None or self._reply.response.ended:
            self.remark(AFTER_END, f"{value['type']} comes after the response has ended", "/type")
        elif not self._again(value):
            yield from grow(self._reply, value)

    def _finish(self, reply: Reply, response: Item, status: str) -> Iterator[Any]:
        """End the response, with what it says at last."""
        yield from reply.finish(response.get("output"), whole=status == "completed")
        self._tell_time(response.get("completed_at"))
        reason, error = ENDS[status], response.get("error") or self._error
        if self._error is not None or status == "failed":
            reason = "error"
        if reason != "error":
            yield from reply.cut(everything=reason == "interrupted")
        said = _metadata(response)
        if self._error is not None and "error" not in said:
            said["error"] = self._error
        reply.response.metadata = {KEY: said} if said else {}
        reply.response.usage = self._count(object_of(response.get("usage")))
        yield from reply.response.end(reason, _error(error) if reason == "error" else None)

    def _fail(self, value: Item) -> Iterator[Any]:
        """Note an error. What comes after it says how the response ended, if anything does."""
        told = value.get("error")
        self._error = rest_of(told) if is_object(told) else rest_of(value, "type", "sequence_number")
        if self._reply is None or self._reply.response.ended:
            error = self._error
            yield from self._begin({}, value)
            self._error = error
        self._again(value)

    def _stop(self) -> Iterator[Any]:
        """End a response that goes no further."""
        reply = self._reply
        if reply is None or reply.response.ended:
            return
        yield from reply.finish(None, whole=False)
        if self._error is not None:
            reply.response.metadata = {KEY: {"error": self._error}}
            yield from reply.response.end("error", _error(self._error))
            return
        self.remark(TRUNCATED, f"the response {self._id!r} has not ended")
        yield from reply.response.stop("the stream stopped before the response ended")

    def _again(self, value: Item) -> bool:
        """Tell whether an event came before. Remarks on it, and on events that are missing."""
        number = value.get("sequence_number")
        if not isinstance(number, int) or not self._trusted:
            return False
        mark = (value.get("type"), value.get("output_index"), value.get("delta"))
        if number in self._sent:
            if self._sent[number] == mark:
                self.remark(REDELIVERED, f"event {number} came before", "/sequence_number")
                return True
            self._trusted = False
        elif self._last is not None and number != self._last + 1:
            self.remark(GAP, f"{number} follows {self._last}", "/sequence_number")
        self._sent[number] = mark
        self._last = number if self._last is None else max(number, self._last)
        return False

    def _tell_time(self, seconds: Any) -> None:
        """Set the time, if it is one."""
        if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds <= _LAST:
            when = _BEGINNING + timedelta(seconds=seconds)
            self.now = when.isoformat().replace("+00:00", "Z")

    def _count(self, usage: Item) -> Item:
        """Give our counts of the provider's usage."""
        counts: Item = {}
        for name, path in _USAGE.items():
            value: Any = usage
            for key in path:
                value = object_of(value).get(key)
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST:
                counts[name] = value
            elif value is not None:
                self.remark(NO_COUNT, f"{name} is {value!r:.60}", f"/response/usage/{'/'.join(path)}")
        return counts


def _metadata(response: Item, *but: str) -> Item:
    """Give what the message's own fields do not say of a response."""
    return rest_of(response, "object", "output", *but)


def _error(error: Any) -> Item:
    """Give an error in our words."""
    told = object_of(error)
    code = text_of(told.get("code") or told.get("type"))
    message = told.get("message")
    kind = ERRORS.get(code, "invalid_request" if code.startswith("invalid_") else "upstream" if told else "unknown")
    return {"type": kind, "message": repaired(message) if isinstance(message, str) else "the response failed"}
