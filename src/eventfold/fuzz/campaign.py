"""
A run against a reducer: cases in, groups of failures out.

Law: failures that are one and the same are one group, and the run goes on, so that a common difference hides no other. What was
not tried is counted apart, by reason, and never as a success. The same seed tries the same streams.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from .cases import STAGES, Case, broken_cases, case_of, lines_of, random_cases, rule_cases, vector_cases
from .comparison import MISCOUNTED, Difference, differences
from .coverage import Coverage, check_and_note
from .harness import Answer, CannotStart, Failure, Harness, Outcome, Skipped, Started
from .shrinking import TRIES, shrink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from eventfold.shape import Wire

_DIGITS = re.compile(r"\b(?:\d+|0x[0-9a-f]+)\b")
#: What stands in place of a rule when a stream breaks none.
_VALID = "valid"
#: Share of the tries that a failure gets: a time-out costs its time at each, a crash and garbage a new start.
_SHARE = {"timeout": 0, "crash": 0.1, "bad-line": 0.1}
#: How much of what a reducer says goes into a group's key, in characters.
_LONGEST_SIGN = 90


@dataclass
class Group:
    """Failures that are one and the same: the outcome, the rule that the stream breaks, and the place or what was said."""

    key: str
    outcome: str  #: wrong, error, crash, timeout or bad-line
    case: Case  #: the stream, as small as it was found
    given: list[Wire] | None  #: what the reducer made of it, if it answered
    detail: str  #: what it said, if it did not
    differences: list[Difference]
    count: int = 1
    known: bool = False


@dataclass
class Tally:
    """What became of the cases of a stage."""

    passed: int = 0
    failed: int = 0
    skipped: Counter[str] = field(default_factory=Counter[str])

    @property
    def tried(self) -> int:
        """How many were answered, rightly or wrongly."""
        return self.passed + self.failed


class Verdict(NamedTuple):
    """What became of a case."""

    name: str
    stage: str
    outcome: str  #: passed, failed or skipped
    reasons: tuple[str, ...]  #: keys of the groups, or why it was skipped


@dataclass
class Result:
    """What a run found."""

    started: Started
    seed: int
    tallies: dict[str, Tally]
    groups: dict[str, Group]
    coverage: Coverage
    verdicts: list[Verdict] = field(default_factory=list[Verdict])
    seconds: float = 0.0
    cut: bool = False  #: the time was over before all cases were tried
    stale: list[str] = field(default_factory=list[str])  #: known keys that no case showed

    @property
    def failures(self) -> list[Group]:
        """The groups that are not known."""
        return [group for group in self.groups.values() if not group.known]

    @property
    def tried(self) -> int:
        """How many cases were answered."""
        return sum(tally.tried for tally in self.tallies.values())


@dataclass(frozen=True)
class Plan:
    """What to try."""

    seed: int = 0
    max_examples: int = 200  #: random streams of each kind
    max_time: float | None = None  #: seconds; shrinking comes on top
    invalid: bool = False  #: random broken streams, too
    pattern: str = ""  #: part of a case's name
    jobs: int = 1
    tries: int = TRIES  #: streams that are tried to make a failure smaller
    vectors: Path | None = None

    def wants(self, name: str) -> bool:
        """Tell whether a case's name holds the pattern."""
        return self.pattern in name

    def cases(self) -> Iterator[Case]:
        """Give the cases in order."""
        listed = vector_cases(self.vectors) if self.vectors else vector_cases()
        yield from (case for case in listed if self.wants(case.name))
        yield from rule_cases(self.seed, self.wants)
        drawn = {STAGES[2]: random_cases, **({STAGES[3]: broken_cases} if self.invalid else {})}
        wanted = [cases(self.seed) for stage, cases in drawn.items() if self.wants(stage)]
        # In turn, so that a run that is stopped by its time has tried both.
        for both in islice(zip(*wanted, strict=True), self.max_examples):
            yield from both


