"""
The command line across dialects: --dialect, convert, unfold, dialects.

What is lost goes to standard error and never onto the output; --strict makes it the exit code.
"""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from support import ROOT, Wire, events_of, lines_of

from eventfold import check_and_fold
from eventfold.cli import main
from eventfold.dialects import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RECORDING = ROOT / "tests/recordings/agentscope-2.0.11/one_tool.events.jsonl"
PARKED = ROOT / "tests/recordings/agentscope-2.0.11/hitl_parked.events.jsonl"
TIME = "2026-01-01T00:00:00"
TEXT: Wire = {"type": "text", "id": "t", "text": "hello", "created_at": TIME, "finished_at": TIME}
MESSAGE: Wire = {"id": "m", "name": "ada", "role": "assistant", "created_at": TIME, "content": [TEXT], "finished_at": TIME}
#: Has a field that no event carries, and one that AgentScope has not.
ODD: Wire = {**MESSAGE, "x_more": 1, "content": [{**TEXT, "x_k": 1}]}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Callable[..., tuple[int, bytes, str]]:
    """Run a command in this process: its exit code, output and complaints."""

    def run(*arguments: object) -> tuple[int, bytes, str]:
        monkeypatch.setattr(sys, "argv", ["eventfold", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        printed: Any = capsysbinary.readouterr()
        return ended.value.code, printed.out, printed.err.decode()

    return run


@pytest.fixture
def stored(tmp_path: Path) -> Callable[[Any], Path]:
    """Write a JSON document."""

    def stored(value: Any) -> Path:
        path = tmp_path / "stored.json"
        path.write_text(json.dumps(value), "utf-8")
        return path

    return stored


def lines(out: bytes) -> list[Any]:
    """Parse JSON Lines."""
    return [json.loads(line) for line in out.splitlines()]


def test_dialects_lists_each_with_its_ways(run: Callable[..., tuple[int, bytes, str]]) -> None:
    """Every dialect is there, with what it reads and writes; with a name its page is printed."""
    code, out, err = run("dialects", "--json")
    assert (code, [line["name"] for line in lines(out)], err) == (0, list(NAMES), "")
    assert run("dialects")[1].decode().split()[0] == "eventfold"
    assert run("dialects", "agentscope")[1].startswith(b"# AgentScope Python\n")
    assert run("dialects", "klingon")[::2] == (2, f"eventfold: 'klingon' is no dialect; there are {', '.join(NAMES)}\n")


@pytest.mark.parametrize("command", ["check", "fold"])
def test_auto_says_what_it_took(run: Callable[..., tuple[int, bytes, str]], command: str) -> None:
    """`--dialect auto` recognises the input, says so, and gives what naming the dialect gives."""
    named = run(command, RECORDING)
    code, out, err = run(command, "--dialect", "auto", RECORDING)
    assert (code, out) == named[:2]
    assert err == f"eventfold: {RECORDING} is read as eventfold (the contract itself)\n"


def test_auto_reads_standard_input(run: Callable[..., tuple[int, bytes, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of a pipe is lost to the recognition."""
    with RECORDING.open("rb") as piped:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(piped))
        code, out, _ = run("fold", "--dialect", "auto", "--format", "json", "-")
    assert (code, lines(out)) == (0, check_and_fold(RECORDING.read_bytes()).messages)
    empty = tmp_path / "empty"
    empty.touch()
    assert run("check", "--dialect", "auto", empty)[::2] == (2, f"eventfold: {empty} is empty\n")


def test_what_is_known_to_nobody_is_said(run: Callable[..., tuple[int, bytes, str]], stored: Callable[[Any], Path]) -> None:
    """A file that no dialect claims is judged by the contract, with a line that says so."""
    path = stored({"nobody": "knows"})
    code, _, err = run("check", "--dialect", "auto", path)
    assert code == 2
    assert err.splitlines()[0] == f"eventfold: {path} looks like nothing that is known; read as eventfold"


def test_what_no_dialect_reads_is_known_by_sight(run: Callable[..., tuple[int, bytes, str]], stored: Callable[[Any], Path]) -> None:
    """A stream of a known kind that nobody reads is named, with a way to one that is read."""
    path = stored(
        {"model": "llama3.2", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": "Hi"}, "done": False}
    )
    code, _, err = run("check", "--dialect", "auto", path)
    assert code == 2
    assert err.splitlines()[0].startswith(f"eventfold: {path} looks like Ollama's own stream, which no dialect reads; ")


def test_a_stream_is_converted_as_it_comes(run: Callable[..., tuple[int, bytes, str]]) -> None:
    """Events go out one by one, as lines or as server-sent events, and fold to the same message."""
    messages = check_and_fold(RECORDING.read_bytes()).messages
    code, out, err = run("convert", "--from", "eventfold", "--to", "agentscope", RECORDING)
    assert (code, err, len(lines(out))) == (0, "", len(events_of(RECORDING)))
    assert check_and_fold(out).messages == messages
    code, out, _ = run("convert", "--from", "eventfold", "--to", "eventfold", "--form", "sse", RECORDING)
    assert out.startswith(b'data: {"type":"REPLY_START"')
    assert out.endswith(b"}\n\n")
    assert check_and_fold(out).messages == messages


def test_what_is_lost_is_said_and_counts_when_asked(run: Callable[..., tuple[int, bytes, str]], stored: Callable[[Any], Path]) -> None:
    """Losses stand on standard error, once for each reason; only --strict makes them an exit code."""
    path = stored([ODD, ODD])
    code, out, err = run("convert", "--from", "eventfold", "--to", "agentscope", path)
    assert (code, len(lines(out))) == (0, 2)
    assert sorted(line for line in err.splitlines() if " lost: " in line) == [
        f"eventfold: {path}: lost: AgentScope's AssistantMsg has no x_more (2 times, first at /0/x_more)",
        f"eventfold: {path}: lost: AgentScope's TextBlock has no x_k (2 times, first at /0/content/0/x_k)",
    ]
    assert run("convert", "--strict", "--from", "eventfold", "--to", "agentscope", path)[:2] == (1, out)
    assert run("convert", "--strict", "--from", "eventfold", "--to", "agentscope", stored(MESSAGE))[0] == 0


def test_messages_and_streams_become_each_other(run: Callable[..., tuple[int, bytes, str]], stored: Callable[[Any], Path]) -> None:
    """`--as` turns one into the other."""
    code, out, _ = run("convert", "--from", "eventfold", "--to", "eventfold", "--as", "messages", RECORDING)
    assert (code, lines(out)) == (0, check_and_fold(RECORDING.read_bytes()).messages)
    code, out, _ = run("convert", "--from", "eventfold", "--to", "eventfold", "--as", "stream", stored(MESSAGE))
    assert code == 0
    assert check_and_fold(out).messages[0]["content"] == MESSAGE["content"]


def test_a_broken_stream_is_converted_and_judged(run: Callable[..., tuple[int, bytes, str]], tmp_path: Path) -> None:
    """What is wrong with the input is a finding on standard error and exit code 1, and the rest is written."""
    path = tmp_path / "stream.jsonl"
    path.write_bytes(RECORDING.read_bytes() + b"no json\n")
    code, out, err = run("convert", "--from", "eventfold", "--to", "agentscope", path)
    assert (code, len(lines(out)), "wire.not-json" in err) == (1, len(events_of(RECORDING)), True)


def test_unfold_prints_events_that_fold_back(run: Callable[..., tuple[int, bytes, str]], stored: Callable[[Any], Path]) -> None:
    """Whole or cut, the events fold to the stored message."""
    messages = check_and_fold(RECORDING.read_bytes()).messages + check_and_fold(PARKED.read_bytes()).messages
    path = stored(messages)
    code, out, err = run("unfold", path)
    assert (code, err, check_and_fold(out).messages) == (0, "", messages)
    cut = run("unfold", "--cut", 1, path)[1]
    assert len(lines(cut)) > len(lines(out))
    assert check_and_fold(cut).messages == messages


def test_unfold_says_what_no_event_carries(run: Callable[..., tuple[int, bytes, str]], stored: Callable[[Any], Path]) -> None:
    """A field that no event carries is a line, and --strict makes it the exit code."""
    path = stored(ODD)
    code, out, err = run("unfold", path)
    assert err.splitlines()[-1] == f"eventfold: {path}: lost: no event carries this field (at /0/x_more)"
    assert "finding" not in err
    assert (code, check_and_fold(out).messages[0]["content"]) == (0, ODD["content"])
    assert run("unfold", "--strict", path)[0] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("unfold", RECORDING), "holds events, not messages"),
        (("convert", "--to", "klingon", RECORDING), "'klingon' is no dialect"),
        (("convert", "--from", "klingon", "--to", "eventfold", RECORDING), "'klingon' is no dialect"),
        (("check", "--dialect", "klingon", RECORDING), "'klingon' is no dialect"),
        (("fold", "--dialect", "klingon", RECORDING), "'klingon' is no dialect"),
        (("convert", "--to", "eventfold", "no-such-file"), "no-such-file cannot be read"),
        (("convert", "--to", "eventfold", ROOT), "is a directory"),
    ],
)
def test_what_cannot_be_done_is_one_line(run: Callable[..., tuple[int, bytes, str]], arguments: tuple[object, ...], said: str) -> None:
    """Exit code 2, nothing on the output, one line that says why."""
    code, out, err = run(*arguments)
    assert (code, out) == (2, b"") or arguments[0] == "check"
    assert code == 2
    assert said in err
    assert err.count("\n") == 1


def test_a_foreign_stream_that_is_checked_as_native_is_named(run: Callable[..., tuple[int, bytes, str]], tmp_path: Path) -> None:
    """Whoever forgets --dialect is told which one to give."""
    path = tmp_path / "run.jsonl"
    path.write_bytes(
        lines_of([{"type": "RUN_STARTED", "threadId": "t", "runId": "r"}, {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}])
    )
    code, _, err = run("check", path)
    assert code == 1
    assert "`--dialect agui` reads it" in err
