"""
The command line. Thin: it reads bytes, asks the library, writes reports.

Exit codes: 0 clean, 1 findings at or above --fail-on, 2 could not run. Bad input never ends in a
traceback.
"""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import orjson
import typer
from eventfold_models.tables import RULES, WIRE_VERSION

from .cli_dialects import convert, dialects, unfold
from .cli_fuzz import fuzz, matrix, replay
from .cli_input import NATIVE, DialectOption, Input
from .console import CannotRun, CannotWrite, ReaderGone, Writing, complain, say, show, write
from .findings import Severity, UnknownRule, rule_entry, worst
from .lifecycle import KEEP_ENDED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .check import Checker
    from .findings import Finding

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="The contract between an agent's event stream and its message: check streams, fold them to messages.",
    epilog="Exit codes: 0 clean, 1 findings at or above --fail-on, 2 could not run.",
)


class Format(StrEnum):
    """How to write."""

    TEXT = "text"
    JSON = "json"


class CheckFormat(StrEnum):
    """How to write findings."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


class FailOn(StrEnum):
    """From which severity on findings make the exit code 1."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


#: Exit codes as shells give them, 128 and the signal's number: SIGINT, SIGPIPE.
_INTERRUPTED, _READER_GONE = 130, 141


_Format = Annotated[Format, typer.Option("--format", "-f", help="How to write: for people, or JSON, one document a line.")]
_FailOn = Annotated[FailOn, typer.Option("--fail-on", help="Exit with 1 when a finding is at least this severe.")]
_KeepEnded = Annotated[int, typer.Option("--keep-ended", min=0, help="How many ended replies are held for late results and redeliveries.")]


def _show_version(value: bool) -> None:  # noqa: FBT001  typer's form
    if value:
        say(f"eventfold {version('eventfold')} (wire {WIRE_VERSION})")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the versions of package and wire.")
    ] = False,
) -> None: ...


@app.command()
def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Streams or stored messages: JSONL, a JSON array, a JSON document, an SSE capture. `-` is standard input.",
        ),
    ],
    format: Annotated[  # noqa: A002  the option's name
        CheckFormat,
        typer.Option("--format", "-f", help="How to write: for people, JSON, one document a line, or SARIF 2.1.0 for code hosts."),
    ] = CheckFormat.TEXT,
    fail_on: _FailOn = FailOn.ERROR,
    dialect: DialectOption = NATIVE,
    keep_ended: _KeepEnded = KEEP_ENDED,
) -> None:
    """Say what streams and stored messages break, and where."""
    from .fold import Folder
    from .report import machine

    checked: list[tuple[str, list[Finding], str | None]] = []
    code = 0
    if format is CheckFormat.JSON:
        write(machine.header(version("eventfold"), WIRE_VERSION))
    for name in files:
        source = Input(name, dialect, Folder(keep_ended=keep_ended))
        error = None
        findings: list[Finding] = []
        try:
            findings = source.read()
        except CannotRun as reason:
            error = str(reason)
        checked.append((name, findings if format is CheckFormat.SARIF else [], error))
        _report_file(format, name, source.checker, findings, error)
        code = max(code, 2 if error is not None else _code(findings, fail_on))
    if format is CheckFormat.JSON:
        write(machine.footer(len(files), code))
    elif format is CheckFormat.SARIF:
        from .report.sarif import sarif

        write(sarif(checked, version("eventfold"), RULES if dialect == NATIVE else _all_rules()))
    raise typer.Exit(code)


@app.command()
def fold(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A stream: JSONL, a JSON array, an SSE capture. `-` is standard input.")],
    format: _Format = Format.TEXT,  # noqa: A002  the option's name
    reply: Annotated[str | None, typer.Option("--reply", metavar="ID", help="Only this reply.")] = None,
    onto: Annotated[
        str | None,
        typer.Option("--onto", metavar="FILE", help="Stored messages that the stream continues: one JSON document, an array, or JSONL."),
    ] = None,
    dialect: DialectOption = NATIVE,
    fail_on: _FailOn = FailOn.ERROR,
    keep_ended: _KeepEnded = KEEP_ENDED,
) -> None:
    """Print the message of each reply. What is wrong with the stream goes to standard error."""
    from .fold import Folder, UnknownReply

    folder = Folder.from_messages(_stored(onto), keep_ended=keep_ended) if onto else Folder(keep_ended=keep_ended)
    source = Input(file, dialect, folder)
    findings = source.read()
    checker = source.checker
    if checker.stored and not checker.events:
        message = f"{file} holds messages, not events: there is nothing to fold"
        raise CannotRun(message)
    try:
        messages = [folder.snapshot(reply)] if reply is not None else folder.snapshots()
    except UnknownReply as error:
        raise CannotRun(str(error)) from None
    for message in messages:
        if format is Format.JSON:
            # Not orjson: it refuses integers beyond 64 bits, which a producer's own data may hold.
            write(msgspec.json.encode(message) + b"\n")
        else:
            from .report.terminal import message_panel

            show([message_panel(message)], sys.stdout)
    _print_findings(file, findings, sys.stderr)
    raise typer.Exit(_code(findings, fail_on))


