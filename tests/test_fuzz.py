"""Fuzzing reducers: each classic fault is found and shrunk, and what a program does wrong is reported for what it is."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from eventfold_models.tables import EVENTS, RULES
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support import ROOT, Wire

from eventfold import cli
from eventfold.fuzz.breaking import broken_streams
from eventfold.fuzz.campaign import Campaign, Plan
from eventfold.fuzz.cases import case_of, rule_names, vector_cases
from eventfold.fuzz.comparison import differences
from eventfold.fuzz.features import features_of
from eventfold.fuzz.harness import Answer, CannotStart, Failure, Program, PythonHarness, Skipped
from eventfold.fuzz.shrinking import shrink
from eventfold.vectors import vectors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventfold.fuzz.campaign import Result

HARNESSES = ROOT / "tests/harnesses"
MINIMAL = [sys.executable, str(HARNESSES / "python/harness.py")]

#: Wrong reducers, and the place at which each is wrong.
WRONG = {
    "usage_overwritten": "valid /usage/input_tokens",
    "base64_joined_as_text": "valid /content/data/source/data",
    "the_open_block": "valid /content/text/text",
    "result_by_position": "valid /content/tool_result/output",
    "times_from_the_clock": "valid /content/text/created_at",
    "redeliveries_applied": "valid /content/text/text",
    "redelivery_by_bare_id": "event.id-reused /content/text/text",
    "edits_ignored": "valid /content/tool_call/input",
    "external_results_ignored": "valid /content/",
    "last_end_wins": "reply.already-ended /finished_at",
    "one_reply_a_stream": "valid /fewer messages",
    "empty_deltas_dropped": "valid /content/tool_result/output/fewer items",
    "final_text_ignored": "valid /content/text/text",
    "sorted_blocks": "valid /content/text/id",
    "unknown_types_raise": "valid error: KeyError: 'no such event'",
}


@pytest.fixture(autouse=True)
def wrong_reducers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the wrong reducers where they can be imported."""
    monkeypatch.setattr(sys, "path", [str(HARNESSES / "wrong"), *sys.path])


def run_python(name: str, **plan: Any) -> Result:
    """Run a campaign against a wrong reducer."""
    options: dict[str, Any] = {"seed": 1, "max_examples": 10, "tries": 150, **plan}
    return Campaign(lambda: PythonHarness(f"reducers:{name}"), Plan(**options)).run()


@pytest.mark.parametrize("name", WRONG)
def test_each_classic_fault_is_found_and_shrunk(name: str) -> None:
    """A reducer with one fault fails at that place, on a few events: two calls with their results take eleven."""
    result = run_python(name)
    found = [group for group in result.failures if group.key.startswith(WRONG[name])]
    assert found, sorted(result.groups)
    assert min(len(group.case.events) for group in found) <= 11


#: Faults of AgentScope's reducer, by number of the list of its faults, and the key under which each must show.
FAULTS = {
    4: "block.already-open /content/more items",
    5: "tool-call.reused-id /content/tool_call/finished_at",
    10: "tool-result.already-ended /content/tool_result/finished_at",
    11: "reply.already-ended /finished_reason",
    15: "tool-call.unknown /content/fewer items",
    16: "tool-result.unknown-call /content/more items",
    17: "model-call.not-started /usage",
    19: "valid /content/tool_call/input",
    20: "valid /content/tool_call/state",
    24: "data.not-base64 error: Error: Incorrect padding",
    29: "block.not-for-role /content/more items",
    34: "valid /content/text/created_at",
    35: "valid /structured_output",
}


def test_the_faults_of_agentscopes_reducer_are_found() -> None:
    """AgentScope's own reducer fails at the places of its known faults, each on fewer than ten events."""
    command = [sys.executable, str(HARNESSES / "agentscope/harness.py")]
    result = Campaign(lambda: Program(command), Plan(seed=1, max_examples=5, tries=300)).run()
    sizes = {number: len(result.groups[key].case.events) for number, key in FAULTS.items() if key in result.groups}
    assert set(sizes) == set(FAULTS)
    assert max(sizes.values()) < 10


