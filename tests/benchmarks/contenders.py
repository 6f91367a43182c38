"""
Who reads the streams: one row each, with what is said of it, how the stream is written for it, and how its result is proven.

Law: nobody wins by doing nothing. Before it is measured, a contender that folds must give the text that the deltas make, one that
parses must count every event, and one that validates must, besides, refuse a broken event. Who is absent is left out with the reason.
"""

from __future__ import annotations

import binascii
from functools import cache, partial
from importlib.util import find_spec
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from eventfold import Checker, Folder, check, check_and_fold, read_event

from . import others
from .workloads import Told, Wire, lines_of, told_by_messages

if TYPE_CHECKING:
    from collections.abc import Callable

#: An event that every validator has to refuse: a delta that is a number.
BROKEN = b'{"id":"e","created_at":"2026-11-30","type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"b","delta":1}'
PIECE = 64 * 1024


class Trial(NamedTuple):
    """A contender with a stream in hand: run it as often as wanted."""

    run: Callable[[], Any]
    #: Says what is wrong with a result; empty when nothing is.
    prove: Callable[[Any, Told, int], str]
    #: One of so many events is read; the time is multiplied.
    sample: int = 1
    #: Seconds and peak of memory as the result itself says: it ran in another process.
    told: Callable[[Any], tuple[float, int]] | None = None
    close: Callable[[], None] = lambda: None


class Contender(NamedTuple):
    """A row: its name, what it does in a few words, how it starts on a stream."""

    name: str
    does: str
    start: Callable[[bytes], Trial]
    #: How the stream is written for it.
    write: Callable[[list[Wire]], bytes] = lines_of
    #: Why it cannot run here; empty when it can.
    absent: Callable[[], str] = lambda: ""
    #: Workload -> why it is left out there; "*" is all others.
    skips: dict[str, str] = {}  # noqa: RUF012  never changed

    def why_not(self, workload: str) -> str:
        """Say why it does not run on a workload; empty when it does."""
        return self.skips.get(workload, self.skips.get("*", "")) or self.absent()


def _folded(messages: list[Wire], told: Told) -> str:
    given = told_by_messages(messages)
    wrong = [key for key, text in told.items() if given.get(key) != text]
    return f"{len(wrong)} of {len(told)} texts are wrong, the first {wrong[0]}" if wrong else ""


def _proven(messages_of: Callable[[Any], list[Wire]] = lambda result: result) -> Callable[[Any, Told, int], str]:
    def prove(result: Any, told: Told, _events: int) -> str:
        return _folded(messages_of(result), told)

    return prove


def _counted(result: int, _told: Told, events: int) -> str:
    return "" if result == events else f"{result} of {events} events"


def _check_and_fold(data: bytes) -> Trial:
    return Trial(partial(check_and_fold, data), _proven(attrgetter("messages")))


def _check_and_fold_pieces(data: bytes) -> Trial:
    pieces = [data[start : start + PIECE] for start in range(0, len(data), PIECE)]

    def run() -> list[Wire]:
        checker = Checker()
        for piece in pieces:
            checker.feed(piece)
        checker.finish()
        return checker.folder.snapshots()

    return Trial(run, _proven())


def _check(data: bytes) -> Trial:
    def prove(_findings: Any, _told: Told, _events: int) -> str:
        broken = check(data + BROKEN + b"\n")
        return "" if any(finding.rule == "event.schema" for finding in broken) else "it accepts a broken event"

    return Trial(partial(check, data), prove)


def _fold(data: bytes) -> Trial:
    # An unknown field is the reader's business: the events have been read when the fold begins.
    events = [read_event(orjson.loads(line)) for line in data.splitlines()]

    def run() -> list[Wire]:
        folder = Folder()
        for event in events:
            folder.feed(event)
        return folder.snapshots()

    return Trial(run, _proven())


def _orjson(data: bytes) -> Trial:
    lines = data.splitlines()

    def run() -> int:
        loads = orjson.loads
        for line in lines:
            loads(line)
        return len(lines)

    return Trial(run, _counted)


