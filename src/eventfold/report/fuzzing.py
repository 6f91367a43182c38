"""
What a run against a reducer found: for people, as JSON lines, as JUnit XML.

Law: what was not tried is said beside what passed, with its reason; nothing untested is green. The form of the JSON is
schemas/meta/fuzz-report.json.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from .plain import one_line, safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from eventfold.fuzz.campaign import Group, Result

#: Version of the JSON report's form.
FORM = 1
#: How many differences and events of a failure are shown to people.
_SHOWN = 6
_LONGEST = 200
_UNUSED = {code: f"\\u{code:04x}" for code in (*range(32), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF) if code not in {9, 10, 13}}


def code_of(result: Result) -> int:
    """Give the exit code: 0 nothing found, 1 failures or stale entries, 2 nothing was tried."""
    return 1 if result.failures or result.stale else 0 if result.tried else 2


def as_text(result: Result) -> Iterator[RenderableType]:
    """Write for people."""
    for group in sorted(result.groups.values(), key=lambda group: group.key):
        yield Text.assemble(("known ", "dim"), safe(group.key), (f"  {group.count} times", "dim")) if group.known else panel_of(group)
    table = Table("stage", "tried", "passed", "failed", "not tried", box=None, header_style="bold")
    for stage, tally in result.tallies.items():
        reasons = "; ".join(f"{count} {safe(reason)}" for reason, count in tally.skipped.items())
        table.add_row(stage, f"{tally.tried:,}", f"{tally.passed:,}", Text(f"{tally.failed:,}", "red" if tally.failed else ""), reasons)
    yield table
    reached = result.coverage.to_dict()
    yield Text("reached: " + ", ".join(f"{part['reached']} of {part['of']} {name}" for name, part in reached.items()), "dim")
    if result.started.unfilled:
        yield Text(f"not compared, since it does not fill them: {', '.join(result.started.unfilled)}", "yellow")
    for key in result.stale:
        yield Text.assemble(("stale: ", "red"), safe(key), " is listed as known, and did not show")
    yield _verdict(result)


def _verdict(result: Result) -> Text:
    found, known = len(result.failures), len(result.groups) - len(result.failures)
    parts = [f"{found} {'failure' if found == 1 else 'failures'}"] if found else []
    parts += [f"{known} known"] if known else []
    parts += [f"{len(result.stale)} stale"] if result.stale else []
    if not result.tried:
        parts = ["nothing was tried"]
    text = ", ".join(parts) or f"no failure in {result.tried:,} streams"
    style = {0: "green", 1: "bold red", 2: "bold yellow"}[code_of(result)]
    cut = ", stopped by --max-time" if result.cut else ""
    return Text(f"{one_line(result.started.name)}: {text} ({result.seconds:.0f} s, seed {result.seed}{cut})", style)


def panel_of(group: Group) -> Panel:
    """Draw a failure: where the messages differ, or what was said, and the stream."""
    lines = Text()
    for difference in group.differences[:_SHOWN]:
        lines.append(f"{safe(difference.pointer) or '/'}\n", "bold")
        lines.append(f"  expected {_shown(difference.wanted)}\n", "green")
        lines.append(f"  given    {_shown(difference.given)}\n", "red")
    if len(group.differences) > _SHOWN:
        lines.append(f"and {len(group.differences) - _SHOWN} more of the kind\n", "dim")
    if group.detail:
        lines.append(f"{group.outcome}: {safe(group.detail.strip())}\n", "red")
    for event in group.case.events[: 2 * _SHOWN]:
        lines.append(f"{_shown(event)}\n", "dim")
    if len(group.case.events) > 2 * _SHOWN:
        lines.append(f"and {len(group.case.events) - 2 * _SHOWN} more events\n", "dim")
    times = "once" if group.count == 1 else f"{group.count} times"
    title = Text.assemble((group.outcome, "bold red"), f" {safe(group.key)} ", (times, "dim"))
    lines.rstrip()
    return Panel(lines, title=title, title_align="left", border_style="red")


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    text = safe(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def as_json(result: Result, version: str, wire: str) -> Iterator[bytes]:
    """Write one JSON value a line, a header first and a footer last, so that truncation shows."""
    started = {**result.started._asdict(), "features": sorted(result.started.features) if result.started.features is not None else None}
    yield _line({"kind": "header", "form": FORM, "eventfold": version, "wire": wire, "reducer": started, "seed": result.seed})
    for group in sorted(result.groups.values(), key=lambda group: group.key):
        case = {"name": group.case.name, "events": group.case.events, "messages": group.case.messages, "rules": list(group.case.rules)}
        listed = [{"pointer": each.pointer, "wanted": each.wanted, "given": each.given} for each in group.differences]
        facts = {"key": group.key, "outcome": group.outcome, "count": group.count, "known": group.known}
        yield _line({"kind": "failure", **facts, "case": case, "given": group.given, "detail": group.detail, "differences": listed})
    for verdict in result.verdicts:
        yield _line({"kind": "case", **verdict._asdict()})
    for stage, tally in result.tallies.items():
        yield _line({"kind": "stage", "stage": stage, "passed": tally.passed, "failed": tally.failed, "skipped": dict(tally.skipped)})
    yield _line({"kind": "coverage", **result.coverage.to_dict()})
    yield _line({"kind": "footer", "seconds": result.seconds, "cut": result.cut, "stale": result.stale, "exit": code_of(result)})


def _line(value: Any) -> bytes:
    # By the standard library: streams may hold lone surrogates, which are written as escapes.
    return json.dumps(value).encode() + b"\n"


def as_junit(result: Result) -> bytes:
    """Write JUnit XML: a suite for each stage, a test for each case."""
    root = ET.Element("testsuites", name=f"eventfold fuzz {result.started.name}".translate(_UNUSED), time=f"{result.seconds:.3f}")
    for stage, tally in result.tallies.items():
        verdicts = [verdict for verdict in result.verdicts if verdict.stage == stage]
        skipped = str(sum(tally.skipped.values()))
        suite = ET.SubElement(root, "testsuite", name=stage, tests=str(len(verdicts)), failures=str(tally.failed), skipped=skipped)
        for verdict in verdicts:
            test = ET.SubElement(suite, "testcase", classname=stage, name=verdict.name)
            if verdict.outcome != "passed":
                tag = "failure" if verdict.outcome == "failed" else "skipped"
                ET.SubElement(test, tag, message="; ".join(verdict.reasons).translate(_UNUSED))
    return ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"
