"""Events about the items of a response -> what they do to the reply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.halves import mended
from eventfold.dialects.translation import UNFIT, Unfit
from eventfold.jsonvalue import is_object, object_of

from .image import is_base64
from .items import PARTS, Item, rest_of, text_of
from .protocol import CARRIAGE, INPUTS, PLACES, PROGRESS, SOUND, TEXTS
from .rules import NOT_BASE64

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from .reply import Reply

#: Sound comes without its format.
_SOUND_TYPE = "application/octet-stream"


def grow(reply: Reply, value: Item) -> Iterator[Any]:
    """Translate an event about an item. Raises Unfit."""
    kind: str = value["type"]
    about, _, step = kind.rpartition(".")
    what = kind.removeprefix("response.")
    if kind in PROGRESS:
        yield reply.pen.custom(what, rest_of(value, "type"))
        return
    if about in SOUND:
        yield from _hear(reply, value, about, step)
    elif about == "response.output_item":
        item = value.get("item")
        if not is_object(item):
            raise Unfit(UNFIT, "an item is a JSON object", "/item")
        index = _index(reply, value, text_of(item.get("type")) if step == "done" else "", item.get("id"))
        yield from reply.add(index, item) if step == "added" else reply.done(index, item)
    elif about in INPUTS:
        of, holds = INPUTS[about]
        index = _index(reply, value, of)
        yield from reply.ask(index, of, value.get("delta")) if step == "delta" else reply.asked(index, of, value.get(holds))
    elif about in PLACES:
        yield from _part(reply, value, about, step)
    elif about in TEXTS:
        yield from _text(reply, value, about, step)
    else:
        place = ("content", _at(value, "content"))
        yield from reply.annotate(_index(reply, value, "message"), place, mended(value.get("annotation")))
    if unknown := value.keys() - CARRIAGE:
        yield reply.pen.custom(what, {key: value[key] for key in sorted(unknown)})


def _part(reply: Reply, value: Item, about: str, step: str) -> Iterator[Any]:
    part = object_of(value.get("part"))
    kind = part.get("type")
    if not isinstance(kind, str) or kind not in PARTS:
        raise Unfit(UNFIT, f"a part of type {kind!r}", "/part/type")
    holds = PARTS[kind][1]
    index = _index(reply, value, "message" if PARTS[kind][0] == "text" else "reasoning")
    place = (PLACES[about], _at(value, PLACES[about]))
    if step == "added":
        yield from reply.text(index, place, kind, part.get(holds))
        yield from reply.said(index, place, kind, None, rest_of(part, holds))
    else:
        yield from reply.said(index, place, kind, part.get(holds), rest_of(part, holds))


def _text(reply: Reply, value: Item, about: str, step: str) -> Iterator[Any]:
    kind, name, holds = TEXTS[about]
    index = _index(reply, value, "message" if PARTS[kind][0] == "text" else "reasoning")
    place = (name, _at(value, name))
    if step == "delta":
        yield from reply.text(index, place, kind, value.get("delta"))
    else:
        logprobs = value.get("logprobs")
        yield from reply.said(index, place, kind, value.get(holds), {"logprobs": mended(logprobs)} if logprobs else None)


def _hear(reply: Reply, value: Item, about: str, step: str) -> Iterator[Any]:
    """Translate sound, and the text that is spoken."""
    response = reply.response
    if step == "done":
        if response.is_open(about):
            reply.pen.note(about, {"type": about.removeprefix("response.")})
            yield from response.close(about)
    elif about.endswith("transcript"):
        yield from response.append("text", about, reply.pen.whole(text_of(value.get("delta"))))
    elif is_base64(value.get("delta")):
        yield from response.data(about, _SOUND_TYPE, data=value["delta"])
    elif value.get("delta"):
        reply.pen.remark(NOT_BASE64, "a piece of sound cannot be decoded", "/delta")
        yield reply.pen.custom("audio.delta", {"delta": value["delta"]})


def _at(value: Item, name: str) -> int:
    """Give the place in a list; the first when the event does not say."""
    found = value.get(f"{name}_index")
    return found if isinstance(found, int) else 0


def _index(reply: Reply, value: Item, kind: str, item_id: Any = None) -> Hashable:
    """Give the place in the output; where gateways leave it out, that of the id, or of the newest item of the kind."""
    found = value.get("output_index")
    return found if isinstance(found, int) else reply.place_of(value.get("item_id", item_id), kind)
