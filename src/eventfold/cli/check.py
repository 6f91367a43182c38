"""The command that says what streams and stored messages break."""

from __future__ import annotations

import sys
from contextlib import closing
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from .options import (
    KEEP_ENDED,
    MAX_OPEN,
    NATIVE,
    DialectOption,
    FailOn,
    FailOnOption,
    HeaderOption,
    KeepEndedOption,
    MaxOpenOption,
    TimeoutOption,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from eventfold.report.checking import FileReport, Writer

    from .checking import Plan
    from .progress import Bar
    from .sources import Source


class CheckFormat(StrEnum):
    """How to write findings."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Streams or stored messages: JSONL, a JSON array, a JSON document, an SSE capture, also as .gz or .zst. "
            "`-` is standard input, http://... a live stream; a folder is walked for *.jsonl, *.ndjson, *.json and *.sse, packed or not.",
        ),
    ],
    format: Annotated[  # noqa: A002  the option's name
        CheckFormat,
        typer.Option("--format", "-f", help="How to write: for people, JSON, one document a line, or SARIF 2.1.0 for code hosts."),
    ] = CheckFormat.TEXT,
    fail_on: FailOnOption = FailOn.ERROR,
    dialect: DialectOption = NATIVE,
    jobs: Annotated[
        int,
        typer.Option("--jobs", "-j", min=0, help="How many processes check files; 0 is all cores, where there are files enough."),
    ] = 0,
    keep_ended: KeepEndedOption = KEEP_ENDED,
    max_open: MaxOpenOption = MAX_OPEN,
    header: HeaderOption = None,
    timeout: TimeoutOption = 60.0,
) -> None:
    """Say what streams and stored messages break, and where. Findings come in the order of the files."""
    from .checking import Plan
    from .console import coloured
    from .http import Access, header_of
    from .progress import Bar
    from .sources import sources

    access = Access(tuple(header_of(text) for text in header or ()), timeout)
    plan = Plan(format.value, dialect, keep_ended, max_open, access, sys.stdout.encoding, coloured(sys.stdout))
    plan.input("-")  # says what is wrong with the dialect before there is any output
    found = list(sources(files))
    sizes = [source.size for source in found if source.error is None]
    size = None if None in sizes else sum(size or 0 for size in sizes)
    with Bar(len(found), size) as bar, closing(_results(found, plan, jobs, bar)) as results:
        code = _report(results, plan, fail_on, bar)
    raise typer.Exit(code)


def _results(found: list[Source], plan: Plan, jobs: int, bar: Bar) -> Generator[bytes | FileReport]:
    """Check inputs, in this process where others are not worth it."""
    from .checking import examine
    from .sources import jobs_for

    count = jobs_for(found, jobs)
    if count > 1:
        from .workers import Workers

        yield from Workers(found, plan, count, bar.tick).results()
        return
    writer = plan.writer()
    for source in found:
        yield from examine(source, plan, writer, bar.tick)


def _report(results: Iterator[bytes | FileReport], plan: Plan, fail_on: FailOn, bar: Bar) -> int:
    """Write what comes, as it comes, and give the exit code."""
    from eventfold.findings import Severity

    from .console import complain

    writer: Writer = plan.writer()
    _put(writer.head(), bar)
    # Each result of a SARIF document has a comma before it, the first one too.
    first = plan.form == CheckFormat.SARIF
    code, files, errors = 0, 0, list[str]()
    for part in results:
        if isinstance(part, bytes):
            _put(part.removeprefix(b",") if first else part, bar)
            first = first and not part
            continue
        files += 1
        for line in part.said:
            bar.clear()
            complain(line)
        if part.error is not None:
            errors.append(part.error)
            bar.clear()
            complain(part.error)
        wrong = any(count and severity >= Severity[fail_on.name] for severity, count in part.wrong.items())
        code = max(code, 2 if part.error is not None else int(wrong))
        bar.file_done()
    _put(writer.foot(files, code, errors), bar)
    return code


def _put(data: bytes, bar: Bar) -> None:
    """Write to standard output, at once: others may read along."""
    from .console import Writing, write

    if data:
        bar.clear()
        write(data)
        with Writing():
            sys.stdout.flush()
