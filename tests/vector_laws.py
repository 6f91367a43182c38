"""
What the tests of the dialects share about vectors: how one is read, and what it holds a reader to.

Law: of a reply, what a vector names is equal, and its blocks are all there are; of findings, each is there as often as it says.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from dialect_laws import decoded

from eventfold import Checker
from eventfold.jsonvalue import is_array, is_object
from eventfold.vectors import Vector, dialect_vectors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from support import Wire

    from eventfold.dialects import Dialect, Loss
    from eventfold.findings import Finding


class Heard(NamedTuple):
    """What became of foreign values."""

    messages: list[Wire]
    rules: Counter[str]
    losses: list[Loss]


def vectors_of(name: str) -> dict[str, Vector]:
    """Give the vectors of a dialect that are values, by the last part of their ids."""
    return {vector["id"].split("/")[-1]: vector for vector in dialect_vectors(name) if "values" in vector}


def heard(dialect: Dialect, values: list[Any]) -> Heard:
    """Read values: messages, and all rules that they or our events break."""
    events, losses, remarks = decoded(dialect, values)
    checker = Checker()
    for event in events:
        checker.feed_event(event)
    checker.finish_events()
    rules = Counter(remark.rule for remark in remarks)
    rules.update(counted(checker.findings()))
    return Heard(checker.folder.snapshots(), rules, losses)


def counted(findings: Iterable[Finding]) -> Counter[str]:
    """Count findings; a finding may stand for several."""
    found: Counter[str] = Counter()
    for finding in findings:
        found[finding.rule] += finding.count
    return found


def expected(vector: Vector) -> Counter[str]:
    """Give the rules that a vector says are broken, and how often."""
    return Counter({rule: vector.get("times", {}).get(rule, 1) for rule in vector["findings"]})


def differences(vector: Vector, messages: list[Wire]) -> list[str]:
    """Say in what messages are not the replies of a vector."""
    wanted = [{name: value for name, value in reply.items() if name not in {"blocks", "sent_back"}} for reply in vector["replies"]]
    given = [{**message, "finished_reason": message.get("finished_reason")} for message in messages]
    blocks = [reply["blocks"] for reply in vector["replies"]], [message["content"] for message in messages]
    return [*_differences(wanted, given, ""), *_differences(*blocks, "")]


def _differences(wanted: Any, given: Any, at: str) -> list[str]:
    if at.endswith(("/output", "/hint")) and is_array(given):
        given = "".join(block["text"] for block in given)
    if is_object(wanted) and is_object(given):
        return [line for name, value in wanted.items() for line in _differences(value, given.get(name), f"{at}/{name}")]
    if is_array(wanted) and is_array(given) and len(wanted) == len(given):
        return [line for i, (one, other) in enumerate(zip(wanted, given, strict=True)) for line in _differences(one, other, f"{at}/{i}")]
    return [] if wanted == given and type(wanted) is type(given) else [f"{at}: {wanted!r} is wanted, {given!r} given"]
