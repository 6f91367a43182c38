"""A run for people: tables on the terminal, and for README.md, where there are ratios only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from .contenders import CONTENDERS, FLOOR, OURS
from .measure import SIZES
from .targets import Run, judged
from .workloads import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from .measure import Measurement

MARKS = ("<!-- benchmark: written by python -m tests.benchmarks --readme -->\n", "<!-- /benchmark -->\n")
PLOT = "tests/benchmarks/speed.svg"
_PAGE = ROOT / "README.md"


def number(value: float | None) -> str:
    """Write a figure with what is worth reading of it."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 20 else f"{value:.1f}" if value >= 2 else f"{value:.2f}"


def share(size: int) -> str:
    """Say at which size something was measured, if not the full one."""
    return "" if size == SIZES[-1] else f" (at {size}/{SIZES[-1]})"


def show(run: Run, console: Console) -> None:
    """Print all tables."""
    for found in run.workloads.values():
        console.print(_table(found))
        for name, why in found.left_out.items():
            console.print(f"  left out: {name}: {why}", highlight=False, style="dim")
        console.print()
    columns = ("workload", "kept", "ids of open replies", "messages", "with messages given out")
    table = Table(*columns, title="what eventfold keeps at most, streaming, in MB", title_justify="left")
    for found in run.workloads.values():
        table.add_row(found.title, *(f"{found.state[key] / 1e6:.2f}" for key in ("state", "ids", "messages", "given") if found.state))
    console.print(table, "")
    if run.start_up:
        table = Table("start-up", "median ms", "low", "high", title="from nothing", title_justify="left")
        for name, timing in run.start_up.items():
            table.add_row(name, *(f"{1000 * value:.0f}" for value in (timing.median, timing.low, timing.high)))
        console.print(table, "")
    table = Table("target", "measured", "bar", "goal", "", title="targets" + _of_quick(run), title_justify="left")
    for target, figure, verdict in judged(run):
        style = {"not met": "red", "not measured": "dim"}.get(verdict, "green")
        sign = "≥ " if target.at_least else "≤ "
        table.add_row(
            target.what, number(figure), sign + number(target.bar), sign + number(target.goal) if target.goal else "", verdict, style=style
        )
    console.print(table)


def _table(found: Measurement) -> Table:
    head = f"{found.title}: {found.events:,} events, {found.bytes / 1e6:.1f} MB"
    columns = ("contender", "median ms", "low", "high", "rounds", "x floor", "x ours", "peak MB", "exponent", "")
    table = Table(*columns, title=head, title_justify="left")
    for name, measured in found.contenders.items():
        if measured.times:
            size, timing = list(measured.times.items())[-1]
            times = [f"{1000 * value:.1f}" for value in (timing.median, timing.low, timing.high)]
            ratios = [number((found.ratio(name, other) or (None,))[0]) for other in (FLOOR, OURS)]
            peak = "" if measured.peak is None else f"{measured.peak / 1e6:.1f}"
            growth = "" if measured.exponent is None else f"{measured.exponent:.2f}"
            style = "bold" if name == OURS else None
            table.add_row(name + share(int(size)), *times, str(timing.rounds), *ratios, peak, growth, measured.note, style=style)
    return table


def _of_quick(run: Run) -> str:
    return " (a quick run: small streams, where what is fixed weighs more)" if run.quick else ""


def rows(run: Run) -> Iterator[str]:
    """Write what README.md shows."""
    yield f"![Time and growth of each contender]({PLOT})"
    yield ""
    yield "Time of each, as a multiple of `check + fold` in the same run (median of alternating rounds):"
    yield ""
    yield f"| | {' | '.join(found.title for found in run.workloads.values())} |"
    yield f"|---|{'---:|' * len(run.workloads)}"
    names = [row for row in CONTENDERS if any(row.name in found.contenders for found in run.workloads.values())]
    for row in names:
        cells: list[str] = []
        for found in run.workloads.values():
            ratio = found.ratio(row.name, OURS)
            cells.append(f"{number(ratio[0])}{share(ratio[1])}" if ratio else "")
        yield f"| **{row.name}**: {row.does} | {' | '.join(cells)} |"
    yield ""
    yield "At a part of the size: more would have taken too long. Growth, as the exponent of time over size, and peak memory in MB above"
    yield "what was there before:"
    yield ""
    yield f"| | {' | '.join(found.title for found in run.workloads.values())} |"
    yield f"|---|{'---:|' * len(run.workloads)}"
    for row in names:
        cells = []
        for found in run.workloads.values():
            measured = found.contenders.get(row.name)
            growth = f"^{measured.exponent:.2f}" if measured and measured.exponent is not None else ""
            memory = f"{measured.peak / 1e6:.1f} MB" if measured and measured.peak is not None else ""
            cells.append(", ".join(filter(None, (growth, memory))))
        yield f"| {row.name} | {' | '.join(cells)} |"
    yield ""
    yield "| target | measured | bar | goal | |"
    yield "|---|---:|---:|---:|---|"
    for target, figure, verdict in judged(run):
        sign = "≥ " if target.at_least else "≤ "
        goal = sign + number(target.goal) if target.goal else ""
        yield f"| {target.what} | {number(figure)} | {sign}{number(target.bar)} | {goal} | {verdict} |"
    yield ""
    yield f"Measured with {', '.join(f'{name} {version}' for name, version in run.machine['versions'].items())}."


def write_readme(run: Run) -> None:
    """
    Write the tables between the marks of README.md.

    Raises:
        LookupError: the marks are not there.

    """
    text = _PAGE.read_text("utf-8")
    start, end = MARKS
    if start not in text or end not in text:
        message = f"README.md must hold the marks {start.strip()} and {end.strip()}"
        raise LookupError(message)
    head, rest = text.split(start)
    _PAGE.write_text(head + start + "\n".join(rows(run)) + "\n" + end + rest.split(end)[1], "utf-8")
