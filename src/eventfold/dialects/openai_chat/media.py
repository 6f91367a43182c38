"""
Images and sound of a response.

Law: what comes out is strict base64, each piece a document of its own, or a URL. A piece that is cut elsewhere waits for the next.
"""

from __future__ import annotations

import re
from base64 import b64encode
from typing import TYPE_CHECKING, Any

from eventfold.jsonvalue import is_object
from eventfold.lifecycle import decode_base64

from .fields import absorb, mended

if TYPE_CHECKING:
    from eventfold.shape import Wire

_DATA_URL = re.compile(r"data:([^;,]*)((?:;[^,]*)?),(.*)", re.DOTALL)
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
    if found is None or "base64" not in found[2] or _decoded(found[3]) is None:
        return None
    return found[1] or "text/plain", found[3]


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


#: What input_audio calls its formats.
_FORMATS = {"wav": "wav", "x-wav": "wav", "wave": "wav", "vnd.wave": "wav", "mpeg": "mp3", "mp3": "mp3"}


def part_of(block: Wire, own: Wire) -> Wire | None:
    """Write a text or data block as a part of a user's content; None when there is no part for it. `own` is what the provider said."""
    if block["type"] == "text":
        return {"type": "text", "text": block["text"]}
    source = block["source"]
    kind, _, subtype = source["media_type"].lower().partition(";")[0].strip().partition("/")
    kind = kind if block["type"] == "data" else block["type"]
    url = source["url"] if source["type"] == "url" else f"data:{source['media_type']};base64,{source['data']}"
    if kind == "image":
        detail = own.get("image_url")
        return {"type": "image_url", "image_url": {**(detail if is_object(detail) else {}), "url": url}}
    if source["type"] == "url" or kind == "video":
        return None
    if kind == "audio":
        audio = {"data": source["data"], "format": _FORMATS.get(subtype)}
        return {"type": "input_audio", "input_audio": audio} if subtype in _FORMATS else None
    return {"type": "file", "file": {"filename": block.get("name") or "file", "file_data": url}}
