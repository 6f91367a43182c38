"""The public bug reports, rewritten as streams: each has the outcome that it says, and stands among the vectors."""

from __future__ import annotations

from typing import Any

import pytest
from support import CASES, differences, lines_of

from eventfold import Severity, check_and_fold
from eventfold.vectors import vectors

VECTORS = list(vectors())


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_reported_stream_has_the_outcome_that_its_case_says(case: dict[str, Any]) -> None:
    """A case's verdict, warning and messages are what check and fold give."""
    expected = case["expected"]
    messages, findings = check_and_fold(lines_of(case["events"]))
    severities = [finding.severity for finding in findings]
    assert (Severity.ERROR not in severities) == expected["valid"], findings
    if "warn" in expected:
        assert Severity.WARNING in severities, findings
    wanted = expected.get("messages") or ([expected["message"]] if "message" in expected else None)
    if wanted is not None:
        assert differences(wanted, messages) == []


def test_all_cases_are_there() -> None:
    """There are 102 cases, each with an id of its own."""
    assert len({case["id"] for case in CASES}) == 102


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_case_is_a_vector(case: dict[str, Any]) -> None:
    """Each case stands among the vectors: the same events, a message that says what the case says, and a finding for its fault."""
    vector = next(vector for vector in VECTORS if vector["id"].rsplit("/", 1)[-1] == case["id"] and "source" in vector)
    expected = case["expected"]
    assert vector["events"] == case["events"]
    assert vector["id"].startswith("accept/" if expected["valid"] else "reject/")
    wanted = expected.get("messages") or ([expected["message"]] if "message" in expected else vector["messages"])
    assert differences(wanted, vector["messages"]) == []
    assert bool(vector["findings"]) >= ("error" in expected or "warn" in expected)
