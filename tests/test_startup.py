"""Starting: a command loads what it needs and no more."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
import typer
from support import ROOT

from eventfold.cli import check, contract, dialects, fold, fuzz
from eventfold.cli.commands import COMMANDS, app
from eventfold.cli.quick import quicken

if TYPE_CHECKING:
    from pathlib import Path

RECORDING = ROOT / "tests/recordings/agentscope-2.0.11/one_tool.events.jsonl"

#: What takes long to import, and is for few commands or for what is not in order.
HEAVY = {
    "httpx",
    "hypothesis",
    "importlib.metadata",
    "json",
    "jsonschema",
    "multiprocessing",
    "orjson",
    "pydantic",
    "referencing",
    "rich",
    "urllib.request",
}
#: How many modules of our own a check of a clean file may load. Raise it with a reason (46: the engine is split by its ideas, and
#: the command line is loaded behind what catches an interrupt).
MOST = 46

LIST = """
import sys
sys.argv = {arguments!r}
from eventfold.cli import main
try:
    main()
finally:
    print("\\n".join(sys.modules), file=sys.stderr)
"""


def loaded(*arguments: object) -> set[str]:
    """Run a command in a fresh interpreter, and name the modules that it loaded."""
    code = LIST.format(arguments=["eventfold", *map(str, arguments)])
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return set(ended.stderr.split())


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("check", RECORDING), ("check", "--jobs", 2, "--max-open", 7, "--fail-on=note", "--timeout", 1.5, RECORDING)],
    ids=["help", "check", "options"],
)
def test_nothing_heavy_is_loaded(arguments: tuple[object, ...]) -> None:
    """For the help, and for a check of a file in order, with whatever plain options."""
    modules = loaded(*arguments)
    assert modules & HEAVY == set()
    assert [name for name in modules if name.startswith("eventfold.dialects")] == []
    ours = [name for name in modules if name.startswith("eventfold")]
    assert len(ours) <= (6 if arguments == ("--help",) else MOST), sorted(ours)


def test_fold_loads_no_more_than_it_prints() -> None:
    """Messages as JSON need neither the models nor what draws; as text they need what draws."""
    assert loaded("fold", "--format", "json", RECORDING) & HEAVY == set()
    assert loaded("fold", RECORDING) & HEAVY <= {"rich", "json"}


def test_what_is_found_in_a_file_is_written_without_a_terminals_library(tmp_path: Path) -> None:
    """Findings into a pipe need neither; those about an unknown field need what reads it again."""
    path = tmp_path / "x"
    path.write_text(RECORDING.read_text("utf-8").replace('"type":', '"x_new": 1, "type":', 1), "utf-8")
    assert loaded("check", path) & HEAVY <= {"json", "orjson"}


def test_the_list_of_commands_is_what_they_say() -> None:
    """Each command's line in the help is how its own help begins, and the help has them all in this order."""
    group = typer.main.get_command(app)
    modules = {module.__name__.rpartition(".")[2]: module for module in (check, contract, dialects, fold, fuzz)}
    for name, (module, summary) in COMMANDS.items():
        said = " ".join((getattr(modules[module], name).__doc__ or "").split())
        assert said.startswith(summary.rstrip(".")), name
        assert group.get_command(None, name).name == name  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]  a group
    shown = subprocess.run([sys.executable, "-m", "eventfold.cli", "--help"], capture_output=True, text=True, check=True).stdout
    listed = [line.split()[0] for line in shown.split("Commands:\n")[1].split("\n\n")[0].splitlines() if line[2] != " "]
    assert listed == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_plain_values_are_read_as_typer_reads_them(name: str) -> None:
    """Whatever is given to a parameter, typer's own reader and the quick one agree, on what they give and on what they refuse."""
    alone = typer.Typer(add_completion=False)
    alone.command()(getattr(import_module(f"eventfold.cli.{COMMANDS[name][0]}"), name))
    quick, slow = (typer.main.get_command(alone) for _ in range(2))
    quicken(quick)
    values: list[Any] = ["", "a", "0", "1", "-1", "1.5", "1e3", " 1", "1_0", "\u0661", "9" * 30, "nan", "true", "text", "JSON", "json", "-"]
    values += [None, (), [], ("a", "b"), ["1"], "auto"]
    for one, other in zip(quick.params, slow.params, strict=True):
        context = typer.Context(slow, info_name=name)
        for value in [*values, one.default]:
            read = [_read(parameter, context, value) for parameter in (one, other)]
            assert read[0] == read[1], (one.name, value)
            assert type(read[0]) is type(read[1])


def _read(parameter: Any, context: Any, value: Any) -> Any:
    """Read a value, or say why it is none."""
    try:
        return parameter.get_runtime_param().coerce(value, param=parameter, ctx=context)
    except typer.BadParameter as error:
        return str(error)
