"""
Text from a stream, made safe to show, and findings on one line, without colours.

Law: what comes from a stream never steers the terminal: control characters are shown, not sent. Nothing is imported for it, so
that a check that finds little starts fast and one that finds millions writes fast.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eventfold.findings import Finding

#: C0 without tab and line feed, DEL, C1, the marks that reorder text, and lone surrogates (of a file's name).
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def safe(text: str) -> str:
    """Show control characters as escapes."""
    return _CONTROL.sub(lambda found: found.group().encode("unicode_escape").decode("ascii"), text)


def one_line(text: str) -> str:
    """Show control characters and line ends as escapes."""
    return safe(text).replace("\n", "\\n")


def parts_of(source: str, finding: Finding) -> tuple[str, str, str, str]:
    """Give the parts of a finding's line, which is in the form that editors jump to: place, severity, what happened, when."""
    place = f"{source}:{finding.line}" if finding.line else source
    where = f"event {finding.index}" + (f", since event {finding.related}" if finding.related is not None else "")
    where = f"message {finding.index}" if finding.rule.startswith("message.") else where
    times = f" {finding.count} times" if finding.count > 1 else ""
    return f"{one_line(place)}: ", str(finding.severity), f" {finding.rule}: {one_line(finding.message)}", f" ({where}{times})"
