"""Live input: URLs, with servers that hang up, and messages that are drawn while they grow."""

from __future__ import annotations

import gzip
import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from rich.console import Console
from support import RECORDINGS, ROOT, Wire, lines_of

from eventfold import Folder, check_and_fold
from eventfold.check import Checker
from eventfold.cli import main
from eventfold.cli.console import CannotRun
from eventfold.cli.http import header_of, shown_url
from eventfold.cli.live import INTERVAL, Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

RECORDING = ROOT / "tests/recordings/agentscope-2.0.11/one_tool.events.jsonl"
DATA = RECORDING.read_bytes()
TIME = "2026-01-01T00:00:00"
START: Wire = {"type": "REPLY_START", "id": "1", "created_at": TIME, "reply_id": "r", "session_id": "s", "name": "ada"}
BLOCK: Wire = {"type": "TEXT_BLOCK_START", "id": "2", "created_at": TIME, "reply_id": "r", "block_id": "b"}


def delta(number: int, text: str) -> Wire:
    """Make an event that lets the text grow."""
    return {"type": "TEXT_BLOCK_DELTA", "id": f"d{number}", "created_at": TIME, "reply_id": "r", "block_id": "b", "delta": text}


class _Handler(BaseHTTPRequestHandler):
    """Answers by the path, and hangs up where that says so."""

    protocol_version = "HTTP/1.1"
    released = Event()

    def do_GET(self) -> None:
        getattr(self, "_" + self.path[1:].partition("?")[0], self._missing)()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the library's name
        """Say nothing."""

    def _answer(self, body: bytes, **headers: str) -> None:
        self.send_response(200)
        for name, value in {"Content_Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(body)
            self.wfile.flush()

    def _chunks(self, *chunks: bytes) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            self.wfile.flush()

    def _missing(self) -> None:
        self.send_error(404)

    def _broken(self) -> None:
        self.send_error(503)

    def _jsonl(self) -> None:
        self._answer(DATA, Content_Type="application/x-ndjson")

    def _sse(self) -> None:
        events = [b"data: " + line + b"\n\n" for line in DATA.splitlines()]
        self._chunks(*events, b"")

    def _packed(self) -> None:
        self._answer(gzip.compress(DATA), Content_Encoding="gzip")

    def _file(self) -> None:
        self._answer(gzip.compress(DATA), Content_Type="application/gzip")

    def _empty(self) -> None:
        self._answer(b"")

    def _moved(self) -> None:
        self.send_response(302)
        self.send_header("Location", "/jsonl")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _circle(self) -> None:
        self.send_response(302)
        self.send_header("Location", "/circle")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _echo(self) -> None:
        values = {name: value for name, value in self.headers.items() if name.lower() in {"authorization", "accept", "x-two"}}
        self._answer(lines_of([{**START, "metadata": values}]))

    def _cut_chunked(self) -> None:
        self._chunks(lines_of([START, BLOCK, delta(1, "half")]))
        self.close_connection = True

    def _cut_inside(self) -> None:
        self._chunks(lines_of([START, BLOCK]), lines_of([delta(1, "half")])[:40])
        self.close_connection = True

    def _cut_length(self) -> None:
        self._answer(lines_of([START, BLOCK]), Content_Length="100000")
        self.close_connection = True

    def _cut_packed(self) -> None:
        self._answer(gzip.compress(DATA * 20)[:-20], Content_Encoding="gzip")

    def _reset(self) -> None:
        self._chunks(lines_of([START]))
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        time.sleep(0.2)
        os.close(self.connection.detach())

    def _silent(self) -> None:
        self._chunks(lines_of([START]))
        self.released.wait(20)
        self.close_connection = True

    def _mute(self) -> None:
        self.released.wait(20)
        self.close_connection = True

    def _nothing(self) -> None:
        self.close_connection = True


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients hang up here."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Serve on this machine, and give the address."""
    _Handler.released.clear()  # a server may have been here before
    with _Server(("127.0.0.1", 0), _Handler) as served:
        Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_address[1]}"
        _Handler.released.set()
        served.shutdown()


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    def assert_could_not(self, *words: str) -> None:
        """Assert that the command could not run, and said so in one line that has these words."""
        assert (self.code, self.err.count("\n"), self.err.startswith("eventfold: ")) == (2, 1, True), self.err
        assert [word for word in words if word not in self.err] == []


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Ran]:
    """Run a command in this process, past any proxy."""
    monkeypatch.setenv("NO_PROXY", "*")

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["eventfold", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        printed: Any = capsysbinary.readouterr()
        return Ran(ended.value.code, printed.out.decode(), printed.err.decode())

    return run


# --- URLs


@pytest.mark.parametrize("path", ["jsonl", "sse", "packed", "file", "moved"])
def test_a_url_is_read_as_a_file_is(run: Callable[..., Ran], server: str, path: str) -> None:
    """JSON Lines, server-sent events, compressed on the way or as a file, behind a redirect."""
    ran = run("check", f"{server}/{path}")
    assert ran == (0, f"{server}/{path}: {len(DATA.splitlines())} events, 1 reply: clean\n", "")
    folded = run("fold", "-f", "json", f"{server}/{path}")
    assert [json.loads(line) for line in folded.out.splitlines()] == check_and_fold(DATA).messages


def test_headers_are_sent(run: Callable[..., Ran], server: str) -> None:
    """Those that are given, and what is asked for unless they say so."""

    def seen(*options: str) -> Wire:
        return json.loads(run("fold", "-f", "json", *options, f"{server}/echo").out)["metadata"]

    assert seen()["accept"].startswith("text/event-stream, ")
    given = seen("-H", "Authorization: Bearer x:y", "--header", "X-Two:2", "-H", "accept: */*")
    assert {name.lower(): value for name, value in given.items()} == {"authorization": "Bearer x:y", "x-two": "2", "accept": "*/*"}


def test_a_header_that_is_none_is_one_line(run: Callable[..., Ran], server: str) -> None:
    """Nothing is asked for, and what may be a secret is not repeated."""
    for wrong in ("Authorization", "Bad name: x", ": x", "X: a\r\nY: b", "X: \u2603"):
        ran = run("check", "-H", wrong, f"{server}/jsonl")
        ran.assert_could_not("is no header", "Name: value")
        assert "Authorization" not in ran.err
    assert header_of("X-A:  b c ") == ("X-A", "b c")
    with pytest.raises(CannotRun):
        header_of("secret")


@pytest.mark.parametrize("command", ["check", "fold"])
@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("missing", "answered 404 Not Found"),
        ("broken", "answered 503"),
        ("empty", "is empty"),
        ("nothing", "the server hung up"),
        ("circle", "redirects"),
        ("mute", "nothing came for 0.3 s"),
    ],
)
def test_a_url_that_gives_nothing_is_one_line(run: Callable[..., Ran], server: str, command: str, path: str, word: str) -> None:
    """An error of the server, an empty answer, none at all, none in time."""
    run(command, "--timeout", 0.3, f"{server}/{path}").assert_could_not(f"{server}/{path}", word)


