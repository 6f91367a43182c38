"""
The laws of the fold, on random streams (schemas/README.md says what the words mean).

The streams come from `eventfold.fuzz.strategies`, which draw them from the schemas and the lifecycle table; that
they reach everything is shown in test_strategies.py. Laws 1, 4 and 6 carry the others and get four times the examples.
"""

from __future__ import annotations

import binascii
import gc
import json
import time
from base64 import b64decode, b64encode
from collections import Counter
from itertools import product
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest
from eventfold_models.tables import MESSAGES, REQUIRED
from hypothesis import example, given, note, settings
from hypothesis import strategies as st
from support import Wire, lines_of

from eventfold import Checker, Folder, Severity, check_and_fold, read_event, unfold
from eventfold.fuzz.breaking import broken_streams
from eventfold.fuzz.strategies import cuts, interleavings, messages, redeliveries, replies, streams
from eventfold.jsonvalue import escape, is_array, is_object
from eventfold.shape import wire_of, with_defaults
from eventfold.table import PLANS
from eventfold.wire.schema import errors

if TYPE_CHECKING:
    from eventfold.findings import Finding
    from eventfold.lifecycle import Breach

    #: Where events stand in another stream.
    Positions = dict[int | None, int | None]

four_times = settings(max_examples=4 * settings.default.max_examples)  # pyright: ignore[reportOptionalMemberAccess]  a profile is loaded


def failures(findings: list[Finding]) -> list[Finding]:
    """Give the findings that break the contract."""
    return [finding for finding in findings if finding.severity is Severity.ERROR]


def fold_bytes(stream: list[Wire]) -> list[Wire]:
    """Fold a stream from bytes."""
    return check_and_fold(lines_of(stream)).messages


# --- law 1 --------------------------------------------------------------------------------------


@four_times
@given(streams())
def test_law_1_a_valid_stream_folds_to_one_message_per_reply(stream: list[Wire]) -> None:
    """One schema-valid message per reply, with the reply's id, at the end and after every event; and no error."""
    begun: list[str] = []
    checker = Checker()
    for event in stream:
        if event["type"] == "REPLY_START" and event["reply_id"] not in begun:
            begun.append(event["reply_id"])
        checker.feed(lines_of([event]))
        snapshots = checker.folder.snapshots()
        assert [message["id"] for message in snapshots] == begun
        for message in snapshots:
            assert errors(message, MESSAGES[message["role"]]) == []
    assert failures(checker.finish()) == []
    assert [message.id for message in checker.folder.messages()] == begun


@four_times
@given(streams())
def test_law_1_a_completed_reply_is_whole(stream: list[Wire]) -> None:
    """Every call is finished and has one terminal result after it, ids are unique, nothing runs, usage is the sum."""
    for message in fold_bytes(stream):
        spent = [event for event in stream if event["type"] == "MODEL_CALL_END" and event["reply_id"] == message["id"]]
        names = ("input_tokens", "output_tokens", "cache_input_tokens", "cache_creation_input_tokens")
        sums = {name: sum(int(event.get(name) or 0) for event in spent) for name in names}
        assert message.get("usage") == (sums if spent else None)
        ids = Counter((block["type"], block["id"]) for block in message["content"])
        assert set(ids.values()) <= {1}
        if message.get("finished_reason") in {None, "interrupted", "error"}:
            continue
        calls = [block for block in message["content"] if block["type"] == "tool_call"]
        results = {block["id"]: place for place, block in enumerate(message["content"]) if block["type"] == "tool_result"}
        assert {call["id"] for call in calls} == set(results)
        for call in calls:
            assert call["state"] == "finished"
            assert message["content"].index(call) < results[call["id"]]
        assert all(message["content"][place]["state"] != "running" for place in results.values())
        assert all("finished_at" in block for block in message["content"])


# --- law 2 --------------------------------------------------------------------------------------


@given(replies(), st.data())
def test_law_2_splitting_a_delta_changes_nothing(stream: list[Wire], data: st.DataObject) -> None:
    """Text is cut at code points, data at any byte, empty pieces among them."""
    pieces = [piece for event in stream for piece in _split(event, data)]
    note(pieces)
    assert fold_bytes(pieces) == fold_bytes(stream)