@app.command()
def explain(
    rule: Annotated[
        str | None, typer.Argument(metavar="RULE", help="Id of a rule, such as block.after-end; all are listed without one.")
    ] = None,
    format: _Format = Format.TEXT,  # noqa: A002  the option's name
) -> None:
    """Say what a rule means, why it exists and what a fold does all the same."""
    rules = _all_rules()
    if rule is None:
        for name, entry in rules.items():
            if format is Format.JSON:
                write(orjson.dumps({"id": name, **entry}) + b"\n")
            else:
                say(f"{name:36} {entry['severity']:8} {entry['title']}")
        return
    try:
        entry = rule_entry(rule, rules)
    except UnknownRule as error:
        raise CannotRun(str(error)) from None
    if format is Format.JSON:
        write(orjson.dumps({"id": rule, **entry}) + b"\n")
        return
    say(f"{rule} ({entry['severity']}, since wire {entry['since']})\n\n{entry['title']}.\n\n{entry['why']}")


@app.command()
def schema(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A type, such as TextBlockDeltaEvent or Msg; the whole bundle without one.")
    ] = None,
    list_names: Annotated[bool, typer.Option("--list", help="List the types.")] = False,
) -> None:
    """Print the contract as one JSON Schema document, or one type of it with what it refers to."""
    from .wire.schema import contract, excerpt

    if list_names:
        say("\n".join(contract()["$defs"]))
        return
    try:
        document = contract() if name is None else excerpt(name)
    except LookupError as error:
        raise CannotRun(str(error.args[0])) from None
    write(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")


@app.command()
def vectors(
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="DIR", help="Copy the vectors to a new folder, for use in any language.", show_default=False),
    ] = None,
) -> None:
    """List the vectors: streams with the messages and findings that are right for them."""
    from .vectors import MANIFEST, export

    manifest: dict[str, list[dict[str, Any]]] = orjson.loads(MANIFEST.read_bytes())
    listed = [*manifest["vectors"], *manifest["dialects"]]
    if to is None:
        for entry in listed:
            say(f"{entry['id']}  {entry['intent']}")
        return
    if to.exists():
        message = f"{to} is there already; name a folder that is not"
        raise CannotRun(message)
    try:
        export(to)
    except OSError as error:
        message = f"{to} cannot be written: {error.strerror}"
        raise CannotRun(message) from None
    say(f"{len(listed)} vectors in {to}")


app.command()(unfold)
app.command()(convert)
app.command()(dialects)
app.command()(fuzz)
app.command()(replay)
app.command()(matrix)


def main() -> None:
    """Run the command line, with one clear line for whatever ends it."""
    try:
        code = _ended()
    except CannotRun as error:
        complain(str(error))
        code = _READER_GONE if isinstance(error, ReaderGone) else 2
        if isinstance(error, CannotWrite):
            # The interpreter must not try to flush on the way out what cannot be written.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        complain("interrupted")
        code = _INTERRUPTED
    sys.exit(code)


def _ended() -> int:
    """Run a command to its end and give the exit code."""
    if not sys.stdout:
        message = "standard output is closed"
        raise CannotRun(message)
    try:
        code: Any = app(standalone_mode=False)
    except Exception as error:
        # A mistake on the command line: typer says which.
        show = getattr(error, "show", None)
        if show is None:
            raise
        show()
        return 2
    with Writing():
        sys.stdout.flush()
    if code == _INTERRUPTED:
        # Typer makes an exit code of a KeyboardInterrupt.
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def _all_rules() -> Mapping[str, Mapping[str, str]]:
    from .dialects import all_rules

    return all_rules()


def _report_file(form: CheckFormat, name: str, checker: Checker, findings: list[Finding], error: str | None) -> None:
    """Write what a file holds, as soon as it is checked; SARIF is one document, and written at the end."""
    if form is CheckFormat.JSON:
        from .report import machine

        for line in machine.findings_of(name, findings):
            write(line)
        write(machine.source_of(name, checker, error))
    elif form is CheckFormat.TEXT and error is None:
        _print_findings(name, findings, sys.stdout)
        _print_summary(name, checker, findings)
    if error is not None:
        complain(error)


def _stored(name: str) -> list[dict[str, Any]]:
    """Read stored messages. Raises CannotRun."""
    from .fold import Folder

    source = Input(name, NATIVE, Folder())
    broken = [finding for finding in source.read() if finding.severity is Severity.ERROR]
    if broken or not source.checker.stored:
        reason = f"{broken[0].rule}: {broken[0].message}" if broken else "it holds events"
        message = f"{name} holds no messages that can be continued ({reason})"
        raise CannotRun(message)
    return source.checker.stored


def _code(findings: list[Finding], fail_on: FailOn) -> int:
    severity = worst(findings)
    return int(severity is not None and severity >= Severity[fail_on.name])


def _print_findings(name: str, findings: list[Finding], stream: Any) -> None:
    if not findings:
        return
    from .report.terminal import finding_line

    show((finding_line(name, finding) for finding in findings), stream, soft_wrap=True)


def _print_summary(name: str, checker: Checker, findings: list[Finding]) -> None:
    counts = [(checker.events, "event"), (checker.folder.lifecycle.starts, "reply"), (len(checker.stored), "message")]
    held = ", ".join(f"{count:,} {_plural(word, count)}" for count, word in counts if count)
    wrong = [(sum(finding.severity is severity for finding in findings), str(severity)) for severity in reversed(Severity)]
    verdict = ", ".join(f"{count} {_plural(word, count)}" for count, word in wrong if count) or "clean"
    from .report.terminal import one_line

    say(f"{one_line(name)}: {held}: {verdict}")


def _plural(word: str, count: int) -> str:
    return word if count == 1 else "replies" if word == "reply" else f"{word}s"


if __name__ == "__main__":
    main()