def test_a_server_that_is_not_there_is_one_line(run: Callable[..., Ran], server: str) -> None:
    """Refused, unknown, not speaking TLS, and no URL at all."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        run("check", f"http://127.0.0.1:{nobody.getsockname()[1]}/x").assert_could_not("cannot be read", "refused")
    run("check", "http://no-such-host.invalid/").assert_could_not("http://no-such-host.invalid/ cannot be read")
    run("check", server.replace("http:", "https:")).assert_could_not("cannot be read", "SSL")
    run("check", "http://[broken").assert_could_not("cannot be read")


@pytest.mark.parametrize(
    ("path", "word", "events"),
    [
        ("cut_chunked", "the server hung up", 3),
        ("cut_inside", "the server hung up", 2),
        ("cut_length", "the server hung up", 2),
        ("reset", "the connection broke", 1),
        ("silent", "nothing came for 0.4 s", 1),
    ],
)
def test_a_server_that_hangs_up_in_the_middle_is_a_finding(run: Callable[..., Ran], server: str, path: str, word: str, events: int) -> None:
    """What came is checked and folded all the same, and one finding says why no more came."""
    ran = run("check", "-f", "json", "--timeout", 0.4, f"{server}/{path}")
    _, *findings, file, footer = [json.loads(line) for line in ran.out.splitlines()]
    assert [finding["rule"] for finding in findings] == ["wire.truncated", "reply.missing-end"]
    assert word in findings[0]["message"]
    assert (file["events"], "error" in file, footer["exit"], ran.err) == (events, False, 1, "")
    folded = run("fold", "-f", "json", "--timeout", 0.4, f"{server}/{path}")
    assert (folded.code, json.loads(folded.out)["id"], "wire.truncated" in folded.err) == (1, "r", True)


def test_a_packed_answer_that_is_cut_is_read_as_far_as_it_goes(run: Callable[..., Ran], server: str) -> None:
    """Whatever httpx makes of it: never a traceback, and never silence."""
    ran = run("check", f"{server}/cut_packed")
    assert ran.code in (1, 2)
    assert "wire.truncated" in ran.out or ran.err.startswith("eventfold: ")


def test_urls_are_checked_among_files_and_by_other_processes(run: Callable[..., Ran], server: str) -> None:
    """In their order."""
    ran = run("check", "--jobs", 2, f"{server}/jsonl", RECORDING, f"{server}/missing")
    assert (ran.code, [line.split(": ")[0] for line in ran.out.splitlines()]) == (2, [f"{server}/jsonl", str(RECORDING)])
    assert ran.err == f"eventfold: {server}/missing answered 404 Not Found\n"


def test_a_password_in_a_url_is_not_shown(run: Callable[..., Ran], server: str) -> None:
    """Neither in a report nor in an error."""
    secret = server.replace("//", "//ada:secret@")
    for path in ("jsonl", "missing"):
        ran = run("check", f"{secret}/{path}")
        assert "secret" not in ran.out + ran.err
        assert "//***@127.0.0.1" in ran.out + ran.err
    assert shown_url("https://example.org/a?b=c@d") == "https://example.org/a?b=c@d"


def test_without_httpx_a_url_is_one_line(run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to install; files need none."""
    monkeypatch.setitem(sys.modules, "httpx", None)
    run("check", "http://127.0.0.1/").assert_could_not("pip install 'eventfold[http]'")
    assert run("check", RECORDING).code == 0


