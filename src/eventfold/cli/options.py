"""Options that several commands have, and what they may be."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Format(StrEnum):
    """How to write."""

    TEXT = "text"
    JSON = "json"


class FailOn(StrEnum):
    """From which severity on findings make the exit code 1."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


#: The names that `--dialect` takes besides those of the dialects.
NATIVE, AUTO = "eventfold", "auto"

#: As in the engine, which the command line does not load for its help; a test compares.
KEEP_ENDED, MAX_OPEN = 1000, 10_000

FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How to write: for people, or JSON, one document a line.")]
FailOnOption = Annotated[FailOn, typer.Option("--fail-on", help="Exit with 1 when a finding is at least this severe.")]
DialectOption = Annotated[
    str,
    typer.Option("--dialect", "-d", metavar="NAME", help="What the input speaks (`eventfold dialects` lists them); `auto` recognises it."),
]
KeepEndedOption = Annotated[
    int, typer.Option("--keep-ended", min=0, help="How many ended replies are held for late results and redeliveries.")
]
MaxOpenOption = Annotated[
    int,
    typer.Option(
        "--max-open",
        min=1,
        help="How many replies are held open; beyond, the one longest without an event is given up, which is a finding.",
    ),
]
HeaderOption = Annotated[
    list[str] | None, typer.Option("--header", "-H", metavar="'NAME: VALUE'", help="Send with the request for a URL; may be repeated.")
]
TimeoutOption = Annotated[
    float, typer.Option("--timeout", min=0.001, metavar="SECONDS", help="How long a URL may take to connect, and between two pieces.")
]
