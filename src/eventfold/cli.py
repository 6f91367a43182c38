"""
The command line. Thin: it reads bytes, asks the library, writes reports.

Exit codes: 0 clean, 1 findings at or above --fail-on, 2 could not run. Bad input never ends in a
traceback.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer
from eventfold_models.tables import WIRE_VERSION

from .cli_check import check
from .cli_dialects import convert, dialects, unfold
from .cli_fold import fold
from .cli_fuzz import fuzz, matrix, replay
from .cli_options import Format, FormatOption
from .console import CannotRun, CannotWrite, ReaderGone, Writing, complain, say, write
from .findings import UnknownRule, rule_entry

if TYPE_CHECKING:
    from collections.abc import Mapping

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="The contract between an agent's event stream and its message: check streams, fold them to messages.",
    epilog="Exit codes: 0 clean, 1 findings at or above --fail-on, 2 could not run.",
)


#: Exit codes as shells give them, 128 and the signal's number: SIGINT, SIGPIPE.
_INTERRUPTED, _READER_GONE = 130, 141


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


app.command()(check)
app.command()(fold)


@app.command()
def explain(
    rule: Annotated[
        str | None, typer.Argument(metavar="RULE", help="Id of a rule, such as block.after-end; all are listed without one.")
    ] = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  the option's name
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


if __name__ == "__main__":
    main()