# --- drawing


def screen(folder: Folder, now: list[float], height: int = 12) -> tuple[Screen, StringIO]:
    """Make a screen of 40 columns with a clock that is set by hand."""
    terminal = StringIO()
    console = Console(file=terminal, force_terminal=True, width=40, height=height, color_system=None, legacy_windows=False)
    return Screen(folder, console=console, clock=lambda: now[0]), terminal


def test_it_is_drawn_at_most_ten_times_a_second() -> None:
    """However fast the stream, and the last state as soon as it may be."""
    now, checker = [0.0], Checker()
    checker.feed(lines_of([START, BLOCK]))
    drawn, _ = screen(checker.folder, now)
    # Not entered: no thread draws, and time stands still but for this loop.
    for number in range(2000):
        now[0] += 0.001
        with drawn.growing():
            checker.feed(lines_of([delta(number, f"{number} ")]))
        assert drawn.draws <= 1 + now[0] / INTERVAL
    assert 18 <= drawn.draws <= 21


def test_the_newest_state_is_drawn_in_a_pause() -> None:
    """What came too early to be drawn is drawn when nothing more comes."""
    checker = Checker()
    terminal = StringIO()
    console = Console(file=terminal, force_terminal=True, width=40, height=12, color_system=None)
    with Screen(checker.folder, console=console) as drawn:
        for number, text in enumerate(("first", "second", "third")):
            with drawn.growing():
                checker.feed(lines_of(([START, BLOCK] if not number else []) + [delta(number, f"{text} ")]))
        deadline = time.monotonic() + 10
        while "third" not in terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.02)
    assert "first second third" in terminal.getvalue()
    assert drawn.draws <= 3
    assert terminal.getvalue().rstrip().endswith("\x1b[2K") or "\x1b[?25h" in terminal.getvalue()


def test_a_drawing_fits_the_screen_and_shows_the_end() -> None:
    """Of a long message the last lines, of many messages those that grow, newest last."""
    checker = Checker()
    checker.feed(lines_of([START, BLOCK, *(delta(number, f"line {number}\n") for number in range(1000))]))
    drawn, _ = screen(checker.folder, [0.0])
    text = lines_drawn(drawn)
    assert len(text) <= 12
    assert "line 999" in "\n".join(text)
    assert "line 980" not in "\n".join(text)
    others = [{**START, "reply_id": f"s{number}", "id": f"s{number}"} for number in range(30)]
    checker.feed(lines_of(others))
    text = lines_drawn(drawn)
    assert len(text) <= 12
    assert [line for line in text if " s29 " in line] == [line for line in text if "ada" in line][-1:]


def lines_drawn(drawn: Screen) -> list[str]:
    """Give the lines of the next drawing."""
    paper = Console(file=StringIO(), width=40, color_system=None)
    with paper.capture() as capture:
        paper.print(drawn.picture())
    return capture.get().splitlines()


