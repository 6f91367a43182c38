"""Every rule can be broken, and breaking it is said by its own name, at the right event."""

from __future__ import annotations

import json
from itertools import pairwise, product
from typing import TYPE_CHECKING

import pytest
from eventfold_models.tables import LIFECYCLE, RULES
from hypothesis import given, settings
from hypothesis import strategies as st

from eventfold import check_and_fold
from eventfold.fuzz.mutations import Broken, mutations
from eventfold.wire.schema import errors

if TYPE_CHECKING:
    from support import Wire

#: A line of 32 MB and thousands of replies take their time, and drawing them anew shows nothing new.
_SLOW = {"wire.too-long": 2, "reply.gone": 2, "reply.evicted": 2}
_FEW = max(settings.default.max_examples // 4, 2)  # pyright: ignore[reportOptionalMemberAccess]  a profile is loaded

#: Rules of the table that clash with no earlier event.
ALONE = {
    *("reply.not-started", "reply.no-visible-output", "block.not-started", "block.not-for-role"),
    *("tool-call.not-started", "tool-call.unknown", "tool-result.without-call", "tool-result.not-started", "tool-result.unknown-call"),
}
#: What the other rules of the table clash with: the newest event of these types that names the same thing. `*` stands for the
#: kinds of block. After `first`, only the first of a thing counts: with it, a reply begins, or a block or call has content. After
#: `lone`, one counts only while no model call runs, as these have no ids.
CLASHES = {
    "reply.already-started": "first REPLY_START",
    "reply.start-after-end": "REPLY_END",
    "reply.after-end": "REPLY_END",
    "reply.already-ended": "REPLY_END",
    "reply.missing-end": "first REPLY_START",
    "reply.error-not-failed": "first REPLY_START",
    "model-call.not-started": "MODEL_CALL_END",
    "model-call.open-at-end": "lone MODEL_CALL_START",
    "model-call.open-at-failed-end": "lone MODEL_CALL_START",
    "model-call.interrupted-but-completed": "MODEL_CALL_END",
    "block.already-open": "*_BLOCK_START first *_BLOCK_DELTA",
    "block.reopened": "*_BLOCK_END",
    "block.after-end": "*_BLOCK_END",
    "block.already-ended": "*_BLOCK_END",
    "block.open-at-end": "*_BLOCK_START first DATA_BLOCK_DELTA",
    "block.open-at-failed-end": "*_BLOCK_START first DATA_BLOCK_DELTA",
    "block.outside-model-call": "MODEL_CALL_END",
    "block.repeated-hint": "HINT_BLOCK",
    "data.after-url": "DATA_BLOCK_DELTA",
    "data.before-url": "first DATA_BLOCK_DELTA",
    "tool-call.already-started": "TOOL_CALL_START first TOOL_CALL_DELTA TOOL_CALL_END",
    "tool-call.reused-id": "TOOL_RESULT_END EXTERNAL_EXECUTION_RESULT",
    "tool-call.after-end": "TOOL_CALL_END",
    "tool-call.already-ended": "TOOL_CALL_END",
    "tool-call.no-arguments": "TOOL_CALL_START",
    "tool-call.not-ended": "TOOL_CALL_START first TOOL_CALL_DELTA",
    "tool-call.open-at-end": "TOOL_CALL_START first TOOL_CALL_DELTA",
    "tool-call.open-at-failed-end": "TOOL_CALL_START first TOOL_CALL_DELTA",
    "tool-call.requested-again": "REQUIRE_USER_CONFIRM REQUIRE_EXTERNAL_EXECUTION",
    "tool-call.regressed": "REQUIRE_EXTERNAL_EXECUTION USER_CONFIRM_RESULT TOOL_RESULT_END EXTERNAL_EXECUTION_RESULT",
    "tool-call.not-asked": "TOOL_CALL_START",
    "tool-call.already-answered": "USER_CONFIRM_RESULT REQUIRE_EXTERNAL_EXECUTION TOOL_RESULT_END EXTERNAL_EXECUTION_RESULT",
    "tool-call.no-result": "TOOL_CALL_START REQUIRE_USER_CONFIRM REQUIRE_EXTERNAL_EXECUTION USER_CONFIRM_RESULT",
    "tool-call.denied-without-result": "USER_CONFIRM_RESULT",
    "tool-result.before-call-end": "TOOL_CALL_START first TOOL_CALL_DELTA",
    "tool-result.already-started": "TOOL_RESULT_START TOOL_RESULT_END EXTERNAL_EXECUTION_RESULT",
    "tool-result.after-end": "TOOL_RESULT_END EXTERNAL_EXECUTION_RESULT",
    "tool-result.already-ended": "TOOL_RESULT_END EXTERNAL_EXECUTION_RESULT",
    "tool-result.not-terminal": "TOOL_RESULT_START",
    "tool-result.duplicate": "EXTERNAL_EXECUTION_RESULT TOOL_RESULT_END",
    "tool-result.not-requested": "TOOL_CALL_START",
    "tool-result.success-after-denial": "USER_CONFIRM_RESULT",
    "tool-result.not-denied": "USER_CONFIRM_RESULT",
    "tool-result.open-at-end": "TOOL_RESULT_START first TOOL_RESULT_TEXT_DELTA TOOL_RESULT_DATA_DELTA",
}


def expected(broken: Broken) -> set[int | None]:
    """Find, by what is said in `CLASHES`, the earlier events that the broken one may clash with: one, but for an end, which meets all."""
    if broken.rule in ALONE:
        return {None}
    events: list[Wire] = [json.loads(line) for line in broken.data.splitlines()]
    at: Wire = events[broken.at] if broken.at < len(events) else {"type": "REPLY_END"}
    wanted, about_reply = CLASHES[broken.rule], broken.rule.startswith(("reply.", "model-call.")) or "MODEL_CALL" in CLASHES[broken.rule]
    conditions = {name: condition for condition, name in pairwise(["", *wanted.split()])}
    newest: dict[str, int] = {}
    seen: set[tuple[str, str]] = set()
    running = 0
    for place, event in enumerate(events[: broken.at]):
        for thing, name in product({""} if about_reply else things(event), names(event["type"])):
            condition = conditions.get(name)
            if condition is not None and not (condition == "first" and (name, thing) in seen) and not (condition == "lone" and running):
                newest[thing] = place
            seen.add((name, thing))
        running += {"MODEL_CALL_START": 1, "MODEL_CALL_END": -1}.get(event["type"], 0)
    named = set(newest) if at["type"] == "REPLY_END" else {""} if about_reply else things(at)
    return {newest.get(thing) for thing in named}


def names(kind: str) -> set[str]:
    """Give the name of a type of event, and the one that stands for it whatever the kind of block."""
    _, block, part = kind.partition("_BLOCK_")
    return {kind, f"*{block}{part}"} if block else {kind}


def things(event: Wire) -> set[str]:
    """Name what an event is about: blocks by kind and id, calls by id."""
    if "block_id" in event and "tool_call_id" not in event:
        return {f"{event['type'].partition('_')[0]} {event['block_id']}"}
    items = [item for name in ("tool_calls", "confirm_results", "execution_results") for item in event.get(name, ())]
    ids = [event["tool_call_id"]] if "tool_call_id" in event else [item.get("tool_call", item)["id"] for item in items]
    return {f"call {key}" for key in ids}


@pytest.mark.parametrize("rule", RULES)
def test_a_mutation_fires_the_rule_that_it_is_named_after(rule: str) -> None:
    """The rule fires at the event that the mutation broke, at its line, with the event that it clashes with; the messages stay valid."""

    @settings(max_examples=_SLOW.get(rule, _FEW))
    @given(st.data())
    def fires(data: st.DataObject) -> None:
        broken = data.draw(mutations(rule))
        messages, findings = check_and_fold(broken.data)
        clashes = [finding.related for finding in findings if (finding.rule, finding.index) == (rule, broken.at)]
        assert broken.related in clashes, findings
        if rule in CLASHES or rule in ALONE:
            assert set(clashes) <= expected(broken), findings
            lines = [*range(1, len(broken.data.splitlines()) + 1), None]
            assert [finding.line for finding in findings] == [lines[finding.index] for finding in findings]
        if broken.related is None:
            assert set(clashes) == {None}
        for message in messages:
            assert (
                errors(
                    message, "AssistantMsg" if message["role"] == "assistant" else "UserMsg" if message["role"] == "user" else "SystemMsg"
                )
                == []
            )

    fires()


def test_unknown_rules_have_no_mutation() -> None:
    """Asking for a rule that is not there says so."""
    with pytest.raises(LookupError, match="is not a rule"):
        mutations("block.unheard-of")


def test_rules_of_the_table_are_rules() -> None:
    """Every rule that the table names is in the catalogue, with its message's fields filled from what is known."""
    for machine in LIFECYCLE["machines"].values():
        for row in machine["inputs"].values():
            assert {cell["rule"] for cell in row.values() if "rule" in cell} <= set(RULES)
    for entry in RULES.values():
        assert "{" not in entry["message"].format(type="", key="", reply_id="", state="", detail="")
