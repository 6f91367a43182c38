"""
What one provider keeps of a block for itself, on the way to another.

Law: a provider's own fields stand in the block's `x_<provider>`. A request to that provider gives them back; in a request to another
they have no place, and that they are left out is a loss, if the block itself is not lost already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventfold.findings import Loss
from eventfold.jsonvalue import is_object

from .translation import Said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from eventfold.shape import Wire

#: Where providers have their own fields.
FIELDS = ("x_anthropic", "x_gemini", "x_langchain", "x_openai", "x_vercel")
#: The loss.
KEPT_BY_ANOTHER = "what another provider keeps of a block for itself, such as a signature or an id, has no place"


def lost_of(*own: str) -> dict[str, tuple[str, ...]]:
    """Give the loss with its patterns, for a provider whose own fields are these."""
    return {KEPT_BY_ANOTHER: tuple(f"/content/*/{field}" for field in FIELDS if field not in own)}


def reporting(write: Callable[[Iterable[Wire]], Said], says: Callable[[Wire, str], bool]) -> Callable[[Iterable[Wire]], Said]:
    """Report other providers' fields beside what `write` reports. `says` tells whether a request says what a block has in a field."""

    def written(messages: Iterable[Wire]) -> Said:
        given = list(messages)
        value, losses = write(given)
        lost = {loss.pointer for loss in losses}
        return Said(value, [*losses, *_kept(given, says, lost)])

    return written


def _kept(messages: list[Wire], says: Callable[[Wire, str], bool], lost: set[str]) -> Iterator[Loss]:
    for i, message in enumerate(messages):
        for j, block in enumerate(message["content"]):
            pointer = f"/{i}/content/{j}"
            # Thinking that is lost is left out whole. Of what else is reported, some is said in another way.
            if f"/{i}" in lost or (block["type"] == "thinking" and pointer in lost):
                continue
            for field in FIELDS:
                if is_object(block.get(field)) and block[field] and not says(block, field):
                    yield Loss(f"{pointer}/{field}", KEPT_BY_ANOTHER)


def only(*own: str) -> Callable[[Wire, str], bool]:
    """Say that a request says what stands in these fields."""
    return lambda _block, field: field in own
