"""
The native dialect: the contract itself, so that every dialect can be asked for by name.

Nothing is translated and nothing is lost; what the schemas do not know is kept as far as the engine reads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models.tables import EVENTS, MESSAGES

from eventfold.jsonvalue import copy_json, is_array, is_object
from eventfold.shape import wire_of
from eventfold.wire import read_event

from .translation import COMMON, UNFIT, Decoder, Dialect, Encoder, Said, Unfit, fields_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from eventfold.shape import Wire


class _Decoder(Decoder):
    def decode(self, value: Any) -> Iterator[Any]:
        if not is_object(value):
            raise Unfit(UNFIT, "an event is a JSON object")
        yield read_event(value)


class _Encoder(Encoder):
    def encode(self, event: Any) -> Iterator[Wire]:
        yield fields_of(event)


def is_native(value: Any) -> bool:
    """Tell whether a value is an event or a message of the contract."""
    if not is_object(value):
        return False
    event = str(value.get("type")) in EVENTS
    return "created_at" in value and (event or (str(value.get("role")) in MESSAGES and is_array(value.get("content"))))


def _read_messages(value: Any) -> Said:
    messages = value if is_array(value) else [value]
    for message in messages:
        if not is_object(message) or str(message.get("role")) not in MESSAGES:
            raise Unfit(UNFIT, "a message is a JSON object with a role")
    return Said([copy_json(message) for message in messages], [])


def _write_messages(messages: Iterable[Wire]) -> Said:
    return Said([wire_of(message, MESSAGES[message["role"]]) for message in messages], [])


NATIVE = DIALECT = Dialect(
    name="eventfold",
    title="the contract itself",
    recognise=is_native,
    decoder=_Decoder,
    encoder=_Encoder,
    read_messages=_read_messages,
    write_messages=_write_messages,
    rules=COMMON,
)