def test_a_drawing_costs_what_fits_on_the_screen() -> None:
    """A message of 20 MB in text, data and results is drawn as fast as a small one, and folds to the same afterwards."""
    named = {"created_at": TIME, "reply_id": "r", "tool_call_id": "c"}
    call: list[Wire] = [
        {"type": "TOOL_CALL_START", "id": "a", "tool_call_name": "f", **named},
        {"type": "TOOL_CALL_DELTA", "id": "b", "delta": "x" * 4_000_000, **named},
        {"type": "TOOL_CALL_END", "id": "c", **named},
        {"type": "TOOL_RESULT_START", "id": "d", "tool_call_name": "f", **named},
        {"type": "TOOL_RESULT_TEXT_DELTA", "id": "e", "delta": "y" * 4_000_000, **named},
    ]
    data = {"type": "DATA_BLOCK_DELTA", "id": "g", "created_at": TIME, "reply_id": "r", "block_id": "q", "media_type": "m"}
    begin = {**data, "type": "DATA_BLOCK_START", "id": "f"}
    events = [START, BLOCK, *(delta(number, "z" * 1_000_000) for number in range(4)), begin, {**data, "data": "YWJj" * 2_000_000}, *call]
    checker = Checker()
    checker.feed(lines_of(events))
    drawn, _ = screen(checker.folder, [0.0])
    lines_drawn(drawn)
    begun = time.process_time()
    drawings = [lines_drawn(drawn) for _ in range(20)]
    assert time.process_time() - begun < 1
    assert "yyyy" in "".join(drawings[-1])
    more = [delta(9, "the end")]
    checker.feed(lines_of(more))
    assert checker.folder.snapshots() == check_and_fold(lines_of([*events, *more])).messages


@pytest.mark.parametrize("path", RECORDINGS[::7], ids=lambda path: path.stem)
def test_every_prefix_can_be_drawn(path: Any) -> None:
    """Whatever a message is made of, and drawing changes nothing of it."""
    checker, plain = Checker(), Checker()
    drawn, _ = screen(checker.folder, [0.0])
    for line in path.read_bytes().splitlines(keepends=True):
        checker.feed(line)
        plain.feed(line)
        assert len(lines_drawn(drawn)) <= 12
    assert checker.folder.snapshots() == plain.folder.snapshots()


@contextmanager
def on_a_terminal(*arguments: object) -> Generator[tuple[subprocess.Popen[bytes], Callable[[str], str]]]:
    """Run a command with standard output on a terminal; give it, and how to wait for what it shows."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "eventfold.cli", *map(str, arguments)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "60", "LINES": "20", "NO_COLOR": "1"}
    shown = bytearray()

    def until(text: str) -> str:
        deadline = time.monotonic() + 20
        while text.encode() not in shown and time.monotonic() < deadline:
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    shown.extend(os.read(ours, 1 << 16))
                except OSError:
                    break
        assert text.encode() in shown, shown.decode()
        return shown.decode()

    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=theirs, stderr=subprocess.PIPE, env=environment) as running:
        os.close(theirs)
        yield running, until
        running.kill()
    os.close(ours)


def test_follow_draws_what_grows_and_prints_it_at_the_end() -> None:
    """From a pipe that is still open; at its end the cursor is back, and the message whole."""
    with on_a_terminal("fold", "--follow", "-") as (running, until):
        assert running.stdin is not None
        running.stdin.write(lines_of([START, BLOCK, delta(1, "half of it")]))
        running.stdin.flush()
        assert "\x1b[?25l" in until("half of it")
        running.stdin.write(lines_of([delta(2, ", and the rest")]))
        running.stdin.close()
        shown = until("\x1b[?25h")
        until("half of it, and the rest")
        assert running.wait(20) == 1
        assert running.stderr is not None
        assert b"reply.missing-end" in running.stderr.read()
        assert shown.count("\x1b[?25l") == 1


def test_ctrl_c_gives_the_terminal_back() -> None:
    """The cursor is shown, the last drawing stays, and the exit code is the shell's."""
    with on_a_terminal("fold", "--follow", "-") as (running, until):
        assert running.stdin is not None
        assert running.stderr is not None
        running.stdin.write(lines_of([START, BLOCK, delta(1, "half of it")]))
        running.stdin.flush()
        until("half of it")
        running.send_signal(signal.SIGINT)
        assert running.wait(20) == 130
        until("\x1b[?25h")
        assert running.stderr.read() == b"eventfold: interrupted\n"


def test_follow_without_a_terminal_prints_the_messages(run: Callable[..., Ran]) -> None:
    """Nothing is drawn into a file."""
    assert run("fold", "--follow", RECORDING) == run("fold", RECORDING)


def test_follow_reads_a_live_url(server: str) -> None:
    """What came is drawn while the server is silent."""
    with on_a_terminal("fold", "--follow", "--timeout", 2, f"{server}/silent") as (running, until):
        until("ada")
        assert running.wait(20) == 1
