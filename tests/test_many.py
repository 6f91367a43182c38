"""Many files and big ones: folders, several processes, compressed files, bounded memory."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import select
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from eventfold_models.tables import RULES
from jsonschema import Draft202012Validator
from support import RECORDINGS, ROOT, Wire, events_of, lines_of

from eventfold import lifecycle
from eventfold.check import HELD, Checker
from eventfold.cli import options
from eventfold.cli.console import InputCut
from eventfold.cli.decompression import PIECE, expanded
from eventfold.cli.progress import Bar
from eventfold.cli.sources import ENDINGS, sources
from eventfold.findings import Collector
from eventfold.fold import Folder

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TIME = "2026-01-01T00:00:00"
REPORT: Any = Draft202012Validator(json.loads((ROOT / "schemas/meta/check-report.json").read_text("utf-8")))


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


def start(reply: str, **fields: Any) -> Wire:
    """Begin a reply."""
    return {
        "type": "REPLY_START",
        "id": f"{reply}-1",
        "created_at": TIME,
        "reply_id": reply,
        "session_id": "s",
        "name": "ada",
        **fields,
    }


def custom(number: int = 0, **fields: Any) -> Wire:
    """Make an event that belongs to no reply."""
    return {"type": "CUSTOM", "id": f"c{number}", "created_at": TIME, "name": "n", **fields}


def program(*arguments: object, given: bytes | None = None, cwd: Path | None = None) -> Ran:
    """Run a command as a program of its own."""
    command = [sys.executable, "-m", "eventfold.cli", *map(str, arguments)]
    ended = subprocess.run(command, input=given, capture_output=True, timeout=60, check=False, cwd=cwd)
    return Ran(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def cut(data: bytes, size: int) -> Iterator[bytes]:
    """Cut bytes into pieces."""
    return (data[place : place + size] for place in range(0, len(data), size))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder of files: clean, broken, packed, unreadable, hidden, and of no concern."""
    clean, packed = lines_of([custom()]), RECORDINGS[0].read_bytes()
    files = {
        "b.jsonl": clean,
        "a/2.ndjson": lines_of([start("r")]),
        "a/10.json": json.dumps([custom()]).encode(),
        "a/deep/er/x.sse": b"data: " + json.dumps(custom()).encode() + b"\n\n",
        "c.jsonl.gz": gzip.compress(packed),
        "d.jsonl.zst": zstd.compress(packed),
        "e.jsonl.gz": gzip.compress(packed)[:-9],
        "f.json": b"\xff\xfe\x00",
        "notes.txt": b"hello",
        ".hidden.jsonl": b"hello",
        ".git/x.jsonl": b"hello",
    }
    for name, content in files.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (tmp_path / "in/g.jsonl").symlink_to("nowhere")
    (tmp_path / "in/h").symlink_to(tmp_path / "in")
    os.mkfifo(tmp_path / "in/pipe.jsonl")
    return tmp_path / "in"


# --- folders


def test_a_folder_gives_its_files_in_sorted_order(folder: Path) -> None:
    """Folders and files are sorted by name together; hidden ones, links to folders and pipes are left alone."""
    found = [os.path.relpath(source.name, folder) for source in sources([str(folder)])]
    assert found == [
        "a/10.json",
        "a/2.ndjson",
        "a/deep/er/x.sse",
        "b.jsonl",
        "c.jsonl.gz",
        "d.jsonl.zst",
        "e.jsonl.gz",
        "f.json",
        "g.jsonl",
    ]
    assert all(name.endswith(ENDINGS) for name in found)


