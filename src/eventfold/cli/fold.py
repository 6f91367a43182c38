"""The command that prints the messages of a stream, and draws them while they grow."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import CannotRun, coloured, show, write
from .options import (
    KEEP_ENDED,
    MAX_OPEN,
    NATIVE,
    DialectOption,
    FailOn,
    FailOnOption,
    Format,
    FormatOption,
    HeaderOption,
    KeepEndedOption,
    MaxOpenOption,
    TimeoutOption,
)

if TYPE_CHECKING:
    from eventfold.findings import Finding

    from .input import Input


def fold(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A stream: JSONL, a JSON array, an SSE capture, also as .gz or .zst. `-` is standard input, http://... a live stream.",
        ),
    ],
    format: FormatOption = Format.TEXT,  # noqa: A002  the option's name
    reply: Annotated[str | None, typer.Option("--reply", metavar="ID", help="Only this reply.")] = None,
    onto: Annotated[
        str | None,
        typer.Option("--onto", metavar="FILE", help="Stored messages that the stream continues: one JSON document, an array, or JSONL."),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option("--follow", help="Draw the messages while they grow, where standard output is a terminal; print them at the end."),
    ] = False,
    dialect: DialectOption = NATIVE,
    fail_on: FailOnOption = FailOn.ERROR,
    keep_ended: KeepEndedOption = KEEP_ENDED,
    max_open: MaxOpenOption = MAX_OPEN,
    header: HeaderOption = None,
    timeout: TimeoutOption = 60.0,
) -> None:
    """Print the message of each reply. What is wrong with the stream goes to standard error."""
    from eventfold.fold import Folder, UnknownReply

    from .http import Access, header_of
    from .input import Input

    access = Access(tuple(header_of(text) for text in header or ()), timeout)
    bounds: dict[str, Any] = {"keep_ended": keep_ended, "max_open": max_open}
    folder = Folder.from_messages(_stored(onto), **bounds) if onto else Folder(**bounds)
    source = Input(file, dialect, folder, access=access)
    findings = _followed(source, reply) if follow and sys.stdout.isatty() else source.read()
    checker = source.checker
    if checker.messages and not checker.events:
        message = f"{source.name} holds messages, not events: there is nothing to fold"
        raise CannotRun(message)
    try:
        messages = [folder.snapshot(reply)] if reply is not None else folder.snapshots()
    except UnknownReply as error:
        raise CannotRun(str(error)) from None
    for message in messages:
        if format is Format.JSON:
            import msgspec

            # Not orjson: it refuses integers beyond 64 bits, which a producer's own data may hold.
            write(msgspec.json.encode(message) + b"\n")
        else:
            from eventfold.report.terminal import message_panel

            show([message_panel(message)], sys.stdout)
    if findings and sys.stderr:
        from eventfold.report.checking import finding_lines

        write(finding_lines(source.name, findings, sys.stderr.encoding, colours=coloured(sys.stderr)), sys.stderr)
    raise typer.Exit(_code(source, fail_on))


def _followed(source: Input, reply: str | None) -> list[Finding]:
    """Check it all, and draw meanwhile."""
    from .live import Screen

    findings: list[Finding] = []
    with Screen(source.checker.folder, reply) as screen:
        for batch in source.batches(screen.growing):
            findings += batch
    return findings


def _stored(name: str) -> list[dict[str, Any]]:
    """Read stored messages. Raises CannotRun."""
    from eventfold.findings import Severity
    from eventfold.fold import Folder

    from .input import Input

    source = Input(name, NATIVE, Folder())
    broken = [finding for finding in source.read() if finding.severity is Severity.ERROR]
    if broken or not source.checker.stored:
        reason = f"{broken[0].rule}: {broken[0].message}" if broken else "it holds events"
        message = f"{name} holds no messages that can be continued ({reason})"
        raise CannotRun(message)
    return source.checker.stored


def _code(source: Input, fail_on: FailOn) -> int:
    from eventfold.findings import Severity

    return int(any(count and severity >= Severity[fail_on.name] for severity, count in source.wrong.items()))
