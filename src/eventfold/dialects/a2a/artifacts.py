"""
Artifacts of others -> blocks.

Law: when the reply ends, its blocks show what the artifact holds, however it came: in chunks, whole, replaced, or once more in
a Task. Texts of one artifact that follow each other are one text; nothing stands between its chunks. Blocks end when the
reply does, since an artifact may be replaced until then.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from eventfold_models import structs

from eventfold.lifecycle import decode_base64

from .content import base64_of
from .notes import others_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventfold.shape import Wire

#: An event to be made: its class, and its fields.
Made = tuple[type, dict[str, Any]]

#: Media type of a part that does not say.
BYTES, JSON = "application/octet-stream", "application/json"


class Piece(NamedTuple):
    """Parts that are one content."""

    kind: str  #: text, raw, url or data
    content: str | bytes
    media_type: str | None
    filename: str | None
    metadata: Wire

    def follows(self, other: Piece | Run) -> bool:
        """Tell whether this goes on with another: text with text, and bytes with those of the same file."""
        same = (self.kind, self.media_type, self.filename) == (other.kind, other.media_type, other.filename)
        return same and (self.kind == "text" or (self.kind == "raw" and bool(self.filename)))


def pieces_of(parts: list[Wire]) -> list[Piece]:
    """Put parts together that are one content."""
    pieces: list[Piece] = []
    for part in parts:
        kind = next(name for name in ("text", "raw", "url", "data") if name in part)
        content: Any = part[kind]
        if kind == "raw":
            content = decode_base64(content)
        elif kind == "data":
            content = json.dumps(content, ensure_ascii=False)
        piece = Piece(kind, content, part.get("mediaType"), part.get("filename"), others_in(part))
        if pieces and piece.follows(pieces[-1]):
            last = pieces[-1]
            pieces[-1] = last._replace(content=last.content + content, metadata=last.metadata | piece.metadata)
        else:
            pieces.append(piece)
    return pieces


class Run:
    """A content of an artifact, and the block that shows it; in a later turn of the task, the block that shows what has come since."""

    def __init__(self, piece: Piece) -> None:
        self.kind, self.media_type, self.filename = piece.kind, piece.media_type, piece.filename
        self.metadata = piece.metadata
        self.block_id = ""
        self.open = False
        self.replaced = False
        self._content: list[Any] = []
        self._base = 0  #: where the block begins

    @property
    def is_text(self) -> bool:
        """Tell whether a text block shows it."""
        return self.kind in {"text", "data"}

    def total(self) -> Any:
        """Give all there is."""
        empty: Any = b"" if self.kind == "raw" else ""
        self._content = [empty.join(self._content)]
        return self._content[0]

    def grow(self, content: Any, name: Callable[[str], str]) -> Iterator[Made]:
        """Go on; `name` gives a new block its id."""
        if not self.open:
            self._base = len(self.total())
            yield self._begin(name)
        self._content.append(content)
        if not self.replaced:
            yield from self._delta(content)

    def become(self, piece: Piece, name: Callable[[str], str]) -> Iterator[Made]:
        """Be what a replacement says. Whether that takes back what cannot be taken back, `stuck` tells."""
        old, new = self.total(), piece.content
        self.metadata |= piece.metadata
        if new == old:
            return
        if self.kind != "url" and new.startswith(old):
            yield from self.grow(new[len(old) :], name)
            return
        self._content, self._base = [new], 0
        if self.open and self.is_text:
            self.replaced = True
            return
        if self.open:
            yield self.end({})
        yield self._begin(name)
        yield from self._delta(new)

    def stuck(self, piece: Piece) -> bool:
        """Tell whether a block shows what a replacement takes back: a data block cannot be emptied."""
        old = self.total()
        return self.open and not self.is_text and (not piece.content.startswith(old) or (self.kind == "url" and piece.content != old))

    def end(self, fields: Wire) -> Made:
        """End the block, with what the artifact says besides."""
        self.open = False
        part: Wire = {"filename": self.filename} if self.is_text and self.filename else {}
        if self.kind == "data":
            part["mediaType"] = self.media_type or JSON
        elif self.kind == "text" and self.media_type:
            part["mediaType"] = self.media_type
        said = fields | part | ({"partMetadata": self.metadata} if self.metadata else {})
        ending: dict[str, Any] = {"block_id": self.block_id, "extra": {"a2a": said} if said else None}
        if self.replaced:
            ending["text"] = self.total()[self._base :]
        self.replaced = False
        return structs.TextBlockEndEvent if self.is_text else structs.DataBlockEndEvent, ending

    def _begin(self, name: Callable[[str], str]) -> Made:
        self.open = True
        kind = "text" if self.is_text else "data"
        self.block_id = name(kind)
        if self.is_text:
            return structs.TextBlockStartEvent, {"block_id": self.block_id}
        return structs.DataBlockStartEvent, {"block_id": self.block_id, "media_type": self.media_type or BYTES, "name": self.filename}

    def _delta(self, content: Any) -> Iterator[Made]:
        if self.is_text:
            yield structs.TextBlockDeltaEvent, {"block_id": self.block_id, "delta": content}
            return
        carried = {"url": content} if self.kind == "url" else {"data": base64_of(content)}
        yield structs.DataBlockDeltaEvent, {"block_id": self.block_id, "media_type": self.media_type or BYTES, **carried}


class Artifact:
    """An artifact, or the parts of a message: contents in their order."""

    def __init__(self, name: str, used: set[tuple[str, str]]) -> None:
        self.name = name
        self.fields: Wire = {}
        self.last: int | None = None  #: index of the value that said that nothing follows
        self.runs: list[Run] = []
        self._gone: list[Run] = []
        self._used = used
        self._counts: dict[str, int] = {}

    def describe(self, artifact: Wire) -> None:
        """Take what an artifact says besides its parts."""
        self.fields |= {name: artifact[name] for name in ("name", "description", "extensions") if artifact.get(name)}
        metadata = others_in(artifact)
        if metadata:
            self.fields["metadata"] = self.fields.get("metadata", {}) | metadata

    def append(self, parts: list[Wire]) -> Iterator[Made]:
        """Take further parts."""
        for piece in pieces_of(parts):
            if self.runs and piece.follows(self.runs[-1]):
                self.runs[-1].metadata |= piece.metadata
                yield from self.runs[-1].grow(piece.content, self._block_id)
            else:
                yield from self._add(piece, len(self.runs))

    def replace(self, parts: list[Wire], stuck: Callable[[], None]) -> Iterator[Made]:
        """Take all parts anew; calls `stuck` where a block cannot follow."""
        pieces = pieces_of(parts)
        for place, piece in enumerate(pieces):
            if place < len(self.runs) and self.runs[place].kind == piece.kind:
                if self.runs[place].stuck(piece):
                    stuck()
                yield from self.runs[place].become(piece, self._block_id)
                continue
            if place < len(self.runs):
                yield from self._drop(self.runs.pop(place), stuck)
            yield from self._add(piece, place)
        for run in self.runs[len(pieces) :]:
            yield from self._drop(run, stuck)
        del self.runs[len(pieces) :]

    def end(self, *, only_changed: bool = False) -> Iterator[Made]:
        """End what is open; only what shows something else or more at its end, if the stream was cut."""
        for run in (*self._gone, *self.runs):
            if run.open:
                made = run.end(self.fields)
                if not only_changed or made[1]["extra"] or "text" in made[1]:
                    yield made
        self._gone.clear()

    def holds(self) -> list[tuple[str, Any]]:
        """Give the contents, for comparison."""
        return [(run.kind, run.total()) for run in self.runs]

    def _add(self, piece: Piece, place: int) -> Iterator[Made]:
        run = Run(piece)
        self.runs.insert(place, run)
        yield from run.grow(piece.content, self._block_id)

    def _drop(self, run: Run, stuck: Callable[[], None]) -> Iterator[Made]:
        self._gone.append(run)
        if run.open and not run.is_text:
            stuck()
        elif run.open:
            nothing = Piece(run.kind, "", run.media_type, run.filename, {})
            yield from run.become(nothing, self._block_id)

    def _block_id(self, kind: str) -> str:
        """Give a block an id that no block of its kind has: the artifact's for the first."""
        count = self._counts.get(kind, 0)
        name = f"{self.name}/{count}" if count else self.name
        while (kind, name) in self._used:
            count += 1
            name = f"{self.name}/{count}"
        self._counts[kind] = count + 1
        self._used.add((kind, name))
        return name
