"""Shortcuts change nothing: whatever the stream, the interpreter gives the same when it makes every step one by one."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import Wire, lines_of

from eventfold import Checker, Folder, check, check_and_fold, read_event
from eventfold.effects import APPENDERS
from eventfold.fuzz.coverage import Coverage, check_and_note
from eventfold.fuzz.strategies import streams
from eventfold.shortcuts import Shortcuts
from eventfold.wire.guess import ENOUGH

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventfold.check import Checked

#: The module, whose name in the package is that of the function.
CHECK = import_module("eventfold.check")

#: What may happen to an event of a stream.
EDITS = ("drop", "again", "swap", "many", "many", "cumulative", "noted")


def step_by_step(data: bytes) -> Checked:
    """Check and fold without shortcuts, as whoever looks at each step does."""
    return check_and_note(data, Coverage(set(), set(), set()))


def edited(events: list[Wire], edits: list[tuple[str, int, int]]) -> list[Wire]:
    """Make a stream longer, and break it."""
    events = [dict(event) for event in events]
    for number, (edit, first, second) in enumerate(edits):
        if not events:
            break
        at, other = first % len(events), second % len(events)
        event = events[at]
        if edit == "drop":
            del events[at]
        elif edit == "again":
            events.insert(other, event)
        elif edit == "swap":
            events[at], events[other] = events[other], events[at]
        elif edit == "noted":
            events[at] = {**event, "metadata": {"n": number}}
        elif "delta" in event:
            size = 1 + second % 6
            deltas = ["ab"[: 1 + i % 2] if edit == "many" else "a" * (i + 1) for i in range(size)]
            events[at:at] = [{**event, "id": f"{number}/{i}", "delta": delta} for i, delta in enumerate(deltas)]
    return events


@given(streams(), st.lists(st.tuples(st.sampled_from(EDITS), st.integers(0, 10**6), st.integers(0, 10**6)), max_size=12))
def test_shortcuts_change_nothing(stream: list[Wire], edits: list[tuple[str, int, int]]) -> None:
    """Messages and findings are the same, and in the same order, for streams in order and out of it."""
    data = lines_of(edited(stream, edits))
    assert check_and_fold(data) == step_by_step(data)


#: What may be wrong with the text of an event in a run of others that are of its type.
ODD: dict[str, Callable[[bytes], bytes]] = {
    "no type": lambda line: re.sub(rb'"type":"TEXT_BLOCK_DELTA",', b"", line),
    "another type": lambda line: line.replace(b"TEXT_BLOCK_DELTA", b"THINKING_BLOCK_DELTA"),
    "a type that does not fit": lambda line: line.replace(b"TEXT_BLOCK_DELTA", b"TEXT_BLOCK_END"),
    "a type that nobody knows": lambda line: line.replace(b"TEXT_BLOCK_DELTA", b"TOMORROW"),
    "a type that is null": lambda line: line.replace(b'"TEXT_BLOCK_DELTA"', b"null"),
    "a type twice, another last": lambda line: line.replace(b"{", b'{"type":"TEXT_BLOCK_END",', 1),
    "a type twice, another first": lambda line: line[:-1] + b',"type":"TEXT_BLOCK_END"}',
    "a type in an object": lambda line: re.sub(rb'"type":"TEXT_BLOCK_DELTA"', b'"metadata":{"type":"TEXT_BLOCK_DELTA"}', line),
    "a field that is unknown": lambda line: line[:-1] + b',"x_new":1}',
    "a field that is missing": lambda line: re.sub(rb'"block_id":"b",', b"", line),
    "a delta that is a number": lambda line: re.sub(rb'"delta":"[^"]*"', b'"delta":1', line),
    "nesting": lambda line: line[:-1] + b',"metadata":{"a":' + b"[" * 100 + b"]" * 100 + b"}}",
    "text beside it": lambda line: line + b" true",
    "nothing": lambda line: line[:0],
    "an end too early": lambda line: line[:-4],
    "a byte that is no text": lambda line: line.replace(b'"delta":"', b'"delta":"\xff'),
}


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("extended", [False, True])
def test_a_guess_changes_nothing(odd: str, extended: bool, twice: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001  parameters of the test
    """After a run of events of one class, the next is judged as it would be alone, in every form of the bytes."""
    plain = [{"type": "TEXT_BLOCK_DELTA", "block_id": "b", "delta": str(number)} for number in range(3 * ENOUGH)]
    deltas = [{**event, "trace": 1} for event in plain] if extended else plain
    events = [{"id": f"e{i}", "created_at": "2026-01-01", "reply_id": "r", **event} for i, event in enumerate([*HEAD, *deltas])]
    lines = [msgspec.json.encode(event) for event in events]
    for place in (2 * ENOUGH, 2 * ENOUGH + 1) if twice else (2 * ENOUGH,):
        before, lines[place] = lines[place], ODD[odd](lines[place])
        assert lines[place] != before
    given_forms = [b"\n".join(lines), b"".join(b"data: " + line + b"\n\n" for line in lines), b"[" + b",".join(lines) + b"]"]
    guessed = [check_and_fold(data) for data in given_forms]
    monkeypatch.setattr(CHECK, "ENOUGH", sys.maxsize)
    assert [check_and_fold(data) for data in given_forms] == guessed


@given(streams(), st.lists(st.tuples(st.sampled_from(EDITS), st.integers(0, 10**6), st.integers(0, 10**6)), max_size=12))
def test_guesses_change_nothing(stream: list[Wire], edits: list[tuple[str, int, int]]) -> None:
    """Whatever is guessed, and however early, messages and findings are the same."""
    data = lines_of(edited(stream, edits))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CHECK, "ENOUGH", 1)
        guessed = check_and_fold(data)
        patch.setattr(CHECK, "ENOUGH", sys.maxsize)
        assert check_and_fold(data) == guessed


HEAD: list[Wire] = [
    {"type": "REPLY_START", "session_id": "s", "name": "n"},
    {"type": "TEXT_BLOCK_START", "block_id": "b"},
]
GROWING: list[Wire] = [{"type": "TEXT_BLOCK_DELTA", "block_id": "b", "delta": delta} for delta in ("x", "y", "z", "x", "y", "z")]


@pytest.mark.parametrize(
    "between",
    [
        {"type": "TEXT_BLOCK_END", "block_id": "b"},
        {"type": "REPLY_END", "session_id": "s"},
        {"type": "TEXT_BLOCK_START", "block_id": "b"},
        {"type": "MODEL_CALL_START", "model_name": "m"},
        {"type": "THINKING_BLOCK_START", "block_id": "b"},
        {"type": "TEXT_BLOCK_DELTA", "block_id": "b", "delta": "zz"},
        {"type": "TEXT_BLOCK_DELTA", "block_id": "b", "delta": "q", "id": "e4"},
        {"type": "TEXT_BLOCK_DELTA", "block_id": "b", "delta": "z", "id": "e4"},
        {"type": "TEXT_BLOCK_DELTA", "block_id": "b", "delta": "q", "metadata": {"a": 1}},
        {"type": "TEXT_BLOCK_DELTA", "block_id": "c", "delta": "q"},
    ],
    ids=str,
)
def test_what_comes_between_deltas_counts(between: dict[str, Any]) -> None:
    """However many deltas went the short way, the next event is judged as the table says."""
    events = [*HEAD, *GROWING, between, *GROWING]
    data = lines_of([{"id": f"e{i}", "created_at": "2026-01-01", "reply_id": "r", **event} for i, event in enumerate(events)])
    assert check_and_fold(data) == step_by_step(data)


def test_cumulative_deltas_are_found_after_others() -> None:
    """A producer that says all the text again in the middle of a block is seen; deltas that only begin with each other are none."""
    so_far = "".join(delta["delta"] for delta in GROWING)
    for begin, found in ((so_far, True), ("", False), ("z", False)):
        cumulative: list[Wire] = [{"type": "TEXT_BLOCK_DELTA", "block_id": "b", "delta": begin + "z" * size} for size in range(1, 6)]
        events = [*HEAD, *GROWING, *cumulative]
        data = lines_of([{"id": f"e{i}", "created_at": "2026-01-01", "reply_id": "r", **event} for i, event in enumerate(events)])
        assert check_and_fold(data) == step_by_step(data)
        assert ("block.cumulative-deltas" in {finding.rule for finding in check(data)}) is found


def test_what_one_role_may_another_may_not() -> None:
    """A walk of an assistant's reply is not made for a user's, whatever came before."""
    events = [
        {"reply_id": role, **event}
        for role in ("assistant", "user", "system", "assistant2")
        for event in (
            {**HEAD[0], "role": role.rstrip("2")},
            {"type": "THINKING_BLOCK_START", "block_id": "b"},
            {"type": "THINKING_BLOCK_DELTA", "block_id": "b", "delta": "x"},
            {"type": "TOOL_CALL_START", "tool_call_id": "c", "tool_call_name": "n"},
        )
    ]
    data = lines_of([{"id": f"e{i}", "created_at": "2026-01-01", **event} for i, event in enumerate(events)])
    assert check_and_fold(data) == step_by_step(data)
    assert [finding.reply_id for finding in check(data) if finding.rule == "block.not-for-role"] == ["user", "user", "system", "system"]


def test_a_reply_that_waits_no_more_is_known_to() -> None:
    """The result of a call that was asked of outside comes streamed, in reply after reply: none is parked when the stream stops."""
    call = {"type": "tool_call", "id": "c", "name": "n", "input": "", "state": "submitted"}
    body: list[Wire] = [
        HEAD[0],
        {"type": "TOOL_CALL_START", "tool_call_id": "c", "tool_call_name": "n"},
        {"type": "TOOL_CALL_END", "tool_call_id": "c"},
        {"type": "REQUIRE_EXTERNAL_EXECUTION", "tool_calls": [call]},
        {"type": "TOOL_RESULT_START", "tool_call_id": "c", "tool_call_name": "n"},
        {"type": "TOOL_RESULT_END", "tool_call_id": "c", "state": "success"},
    ]
    events = [{"id": f"e{i}", "created_at": "2026-01-01", "reply_id": reply, **event} for reply in "abc" for i, event in enumerate(body)]
    data = lines_of(events)
    assert check_and_fold(data) == step_by_step(data)
    assert [finding.reply_id for finding in check(data) if finding.rule == "reply.missing-end"] == ["a", "b", "c"]


def test_a_walk_of_a_restored_reply_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checker of a restored folder counts anew, so that indices of before come again. What moved is not told by them."""
    monkeypatch.setattr(import_module("eventfold.fold"), "SHORTCUTS", Shortcuts(APPENDERS))
    events: list[Wire] = [
        HEAD[0],
        {"type": "MODEL_CALL_START", "model_name": "m"},
        HEAD[1],
        GROWING[0],
        {"type": "TEXT_BLOCK_END", "block_id": "b"},
        {"type": "REPLY_END", "session_id": "s"},
    ]
    stream = [{"id": f"e{i}", "created_at": "2026-01-01", "reply_id": "r", **event} for i, event in enumerate(events)]
    first = Folder()
    for event in stream[:2]:
        first.feed(read_event(event))
    second = Checker(folder=Folder.restore(first.checkpoint()))
    custom: Wire = {"type": "CUSTOM", "id": "c", "created_at": "2026-01-01", "name": "n", "value": {}}
    for event in (custom, stream[2]):
        second.feed_event(read_event(event))
    assert [(finding.rule, finding.related) for finding in check(lines_of(stream))] == [("model-call.open-at-end", 1)]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=70), min_size=1, max_size=3))
def test_any_name_may_come_again(names: list[str]) -> None:
    """Unknown fields of whatever name are found, the second time as the first."""
    events = [
        {"id": f"e{i}", "created_at": "2026-01-01", "reply_id": "r", **event}
        for i, event in enumerate([*HEAD, *GROWING, *GROWING, *GROWING])
    ]
    known = {key for event in events for key in event}
    unknown = {name: 1 for name in names if name not in known | {"metadata", "source_path", "role"}}
    data = lines_of([{**event, **unknown} for event in events])
    again = check_and_fold(data)
    assert again == check_and_fold(data) == step_by_step(data)
    found = {finding.pointer: finding.count for finding in again.findings if finding.rule == "event.unknown-field"}
    assert list(found.values()) == [18] * len(unknown)


def test_a_blank_event_is_no_json() -> None:
    """A blank line of JSONL is nothing, a blank event of another form is one."""
    assert [finding.rule for finding in check(b"data: 1\n\ndata:   \n\n")] == ["event.not-object", "wire.not-json"]
    assert [finding.rule for finding in check(b"1\n   \n")] == ["event.not-object"]
