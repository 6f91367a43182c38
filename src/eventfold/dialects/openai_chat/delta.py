"""
A delta, or a whole message -> blocks and calls.

Law: both are read alike, and every field of them goes somewhere: into a block, into the fields of one, or into `rest`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.halves import mended
from eventfold.jsonvalue import is_array, is_object

from .calls import Piece
from .fields import absorb, gather, json_text, text_of
from .media import image_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventfold.shape import Wire

    from .blocks import Blocks
    from .calls import Call
    from .place import Place

#: Fields that hold thinking. They repeat each other: the first that says something counts, `reasoning_details` before all.
REASONING = ("reasoning_content", "reasoning", "reasoning_text")
DETAILS = "reasoning_details"
#: What of a detail is thinking, and what of it is fit for the eyes of the provider only.
_SAID = ("text", "summary")
_SECRET = {"signature": "signature", "data": "redacted_thinking_data"}
#: Fields that are read one by one.
_READ = frozenset({*REASONING, DETAILS, "role", "content", "refusal", "audio", "images", "annotations", "tool_calls", "function_call"})


class DeltaReader:
    """Reads the deltas of a choice."""

    def __init__(self, blocks: Blocks, place: Place, custom: Callable[[str, Wire], Any]) -> None:
        self.rest: Wire = {}  #: what no block holds
        self._blocks = blocks
        self._place = place
        self._custom = custom

    def read(self, delta: Wire, *, whole: bool) -> Iterator[Any]:
        """Read a delta, or a whole message."""
        self._blocks.whole = whole
        yield from self._thinking(delta, whole=whole)
        yield from self._content(delta.get("content"))
        yield from self._blocks.write("text", "refusal", self._place.string(delta, "refusal"))
        yield from self._images(delta.get("images"), "/images")
        yield from self._sound(self._place.object(delta.get("audio"), "/audio"))
        self._annotations(delta.get("annotations"))
        for i, entry in enumerate(self._place.list(delta.get("tool_calls"), "/tool_calls")):
            yield from self._call(self._place.object(entry, f"/tool_calls/{i}"), f"/tool_calls/{i}", i if whole else None)
        if function := self._place.object(delta.get("function_call"), "/function_call"):
            yield from self._function(function)
        role = delta.get("role")
        absorb(self.rest, {} if role == "assistant" else {"role": role})
        gather(self.rest, {key: value for key, value in delta.items() if key not in _READ})

    # --- thinking --------------------------------------------------------------------------------

    def _thinking(self, delta: Wire, *, whole: bool) -> Iterator[Any]:
        details = [self._place.object(item, f"/{DETAILS}") for item in self._place.list(delta.get(DETAILS), f"/{DETAILS}")]
        said, chosen = "".join(_said(detail) for detail in details), DETAILS
        for i, detail in enumerate(details):
            yield from self._detail(detail, i if whole else None)
        for name in REASONING:
            text = self._place.string(delta, name)
            if text and not said:
                said, chosen = text, name
                yield from self._blocks.tell()
                self._blocks.note(name)["field"] = name
                yield from self._blocks.write("thinking", name, text)
            elif text and text != said:
                self._place.say("openai-chat.reasoning-differs", f"{name} and {chosen} say different things", f"/{name}")
                yield self._custom("reasoning", {name: mended(text)})

    def _detail(self, detail: Wire, position: int | None) -> Iterator[Any]:
        """Read a detail. In a stream, those of one type and index are pieces of one; in a whole message, each is one."""
        index = detail.get("index")
        place = position if position is not None else index if isinstance(index, int) else text_of(detail.get("id"))
        key = (DETAILS, text_of(detail.get("type")), place)
        secret = {name: detail[field] for field, name in _SECRET.items() if isinstance(detail.get(field), str) and detail[field]}
        text = _said(detail)
        if text or secret:
            yield from self._blocks.tell()
        gather(self._blocks.fields(key), secret)
        rest = {name: value for name, value in detail.items() if not (isinstance(value, str) and name in {*_SAID, *_SECRET})}
        absorb(self._blocks.note(key).setdefault(DETAILS, {}), rest)
        if text:
            yield from self._blocks.write("thinking", key, text)
        elif secret:
            yield from self._blocks.begin("thinking", key)

    # --- text and data ---------------------------------------------------------------------------

    def _content(self, content: Any) -> Iterator[Any]:
        if isinstance(content, str):
            yield from self._blocks.write("text", "content", content)
            return
        for i, item in enumerate(self._place.list(content, "/content")):
            part = self._place.object(item, f"/content/{i}")
            kind = part.get("type")
            if kind == "text":
                yield from self._blocks.write("text", "content", self._place.string(part, "text"))
            elif kind == "refusal":
                yield from self._blocks.write("text", "refusal", self._place.string(part, "refusal"))
            elif kind == "thinking":
                yield from self._blocks.tell()
                absorb(self._blocks.note("thinking"), {key: value for key, value in part.items() if key != "thinking"})
                yield from self._blocks.write("thinking", "thinking", "".join(_texts_of(part.get("thinking"))))
            elif kind == "image_url":
                yield from self._images([part], f"/content/{i}")
            elif part:
                yield self._custom("part", mended(part))

    def _images(self, images: Any, pointer: str) -> Iterator[Any]:
        for image in self._place.list(images, pointer):
            found = image_of(image)
            if found is None:
                self._place.unfit(pointer, "an image_url", image)
            else:
                yield from self._blocks.image(*found)

    def _sound(self, audio: Wire) -> Iterator[Any]:
        yield from self._blocks.write("text", "transcript", self._place.string(audio, "transcript"))
        sound = self._blocks.audio
        data = sound.take(audio)
        if data:
            yield from self._blocks.data("audio", sound.media_type, data=data)
        if sound.wrong:
            self._place.say("openai-chat.not-base64", "the data of the audio is not base64; the piece is dropped", "/audio/data")

    def _annotations(self, annotations: Any) -> None:
        waiting = self._blocks.citations
        waiting += [item for item in mended(self._place.list(annotations, "/annotations")) if item not in waiting]
        if waiting and self._blocks.is_open("content"):
            gather(self._blocks.note("content"), {"annotations": waiting})
            self._blocks.citations = []

    # --- calls -----------------------------------------------------------------------------------

    def _call(self, entry: Wire, pointer: str, position: int | None) -> Iterator[Any]:
        if not entry:
            return
        index = self._place.number(entry.get("index", position), f"{pointer}/index")
        kind, grows = ("custom", "input") if is_object(entry.get("custom")) else ("function", "arguments")
        function = self._place.object(entry.get(kind), f"{pointer}/{kind}")
        call = self._blocks.calls.take(Piece(index, text_of(entry.get("id")), text_of(function.get("name"))))
        rest = {key: value for key, value in entry.items() if key not in {"index", "id", "type", kind}}
        inner = {key: value for key, value in function.items() if key not in {"name", grows}}
        if rest := rest | ({kind: inner} if inner else {}):
            gather(call.extra.setdefault("tool_call", {}), rest)
        called = text_of(entry.get("type")) or kind
        if kind == "custom" or called != "function":
            call.extra["type"] = kind if called == "function" else called
        yield from self._arguments(call, function.get(grows), f"{pointer}/{kind}/{grows}")

    def _function(self, function: Wire) -> Iterator[Any]:
        """Read function_call, of the time before tool_calls: a choice has at most one, without an id."""
        call = self._blocks.calls.take(Piece(-1, "call_function", text_of(function.get("name"))))
        call.extra["type"] = "function_call"
        if rest := {key: value for key, value in function.items() if key not in {"name", "arguments"}}:
            gather(call.extra.setdefault("tool_call", {}), rest)
        yield from self._arguments(call, function.get("arguments"), "/function_call/arguments")

    def _arguments(self, call: Call, arguments: Any, pointer: str) -> Iterator[Any]:
        if arguments is None:
            return
        if not isinstance(arguments, str):
            self._place.say("openai-chat.arguments-not-text", "the arguments are JSON and no text that holds it", pointer)
            arguments = json_text(arguments)
        yield from self._blocks.arguments(call, arguments)


def _said(detail: Wire) -> str:
    return "".join(detail[name] for name in _SAID if isinstance(detail.get(name), str))


def _texts_of(value: Any) -> Iterator[str]:
    """Give the texts of a thinking part: one, or a list of parts."""
    if isinstance(value, str):
        yield value
    for part in value if is_array(value) else []:
        if is_object(part) and isinstance(part.get("text"), str):
            yield part["text"]
