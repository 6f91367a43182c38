"""
What `eventfold check` writes, in each of its forms, bit by bit: a head, findings as they come, the end of a file, a foot.

Law: memory does not grow with the findings, and what is written of a file does not depend on other files, so that several
processes can write it and one can put it together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from eventfold.findings import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from eventfold.findings import Finding


class FileReport(NamedTuple):
    """What a file holds, and how much is wrong with it."""

    name: str  #: as it is shown
    form: str = ""
    events: int = 0
    replies: int = 0
    messages: int = 0
    wrong: Mapping[Severity, int] = {}  #: how many findings of which severity
    error: str | None = None  #: why it could not be checked
    said: tuple[str, ...] = ()  #: further lines for whoever reads along


class Writer(Protocol):
    """One form of the report."""

    def head(self) -> bytes:
        """Write what comes before all files."""
        ...

    def findings(self, name: str, findings: list[Finding]) -> bytes:
        """Write findings of a file."""
        ...

    def file(self, report: FileReport) -> bytes:
        """Write what comes after the findings of a file."""
        ...

    def foot(self, files: int, code: int, errors: list[str]) -> bytes:
        """Write what comes after all files: how many they were, the exit code, and why some could not be checked."""
        ...


class TextWriter:
    """For people: a line for each finding and each file."""

    def __init__(self, encoding: str, *, colours: bool) -> None:
        self.encoding = encoding
        self.colours = colours

    def head(self) -> bytes:
        """Write nothing."""
        return b""

    def findings(self, name: str, findings: list[Finding]) -> bytes:
        """Write a line for each."""
        return finding_lines(name, findings, self.encoding, colours=self.colours)

    def file(self, report: FileReport) -> bytes:
        """Write what the file holds in a line, if it could be checked."""
        if report.error is not None:
            return b""
        from .plain import one_line

        counts = [(report.events, "event"), (report.replies, "reply"), (report.messages, "message")]
        held = ", ".join(_number(word, count) for word, count in ((word, count) for count, word in counts) if count)
        verdict = ", ".join(_number(str(severity), report.wrong[severity]) for severity in reversed(Severity) if report.wrong.get(severity))
        return f"{one_line(report.name)}: {held}: {verdict or 'clean'}\n".encode(self.encoding, "backslashreplace")

    def foot(self, files: int, code: int, errors: list[str]) -> bytes:
        """Write nothing."""
        del files, code, errors
        return b""


class JSONWriter:
    """For programs: one JSON document a line."""

    def __init__(self, version: str, wire: str) -> None:
        self.version = version
        self.wire = wire

    def head(self) -> bytes:
        """Write the header."""
        from .machine import header

        return header(self.version, self.wire)

    def findings(self, name: str, findings: list[Finding]) -> bytes:
        """Write a document for each."""
        from .machine import findings_of

        return b"".join(findings_of(name, findings))

    def file(self, report: FileReport) -> bytes:
        """Write what the file was."""
        from .machine import source_of

        return source_of(report)

    def foot(self, files: int, code: int, errors: list[str]) -> bytes:
        """Write the footer."""
        from .machine import footer

        del errors
        return footer(files, code)


class SarifWriter:
    """For code hosts: one document."""

    def __init__(self, version: str, catalogue: Callable[[], Mapping[str, Mapping[str, str]]]) -> None:
        self.version = version
        self.rules = catalogue()

    def head(self) -> bytes:
        """Write the document up to its results."""
        from .sarif import opening

        return opening(self.version, self.rules)

    def findings(self, name: str, findings: list[Finding]) -> bytes:
        """Write a result for each, with the comma before it; the first of all has one too many."""
        from .sarif import results

        return results(name, findings, self.rules)

    def file(self, report: FileReport) -> bytes:
        """Write nothing."""
        del report
        return b""

    def foot(self, files: int, code: int, errors: list[str]) -> bytes:
        """Write the document's end, with what could not be checked."""
        from .sarif import closing

        del files, code
        return closing(errors)


def finding_lines(name: str, findings: list[Finding], encoding: str, *, colours: bool) -> bytes:
    """Write a line for each finding. Without colours no terminal library is loaded."""
    if not colours:
        from .plain import parts_of

        text = "".join(f"{''.join(parts_of(name, finding))}\n" for finding in findings)
    else:
        from rich.console import Console

        from .terminal import finding_line

        console = Console(force_terminal=True, highlight=False, emoji=False)
        with console.capture() as capture:
            for finding in findings:
                console.print(finding_line(name, finding), soft_wrap=True)
        text = capture.get()
    return text.encode(encoding, "backslashreplace")


def _number(word: str, count: int) -> str:
    plural = "replies" if word == "reply" else f"{word}s"
    return f"{count:,} {word if count == 1 else plural}"
