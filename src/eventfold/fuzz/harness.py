"""
Somebody's reducer, in any language: a stream goes in, an outcome comes out.

Law: whatever the reducer does is an outcome: an answer, a refusal, an error of its own, a crash, silence or garbage. None of
them ends the run; after a crash, a time-out or garbage the program is started anew. The protocol is schemas/meta/harness.json.
"""

from __future__ import annotations

import json
import subprocess
import sys
import traceback
from collections import deque
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol

from eventfold_models.tables import WIRE_VERSION
from jsonschema import Draft202012Validator

from eventfold.jsonvalue import is_array, is_object, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from eventfold.shape import Wire

#: Version of the protocol.
PROTOCOL = 1
#: Seconds that a program has to answer a request.
TIMEOUT = 10.0
#: How much of what a program says on standard error is kept, in lines.
_KEPT_LINES = 40


class Answer(NamedTuple):
    """The messages that a stream was folded to."""

    messages: list[Wire]


class Skipped(NamedTuple):
    """The reducer does not try this stream."""

    reason: str


class Failure(NamedTuple):
    """No answer: why, in one word and in full."""

    kind: str  #: error: it raised and goes on; crash: the program ended; timeout: it said nothing; bad-line: it said something else
    detail: str


Outcome = Answer | Skipped | Failure


class CannotStart(Exception):
    """The reducer cannot be run at all, in one line."""


class Started(NamedTuple):
    """What a reducer says of itself."""

    name: str
    language: str
    version: str = ""
    features: frozenset[str] | None = None  #: None means everything
    unfilled: tuple[str, ...] = ()  #: pointers that are not compared


class Harness(Protocol):
    """What runs a reducer."""

    def start(self) -> Started:
        """
        Make it ready.

        Raises:
            CannotStart: it cannot be run, or does not speak the protocol.

        """
        ...

    def run(self, events: Sequence[Wire]) -> Outcome:
        """Fold a stream from nothing."""
        ...

    def stop(self) -> None:
        """End it."""
        ...


class PythonHarness:
    """A callable of this process, `module:function`: takes the events as dicts, gives the messages as dicts, or one of them."""

    def __init__(self, target: str) -> None:
        self.target = target
        self._function: Callable[[list[Wire]], Any] | None = None

    def start(self) -> Started:
        """Import it. Raises CannotStart."""
        module, _, name = self.target.partition(":")
        if not module or not name:
            message = f"{self.target!r} is not module:function"
            raise CannotStart(message)
        if str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))
        try:
            function: Any = import_module(module)
            for part in name.split("."):
                function = getattr(function, part)
        except Exception as error:  # noqa: BLE001  a module may raise anything
            message = f"{self.target} cannot be imported: {type(error).__name__}: {error}"
            raise CannotStart(message) from None
        self._function = function
        return Started(self.target, "python")

    def run(self, events: Sequence[Wire]) -> Outcome:
        """Call it with a copy of the events."""
        if self._function is None:
            self.start()
        function: Any = self._function
        try:
            given = function(json.loads(json.dumps(events)))
            messages = [_plain(message) for message in (given if is_array(given) else [given])]
        except Exception:  # noqa: BLE001  a reducer may raise anything
            return Failure("error", traceback.format_exc(limit=-4))
        if not all(is_object(message) for message in messages):
            return Failure("bad-line", f"it gave {shown(given)}, expected a list of messages as dicts")
        return Answer(messages)

    def stop(self) -> None:
        """Nothing runs."""


def _plain(message: Any) -> Any:
    """Write a message as JSON: models by their own dump."""
    return message.model_dump(mode="json") if hasattr(message, "model_dump") else json.loads(json.dumps(message))


