"""
What a reducer is tried on: the vectors, each rule once, random valid streams, random broken ones.

Law: a case holds the whole answer, and where it comes from: a vector's is written by hand, the others' are what the table makes
of the stream.
"""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from eventfold_models.tables import RULES
from hypothesis import Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from eventfold.check import check_and_fold
from eventfold.findings import Severity
from eventfold.jsonvalue import is_object
from eventfold.vectors import FOLDER, vectors

from .breaking import broken_streams
from .features import REPAIR, features_of
from .mutations import mutations
from .strategies import replies, streams

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from hypothesis.strategies import SearchStrategy

    from eventfold.findings import Finding
    from eventfold.shape import Wire


class Case(NamedTuple):
    """A stream and the messages that are right for it."""

    name: str  #: id of the vector, rule, or number of the random stream
    stage: str  #: one of STAGES
    events: list[Wire]
    messages: list[Wire]
    rules: tuple[str, ...]  #: rules of severity error that it breaks, in the order in which it does
    needs: frozenset[str]  #: features


#: The stages of a run, in order.
STAGES = ("vectors", "rules", "random", "broken")


def case_of(name: str, stage: str, events: Sequence[Wire], messages: list[Wire] | None = None) -> Case:
    """Make a case of a stream; its messages are what the table makes of it, unless they are given."""
    folded, findings = check_and_fold(lines_of(events))
    rules = broken_rules(findings)
    needs = features_of(events) | {REPAIR for _ in rules}
    return Case(name, stage, list(events), folded if messages is None else messages, rules, frozenset(needs))


def lines_of(events: Sequence[Wire]) -> bytes:
    """Write events as JSON Lines. By the standard library, since streams may hold lone surrogates."""
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def broken_rules(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Name the rules of severity error, first broken first."""
    return tuple(dict.fromkeys(finding.rule for finding in findings if finding.severity is Severity.ERROR))


def vector_cases(folder: Path = FOLDER) -> list[Case]:
    """Give the vectors that hold events: the others are for readers of bytes and of stored messages."""
    return [
        case_of(vector["id"], STAGES[0], vector["events"], vector["messages"])
        for vector in vectors(folder)
        if "events" in vector and not {"keep_ended", "max_open"} & vector.keys()
    ]


def rule_names() -> list[str]:
    """Name the rules that a reducer can be tried on."""
    return [rule for rule in RULES if not rule.startswith(_NOT_OF_REDUCERS)]


def rule_cases(seed: int, wanted: Callable[[str], bool]) -> Iterator[Case]:
    """Draw a stream for each rule that breaks it. Rules that only bytes and stored messages break are no matter of a reducer."""
    for rule in rule_names():
        if wanted(rule):
            [broken] = _drawn(mutations(rule), 1, seed)
            events = [_value_of(line) for line in broken.data.splitlines()]
            if all(is_object(event) for event in events):
                yield case_of(rule, STAGES[1], events)


#: Areas of rules that are about bytes and stored messages, and the rule about a bound of ours, which takes ten thousand replies to
#: break and changes no message until more comes for one of them.
_NOT_OF_REDUCERS = ("wire.", "message.", "reply.evicted")


def _value_of(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def random_cases(seed: int) -> Iterator[Case]:
    """Draw valid streams, without end."""
    return _numbered(st.one_of(replies(), replies(moves=40, roles=("assistant",)), streams(redelivered=True)), STAGES[2], seed)


def broken_cases(seed: int) -> Iterator[Case]:
    """Draw broken streams, without end."""
    return _numbered(broken_streams(), STAGES[3], seed)


def _numbered(strategy: SearchStrategy[list[Wire]], stage: str, seed: int) -> Iterator[Case]:
    number = 0
    for batch in count():
        for events in _drawn(strategy, _BATCH, seed * _FAR + batch):
            number += 1
            yield case_of(f"{stage} {number}", stage, events)


#: How many examples are drawn at once, so that a run can end between them.
_BATCH = 50
#: How far the seeds of batches lie apart, so that the next seed tries other streams and not the next batch.
_FAR = 1_000_003


def _drawn(strategy: SearchStrategy[Any], examples: int, seed: int) -> list[Any]:
    """Draw examples, the same for the same seed."""
    drawn: list[Any] = []

    @seeded(seed)
    @settings(max_examples=examples, database=None, deadline=None, derandomize=False, phases=[Phase.generate])
    @given(strategy)
    def draw(value: Any) -> None:
        drawn.append(value)

    draw()
    return drawn
