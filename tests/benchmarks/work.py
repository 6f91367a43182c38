"""
How much work eventfold does, counted and not timed: the same figures on every run, however busy the machine is.

    python -m tests.benchmarks.work               what is done, beside what tests/work.json allows
    python -m tests.benchmarks.work --update      allow what is done now, on this Python: after the engine got faster
    python -m tests.benchmarks.work --callgrind   machine instructions as well, by valgrind: minutes, not part of the tests

Counted are the calls (of functions in Python and in C) and the steps of the interpreter (bytecodes) for each event, once everything is
loaded, with the garbage collector off, as it calls back; and the bytes that are held at most while a stream goes through in pieces.
What C code does inside of one call is seen by callgrind alone.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from eventfold import Checker, check_and_fold

from .growth import exponent
from .workloads import ROOT, WORKLOADS, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

LIMITS = Path(__file__).resolve().parents[1] / "work.json"
#: Kinds of work.
CALLS, STEPS, HELD = "calls", "steps", "held"
EVENTS = "events"
#: What must not grow faster than the stream. What is held does, in steps, where tables double.
GROWING = (CALLS, STEPS)
#: Scales at which a workload is counted; limits are those of the last.
SCALES = (1 / 128, 1 / 64, 1 / 32)
_PIECE = 8 * 1024
#: Calls and steps are the same on every run. What is held differs by some bytes; and a change that costs next to nothing may pass.
MARGIN = 1.02
#: Largest exponent of growth of calls and steps.
LARGEST = 1.05
PYTHON = ".".join(platform.python_version_tuple()[:2])

#: Workload -> kind of work -> for each event, at each scale; and how many events.
Work = dict[str, dict[str, list[float]]]


def calls(run: Callable[[], Any]) -> int:
    """Count the calls that a run makes, in Python and of C."""
    count = 0

    def seen(_frame: FrameType, event: str, _arg: Any) -> None:
        nonlocal count
        if event in {"call", "c_call"}:
            count += 1

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


def steps(run: Callable[[], Any]) -> int:
    """Count the bytecodes that a run goes through."""
    count = 0

    def seen(frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        if event == "opcode":
            count += 1
        return seen

    before = sys.gettrace()
    sys.settrace(seen)
    try:
        run()
    finally:
        sys.settrace(before)
    return count


def held(data: bytes) -> int:
    """Give the bytes that are held at most while a stream goes through in pieces."""
    pieces = [data[start : start + _PIECE] for start in range(0, len(data), _PIECE)]
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    checker = Checker()
    for piece in pieces:
        checker.feed(piece)
    checker.finish()
    most = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return most


def counted() -> Work:
    """Count the work on every workload, for each event."""
    found: Work = {}
    gc.disable()
    try:
        for workload in WORKLOADS:
            kinds: dict[str, list[float]] = {EVENTS: [], CALLS: [], STEPS: [], HELD: []}
            for scale in SCALES:
                events = list(workload.make(scale))
                data = lines_of(events)
                check_and_fold(data)
                kinds[EVENTS].append(len(events))
                kinds[CALLS].append(calls(lambda data=data: check_and_fold(data)) / len(events))
                kinds[STEPS].append(steps(lambda data=data: check_and_fold(data)) / len(events))
                kinds[HELD].append(held(data) / len(events))
            found[workload.name] = kinds
    finally:
        gc.enable()
    return found


def counted_alone() -> Work:
    """Count in a process that nothing else looks into: no coverage, no plugins, always the same hashes."""
    command = [sys.executable, "-m", "tests.benchmarks.work", "--json"]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    return json.loads(subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout)


def growth(by_scale: list[float], events: list[float]) -> float:
    """Give the exponent of all the work over the number of events."""
    found = exponent({count: count * each for count, each in zip(events, by_scale, strict=True)})
    assert found is not None, "there are three scales"
    return found


def all_limits() -> dict[str, dict[str, dict[str, float]]]:
    """Give what is allowed: version of Python -> workload -> kind of work -> for each event."""
    return json.loads(LIMITS.read_text("utf-8")) if LIMITS.exists() else {}


def limits() -> dict[str, dict[str, float]]:
    """Give what is allowed on this Python; empty when nothing is noted."""
    return all_limits().get(PYTHON, {})


def _update(work: Work) -> None:
    noted = all_limits()
    noted[PYTHON] = {name: {kind: round(kinds[kind][-1], 1) for kind in (CALLS, STEPS, HELD)} for name, kinds in work.items()}
    LIMITS.write_text(json.dumps(dict(sorted(noted.items())), indent=2) + "\n", "utf-8")


_TWICE = "import sys; from eventfold import check_and_fold; [check_and_fold(open(path, 'rb').read()) for path in sys.argv[1:]]"


def _by_callgrind(*streams: bytes) -> int:
    """Count the machine instructions of a process that does streams, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{place}.jsonl" for place in range(len(streams))]
        for file, data in zip(files, streams, strict=True):
            file.write_bytes(data)
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", sys.executable, "-c", _TWICE, *map(str, files)]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stderr
    found = re.search(r"Collected : (\d+)", said)
    assert found is not None, said
    return int(found[1])


def instructions(name: str) -> tuple[list[float], list[float]]:
    """Count events and machine instructions for each event at each scale, less those of starting up and of a first stream."""
    make = next(row.make for row in WORKLOADS if row.name == name)
    streams = [list(make(scale)) for scale in SCALES]
    first = lines_of(streams[0])
    least = _by_callgrind(first, b"")
    more = [_by_callgrind(first, lines_of(events)) - least for events in streams]
    return [float(len(events)) for events in streams], [count / len(events) for count, events in zip(more, streams, strict=True)]


app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def main(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
    update: Annotated[bool, typer.Option("--update", help="Allow in tests/work.json what is done now.")] = False,
    callgrind: Annotated[bool, typer.Option("--callgrind", help="Count machine instructions by valgrind as well.")] = False,
    only: Annotated[list[str] | None, typer.Option("--only", help="Of these workloads, with --callgrind.")] = None,
) -> None:
    """Count the work on each workload, for each event."""
    if as_json:
        sys.stdout.write(json.dumps(counted()) + "\n")
        return
    if callgrind and shutil.which("valgrind") is None:
        message = "valgrind is not installed"
        raise typer.BadParameter(message)
    work = counted_alone()
    if update:
        _update(work)
    allowed = limits()
    table = Table("workload", "work for each event", "counted", "allowed", "exponent")
    for name, kinds in work.items():
        for kind in (CALLS, STEPS, HELD):
            limit = allowed.get(name, {}).get(kind)
            table.add_row(
                name, kind, f"{kinds[kind][-1]:,.1f}", "" if limit is None else f"{limit:,.1f}", f"{growth(kinds[kind], kinds[EVENTS]):.3f}"
            )
        if callgrind and (not only or name in only):
            events, counts = instructions(name)
            table.add_row(name, "instructions", f"{counts[-1]:,.0f}", "", f"{growth(counts, events):.3f}")
    Console().print(table)


if __name__ == "__main__":
    app()