@given(replies())
def test_law_2_merging_neighbours_changes_nothing(stream: list[Wire]) -> None:
    """Deltas of one block that follow each other may be one."""
    merged: list[Wire] = []
    for event in stream:
        before = merged[-1] if merged else event
        name = _growing(event)
        if (
            name is None
            or before is event
            or before["type"] != event["type"]
            or name != _growing(before)
            or any(before.get(key) != event.get(key) for key in ("block_id", "tool_call_id"))
        ):
            merged.append(event)
        else:
            joined = before[name] + event[name] if name == "delta" else _encode(b64decode(before[name]) + b64decode(event[name]))
            merged[-1] = {**before, name: joined}
    assert fold_bytes(merged) == fold_bytes(stream)


def test_law_2_the_first_empty_delta_of_a_results_text_makes_its_block() -> None:
    """An empty delta adds no characters, but a result whose text is empty has a text block."""
    events = [
        {"type": "REPLY_START", "session_id": "s", "name": "n"},
        {"type": "TOOL_CALL_START", "tool_call_id": "c", "tool_call_name": "t"},
        {"type": "TOOL_CALL_END", "tool_call_id": "c"},
        {"type": "TOOL_RESULT_START", "tool_call_id": "c", "tool_call_name": "t"},
        {"type": "TOOL_RESULT_TEXT_DELTA", "tool_call_id": "c", "delta": ""},
    ]
    [message] = fold_bytes([{"id": str(i), "created_at": "2026-01-01", "reply_id": "r", **event} for i, event in enumerate(events)])
    assert message["content"][1]["output"] == [{"type": "text", "id": "c/0", "text": ""}]


def _growing(event: Wire) -> str | None:
    """Name the field of a delta that grows."""
    plan = PLANS.get(event["type"])
    if plan is None:
        return None
    if plan.base64 is not None:
        return plan.base64[0] if event.get(plan.base64[0]) is not None else None
    return "delta" if "delta" in event else None


def _split(event: Wire, data: st.DataObject) -> list[Wire]:
    name = _growing(event)
    if name is None:
        return [event]
    whole: Any = event[name] if name == "delta" else b64decode(event[name])
    places = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=2)))
    bounds = zip([0, *places], [*places, len(whole)], strict=True)
    parts = [whole[start:end] for start, end in bounds]
    return [{**event, "id": f"{event['id']}.{i}", name: part if name == "delta" else _encode(part)} for i, part in enumerate(parts)]


def _encode(data: bytes) -> str:
    return b64encode(data).decode("ascii")


# --- law 3 --------------------------------------------------------------------------------------


@given(replies(roles=("assistant",)), cuts(), st.data())
def test_law_3_independent_blocks_may_interleave(stream: list[Wire], pieces: list[int], data: st.DataObject) -> None:
    """Any interleaving that keeps each block's own order gives the same blocks, in the order of their starts."""
    [message] = fold_bytes(stream)
    events: list[Wire] = [wire_of(event, "") for event in unfold(message, pieces).events]
    groups: dict[Any, list[Wire]] = {}
    for event in events:
        groups.setdefault(_block_of(event), []).append(event)
    whole = groups.pop(None)
    start, end = whole[: 1 + ("usage" in message)], whole[1 + ("usage" in message) :]
    mixed = [*start, *data.draw(interleavings(list(groups.values()))), *end]
    [other] = fold_bytes(mixed)
    assert {**other, "content": []} == {**message, "content": []}
    assert sorted(map(_canonical, other["content"])) == sorted(map(_canonical, message["content"]))
    # A result that was started and then came from outside has begun once.
    begun = list(dict.fromkeys(_started(event) for event in mixed if _started(event) is not None))
    assert [(block["type"], block["id"]) for block in other["content"]] == begun


def _block_of(event: Wire) -> Any:
    """Name what an event belongs to: a block, or a call with its result; None for the reply."""
    plan = PLANS[event["type"]]
    if plan.items is not None:
        [item] = event[plan.items]
        return plan.kind, item.get("tool_call", item)["id"]
    return (plan.kind, event[plan.key[0]]) if plan.key else None


def _started(event: Wire) -> tuple[str, str] | None:
    """Name the block that an event begins."""
    if event["type"] in {"TOOL_RESULT_START", "EXTERNAL_EXECUTION_RESULT"}:
        return "tool_result", _block_of(event)[1]
    if (event["type"].endswith("_START") and _block_of(event) is not None) or event["type"] == "HINT_BLOCK":
        return _block_of(event)
    return None


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


# --- law 4 --------------------------------------------------------------------------------------


