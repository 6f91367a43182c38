"""
Images and sound of a response.

Law: what comes out is strict base64, each piece a document of its own, or a URL. A piece that is cut elsewhere waits for the next.
"""

from __future__ import annotations

import re
from base64 import b64encode
from typing import TYPE_CHECKING, Any

from eventfold.dialects.halves import mended
from eventfold.jsonvalue import is_object
from eventfold.lifecycle import decode_base64

from .fields import absorb

if TYPE_CHECKING:
    from eventfold.shape import Wire

_DATA_URL = re.compile(r"data:(.*);base64,([A-Za-z0-9+/=]*)", re.DOTALL)
#: How sound begins, for a format that the stream does not name. What begins in no such way are samples (pcm16).
_HEADS = ((b"RIFF", "audio/wav"), (b"ID3", "audio/mpeg"), (b"\xff", "audio/mpeg"), (b"fLaC", "audio/flac"), (b"OggS", "audio/ogg"))
_SAMPLES = "audio/pcm"
#: Base64 stands for three bytes by so many characters.
_UNIT = 4


def _decoded(text: str) -> bytes | None:
    try:
        return decode_base64(text)
    except ValueError:
        return None


def parse_data_url(url: str) -> tuple[str, str] | None:
    """Read a data URL with base64: its media type and its data."""
    found = _DATA_URL.fullmatch(url)
    return None if found is None or _decoded(found[2]) is None else (mended(found[1]), found[2])


def image_of(image: Any) -> tuple[str, Wire, Wire] | None:
    """Read an image part: its media type, its data or url, and what else it says."""
    place = image.get("image_url") if is_object(image) else None
    url = place.get("url") if is_object(place) else place
    if not is_object(image) or not isinstance(url, str):
        return None
    rest = {key: mended(value) for key, value in image.items() if key not in {"type", "image_url"}}
    detail = {key: mended(value) for key, value in place.items() if key != "url"} if is_object(place) else {}
    if detail:
        rest["image_url"] = detail
    inline = parse_data_url(url)
    if inline is not None:
        return inline[0], {"data": inline[1]}, {"type": "image_url", **rest}
    return "image/*", {"url": mended(url)}, {"type": "image_url", **rest}


class Audio:
    """The sound of a choice, piece by piece."""

    def __init__(self) -> None:
        self.fields: Wire = {}  #: what the provider says of it: id, expires_at
        self.media_type = ""
        self.wrong = False  #: whether the last piece was no base64
        self._rest = ""

    def take(self, audio: Wire) -> str:
        """Give the data that a piece completes; empty when there is none."""
        absorb(self.fields, {key: value for key, value in audio.items() if key not in {"data", "transcript"}})
        data = audio.get("data")
        self.wrong = data is not None and not isinstance(data, str)
        if not isinstance(data, str) or not data:
            return ""
        data = self._rest + data
        cut = len(data) - len(data) % _UNIT
        self._rest = data[cut:]
        decoded = _decoded(data[:cut])
        if decoded is None:
            self.wrong, self._rest = True, ""
            return ""
        if decoded and not self.media_type:
            self.media_type = next((name for head, name in _HEADS if decoded.startswith(head[: len(decoded)])), _SAMPLES)
        return b64encode(decoded).decode("ascii")

    @property
    def cut(self) -> bool:
        """Tell whether a piece waits for the rest of it."""
        return bool(self._rest)


#: What input_audio calls its formats, and what they are called otherwise.
_FORMATS = {"wav": "wav", "x-wav": "wav", "wave": "wav", "vnd.wave": "wav", "mpeg": "mp3", "mp3": "mp3"}
_MEDIA_TYPES = {"wav": "audio/wav", "mp3": "audio/mpeg"}
#: Fields of a part that go back as they came.
_MARKS = frozenset({"prompt_cache_breakpoint"})


def part_of(block: Wire, own: Wire) -> Wire | None:
    """Write a text or data block as a part of a user's content; None when there is no part for it. `own` is what the provider said."""
    marks = {key: own[key] for key in _MARKS.intersection(own)}
    if block["type"] == "text":
        return {"type": "text", "text": block["text"], **marks}
    source = block["source"]
    kind, _, subtype = source["media_type"].lower().partition(";")[0].strip().partition("/")
    kind = kind if block["type"] == "data" else block["type"]
    url = source["url"] if source["type"] == "url" else f"data:{source['media_type']};base64,{source['data']}"
    if kind == "image" or own.get("type") == "image_url":
        detail = own.get("image_url")
        return {"type": "image_url", "image_url": {**(detail if is_object(detail) else {}), "url": url}, **marks}
    if source["type"] == "url" or kind == "video":
        return None
    if kind == "audio":
        audio = {"data": source["data"], "format": _FORMATS.get(subtype)}
        return {"type": "input_audio", "input_audio": audio, **marks} if subtype in _FORMATS else None
    return {"type": "file", "file": {"filename": block.get("name") or "file", "file_data": url}, **marks}


def block_of(part: Wire, name: str) -> Wire | None:
    """Read a part of a user's content as a block with an id; None when no block can hold it."""
    kind = part.get("type")
    read = _READERS.get(kind) if isinstance(kind, str) else None
    if read is None or set(part) - {"type", kind, *_MARKS}:
        return None
    block = read(part, part.get(str(kind)))
    if block is None:
        return None
    own = block.pop("x_openai", {}) | {key: mended(part[key]) for key in _MARKS.intersection(part)}
    return {**block, "id": name, **({"x_openai": own} if own else {})}


def _text(part: Wire, held: Any) -> Wire | None:
    del part
    return {"type": "text", "text": mended(held)} if isinstance(held, str) else None


def _image(part: Wire, held: Any) -> Wire | None:
    del held
    found = image_of({key: item for key, item in part.items() if key not in _MARKS})
    if found is None:
        return None
    media_type, content, own = found
    if media_type.lower().startswith("image/"):
        del own["type"]
    return {**_data({**content, "media_type": media_type}), "x_openai": own}


def _sound(part: Wire, held: Any) -> Wire | None:
    del part
    if not is_object(held) or set(held) != {"data", "format"}:
        return None
    known = isinstance(held["format"], str) and held["format"] in _MEDIA_TYPES and isinstance(held["data"], str)
    if not known or _decoded(held["data"]) is None:
        return None
    return _data({"data": held["data"], "media_type": _MEDIA_TYPES[held["format"]]})


def _file(part: Wire, held: Any) -> Wire | None:
    del part
    if not is_object(held) or set(held) != {"filename", "file_data"} or not all(isinstance(item, str) for item in held.values()):
        return None
    found = parse_data_url(held["file_data"])
    return None if found is None else {**_data({"data": found[1], "media_type": found[0]}), "name": mended(held["filename"])}


def _data(source: Wire) -> Wire:
    return {"type": "data", "source": {"type": "url" if "url" in source else "base64", **source}}


_READERS = {"text": _text, "image_url": _image, "input_audio": _sound, "file": _file}
