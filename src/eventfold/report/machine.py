"""
Findings as JSON: one object a line, a header first and a footer last, so that truncation shows.

The form is schemas/meta/check-report.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.check import Checker
    from eventfold.findings import Finding

#: Version of the report's form.
FORM = 1


def header(version: str, wire: str) -> bytes:
    """Write the first line."""
    return _line({"kind": "header", "form": FORM, "eventfold": version, "wire": wire})


def findings_of(source: str, findings: list[Finding]) -> Iterator[bytes]:
    """Write the findings of a file."""
    for finding in findings:
        yield _line({"kind": "finding", "file": source, **finding.to_dict()})


def source_of(source: str, checker: Checker, error: str | None = None) -> bytes:
    """Write what a file was; `error` says why it could not be checked."""
    facts = {"form": checker.form, "events": checker.events, "replies": checker.folder.lifecycle.starts, "messages": len(checker.stored)}
    return _line({"kind": "file", "file": source, **facts, **({"error": error} if error is not None else {})})


def footer(files: int, code: int) -> bytes:
    """Write the last line."""
    return _line({"kind": "footer", "files": files, "exit": code})


def _line(value: dict[str, Any]) -> bytes:
    # A file's name need not be UTF-8: Python reads what is not as lone surrogates, which JSON cannot hold.
    texts = {key: item.encode("utf-8", "backslashreplace").decode() for key, item in value.items() if isinstance(item, str)}
    return orjson.dumps({**value, **texts}) + b"\n"
