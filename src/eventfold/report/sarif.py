"""
Findings as SARIF 2.1.0, the form that code hosts and editors show.

Law: rules, their titles and reasons come from schemas/rules.json and from the dialects; a finding's place is its file and line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson

if TYPE_CHECKING:
    from collections.abc import Mapping

    from eventfold.findings import Finding

_LEVELS = {"error": "error", "warning": "warning", "note": "note"}


def sarif(found: list[tuple[str, list[Finding], str | None]], version: str, catalogue: Mapping[str, Mapping[str, str]]) -> bytes:
    """Write the findings of files: name, findings, and why it could not be checked, if it could not."""
    names = list(catalogue)
    rules = [
        {
            "id": name,
            "shortDescription": {"text": entry["title"]},
            "fullDescription": {"text": entry["why"]},
            "defaultConfiguration": {"level": _LEVELS[entry["severity"]]},
        }
        for name, entry in catalogue.items()
    ]
    results = [_result(source, finding, names) for source, findings, _ in found for finding in findings]
    errors = [{"level": "error", "message": {"text": _text(error)}} for _, _, error in found if error is not None]
    run = {
        "tool": {"driver": {"name": "eventfold", "version": version, "rules": rules}},
        "invocations": [{"executionSuccessful": not errors, "toolExecutionNotifications": errors}],
        "results": results,
    }
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"


def _result(source: str, finding: Finding, names: list[str]) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(source.encode("utf-8", "surrogateescape"))}}
    if finding.line is not None:
        place["region"] = {"startLine": finding.line}
    facts = {"index": finding.index, "pointer": finding.pointer, "related": finding.related, "reply_id": finding.reply_id}
    return {
        "ruleId": finding.rule,
        "ruleIndex": names.index(finding.rule),
        "level": _LEVELS[str(finding.severity)],
        "message": {"text": _text(finding.message)},
        "locations": [{"physicalLocation": place}],
        "occurrenceCount": finding.count,
        "properties": {name: _text(value) for name, value in facts.items() if value not in {None, ""}},
    }


def _text(value: Any) -> Any:
    """Show lone surrogates, which JSON cannot hold, as escapes."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
