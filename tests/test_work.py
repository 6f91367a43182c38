"""
Law 10, and no creeping: work is counted, not timed, so that the answer is the same on every run and on every machine.

tests/work.json holds what each event may cost, by version of Python, since interpreters differ in what a step is. Lower it after a
change that made the engine faster, with `python -m tests.benchmarks.work --update`, and look at the diff; raise it the same way, and
say in the commit why the work is worth it.
"""

from __future__ import annotations

from functools import cache

import pytest
from benchmarks import work
from benchmarks.workloads import WORKLOADS


@cache
def counted() -> work.Work:
    return work.counted_alone()


def test_an_event_costs_no_more_than_is_noted() -> None:
    """Calls, steps of the interpreter, and bytes held, for each event of each workload."""
    limits = work.limits()
    if not limits:
        pytest.skip(f"tests/work.json has no limits for Python {work.PYTHON}; python -m tests.benchmarks.work --update notes them")
    above = [
        f"{name}: {counted()[name][kind][-1]:.1f} {kind} for each event, {limit} are noted"
        for name, kinds in limits.items()
        for kind, limit in kinds.items()
        if counted()[name][kind][-1] > limit * work.MARGIN
    ]
    assert above == [], "see the head of this file"


def test_work_grows_no_faster_than_the_stream() -> None:
    """Twice the events are twice the work at most, within what an exponent of 1.05 leaves for what does not grow evenly."""
    grown = {(name, kind): work.growth(kinds[kind], kinds[work.EVENTS]) for name, kinds in counted().items() for kind in work.GROWING}
    assert {place: found for place, found in grown.items() if found > work.LARGEST} == {}


def test_what_grows_too_fast_is_seen() -> None:
    """The judge judges: one look at every earlier event, for each event, is seen in the calls and in the steps."""

    def scan(count: int) -> None:
        for number in range(count):
            for earlier in range(number):
                abs(earlier)

    sizes = [200, 400, 800]
    for count in (work.calls, work.steps):
        by_size = [count(lambda size=size: scan(size)) / size for size in sizes]
        assert work.growth(by_size, [float(size) for size in sizes]) > 1.9


def test_the_limits_are_those_of_the_workloads() -> None:
    """No limit is left behind when a workload goes, and none is missing when one comes."""
    for allowed in work.all_limits().values():
        assert list(allowed) == [workload.name for workload in WORKLOADS]
