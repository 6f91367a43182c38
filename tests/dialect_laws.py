"""
The laws that hold for every dialect, for the tests of each.

A stream goes out through a dialect and comes back; its messages must be equal outside the places where the losses
that were reported on the way show. A stream without a reported loss comes back whole.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from eventfold_models.tables import EVENTS

from eventfold import Folder, read_event
from eventfold.dialects.reading import DialectChecker
from eventfold.findings import Severity
from eventfold.jsonvalue import copy_json, escape, is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from support import Wire

    from eventfold.dialects import Dialect, Loss, Remark
    from eventfold.findings import Finding


class Journey(NamedTuple):
    """What became of a stream that went out through a dialect and came back."""

    out: list[Wire]  #: the foreign values
    back: list[Any]  #: the events that were read of them
    losses: list[Loss]
    remarks: list[Remark]


def encoded(dialect: Dialect, events: Iterable[Wire]) -> tuple[list[Wire], list[Loss]]:
    """Say events in a dialect, those of unknown types left out, as the fold does. The values go through JSON text, as they would."""
    assert dialect.encoder is not None
    encoder = dialect.encoder()
    out = [value for event in events if event["type"] in EVENTS for value in encoder.feed(read_event(event))]
    out += encoder.finish()
    return json.loads(json.dumps(out)), encoder.losses


def decoded(dialect: Dialect, values: Iterable[Any]) -> tuple[list[Any], list[Loss], list[Remark]]:
    """Read foreign values. Neither they nor what was made of them may be shared."""
    assert dialect.decoder is not None
    decoder = dialect.decoder()
    events: list[Any] = []
    remarks: list[Remark] = []
    for value in values:
        before = json.dumps(value)
        events += decoder.feed(value)
        remarks += decoder.remarks
        assert json.dumps(value) == before
    events += decoder.finish()
    return events, decoder.losses, remarks + decoder.remarks


def journey(dialect: Dialect, events: Iterable[Wire]) -> Journey:
    """Send a stream out through a dialect and back."""
    out, lost = encoded(dialect, events)
    back, lost_too, remarks = decoded(dialect, out)
    return Journey(out, back, [*lost, *lost_too], remarks)


def folded(events: Iterable[Any]) -> list[Wire]:
    """Fold events, structs or dicts, to messages."""
    folder = Folder()
    for event in events:
        if not is_object(event):
            folder.feed(event)
        elif event["type"] in EVENTS:
            folder.feed(read_event(event))
    return folder.snapshots()


def outside(messages: list[Wire], patterns: Iterable[str]) -> Any:
    """Give messages without what stands at pointers of the patterns; `*` is any one step. Equal ones compare equal."""
    shapes = [re.compile(re.escape(pattern).replace(r"\*", "[^/]*")) for pattern in patterns]
    return [_without(copy_json(message), "", shapes) for message in messages]


def _without(value: Any, pointer: str, shapes: list[re.Pattern[str]]) -> Any:
    def kept(place: str) -> bool:
        return not any(shape.fullmatch(place) for shape in shapes)

    if is_object(value):
        places = {key: f"{pointer}/{escape(key)}" for key in value}
        return {key: _without(value[key], place, shapes) for key, place in places.items() if kept(place)}
    if is_array(value):
        return [_without(item, f"{pointer}/{i}", shapes) for i, item in enumerate(value) if kept(f"{pointer}/{i}")]
    return value


def patterns_of(dialect: Dialect, losses: Iterable[Loss]) -> set[str]:
    """Give where reported losses show. A reason that the dialect does not declare is a mistake."""
    return {pattern for loss in losses for pattern in dialect.losses[loss.reason]}


def reader(dialect: Dialect) -> Callable[[bytes], tuple[list[Wire], list[Finding]]]:
    """Read bytes in a dialect: messages, and what was found."""

    def read(data: bytes) -> tuple[list[Wire], list[Finding]]:
        checker = DialectChecker(dialect)
        checker.feed(data)
        found = checker.finish()
        return checker.folder.snapshots(), found

    return read


def lines(values: list[Any]) -> bytes:
    """Write values as JSON Lines."""
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def rules_of(found: list[Finding], least: Severity = Severity.ERROR) -> list[str]:
    """Name the rules of findings."""
    return [finding.rule for finding in found if finding.severity >= least]