class Program:
    """A program that speaks the protocol on its standard input and output."""

    def __init__(self, command: Sequence[str], *, timeout: float = TIMEOUT, trace: Callable[[str, str], None] | None = None) -> None:
        self.command = list(command)
        self.timeout = timeout
        self._trace = trace
        self._process: subprocess.Popen[str] | None = None
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._said: deque[str] = deque(maxlen=_KEPT_LINES)
        self._threads: list[Thread] = []
        self._seq = 0

    def start(self) -> Started:
        """Start the program, and hear what it says of itself. Raises CannotStart."""
        try:
            process = subprocess.Popen(  # noqa: S603  the command is the caller's
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            message = f"{self.command[0]} cannot be started: {error.strerror or error}"
            raise CannotStart(message) from None
        self._process, self._lines, self._said, self._seq = process, SimpleQueue(), deque(maxlen=_KEPT_LINES), 0
        self._threads = [
            Thread(target=_pump, args=(process.stdout, self._lines.put, lambda: self._lines.put(None)), daemon=True),
            Thread(target=_pump, args=(process.stderr, self._said.append, None), daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        answer = self._ask({"cmd": "start", "protocol": PROTOCOL, "wire": WIRE_VERSION}, "Started")
        if isinstance(answer, Failure):
            self.stop()
            message = f"{self.command[0]} did not answer `start` ({answer.kind}): {answer.detail}"
            raise CannotStart(message)
        features = frozenset(answer["features"]) if "features" in answer else None
        return Started(answer["name"], answer["language"], answer.get("version", ""), features, tuple(answer.get("unfilled", ())))

    def run(self, events: Sequence[Wire]) -> Outcome:
        """Send a stream, wait for what comes. Raises CannotStart when the program had to be started anew and cannot be."""
        if self._process is None:
            self.start()
        self._seq += 1
        answer = self._ask({"cmd": "run", "seq": self._seq, "events": events}, "Response")
        if isinstance(answer, Failure):
            self.stop()
            return answer
        if answer["seq"] != self._seq:
            self.stop()
            return Failure("bad-line", f"it answered seq {answer['seq']}, expected {self._seq}")
        if "messages" in answer:
            return Answer(answer["messages"])
        return Skipped(answer["skipped"]) if "skipped" in answer else Failure("error", answer["error"])

    def stop(self) -> None:
        """Ask it to end, and end it if it does not."""
        process, self._process = self._process, None
        if process is None:
            return
        try:
            if process.stdin is not None:
                process.stdin.write('{"cmd":"stop"}\n')
                process.stdin.close()
            process.wait(1)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            process.kill()
            process.wait()
        for thread, stream in zip(self._threads, (process.stdout, process.stderr), strict=True):
            thread.join(1)
            # A grandchild may hold the pipe open: then the thread reads on, and ends with it.
            if stream is not None and not thread.is_alive():
                stream.close()

    def _ask(self, request: dict[str, Any], expected: str) -> dict[str, Any] | Failure:
        """Send a request and read the answer: one line, in time, in the form expected."""
        process = self._process
        text = json.dumps(request, separators=(",", ":"))
        if self._trace:
            self._trace(">", text)
        try:
            if process is None or process.stdin is None:
                return Failure("crash", "it does not run")
            process.stdin.write(text + "\n")
            process.stdin.flush()
        except OSError:
            return self._crash()
        try:
            line = self._lines.get(timeout=self.timeout)
        except Empty:
            return Failure("timeout", f"no answer within {self.timeout:g} s")
        if line is None:
            return self._crash()
        if self._trace:
            self._trace("<", line.rstrip("\n"))
        return _read(line, expected)

    def _crash(self) -> Failure:
        """Say how the program ended, and what it said last."""
        process = self._process
        try:
            code = process.wait(1) if process is not None else None
        except subprocess.TimeoutExpired:
            code = None
        for thread in self._threads[1:]:
            thread.join(1)
        how = "it closed its output" if code is None else f"it ended by signal {-code}" if code < 0 else f"it ended with exit code {code}"
        return Failure("crash", "\n".join((how, *(line.rstrip("\n") for line in self._said))))


def _pump(stream: IO[str] | None, put: Callable[[str], None], end: Callable[[], None] | None) -> None:
    """Pass lines on as they come."""
    if stream is not None:
        for line in stream:
            put(line)
    if end is not None:
        end()


def _read(line: str, expected: str) -> dict[str, Any] | Failure:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return Failure("bad-line", f"it said {shown(line.rstrip())}, which is no JSON")
    error = next(iter(_validator(expected).iter_errors(value)), None)
    if error is not None:
        return Failure("bad-line", f"it said {shown(line.rstrip())}, which is no {expected}: {error.message[:200]}")
    return value


@cache
def _validator(name: str) -> Any:
    schema = json.loads(files("eventfold_models").joinpath("meta/harness.json").read_text("utf-8"))
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})
