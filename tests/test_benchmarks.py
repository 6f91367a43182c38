"""The benchmarks are what they say: streams made by rule, contenders that do their work, targets that are judged."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from benchmarks import plot, report
from benchmarks.contenders import CONTENDERS, FLOOR, OURS
from benchmarks.growth import exponent
from benchmarks.measure import Measured, Measurement, Timing
from benchmarks.others import no_node
from benchmarks.parts import parts
from benchmarks.targets import TARGETS, Run, Target, judged
from benchmarks.workloads import WORKLOADS, lines_of, told_by_events
from eventfold_models.tables import EVENTS
from support import ROOT

from eventfold import Severity, check

if TYPE_CHECKING:
    from benchmarks.contenders import Contender
    from benchmarks.workloads import Workload

_SCALE = 1 / 200


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_a_workload_is_the_same_every_time(workload: Workload) -> None:
    """Its bytes are a function of the scale, and it is in order; recordings may be broken off."""
    data = lines_of(list(workload.make(_SCALE)))
    assert data == lines_of(list(workload.make(_SCALE)))
    assert workload.name == "mix" or all(finding.severity == Severity.NOTE for finding in check(data))


# Not AG-UI's: two workers would install its client at once. The command proves it like all the others.
@pytest.mark.parametrize("row", [row for row in CONTENDERS if row.absent is not no_node], ids=lambda row: row.name)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_contender_does_what_it_is_measured_for(row: Contender) -> None:
    """On each workload that it takes, its result is proven as before a measurement."""
    if why := row.absent():
        pytest.skip(why)
    for workload in WORKLOADS:
        if not row.why_not(workload.name):
            events = list(workload.make(_SCALE))
            trial = row.start(row.write(events))
            try:
                assert trial.prove(trial.run(), told_by_events(events), len(events)) == ""
            finally:
                trial.close()


def test_doing_nothing_is_no_win() -> None:
    """A fold that loses a text, and a count that loses an event, are found out."""
    events = list(WORKLOADS[0].make(_SCALE))
    told = told_by_events(events)
    assert told
    rows = {row.name: row.start(row.write(events)) for row in CONTENDERS if row.name in {FLOOR, OURS}}
    messages = rows[OURS].run()
    messages.messages[0]["content"][0]["text"] += "."
    assert "texts are wrong" in rows[OURS].prove(messages, told, len(events))
    assert rows[FLOOR].prove(len(events) - 1, told, len(events)) != ""


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_the_parts_are_those_of_every_event(workload: Workload) -> None:
    """Each type of event is counted as often as it comes, on every workload."""
    events = list(workload.make(_SCALE))
    found, messages = parts(lines_of(events).splitlines())
    assert {name: row[0] for name, row in found.items()} == Counter(EVENTS[event["type"]] for event in events)
    assert all(sum(row[1:]) > 0 for row in found.values())
    assert messages > 0


def test_exponents_are_those_of_the_law() -> None:
    """Linear work has the exponent 1, quadratic 2; two sizes have none."""
    assert exponent({1: 3, 2: 6, 4: 12}) == pytest.approx(1)
    assert exponent({1: 3, 2: 12, 4: 48}) == pytest.approx(2)
    assert exponent({1: 3, 2: 12}) is None


def _nothing(_run: Run) -> None:
    """Find no figure."""


def test_targets_are_judged_by_bar_and_goal() -> None:
    """Below or above, as the target says; what was not measured is neither."""
    small = Target("", 2.5, _nothing, 1.5)
    assert [small.verdict(figure) for figure in (None, 1.4, 2.5, 2.6)] == ["not measured", "goal met", "bar met", "not met"]
    large = Target("", 40, _nothing, 60, at_least=True)
    assert [large.verdict(figure) for figure in (60, 40, 39)] == ["goal met", "bar met", "not met"]


def _run() -> Run:
    def times(*seconds: float) -> dict[str, Timing]:
        return {str(size): Timing(one, one, one, 3) for size, one in zip((1, 2, 4, 8), seconds, strict=False)}

    contenders = {
        FLOOR: Measured(times(1, 2, 4, 8)),
        OURS: Measured(times(2, 4, 8, 16), 1.0, 10**6),
        "agentscope": Measured(times(80, 320)),
    }
    return Run({"versions": {"Python": "3"}}, workloads={"chat": Measurement("a <chat>", contenders=contenders)})


def test_a_ratio_is_taken_where_both_were_measured() -> None:
    """Whoever stopped at a part of the size is compared there, and no target is judged by it."""
    chat = _run().workloads["chat"]
    assert chat.ratio(OURS, FLOOR) == (2.0, 8)
    assert chat.ratio("agentscope", OURS) == (80.0, 2)
    verdicts = {target.what: verdict for target, _, verdict in judged(_run())}
    assert verdicts[TARGETS[0].what] == "bar met"
    assert verdicts["check + fold, chat: times as fast as agentscope"] == "not measured"


def test_a_run_is_shown_as_picture_and_as_table() -> None:
    """The picture is well-formed; the table has a column for each workload and names the part of the size."""
    assert ET.fromstring(plot.drawn(_run())).tag.endswith("svg")  # noqa: S314  our own
    rows = list(report.rows(_run()))
    assert any(row.startswith("| **agentscope**") and "80 (at 2/8)" in row for row in rows)


def test_the_readme_has_the_marks() -> None:
    """What the command writes has its place, once."""
    text = (ROOT / "README.md").read_text("utf-8")
    assert [text.count(mark) for mark in report.MARKS] == [1, 1]