def test_a_right_reducer_passes_everything() -> None:
    """The fold itself has no failure, valid streams and broken ones, and every stage was tried."""
    result = run_python("fold", invalid=True)
    assert (result.groups, result.stale) == ({}, [])
    assert all(tally.tried for tally in result.tallies.values())
    assert result.coverage.types >= set(EVENTS)
    assert result.coverage.rules >= set(rule_names()) - {"event.not-object"}


def test_the_harness_to_copy_is_right_and_short() -> None:
    """The minimal program passes, over the protocol, several at once; it has thirty lines at most."""
    plan = Plan(seed=2, max_examples=20, jobs=2)
    result = Campaign(lambda: Program(MINIMAL), plan).run()
    assert (result.groups, result.started.name, result.tallies["random"].passed) == ({}, "my reducer", 20)
    assert len((HARNESSES / "python/harness.py").read_text("utf-8").splitlines()) <= 30


@pytest.mark.parametrize(
    ("way", "kind", "detail"),
    [
        ("dies", "crash", "exit code 3\nout of cheese"),
        ("sleeps", "timeout", "no answer within 0.5 s"),
        ("chatters", "bad-line", "'Loading model ...', which is no JSON"),
        ("misspells", "bad-line", "which is no Response"),
        ("miscounts", "bad-line", "it answered seq 4, expected 3"),
    ],
)
def test_what_a_program_does_wrong_is_reported_for_what_it_is(way: str, kind: str, detail: str) -> None:
    """Crash, silence, garbage and a wrong number are told apart, and the program is started anew and goes on."""
    program = Program([sys.executable, str(HARNESSES / "wrong/misbehaving.py"), way], timeout=0.5 if way == "sleeps" else 30)
    program.start()
    stream = vector_cases()[0]
    outcomes = [program.run(stream.events) for _ in range(4)]
    program.stop()
    assert [type(outcome) for outcome in outcomes] == [Answer, Answer, Failure, Answer]
    failure = outcomes[2]
    assert isinstance(failure, Failure)
    assert failure.kind == kind
    assert detail in failure.detail


def test_a_program_that_cannot_start_says_so() -> None:
    """A program that is not there, and one that does not speak the protocol, cannot be run."""
    for command, what in ((["not-there"], "cannot be started"), ([sys.executable, "-c", "print('hi')"], "did not answer `start`")):
        with pytest.raises(CannotStart, match=what):
            Program(command).start()
    for target in ("reducers", "reducers:none", "no_such_module:fold"):
        with pytest.raises(CannotStart):
            PythonHarness(target).start()


def test_what_it_does_not_know_is_not_tried_and_not_green() -> None:
    """Features select the cases; what is left out is counted by reason, and a run that tried nothing is no success."""

    class Narrow(PythonHarness):
        """Knows text only."""

        def start(self) -> Any:
            return super().start()._replace(features=frozenset({"text"}))

    result = Campaign(lambda: Narrow("reducers:fold"), Plan(seed=1, max_examples=10)).run()
    skipped = sum(sum(tally.skipped.values()) for tally in result.tallies.values())
    assert skipped > 100
    assert 0 < result.tried < 100
    assert all("it does not know" in reason for tally in result.tallies.values() for reason in tally.skipped)


def test_what_it_does_not_fill_is_not_compared() -> None:
    """Pointers that a reducer declares are left out of the comparison, `*` for any part."""
    wanted: list[Wire] = [{"id": "r", "usage": {"input_tokens": 1}, "content": [{"type": "text", "created_at": "a", "text": "b"}]}]
    given: list[Wire] = [{"id": "r", "content": [{"type": "text", "created_at": "x", "text": "b"}]}]
    assert [each.pointer for each in differences(wanted, given)] == ["/0/usage", "/0/content/0/created_at"]
    assert differences(wanted, given, ["/usage", "/content/*/created_at"]) == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (None, 0, False),
        ({"a": None}, {}, True),
        ([1], [1.0], True),
        ("1", 1, False),
        (2**53, 2**53 + 1, True),
        (10**400, 10**400, True),
    ],
)
def test_values_are_compared_as_canonical_json(one: Any, other: Any, *, same: bool) -> None:
    """1.0 is 1, true is not; null is absent."""
    assert (differences([{"v": one}], [{"v": other}]) == []) == same