@four_times
@given(streams(moves=10, redelivered=True))
def test_law_4_a_checkpoint_at_any_event_changes_nothing(stream: list[Wire]) -> None:
    """What goes on from a checkpoint, through JSON, gives what the whole gives: messages, state, and what was broken from there on."""
    events = [read_event(event) for event in stream if event["type"] in PLANS]
    told: list[Breach] = []
    whole = Folder(report=told.append)
    saved: list[tuple[str, int, int]] = []
    for index, event in enumerate(events):
        saved.append((json.dumps(whole.checkpoint()), index, len(told)))
        whole.feed(event)
    whole.lifecycle.finish(len(events))
    end = whole.checkpoint()
    for checkpoint, index, before in saved:
        again: list[Breach] = []
        rest = Folder.restore(json.loads(checkpoint), report=again.append)
        for event in events[index:]:
            rest.feed(event)
        rest.lifecycle.finish(len(events))
        assert rest.snapshots() == whole.snapshots()
        assert rest.checkpoint() == end
        assert again == told[before:]


@four_times
@given(replies(roles=("assistant",)))
def test_law_4_a_parked_reply_goes_on_from_its_stored_message(stream: list[Wire]) -> None:
    """For each prefix that ends parked, the rest folded onto the stored message gives what the whole gives, without an error."""
    events = [read_event(event) for event in stream]
    whole = Folder()
    stored: list[tuple[str, int]] = []
    for index, event in enumerate(events):
        whole.feed(event)
        if whole.replies()[0].parked:
            stored.append((json.dumps(whole.snapshots()[0]), index + 1))
    for message, index in stored:
        rest = Checker(folder=Folder.from_messages([json.loads(message)]))
        for event in events[index:]:
            rest.feed_event(event)
        rest.finish_events()
        assert rest.folder.snapshots() == whole.snapshots()
        assert failures(rest.findings()) == []


# --- law 5 --------------------------------------------------------------------------------------


@given(streams(), st.data())
def test_law_5_redelivery_changes_nothing(stream: list[Wire], data: st.DataObject) -> None:
    """Events that come again, anywhere after their first, change no message, and add one redelivery warning each and nothing else."""
    again = data.draw(redeliveries(stream))
    one, other = check_and_fold(lines_of(stream)), check_and_fold(lines_of(again))
    assert other.messages == one.messages
    stays: Positions = {place: place for place in (None, *range(len(again) + 1))}
    places = {id(event): place for place, event in enumerate(again)}
    moves: Positions = {None: None, len(stream): len(again), **{place: places[id(event)] for place, event in enumerate(stream)}}
    rest = [finding for finding in other.findings if finding.rule != "event.redelivered"]
    assert [_told(finding, stays) for finding in rest] == [_told(finding, moves) for finding in one.findings]
    originals = {id(event) for event in stream}
    copies = [event for event in again if id(event) not in originals and event["type"] in PLANS and PLANS[event["type"]].steps]
    assert sum(finding.count for finding in other.findings if finding.rule == "event.redelivered") == len(copies)


def _told(finding: Finding, positions: Positions) -> tuple[Any, ...]:
    """Give what a finding says. What is wrong with an event by itself is counted each time that the event comes."""
    count = 0 if finding.rule.startswith("event.") else finding.count
    return finding.rule, positions[finding.index], positions[finding.related], finding.pointer, finding.reply_id, finding.message, count


# --- law 6 --------------------------------------------------------------------------------------


@four_times
@given(streams(), cuts())
def test_law_6_unfolding_undoes_folding(stream: list[Wire], pieces: list[int]) -> None:
    """A message of a valid stream unfolds to a valid stream that folds to it exactly, however it is cut."""
    for message in fold_bytes(stream):
        events, losses = unfold(message, pieces)
        assert losses == []
        again = check_and_fold(lines_of([wire_of(event, "") for event in events]))
        assert again.messages == [message]
        assert failures(again.findings) == []


#: Rules that the events of a stored message may break, since the message itself is no end of a valid stream.
SAID_BY_THE_MESSAGE = {
    "reply.missing-end": "it has not finished",
    "reply.error-not-failed": "it has an error and another reason",
    "block.reopened": "two blocks of a kind have one id",
    "block.repeated-hint": "two hints have one id",
    "tool-call.reused-id": "two calls have one id",
    "tool-call.not-ended": "a call was asked or answered, and its arguments have no end",
    "tool-call.no-result": "it finished, and a call has no result",
    "tool-call.denied-without-result": "it finished, and a denied call has no result",
    "tool-result.without-call": "a result follows no call",
    "tool-result.before-call-end": "a call has a result, and its arguments have no end",
    "tool-result.not-terminal": "a call is finished, and its result is running",
    "tool-result.open-at-end": "it finished, and a result is running",
}


