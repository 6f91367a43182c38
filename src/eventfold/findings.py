"""
Findings: values about someone's stream or message, never raised.

Law: what a rule means, how severe it is and how it is said come from schemas/rules.json. Machine
output never depends on the wording.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from eventfold_models.tables import RULES

if TYPE_CHECKING:
    from collections.abc import Mapping


class Severity(IntEnum):
    """How bad a finding is. Ordered: NOTE < WARNING < ERROR."""

    NOTE = 1  #: worth knowing
    WARNING = 2  #: legal, but a reader may stumble
    ERROR = 3  #: the contract is broken

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with a stream or a stored message, and where."""

    rule: str  #: id of the rule, such as "block.after-end"
    severity: Severity
    message: str  #: what happened, with the values; for people
    index: int  #: position of the event (or message), from 0; their number for "at the end"
    line: int | None = None  #: line of the file, from 1; None when there is no file
    pointer: str = ""  #: RFC 6901, into the event
    related: int | None = None  #: position of the earlier event that it clashes with
    reply_id: str | None = None
    count: int = 1  #: how often it happened with the same key

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON; what is absent is left out."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {name: str(value) if name == "severity" else value for name, value in fields.items() if value not in {None, ""}}


class Loss(NamedTuple):
    """Something that a translation could not carry."""

    pointer: str  #: RFC 6901, into the value that was translated
    reason: str
    at: int | None = None  #: position of that value in its stream, from 0; None when it is no stream


class UnknownRule(LookupError):
    """A rule id that no catalogue has."""

    def __init__(self, name: str, nearest: str | None) -> None:
        super().__init__(name)
        self.name = name
        self.nearest = nearest

    def __str__(self) -> str:
        hint = f" Did you mean {self.nearest!r}?" if self.nearest else ""
        return f"{self.name!r} is not a rule.{hint} `eventfold explain` lists them."


def rule_entry(name: str, rules: Mapping[str, Mapping[str, str]] = RULES) -> Mapping[str, str]:
    """
    Give a rule's entry of rules.json, or of a catalogue that holds more.

    Raises:
        UnknownRule: there is none; names the nearest.

    """
    try:
        return rules[name]
    except KeyError:
        from difflib import get_close_matches  # noqa: PLC0415  only for a mistake

        raise UnknownRule(name, next(iter(get_close_matches(name, rules, 1)), None)) from None


SEVERITY = {rule: Severity[entry["severity"].upper()] for rule, entry in RULES.items()}


class Collector:
    """Findings as they come: repeats of one rule on one key are one finding with a count."""

    def __init__(self, rules: Mapping[str, Mapping[str, str]] = RULES) -> None:
        self._rules = rules
        self._groups: dict[tuple[str, ...], Finding] = {}
        self._counts: dict[tuple[str, ...], int] = {}

    def add(self, rule: str, group: tuple[str, ...], **place: Any) -> None:
        """
        Add one.

        `group` is what makes it the same as another of the rule; `place` holds the fields of the
        finding and, as `values`, what the rule's message template takes.
        """
        key = (rule, *group)
        if key in self._counts:
            self._counts[key] += 1
            return
        values: dict[str, Any] = {
            "type": "",
            "key": "",
            "state": "",
            "detail": "",
            "reply_id": place.get("reply_id"),
            **place.pop("values", {}),
        }
        self._counts[key] = 1
        entry = self._rules[rule]
        self._groups[key] = Finding(rule, Severity[entry["severity"].upper()], entry["message"].format_map(values), **place)

    def repeat(self, keys: list[tuple[str, str, str]]) -> bool:
        """Count one more of each, given as rule and group, if all of them were added before. Tells whether they were."""
        counts = self._counts
        for key in keys:
            if key not in counts:
                return False
        for key in keys:
            counts[key] += 1
        return True

    def __iter__(self) -> Any:
        """Give the findings by place in the stream."""
        found = [replace(finding, count=self._counts[key]) for key, finding in self._groups.items()]
        return iter(sorted(found, key=lambda finding: finding.index))

    def __len__(self) -> int:
        return len(self._groups)

    def take(self) -> list[Finding]:
        """Give the findings by place, and forget them: what comes again is a finding anew."""
        found = list(self)
        self._groups.clear()
        self._counts.clear()
        return found


def worst(findings: list[Finding]) -> Severity | None:
    """Give the highest severity; None without findings."""
    return max((finding.severity for finding in findings), default=None)
