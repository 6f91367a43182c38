"""
Time in alternating rounds, memory alone.

Law: figures that are compared come from the same run. In each round every contender runs once, in an order that turns from round to
round, so that what else the machine does hits all alike; the median counts, for growth the best.

The garbage collector runs as it does in a program: it stays on, all garbage is collected before a run, and the prepared input is
frozen, so that nobody pays for walking another one's. A result lives until the clock has stopped.

Peak memory is taken in a fresh process for each contender (`alone`), as the highest resident set during the run, less that before
it: tracemalloc sees nothing of what pydantic, jsonschema-rs and Node allocate. What eventfold keeps while a stream runs is its own
matter, and there tracemalloc is exact.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from .contenders import CONTENDERS, Contender, Trial
from .growth import exponent
from .workloads import ROOT, Wire, Workload, told_by_events

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Sizes of a workload, as multiples of the smallest; the largest is the one that the tables show.
SIZES = (1, 2, 4, 8)
#: Whoever takes longer than these seconds at one size gets two rounds, and is not tried at twice the size: it may take four times as long.
SLOW = 4.0
FEW_ROUNDS = 2


@dataclass(frozen=True)
class Timing:
    """Seconds of a run: of several rounds."""

    median: float
    low: float
    high: float
    rounds: int


@dataclass
class Measured:
    """What was measured of a contender on a workload."""

    times: dict[str, Timing] = field(default_factory=dict[str, Timing])  #: by size
    exponent: float | None = None
    peak: int | None = None  #: bytes
    note: str = ""


@dataclass
class Measurement:
    """What was measured on a workload."""

    title: str
    events: int = 0
    bytes: int = 0
    contenders: dict[str, Measured] = field(default_factory=dict[str, Measured])
    left_out: dict[str, str] = field(default_factory=dict[str, str])
    state: dict[str, int] = field(default_factory=dict[str, int])  #: what eventfold keeps, as `alone` tells

    def ratio(self, one: str, other: str) -> tuple[float, int] | None:
        """Give how many times as long one takes as the other, at the largest size that both did; None without one."""
        if one in self.contenders and other in self.contenders:
            first, second = self.contenders[one].times, self.contenders[other].times
            for size in reversed(SIZES):
                if str(size) in first and str(size) in second:
                    return first[str(size)].median / second[str(size)].median, size
        return None


class Wrong(Exception):
    """A contender that does not do what it is measured for."""


def timed(runs: dict[str, Callable[[], float]], rounds: int, slow: Sequence[str] = ()) -> dict[str, Timing]:
    """Run all in turn; those that are slow only in the first rounds."""
    found: dict[str, list[float]] = {name: [] for name in runs}
    names = list(runs)
    for number in range(rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            if name not in slow or number < FEW_ROUNDS:
                found[name].append(runs[name]())
    return {name: Timing(median(times), min(times), max(times), len(times)) for name, times in found.items()}


def seconds(trial: Trial) -> float:
    """Run a trial once by the clock."""
    return _clocked(trial)[0]


def _clocked(trial: Trial) -> tuple[float, Any]:
    gc.collect()
    start = perf_counter()
    result = trial.run()
    taken = perf_counter() - start
    return (trial.told(result)[0] if trial.told else taken * trial.sample), result


def measure(workload: Workload, full: float, rounds: int, chosen: Sequence[Contender] = CONTENDERS) -> Measurement:
    """
    Measure a workload at all sizes, the largest of which has the scale `full`.

    Raises:
        Wrong: a contender's result is not what the stream says.

    """
    found = Measurement(workload.title)
    found.left_out = {row.name: why for row in chosen if (why := row.why_not(workload.name))}
    running = [row for row in chosen if row.name not in found.left_out]
    found.contenders = {row.name: Measured() for row in running}
    for size in SIZES:
        events = list(workload.make(full * size / SIZES[-1]))
        slow = _measure_size(found, size, events, running, rounds)
        running = [row for row in running if row.name not in slow]
    return found


def _measure_size(found: Measurement, size: int, events: list[Wire], running: list[Contender], rounds: int) -> list[str]:
    """Measure one size, and name those that are too slow for the next."""
    last = size == SIZES[-1]
    written = {row.name: row.write(events) for row in running}
    found.events, found.bytes = len(events), len(written[running[0].name])
    trials: dict[str, Trial] = {}
    try:
        slow = _prove(trials, running, written, events)
        del events
        gc.collect()
        gc.freeze()
        runs: dict[str, Callable[[], float]] = {name: partial(seconds, trial) for name, trial in trials.items()}
        for name, timing in timed(runs, rounds, slow).items():
            found.contenders[name].times[str(size)] = timing
    finally:
        gc.unfreeze()
        for trial in trials.values():
            trial.close()
    for name, trial in trials.items():
        measured = found.contenders[name]
        if last or name in slow:
            measured.peak = alone("peak", name, written[name])["peak"]
        if name in slow and not last:
            measured.note = f"over {SLOW} s already at {size}/{SIZES[-1]} of the size, and measured there"
        if trial.sample == 1:
            measured.exponent = exponent({float(key): timing.low for key, timing in measured.times.items()})
    if last:
        found.state = alone("state", "", written[running[0].name])
    return slow


def _prove(trials: dict[str, Trial], running: list[Contender], written: dict[str, bytes], events: list[Wire]) -> list[str]:
    """Start each, look at what it gives, and name the slow ones."""
    told = told_by_events(events)
    slow: list[str] = []
    for row in running:
        trial = trials[row.name] = row.start(written[row.name])
        taken, result = _clocked(trial)
        if wrong := trial.prove(result, told, len(events)):
            message = f"{row.name}: {wrong}"
            raise Wrong(message)
        if taken > SLOW:
            slow.append(row.name)
    return slow


def alone(what: str, name: str, data: bytes) -> dict[str, int]:
    """Measure memory in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stream.jsonl"
        file.write_bytes(data)
        command = [sys.executable, "-m", "tests.benchmarks.alone", what, str(file), name]
        return json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


#: The library that the command line stands on, imported and nothing else: what starting up is held against.
BARE = "python -c 'import msgspec, typer'"


def start_up(rounds: int) -> dict[str, Timing]:
    """Time the command line from nothing: its help, and a check of a small file."""
    script = Path(sys.executable).with_name("eventfold")
    eventfold = [str(script)] if script.exists() else [sys.executable, "-m", "eventfold.cli"]
    small = next((ROOT / "tests/recordings").glob("agentscope-2.0.11/plain_text.events.jsonl"))
    commands = {
        BARE: [sys.executable, "-c", "import msgspec, typer"],
        "eventfold --help": [*eventfold, "--help"],
        "eventfold check": [*eventfold, "check", str(small)],
    }

    def run(command: list[str]) -> float:
        start = perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return perf_counter() - start

    runs: dict[str, Callable[[], float]] = {name: partial(run, command) for name, command in commands.items()}
    timed(runs, 1)
    return timed(runs, rounds)
