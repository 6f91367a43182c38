"""Streams of Anthropic, and messages that were not streamed -> events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.halves import repaired
from eventfold.dialects.translation import UNFIT, UNKNOWN, Decoder, Unfit
from eventfold.jsonvalue import copy_json, depth_of, is_object, shown
from eventfold.wire.json_text import MAX_DEPTH

from .answer import Answer
from .forms import DELTAS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from eventfold.shape import Wire

#: Kinds of error there, and of ours. The rest is "unknown".
ERRORS = {
    "invalid_request_error": "invalid_request",
    "request_too_large": "invalid_request",
    "not_found_error": "invalid_request",
    "authentication_error": "authentication",
    "permission_error": "permission",
    "billing_error": "permission",
    "rate_limit_error": "rate_limit",
    "api_error": "upstream",
    "overloaded_error": "upstream",
    "timeout_error": "connection",
}

#: Deepest nesting of a value that is read: what is kept of it stands a few levels deeper in our events.
DEEPEST = MAX_DEPTH - 8


class AnthropicDecoder(Decoder):
    """Reads streams of Anthropic; each message is one reply."""

    halves = True

    def __init__(self) -> None:
        super().__init__()
        self._answer: Answer | None = None  # the message under way
        self._ids: set[str] = set()
        self._began = 0
        self._handlers: dict[str, Callable[[Wire], Iterator[Any]]] = {
            "message": self._whole,
            "message_start": self._message_start,
            "content_block_start": self._block_start,
            "content_block_delta": self._block_delta,
            "content_block_stop": self._block_stop,
            "message_delta": self._message_delta,
            "message_stop": self._message_stop,
            "error": self._error,
            "ping": self._ping,
        }

    def decode(self, value: Any) -> Iterator[Any]:
        """Translate an event of a stream, or a whole message."""
        if not is_object(value):
            raise Unfit(UNFIT, f"an event is {shown(value)}, expected an object")
        if depth_of(value) > DEEPEST:
            raise Unfit(UNFIT, f"an event is nested deeper than {DEEPEST}")
        value = _well_formed(value)
        kind = value.get("type")
        handle = self._handlers.get(kind) if isinstance(kind, str) else None
        if handle is not None:
            yield from handle(value)
            return
        self.remark(UNKNOWN, f"an event of type {shown(kind)}", "/type")
        yield self._custom(kind if isinstance(kind, str) and kind else "unknown", value)

    def end(self) -> Iterator[Any]:
        """End the message that is under way."""
        yield from self._leave()

    def _message_start(self, value: Wire) -> Iterator[Any]:
        message = self._part(value, "message")
        if self._answer is not None and message.get("id") == self._answer.id:
            self.remark("anthropic.repeated-start", f"the message {shown(self._answer.id)} starts again while it runs; it goes on")
            return
        yield from self._begin(message)

    def _whole(self, value: Wire) -> Iterator[Any]:
        yield from self._begin(value)
        yield from self._finish()

    def _block_start(self, value: Wire) -> Iterator[Any]:
        if self._answer is None:
            self.remark("anthropic.no-message-start", "a block begins and no message has")
        answer = yield from self._current()
        yield from answer.begin(self._index(value), value.get("content_block"))
        answer.blocks.note(self._index(value), _besides(value, "type", "index", "content_block"))

    def _block_delta(self, value: Wire) -> Iterator[Any]:
        if self._answer is None and not self._began:
            self.remark("anthropic.no-message-start", "a block goes on and no message has begun")
            yield from self._current()
        if self._answer is None:
            yield from self._stray(value)
        else:
            self._answer.blocks.note(self._index(value), _besides(value, "type", "index", "delta"))
            yield from self._answer.blocks.delta(self._index(value), self._part(value, "delta"))

    def _block_stop(self, value: Wire) -> Iterator[Any]:
        if self._answer is None:
            yield from self._stray(value)
        else:
            self._answer.blocks.note(self._index(value), _besides(value, "type", "index"))
            yield from self._answer.blocks.stop(self._index(value))

    def _message_delta(self, value: Wire) -> Iterator[Any]:
        if self._answer is None:
            yield from self._stray(value)
            return
        self._answer.more(_besides(value, "type", "delta", "usage"))
        self._answer.more(self._part(value, "delta") if value.get("delta") is not None else {})
        self._answer.count(value.get("usage"))

    def _message_stop(self, value: Wire) -> Iterator[Any]:
        if self._answer is None:
            yield from self._stray(value)
            return
        self._answer.more(_besides(value, "type"))
        yield from self._finish()

    def _error(self, value: Wire) -> Iterator[Any]:
        error = self._part(value, "error")
        answer = yield from self._current()
        self._answer = None
        answer.more({**_besides(value, "type", "error"), "error": error})
        kind, message = error.get("type"), error.get("message")
        ours = ERRORS.get(kind, "unknown") if isinstance(kind, str) else "unknown"
        said = next((text for text in (message, kind) if isinstance(text, str)), "the error says nothing")
        yield from answer.end("error", {"type": ours, "message": said})

    def _ping(self, value: Wire) -> Iterator[Any]:
        if len(value) > 1:
            yield self._custom("ping", value)

    def _begin(self, message: Wire) -> Generator[Any, None, Answer]:
        yield from self._leave()
        self._began += 1
        given = message.get("id")
        if not isinstance(given, str) or not given:
            if "role" in message or "id" in message:
                self.remark(UNFIT, f"the id of a message is {shown(given)}", "/message/id")
            given = f"message-{self._began}"
        name = given
        if given in self._ids:
            self.remark("anthropic.repeated-id", f"two messages have the id {shown(given)}")
        while name in self._ids:
            name = f"{name}#{self._began}"
        self._ids.add(name)
        self._answer = Answer(self, name)
        yield from self._answer.start(message)
        return self._answer

    def _current(self) -> Generator[Any, None, Answer]:
        """Give the message under way; begin one when there is none."""
        return self._answer if self._answer is not None else (yield from self._begin({"usage": {}}))

    def _finish(self) -> Iterator[Any]:
        answer, self._answer = self._answer, None
        if answer is not None:
            if not answer.stop_reason:
                self.remark("anthropic.no-stop-reason", "the message ends and says no stop_reason")
            yield from answer.end()

    def _leave(self) -> Iterator[Any]:
        """End a message that did not end itself."""
        answer, self._answer = self._answer, None
        if answer is None:
            return
        if answer.stop_reason:
            self.remark("anthropic.no-message-stop", f"the message {shown(answer.id)} lacks its message_stop")
            yield from answer.end()
        else:
            self.remark("anthropic.truncated", f"the message {shown(answer.id)} breaks off")
            yield from answer.end("error", {"type": "connection", "message": "the stream broke off before the message ended"})

    def _stray(self, value: Wire) -> Iterator[Any]:
        self.remark("anthropic.no-message-start", f"{value['type']} and no message is under way")
        yield self._custom(value["type"], value)

    def _custom(self, what: str, value: Wire) -> Any:
        where = {"reply_id": self._answer.id} if self._answer is not None else {}
        return self.event(structs.CustomEvent, name=f"anthropic.{what}", value=copy_json(value), **where)

    def _part(self, value: Wire, key: str) -> Wire:
        part = value.get(key)
        if is_object(part):
            return part
        raise Unfit(UNFIT, f"{key} is {shown(part)}, expected an object", f"/{key}")

    def _index(self, value: Wire) -> int:
        index = value.get("index")
        if isinstance(index, int) and not isinstance(index, bool):
            return index
        raise Unfit(UNFIT, f"index is {shown(index)}, expected an integer", "/index")


def _well_formed(value: Wire) -> Wire:
    """Repair the text of an event, but for a piece whose other half may follow."""
    fixed: Wire = repaired(value)
    delta = value.get("delta")
    if fixed is value or value.get("type") != "content_block_delta" or not is_object(delta):
        return fixed
    _, name = DELTAS.get(str(delta.get("type")), ("", ""))
    piece = delta.get(name)
    return {**fixed, "delta": {**fixed["delta"], name: piece}} if isinstance(piece, str) and name != "signature" else fixed


def _besides(value: Wire, *known: str) -> Wire:
    """Give the fields of an event that the protocol does not have, or that belong to the message."""
    return {key: item for key, item in value.items() if key not in known and item is not None}
