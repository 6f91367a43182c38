"""
A delta, or a whole message -> blocks and calls.

Law: both are read alike, and every field of them goes somewhere: into a block, into the fields of one, or into `rest`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.halves import mended
from eventfold.dialects.translation import UNKNOWN
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

#: Fields that hold thinking. They repeat each other: the first that says something counts, lists of pieces before all.
REASONING = ("reasoning_content", "reasoning", "reasoning_text")
DETAILS = "reasoning_details"
#: LiteLLM's, of Anthropic's thinking.
BLOCKS = "thinking_blocks"
#: Databricks', in a part of the content whose type is `reasoning`.
SUMMARY = "summary"
#: Lists of pieces of thinking, with the fields of a piece that are text.
PIECES: dict[str, tuple[str, ...]] = {DETAILS: ("text", "summary"), BLOCKS: ("thinking",), SUMMARY: ("text",)}
#: What of a piece is fit for the eyes of the provider only, and what it is called on a block.
SECRET = {"signature": "signature", "data": "redacted_thinking_data"}
#: Fields that are read one by one.
_READ = frozenset(
    {*REASONING, DETAILS, BLOCKS, "role", "content", "refusal", "audio", "images", "annotations", "tool_calls", "function_call"}
)


class DeltaReader:
    """Reads the deltas of a choice."""

    def __init__(self, blocks: Blocks, place: Place, custom: Callable[[str, Wire], Any]) -> None:
        self.rest: Wire = {}  #: what no block holds
        self._strange: set[str] = set()  #: kinds of parts that have been told of
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
        self.beside(delta)

    def beside(self, delta: Wire) -> None:
        """Keep what no block holds."""
        role = delta.get("role")
        absorb(self.rest, {} if role == "assistant" else {"role": role})
        gather(self.rest, {key: value for key, value in delta.items() if key not in _READ})

    # --- thinking --------------------------------------------------------------------------------

    def _thinking(self, delta: Wire, *, whole: bool) -> Iterator[Any]:
        said, chosen = "", ""
        for name in (DETAILS, BLOCKS):
            pieces = [self._place.object(item, f"/{name}") for item in self._place.list(delta.get(name), f"/{name}")]
            if chosen and pieces:
                # One list says it already. The other is no text that can be compared, so it is kept as it is.
                gather(self.rest, {name: pieces})
                continue
            for i, piece in enumerate(pieces):
                yield from self._piece(name, piece, (i,) if whole else None)
                said, chosen = said + _said(name, piece), name
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

    def _piece(self, name: str, piece: Wire, position: tuple[int, ...] | None) -> Iterator[Any]:
        """Read a piece of a list. In a stream, those of one type and index are of one block; in a whole message, each is one."""
        index = piece.get("index")
        place = position if position is not None else index if isinstance(index, int) else text_of(piece.get("id"))
        key = (name, text_of(piece.get("type")), place)
        secret = {called: piece[field] for field, called in SECRET.items() if isinstance(piece.get(field), str) and piece[field]}
        text = _said(name, piece)
        if text or secret:
            yield from self._blocks.tell()
        gather(self._blocks.fields(key), secret)
        rest = {field: value for field, value in piece.items() if not (isinstance(value, str) and field in {*PIECES[name], *SECRET})}
        absorb(self._blocks.note(key).setdefault(name, {}), rest)
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
            elif kind == "reasoning" and is_array(part.get(SUMMARY)):
                yield from self._summary(part, i)
            elif part:
                self._unknown(text_of(kind), f"/content/{i}")
                yield self._custom("part", mended(part))

    def _summary(self, part: Wire, i: int) -> Iterator[Any]:
        """Read a part that holds pieces of thinking."""
        absorb(self.rest, {"reasoning": {key: value for key, value in part.items() if key not in {"type", SUMMARY}}})
        for k, item in enumerate(part[SUMMARY]):
            piece = self._place.object(item, f"/content/{i}/{SUMMARY}/{k}")
            yield from self._piece(SUMMARY, piece, (i, k) if self._blocks.whole else None)

    def _unknown(self, kind: str, pointer: str) -> None:
        """Tell of a kind of part that is not known: once, since a stream has many of a kind."""
        if kind not in self._strange:
            self._strange.add(kind)
            self._place.say(UNKNOWN, f"a part of type {kind!r}", pointer)

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


def _said(name: str, piece: Wire) -> str:
    """Give the text of a piece of a list."""
    return "".join(piece[field] for field in PIECES[name] if isinstance(piece.get(field), str))


def _texts_of(value: Any) -> Iterator[str]:
    """Give the texts of a thinking part: one, or a list of parts."""
    if isinstance(value, str):
        yield value
    for part in value if is_array(value) else []:
        if is_object(part) and isinstance(part.get("text"), str):
            yield part["text"]
