"""
Findings as JSON: one object a line, a header first and a footer last, so that truncation shows.

The form is schemas/meta/check-report.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.findings import Finding

    from .checking import FileReport

#: Version of the report's form.
FORM = 1


def header(version: str, wire: str) -> bytes:
    """Write the first line."""
    return _line({"kind": "header", "form": FORM, "eventfold": version, "wire": wire})


def findings_of(source: str, findings: list[Finding]) -> Iterator[bytes]:
    """Write the findings of a file."""
    for finding in findings:
        yield _line({"kind": "finding", "file": source, **finding.to_dict()})


def source_of(report: FileReport) -> bytes:
    """Write what a file was, and why it could not be checked, if it could not."""
    facts = {"form": report.form, "events": report.events, "replies": report.replies, "messages": report.messages}
    error = {"error": report.error} if report.error is not None else {}
    return _line({"kind": "file", "file": report.name, **facts, **error})


def footer(files: int, code: int) -> bytes:
    """Write the last line."""
    return _line({"kind": "footer", "files": files, "exit": code})


def _line(value: dict[str, Any]) -> bytes:
    # A file's name need not be UTF-8: Python reads what is not as lone surrogates, which JSON cannot hold.
    texts = {key: item.encode("utf-8", "backslashreplace").decode() for key, item in value.items() if isinstance(item, str)}
    return orjson.dumps({**value, **texts}) + b"\n"