class Campaign:
    """Runs a plan."""

    def __init__(self, make: Callable[[], Harness], plan: Plan, *, known: frozenset[str] = frozenset()) -> None:
        self.plan = plan
        self.known = known
        self._make = make
        self._idle: SimpleQueue[Harness] = SimpleQueue()
        self._harnesses: list[Harness] = []

    def run(self, progress: Callable[[Result], None] = lambda _: None) -> Result:
        """
        Try all cases, then shrink what failed.

        Raises:
            CannotStart: the reducer cannot be run.

        """
        began = time.monotonic()
        try:
            started = self._open()
            result = Result(started, self.plan.seed, {stage: Tally() for stage in STAGES}, {}, Coverage(set(), set(), set()))
            for case, outcome in self._outcomes(result):
                self._judge(result, case, outcome)
                progress(result)
                if self.plan.max_time is not None and time.monotonic() - began > self.plan.max_time:
                    result.cut = True
                    break
            _merge(result.groups)
            for group in result.failures:
                self._shrink(group, started)
                progress(result)
        finally:
            for harness in self._harnesses:
                harness.stop()
        whole = not self.plan.pattern and not result.cut
        result.stale = sorted(self.known - set(result.groups)) if whole else []
        result.seconds = time.monotonic() - began
        return result

    def _open(self) -> Started:
        started = None
        for _ in range(self.plan.jobs):
            harness = self._make()
            started = harness.start()
            self._harnesses.append(harness)
            self._idle.put(harness)
        if started is None:
            message = "no jobs: give at least one"
            raise CannotStart(message)
        return started

    def _outcomes(self, result: Result) -> Iterator[tuple[Case, Outcome]]:
        """Run the cases, `jobs` at once, and give the outcomes in the order of the cases."""
        cases = self.plan.cases()
        with ThreadPoolExecutor(self.plan.jobs) as pool:
            while window := list(islice(cases, 4 * self.plan.jobs)):
                yield from zip(window, pool.map(partial(self._ask, result.started), window), strict=True)

    def _ask(self, started: Started, case: Case) -> Outcome:
        lacking = case.needs - started.features if started.features is not None else frozenset[str]()
        if lacking:
            return Skipped(f"it does not know {', '.join(sorted(lacking))}")
        return self._run(case.events)

    def _run(self, events: list[Wire]) -> Outcome:
        harness = self._idle.get()
        try:
            return harness.run(events)
        finally:
            self._idle.put(harness)

    def _judge(self, result: Result, case: Case, outcome: Outcome) -> None:
        tally = result.tallies[case.stage]
        if isinstance(outcome, Skipped):
            tally.skipped[outcome.reason] += 1
            result.verdicts.append(Verdict(case.name, case.stage, "skipped", (outcome.reason,)))
            return
        result.coverage.types.update(str(event.get("type")) for event in case.events)
        check_and_note(lines_of(case.events), result.coverage)
        groups = groups_of(case, outcome, result.started.unfilled)
        tally.failed += bool(groups)
        tally.passed += not groups
        result.verdicts.append(Verdict(case.name, case.stage, "failed" if groups else "passed", tuple(group.key for group in groups)))
        for group in groups:
            known = result.groups.get(group.key)
            if known is None:
                group.known = group.key in self.known
                result.groups[group.key] = group
            else:
                known.count += 1
                if len(group.case.events) < len(known.case.events):
                    group.count, group.known = known.count, known.known
                    result.groups[group.key] = group

    def _shrink(self, group: Group, started: Started) -> None:
        """Put the smallest stream that fails in the same way into a group."""

        def failing(events: list[Wire]) -> Group | None:
            case = case_of(group.case.name, group.case.stage, events)
            if started.features is not None and case.needs - started.features:
                return None
            outcome = self._run(events)
            return next((other for other in groups_of(case, outcome, started.unfilled) if other.key == group.key), None)

        tries = int(self.plan.tries * _SHARE.get(group.outcome, 1))
        small = shrink(group.case.events, lambda events: failing(events) is not None, tries=tries)
        smaller = failing(small) if small is not group.case.events else None
        if smaller is not None:
            group.case, group.given, group.detail, group.differences = smaller.case, smaller.given, smaller.detail, smaller.differences


def _merge(groups: dict[str, Group]) -> None:
    """Count a difference that valid streams show, too, with those: what the stream breaks has no part in it."""
    for key, group in list(groups.items()):
        place = key.partition(" ")[2]
        valid = groups.get(f"{_VALID} {place}")
        if valid is not None and valid is not group and group.outcome == "wrong" and not place.endswith(MISCOUNTED):
            valid.count += group.count
            del groups[key]


def groups_of(case: Case, outcome: Outcome, unfilled: tuple[str, ...] = ()) -> list[Group]:
    """Tell what is wrong with an outcome: nothing, or a group for each place that differs."""
    rule = next(iter(case.rules), _VALID)
    if isinstance(outcome, Failure):
        return [Group(f"{rule} {outcome.kind}: {_sign(outcome.detail)}", outcome.kind, case, None, outcome.detail, [])]
    if not isinstance(outcome, Answer):
        return []
    found: dict[str, list[Difference]] = {}
    for difference in differences(case.messages, outcome.messages, unfilled):
        found.setdefault(difference.place, []).append(difference)
    return [Group(f"{rule} {place}", "wrong", case, outcome.messages, "", listed) for place, listed in found.items()]


def _sign(detail: str) -> str:
    """Give what tells one crash from another: the last line that was said, without numbers."""
    lines = [line.strip() for line in detail.splitlines() if line.strip()]
    return _DIGITS.sub("N", lines[-1])[:_LONGEST_SIGN] if lines else ""
