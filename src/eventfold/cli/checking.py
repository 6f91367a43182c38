"""
One input -> its part of the report.

Law: what is written of an input does not depend on the others, nor on the process that checks it, and memory does not grow with
what is wrong with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from eventfold.report.checking import FileReport, JSONWriter, SarifWriter, TextWriter, Writer

from .console import CannotRun, complain
from .input import Input
from .options import NATIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .http import Access
    from .sources import Source


class Plan(NamedTuple):
    """How inputs are checked, and how that is written."""

    form: str
    dialect: str
    keep_ended: int
    max_open: int
    access: Access
    encoding: str  #: of standard output
    colours: bool

    def writer(self) -> Writer:
        """Make who writes."""
        if self.form == "text":
            return TextWriter(self.encoding, colours=self.colours)
        from importlib.metadata import version

        from eventfold_models.tables import WIRE_VERSION

        return JSONWriter(version("eventfold"), WIRE_VERSION) if self.form == "json" else SarifWriter(version("eventfold"), self._rules)

    def _rules(self) -> Mapping[str, Mapping[str, str]]:
        if self.dialect == NATIVE:
            from eventfold_models.tables import RULES

            return RULES
        from eventfold.dialects import all_rules

        return all_rules()

    def input(self, name: str, tick: Callable[[int], None] | None = None, say: Callable[[str], None] = complain) -> Input:
        """Make an input that nothing is kept of. Raises CannotRun: there is no such dialect to read."""
        from eventfold.fold import Folder

        folder = Folder(keep_ended=self.keep_ended, max_open=self.max_open, keep_messages=False)
        return Input(name, self.dialect, folder, access=self.access, tick=tick, say=say)


def examine(
    source: Source,
    plan: Plan,
    writer: Writer,
    tick: Callable[[int], None] | None = None,
    say: Callable[[str], None] = complain,
) -> Iterator[bytes | FileReport]:
    """Check an input: give what is to be written of it, bit by bit, and last what it was."""
    if source.error is not None:
        yield writer.file(report := FileReport(source.name, error=source.error))
        yield report
        return
    read = plan.input(source.name, tick, say)
    error: str | None = None
    try:
        for batch in read.batches():
            yield writer.findings(read.name, batch)
    except CannotRun as reason:
        error = str(reason)
    except KeyboardInterrupt:
        yield writer.findings(read.name, read.checker.findings())
        raise
    checker = read.checker
    starts = checker.folder.lifecycle.starts
    report = FileReport(read.name, checker.form, checker.events, starts, checker.messages, dict(read.wrong), error)
    yield writer.file(report)
    yield report
