"""
What a dialect is made of: a decoder, an encoder, messages both ways, and what is said about them.

Law: translations are pure. The same values in, the same values out; nothing is raised for foreign input, whatever it is;
what cannot be carried is a Loss, what breaks the foreign protocol is a Remark, and nothing is dropped silently.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
from eventfold_models.tables import FREE_FORM

from eventfold.findings import Loss
from eventfold.jsonvalue import depth_of
from eventfold.shape import wire_of
from eventfold.wire import InvalidEvent, read_event
from eventfold.wire.depth import MAX_DEPTH, too_deep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from eventfold.shape import Wire

E = TypeVar("E", bound=msgspec.Struct)

#: The time of what has none, where no time is known at all. Translations have no clock.
EPOCH = "1970-01-01T00:00:00Z"

#: The key below which our own fields travel in a foreign `metadata`.
NAMESPACE = "eventfold"


#: Rules that every dialect has.
UNFIT, UNKNOWN, MIXED = "dialect.unfit", "dialect.unknown", "dialect.mixed"


class Unfit(ValueError):
    """A foreign value that its protocol does not allow. Inside a decoder only: `feed` makes a Remark of it."""

    def __init__(self, rule: str, detail: str, pointer: str = "", related: int | None = None) -> None:
        super().__init__(detail)
        self.remark = Remark(rule, detail, pointer, related)


class Remark(NamedTuple):
    """A rule of the foreign protocol that a value breaks."""

    rule: str  #: an id of the dialect's `rules`
    detail: str  #: what was found, for people
    pointer: str = ""  #: RFC 6901, into the foreign value
    related: int | None = None  #: index of the earlier foreign value that it clashes with


class Row(NamedTuple):
    """A row of a dialect's mapping table: what stands for what. The dialect's page prints it, and a test holds it to be true."""

    ours: str  #: class of ours, or a field of one
    theirs: str  #: what the foreign protocol says
    way: str  #: "both", "out" (ours to theirs) or "in"
    note: str = ""


class Decoder:
    """Foreign values -> events of the engine. Subclasses write `decode`, and `end` if something is left at the end."""

    #: Whether it is given lone surrogates as they stand, and joins what is split between two values.
    halves = False
    #: Whether values of any making may come, as what is known of the stream so far says.
    open_to_others = False

    def __init__(self) -> None:
        self.remarks: list[Remark] = []  #: what the last value broke
        self.late = 0  #: how many of the remarks are about the value before, which waited for the last
        self.losses: list[Loss] = []  #: what could not be carried, so far
        self.index = -1  #: of the last foreign value
        self.now = EPOCH  #: the last time that was seen
        self._made = 0

    def feed(self, value: Any) -> Iterator[Any]:
        """Translate a foreign value, of whatever kind. Gives events of the engine, and leaves `remarks`."""
        return self._guarded(self.decode, value)

    def finish(self) -> Iterator[Any]:
        """Give what is left at the end of the stream; `remarks` says what is missing."""
        return self._guarded(self.end)

    def _guarded(self, translate: Callable[..., Iterator[Any]], *values: Any) -> Iterator[Any]:
        """Translate; what is wrong is remarked and never raised."""
        self.index += 1
        self.remarks.clear()
        self.late = 0
        try:
            yield from translate(*values)
        except Unfit as error:
            self.remarks.append(error.remark)
        except InvalidEvent as error:
            self.remark(UNFIT, str(error))

    def decode(self, value: Any) -> Iterator[Any]:
        """Translate a value. Raises Unfit."""
        raise NotImplementedError

    def done(self) -> Iterator[Any]:
        """Translate the text [DONE], with which some providers end a stream."""
        self.remark("wire.done-marker", "the stream ends with [DONE]")
        return iter(())

    def end(self) -> Iterator[Any]:
        """Translate the end."""
        return iter(())

    def remark(self, rule: str, detail: str, pointer: str = "", related: int | None = None) -> None:
        """Note what the value breaks, and go on."""
        self.remarks.append(Remark(rule, detail, pointer, related))

    def lose(self, reason: str, pointer: str = "") -> None:
        """Note a loss; the reason is a key of the dialect's `losses`."""
        self.losses.append(Loss(pointer, reason, self.index))

    def event(self, kind: type[E], **fields: Any) -> E:
        """
        Make an event of the engine: None means absent, id and created_at are derived where they are not given.

        The fields are judged as those of an event that arrives; one that nests too deep is left out where the event can do
        without it. Raises InvalidEvent, of which `feed` makes a Remark.
        """
        self._made += 1
        known = {key: value for key, value in fields.items() if value is not None}
        wire: Wire = {"type": kind.__struct_config__.tag, "id": f"e{self._made}", "created_at": self.now, **known}
        try:
            made = msgspec.convert(wire, kind)
            deep = too_deep(msgspec.json.encode(made))
        except UnicodeEncodeError:
            self.remark("event.lone-surrogate", "a text holds half a surrogate pair")
        except (msgspec.ValidationError, RecursionError):
            pass
        else:
            if not deep:
                return made
            for name in [name for name in FREE_FORM[kind.__name__] if name in wire and depth_of(wire[name]) >= MAX_DEPTH]:
                self.remark(UNFIT, f"{name} nests deeper than {MAX_DEPTH - 1} and is left out")
                del wire[name]
        return read_event(wire)