def test_a_folder_without_files_is_one_line(tmp_path: Path) -> None:
    """The line says what was looked for, and other files are checked all the same."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.jsonl").write_bytes(lines_of([custom()]))
    ran = program("check", "empty", "x.jsonl", cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "x.jsonl: 1 event: clean\n")
    assert (
        ran.err == "eventfold: empty is a directory without any file to check (*.jsonl, *.ndjson, *.json, *.sse, also with .gz or .zst)\n"
    )


def test_a_folder_that_may_not_be_read_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its place; the others are walked all the same."""
    scandir = os.scandir

    def refuse(path: str) -> Any:
        if path.endswith("deep"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = [source for source in sources([str(folder)]) if "/a/" in source.name]
    assert [source.error for source in found] == [None, None, f"{folder}/a/deep cannot be read: Permission denied"]


def test_files_that_cannot_be_checked_are_said_in_their_place(folder: Path) -> None:
    """The others go on, and the worst exit code is the command's."""
    ran = program("check", "--format", "json", folder)
    lines = [json.loads(line) for line in ran.out.splitlines()]
    for line in lines:
        REPORT.validate(line)
    files = [line for line in lines if line["kind"] == "file"]
    assert [Path(line["file"]).name for line in files if "error" in line] == ["f.json", "g.jsonl"]
    assert lines[-1] == {"kind": "footer", "files": len(files), "exit": 2}
    assert [line.count("cannot be read") + line.count("holds no event") for line in ran.err.splitlines()] == [1, 1]


# --- several processes


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_processes_change_nothing(folder: Path, form: str) -> None:
    """What is written does not depend on how many processes check, and says what it is in every form."""
    alone = program("check", "-f", form, "--jobs", 1, folder)
    assert program("check", "-f", form, "--jobs", 3, folder) == alone
    assert alone.code == 2
    if form == "sarif":
        [run] = json.loads(alone.out)["runs"]
        assert {result["ruleId"] for result in run["results"]} == {"reply.missing-end", "wire.truncated"}
        assert len(run["invocations"][0]["toolExecutionNotifications"]) == 2


def test_findings_come_in_the_order_of_the_files(tmp_path: Path) -> None:
    """Whoever finishes first: a long file before short ones, with more findings than are handed over at once."""
    (tmp_path / "a.jsonl").write_bytes(lines_of([start(f"reply-{number}") for number in range(3000)]))
    for number in range(20):
        (tmp_path / f"b{number:02}.jsonl").write_bytes(lines_of([start("r"), custom()]))
    alone, many = (program("check", "--jobs", jobs, ".", cwd=tmp_path) for jobs in (1, 2))
    assert many == alone
    named = [line.split(":")[0] for line in many.out.splitlines()]
    assert (named == sorted(named), named.count("./a.jsonl"), len(set(named))) == (True, 3001, 21)


def test_what_is_found_is_written_before_all_is_checked(tmp_path: Path) -> None:
    """The first file is reported while the second, a pipe that nobody has filled yet, is being checked."""
    (tmp_path / "a.jsonl").write_bytes(lines_of([start("r")]))
    os.mkfifo(tmp_path / "b")
    command = [sys.executable, "-m", "eventfold.cli", "check", "--jobs", "2", "a.jsonl", "b"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline().startswith("a.jsonl: error reply.missing-end")
        (tmp_path / "b").write_bytes(lines_of([custom()]))
        assert running.stdout.read().splitlines() == ["a.jsonl: 1 event, 1 reply: 1 error", "b: 1 event: clean"]
    assert running.returncode == 1


def test_standard_input_among_files_is_checked_here() -> None:
    """It cannot be handed to another process, so none is used."""
    ran = program("check", "--jobs", 4, RECORDINGS[0], "-", given=lines_of([custom()]))
    assert (ran.code, ran.out.splitlines()[-1], ran.err) == (0, "-: 1 event: clean", "")


def children_of(pid: int) -> list[int]:
    """Give the processes that a process has started, but for Python's own, which watches for leaks."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def reader_of(name: str, among: list[int]) -> int:
    """Wait until one of some processes has a file open, and name it."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for pid in among:
            with suppress(FileNotFoundError):
                if any(link.readlink().name == name for link in Path(f"/proc/{pid}/fd").iterdir()):
                    return pid
    pytest.fail(f"nobody reads {name}")


@pytest.fixture
def stuck(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], list[int], int]]:
    """Run a check by two processes of which one waits for ever for a pipe; give all three, and a way to fill the pipe."""
    os.mkfifo(tmp_path / "b")
    (tmp_path / "a.jsonl").write_bytes(lines_of([custom()]))
    (tmp_path / "c.jsonl").write_bytes(lines_of([custom()]))
    command = [sys.executable, "-m", "eventfold.cli", "check", "--jobs", "2", "a.jsonl", "b", "c.jsonl"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "a.jsonl: 1 event: clean\n"
        filled = os.open(tmp_path / "b", os.O_WRONLY)
        os.write(filled, lines_of([custom()]))
        yield running, children_of(running.pid), filled
        os.close(filled)


def test_a_process_that_is_killed_is_one_line(stuck: tuple[subprocess.Popen[str], list[int], int]) -> None:
    """Its file is said in its place, and the others go on."""
    running, workers, _ = stuck
    assert len(workers) == 2
    os.kill(reader_of("b", workers), signal.SIGKILL)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out) == (2, "c.jsonl: 1 event: clean\n")
    said = (
        "eventfold: b was not checked to its end: the process that did it was killed by SIGKILL (out of memory? fewer --jobs need less)\n"
    )
    assert err == said


