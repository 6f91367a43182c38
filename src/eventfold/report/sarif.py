"""
Findings as SARIF 2.1.0, the form that code hosts and editors show.

Law: rules, their titles and reasons come from schemas/rules.json and from the dialects; a finding's place is its file and line.
The document is written bit by bit, so that no number of results fills memory.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson

if TYPE_CHECKING:
    from collections.abc import Mapping

    from eventfold.findings import Finding

_LEVELS = {"error": "error", "warning": "warning", "note": "note"}
#: What stands in a URL as it is.
_OF_URLS = ":/?#[]@!$&'()*+,;=%~"


def opening(version: str, catalogue: Mapping[str, Mapping[str, str]]) -> bytes:
    """Write the document up to its results."""
    rules = [
        {
            "id": name,
            "shortDescription": {"text": entry["title"]},
            "fullDescription": {"text": entry["why"]},
            "defaultConfiguration": {"level": _LEVELS[entry["severity"]]},
        }
        for name, entry in catalogue.items()
    ]
    tool = {"driver": {"name": "eventfold", "version": version, "rules": rules}}
    head = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0"}
    return orjson.dumps(head)[:-1] + b',"runs":[{"tool":' + orjson.dumps(tool) + b',"results":[\n'


def results(source: str, findings: list[Finding], catalogue: Mapping[str, Mapping[str, str]]) -> bytes:
    """Write a result for each finding, with the comma before it: the first of a document has one too many."""
    places = _places(tuple(catalogue))
    return b"".join(b",\n" + orjson.dumps(_result(source, finding, places)) for finding in findings)


def closing(errors: list[str]) -> bytes:
    """Write the end of the document, with why some files could not be checked."""
    said = [{"level": "error", "message": {"text": _text(error)}} for error in errors]
    invocation = {"executionSuccessful": not errors, "toolExecutionNotifications": said}
    return b'\n],"invocations":[' + orjson.dumps(invocation) + b"]}]}\n"


@lru_cache(1)
def _places(names: tuple[str, ...]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


def _result(source: str, finding: Finding, places: dict[str, int]) -> dict[str, Any]:
    uri = quote(source.encode("utf-8", "surrogateescape"), safe=_OF_URLS if source.startswith(("http://", "https://")) else "/")
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if finding.line is not None:
        place["region"] = {"startLine": finding.line}
    facts = {"index": finding.index, "pointer": finding.pointer, "related": finding.related, "reply_id": finding.reply_id}
    return {
        "ruleId": finding.rule,
        "ruleIndex": places[finding.rule],
        "level": _LEVELS[str(finding.severity)],
        "message": {"text": _text(finding.message)},
        "locations": [{"physicalLocation": place}],
        "occurrenceCount": finding.count,
        "properties": {name: _text(value) for name, value in facts.items() if value not in {None, ""}},
    }


def _text(value: Any) -> Any:
    """Show lone surrogates, which JSON cannot hold, as escapes."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
