"""The commands that print the contract: its rules, its schemas, its vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from eventfold.findings import UnknownRule, rule_entry

from .console import CannotRun, say, write
from .options import Format, FormatOption


def explain(
    rule: Annotated[
        str | None, typer.Argument(metavar="RULE", help="Id of a rule, such as block.after-end; all are listed without one.")
    ] = None,
    format: FormatOption = Format.TEXT,  # noqa: A002  the option's name
) -> None:
    """Say what a rule means, why it exists and what a fold does all the same."""
    from eventfold.dialects import all_rules

    rules = all_rules()
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


def schema(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A type, such as TextBlockDeltaEvent or Msg; the whole bundle without one.")
    ] = None,
    list_names: Annotated[bool, typer.Option("--list", help="List the types.")] = False,
) -> None:
    """Print the contract as one JSON Schema document, or one type of it with what it refers to."""
    from eventfold.wire.schema import contract, excerpt

    if list_names and name is not None:
        message = f"--list lists all types: give it without {name}, or the name without it"
        raise CannotRun(message)
    if list_names:
        say("\n".join(contract()["$defs"]))
        return
    try:
        document = contract() if name is None else excerpt(name)
    except LookupError as error:
        raise CannotRun(str(error.args[0])) from None
    write(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")


def vectors(
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="DIR", help="Copy the vectors to a new folder, for use in any language.", show_default=False),
    ] = None,
) -> None:
    """List the vectors: streams with the messages and findings that are right for them."""
    from eventfold.vectors import MANIFEST, export

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
