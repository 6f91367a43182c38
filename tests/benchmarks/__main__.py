"""The command: python -m tests.benchmarks."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path  # noqa: TC003  typer reads the annotations
from typing import Annotated

import orjson
import typer
from rich.console import Console

from . import plot, report
from .contenders import CONTENDERS
from .measure import measure, start_up
from .targets import Run, judged
from .workloads import ROOT, WORKLOADS

_QUICK = 1 / 16
#: Of a file that the tables go to.
_WIDTH = 140
_PACKAGES = ("eventfold", "msgspec", "orjson", "pydantic", "jsonschema", "jsonschema-rs", "agentscope")

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _machine() -> dict[str, object]:
    versions = {"Python": platform.python_version()} | {name: found for name in _PACKAGES if (found := _version(name))}
    return {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count(), "versions": versions}


@app.command()
def main(
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="A sixteenth of the size, three rounds: whether all works, in a minute or two.")
    ] = False,
    rounds: Annotated[int | None, typer.Option("--rounds", min=1, help="How many rounds; 7, quick 3.")] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="A workload; several times for several.")] = None,
    contenders: Annotated[
        list[str] | None, typer.Option("--contender", help="A contender besides the floor and ours; all without it.")
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all figures.")] = None,
    plot_file: Annotated[Path | None, typer.Option("--plot", help="Draw them, as SVG.")] = None,
    readme: Annotated[bool, typer.Option("--readme", help=f"Write tables into README.md, and {report.PLOT}.")] = False,
) -> None:
    """Measure eventfold beside what else reads such streams, all in this one run, and say which targets are met."""
    unknown = set(only or ()) - {row.name for row in WORKLOADS} | set(contenders or ()) - {row.name for row in CONTENDERS}
    if unknown:
        names = ", ".join([row.name for row in WORKLOADS]), ", ".join([row.name for row in CONTENDERS])
        message = f"{', '.join(sorted(unknown))} is unknown; workloads are {names[0]}; contenders are {names[1]}"
        raise typer.BadParameter(message)
    console, errors = Console(), Console(stderr=True)
    if not console.is_terminal:
        console.width = _WIDTH
    chosen = [row for row in CONTENDERS if not contenders or row.name in contenders or row in CONTENDERS[:3]]
    run = Run(_machine(), quick)
    times = rounds or (3 if quick else 7)
    for workload in WORKLOADS:
        if not only or workload.name in only:
            errors.print(f"measuring: {workload.title}", style="dim", highlight=False)
            run.workloads[workload.name] = measure(workload, _QUICK if quick else 1, times, chosen)
    if not only:
        errors.print("measuring: start-up", style="dim")
        run.start_up = start_up(times)
    report.show(run, console)
    if json_file is not None:
        found = [{"target": t.what, "measured": f, "bar": t.bar, "goal": t.goal, "verdict": v} for t, f, v in judged(run)]
        json_file.write_bytes(orjson.dumps({"run": run, "targets": found}, option=orjson.OPT_INDENT_2))
    if plot_file is not None:
        plot_file.write_text(plot.drawn(run), "utf-8")
    if readme:
        report.write_readme(run)
        (ROOT / report.PLOT).write_text(plot.drawn(run), "utf-8")


if __name__ == "__main__":
    sys.exit(app())