@given(broken_streams(), st.data())
def test_shrinking_keeps_what_fails_and_drops_the_rest(stream: list[Wire], data: st.DataObject) -> None:
    """A stream that fails because of the type of one of its events shrinks to that event."""
    kind = data.draw(st.sampled_from([event.get("type") for event in stream]))
    small = shrink(stream, lambda events: kind in [event.get("type") for event in events])
    assert [event.get("type") for event in small] == [kind]


@pytest.mark.parametrize("vector", [vector for vector in vectors() if "events" in vector], ids=lambda vector: vector["id"])
def test_a_vector_says_what_it_asks(vector: Wire) -> None:
    """The areas of a vector are the features that its events need."""
    assert set(vector["areas"]) == features_of(vector["events"])


# --- the command line ---------------------------------------------------------------------------


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Callable[..., tuple[int, str, str]]:
    """Run a command in this process."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["eventfold", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed: Any = capsysbinary.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, printed.out.decode(), printed.err.decode()

    return run


def fuzz(run: Callable[..., tuple[int, str, str]], name: str, *arguments: object) -> tuple[int, str, str]:
    """Fuzz a wrong reducer."""
    return run("fuzz", "--python", f"reducers:{name}", "--seed", 1, "--max-examples", 10, *arguments)


def test_a_failure_becomes_a_case_file_that_replay_tries_again(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    """Fuzz exits with 1 and writes a vector; replay says still failing, fixed, or could not run; as a vector it is tried by itself."""
    code, out, err = fuzz(run, "final_text_ignored", "--out", tmp_path / "found")
    assert (code, err) == (1, "seed 1\n")
    assert "wrong valid /content/text/text" in out
    [path] = [path for path in (tmp_path / "found").glob("accept/found/*.json") if path.name == "valid-content-text-text.json"]
    validator: Any = Draft202012Validator(json.loads((ROOT / "schemas/meta/vector.json").read_text("utf-8")))
    validator.validate(json.loads(path.read_text("utf-8")))
    assert run("replay", path, "--python", "reducers:final_text_ignored")[::2] == (1, "")
    assert run("replay", path, "--python", "reducers:fold")[:2] == (0, "fixed\n")
    assert run("replay", path, "--", "not-there")[0] == 2
    assert run("replay", path)[0] == 2
    code, out, _ = fuzz(run, "final_text_ignored", "--vectors", tmp_path / "found", "-k", "accept/found")
    assert code == 1


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"id": "a", "events": 5, "messages": []}', b'{"id": "a", "events": []}'])
def test_a_file_that_is_no_case_is_one_line(run: Callable[..., tuple[int, str, str]], tmp_path: Path, content: bytes) -> None:
    """A broken case file ends in one clear line and exit code 2."""
    path = tmp_path / "case.json"
    path.write_bytes(content)
    code, out, err = run("replay", path, "--python", "reducers:fold")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert run("replay", tmp_path / "none", "--python", "reducers:fold")[0] == 2


def test_known_failures_are_no_failures_and_stale_ones_are(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    """What --write-known lists passes with --known; an entry that does not show fails; a broken list is exit code 2."""
    path = tmp_path / "known.json"
    assert fuzz(run, "final_text_ignored", "--write-known", path)[0] == 1
    assert fuzz(run, "final_text_ignored", "--known", path)[0] == 0
    code, out, _ = fuzz(run, "fold", "--known", path)
    assert code == 1
    assert "stale" in out
    path.write_text("[]")
    assert fuzz(run, "fold", "--known", path)[0] == 2
    assert fuzz(run, "fold", "--known", tmp_path / "none")[0] == 2


def test_the_json_report_fits_its_schema_and_has_a_footer(run: Callable[..., tuple[int, str, str]]) -> None:
    """Every line fits schemas/meta/fuzz-report.json; the last says how it ended."""
    code, out, _ = fuzz(run, "final_text_ignored", "-f", "json", "--invalid")
    validator: Any = Draft202012Validator(json.loads((ROOT / "schemas/meta/fuzz-report.json").read_text("utf-8")))
    lines = [json.loads(line) for line in out.splitlines()]
    for line in lines:
        validator.validate(line)
    assert [lines[0]["kind"], lines[-1]["kind"], lines[-1]["exit"], code] == ["header", "footer", 1, 1]
    assert {line["stage"] for line in lines if line["kind"] == "stage"} == {"vectors", "rules", "random", "broken"}


def test_the_page_is_printed(run: Callable[..., tuple[int, str, str]]) -> None:
    """--format html prints one page; test_page.py looks at it."""
    code, out, _ = fuzz(run, "final_text_ignored", "-f", "html")
    assert code == 1
    assert out.startswith("<!doctype html>")
    assert out.endswith("</html>\n")


def test_the_junit_report_has_a_test_for_each_case(run: Callable[..., tuple[int, str, str]]) -> None:
    """Failures name their keys, and the numbers are those of the stages."""
    _, out, _ = fuzz(run, "final_text_ignored", "-f", "junit")
    root = ET.fromstring(out)  # noqa: S314  our own
    suites = {suite.get("name"): suite for suite in root}
    assert suites["vectors"].get("tests") == str(len(vector_cases()))
    failures = [failure.get("message") for failure in root.iter("failure")]
    assert len(failures) == sum(int(suite.get("failures", 0)) for suite in root) > 0
    assert any("valid /content/text/text" in (message or "") for message in failures)


def test_the_options_choose(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    """-k and --list choose; neither or both of a command and --python, a missing folder and nothing to try are exit code 2."""
    code, out, _ = run("fuzz", "--list", "-k", "cumulative")
    assert (code, out) == (0, "vectors  reject/block.cumulative-deltas/three-in-a-row\nrules    block.cumulative-deltas\n")
    assert len(run("fuzz", "--list")[1].splitlines()) == len(vector_cases()) + len(rule_names())
    assert run("fuzz")[0] == run("fuzz", "--python", "reducers:fold", "--", "x")[0] == 2
    assert fuzz(run, "fold", "--vectors", tmp_path / "none")[0] == 2
    assert fuzz(run, "fold", "-k", "no such case")[0] == 2
    assert fuzz(run, "fold", "--max-time", 0)[1].endswith("stopped by --max-time)\n")


def test_the_trace_is_a_dialogue_that_fits_the_protocol(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """What is traced are the lines of both sides, each in the form of schemas/meta/harness.json."""
    said: list[tuple[str, str]] = []
    program = Program(MINIMAL, trace=lambda way, line: said.append((way, line)))
    program.start()
    assert isinstance(program.run(vector_cases()[0].events), Answer)
    program.stop()
    schema = json.loads((ROOT / "schemas/meta/harness.json").read_text("utf-8"))
    forms = [("Start", ">"), ("Started", "<"), ("Run", ">"), ("Answer", "<")]
    assert [way for way, _ in said] == [way for _, way in forms]
    for (name, _), (_, line) in zip(forms, said, strict=True):
        validator: Any = Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})
        validator.validate(json.loads(line))
    assert capfdbinary.readouterr() == (b"", b"")


def test_a_skip_needs_a_reason() -> None:
    """A program may skip with a reason; without one it is a bad line."""
    script = (
        "import sys, json\n"
        "for line in sys.stdin:\n"
        "    request = json.loads(line)\n"
        "    start = {'protocol': 1, 'name': 'n', 'language': 'x'}\n"
        "    skip = {'seq': request.get('seq'), 'skipped': 'not yet' if request.get('seq') == 1 else ''}\n"
        "    print(json.dumps(start if request['cmd'] == 'start' else skip), flush=True)\n"
    )
    program = Program([sys.executable, "-c", script])
    program.start()
    first, second = (program.run([]) for _ in range(2))
    program.stop()
    assert first == Skipped("not yet")
    assert isinstance(second, Failure)
    assert second.kind == "bad-line"


def test_rules_of_cases_are_in_the_order_in_which_they_break() -> None:
    """A case is grouped by the first rule that its stream breaks."""
    events = next(vector["events"] for vector in vectors() if vector["id"].endswith("/asked-too-early"))
    assert case_of("x", "random", events).rules[0] == "tool-call.not-ended"
    assert set(case_of("x", "random", events).rules) <= set(RULES)
