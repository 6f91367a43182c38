"""The public bug reports, rewritten as streams: each has the outcome that it says."""

from __future__ import annotations

from typing import Any

import pytest
from support import CASES, differences, lines_of

from eventfold import Severity, check_and_fold


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


#: The rule that says what a case's `error` or `warn` is about, for every name that the cases use.
RULES = {
    "block_event_outside_model_call": "block.outside-model-call",
    "bad_base64": "data.not-base64",
    "cumulative_deltas": "block.cumulative-deltas",
    "dangling_tool_call": "tool-call.no-result",
    "data_after_url": "data.after-url",
    "denied_without_result": "tool-call.denied-without-result",
    "duplicate_block_end": "block.already-ended",
    "duplicate_reply_end": "reply.already-ended",
    "duplicate_reply_start": "reply.already-started",
    "duplicate_result": "tool-result.duplicate",
    "duplicate_result_start": "tool-result.already-started",
    "duplicate_tool_call_start": "tool-call.already-started",
    "empty_tool_input": "tool-call.no-arguments",
    "event_after_reply_end": "reply.after-end",
    "interrupted_call_completed_reply": "model-call.interrupted-but-completed",
    "missing_reply_end": "reply.missing-end",
    "missing_reply_start": "reply.not-started",
    "model_call_end_without_start": "model-call.not-started",
    "no_visible_output": "reply.no-visible-output",
    "open_block_at_error_end": "block.open-at-failed-end",
    "open_model_call_at_end": "model-call.open-at-end",
    "open_model_call_at_error_end": "model-call.open-at-failed-end",
    "redelivered": "event.redelivered",
    "reply_id_mismatch": "reply.not-started",
    "reply_left_parked": "reply.left-parked",
    "result_end_not_terminal": "tool-result.not-terminal",
    "schema: data_xor_url": "event.schema",
    "schema: negative_tokens": "event.schema",
    "schema: reply_id": "event.schema",
    "schema: tool_call_id": "event.schema",
    "schema: unknown_type": "event.unknown-type",
    "tool_call_state_regression": "tool-call.regressed",
    "unknown_block": "block.not-started",
}
#: Cases whose name is said by another rule, since the table tells more apart than the reports did.
FINER = {
    "as-007": "reply.after-end",  # stale_confirmation: the reply has ended
    "agui-018": "tool-call.already-answered",  # stale_confirmation: the call was answered
    "as-008": "tool-call.unknown",  # unknown_tool_call: a request names it
    "java-015": "tool-call.unknown",
    "lg-001": "event.schema",  # unknown_tool_call: an empty id is no id
    "as-043": "tool-call.after-end",  # delta_after_end: of arguments
    "as-052": "tool-result.after-end",  # delta_after_end: of a result
    "pyd-001": "block.after-end",  # delta_after_end: of a block
    "as-036": "block.reopened",  # duplicate_block_start: after its end
    "java-002": "block.reopened",
    "lg-004": "block.repeated-hint",
    "as-035": "tool-result.without-call",  # result_without_call: streamed
    "java-011": "tool-result.without-call",
    "ai-004": "tool-result.without-call",
    "oai-001": "tool-result.without-call",
    "oai-003": "tool-result.unknown-call",  # result_without_call: from outside
}


@pytest.mark.parametrize("case", [case for case in CASES if {"error", "warn"} & set(case["expected"])], ids=lambda case: case["id"])
def test_the_fault_of_a_case_is_said_by_the_rule_of_that_name(case: dict[str, Any]) -> None:
    """What a report complains about is what a finding says, not some other fault of the stream."""
    name = case["expected"].get("error") or case["expected"]["warn"]
    rule = FINER.get(case["id"]) or RULES[name]
    assert rule in [finding.rule for finding in check_and_fold(lines_of(case["events"])).findings]
