"""Output items while they grow, and what their writers write with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from eventfold_models import structs

from eventfold.dialects.halves import mended, repaired

from .items import FIELD, Item, text_of
from .rules import CUSTOM, SURROGATE

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from eventfold.dialects.response import Response


Place = tuple[str, int]  #: of a part: in the content or the summary, where


@dataclass(slots=True)
class Part:
    """A text that grows."""

    key: Hashable = None
    kind: str = ""  #: of block
    type: str = ""  #: what the provider calls it
    said: list[str] = field(default_factory=list[str])
    held: str = ""  #: half of a surrogate pair, whose other half comes with the next delta
    final: str | None = None  #: the whole text, as the provider says it at last
    extra: Item = field(default_factory=dict[str, Any])

    def take(self, delta: Any) -> str:
        """Take a delta. Gives what can be said of it so far."""
        text = self.held + text_of(delta)
        self.held = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            self.held, text = text[-1], text[:-1]
        return text

    def know(self, extra: Item) -> None:
        """Take what stands beside the text. An empty list takes nothing back that was said before."""
        self.extra |= {key: value for key, value in extra.items() if value or not self.extra.get(key)}


@dataclass(slots=True)
class Slot:
    """An output item."""

    serial: int
    item: Item  #: as last seen
    type: str
    done: bool = False
    parts: dict[Place, Part] = field(default_factory=dict[Place, Part])
    input: Part = field(default_factory=Part)  #: of a call
    id: str = ""  #: of a call that has begun
    complete: bool = False  #: the input of a call is known to be whole

    @property
    def key(self) -> Hashable:
        """Give the key of the item itself, as opposed to its parts."""
        return (self.serial, -1)


class Pen(NamedTuple):
    """What a reply is written with."""

    response: Response
    remark: Callable[..., None]

    def custom(self, what: str, value: Item) -> Any:
        """Keep what the message has no place for."""
        return self.response.event(structs.CustomEvent, name=CUSTOM + what, value=mended(value))

    def note(self, key: Hashable, own: Item) -> None:
        """Remember the provider's own fields of what a key names, which are set on the block when it closes."""
        self.response.parts[key].extra[FIELD] = own

    def whole(self, text: str) -> str:
        """Give well-formed text."""
        fixed = repaired(text)
        if fixed.count("\ufffd") > text.count("\ufffd"):
            self.remark(SURROGATE, "a text holds half of a surrogate pair")
        return fixed
