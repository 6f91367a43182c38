"""
Time in alternating rounds, memory alone.

Law: figures that are compared come from the same run. In each round every contender runs once at each size, in an order that turns
from round to round, so that what else the machine does hits all alike; the median counts, for growth the best.

The garbage collector runs as it does in a program: it stays on, all garbage is collected before a run, and the prepared input is
frozen, so that nobody pays for walking another one's. A result lives until the clock has stopped.

Peak memory is taken in a fresh process for each contender (`alone`), as the highest resident set during the run, less that before
it: tracemalloc sees nothing of what pydantic, jsonschema-rs and Node allocate. What eventfold keeps while a stream runs is its own
matter, and there tracemalloc is exact.
"""

from __future__ import annotations

import gc
import json
import os
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
    from collections.abc import Callable, Collection, Mapping, Sequence

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


def timed(runs: Mapping[Any, Callable[[], float]], rounds: int, slow: Collection[Any] = ()) -> dict[Any, Timing]:
    """Run all in turn; those that are slow only in the first rounds."""
    found: dict[Any, list[float]] = {key: [] for key in runs}
    keys = list(runs)
    for number in range(rounds):
        # Nobody stands always first, or always behind the same one.
        turn = number * 5 % len(keys)
        for key in keys[turn:] + keys[:turn]:
            if key not in slow or number < FEW_ROUNDS:
                found[key].append(runs[key]())
    return {key: Timing(median(times), min(times), max(times), len(times)) for key, times in found.items()}


def _seconds(trial: Trial) -> float:
    return _clocked(trial)[0] * trial.sample


def _clocked(trial: Trial) -> tuple[float, Any]:
    gc.collect()
    start = perf_counter()
    result = trial.run()
    taken = perf_counter() - start
    return (trial.told(result)[0] if trial.told else taken), result


@dataclass
class _Prepared:
    """A workload in everyone's hand: by contender and size."""

    trials: dict[tuple[str, int], Trial] = field(default_factory=dict[tuple[str, int], Trial])
    largest: dict[str, bytes] = field(default_factory=dict[str, bytes])  #: the stream as each one got it, at its largest size
    slow: dict[str, int] = field(default_factory=dict[str, int])  #: from which size on somebody is too slow


def measure(workload: Workload, full: float, rounds: int, chosen: Sequence[Contender] = CONTENDERS) -> Measurement:
    """
    Measure a workload at all sizes in the same rounds; the largest one has the scale `full`.

    Raises:
        Wrong: a contender's result is not what the stream says.

    """
    found = Measurement(workload.title)
    found.left_out = {row.name: why for row in chosen if (why := row.why_not(workload.name))}
    running = [row for row in chosen if row.name not in found.left_out]
    prepared = _Prepared()
    try:
        for size in SIZES:
            quick = [row for row in running if row.name not in prepared.slow]
            found.events = _prepare(prepared, quick, list(workload.make(full * size / SIZES[-1])), size)
        gc.collect()
        gc.freeze()
        runs = {key: partial(_seconds, trial) for key, trial in prepared.trials.items()}
        timings = timed(runs, rounds, [(name, size) for name, size in runs if prepared.slow.get(name) == size])
    finally:
        gc.unfreeze()
        for trial in prepared.trials.values():
            trial.close()
    found.bytes = len(prepared.largest[running[0].name])
    for row in running:
        measured = found.contenders[row.name] = Measured(
            {str(size): timing for (name, size), timing in timings.items() if name == row.name}
        )
        measured.peak = alone("peak", row.name, prepared.largest[row.name])["peak"]
        stopped = prepared.slow.get(row.name, SIZES[-1])
        if stopped != SIZES[-1]:
            measured.note = f"over {SLOW:g} s already at {stopped}/{SIZES[-1]} of the size, and measured there"
        if all(prepared.trials[row.name, int(size)].sample == 1 for size in measured.times):
            measured.exponent = exponent({float(size): timing.low for size, timing in measured.times.items()})
    found.state = alone("state", "", prepared.largest[running[0].name])
    return found


def _prepare(prepared: _Prepared, running: list[Contender], events: list[Wire], size: int) -> int:
    """Start each at one size, look at what it gives, and note the slow ones. Gives the number of events."""
    told = told_by_events(events)
    for row in running:
        data = prepared.largest[row.name] = row.write(events)
        trial = prepared.trials[row.name, size] = row.start(data)
        taken, result = _clocked(trial)
        if wrong := trial.prove(result, told, len(events)):
            message = f"{row.name}: {wrong}"
            raise Wrong(message)
        if taken > SLOW:
            prepared.slow[row.name] = size
    return len(events)


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

    # What is installed stands there compiled; a shell that forbids that would have each run compile eventfold again.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run(command: list[str]) -> float:
        start = perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
        return perf_counter() - start

    runs: dict[str, Callable[[], float]] = {name: partial(run, command) for name, command in commands.items()}
    timed(runs, 1)
    return timed(runs, rounds)
