"""
The blocks of a choice, one after another, and its calls.

Law: text, thinking and data follow each other: what begins closes what was there. Calls stay open until the choice ends, so
that their pieces may come in any order; a call that waits is told before anything that follows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.halves import Halves, mended

from .calls import Call, Calls
from .fields import gather
from .media import Audio

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from eventfold.dialects.response import Response
    from eventfold.shape import Wire

#: The texts of a choice by their keys, and what they are called in `x_openai.type`.
TEXTS = {"content": None, "refusal": "refusal", "transcript": "transcript"}
#: What is heard and what is read of it come side by side.
SOUND = frozenset({"audio", "transcript"})


class Blocks:
    """Writes blocks by the provider's keys. `say(rule, detail)` is told what is odd."""

    def __init__(self, response: Response, say: Callable[[str, str], None]) -> None:
        self.calls = Calls(say)
        self.audio = Audio()
        self.whole = False  #: whether all came at once: calls are told at the end, in their order
        self.citations: list[Any] = []  #: annotations that wait for the text that they are of
        self._response = response
        self._say = say
        self._halves = Halves()
        self._notes: dict[Hashable, Wire] = {}  #: what closing a block sets on it

    def is_open(self, key: Hashable) -> bool:
        """Tell whether a block is open."""
        return self._response.is_open(key)

    def note(self, key: Hashable) -> Wire:
        """Give the provider's fields of a block that is open, or that comes next under the key."""
        return self.fields(key).setdefault("x_openai", {})

    def fields(self, key: Hashable) -> Wire:
        """Give the fields that are set on a block when it closes."""
        return self._notes.setdefault(key, {})

    def write(self, kind: str, key: Hashable, text: str) -> Iterator[Any]:
        """Append to a text, which is begun when it says something for the first time."""
        text = self._joined(key, text)
        if text:
            yield from self.begin(kind, key)
            yield from self._response.append(kind, key, text)

    def data(self, key: Hashable, media_type: str, **content: str) -> Iterator[Any]:
        """Append to data, or give its URL."""
        yield from self.begin("data", key, media_type=media_type)
        yield from self._response.data(key, media_type, **content)

    def image(self, media_type: str, content: dict[str, str], own: Wire) -> Iterator[Any]:
        """Give an image, which comes whole."""
        key = ("image", len(self._response.parts))
        yield from self.data(key, media_type, **content)
        self.note(key).update(own)
        yield from self._close(key)

    def begin(self, kind: str, key: Hashable, **fields: Any) -> Iterator[Any]:
        """Open a block, unless it is open. What was there is closed."""
        yield from self.tell()
        if not self.is_open(key):
            yield from self._close_all(SOUND if key in SOUND else frozenset())
            yield from self._response.open(kind, key, **fields)

    def tell(self) -> Iterator[Any]:
        """Tell the calls that wait, since something follows them. What is noted of a block before belongs to the one before them."""
        for call in list(self.calls.waiting()):
            yield from self._start(call)

    def arguments(self, call: Call, text: str) -> Iterator[Any]:
        """Append to the arguments of a call, which is told when they begin, if it can be."""
        text = self._joined(call, text)
        if not text:
            call.empty = not call.text
            return
        call.text.append(text)
        call.held.append(text)
        if call.started or (call.ready and not self.whole):
            yield from self._start(call)
            yield from self._rest(call)

    def end(self) -> Iterator[Any]:
        """Close everything; calls that could not be told are told."""
        for key in self._halves.waiting():
            if half := self._half(key):
                if isinstance(key, Call):
                    yield from self.arguments(key, half)
                else:
                    yield from self.write("text" if key in TEXTS else "thinking", key, half)
        if self.audio.cut:
            self._say("openai-chat.not-base64", "the data of the audio ends within a group")
        self.calls.complete()
        yield from self._close_all()
        for call in self.calls.all:
            yield from self._start(call)
            if call.empty and not call.text:
                call.held.append("")
            yield from self._rest(call)
            self._set(call, {"x_openai": call.extra})

    def left(self) -> Wire:
        """Give what was noted for blocks that did not come."""
        fields: Wire = {}
        if self.audio.fields and not SOUND.intersection(self._response.parts):
            fields["audio"] = mended(self.audio.fields)
        for notes in self._notes.values():
            gather(fields, notes.pop("x_openai", {}))
            gather(fields, notes)
        return fields | ({"annotations": self.citations} if self.citations else {})

    def _start(self, call: Call) -> Iterator[Any]:
        """Tell a call, and before it those that began earlier, if they can be told."""
        if call.started:
            return
        for other in [*self.calls.waiting(call), call]:
            other.started = True
            yield from self._close_all()
            yield from self._response.call(other, other.id, other.name)

    def _rest(self, call: Call) -> Iterator[Any]:
        for text in call.held:
            yield from self._response.arguments(call, text)
        call.held.clear()

    def _close_all(self, but: frozenset[str] = frozenset()) -> Iterator[Any]:
        for key in [key for key, part in self._response.parts.items() if part.open and part.kind != "tool_call"]:
            if key not in but:
                yield from self._close(key)

    def _close(self, key: Hashable) -> Iterator[Any]:
        if half := self._half(key):
            yield from self._response.append(self._response.parts[key].kind, key, half)
        own = self.note(key)
        if isinstance(key, str) and TEXTS.get(key):
            own["type"] = TEXTS[key]
        if key == "content" and self.citations:
            gather(own, {"annotations": self.citations})
            self.citations = []
        if key in SOUND and self.audio.fields:
            own["audio"] = mended(self.audio.fields)
        self._set(key, self._notes.pop(key))
        yield from self._response.close(key)

    def _set(self, key: Hashable, fields: Wire) -> None:
        self._response.extra(key, **{name: value for name, value in fields.items() if value})  # noqa: S610  no Django is near

    def _joined(self, key: Hashable, text: str) -> str:
        return self._minded(self._halves.feed(key, text))

    def _half(self, key: Hashable) -> str:
        """Give what stands for a half of a character that no other half follows."""
        return self._minded(self._halves.rest(key))

    def _minded(self, text: str) -> str:
        if self._halves.told():
            self._say("openai-chat.lone-surrogate", "half of a character stands without its other half")
        return text
