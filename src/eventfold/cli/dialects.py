"""The commands that cross into other dialects: convert, unfold, dialects."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import orjson
import typer

from eventfold.findings import Severity

from .console import CannotRun, complain, say, write
from .input import Input, dialect_of, grouped
from .options import AUTO, NATIVE, DialectOption

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventfold.dialects import Loss
    from eventfold.findings import Finding


class Form(StrEnum):
    """How converted values are written."""

    JSONL = "jsonl"
    SSE = "sse"


class As(StrEnum):
    """What is written: a stream, or messages."""

    STREAM = "stream"
    MESSAGES = "messages"


def convert(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A stream or stored messages. `-` is standard input.")],
    to: Annotated[str, typer.Option("--to", metavar="NAME", help="What to write (`eventfold dialects` lists them).")],
    source: Annotated[str, typer.Option("--from", metavar="NAME", help="What the input speaks; `auto` recognises it.")] = AUTO,
    written_as: Annotated[
        As | None,
        typer.Option("--as", help="What to write: a stream, or messages. By default what the input is.", show_default=False),
    ] = None,
    form: Annotated[Form, typer.Option("--form", help="How to write: one JSON value a line, or server-sent events.")] = Form.JSONL,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 when anything is lost.")] = False,
) -> None:
    """
    Say a stream, or stored messages, in another dialect.

    Values are written as they come. What is wrong with the input and what could not be carried goes to standard error.
    """
    from eventfold.dialects.writing import TappedFolder, Writer
    from eventfold.fold import Folder

    target = dialect_of(to)
    as_stream = target.encoder is not None and written_as is not As.MESSAGES
    if written_as is As.STREAM and target.encoder is None:
        message = f"{to} has no stream to write; leave out --as"
        raise CannotRun(message)
    if not as_stream and target.write_messages is None:
        message = f"{to} has no messages to write" if target.encoder is not None else f"{to} can only be read"
        raise CannotRun(message)
    output = Writer(target, _written(form))
    read = Input(file, source, TappedFolder(output.event) if as_stream else Folder())
    findings = read.read()
    losses = [*read.losses]
    stored = read.checker.stored
    if stored and not read.checker.events:
        # Messages stay messages, unless a stream is asked for or is all that the target has.
        if written_as is As.STREAM or target.write_messages is None:
            losses += output.unfolded(stored)
        else:
            losses += output.messages(stored)
    elif not as_stream:
        losses += output.messages(read.checker.folder.snapshots())
    losses += output.finish()
    sys.stdout.flush()
    _report(file, findings, losses)
    raise typer.Exit(int(any(finding.severity is Severity.ERROR for finding in findings) or (strict and bool(losses))))


def unfold(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Stored messages: a JSON document, an array, JSONL. `-` is standard input.")],
    dialect: DialectOption = NATIVE,
    cut: Annotated[
        int | None, typer.Option("--cut", min=1, metavar="SIZE", help="Cut text into pieces of so many characters, data of so many bytes.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 when anything is lost.")] = False,
) -> None:
    """Print events that fold to the messages. What no event carries goes to standard error."""
    from eventfold.dialects.writing import Writer
    from eventfold.fold import Folder

    read = Input(file, dialect, Folder())
    findings = read.read()
    if not read.checker.stored:
        message = f"{file} holds events, not messages: `eventfold fold` makes messages of them"
        raise CannotRun(message)
    output = Writer(dialect_of(NATIVE), _written(Form.JSONL))
    losses = [*read.losses, *output.unfolded(read.checker.stored, cut)]
    sys.stdout.flush()
    _report(file, findings, losses)
    raise typer.Exit(int(any(finding.severity is Severity.ERROR for finding in findings) or (strict and bool(losses))))


def dialects(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Print the page of a dialect; all are listed without one.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document a line.")] = False,
) -> None:
    """List the dialects: which way they translate, and what gets lost."""
    from importlib.resources import files

    from eventfold.dialects import NAMES

    if name is not None and not as_json:
        page = files("eventfold.dialects").joinpath(f"{dialect_of(name).name}.md")
        if not page.is_file():
            message = f"{name} has no page"
            raise CannotRun(message)
        write(page.read_bytes())
        return
    for each in NAMES if name is None else [name]:
        found = dialect_of(each)
        ways = {
            "stream in": found.decoder,
            "stream out": found.encoder,
            "messages in": found.read_messages,
            "messages out": found.write_messages,
        }
        there = [way for way, translation in ways.items() if translation is not None]
        if as_json:
            write(orjson.dumps({"name": each, "title": found.title, "ways": there, "losses": dict(found.losses)}) + b"\n")
        else:
            say(f"{each:16} {found.title}\n{'':16} {', '.join(there)}")
            for reason in found.losses:
                say(f"{'':16} loses: {reason}")


def _written(form: Form) -> Callable[[Any], None]:
    """Choose how to write a value."""
    start, end = (b"data: ", b"\n\n") if form is Form.SSE else (b"", b"\n")
    # Not orjson: it refuses integers beyond 64 bits, which a producer's own data may hold.
    return lambda value: write(start + msgspec.json.encode(value) + end)


def _report(name: str, findings: list[Finding], losses: list[Loss]) -> None:
    if findings:
        from eventfold.report.terminal import finding_line

        from .console import show

        show((finding_line(name, finding) for finding in findings), sys.stderr, soft_wrap=True)
    for line in grouped(losses):
        complain(f"{name}: {line}")