def test_ctrl_c_ends_all_processes(stuck: tuple[subprocess.Popen[str], list[int], int]) -> None:
    """One line, the shell's code for it, and no word and no process of the others is left."""
    running, workers, _ = stuck
    reader_of("b", workers)
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out, err) == (130, "", "eventfold: interrupted\n")
    assert [worker for worker in workers if Path(f"/proc/{worker}").exists()] == []


# --- compressed files


@pytest.mark.parametrize("size", [1, 7, 4096, 1 << 20])
@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress], ids=["gzip", "zstd"])
def test_packed_bytes_are_expanded_however_they_are_cut(pack: Callable[[bytes], bytes], size: int) -> None:
    """Members follow each other, empty ones too; zeros may pad the end; what is not packed comes as it is."""
    data = os.urandom(2000) + b"a" * (PIECE if size > 7 else 10)
    packed = pack(data) + pack(b"") + pack(b"end") + bytes(100)
    assert b"".join(expanded(cut(packed, size))) == data + b"end"
    assert list(expanded(iter([b"{}", b"x"]))) == [b"{}", b"x"]
    assert b"".join(expanded(cut(packed[:1], size))) == packed[:1]


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress], ids=["gzip", "zstd"])
def test_a_small_file_that_expands_to_much_is_read_in_pieces(pack: Callable[[bytes], bytes]) -> None:
    """No piece is longer than the others, whatever it expands to."""
    sizes = [len(piece) for piece in expanded(iter([pack(bytes(1 << 26))]))]
    assert (sum(sizes), max(sizes) <= PIECE) == (1 << 26, True)


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress], ids=["gzip", "zstd"])
def test_packed_bytes_that_are_cut_or_damaged_are_read_as_far_as_they_go(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """What came before is checked, and that it was cut is a finding; without any event the file could not be checked."""
    packed, good = pack(lines_of([custom(1)])), pack(lines_of([custom()]))
    for rest, word in ((packed[:-5], "stops before its end"), (b"garbage", "is damaged")):
        with pytest.raises(InputCut, match=word):
            list(expanded(iter([good + rest])))
        (tmp_path / "x").write_bytes(good + rest)
        ran = program("check", "x", cwd=tmp_path)
        assert (ran.code, ran.out.count("error wire.truncated: "), word in ran.out, ran.err) == (1, 1, True, "")
    (tmp_path / "x").write_bytes(packed[:12])
    ran = program("fold", "x", cwd=tmp_path)
    assert (ran.code, ran.out, ran.err.count("\n"), "stops before its end" in ran.err) == (2, "", 1, True)


def test_packed_standard_input_is_found_out() -> None:
    """By its first bytes, for every command that reads."""
    data = RECORDINGS[0].read_bytes()
    assert program("fold", "-", given=zstd.compress(data)) == program("fold", "-", given=data)
    assert program("check", "-", given=gzip.compress(data)).code == 0


# --- bounded memory


def test_the_bounds_are_those_of_the_engine() -> None:
    """The command line says them without loading it."""
    assert (options.KEEP_ENDED, options.MAX_OPEN) == (lifecycle.KEEP_ENDED, lifecycle.MAX_OPEN)


def test_replies_that_never_end_are_given_up() -> None:
    """The one longest without an event goes; what comes for it later is dropped, and its message stays as it was."""
    checker = Checker(max_open=2)
    text: Wire = {"type": "TEXT_BLOCK_START", "id": "t", "created_at": TIME, "block_id": "b"}
    events = [start("a"), start("b"), {**text, "reply_id": "a"}, start("c"), {**text, "reply_id": "b"}, start("b", id="again")]
    checker.feed(lines_of(events))
    found = [(finding.rule, finding.index, finding.related, finding.reply_id) for finding in checker.finish()]
    assert found[:2] == [("reply.evicted", 3, 1, "b"), ("reply.gone", 4, None, "b")]
    assert [rule for rule, *_ in found[2:]] == ["reply.start-after-end", "reply.missing-end", "reply.missing-end"]
    assert [(message["id"], len(message["content"])) for message in checker.folder.snapshots()] == [("a", 1), ("b", 0), ("c", 0)]


def test_the_reply_that_is_given_up_is_the_right_one() -> None:
    """Whatever the order of events, it is the one whose newest event is oldest: as by a search through all of them."""
    for step in (1, 2, 3, 5, 7):
        checker, last, held = Checker(max_open=5), dict[str, int](), list[str]()
        expected: list[str] = []
        for number in range(200):
            reply = f"r{number * step % 11 + number // 11}"
            if reply in expected:
                continue
            checker.feed(lines_of([start(reply, id=f"e{number}")]))
            last[reply] = number
            held = [*held, reply] if reply not in held else held
            if len(held) > 5:
                idle = min(held, key=lambda each: last[each])
                held.remove(idle)
                expected.append(idle)
        assert [finding.reply_id for finding in checker.findings() if finding.rule == "reply.evicted"] == expected
        assert len(expected) > 5


def test_max_open_survives_a_checkpoint() -> None:
    """What is restored gives up the same replies."""
    checker = Checker(max_open=2)
    checker.feed(lines_of([start("a"), start("b"), start("c")]))
    restored = Folder.restore(json.loads(json.dumps(checker.folder.checkpoint())))
    assert (restored.lifecycle.max_open, list(restored.lifecycle.gone)) == (2, ["a"])
    assert restored.snapshots() == checker.folder.snapshots()


def test_max_open_is_an_option(tmp_path: Path) -> None:
    """Of check and fold; there is no stream without any."""
    (tmp_path / "x").write_bytes(lines_of([start("a"), start("b")]))
    for command in ("check", "fold"):
        ran = program(command, "--max-open", 1, "x", cwd=tmp_path)
        assert (ran.code, (ran.out + ran.err).count("reply.evicted")) == (1, 1)
        assert program(command, "--max-open", 0, "x", cwd=tmp_path).code == 2
    assert "--max-open" in RULES["reply.evicted"]["why"]


def test_findings_that_need_not_be_held_are_handed_out() -> None:
    """Beyond a number the older half goes, by place, with the counts so far; a later repeat is a finding of its own."""
    collector = Collector()
    for number in range(6):
        for _ in range(2):
            collector.add("event.no-type", (str(number),), index=number, values={"detail": "x"})
    assert collector.overflow(6) == []
    collector.add("event.no-type", ("0",), index=6)
    collector.add("event.no-type", ("6",), index=7)
    taken = collector.overflow(6)
    assert [(finding.index, finding.count) for finding in taken] == [(0, 3), (1, 2), (2, 2), (3, 2)]
    collector.add("event.no-type", ("0",), index=8)
    assert [(finding.index, finding.count) for finding in collector] == [(4, 2), (5, 2), (7, 1), (8, 1)]


def test_no_finding_is_lost_or_repeated_when_they_are_taken() -> None:
    """Taken while the stream runs and at its end they are the same, in the same order, as all at the end."""
    data = lines_of([custom(number, created_at="yesterday", **{f"x_{number}": 1}) for number in range(HELD * 2)])
    whole, taken = Checker(), Checker()
    whole.feed(data)
    found: list[Any] = []
    for piece in cut(data, PIECE):
        taken.feed(piece)
        found += taken.overflow()
    notes = [finding for finding in [*found, *taken.finish()] if finding.rule == "event.unknown-field"]
    assert len(found) > HELD // 2
    assert notes == [finding for finding in whole.finish() if finding.rule == "event.unknown-field"]


def test_whoever_only_checks_keeps_no_messages() -> None:
    """Neither those of replies that are no longer held, nor stored ones; they are counted."""
    events = [event for path in RECORDINGS[:1] for event in events_of(path)]
    stored: Wire = {"role": "user", "name": "n", "id": "m", "created_at": TIME, "content": []}
    checker = Checker(keep_ended=0, keep_messages=False)
    checker.feed(lines_of([*events, stored, stored]))
    assert checker.finish() == []
    assert (checker.folder.snapshots(), checker.stored, checker.messages) == ([], [], 2)


def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    """Six times the log, in which nothing ends and every event is noted, takes hardly more memory."""

    def peak(count: int) -> int:
        with (tmp_path / "x").open("wb") as stream:
            for first in range(0, count, 100):
                stream.write(lines_of([start(f"reply-{number}", **{f"x_{number}": "y" * 100}) for number in range(first, first + 100)]))
        code = (
            "import resource, sys; sys.argv = ['eventfold', 'check', '--max-open', '100', 'x']\n"
            "from eventfold.cli import main\n"
            "try: main()\n"
            "finally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
        )
        ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ended.stdout.count("\n") == 2 * count + 1
        return int(ended.stderr)

    few, many = peak(4_000), peak(24_000)
    assert many < 1.3 * few


# --- progress


class _Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_is_drawn_at_most_ten_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """It shows after half a second, with files, rate and time left, and leaves nothing behind."""
    monkeypatch.setenv("TERM", "xterm")
    now = [0.0]
    terminal = _Terminal()
    with Bar(3, 10_000_000, terminal, lambda: now[0]) as bar:
        for _ in range(499):
            now[0] += 0.001
            bar.tick(1000)
        assert terminal.getvalue() == ""
        for _ in range(1000):
            now[0] += 0.001
            bar.tick(1000)
            assert terminal.getvalue().count("files") <= 1 + 10 * (now[0] - 0.5) + 1
        bar.file_done()
        bar.clear()
        assert terminal.getvalue().endswith("\r\x1b[2K")
    assert "0 of 3 files" in terminal.getvalue()
    assert "/s" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[?25h") or "\x1b[?25h" in terminal.getvalue()


def test_there_is_no_bar_where_there_is_no_terminal() -> None:
    """Nothing is drawn into a file."""
    written = StringIO()
    now = [0.0]
    with Bar(1, None, written, lambda: now[0]) as bar:
        now[0] = 9.0
        bar.tick(1)
    assert written.getvalue() == ""


def test_ctrl_c_writes_what_was_found_so_far(tmp_path: Path) -> None:
    """A check of a stream that never ends is broken off by Ctrl-C: what it has found is not lost."""
    os.mkfifo(tmp_path / "b")
    command = [sys.executable, "-m", "eventfold.cli", "check", "b"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        filled = os.open(tmp_path / "b", os.O_WRONLY)
        os.write(filled, lines_of([start("r"), start("r", id="again")]))
        deadline = time.monotonic() + 20
        while select.select([], [filled], [], 0.1)[1] and _unread(filled) and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
        os.close(filled)
    assert (running.returncode, out.count("\n"), err) == (130, 1, "eventfold: interrupted\n")
    assert out.startswith("b:2: error reply.already-started")


def _unread(pipe: int) -> int:
    """Say how many bytes of a pipe nobody has read yet."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, b"\0\0\0\0"), sys.byteorder)