def _base64(data: bytes) -> Trial:
    documents = [event["data"] for event in map(orjson.loads, data.splitlines()) if event["type"] == "DATA_BLOCK_DELTA"]

    def run() -> bytes:
        return b"".join([binascii.a2b_base64(document, strict_mode=True) for document in documents])

    def prove(result: bytes, told: Told, _events: int) -> str:
        return "" if binascii.b2a_base64(result, newline=False).decode() in told.values() else "other bytes"

    return Trial(run, prove)


def _validating(accepts: Callable[[bytes], bool], data: bytes, sample: int = 1) -> Trial:
    """Try a validator: of a line, it says whether it is an event of the contract."""
    lines = data.splitlines()[::sample]

    def run() -> int:
        return sum(map(accepts, lines))

    def prove(result: int, _told: Told, _events: int) -> str:
        return "it accepts a broken event" if accepts(BROKEN) else _counted(result, _told, len(lines))

    return Trial(run, prove, sample)


def _pydantic(data: bytes) -> Trial:
    from pydantic import ValidationError  # noqa: PLC0415  whoever is measured loads what it needs

    from eventfold.models import EVENT  # noqa: PLC0415  as above

    read = EVENT.validate_json

    def accepts(line: bytes) -> bool:
        try:
            read(line)
        except ValidationError:
            return False
        return True

    return _validating(accepts, data)


def _by_type(make: Callable[[Wire], Any], data: bytes, sample: int = 1) -> Trial:
    """Judge each event by the schema of its own type: several times as fast as the union of all, for either library."""
    from eventfold_models.tables import EVENTS  # noqa: PLC0415  as above

    from eventfold.wire.schema import contract  # noqa: PLC0415  as above

    @cache
    def is_valid(name: str) -> Callable[[Any], bool]:
        return make({**contract(), "$ref": f"#/$defs/{EVENTS[name]}"}).is_valid

    def accepts(line: bytes) -> bool:
        event = orjson.loads(line)
        return is_valid(event["type"])(event)

    return _validating(accepts, data, sample)


def _jsonschema(data: bytes) -> Trial:
    from jsonschema import Draft202012Validator  # noqa: PLC0415  as above

    return _by_type(Draft202012Validator, data, max(data.count(b"\n") // 500, 1))


def _jsonschema_rs(data: bytes) -> Trial:
    import jsonschema_rs  # noqa: PLC0415  as above

    return _by_type(jsonschema_rs.Draft202012Validator, data)


def _agentscope(data: bytes) -> Trial:
    return Trial(others.agentscope(data), _proven(others.dumped))


def _agui(data: bytes) -> Trial:
    node = others.Node(data)

    def prove(_result: Any, told: Told, _events: int) -> str:
        return others.not_shown(node.ask("show")["messages"], told)

    return Trial(partial(node.ask, "run"), prove, told=itemgetter("seconds", "peak"), close=node.close)


def _missing(package: str) -> Callable[[], str]:
    return lambda: "" if find_spec(package) else f"{package} is not installed"


OURS, FLOOR, AGENTSCOPE, BASE64 = "eventfold check + fold", "orjson.loads", "agentscope", "base64"
CONTENDERS = (
    Contender(FLOOR, "the floor: parses each line, split beforehand, and drops the result", _orjson),
    Contender(BASE64, "bare strict decode of each document, and join", _base64, skips={"image": "", "*": "no data in this stream"}),
    Contender(OURS, "bytes in, messages and findings out", _check_and_fold),
    Contender("eventfold check + fold, fed", "the same, fed in pieces of 64 KB", _check_and_fold_pieces),
    Contender("eventfold check", "bytes in, findings out", _check),
    Contender("eventfold fold", "events that were read before in, messages out", _fold),
    Contender("jsonschema-rs", "parses and validates each event", _jsonschema_rs, absent=_missing("jsonschema_rs")),
    Contender("pydantic", "parses and validates each event, by our models", _pydantic),
    Contender("jsonschema", "parses and validates each event; a sample of 500, scaled up", _jsonschema),
    Contender(AGENTSCOPE, "parses each event, then Msg.append_event", _agentscope, others.said_by_agentscope, _missing("agentscope")),
    Contender("AG-UI client", "its whole pipeline in Node, on the stream as AG-UI", _agui, others.said_by_agui, others.no_node),
)


def contender(name: str) -> Contender:
    """Give a contender by name."""
    return next(row for row in CONTENDERS if row.name == name)
