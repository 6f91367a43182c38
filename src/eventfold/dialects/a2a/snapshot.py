"""
A Task of ours that comes without its stream, or once more: the events for what is new in it.

Law: nothing is said twice. What no event can say of a block that is there already is a loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventfold_models import structs
from eventfold_models.tables import BLOCKS, FIELDS

from eventfold.effects import GROWING
from eventfold.unfold import unfold

from .ours import GROWTH, Made

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventfold.shape import Wire

    from .tasks import Ours

#: Reason of a loss.
SNAPSHOT = "A Task that comes without the stream of its reply says what events cannot."
#: Events that a message as a whole has, and its blocks do not.
_AROUND = (structs.ReplyStartEvent, structs.ReplyEndEvent, structs.ModelCallStartEvent, structs.ModelCallEndEvent)


def grown(known: Ours, head: Wire, block: Wire, lose: Callable[[str], None]) -> Iterator[Made]:
    """Give what a block that is known has more in a Task. Only text that has grown, and an end, can be said by events."""
    kind, names = block["type"], FIELDS[BLOCKS[block["type"]]]
    grows, ended = kind in GROWING, "finished_at" in known.head
    ends = grows and "finished_at" in head and not ended
    fixed = {name for name in {*head, *known.head} if name in names and not (ends and name == "finished_at")}
    text, before = (block[GROWING[kind]], known.text()) if grows else ("", "")
    longer = text != before and text.startswith(before) and not ended
    if any(head.get(name) != known.head.get(name) for name in fixed) or not (text == before or longer):
        lose(SNAPSHOT)
    if not grows:
        return
    delta, end, key = GROWTH[kind]
    if longer:
        yield delta, {key: block["id"], "delta": text[len(before) :]}
    if ends:
        extra = {name: item for name, item in block.items() if name not in names}
        yield end, {key: block["id"], "created_at": block["finished_at"], "extra": extra or None}


def unfolded(message: Wire, session: str, lose: Callable[[str], None], *, blocks_only: bool = False) -> Iterator[Made]:
    """Give the events of a message, or those of its blocks only."""
    events, losses = unfold(message)
    for _ in losses:
        lose(SNAPSHOT)
    for event in events:
        if blocks_only and isinstance(event, _AROUND):
            continue
        fields = {name: getattr(event, name) for name in event.__struct_fields__ if name not in {"id", "reply_id"}}
        given = {name: item for name, item in fields.items() if item is not structs.UNSET}
        yield type(event), given | ({"session_id": session} if "session_id" in given else {})
