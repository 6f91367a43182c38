"""
Dialects: pure translations between the contract and what others speak.

A dialect is a module with its mapping tables on top, and a page beside it. What a translation cannot carry is a Loss, a
value like a finding, never a silence. A dialect is loaded when it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from eventfold_models.tables import RULES

from eventfold.findings import Loss

from .translation import OF_STREAMS, Decoder, Dialect, Encoder, Remark, Row, Said, Unfit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "NAMES",
    "Decoder",
    "Dialect",
    "Encoder",
    "Loss",
    "Remark",
    "Row",
    "Said",
    "Unfit",
    "UnknownDialect",
    "all_rules",
    "dialect",
    "recognise",
]

#: The dialects, in the order in which `auto` asks them. The native one is called `eventfold`.
NAMES = (
    "eventfold",
    "agentscope",
    "agentscope_java",
    "agui",
    "a2a",
    "mcp",
    "openai_chat",
    "openai_responses",
    "anthropic",
    "gemini",
    "langchain",
    "vercel",
)


class UnknownDialect(LookupError):
    """A name that is no dialect."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"{self.name!r} is no dialect; there are {', '.join(NAMES)}"


def dialect(name: str) -> Dialect:
    """
    Load a dialect.

    Raises:
        UnknownDialect: there is none of that name.

    """
    if name not in NAMES:
        raise UnknownDialect(name)
    return import_module(f".{name}", __name__).DIALECT


def all_rules() -> dict[str, Mapping[str, str]]:
    """Give the rules of the contract, those of every dialect, and those of streams in any."""
    return {**RULES, **OF_STREAMS, **{name: entry for each in NAMES for name, entry in dialect(each).rules.items()}}


def recognise(values: Iterable[Any]) -> Dialect | None:
    """Tell which dialect the first values of a stream are of; None when no value says so."""
    for value in values:
        for name in NAMES:
            found = dialect(name)
            if found.recognise(value):
                return found
    return None


def last_resort(value: Any) -> Dialect | None:
    """Tell which dialect a value may be of, when nothing else says whose the stream is."""
    resorts = ((each, each.last_resort) for each in map(dialect, NAMES))
    return next((each for each, may_be in resorts if may_be is not None and may_be(value)), None)
