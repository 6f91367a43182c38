"""
The commands that run somebody's reducer: fuzz and replay.

Exit codes: 0 nothing found, 1 failures or stale entries, 2 could not run or nothing was tried.
"""

from __future__ import annotations

import json
import random
import sys
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from eventfold_models.tables import WIRE_VERSION

from .console import CannotRun, complain, say, show, write

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventfold.fuzz.campaign import Plan, Result
    from eventfold.fuzz.harness import Harness

#: Version of the form of files that list known failures.
_FORM = 1


class FuzzFormat(StrEnum):
    """How to write what was found."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"
    HTML = "html"


_Command = Annotated[
    list[str] | None,
    typer.Argument(metavar="[--] COMMAND...", help="The program that runs the reducer, with its arguments.", show_default=False),
]
_Python = Annotated[
    str | None,
    typer.Option("--python", metavar="MODULE:FUNCTION", help="A Python callable instead: events in, messages out.", show_default=False),
]
_Timeout = Annotated[float, typer.Option("--timeout", min=0.01, help="Seconds that the program has for an answer.")]
_Trace = Annotated[bool, typer.Option("--trace", help="Show every line of the protocol on standard error.")]


def fuzz(
    command: _Command = None,
    python: _Python = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Where random streams begin; the same seed tries the same.", show_default="random")
    ] = None,
    max_examples: Annotated[int, typer.Option("--max-examples", min=0, help="How many random streams of each kind.")] = 200,
    max_time: Annotated[
        float | None, typer.Option("--max-time", min=0, help="Seconds; shrinking comes on top.", show_default="none")
    ] = None,
    invalid: Annotated[bool, typer.Option("--invalid", help="Random broken streams, too, compared with the table's repair.")] = False,
    pattern: Annotated[str, typer.Option("-k", metavar="TEXT", help="Only cases whose name holds the text.", show_default=False)] = "",
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="How many programs run at once.")] = 1,
    list_only: Annotated[bool, typer.Option("--list", help="List the vectors and rules that would be tried, and try nothing.")] = False,
    known: Annotated[
        Path | None, typer.Option("--known", metavar="FILE", help="Failures that are known: no failure, unless they do not show.")
    ] = None,
    write_known: Annotated[
        Path | None, typer.Option("--write-known", metavar="FILE", help="Write all failures of this run as known.")
    ] = None,
    vectors: Annotated[Path | None, typer.Option("--vectors", metavar="DIR", help="Vectors of your own, in place of ours.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write a case file for each failure, to replay and to keep as a vector.")
    ] = None,
    format: Annotated[FuzzFormat, typer.Option("--format", "-f", help="How to write what was found.")] = FuzzFormat.TEXT,  # noqa: A002  the option's name
    timeout: _Timeout = 10.0,
    trace: _Trace = False,
) -> None:
    """
    Find a short stream on which somebody's reducer is wrong, in any language.

    The program speaks JSON lines on its standard input and output; README.md has a harness in 30 lines.
    """
    _need_hypothesis()
    from eventfold.fuzz.campaign import Campaign, Plan
    from eventfold.fuzz.harness import CannotStart

    if vectors is not None and not vectors.is_dir():
        message = f"{vectors} is no folder of vectors; `eventfold vectors --to DIR` makes one"
        raise CannotRun(message)
    # Not for secrets: a number that can be said again.
    chosen = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    plan = Plan(chosen, max_examples, max_time, invalid=invalid, pattern=pattern, jobs=jobs, vectors=vectors)
    if list_only:
        _list(plan)
        return
    listed = _read_known(known) if known is not None else frozenset[str]()
    make = _maker(command, python, timeout, trace=trace)
    if sys.stderr:
        print(f"seed {chosen}", file=sys.stderr, flush=True)  # noqa: T201  so that it can be said again
    try:
        result = _run(Campaign(make, plan, known=listed), plan)
    except CannotStart as error:
        raise CannotRun(str(error)) from None
    if write_known is not None:
        entries = [{"key": key, "why": ""} for key in sorted(result.groups)]
        _save(write_known, json.dumps({"form": _FORM, "known": entries}, indent=2) + "\n")
    files = _write_cases(result, out) if out is not None else []
    _report(result, format, files)
    from eventfold.report.fuzzing import code_of

    raise typer.Exit(code_of(result))


def replay(
    case: Annotated[Path, typer.Argument(metavar="CASE", help="A case file, or any vector that holds events.")],
    command: _Command = None,
    python: _Python = None,
    timeout: _Timeout = 10.0,
    trace: _Trace = False,
) -> None:
    """
    Try a case file again: fixed (0), still failing (1), or could not run (2).

    Put the command behind `--`.
    """
    _need_hypothesis()
    from eventfold.fuzz.campaign import groups_of
    from eventfold.fuzz.casefile import NotACase, read_case
    from eventfold.fuzz.harness import CannotStart, Skipped
    from eventfold.report.fuzzing import panel_of

    try:
        wanted = read_case(case)
    except NotACase as error:
        raise CannotRun(str(error)) from None
    except OSError as error:
        message = f"{case} cannot be read: {error.strerror}"
        raise CannotRun(message) from None
    harness = _maker(command, python, timeout, trace=trace)()
    try:
        started = harness.start()
        outcome = harness.run(wanted.events)
    except CannotStart as error:
        raise CannotRun(str(error)) from None
    finally:
        harness.stop()
    if isinstance(outcome, Skipped):
        message = f"{started.name} does not try it: {outcome.reason}"
        raise CannotRun(message)
    groups = groups_of(wanted, outcome, started.unfilled)
    show((panel_of(group) for group in groups), sys.stdout)
    say("still failing" if groups else "fixed")
    raise typer.Exit(int(bool(groups)))


def matrix(
    reports: Annotated[list[Path], typer.Argument(metavar="REPORT...", help="What `eventfold fuzz --format json` printed, one a reducer.")],
) -> None:
    """Put runs against several reducers side by side on one HTML page, printed on standard output."""
    from eventfold.report.page import NotAReport, page, read_report

    try:
        read = [read_report(path.read_bytes().splitlines(), str(path)) for path in reports]
    except NotAReport as error:
        raise CannotRun(str(error)) from None
    except OSError as error:
        message = f"{error.filename} cannot be read: {error.strerror}"
        raise CannotRun(message) from None
    write(page(read))


def _need_hypothesis() -> None:
    if find_spec("hypothesis") is None:
        message = "this needs Hypothesis: pip install 'eventfold[fuzz]'"
        raise CannotRun(message)


def _maker(command: list[str] | None, python: str | None, timeout: float, *, trace: bool) -> Callable[[], Harness]:
    """Give what makes a harness. Raises CannotRun."""
    from eventfold.fuzz.harness import Program, PythonHarness

    if bool(command) == bool(python):
        message = "give either a command behind `--`, or --python module:function"
        raise CannotRun(message)
    if python:
        return lambda: PythonHarness(python)

    def shown(way: str, line: str) -> None:
        complain(f"{way} {line}")

    return lambda: Program(command or [], timeout=timeout, trace=shown if trace else None)


def _run(campaign: Any, plan: Plan) -> Result:
    """Run a campaign, with a bar if somebody watches."""
    if not sys.stderr or not sys.stderr.isatty():
        return campaign.run()
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"seed {plan.seed}")

        def tell(result: Result) -> None:
            progress.update(task, description=f"{result.tried:,} streams tried, {len(result.groups)} kinds of failure")

        return campaign.run(tell)


def _list(plan: Plan) -> None:
    from eventfold.fuzz.cases import rule_names, vector_cases

    for case in vector_cases(plan.vectors) if plan.vectors else vector_cases():
        if plan.wants(case.name):
            say(f"vectors  {case.name}")
    for rule in rule_names():
        if plan.wants(rule):
            say(f"rules    {rule}")


def _read_known(path: Path) -> frozenset[str]:
    try:
        content: Any = json.loads(path.read_bytes())
        return frozenset(entry["key"] for entry in content["known"])
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
    except (ValueError, KeyError, TypeError):
        message = f'{path} is no list of known failures: expected {{"form": 1, "known": [{{"key": ...}}]}}, as --write-known writes it'
    raise CannotRun(message)


def _save(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, "utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        message = f"{path} cannot be written: {error.strerror}"
        raise CannotRun(message) from None


def _write_cases(result: Result, folder: Path) -> list[Path]:
    from eventfold.fuzz.casefile import write_case

    try:
        return [write_case(group, folder) for group in result.failures]
    except OSError as error:
        message = f"{folder} cannot be written: {error.strerror}"
        raise CannotRun(message) from None


def _report(result: Result, form: FuzzFormat, files: list[Path]) -> None:
    from importlib.metadata import version

    from eventfold.report import fuzzing

    if form is FuzzFormat.JSON:
        for line in fuzzing.as_json(result, version("eventfold"), WIRE_VERSION):
            write(line)
    elif form is FuzzFormat.HTML:
        from eventfold.report.page import page, read_report

        write(page([read_report(fuzzing.as_json(result, version("eventfold"), WIRE_VERSION), "this run")]))
    elif form is FuzzFormat.JUNIT:
        write(fuzzing.as_junit(result))
    else:
        show(fuzzing.as_text(result), sys.stdout)
        if files:
            say(f"{len(files)} case files in {files[0].parents[2]}; eventfold replay FILE -- COMMAND tries one again")
