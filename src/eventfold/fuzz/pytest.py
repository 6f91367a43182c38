"""
The pytest plugin: assertions about streams, and streams and vectors as arguments of tests.

Loaded by pytest wherever eventfold is installed; it imports what a test needs when the test needs it.

- `assert_valid(events)` and `assert_folds_to(events, message)` fail with findings and differences that name the place.
- `@eventfold_streams()` calls a test with random valid streams as `stream` (needs eventfold[fuzz]).
- A test that takes `eventfold_vector` is run once for each vector that holds events.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from eventfold.jsonvalue import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pytest

    from eventfold.check import Checked

#: How many differences and findings an assertion lists.
_LISTED = 10

__all__ = ["assert_folds_to", "assert_valid", "eventfold_streams"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `eventfold_vector` once for each vector that holds events."""
    if "eventfold_vector" in metafunc.fixturenames:
        from eventfold.vectors import vectors  # noqa: PLC0415  only for those who ask

        listed = [vector for vector in vectors() if "events" in vector]
        metafunc.parametrize("eventfold_vector", listed, ids=[vector["id"] for vector in listed])


def assert_valid(events: bytes | Iterable[Any], *, fail_on: str = "error") -> None:
    """
    Assert that a stream has no finding at or above a severity (error, warning, note).

    Takes bytes in any form that `eventfold check` reads, or events: dicts on the wire, models, structs.
    """
    from eventfold.findings import Severity  # noqa: PLC0415  loaded for the test that asks

    least = Severity[fail_on.upper()]
    found = [finding for finding in _check(events).findings if finding.severity >= least]
    lines = [f"event {finding.index}{finding.pointer}: {finding.severity} {finding.rule}: {finding.message}" for finding in found]
    assert not found, _listed(f"{len(found)} findings", lines)  # noqa: S101  an assertion is what it is


def assert_folds_to(events: bytes | Iterable[Any], message: Any, *, unfilled: Sequence[str] = ()) -> None:
    """
    Assert that a stream folds to a message, or to a list of them, whatever it breaks.

    Compares as canonical JSON, null as absent; `unfilled` are pointers into a message that do not count, `*` for any one part.
    """
    from .comparison import differences  # noqa: PLC0415  loaded for the test that asks

    given = _check(events).messages
    wanted = [_plain(each) for each in (message if is_array(message) else [message])]
    found = differences(wanted, given, unfilled)
    lines = [f"{each.pointer or '/'}: expected {each.wanted!r}, folded {each.given!r}" for each in found]
    assert not found, _listed(f"{len(found)} differences", lines)  # noqa: S101  an assertion is what it is


def eventfold_streams(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Call a test with random valid streams, as `stream`: lists of dicts. Options are those of `strategies.streams`."""
    from hypothesis import given  # noqa: PLC0415  an extra

    from .strategies import streams  # noqa: PLC0415  an extra

    return given(stream=streams(**options))


def _check(events: bytes | Iterable[Any]) -> Checked:
    from eventfold.check import check_and_fold  # noqa: PLC0415  loaded for the test that asks

    if isinstance(events, bytes):
        return check_and_fold(events)
    return check_and_fold("".join(json.dumps(_plain(event)) + "\n" for event in events).encode())


def _plain(value: Any) -> Any:
    """Write a model, a struct or a dict as a dict on the wire."""
    from eventfold.shape import wire_of  # noqa: PLC0415  loaded for the test that asks

    if is_object(value):
        return value
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else wire_of(value, "")


def _listed(head: str, lines: Sequence[str]) -> str:
    more = [f"and {len(lines) - _LISTED} more"] if len(lines) > _LISTED else []
    return "\n".join([f"{head}:", *lines[:_LISTED], *more])
