"""Every rule can be broken, and breaking it is said by its own name, at the right event."""

from __future__ import annotations

import pytest
from eventfold_models.tables import LIFECYCLE, RULES
from hypothesis import given, settings
from hypothesis import strategies as st

from eventfold import check_and_fold
from eventfold.fuzz.mutations import mutations
from eventfold.wire.schema import errors

#: A line of 32 MB and thousands of replies take their time, and drawing them anew shows nothing new.
_SLOW = {"wire.too-long": 2, "reply.gone": 2, "reply.evicted": 2}
_FEW = max(settings.default.max_examples // 4, 2)  # pyright: ignore[reportOptionalMemberAccess]  a profile is loaded


@pytest.mark.parametrize("rule", RULES)
def test_a_mutation_fires_the_rule_that_it_is_named_after(rule: str) -> None:
    """The rule fires at the event that the mutation broke, with the event that it clashes with; the messages stay valid."""

    @settings(max_examples=_SLOW.get(rule, _FEW))
    @given(st.data())
    def fires(data: st.DataObject) -> None:
        broken = data.draw(mutations(rule))
        messages, findings = check_and_fold(broken.data)
        fired = [finding for finding in findings if finding.rule == rule]
        assert broken.at in [finding.index for finding in fired], findings
        if broken.related is not None:
            assert broken.related in [finding.related for finding in fired]
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
