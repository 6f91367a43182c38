"""
Runs against reducers, side by side, as one HTML page that needs nothing else.

Law: the page is made of the JSON reports alone (schemas/meta/fuzz-report.json), holds everything it shows, and asks no network.
What comes from a stream or a reducer is text, never markup.
"""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from .terminal import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: How many events and differences of a failure are shown, and how much of a value, so that the page stays small.
_EVENTS, _DIFFERENCES, _LONGEST = 40, 20, 4000
_MARKS = {"passed": "✓", "failed": "✗", "skipped": "o"}
_STYLE = """
:root { color-scheme: light dark; --bad: #c62828; --good: #2e7d32; --dim: #888; --line: #8884; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
table { border-collapse: collapse; } th, td { padding: .15rem .7rem; border-bottom: 1px solid var(--line); text-align: left; }
thead th { position: sticky; top: 0; background: Canvas; } td.mark { text-align: center; }
.passed { color: var(--good); } .failed, .failed a { color: var(--bad); } .skipped, .dim { color: var(--dim); }
pre { overflow: auto; max-height: 24rem; background: #8881; padding: .6rem; margin: .3rem 0; }
details { border: 1px solid var(--line); border-radius: 4px; padding: .3rem .7rem; margin: .4rem 0; }
summary { cursor: pointer; } .sides { display: grid; grid-template-columns: 1fr 1fr; gap: .7rem; }
details:target { outline: 2px solid var(--bad); }
"""
#: Opens a failure when a mark of the matrix is followed to it.
_SCRIPT = """
function show() { const it = document.getElementById(decodeURIComponent(location.hash.slice(1))); if (it && 'open' in it) it.open = true; }
addEventListener('hashchange', show); show();
"""


class NotAReport(ValueError):
    """Lines that are no whole report, in one line."""


class Report(NamedTuple):
    """A run, as its JSON lines say."""

    head: dict[str, Any]
    failures: list[dict[str, Any]]
    cases: list[dict[str, Any]]
    stages: list[dict[str, Any]]
    coverage: dict[str, Any]
    foot: dict[str, Any]


def read_report(lines: Iterable[bytes], name: str) -> Report:
    """
    Read a JSON report.

    Raises:
        NotAReport: it is none, or its footer is missing.

    """
    kinds: dict[str, list[dict[str, Any]]] = {}
    try:
        for line in lines:
            value = json.loads(line)
            kinds.setdefault(value["kind"], []).append(value)
        [head], [foot], [coverage] = kinds["header"], kinds["footer"], kinds["coverage"]
        return Report(head, kinds.get("failure", []), kinds.get("case", []), kinds["stage"], coverage, foot)
    except (ValueError, KeyError, TypeError):
        message = f"{name} is no whole report of `eventfold fuzz --format json`: a line or the footer is missing"
        raise NotAReport(message) from None


def page(reports: list[Report]) -> bytes:
    """Write the page."""
    return "".join(_page(reports)).encode("utf-8", "backslashreplace")


def _page(reports: list[Report]) -> Iterator[str]:
    yield f'<!doctype html><html lang="en"><meta charset="utf-8"><title>eventfold fuzz</title><style>{_STYLE}</style>'
    yield "<h1>eventfold fuzz</h1>"
    yield from _summary(reports)
    yield from _matrix(reports)
    for number, report in enumerate(reports):
        yield f"<h2>{_text(_name(report))}: failures</h2>"
        if not report.failures:
            yield "<p class=dim>None.</p>"
        for failure in sorted(report.failures, key=lambda failure: str(failure["key"])):
            yield from _failure(number, failure)
    yield from _coverage(reports)
    yield f"<script>{_SCRIPT}</script></html>\n"


def _summary(reports: list[Report]) -> Iterator[str]:
    yield "<table><thead><tr><th>reducer<th>stage<th>passed<th>failed<th>not tried</thead>"
    for report in reports:
        reducer = report.head["reducer"]
        made = f"{reducer['language']} {reducer.get('version', '')}".rstrip()
        facts = f"{made}, seed {report.head['seed']}, {report.foot['seconds']:.0f} s"
        for stage in report.stages:
            skipped = "; ".join(f"{count} {reason}" for reason, count in stage["skipped"].items())
            yield f"<tr><td>{_text(_name(report))} <span class=dim>{_text(facts)}</span><td>{stage['stage']}"
            yield f"<td class=passed>{stage['passed']}<td class={'failed' if stage['failed'] else 'dim'}>{stage['failed']}"
            yield f"<td class=skipped>{_text(skipped)}"
    yield "</table>"
    for report in reports:
        unfilled = report.head["reducer"].get("unfilled")
        if unfilled:
            yield f"<p>{_text(_name(report))} does not fill, and was not compared at: {_text(', '.join(unfilled))}</p>"


