"""
The command line: what it prints, where, and with which exit code; one clear line for whatever ends it.

Commands run inside this process where nothing but arguments and output matters, and as a program of
their own where streams, signals or the environment do.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import pytest
from eventfold_models.tables import RULES
from jsonschema import Draft202012Validator
from support import RECORDINGS, ROOT, Wire, events_of, lines_of

from eventfold import check_and_fold
from eventfold.cli import main
from eventfold.dialects import NAMES, all_rules
from eventfold.vectors import dialect_vectors, vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAME = "one_tool"
RECORDING = ROOT / f"tests/recordings/agentscope-2.0.11/{NAME}.events.jsonl"
PARKED = ROOT / "tests/recordings/agentscope-2.0.11/hitl_parked.events.jsonl"
REPORT: Any = Draft202012Validator(json.loads((ROOT / "schemas/meta/check-report.json").read_text("utf-8")))
TIME = "2026-01-01T00:00:00"

CUSTOM: Wire = {"type": "CUSTOM", "id": "c", "created_at": TIME, "name": "n"}
START: Wire = {"type": "REPLY_START", "id": "1", "created_at": TIME, "reply_id": "r", "session_id": "s", "name": "ada"}
END: Wire = {"type": "REPLY_END", "id": "9", "created_at": TIME, "reply_id": "r", "session_id": "s"}
#: A warning: a completed reply that shows nothing.
SILENT = [START, END]
#: A note: an unknown field.
NOTED: list[Wire] = [{**CUSTOM, "x_more": 1}]
#: An error: no end.
BROKEN = [START]
TEXT: Wire = {"type": "text", "id": "t", "text": "hi"}
CALL: Wire = {"type": "tool_call", "id": "c", "name": "f", "input": "{}", "state": "finished"}
RESULT: Wire = {"type": "tool_result", "id": "c", "name": "f", "output": "x", "state": "success"}
DONE: Wire = {"finished_at": TIME, "finished_reason": "completed"}


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: bytes
    err: bytes

    @property
    def lines(self) -> list[Any]:
        """Parse the output as JSON Lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    def assert_could_not(self, *words: str) -> None:
        """Assert that the command could not run, and said so in one line that has these words."""
        said = self.err.decode()
        assert (self.code, said.count("\n"), said.startswith("eventfold: ")) == (2, 1, True), said
        assert [word for word in words if word not in said] == []


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Ran]:
    """Run a command in this process."""

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["eventfold", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        printed: Any = capsysbinary.readouterr()
        return Ran(ended.value.code, *printed)

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a file of events or bytes."""

    def write(content: list[Wire] | bytes, name: str = "stream.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else lines_of(content))
        return path

    return write


def program(
    *arguments: object,
    given: bytes | None = None,
    env: dict[str, str] | None = None,
    stdout: int | IO[bytes] = subprocess.PIPE,
    before: Callable[[], None] | None = None,
) -> Ran:
    """Run a command as a program of its own; `before` is called in the new process."""
    ended = subprocess.run(
        [sys.executable, "-m", "eventfold.cli", *map(str, arguments)],
        input=given,
        env={**os.environ, **(env or {})},
        stdout=stdout,
        stderr=subprocess.PIPE,
        preexec_fn=before,
        timeout=60,
        check=False,
    )
    return Ran(ended.returncode, ended.stdout or b"", ended.stderr)


# --- check


def test_a_clean_stream_is_said_to_be_clean(run: Callable[..., Ran]) -> None:
    """`check` prints one line for a clean stream, with what it holds, and exits with 0."""
    ran = run("check", RECORDING)
    events = len(events_of(RECORDING))
    assert ran == (0, f"{RECORDING}: {events} events, 1 reply: clean\n".encode(), b"")


def test_a_finding_is_a_line_that_editors_jump_to(run: Callable[..., Ran], write: Callable[..., Path]) -> None:
    """A finding is `file:line: severity rule: message`, and the last line counts them."""
    path = write([START, {"type": "TEXT_BLOCK_DELTA", "id": "2", "created_at": TIME, "reply_id": "r", "block_id": "b", "delta": "x"}, END])
    ran = run("check", path)
    first, second, last = ran.out.decode().splitlines()
    assert (ran.code, ran.err) == (1, b"")
    assert first.startswith(f"{path}:2: error block.not-started: TEXT_BLOCK_DELTA")
    assert second.startswith(f"{path}:3: warning reply.no-visible-output: ")
    assert last == f"{path}: 3 events, 1 reply: 1 error, 1 warning"


@pytest.mark.parametrize("command", ["check", "fold"])
@pytest.mark.parametrize(
    ("events", "codes"),
    [(CUSTOM, (0, 0, 0)), (NOTED, (0, 0, 1)), (SILENT, (0, 1, 1)), (BROKEN, (1, 1, 1))],
    ids=["clean", "note", "warning", "error"],
)
def test_fail_on_sets_from_where_findings_fail(
    run: Callable[..., Ran], write: Callable[..., Path], command: str, events: Any, codes: tuple[int, ...]
) -> None:
    """Findings at or above --fail-on make the exit code 1; without the option, errors do."""
    path = write(events if isinstance(events, list) else [events])
    assert tuple(run(command, path, "--fail-on", severity).code for severity in ("error", "warning", "note")) == codes
    assert run(command, path).code == codes[0]


def test_custom_events_alone_are_clean_and_have_no_message(run: Callable[..., Ran], write: Callable[..., Path]) -> None:
    """A stream of CUSTOM events alone passes check, and folds to nothing."""
    path = write([CUSTOM])
    assert run("check", path) == (0, f"{path}: 1 event: clean\n".encode(), b"")
    for form in ("text", "json"):
        assert run("fold", "--format", form, path) == (0, b"", b"")


def test_the_json_report_keeps_its_schema(run: Callable[..., Ran], write: Callable[..., Path], tmp_path: Path) -> None:
    """Every line of --format json fits check-report.json: a header first, a footer last, a line for each file."""
    files = [
        RECORDING,
        write(BROKEN, "broken.jsonl"),
        write(json.dumps([check_and_fold(RECORDING.read_bytes()).messages]).encode()[1:-1], "message.json"),
        write(b"data: " + json.dumps(CUSTOM).encode() + b"\n\n", "capture.sse"),
        write(b"\x00\xff\xfe", "binary"),
        tmp_path / "missing",
    ]
    ran = run("check", "-f", "json", *files)
    for line in ran.lines:
        REPORT.validate(line)
    kinds = [line["kind"] for line in ran.lines]
    assert (kinds[0], kinds[-1], kinds.count("file")) == ("header", "footer", len(files))
    assert ran.lines[-1] == {"kind": "footer", "files": len(files), "exit": 2}
    assert [line["form"] for line in ran.lines if line["kind"] == "file"] == ["jsonl", "jsonl", "json", "sse", "jsonl", ""]
    assert [line["file"] for line in ran.lines if line["kind"] == "file" and "error" in line] == [str(files[4]), str(files[5])]
    finding = next(line for line in ran.lines if line["kind"] == "finding")
    assert (finding["file"], finding["rule"], finding["severity"], finding["reply_id"]) == (
        str(files[1]),
        "reply.missing-end",
        "error",
        "r",
    )


@pytest.mark.parametrize("path", RECORDINGS[::6], ids=lambda path: path.stem)
def test_reports_of_recordings_keep_the_schema(run: Callable[..., Ran], path: Path) -> None:
    """What is reported of real streams fits the schema, and the footer gives the exit code."""
    ran = run("check", "--format", "json", "--fail-on", "note", path)
    for line in ran.lines:
        REPORT.validate(line)
    assert ran.lines[-1]["exit"] == ran.code == int("finding" in {line["kind"] for line in ran.lines})


def test_one_file_that_fails_stops_no_other(run: Callable[..., Ran], write: Callable[..., Path], tmp_path: Path) -> None:
    """Of several files each is checked, and the worst exit code is the command's."""
    clean, broken = write([CUSTOM], "clean.jsonl"), write(BROKEN, "broken.jsonl")
    assert run("check", broken, clean).code == 1
    ran = run("check", broken, tmp_path / "missing", clean)
    assert (ran.code, ran.err.count(b"\n"), ran.out.splitlines()[-1]) == (2, 1, f"{clean}: 1 event: clean".encode())


def test_keep_ended_bounds_what_is_held(run: Callable[..., Ran], write: Callable[..., Path]) -> None:
    """With --keep-ended 0 a redelivery after the end is an event of an unknown reply; by default it is recognised."""
    path = write([*SILENT, END])
    for command in ("check", "fold"):
        assert run(command, path).code == 0
        assert run(command, "--keep-ended", 0, path).code == 1
    assert run("check", "--keep-ended", -1, path).code == 2


# --- what cannot be run


@pytest.mark.parametrize("command", ["check", "fold"])
def test_what_cannot_be_read_is_one_line(run: Callable[..., Ran], write: Callable[..., Path], tmp_path: Path, command: str) -> None:
    """A missing file, a directory, and files without any event exit with 2 and one line that says why."""
    run(command, tmp_path / "missing").assert_could_not("missing", "No such file")
    run(command, tmp_path).assert_could_not(str(tmp_path), "directory")
    run(command, write(b"")).assert_could_not("stream.jsonl is empty")
    run(command, write(b" \r\n\n\t ")).assert_could_not("holds no event")
    run(command, write(b"[]")).assert_could_not("holds no event")
    run(command, write(b"\x7fELF\x02\x01\x00\xff\xfe\n\x1b[31m")).assert_could_not("holds no event", "wire.not-")
    run(command, write(b'{"type": "REPLY_STA')).assert_could_not("holds no event", "wire.truncated")
    run(command, write(b": only\n\n: comments\n\n")).assert_could_not("holds no event")


def test_what_may_not_be_read_is_one_line(run: Callable[..., Ran], write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be opened exits with 2 and one line."""
    path = write([CUSTOM])

    def refuse(*_arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    run("check", path).assert_could_not(str(path), "Permission denied")
    run("fold", path, "--onto", path).assert_could_not(str(path), "Permission denied")


def test_a_file_that_is_cut_is_read_as_far_as_it_goes(run: Callable[..., Ran], write: Callable[..., Path]) -> None:
    """A file that stops in the middle of a line gives its events, a finding and exit code 1."""
    data = RECORDING.read_bytes()
    ran = run("check", write(data[: data.rindex(b"{") + 30]))
    assert ran.code == 1
    assert ran.out.count(b"wire.truncated") == 1


def test_the_name_of_a_file_never_steers_the_terminal(run: Callable[..., Ran], write: Callable[..., Path], tmp_path: Path) -> None:
    """Control characters and bytes that are no text are shown as escapes, in every report."""
    name = "a\x1b[31m\nb" + os.fsdecode(b"\xff")
    path = write(BROKEN, name)
    for ran in (run("check", path), run("check", tmp_path / (name + "missing")), run("fold", path)):
        assert b"\x1b" not in ran.out + ran.err
        assert b"\\x1b[31m\\nb\\udcff" in ran.out + ran.err
    for line in run("check", "-f", "json", path).lines:
        REPORT.validate(line)


def test_a_mistake_in_the_command_is_said(run: Callable[..., Ran]) -> None:
    """Unknown commands, options and values exit with 2 and name what is wrong; no command shows the help."""
    for arguments, word in (
        (["bogus"], b"bogus"),
        (["check"], b"FILE"),
        (["check", "--bogus", "x"], b"--bogus"),
        (["check", "x", "--format", "yaml"], b"yaml"),
        (["fold", "x", "--fail-on", "never"], b"never"),
        ([], b"Usage"),
    ):
        ran = run(*arguments)
        assert ran.code == 2
        assert word in ran.err + ran.out
        assert b"Traceback" not in ran.err


def test_help_and_version_exit_with_0(run: Callable[..., Ran]) -> None:
    """--version and --help of each command print and exit with 0; the help tells the exit codes."""
    assert run("--version").out.startswith(b"eventfold ")
    assert b"Exit codes: 0 clean, 1 findings" in run("--help").out
    for command in ("check", "fold", "explain", "schema"):
        ran = run(command, "--help")
        assert (ran.code, ran.err) == (0, b"")


# --- fold


def test_fold_prints_the_messages(run: Callable[..., Ran]) -> None:
    """--format json is one message a line, as the library folds it; the text shows what the message says."""
    messages = check_and_fold(RECORDING.read_bytes()).messages
    ran = run("fold", "--format", "json", RECORDING)
    assert (ran.code, ran.lines, ran.err) == (0, messages, b"")
    text = run("fold", RECORDING).out.decode()
    assert all(part in text for part in (messages[0]["name"], "assistant", "success"))


def test_fold_prints_messages_whatever_the_findings(run: Callable[..., Ran], write: Callable[..., Path]) -> None:
    """Messages go to standard output, findings to standard error, and the exit code is check's."""
    ran = run("fold", "-f", "json", write(BROKEN))
    assert (ran.code, [message["id"] for message in ran.lines]) == (1, ["r"])
    assert b"error reply.missing-end" in ran.err


def test_reply_chooses_one_message(run: Callable[..., Ran], write: Callable[..., Path]) -> None:
    """--reply prints that reply alone; one that is not there exits with 2 and names those that are."""
    path = write([START, END, {**START, "id": "3", "reply_id": "other"}, {**END, "id": "4", "reply_id": "other"}])
    assert [message["id"] for message in run("fold", "-f", "json", path).lines] == ["r", "other"]
    assert [message["id"] for message in run("fold", "-f", "json", "--reply", "other", path).lines] == ["other"]
    run("fold", "--reply", "none", path).assert_could_not("'none'", "'r', 'other'")


@pytest.mark.parametrize("form", ["object", "spread", "array", "jsonl"])
def test_onto_continues_stored_messages(run: Callable[..., Ran], write: Callable[..., Path], form: str) -> None:
    """--onto takes a document, an array or lines, and the parked message goes on."""
    events = events_of(RECORDING.with_name("hitl_confirm_approved.events.jsonl"))
    asked = 1 + next(i for i, event in enumerate(events) if event["type"] == "REQUIRE_USER_CONFIRM")
    parked, whole = (check_and_fold(lines_of(part)).messages for part in (events[:asked], events))
    other: Wire = {**parked[0], "id": "other", "content": [], **DONE}
    onto = {
        "object": json.dumps(parked[0]).encode(),
        "spread": json.dumps(parked[0], indent=2).encode(),
        "array": json.dumps([parked[0], other]).encode(),
        "jsonl": lines_of([parked[0], other]),
    }[form]
    reply = parked[0]["id"]
    ran = run("fold", "-f", "json", "--onto", write(onto, "onto.json"), "--reply", reply, write(events[asked:]))
    assert (ran.code, ran.lines, ran.err) == (0, whole, b"")


def test_onto_takes_messages_only(run: Callable[..., Ran], write: Callable[..., Path], tmp_path: Path) -> None:
    """--onto with events, broken messages or no file exits with 2, and so does a stream that holds messages."""
    stream, message = write([CUSTOM]), write(check_and_fold(PARKED.read_bytes()).messages, "message.json")
    run("fold", "--onto", stream, stream).assert_could_not("stream.jsonl", "it holds events")
    run("fold", "--onto", write([{"role": "user", "content": 7}], "broken"), stream).assert_could_not("broken", "message.schema")
    run("fold", "--onto", tmp_path / "missing", stream).assert_could_not("missing", "No such file")
    run("fold", message).assert_could_not("message.json", "messages, not events")


def test_numbers_beyond_64_bits_are_printed(run: Callable[..., Ran], write: Callable[..., Path]) -> None:
    """A producer's own data may hold integers of any size."""
    path = write([{**START, "metadata": {"n": 2**80}}, END])
    for onto in ((), ("--onto", write(run("fold", "-f", "json", path).out, "onto"))):
        assert run("fold", "-f", "json", path, *onto).lines[0]["metadata"] == {"n": 2**80}


def test_thinking_is_told_from_text_without_colours(run: Callable[..., Ran], write: Callable[..., Path]) -> None:
    """In a pipe, too, what the agent thought does not look like what it said."""
    content = [{"type": "thinking", "id": "1", "thinking": "perhaps"}, {"type": "text", "id": "2", "text": "surely"}]
    stored = {"role": "assistant", "name": "a", "id": "r", "created_at": TIME, "content": content}
    shown = run("fold", "--onto", write([stored], "onto"), write([CUSTOM])).out.decode()
    assert [line.strip("\u2502 ") for line in shown.splitlines()[1:3]] == ["thinking: perhaps", "surely"]


def test_a_value_is_quoted_as_json(run: Callable[..., Ran], write: Callable[..., Path]) -> None:
    """Whoever sent it need not know Python, whose limits are not what is said, either."""
    shown = run("check", write([None, {**CUSTOM, "name": True, "value": None}])).out.decode()
    assert "null is no JSON object" in shown
    assert "/name: true is not of type 'string'" in shown
    assert "a number of 5,000 digits" in run("check", write(b'{"n": %s}' % (b"1" * 5000))).err.decode()


def test_a_message_never_steers_the_terminal(run: Callable[..., Ran], write: Callable[..., Path]) -> None:
    """Control characters, ANSI escapes and marks that reorder text are shown as escapes, in messages and findings."""
    evil = "\x1b[31mred\x1b]0;title\x07\r\x9b\u202e"
    content = [
        {"type": "text", "id": "1", "text": evil},
        {"type": "thinking", "id": "2", "thinking": evil},
        {"type": "hint", "id": "3", "hint": evil, "source": evil},
        {"type": "data", "id": "4", "name": evil, "source": {"type": "url", "url": evil, "media_type": evil}},
        {"type": "tool_call", "id": "5", "name": evil, "input": evil, "state": "asking"},
        {"type": "tool_result", "id": "5", "name": evil, "output": [{"type": "text", "id": "6", "text": evil}]},
    ]
    stored = {"role": "assistant", "name": evil, "id": evil, "created_at": TIME, "content": content}
    stream = write([{**CUSTOM, "created_at": evil}, {**CUSTOM, "id": "d", evil: 1}, {**END, "reply_id": evil, "finished_reason": evil}])
    for ran in (
        run("fold", "--onto", write([stored], "onto"), stream),
        run("check", stream),
        run("check", write([{**stored, "role": evil}], "broken")),
        run("check", write([{**stored, evil: 1}], "noted")),
    ):
        shown = ran.out + ran.err
        assert b"\\x1b[31m" in shown
        assert [char for char in ("\x1b", "\x07", "\r", "\x9b", "\u202e") if char.encode() in shown] == []


# --- stored messages


def stored(role: str, *content: Wire, **fields: Any) -> Wire:
    """Make a stored message."""
    return {"role": role, "name": "n", "id": f"{role}-1", "created_at": TIME, "content": list(content), **fields}


@pytest.mark.parametrize("form", ["object", "spread", "array", "jsonl"])
def test_stored_messages_are_checked_in_every_form(run: Callable[..., Ran], write: Callable[..., Path], form: str) -> None:
    """`check` recognises messages as a document, an array or lines, and counts them."""
    messages = [stored("user", TEXT), stored("assistant", TEXT, CALL, RESULT, **DONE), stored("system", TEXT), stored("tool", RESULT)]
    data, count = {
        "object": (json.dumps(messages[0]).encode(), "1 message"),
        "spread": (json.dumps(messages[1], indent=4).encode(), "1 message"),
        "array": (json.dumps(messages).encode(), "4 messages"),
        "jsonl": (lines_of(messages), "4 messages"),
    }[form]
    path = write(data)
    assert run("check", "--fail-on", "note", path) == (0, f"{path}: {count}: clean\n".encode(), b"")


@pytest.mark.parametrize("path", RECORDINGS[::4], ids=lambda path: path.stem)
def test_what_is_folded_can_be_checked(run: Callable[..., Ran], write: Callable[..., Path], path: Path) -> None:
    """The message of a real stream passes as a stored message, without a note."""
    ran = run("check", "-f", "json", "--fail-on", "note", write(run("fold", "-f", "json", path).out))
    assert [line for line in ran.lines if line["kind"] == "finding"] == []
    assert ran.code == 0


@pytest.mark.parametrize(
    ("message", "findings"),
    [
        (stored("user", CALL), [("message.schema", "/content/0/type")]),
        (stored("system", {**TEXT, "type": "thinking"}), [("message.schema", "/content/0/type")]),
        (stored("tool", {**RESULT, "type": "text"}), [("message.schema", "/content/0/type")]),
        (stored("system", {"type": "hint", "id": "x", "hint": "y"}), [("message.schema", f"/content/0{end}") for end in ("", "/type")]),
        (stored("assistant", {**TEXT, "type": "image"}), [("message.schema", "/content/0/type")]),
        (stored("robot", TEXT), [("message.schema", "/role")]),
        (stored("user", {"type": "text", "id": "t"}), [("message.schema", "/content/0")]),
        (stored("user", TEXT, x_more=1), [("message.unknown-field", "/x_more")]),
        (stored("assistant", CALL, **DONE), [("message.call-without-result", "/content/0")]),
        (stored("assistant", CALL), []),
        (stored("assistant", RESULT, **DONE), [("message.result-without-call", "/content/0")]),
        (stored("assistant", RESULT, CALL, **DONE), [("message.result-without-call", "/content/0")]),
        (stored("assistant", TEXT, TEXT, **DONE), [("message.repeated-id", "/content/1")]),
        (stored("user", {**TEXT, "text": "\ud800"}), [("message.lone-surrogate", "/content/0/text")]),
    ],
)
def test_a_stored_message_is_held_against_its_role(
    run: Callable[..., Ran], write: Callable[..., Path], message: Wire, findings: list[tuple[str, str]]
) -> None:
    """What the role forbids is an error with its pointer, pairing of calls and results a warning, a new field a note."""
    ran = run("check", "-f", "json", write([stored("user", TEXT), message]))
    found = [line for line in ran.lines if line["kind"] == "finding"]
    assert [(line["rule"], line["pointer"]) for line in found] == findings
    assert [(line["index"], line["line"], line["severity"]) for line in found] == [(1, 2, RULES[rule]["severity"]) for rule, _ in findings]
    assert ran.code == int("error" in {line["severity"] for line in found})


# --- explain and schema


def test_explain_lists_and_tells_each_rule(run: Callable[..., Ran]) -> None:
    """`explain` lists every rule with its severity, those of the dialects last; with a rule's id it tells why there is one."""
    listed = run("explain")
    rules = all_rules()
    assert list(rules)[: len(RULES)] == list(RULES)
    assert [line.split()[:2] for line in listed.out.decode().splitlines()] == [[rule, entry["severity"]] for rule, entry in rules.items()]
    assert [line["id"] for line in run("explain", "--format", "json").lines] == list(rules)
    entry = RULES["block.after-end"]
    assert all(text in run("explain", "block.after-end").out.decode() for text in (entry["title"], entry["why"], entry["severity"]))
    assert run("explain", "-f", "json", "block.after-end").lines == [{"id": "block.after-end", **entry}]
    run("explain", "block.after_end").assert_could_not("Did you mean 'block.after-end'?")
    run("explain", "\x1b[31m").assert_could_not("\\x1b[31m")


def test_schema_prints_the_contract_or_one_type(run: Callable[..., Ran]) -> None:
    """`schema` prints the bundle, one type with what it refers to, or the names; each is a schema that holds."""
    bundle = json.loads(run("schema").out)
    names = run("schema", "--list").out.decode().split()
    assert names == list(bundle["$defs"])
    one = json.loads(run("schema", "TextBlockDeltaEvent").out)
    judge: Any = Draft202012Validator
    judge.check_schema(one)
    assert set(one["$defs"]) < set(names)
    assert not judge(one).is_valid({"type": "TEXT_BLOCK_DELTA"})
    run("schema", "TextBlockDelta").assert_could_not("Did you mean")
    run("schema", "--list", "TextBlock").assert_could_not("--list lists all types")


# --- as a program


def test_standard_input_is_read_as_a_stream() -> None:
    """`-` is standard input, for both commands."""
    data = RECORDING.read_bytes()
    assert program("check", "-", given=data).out.endswith(b"1 reply: clean\n")
    assert program("fold", "-f", "json", "-", given=data).lines == check_and_fold(data).messages
    program("check", "-", given=b"").assert_could_not("- is empty")


def test_a_closed_standard_stream_is_one_line() -> None:
    """With standard input or output closed, the command says so."""

    def closed(*descriptors: int) -> Callable[[], None]:
        def close() -> None:
            for descriptor in descriptors:
                os.close(descriptor)

        return close

    program("check", "-", before=closed(0)).assert_could_not("standard input is closed")
    program("check", RECORDING, before=closed(1)).assert_could_not("standard output is closed")
    assert program("check", RECORDING, before=closed(2))[:2] == (0, program("check", RECORDING).out)


def test_an_output_that_is_full_is_one_line() -> None:
    """What cannot be written is said, in both forms."""
    for form in ("text", "json"):
        with Path("/dev/full").open("wb") as full:
            program("check", "-f", form, RECORDING, stdout=full).assert_could_not("cannot be written", "No space left")


@pytest.mark.parametrize("arguments", [("--help",), ("check", "--help")])
def test_help_that_cannot_be_written_is_one_line(arguments: tuple[str, ...]) -> None:
    """Help ends as all else does when it cannot be written, or nobody reads it; a mistake that nobody hears is one all the same."""
    with Path("/dev/full").open("wb") as full:
        program(*arguments, stdout=full).assert_could_not("cannot be written", "No space left")
    command = [sys.executable, "-m", "eventfold.cli"]
    with subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read().decode() == "eventfold: the reader of the output has gone\n"
        assert running.wait() == 141
    with Path("/dev/full").open("wb") as full:
        assert subprocess.run([*command, "bogus"], stderr=full, check=False).returncode == 2


@pytest.mark.parametrize("arguments", [("check",), ("check", "-f", "json"), ("fold",), ("fold", "-f", "json")])
def test_a_reader_that_goes_away_is_one_line(write: Callable[..., Path], arguments: tuple[str, ...]) -> None:
    """When nobody reads a big output any more, the command stops with one line and no traceback."""
    path = write([{**START, "id": f"{i}", "reply_id": f"reply-{i}", "name": "n" * 300} for i in range(1500)])
    command = [sys.executable, "-m", "eventfold.cli", *arguments, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b"eventfold: the reader of the output has gone\n"
    assert running.returncode == 141


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let children be interrupted, also where the tests run in the background of a shell, which has them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_while_the_program_loads_is_one_line(tmp_path: Path) -> None:
    """Ctrl-C in the first moments ends a command in no other way."""
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt", "utf-8")
    command = [sys.executable, "-m", "eventfold.cli", "check", "-"]
    ended = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"eventfold: interrupted\n")


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_is_one_line() -> None:
    """Ctrl-C while standard input is read ends the command with one line and the shell's code for it."""
    command = [sys.executable, "-m", "eventfold.cli", "check", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stderr is not None
        running.stdin.write(lines_of([CUSTOM]))
        running.stdin.flush()
        _wait_until_asleep_in_read(running.pid)
        running.send_signal(signal.SIGINT)
        assert running.stderr.read() == b"eventfold: interrupted\n"
    assert running.returncode == 130


def _wait_until_asleep_in_read(pid: int) -> None:
    """Wait until a process has read its pipe empty and sleeps in the next read."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        called = Path(f"/proc/{pid}/syscall").read_text().split()
        # On Linux x86-64 and arm64: read(0, ...).
        if called[:2] in (["0", "0x0"], ["63", "0x0"]):
            return
        time.sleep(0.02)
    pytest.fail("the command never read its standard input")


def test_any_encoding_of_the_terminal_will_do(write: Callable[..., Path]) -> None:
    """What an encoding lacks is shown as an escape, never a traceback."""
    path = write([{**START, "name": "\u00e9\U0001f600"}, {**END, "reply_id": "\u2603"}])
    for command in ("check", "fold"):
        ran = program(command, path, env={"PYTHONIOENCODING": "ascii"})
        assert ran.code == 1
        assert (ran.out + ran.err).isascii()
        assert b"\\u2603" in ran.out + ran.err


def test_the_installed_command_is_the_same() -> None:
    """The script that installation makes runs the same program."""
    script = Path(sys.executable).with_name("eventfold")
    ended = subprocess.run([script, "check", RECORDING], capture_output=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout) == program("check", RECORDING)[:2]


def test_vectors_are_listed_and_copied(run: Callable[..., Ran], tmp_path: Path) -> None:
    """All are listed with their intent; the copy has its own schema, and never lands on something that is there."""
    listed = run("vectors").out.decode().splitlines()
    foreign = [line for line in listed if line.startswith("dialects/")]
    assert len(listed) - len(foreign) == len(list(vectors()))
    assert len(foreign) == sum(len(list(dialect_vectors(name))) for name in NAMES) > 0
    assert any(line.startswith("accept/confirmation/edited  The user edits") for line in listed)
    assert any(line.startswith("dialects/gemini/usage-in-each-chunk  The usage in each") for line in listed)
    target = tmp_path / "new" / "vectors"
    copied = run("vectors", "--to", target)
    assert copied.code == 0
    assert f"{len(listed)} vectors" in copied.out.decode()
    assert list(vectors(target)) == list(vectors())
    assert all(list(dialect_vectors(name, target)) == list(dialect_vectors(name)) for name in NAMES)
    folders, schemas = {"accept", "reject", "dialects"}, {"vector.schema.json", "dialect-vector.schema.json"}
    assert {path.name for path in target.iterdir()} == {*folders, *schemas, "manifest.json", "README.md"}
    again = run("vectors", "--to", target)
    assert (again.code, again.err.decode().count("\n")) == (2, 1)
    assert "is there already" in again.err.decode()
    (tmp_path / "file").write_text("")
    refused = run("vectors", "--to", tmp_path / "file" / "vectors")
    assert (refused.code, refused.err.decode().count("\n")) == (2, 1)


def test_sarif_names_rules_and_places(run: Callable[..., Ran], write: Callable[..., Path], tmp_path: Path) -> None:
    """Findings have file and line, rules their reasons, and a file that cannot be read is a notification."""
    broken = write([START, {**START, "id": "e2"}])
    ran = run("check", "-f", "sarif", broken, tmp_path / "none")
    assert ran.code == 2
    [document] = [json.loads(ran.out)]
    [logged] = document["runs"]
    rules = {rule["id"]: rule for rule in logged["tool"]["driver"]["rules"]}
    assert set(rules) == set(RULES)
    result = logged["results"][0]
    assert (result["ruleId"], result["level"]) == ("reply.already-started", "error")
    assert list(rules)[result["ruleIndex"]] == result["ruleId"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 2}
    assert not logged["invocations"][0]["executionSuccessful"]
    assert "cannot be read" in logged["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
