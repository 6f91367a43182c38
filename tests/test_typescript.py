"""
The reducer in TypeScript (tests/harnesses/typescript) against the fold in Python.

Law: two interpreters that share nothing but schemas/ give the same messages, for valid streams and for broken ones.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from eventfold_models.tables import RULES, WIRE_VERSION
from hypothesis import given, note
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from rfc8785 import dumps as canonical
from support import ROOT, Wire, lines_of, no_typescript

from eventfold import check_and_fold
from eventfold.fuzz.breaking import broken_streams
from eventfold.fuzz.mutations import Broken, mutations
from eventfold.fuzz.strategies import streams
from eventfold.vectors import vectors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HARNESS = ROOT / "tests/harnesses/typescript"
#: The protocol does not say how many ended replies are held.
VECTORS = [vector for vector in vectors() if "events" in vector and not {"keep_ended", "max_open"} & vector.keys()]
#: Rules that a stream of JSON objects can break: the others are about bytes, or about stored messages.
BREAKABLE = [rule for rule in RULES if rule.split(".")[0] not in {"wire", "message"} and rule != "event.not-object"]
PROTOCOL = json.loads((ROOT / "schemas/meta/harness.json").read_text("utf-8"))


class Reducer:
    """The program, running: one stream after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._seq = 0

    def ask(self, request: Wire) -> Wire:
        """Send a request and give the answer, which fits the protocol."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        # JavaScript writes a double without its point, however large: what it writes is read as the double that it was.
        answer = json.loads(self._process.stdout.readline(), parse_int=float)
        validator: Any = Draft202012Validator(PROTOCOL)
        validator.validate(answer)
        return answer

    def fold(self, events: list[Wire]) -> list[bytes]:
        """Give the messages of a stream, each in canonical form."""
        self._seq += 1
        answer = self.ask({"cmd": "run", "seq": self._seq, "events": events})
        assert answer["seq"] == self._seq
        assert "messages" in answer, answer
        return [canonical(message) for message in answer["messages"]]


def fold(events: list[Wire]) -> list[bytes]:
    """Give the messages that the Python fold makes, each in canonical form."""
    return [canonical(message) for message in check_and_fold(lines_of(events)).messages]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the reducer, strictly."""
    if no_typescript():
        pytest.skip(no_typescript())
    # A folder of its own, since several workers may compile at the same time.
    folder = tmp_path_factory.mktemp("typescript")
    shutil.copy(HARNESS / "package.json", folder)
    (folder / "node_modules").symlink_to(HARNESS / "node_modules")
    compiler = HARNESS / "node_modules/typescript/bin/tsc"
    command = ["node", str(compiler), "--project", str(HARNESS), "--outDir", str(folder / "build")]
    compiled = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (compiled.returncode, compiled.stdout) == (0, "")
    return folder


@pytest.fixture(scope="module")
def reducer(build: Path) -> Iterator[Reducer]:
    """Start the reducer as the harness that package.json names."""
    command = json.loads((build / "package.json").read_text("utf-8"))["scripts"]["harness"].split()
    with subprocess.Popen(command, cwd=build, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        running = Reducer(process)
        started = running.ask({"cmd": "start", "protocol": 1, "wire": WIRE_VERSION})
        assert started["language"] == "TypeScript"
        yield running
        process.communicate('{"cmd": "stop"}\n', timeout=10)
        assert process.returncode == 0


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_the_vectors(reducer: Reducer, vector: Wire) -> None:
    """Every message of every stream, whole."""
    assert reducer.fold(vector["events"]) == [canonical(message) for message in vector["messages"]]


@given(streams(redelivered=True))
def test_valid_streams(reducer: Reducer, stream: list[Wire]) -> None:
    """Both reducers give the same messages."""
    assert reducer.fold(stream) == fold(stream)


@given(broken_streams())
def test_broken_streams(reducer: Reducer, stream: list[Wire]) -> None:
    """Both repair alike, and drop alike what no schema allows."""
    note(lines_of(stream).decode())
    assert reducer.fold(stream) == fold(stream)


@given(st.sampled_from(BREAKABLE).flatmap(mutations))
def test_each_rule_broken(reducer: Reducer, broken: Broken) -> None:
    """Both repair what breaks just one rule alike, whichever it is."""
    stream = [json.loads(line) for line in broken.data.splitlines()]
    assert reducer.fold(stream) == fold(stream)


def test_a_stream_of_many_replies(reducer: Reducer) -> None:
    """Both give up the oldest ended replies, and keep their messages."""
    stream: list[Wire] = []
    for number in range(1010):
        head = {"created_at": "2026-01-01T00:00:00", "reply_id": f"r{number}", "session_id": "s"}
        stream += [{**head, "type": "REPLY_START", "id": "1", "name": "n"}, {**head, "type": "REPLY_END", "id": "2"}]
    late = {"type": "REPLY_START", "id": "3", "created_at": "2026-01-01T00:00:01", "session_id": "s", "name": "late"}
    stream += [{**late, "reply_id": "r0"}, {**late, "reply_id": "r1009"}]
    assert reducer.fold(stream) == fold(stream)