def _matrix(reports: list[Report]) -> Iterator[str]:
    """Give a row for each vector and rule, and a column for each reducer."""
    yield "<h2>Vectors and rules</h2><table id=matrix><thead><tr><th>case" + "".join(f"<th>{_text(_name(report))}" for report in reports)
    yield "</thead>"
    named = [{case["name"]: case for case in report.cases if case["stage"] in {"vectors", "rules"}} for report in reports]
    for name in dict.fromkeys(name for cases in named for name in cases):
        yield f"<tr><td>{_text(name)}"
        for number, cases in enumerate(named):
            yield _mark(number, cases.get(name), {failure["key"] for failure in reports[number].failures})
    for stage in ("random", "broken"):
        yield f"<tr><td>{stage} streams"
        for report in reports:
            [tally] = [each for each in report.stages if each["stage"] == stage]
            tried = tally["passed"] + tally["failed"]
            kind = "failed" if tally["failed"] else "passed" if tried else "dim"
            said = f"{tally['passed']} of {tried}" if tried else ""
            yield f'<td class="mark {kind}">{said}'
    yield "</table>"


def _mark(number: int, case: dict[str, Any] | None, shown: set[str]) -> str:
    if case is None:
        return '<td class="mark dim">'
    mark = _MARKS[case["outcome"]]
    title = escape(safe("\n".join(case["reasons"])), quote=True)
    # A failure that other streams show, too, stands with those.
    keys = [key for reason in case["reasons"] for key in (reason, f"valid {reason.partition(' ')[2]}") if key in shown]
    link = f'<a href="#{_anchor(number, keys[0])}">{mark}</a>' if case["outcome"] == "failed" and keys else mark
    return f'<td class="mark {case["outcome"]}" title="{title}">{link}'


def _failure(number: int, failure: dict[str, Any]) -> Iterator[str]:
    known = " <span class=dim>known</span>" if failure["known"] else ""
    key = failure["key"]
    yield f'<details id="{_anchor(number, key)}"><summary><b class=failed>{_text(failure["outcome"])}</b> {_text(key)} '
    yield f"<span class=dim>{failure['count']} times</span>{known}</summary>"
    if failure["differences"]:
        yield "<table><thead><tr><th>at<th>expected<th>given</thead>"
        for each in failure["differences"][:_DIFFERENCES]:
            yield f"<tr><td>{_text(each['pointer'])}<td class=passed>{_value(each['wanted'])}<td class=failed>{_value(each['given'])}"
        yield "</table>"
    if failure["detail"]:
        yield f"<pre class=failed>{_text(failure['detail'])}</pre>"
    events = failure["case"]["events"]
    more = f"\n... and {len(events) - _EVENTS} more" if len(events) > _EVENTS else ""
    yield f"<b>events</b><pre>{_text(chr(10).join(map(_json, events[:_EVENTS])) + more)}</pre>"
    yield f"<div class=sides><div><b>expected</b><pre>{_pretty(failure['case']['messages'])}</pre></div>"
    yield f"<div><b>given</b><pre>{_pretty(failure['given'])}</pre></div></div></details>"


def _coverage(reports: list[Report]) -> Iterator[str]:
    yield "<h2>Coverage</h2>"
    for report in reports:
        yield f"<h3>{_text(_name(report))}</h3>"
        for kind in ("events", "rules", "cells"):
            part = report.coverage[kind]
            yield f"<details><summary>{part['reached']} of {part['of']} {kind}</summary><p>Not reached: "
            yield f"{_text(', '.join(part['missed'])) or 'none'}</details>"


def _name(report: Report) -> str:
    return str(report.head["reducer"]["name"])


def _anchor(number: int, key: str) -> str:
    """Name a failure's place on the page: letters and digits stay, all else becomes its number."""
    return f"f{number}-" + "".join(sign if sign.isalnum() and sign.isascii() else f"_{ord(sign):x}" for sign in key)


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _value(value: Any) -> str:
    return "<span class=dim>nothing</span>" if value is None else _text(_json(value))


def _pretty(value: Any) -> str:
    text = json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True)
    return _text(text if len(text) <= _LONGEST else text[:_LONGEST] + "\n...")


def _text(text: str) -> str:
    return escape(safe(text))
