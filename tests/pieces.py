"""What the tests of the model providers' dialects share: recordings of others, decoding, text in pieces, and streams that are broken."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st
from support import ROOT, Wire

from eventfold import Folder, Severity
from eventfold.dialects.reading import DialectChecker
from eventfold.findings import SEVERITY
from eventfold.fuzz.breaking import with_odd_value
from eventfold.fuzz.payloads import texts
from eventfold.jsonvalue import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hypothesis.strategies import DrawFn

    from eventfold.dialects import Dialect, Loss
    from eventfold.lifecycle import Breach

#: Recordings of others stand beside the project: their licences are not ours, so that they are no part of it.
SHARED = ROOT.parent / "shared/recordings"

#: Any text that a provider may send: well-formed, with astral characters and U+2028.
words = st.one_of(texts, st.sampled_from(("", "a", "é\u2028", "\U0001f600", ' "q"\n', "x" * 40)))
#: What a call may be given.
objects = st.dictionaries(
    st.sampled_from(("a", "b", "ü", "")),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(-(2**40), 2**40), st.floats(allow_nan=False, allow_infinity=False), words),
        lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(("k", "l")), inner, max_size=2)),
        max_leaves=4,
    ),
    max_size=3,
)
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=6,
)


class Read(NamedTuple):
    """What became of foreign values."""

    messages: list[Wire]
    events: list[Any]
    rules: list[str]  #: of what is wrong, with the foreign values or with our events
    errors: list[str]  #: those of severity error
    losses: list[Loss]


def recordings(folder: str) -> list[Path]:
    """Give the recordings of a provider; none where they are absent."""
    return sorted((SHARED / folder).glob("*")) if (SHARED / folder).is_dir() else []


def read_bytes(dialect: Dialect, data: bytes) -> Read:
    """Read a stream of a dialect from bytes, as the command line does."""
    checker = DialectChecker(dialect)
    checker.feed(data)
    findings = checker.finish()
    errors = [finding.rule for finding in findings if finding.severity is Severity.ERROR]
    return Read(checker.folder.snapshots(), [], [finding.rule for finding in findings], errors, checker.losses)


def read(dialect: Dialect, values: Sequence[Any]) -> Read:
    """Read values of a dialect, and judge the events as `check` does."""
    assert dialect.decoder is not None
    decoder = dialect.decoder()
    broken: list[str] = []
    folder = Folder()

    def report(breach: Breach) -> None:
        broken.append(breach.rule)

    folder.lifecycle.report = report
    events: list[Any] = []
    remarked: list[str] = []

    def take(made: Any) -> None:
        for event in made:
            events.append(event)
            folder.feed(event)
        remarked.extend(remark.rule for remark in decoder.remarks)

    for value in values:
        take(decoder.feed(value))
    take(decoder.finish())
    folder.lifecycle.finish(len(values))
    rules = [*remarked, *broken]
    severity = {**SEVERITY, **{rule: Severity[entry["severity"].upper()] for rule, entry in dialect.rules.items()}}
    errors = [rule for rule in rules if severity[rule] is Severity.ERROR]
    return Read(folder.snapshots(), events, rules, errors, decoder.losses)


@st.composite
def cut(draw: DrawFn, text: str) -> list[str]:
    """Draw pieces that make a text, empty ones among them."""
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    return [text[one:other] for one, other in zip([0, *places], [*places, len(text)], strict=True)]


def units(text: str) -> list[str]:
    """Cut a text into UTF-16 units, as a producer may that counts them: halves of pairs stand alone."""
    raw = text.encode("utf-16-be")
    return [raw[i : i + 2].decode("utf-16-be", "surrogatepass") for i in range(0, len(raw), 2)]


@st.composite
def broken(draw: DrawFn, stream: Sequence[Any]) -> list[Any]:
    """Draw a stream with values dropped, doubled, swapped or cut off, or with odd values in them."""
    values = list(stream)
    for _ in range(draw(st.integers(1, 4))):
        if not values:
            break
        how = draw(st.sampled_from(("drop", "double", "swap", "cut", "odd", "odd")))
        place, other = draw(st.integers(0, len(values) - 1)), draw(st.integers(0, len(values) - 1))
        if how == "drop":
            del values[place]
        elif how == "double":
            values.insert(other, values[place])
        elif how == "swap":
            values[place], values[other] = values[other], values[place]
        elif how == "cut":
            del values[place + 1 :]
        else:
            values[place] = draw(with_odd_value(values[place]))
    return values


def bare(value: Any) -> Any:
    """Give a JSON value without nulls in its objects, which mean that nothing is there."""
    if is_object(value):
        return {key: bare(item) for key, item in value.items() if item is not None}
    return [bare(item) for item in value] if is_array(value) else value


def arguments_of(text: str) -> Any:
    """Read arguments as the vendors do: nothing is no arguments; text that is no JSON stays text."""
    if not text:
        return {}
    try:
        return json.loads(text)
    except ValueError:
        return text


def exhausted(value: Any) -> Any:
    """Make pydantic judge what it puts off: it validates an Iterable only when it is read."""
    if isinstance(value, dict):
        return {key: exhausted(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]  what pydantic gives
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude_unset=True)
    if hasattr(value, "__iter__") and not isinstance(value, (str, bytes)):
        return [exhausted(item) for item in value]
    return value