class Encoder:
    """Events of the engine -> foreign values. Subclasses write `encode`, and `end` if something is left at the end."""

    def __init__(self) -> None:
        self.losses: list[Loss] = []
        self.index = -1  #: of the last event

    def feed(self, event: Any) -> Iterator[Wire]:
        """Translate an event of the engine."""
        self.index += 1
        yield from self.encode(event)

    def finish(self) -> Iterator[Wire]:
        """Give what is left at the end of the stream."""
        self.index += 1
        yield from self.end()

    def encode(self, event: Any) -> Iterator[Wire]:
        """Translate an event."""
        raise NotImplementedError

    def end(self) -> Iterator[Wire]:
        """Translate the end."""
        return iter(())

    def lose(self, reason: str, pointer: str = "") -> None:
        """Note a loss; the reason is a key of the dialect's `losses`."""
        self.losses.append(Loss(pointer, reason, self.index))


class Said(NamedTuple):
    """A value in another dialect, and what it does not say."""

    value: Any
    losses: list[Loss]


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """A dialect: what it is called, how it is recognised, and its translations, as far as it has them."""

    name: str
    title: str  #: what people call it, with the versions it was measured on
    #: Tells whether a value looks like the first of a stream, or like a stored message, of this dialect.
    recognise: Callable[[Any], bool]
    #: Tells whether a value may be of this dialect when nothing else in the stream says whose it is.
    last_resort: Callable[[Any], bool] | None = None
    decoder: Callable[[], Decoder] | None = None
    encoder: Callable[[], Encoder] | None = None
    #: A foreign value that holds messages -> messages of ours. Raises Unfit.
    read_messages: Callable[[Any], Said] | None = None
    #: Messages of ours -> the foreign value that holds them.
    write_messages: Callable[[Iterable[Wire]], Said] | None = None
    mapping: tuple[Row, ...] = ()
    #: What is lost: a sentence, and patterns of the pointers of our message where it shows ("/content/*/created_at").
    losses: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    #: Rules of the foreign protocol, in the form of an entry of rules.json (schemas/meta/rules.json).
    rules: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, "Mapping[str, str]"])


def fields_of(event: Any) -> Wire:
    """Give an event of the engine as JSON, in a dict of its own; absent and null fields are left out."""
    return wire_of(event, "")


def rule(severity: str, title: str, why: str) -> dict[str, str]:
    """Write an entry of a dialect's rules. The message is what the decoder found."""
    return {"severity": severity, "title": title, "message": "{detail}", "why": why, "since": "1.0"}


#: What every dialect's `rules` hold besides its own.
COMMON = {
    UNFIT: rule(
        "error",
        "A foreign value is not what its protocol allows",
        "A field is missing or of the wrong kind, so the value cannot be translated. It is dropped, and the stream goes on.",
    ),
    UNKNOWN: rule(
        "note",
        "A foreign value is of no kind that the dialect knows",
        "Nothing of the message is known to depend on it. It is kept whole, in a CUSTOM event.",
    ),
}

#: What is wrong with a stream, whichever dialect reads it.
OF_STREAMS = {
    MIXED: rule(
        "error",
        "A value of another dialect stands in the stream",
        "A stream speaks one dialect, so what this value says is missing from the messages. Write each dialect to a file of its own.",
    ),
}
