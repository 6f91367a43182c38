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
from eventfold.fuzz.mutations import Broken, mutations
from eventfold.fuzz.strategies import streams
from eventfold.jsonvalue import is_array, is_object
from eventfold.table import PLANS
from eventfold.vectors import vectors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hypothesis.strategies import DrawFn

HARNESS = ROOT / "tests/harnesses/typescript"
VECTORS = [vector for vector in vectors() if "events" in vector]
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
    if "keep_ended" in vector:
        pytest.skip("the protocol does not say how many ended replies are held")
    assert reducer.fold(vector["events"]) == [canonical(message) for message in vector["messages"]]


@given(streams(redelivered=True))
def test_valid_streams(reducer: Reducer, stream: list[Wire]) -> None:
    """Both reducers give the same messages."""
    assert reducer.fold(stream) == fold(stream)


def nested(depth: int) -> Any:
    """Nest a list in lists."""
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


#: What is put in place of a value: other types, the borders of what may be, text that is not base64 or not well-formed.
_ODD = st.one_of(
    st.sampled_from((None, True, False, 0, -1, 1.0, 0.5, 2.0**53 - 1, 2.0**53, 1e300)),
    st.sampled_from(("", "QQ", "QQ==", "QR==", "Q Q=", "=", "\ud800", "a\udc00b", "\U0001f680", "\u2028")),
    st.sampled_from(("error", "denied", "success", "running", "finished", "user", "system", "a/0")),
    st.sampled_from(
        (
            [],
            ["\udfff"],
            {},
            {"type": "text"},
            {"type": "data", "id": "a"},
            {"__proto__": 1},
            json.loads('{"\\ud800": 1, "\\udc00": 2, "2": 3, "1": 4}'),
            nested(98),
            nested(99),
            nested(100),
        )
    ),
)


@st.composite
def broken_streams(draw: DrawFn) -> list[Wire]:
    """Draw a valid stream, then break it: events dropped, doubled, swapped, moved, with another id or type, or with odd values."""
    stream: list[Wire] = draw(streams(most=2, moves=10))
    for _ in range(draw(st.integers(1, 6))):
        how = draw(st.sampled_from(("drop", "double", "again", "again", "swap", "move", "rename", "retype", "odd", "odd")))
        place = draw(st.integers(0, len(stream) - 1))
        other = draw(st.integers(0, len(stream) - 1))
        event = stream[place]
        if how == "drop":
            # The last one stays: a stream without events is no stream.
            del stream[place : place + (len(stream) > 1)]
        elif how == "again":
            stream.insert(other, {**event, "created_at": "2026-01-09"} if draw(st.booleans()) else event)
        elif how == "double":
            stream.insert(other, {**event, "id": f"{event.get('id')}*"})
        elif how == "swap":
            stream[place], stream[other] = stream[other], event
        elif how == "move":
            stream.insert(other, stream.pop(place))
        elif how == "retype":
            stream[place] = {**event, "type": draw(st.sampled_from(list(PLANS)))}
        elif how == "rename":
            keys = [key for key in ("id", "block_id", "tool_call_id", "reply_id") if key in event]
            stream[place] = {**event, **{key: draw(st.sampled_from(("a", "b", "r0", "r1"))) for key in keys[draw(st.integers(0, 1)) :]}}
        else:
            stream[place] = draw(with_odd_value(event))
    return stream


@st.composite
def with_odd_value(draw: DrawFn, value: Any) -> Any:
    """Draw the value with something in it replaced, removed or added."""
    if is_object(value) and value:
        key = draw(st.sampled_from((*value, "x_new", "metadata", "extra", "__proto__")))
        if key in value and draw(st.integers(0, 9)) == 0:
            return {name: item for name, item in value.items() if name != key}
        if key in value and draw(st.booleans()):
            return {**value, key: draw(with_odd_value(value[key]))}
        return {**value, key: draw(_ODD)}
    if is_array(value) and value:
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], draw(with_odd_value(value[place])), *value[place + 1 :]]
    return draw(_ODD)


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
