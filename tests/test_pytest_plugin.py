"""The pytest plugin, in a test run of its own."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from support import RECORDINGS

if TYPE_CHECKING:
    from pathlib import Path

TESTS = """
import json
from eventfold import check_and_fold
from eventfold.fuzz.pytest import assert_folds_to, assert_valid, eventfold_streams
from hypothesis import settings

DATA = open({path!r}, "rb").read()
EVENTS = [json.loads(line) for line in DATA.splitlines()]


def test_valid():
    assert_valid(DATA)
    assert_valid(EVENTS)


def test_folds():
    [message] = check_and_fold(DATA).messages
    assert_folds_to(EVENTS, message)
    assert_folds_to(EVENTS, {{**message, "name": "x"}}, unfilled=["/name"])


def test_broken():
    assert_valid([*EVENTS, EVENTS[-1] | {{"id": "again"}}])


def test_other():
    [message] = check_and_fold(DATA).messages
    assert_folds_to(EVENTS, {{**message, "name": "x"}})


@settings(max_examples=5)
@eventfold_streams(most=1)
def test_random(stream):
    assert_valid(stream)


def test_vector(eventfold_vector):
    if not {{"keep_ended", "max_open"}} & eventfold_vector.keys():
        assert_folds_to(eventfold_vector["events"], eventfold_vector["messages"])
"""


def test_assertions_streams_and_vectors(tmp_path: Path) -> None:
    """What is right passes; what is not fails, and says where and by which rule; the vectors are all there."""
    (tmp_path / "test_mine.py").write_text(TESTS.format(path=str(RECORDINGS[0])), "utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-c",
        "/dev/null",
        "--rootdir",
        str(tmp_path),
    ]
    result = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 1
    assert "2 failed" in result.stdout
    assert "error reply.already-ended" in result.stdout
    assert "/0/name: expected 'x', folded" in result.stdout
    passed = int(result.stdout.rsplit("failed, ", 1)[1].split(" passed")[0])
    assert passed > 200


def test_nothing_heavy_is_loaded_for_those_who_do_not_ask() -> None:
    """The plugin is loaded in every test run: it imports neither hypothesis nor pydantic."""
    code = "import sys, eventfold.fuzz.pytest; print({'hypothesis', 'pydantic', 'jsonschema'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"
