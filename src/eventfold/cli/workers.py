"""
Many inputs, checked by several processes.

Law: what is written does not depend on who finishes first: it comes in the order of the inputs, as soon as that allows. A
process checks whole inputs. What has to wait for its turn waits on disk, so that memory is bounded. A process that is killed
costs its input a line, and another takes its place.
"""

from __future__ import annotations

import signal
import sys
import traceback
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Any

from eventfold.report.checking import FileReport

from .checking import Plan, examine
from .console import CannotRun

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from .sources import Source

#: Up to how many bytes are handed over at once; more go through a file.
_SMALL = 4096
#: How many bytes are copied at once.
_COPIED = 1 << 20
#: How far the processes may run ahead of the input whose turn it is.
_AHEAD = 10_000
#: Seconds between two looks at what is written, and between two reports of how much was read.
_LOOK = 0.1


@dataclass(slots=True)
class _Worker:
    """A process, and the input that it has."""

    process: BaseProcess
    line: Connection
    task: int | None = None


class Workers:
    """Processes that check inputs."""

    def __init__(self, found: list[Source], plan: Plan, jobs: int, tick: Callable[[int], None]) -> None:
        self._found = found
        self._plan = plan
        self._jobs = jobs
        self._tick = tick
        self._workers: list[_Worker] = []
        self._next = 0
        self._done: dict[int, tuple[bytes, FileReport]] = {}

    def results(self) -> Iterator[bytes | FileReport]:
        """Check all: give what is to be written, and after each input what it was."""
        with TemporaryDirectory(prefix="eventfold-") as folder:
            try:
                for turn in range(len(self._found)):
                    yield from self._turn(turn, Path(folder))
            finally:
                self._dismiss()

    def _turn(self, turn: int, folder: Path) -> Iterator[bytes | FileReport]:
        """Give what there is of an input whose turn it is, until it is done."""
        path, copied = folder / str(turn), 0
        while True:
            done = turn in self._done
            if path.exists():
                # What was written is read before it is asked again whether more can come.
                with path.open("rb") as written:
                    written.seek(copied)
                    while data := written.read(_COPIED):
                        copied += len(data)
                        yield data
            if done:
                break
            self._assign(turn + _AHEAD, folder)
            self._listen()
        with suppress(FileNotFoundError):
            path.unlink()
        rest, report = self._done.pop(turn)
        yield rest
        yield report

    def _assign(self, end: int, folder: Path) -> None:
        """Give every idle process an input, and hire where there are too few."""
        idle = sum(worker.task is None for worker in self._workers)
        for _ in range(min(self._jobs - len(self._workers), len(self._found) - self._next - idle)):
            self._workers.append(_hire(self._plan, folder))
        for worker in self._workers:
            if worker.task is None and self._next < min(end, len(self._found)):
                worker.task, self._next = self._next, self._next + 1
                with suppress(BrokenPipeError):
                    worker.line.send((worker.task, self._found[worker.task]))

    def _listen(self) -> None:
        """Take what the processes have to say."""
        lines: dict[Any, _Worker] = {worker.line: worker for worker in self._workers}
        for line in wait(list(lines), _LOOK):
            worker = lines[line]
            try:
                said = worker.line.recv()
            except (EOFError, OSError):
                self._mourn(worker)
                continue
            if isinstance(said, int):
                self._tick(said)
            elif isinstance(said, str):
                message = f"a process that checks failed:\n{said}"
                raise RuntimeError(message)  # noqa: TRY004  it is what the other process raised
            elif worker.task is not None:
                self._done[worker.task], worker.task = said, None

    def _mourn(self, worker: _Worker) -> None:
        """Say that a process has died, in place of its input's end."""
        self._workers.remove(worker)
        worker.process.join()
        code = worker.process.exitcode or 0
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        if worker.task is None:
            message = f"a process that checks {how} before it had anything to do"
            raise CannotRun(message)
        name = self._found[worker.task].name
        lacking = " (out of memory? fewer --jobs need less)" if how.endswith("SIGKILL") else ""
        report = FileReport(name, error=f"{name} was not checked to its end: the process that did it {how}{lacking}")
        self._done[worker.task] = self._plan.writer().file(report), report

    def _dismiss(self) -> None:
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join()
            worker.line.close()


def _hire(plan: Plan, folder: Path) -> _Worker:
    """Start a process. Ctrl-C is for this one only, so that it ends the others without a word from them."""
    # Not a fork: that is unsafe beside threads, and not everywhere.
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, plan, folder), daemon=True)
    with _interrupts_held():
        process.start()
    theirs.close()
    return _Worker(process, ours)


@contextmanager
def _interrupts_held() -> Generator[None]:
    """Hold Ctrl-C back, so that a process that is started now never gets one."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(line: Connection, plan: Plan, folder: Path) -> None:
    """Check what comes, until nothing does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    writer = plan.writer()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            number, source = line.recv()
            try:
                line.send(_examined(source, plan, writer, folder / str(number), line))
            except (BrokenPipeError, ConnectionResetError):
                raise
            except Exception:  # noqa: BLE001  it is shown by the process that is seen
                line.send(traceback.format_exc())


def _examined(source: Source, plan: Plan, writer: Any, path: Path, line: Connection) -> tuple[bytes, FileReport]:
    """Check an input: give the end of what is to be written, and what it was; what comes before it is in a file."""
    read, told = 0, monotonic()
    said: list[str] = []

    def tick(size: int) -> None:
        nonlocal read, told
        read += size
        if monotonic() - told > _LOOK:
            line.send(read)
            read, told = 0, monotonic()

    held = b""
    report = FileReport(source.name)
    for part in examine(source, plan, writer, tick, said.append):
        if isinstance(part, FileReport):
            report = part
        else:
            held += part
        if len(held) > _SMALL:
            try:
                with path.open("ab") as written:
                    written.write(held)
            except OSError as error:
                reason = f"what was found in {source.name} cannot be kept in {path.parent} until its turn: {error.strerror}"
                return b"", FileReport(source.name, error=reason)
            held = b""
    if read:
        line.send(read)
    return held, report._replace(said=tuple(said))
