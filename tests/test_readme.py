"""The README keeps what it promises: its commands are those that are run, its examples work."""

from __future__ import annotations

import subprocess
import sys

from eventfold_models.tables import WIRE_VERSION
from support import ROOT

from eventfold.dialects import NAMES

README = (ROOT / "README.md").read_text("utf-8")


def test_ci_runs_the_readmes_test_command() -> None:
    """.ci/run holds the README's second command, to the letter."""
    commands = [block.split("```")[0].strip() for block in README.split("```sh\n")[1:3]]
    assert len(commands) == 2
    assert all("\n" not in command for command in commands)
    assert commands[1] in (ROOT / ".ci/run").read_text("utf-8").splitlines()


def test_the_first_command_shows_the_edited_call() -> None:
    """The recording of the README folds to the message that it announces."""
    command = README.split("```sh\n")[1].split("```")[0]
    recording = command.split("eventfold fold ")[1].strip()
    result = subprocess.run(
        [sys.executable, "-m", "eventfold.cli", "fold", recording], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "/tmp/only-this" in result.stdout  # noqa: S108  what the user wrote in the recording


def test_the_python_example_works() -> None:
    """The names of the Python screen are there, and do what the comments say."""
    block = README.split("```python\n")[1].split("```")[0]
    prelude = (
        "import json, eventfold.models as m\n"
        f"path = {str(ROOT / 'tests/recordings/agentscope-2.0.11/hitl_parked.events.jsonl')!r}\n"
        "events = [m.EVENT.validate_json(line) for line in open(path, 'rb')]\n"
        "stored_message = __import__('eventfold').fold(events)[0]\n"
    )
    code = prelude + block.replace('"stream.jsonl"', "path")
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)


def test_the_harness_to_copy_is_the_one_that_is_tested() -> None:
    """The harness in the text is tests/harnesses/python/harness.py, which test_fuzz.py runs."""
    shown = README.split("<!-- harness -->\n```python\n")[1].split("```\n<!-- /harness -->")[0]
    assert shown == (ROOT / "tests/harnesses/python/harness.py").read_text("utf-8")


def test_every_dialect_is_named_with_its_page() -> None:
    """The table of dialects holds those that there are, in their order."""
    shown = README.split("| dialect | speaks |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    assert [line.split("|")[1].strip() for line in shown] == [f"[{n}](src/eventfold/dialects/{n}.md)" for n in NAMES if n != "eventfold"]


def test_versions_are_those_of_the_schemas() -> None:
    """The wire's version in the text is the schemas', and the changelog has it."""
    assert f"({WIRE_VERSION})" in README
    assert f"## {WIRE_VERSION}\n" in (ROOT / "schemas/CHANGELOG.md").read_text("utf-8")