@four_times
@given(messages(), cuts())
def test_law_6_what_unfolding_makes_is_as_valid_as_the_message(message: Wire, pieces: list[int]) -> None:
    """The events of any message break no rule but those that the message itself does."""
    findings = check_and_fold(unfold(message, pieces).events).findings
    assert {finding.rule for finding in failures(findings)} <= set(SAID_BY_THE_MESSAGE)


#: A finished call whose result is said to run, with an output that no event streams.
_NOT_STREAMED: Wire = {
    "id": "a",
    "name": "",
    "role": "assistant",
    "created_at": "2026-01-01T00:00:01",
    "content": [
        {"type": "tool_call", "id": "b", "name": "", "input": "", "state": "finished"},
        {"type": "tool_result", "id": "b", "name": "", "output": "0", "x_provisional": True},
    ],
}


#: A result that is streamed, and whose text is empty.
_EMPTY: Wire = {
    "id": "a",
    "name": "",
    "role": "assistant",
    "created_at": "2026-01-01T00:00:01",
    "content": [
        {"type": "tool_call", "id": "b", "name": "", "input": "", "state": "finished"},
        {"type": "tool_result", "id": "b", "name": "", "output": [{"type": "text", "id": "b/0", "text": ""}], "state": "success"},
    ],
}
#: A result that runs and has finished, with what only a result from outside brings.
_RUNS_ON: Wire = {
    **_EMPTY,
    "content": [
        {"type": "tool_call", "id": "b", "name": "", "input": ""},
        {
            "type": "tool_result",
            "id": "b",
            "name": "",
            "output": [{"type": "text", "id": "b/0", "text": ""}],
            "x_provisional": True,
            "finished_at": "2026-01-01T00:00:01",
        },
    ],
}


@four_times
@example(_NOT_STREAMED, [])
@example(_EMPTY, [])
@example(_RUNS_ON, [])
@given(messages(), cuts())
def test_law_6_what_unfolding_loses_is_listed(message: Wire, pieces: list[int]) -> None:
    """Any message comes back equal outside the losses, and nothing is listed in vain."""
    _comes_back(message, pieces)


#: Blocks of one id, as calls and results pair by it.
_OF_ONE_ID: list[Wire] = [
    *(
        {"type": "tool_call", "id": "c", "name": "n", "input": "{}", "state": state}
        for state in ("pending", "asking", "allowed", "submitted", "finished")
    ),
    {"type": "tool_result", "id": "c", "name": "n", "output": "o", "state": "success"},
    {"type": "tool_result", "id": "c", "name": "n", "output": [{"type": "text", "id": "c/0", "text": "a"}], "state": "error"},
    {"type": "tool_result", "id": "c", "name": "n", "output": [{"type": "text", "id": "c/0", "text": "a"}], "state": "running"},
    {"type": "tool_result", "id": "c", "name": "n", "output": [{"type": "text", "id": "c/0", "text": "a"}], "x_of": "outside"},
    {"type": "tool_result", "id": "c", "name": "n", "output": "o", "x_provisional": True},
]


@pytest.mark.parametrize("end", [{}, {"finished_at": "2026-01-02", "finished_reason": "completed"}], ids=["open", "completed"])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_law_6_however_calls_and_results_of_one_id_stand(length: int, end: Wire) -> None:
    """Every order of calls and results that share an id: both halves of the law hold."""
    for content in product(_OF_ONE_ID, repeat=length):
        message: Wire = {"id": "m", "name": "n", "role": "assistant", "created_at": "2026-01-01", "content": list(content), **end}
        findings = check_and_fold(unfold(message).events).findings
        assert {finding.rule for finding in failures(findings)} <= set(SAID_BY_THE_MESSAGE)
        _comes_back(message, [])


def _comes_back(message: Wire, pieces: list[int]) -> None:
    before = json.dumps(message)
    events, losses = unfold(message, pieces)
    assert json.dumps(message) == before
    lost = {loss.pointer for loss in losses}
    role = MESSAGES[message["role"]]
    wanted = with_defaults(wire_of(message, role), role)
    [folded] = check_and_fold(events).messages
    given_back = with_defaults(folded, MESSAGES[folded["role"]])
    kept = [place for place in range(len(wanted["content"])) if f"/content/{place}" not in lost]
    assert len(given_back["content"]) == len(kept)
    changed = _changes({**wanted, "content": []}, {**given_back, "content": []})
    for place, block in zip(kept, given_back["content"], strict=True):
        changed += _changes(wanted["content"][place], block, f"/content/{place}")
    dropped = {f"/content/{place}" for place in range(len(wanted["content"]))} - {f"/content/{place}" for place in kept}
    assert [place for place in changed if not _under(place, lost)] == []
    assert [loss for loss in lost - dropped if not any(_under(place, {loss}) for place in changed)] == []


