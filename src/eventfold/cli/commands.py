"""
The commands, and how one is run.

Law: a command is loaded when it is run; the list of them stands here.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from . import INTERRUPTED, READER_GONE
from .console import CannotRun, CannotWrite, ReaderGone, Writing, complain, say
from .quick import quicken, quicken_one

#: The commands, in the order of the help: the module that has them, and what they do.
COMMANDS = {
    "check": ("check", "Say what streams and stored messages break, and where."),
    "fold": ("fold", "Print the message of each reply."),
    "explain": ("contract", "Say what a rule means, why it exists and what a fold does all the same."),
    "schema": ("contract", "Print the contract as one JSON Schema document, or one type of it."),
    "vectors": ("contract", "List the vectors: streams with the messages and findings that are right."),
    "unfold": ("dialects", "Print events that fold to the messages."),
    "convert": ("dialects", "Say a stream, or stored messages, in another dialect."),
    "dialects": ("dialects", "List the dialects: which way they translate, and what gets lost."),
    "fuzz": ("fuzz", "Find a short stream on which somebody's reducer is wrong, in any language."),
    "replay": ("fuzz", "Try a case file again: fixed (0), still failing (1), or could not run (2)."),
    "matrix": ("fuzz", "Put runs against several reducers side by side on one HTML page."),
}


class _Commands(TyperGroup):
    """The commands, each loaded when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name them."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load one; None when there is none of that name."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(cmd_name)(getattr(import_module(f".{COMMANDS[cmd_name][0]}", __package__), cmd_name))
        return quicken(typer.main.get_command(alone))

    def get_help_option(self, ctx: Any) -> Any:
        """Give the option that shows the help."""
        return quicken_one(super().get_help_option(ctx))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List them without loading any."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="The contract between an agent's event stream and its message: check streams, fold them to messages.",
    epilog=(
        "Exit codes: 0 clean, 1 findings at or above --fail-on, 2 could not run, "
        f"{INTERRUPTED} interrupted, {READER_GONE} nobody reads the output."
    ),
)


def _show_version(value: bool) -> None:  # noqa: FBT001  typer's form
    if value:
        from importlib.metadata import version

        from eventfold_models.tables import WIRE_VERSION

        say(f"eventfold {version('eventfold')} (wire {WIRE_VERSION})")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the versions of package and wire.")
    ] = False,
) -> None: ...


def run() -> int:
    """
    Run a command, say why if it cannot do its work, and give the exit code.

    Raises:
        KeyboardInterrupt: it was interrupted.

    """
    try:
        return _ended()
    except CannotRun as error:
        complain(str(error))
        if isinstance(error, CannotWrite):
            # The interpreter must not try to flush on the way out what cannot be written.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE if isinstance(error, ReaderGone) else 2


def _ended() -> int:
    """Run a command to its end and give the exit code."""
    if not sys.stdout:
        message = "standard output is closed"
        raise CannotRun(message)
    try:
        code: Any = app(standalone_mode=False)
    except OSError as error:
        # Of what is read, commands have said it themselves: this is typer, writing help.
        with Writing():
            raise error from None
    except SystemExit as end:
        # Typer's way of ending quietly when nobody reads its help.
        with Writing():
            if isinstance(end.__context__, BrokenPipeError):
                raise end.__context__ from None
        raise
    except Exception as error:
        # A mistake on the command line: typer says which, if anybody can hear it.
        show = getattr(error, "show", None)
        if show is None:
            raise
        with suppress(OSError):
            show()
        return 2
    with Writing():
        sys.stdout.flush()
    if code == INTERRUPTED:
        # Typer makes an exit code of a KeyboardInterrupt.
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0
