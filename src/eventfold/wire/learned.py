"""
A decoder that takes unknown fields which came before, so that a stream that is full of them stays on the fast path.

Law: it is the decoder of the contract with more optional fields, and only a quicker way to the same verdict. What it has learned
is bounded and shared by all readers, since it says nothing about any stream.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Union

import msgspec
from eventfold_models import structs
from eventfold_models.tables import EVENTS

from eventfold.byclass import ByClass
from eventfold.jsonvalue import escape

if TYPE_CHECKING:
    from collections.abc import Callable

#: The rule of a field that no schema names.
UNKNOWN_FIELD = "event.unknown-field"

#: How many fields are learned, over all classes. A producer has few; who has more is read slowly.
MOST = 64
#: Names that are learned: short ones, without what msgspec refuses in a name.
_LEARNABLE = re.compile(r'[^"\\\x00-\x1f]{1,64}')


#: Of each unknown field: the attribute that holds it; rule, event type and pointer.
Extras = tuple[tuple[str, tuple[str, str, str]], ...]


class LearnedDecoder:
    """Decodes events whose unknown fields were seen before."""

    def __init__(self) -> None:
        self._classes: dict[str, type[msgspec.Struct]] = {name: getattr(structs, name) for name in EVENTS.values()}
        self.extras: ByClass[Extras] = ByClass(dict.fromkeys(self._classes.values(), ()))
        self._names: dict[str, list[str]] = {}
        #: Decodes any event; as long as nothing was learned, there is none.
        self.decode: Callable[[bytes], Any] | None = None

    def learn(self, name: str, fields: list[str]) -> None:
        """Take fields of an event type from now on, unless they are too many."""
        class_name = EVENTS[name]
        known = self._names.get(class_name, [])
        new = [field for field in fields if field not in known and _LEARNABLE.fullmatch(field)]
        if not new or sum(map(len, self._names.values())) + len(new) > MOST:
            return
        names = self._names[class_name] = known + new
        extras = [(f"extra{i}", (UNKNOWN_FIELD, name, f"/{escape(field)}")) for i, field in enumerate(names)]
        base = getattr(structs, class_name)
        struct = msgspec.defstruct(
            class_name,
            [
                (attribute, Any, msgspec.field(default=msgspec.UNSET, name=field))
                for (attribute, _), field in zip(extras, names, strict=True)
            ],
            bases=(base,),
            tag=name,
            tag_field="type",
            forbid_unknown_fields=True,
            gc=False,
        )
        self._classes[class_name] = struct
        self.extras[struct] = tuple(extras)
        self.decode = msgspec.json.Decoder(Union[tuple(self._classes.values())]).decode  # noqa: UP007  made of a tuple


#: The one that all readers share.
LEARNED = LearnedDecoder()