def _changes(one: Any, other: Any, pointer: str = "") -> list[str]:
    """Give pointers to where two values differ."""
    if is_object(one) and is_object(other):
        keys = {**one, **other}
        return [
            found
            for key in keys
            for found in (
                _changes(one[key], other[key], f"{pointer}/{escape(key)}") if key in one and key in other else [f"{pointer}/{escape(key)}"]
            )
        ]
    if is_array(one) and is_array(other) and len(one) == len(other):
        return [found for i, (a, b) in enumerate(zip(one, other, strict=True)) for found in _changes(a, b, f"{pointer}/{i}")]
    return [] if one == other else [pointer]


def _under(pointer: str, roots: set[str]) -> bool:
    return any(pointer == root or pointer.startswith(f"{root}/") for root in roots)


# --- law 8 --------------------------------------------------------------------------------------


@given(broken_streams())
def test_law_8_broken_streams_are_folded_all_the_same(broken: list[Wire]) -> None:
    """Events dropped, doubled, renamed, retyped or moved: nothing raises, each message fits its schema, twice the same bytes come out."""
    text = lines_of(broken)
    checked = check_and_fold(text)
    for message in checked.messages:
        assert errors(message, MESSAGES[message["role"]]) == []
    assert json.dumps(check_and_fold(text).messages) == json.dumps(checked.messages)
    [*unfolded] = (unfold(message) for message in checked.messages)
    assert len(unfolded) == len(checked.messages)


# --- law 10 -------------------------------------------------------------------------------------


def _chat(count: int) -> list[Wire]:
    return [
        {"type": "TEXT_BLOCK_START", "block_id": "t"},
        *({"type": "TEXT_BLOCK_DELTA", "block_id": "t", "delta": f"word {i} "} for i in range(count)),
        {"type": "TEXT_BLOCK_END", "block_id": "t"},
    ]


def _calls(count: int) -> list[Wire]:
    made: list[Wire] = []
    for kind, more in (("TOOL_CALL_START", {"tool_call_name": "t"}), ("TOOL_CALL_END", {}), ("TOOL_RESULT_START", {"tool_call_name": "t"})):
        made += [{"type": kind, "tool_call_id": f"c{i}", **more} for i in range(count // 4)]
    return made + [{"type": "TOOL_RESULT_END", "tool_call_id": f"c{i}", "state": "success"} for i in range(count // 4)]


def _image(count: int) -> list[Wire]:
    piece = binascii.b2a_base64(bytes(range(256)) * 4, newline=False).decode()
    delta = {"type": "DATA_BLOCK_DELTA", "block_id": "d", "media_type": "image/png", "data": piece}
    return [
        {"type": "DATA_BLOCK_START", "block_id": "d", "media_type": "image/png"},
        *([delta] * count),
        {"type": "DATA_BLOCK_END", "block_id": "d"},
    ]


@pytest.mark.parametrize("make", [_chat, _calls, _image])
def test_law_10_work_grows_linearly(make: Any) -> None:
    """Four times the stream takes about four times the work, and not sixteen. Of five pairs the median, since machines are busy."""

    def seconds(count: int) -> float:
        events = [{"type": "REPLY_START", "session_id": "s", "name": "n"}, *make(count), {"type": "REPLY_END", "session_id": "s"}]
        text = lines_of([{"id": f"e{i}", "created_at": "2026-01-01", "reply_id": "r", **event} for i, event in enumerate(events)])
        before = time.process_time()
        assert failures(check_and_fold(text).findings) == []
        return time.process_time() - before

    # What other tests left on the heap is no work of ours, and the collector would walk it for us.
    gc.collect()
    gc.freeze()
    try:
        assert median(seconds(12_000) / seconds(3_000) for _ in range(5)) < 8
    finally:
        gc.unfreeze()


def test_required_fields_are_what_the_laws_assume() -> None:
    """Every block that an event can build has an id, by which the laws find it."""
    assert all(
        "id" in REQUIRED[name] for name in ("TextBlock", "ThinkingBlock", "DataBlock", "HintBlock", "ToolCallBlock", "ToolResultBlock")
    )
