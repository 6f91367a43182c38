"""
Where the time goes, by type of event.

    python -m tests.benchmarks.parts [WORKLOAD ...]

For each type of event: what parsing, decoding with validation and applying one costs, in ns, and how much of the whole that is, in
times the floor. The clock itself is taken off; what stands between the parts (lines, timestamps, the garbage collector) is not
seen, so that the sum is less than what the benchmark measures. Of several rounds the quickest counts.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer
from eventfold_models.tables import EVENTS, FIELDS
from rich.console import Console
from rich.table import Table

from eventfold import Folder
from eventfold.wire.learned import LearnedDecoder
from eventfold.wire.reader import DECODE, REFUSALS

from .workloads import WORKLOADS, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable

_ROUNDS = 5
_clock = time.perf_counter_ns
#: What is done to one event, in this order.
_DONE = ("parse", "decode", "apply")


def parts(lines: list[bytes]) -> tuple[dict[str, list[int]], int]:
    """Give for each type of event how many there are and the ns of each part, and the ns that the messages took."""
    folder, decode = Folder(), _decoder(lines)
    apply = folder.lifecycle.apply
    clock = min(-_clock() + _clock() for _ in range(1000))
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for index, line in enumerate(lines):
        begin = _clock()
        orjson.loads(line)
        parsed = _clock()
        event = decode(line)
        decoded = _clock()
        apply(event, index)
        applied = _clock()
        folder.forget_ended()
        row = found[type(event).__name__]
        row[0] += 1
        for place, took in enumerate((parsed - begin, decoded - parsed, applied - decoded), start=1):
            row[place] += took - clock
    begin = _clock()
    folder.snapshots()
    return found, _clock() - begin


def _decoder(lines: list[bytes]) -> Callable[[bytes], Any]:
    """Give what decodes these lines on the fast path: the contract's decoder, or that which has learned their unknown fields."""
    try:
        for line in lines:
            DECODE(line)
    except REFUSALS:
        # One of its own, since the one that all readers share may have learned as much as it takes.
        learned = LearnedDecoder()
        for event in map(orjson.loads, lines):
            learned.learn(event["type"], [name for name in event if name not in FIELDS[EVENTS[event["type"]]]])
        return learned.decode or DECODE
    return DECODE


def main(names: Annotated[list[str] | None, typer.Argument(metavar="[WORKLOAD]...", help="All without it.")] = None) -> None:
    """Say where the time goes, by type of event."""
    unknown = set(names or ()) - {workload.name for workload in WORKLOADS}
    if unknown:
        message = f"no workload {', '.join(sorted(unknown))}; there are {', '.join(workload.name for workload in WORKLOADS)}"
        raise typer.BadParameter(message)
    console = Console()
    for workload in WORKLOADS:
        if names and workload.name not in names:
            continue
        lines = lines_of(list(workload.make(1.0))).splitlines()
        found, messages = min((parts(lines) for _ in range(_ROUNDS)), key=lambda run: sum(row[3] for row in run[0].values()))
        floor = sum(row[1] for row in found.values())
        table = Table(
            "event",
            "count",
            *(f"{part} ns" for part in _DONE),
            "decode",
            "apply",
            title=f"{workload.title}; the last two in times the floor",
        )
        for column in table.columns[1:]:
            column.justify = "right"
        for name, (count, *took) in sorted(found.items(), key=lambda item: -item[1][3]):
            shares = (f"{ns / floor:.2f}" for ns in took[1:])
            table.add_row(name, f"{count:,}", *(f"{ns / count:,.0f}" for ns in took), *shares)
        sums = (f"{sum(row[place] for row in found.values()) / floor:.2f}" for place in (2, 3))
        table.add_row("all", f"{len(lines):,}", "", "", "", *sums)
        table.add_row("the messages", "", "", "", "", "", f"{messages / floor:.2f}")
        console.print(table)


if __name__ == "__main__":
    typer.run(main)
