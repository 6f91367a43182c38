"""The folder: replies apart, snapshots, checkpoints, stored messages, and nothing shared."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from eventfold_models import structs
from support import RECORDINGS, Wire, events_of, lines_of

from eventfold import Checker, Finding, Folder, InvalidEvent, Severity, UnknownReply, check, check_and_fold, fold, read_event, unfold
from eventfold.jsonvalue import is_array, is_object
from eventfold.models import EVENT, MSG


def stream(reply_id: str, *events: Wire, start: bool = True) -> list[Wire]:
    """Write a reply's events, numbered and with what every event needs."""
    first = [{"type": "REPLY_START", "session_id": "s", "name": "n"}] if start else []
    return [
        {"id": f"e{i}", "created_at": f"2026-01-01T00:00:{i:02}", "reply_id": reply_id, **event}
        for i, event in enumerate([*first, *events])
    ]


CALL = {"type": "tool_call", "id": "c1", "name": "tool", "input": "{}"}
STREAMED_CALL = [
    {"type": "TOOL_CALL_START", "tool_call_id": "c1", "tool_call_name": "tool"},
    {"type": "TOOL_CALL_DELTA", "tool_call_id": "c1", "delta": "{}"},
    {"type": "TOOL_CALL_END", "tool_call_id": "c1"},
]
END = {"type": "REPLY_END", "session_id": "s"}


def text(block_id: str, *deltas: str) -> list[Wire]:
    """Write a text block's events."""
    return [
        {"type": "TEXT_BLOCK_START", "block_id": block_id},
        *({"type": "TEXT_BLOCK_DELTA", "block_id": block_id, "delta": delta} for delta in deltas),
        {"type": "TEXT_BLOCK_END", "block_id": block_id},
    ]


def test_replies_that_interleave_are_folded_apart() -> None:
    """Each reply has its own message, in the order in which the replies began."""
    one, two = stream("r1", *text("t", "a", "b"), END), stream("r2", *text("t", "c"), END)
    mixed = [event for pair in zip(one, [*two, None], strict=False) for event in pair if event is not None]
    assert [message.get_text_content() for message in fold(map(read_event, mixed))] == ["ab", "c"]
    assert check(map(read_event, mixed)) == []


def test_a_message_can_be_looked_at_while_it_grows() -> None:
    """A snapshot after every event is the message so far."""
    folder = Folder()
    seen: list[str | None] = []
    for event in stream("r1", *text("t", "a", "b"), END):
        folder.feed(read_event(event))
        seen.append(folder.message("r1").get_text_content())
    assert seen == [None, "", "a", "ab", "ab", "ab"]


def test_nothing_is_shared_with_events_or_snapshots() -> None:
    """Changing an event after it was fed, or a snapshot, changes no message."""
    result = {"type": "tool_result", "id": "c1", "name": "tool", "output": [{"type": "text", "id": "x", "text": "42"}], "state": "success"}
    events = stream(
        "r1",
        *STREAMED_CALL,
        {"type": "REQUIRE_EXTERNAL_EXECUTION", "tool_calls": [CALL]},
        {"type": "EXTERNAL_EXECUTION_RESULT", "execution_results": [{**result, "metadata": {"deep": {"list": [1]}}}]},
        {**END, "structured_output": {"deep": [1]}, "metadata": {"deep": [1]}},
    )
    for make in (read_event, EVENT.validate_python):
        made = [make(copy.deepcopy(event)) for event in events]
        folder = Folder()
        for event in made:
            folder.feed(event)
        wanted = copy.deepcopy(folder.snapshots())
        for event in made:
            for name in ("metadata", "structured_output"):
                if isinstance(getattr(event, name, None), dict):
                    getattr(event, name).clear()
        scribble(folder.snapshots())
        assert folder.snapshots() == wanted


def scribble(value: Any) -> None:
    """Empty every dict and list inside."""
    if is_object(value) or is_array(value):
        for child in list(value.values() if is_object(value) else value):
            scribble(child)
        value.clear()


def test_events_are_not_changed() -> None:
    """Whoever feeds an event finds it as it was."""
    for path in RECORDINGS[:10]:
        made = [EVENT.validate_python(event) for event in events_of(path)]
        before = [event.model_copy(deep=True) for event in made]
        fold(made)
        assert made == before


def test_a_dict_is_refused_with_its_remedy() -> None:
    """Plain dicts go through read_event, which the error names."""
    with pytest.raises(TypeError, match="read_event"):
        Folder().feed({"type": "CUSTOM"})
    with pytest.raises(TypeError, match="str is no event"):
        Folder().feed("CUSTOM")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (
            {"type": "TEXT_BLOCK_DELTA", "id": "1", "created_at": "t", "reply_id": "r", "block_id": "b", "delta": 5},
            "/delta: 5 is not of type",
        ),
        ({"type": "NOPE", "id": "1", "created_at": "t"}, "event.unknown-type: NOPE"),
        ({"id": "1"}, "event.no-type"),
        ({"role": "user", "content": []}, "it is a message"),
    ],
)
def test_a_dict_that_is_no_event_says_why(value: Wire, said: str) -> None:
    """read_event names the rule and the place."""
    with pytest.raises(InvalidEvent, match=said):
        read_event(value)


def test_read_event_takes_integral_floats_and_nested_extensions() -> None:
    """What the schema accepts is read, though a struct refuses it: 1.0 is an integer, unknown fields are kept."""
    event = read_event({"type": "MODEL_CALL_END", "id": "1", "created_at": "t", "reply_id": "r", "input_tokens": 1.0, "output_tokens": 2})
    assert (type(event), event.input_tokens) == (structs.ModelCallEndEvent, 1)
    request = read_event(
        {"type": "REQUIRE_USER_CONFIRM", "id": "1", "created_at": "t", "reply_id": "r", "tool_calls": [{**CALL, "x_risk": "high"}]}
    )
    assert request.tool_calls[0]["x_risk"] == "high"


def test_an_unknown_reply_is_named_with_the_known_ones() -> None:
    """Asking for a reply that is not there says which are."""
    folder = Folder()
    folder.feed(read_event(stream("r1")[0]))
    with pytest.raises(UnknownReply, match=r"no reply 'r2'; known are 'r1'"):
        folder.snapshot("r2")


def test_a_checkpoint_of_another_version_is_refused() -> None:
    """What is no checkpoint says so, with its remedy."""
    values: list[Any] = [{}, {"form": 1, "wire": "0.9"}, []]
    for value in values:
        with pytest.raises(ValueError, match="fold the stream again"):
            Folder.restore(value)


def test_ended_replies_are_given_up_after_a_while() -> None:
    """Their messages stay; what comes for them later is dropped with a finding."""
    events = [event for i in range(5) for event in stream(f"r{i}", *text("t", str(i)), END)]
    late = {"type": "TEXT_BLOCK_START", "id": "late", "created_at": "2026-01-01", "reply_id": "r0", "block_id": "t2"}
    checker = Checker(keep_ended=2)
    checker.feed(lines_of([*events, late, {**late, "reply_id": "r4"}, events[0]]))
    assert [finding.rule for finding in checker.finish()] == ["reply.gone", "reply.after-end", "reply.start-after-end"]
    assert [reply.key for reply in checker.folder.replies()] == ["r3", "r4"]
    assert [message.get_text_content() for message in checker.folder.messages()] == list("01234")
    restored = Folder.restore(json.loads(json.dumps(checker.folder.checkpoint())))
    assert restored.snapshots() == checker.folder.snapshots()
    assert restored.snapshot("r0")["content"][0]["text"] == "0"


def test_a_parked_reply_goes_on_from_its_stored_message() -> None:
    """Events that follow a stored message give what the whole stream gives, without a REPLY_START."""
    for path in RECORDINGS:
        if not path.name.startswith(("hitl_confirm", "external", "interrupt_parked")):
            continue
        events = [EVENT.validate_python(event) for event in events_of(path)]
        parks = [i for i, event in enumerate(events) if event.type.startswith("REQUIRE_")]
        [whole] = fold(events)
        for park in parks:
            [stored] = fold(events[: park + 1])
            for message in (stored, json.loads(MSG.dump_json(stored))):
                folder = Folder.from_messages([message])
                for event in events[park + 1 :]:
                    folder.feed(event)
                assert folder.messages() == [whole]


def test_a_stored_message_that_has_ended_takes_no_more() -> None:
    """What comes after the end of a stored reply is dropped, but for results of its calls."""
    [ended] = fold(map(read_event, stream("r1", *text("t", "a"), END)))
    checker = Checker(folder=Folder.from_messages([ended]))
    checker.feed(lines_of(stream("r1", *text("t2", "b"), start=False)))
    assert {finding.rule for finding in checker.finish()} == {"reply.after-end"}
    assert checker.folder.messages() == [ended]


def test_a_stored_text_without_its_end_may_grow_or_not() -> None:
    """A stored block that does not say whether it ended takes a delta, an end, or the reply's end, without a finding."""
    stored = {"role": "assistant", "name": "n", "id": "r1", "created_at": "t", "content": [{"type": "text", "id": "t", "text": "a"}]}
    for more, wanted in (([], "a"), (text("t", "b")[1:], "ab"), (text("t", "b")[2:], "a")):
        checker = Checker(folder=Folder.from_messages([stored]))
        checker.feed(lines_of(stream("r1", *more, END, start=False)))
        assert checker.finish() == []
        assert checker.folder.messages()[0].get_text_content() == wanted


def test_no_events_are_no_messages() -> None:
    """An empty stream folds to nothing; CUSTOM alone is clean and has no message."""
    assert fold([]) == []
    custom = {"type": "CUSTOM", "id": "1", "created_at": "2026-01-01", "name": "n"}
    assert check_and_fold(lines_of([custom])) == ([], [])


RESULT = {"type": "tool_result", "id": "c1", "name": "tool", "output": "OUT", "state": "success"}
SUBMIT = {"type": "REQUIRE_EXTERNAL_EXECUTION", "tool_calls": [CALL]}
ASK = {"type": "REQUIRE_USER_CONFIRM", "tool_calls": [CALL]}
ARRIVE = {"type": "EXTERNAL_EXECUTION_RESULT", "execution_results": [RESULT]}
RESULT_START = {"type": "TOOL_RESULT_START", "tool_call_id": "c1", "tool_call_name": "tool"}


def result_text(delta: str) -> Wire:
    """Write a delta of the result."""
    return {"type": "TOOL_RESULT_TEXT_DELTA", "tool_call_id": "c1", "delta": delta}


def result_end(state: str) -> Wire:
    """Write the end of the result."""
    return {"type": "TOOL_RESULT_END", "tool_call_id": "c1", "state": state}


def deny(confirmed: bool = False) -> Wire:  # noqa: FBT001, FBT002  what it says
    """Write the user's answer."""
    return {"type": "USER_CONFIRM_RESULT", "confirm_results": [{"confirmed": confirmed, "tool_call": CALL}]}


def rules(*events: Wire) -> list[str]:
    """Check a reply's stream, and give the rules that it breaks."""
    return [finding.rule for finding in check_and_fold(lines_of(stream("r1", *events))).findings]


def test_a_result_that_came_from_outside_after_its_start_is_finished_by_the_event() -> None:
    """Its finished_at is the external event's; the mark that it may be streamed again is gone at the reply's end."""
    events = stream("r1", *STREAMED_CALL, RESULT_START, SUBMIT, ARRIVE, END)
    [parked] = check_and_fold(lines_of(events[:-1])).messages
    [ended] = check_and_fold(lines_of(events)).messages
    assert parked["content"][1]["x_provisional"] is True
    assert ended["content"][1] == {
        **{key: value for key, value in parked["content"][1].items() if key != "x_provisional"},
        "finished_at": events[6]["created_at"],
    }


def test_the_mark_of_a_result_is_the_folds_own() -> None:
    """A producer that sends it makes no closed result look as if it were to be streamed again."""
    marked = {**ARRIVE, "execution_results": [{**RESULT, "x_provisional": True}]}
    [message] = check_and_fold(lines_of(stream("r1", *STREAMED_CALL, SUBMIT, marked))).messages
    assert "x_provisional" not in message["content"][1]


def test_a_result_that_is_streamed_again_runs_until_it_ends() -> None:
    """The first delta replaces what came from outside; without its end, a completed reply has a running result."""
    again = [*STREAMED_CALL, RESULT_START, SUBMIT, ARRIVE, result_text("a"), result_text("b")]
    assert rules(*again, END) == ["tool-result.open-at-end"]
    assert rules(*again, result_end("success"), END) == []
    [message] = check_and_fold(lines_of(stream("r1", *again, result_end("success"), END))).messages
    assert [part["text"] for part in message["content"][1]["output"]] == ["ab"]


def test_a_denied_call_has_a_denied_result() -> None:
    """Whatever else its result says is an error, streamed or from outside, and success above all."""
    asked = [*STREAMED_CALL, ASK, deny(), RESULT_START]
    assert rules(*asked, result_end("denied"), END) == []
    assert rules(*asked, result_end("error"), END) == ["tool-result.not-denied"]
    assert rules(*asked, result_end("success"), END) == ["tool-result.success-after-denial"]
    arrived = {"type": "EXTERNAL_EXECUTION_RESULT", "execution_results": [{**RESULT, "state": "denied"}]}
    again = [*asked, arrived, result_text("x"), result_end("success"), END]
    assert "tool-result.success-after-denial" in rules(*again)


def test_a_result_from_outside_for_an_unknown_call_is_dropped_even_when_one_streams() -> None:
    """An orphan result that streams is not overwritten by an external one."""
    events = stream("r1", RESULT_START, result_text("tool"), ARRIVE)
    messages, findings = check_and_fold(lines_of(events))
    assert messages[0]["content"][0]["output"][0]["text"] == "tool"
    assert "tool-result.unknown-call" in [finding.rule for finding in findings]


def test_usage_stops_at_the_largest_count() -> None:
    """Token counts that add up beyond 2^53-1 are said, and the message stays loadable."""
    spent = [{"type": "MODEL_CALL_START", "model_name": "m"}, {"type": "MODEL_CALL_END", "input_tokens": 2**53 - 1, "output_tokens": 1}]
    events = stream("r1", *spent, *spent, *text("t", "a"), END)
    messages, findings = check_and_fold(lines_of(events))
    assert [finding.rule for finding in findings if finding.severity > 2] == ["model-call.too-many-tokens"]
    assert MSG.validate_python(messages[0]).usage.input_tokens == 2**53 - 1


REWRITTEN: list[tuple[Wire, tuple[str, int | None, str, Any]]] = [
    ({"type": "HINT_BLOCK", "block_id": "h", "hint": [{"type": "text", "id": "q", "text": "z"}]}, ("hint", 0, "created_at", None)),
    ({"type": "HINT_BLOCK", "block_id": "h", "hint": "z", "metadata": {"a": 1}}, ("metadata", None, "a", 1.0)),
    (ASK, ("tool_calls", 0, "suggested_rules", [])),
    (ASK, ("tool_calls", 0, "state", "pending")),
]


@pytest.mark.parametrize(("first", "again"), REWRITTEN)
def test_a_redelivery_may_be_written_differently(first: Wire, again: tuple[str, int | None, str, Any]) -> None:
    """Null and absent, a default and its absence, 1 and 1.0, and fields that no schema names make no other event."""
    name, place, key, value = again
    other = copy.deepcopy(first)
    holder = other[name] if place is None else other[name][place]
    holder[key] = value
    before = [] if first is not ASK else STREAMED_CALL
    events = stream("r1", *before, first, other)
    events[-1]["id"] = events[-2]["id"]
    messages, findings = check_and_fold(lines_of(events))
    assert "event.redelivered" in [finding.rule for finding in findings]
    assert "event.id-reused" not in [finding.rule for finding in findings]
    assert messages == check_and_fold(lines_of(events[:-1])).messages


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("2026-01-01", True),
        ("2026-01", True),
        ("2026-366", False),
        ("2024-366", True),
        ("2026-12-31T23:59:60Z", True),
        ("2026-12-31T24:00:00+0100", True),
        ("2026-12-31T24:00", True),
        ("2026-12-31T24:00:01", False),
        ("2026-12-31T12:00:00,5+01", True),
        ("2026-02-30", False),
        ("2026-13", False),
        ("2026-99-99T99:99:99Z", False),
        ("2026-01-01T25:00:00Z", False),
        ("2026-01-01T12:60:00Z", False),
        ("2026-01-01T12:00:61Z", False),
        ("yesterday", False),
        ("", False),
    ],
)
def test_a_timestamp_is_one_of_iso_8601_that_there_is(text: str, good: bool) -> None:  # noqa: FBT001  a parameter of the test
    """What datetime does not read may be ISO 8601 all the same; a day or a time that there is not is none."""
    start = {"type": "REPLY_START", "id": "e", "created_at": text, "reply_id": "r", "session_id": "s", "name": "n"}
    assert ("event.not-timestamp" not in {finding.rule for finding in check(json.dumps(start).encode())}) is good


def test_models_are_checked_like_bytes() -> None:
    """A model with a bad timestamp is a finding, not an exception."""
    event = EVENT.validate_python({**stream("r1")[0], "created_at": "bad"})
    assert [finding.rule for finding in check([event])] == ["event.not-timestamp", "reply.missing-end"]


def test_a_stored_block_that_is_not_base64_takes_no_bytes() -> None:
    """Nothing is appended to stored data that does not decode; a URL may replace it."""
    block = {"type": "data", "id": "d", "source": {"type": "base64", "data": "A A=", "media_type": "x/y"}}
    stored = {"role": "assistant", "name": "n", "id": "r1", "created_at": "t", "content": [block]}
    delta = {"type": "DATA_BLOCK_DELTA", "block_id": "d", "media_type": "x/y"}
    for more, source in (({"data": "YQ=="}, block["source"]), ({"url": "u"}, {"type": "url", "url": "u", "media_type": "x/y"})):
        checker = Checker(folder=Folder.from_messages([stored]))
        checker.feed(lines_of(stream("r1", {**delta, **more}, start=False)))
        found = [finding.rule for finding in checker.finish()]
        assert ("data.not-base64" in found) == ("data" in more)
        assert checker.folder.snapshots()[0]["content"][0]["source"] == source


def test_a_checkpoint_and_a_finished_message_share_nothing() -> None:
    """Feeding on does not change a checkpoint; emptying a message that was given out does not change the folder's."""
    spent = [{"type": "MODEL_CALL_START", "model_name": "m"}, {"type": "MODEL_CALL_END", "input_tokens": 1, "output_tokens": 1}]
    events = [read_event(event) for event in stream("r1", *spent, *text("t", "a"), END)]
    folder = Folder(keep_ended=0)
    for event in events[:2]:
        folder.feed(event)
    saved = folder.checkpoint()
    before = copy.deepcopy(saved)
    for event in events[2:]:
        folder.feed(event)
    assert saved == before
    scribble(folder.snapshots())
    scribble(folder.snapshot("r1"))
    scribble(folder.checkpoint())
    assert folder.message("r1").get_text_content() == "a"


def test_stored_results_pair_by_occurrence() -> None:
    """With two calls of one id, the first result is the first call's; the second call goes on to its own."""
    calls = [{**CALL, "state": "finished", "finished_at": "t"}, {**CALL, "state": "allowed", "finished_at": "t"}]
    stored = {"role": "assistant", "name": "n", "id": "r1", "created_at": "t", "content": [*calls, {**RESULT, "finished_at": "t"}]}
    folder = Folder.from_messages([stored])
    for event in stream("r1", RESULT_START, result_text("2"), result_end("success"), start=False):
        folder.feed(read_event(event))
    content = folder.snapshots()[0]["content"]
    assert [block.get("output") for block in content[2:]] == ["OUT", [{"type": "text", "id": "c1/0", "text": "2"}]]
    assert [block["state"] for block in content] == ["finished", "finished", "success", "success"]


def test_a_stored_result_that_runs_is_the_newest_calls() -> None:
    """With two calls of one id and two results, what follows goes to the second, which is running."""
    calls = [{**CALL, "state": "finished", "finished_at": "t"}, {**CALL, "state": "allowed", "finished_at": "t"}]
    results: list[Wire] = [{**RESULT, "finished_at": "t"}, {**RESULT, "output": [], "state": "running"}]
    stored = {"role": "assistant", "name": "n", "id": "r1", "created_at": "t", "content": [*calls, *results]}
    folder = Folder.from_messages([stored])
    for event in stream("r1", result_text("2"), result_end("success"), start=False):
        folder.feed(read_event(event))
    content = folder.snapshots()[0]["content"]
    assert [block.get("output") for block in content[2:]] == ["OUT", [{"type": "text", "id": "c1/0", "text": "2"}]]
    assert [block["state"] for block in content] == ["finished", "finished", "success", "success"]


def test_read_event_judges_dicts_as_text() -> None:
    """A lone surrogate in a dict is repaired as on the wire; what is no JSON is refused."""
    delta = {"type": "TEXT_BLOCK_DELTA", "id": "1", "created_at": "t", "reply_id": "r", "block_id": "b", "delta": "a\ud800b"}
    assert read_event(delta).delta == "a\ufffdb"
    for bad in ({**delta, "metadata": {"x": float("nan")}}, {**delta, "metadata": {("t",): 1}}, {**delta, "metadata": {"x": b""}}):
        with pytest.raises(InvalidEvent, match="cannot be written as JSON"):
            read_event(bad)


@pytest.mark.parametrize(
    ("reason", "losses"),
    [("completed", ["/content/0/finished_at"]), ("interrupted", []), ("error", []), ("odd", ["/content/0/finished_at"])],
)
def test_unfolding_a_reply_that_completed_leaves_no_block_open(reason: str, losses: list[str]) -> None:
    """Its events are a valid stream, at the price of a time; an end that breaks off may leave it open."""
    block = {"type": "text", "id": "b", "text": "t", "created_at": "2026-01-01"}
    head = {"role": "assistant", "id": "r", "name": "n", "created_at": "2026-01-01", "finished_at": "2026-01-02", "finished_reason": reason}
    events, lost = unfold({**head, "content": [block]})
    assert [loss.pointer for loss in lost] == losses
    checker = Checker()
    for event in events:
        checker.feed_event(event)
    checker.finish_events()
    assert [finding for finding in checker.findings() if finding.severity is Severity.ERROR] == []


def test_a_call_behind_one_whose_result_runs_is_lost_in_unfolding() -> None:
    """Its events would go on with the call before it: the loss says so, and the rest comes back."""
    head = {"role": "assistant", "id": "r", "name": "n", "created_at": "t"}
    call = {"type": "tool_call", "id": "b", "name": "", "input": "", "finished_at": "t"}
    running: Wire = {"type": "tool_result", "id": "b", "name": "", "output": [], "state": "running"}
    events, losses = unfold({**head, "content": [call, running, call]})
    assert "/content/2" in [loss.pointer for loss in losses]
    checker = Checker()
    for event in events:
        checker.feed_event(event)
    assert [block["type"] for block in checker.folder.snapshots()[0]["content"]] == ["tool_call", "tool_result"]


def test_a_stream_without_an_end_is_held_in_part() -> None:
    """Findings and finished messages can be taken out on the way: taken together, they are the ones of the whole."""
    events = [event for n in range(9) for event in stream(f"r{n}", *text("t", "a", "b"), *text("t", "c"), END)]
    whole = check_and_fold(lines_of(events))
    checker = Checker(keep_ended=0)
    messages: list[Wire] = []
    findings: list[Finding] = []
    for event in events:
        checker.feed(lines_of([event]))
        messages += checker.folder.take_finished()
        findings += checker.take_findings()
        assert len(checker.folder.snapshots()) <= 1
        assert not checker.findings()
    assert [*messages, *checker.folder.snapshots()] == whole.messages
    assert [(finding.rule, finding.index) for finding in findings + checker.finish()] == [
        (each.rule, each.index) for each in whole.findings
    ]
    assert findings


def test_an_id_that_was_used_again_is_redelivered_like_any_other() -> None:
    """Each content of an id counts once, whichever comes again, and after a checkpoint too."""
    start = {"type": "REPLY_START", "id": "e0", "created_at": "2026-01-01", "reply_id": "r", "session_id": "s", "name": "n"}
    block = {"type": "TEXT_BLOCK_START", "id": "e1", "created_at": "2026-01-01", "reply_id": "r", "block_id": "b"}
    first, second = ({**block, "type": "TEXT_BLOCK_DELTA", "id": "e2", "delta": delta} for delta in "AB")
    for again in ([first], [second], [first, second, first], [second, second, first]):
        folder = Folder()
        for event in (start, block, first, second):
            folder.feed(read_event(event))
        for restored in (Folder.restore(json.loads(json.dumps(folder.checkpoint()))), folder):
            for event in again:
                restored.feed(read_event(event))
            assert restored.snapshots()[0]["content"][0]["text"] == "AB"
        rules = [finding.rule for finding in check(lines_of([start, block, first, second, *again]))]
        assert sorted(set(rules)) == ["event.id-reused", "event.redelivered", "reply.missing-end"]


def test_a_snapshot_is_the_callers() -> None:
    """Whatever is changed in a snapshot, the next one does not show it."""
    folder = Folder()
    for event in events_of(RECORDINGS[0].with_name("one_tool.events.jsonl")):
        folder.feed(read_event(event))
    [snapshot] = folder.snapshots()
    before = copy.deepcopy(snapshot)

    def spoil(value: Any) -> None:
        for item in list(value.values()) if is_object(value) else value:
            if is_object(item) or is_array(item):
                spoil(item)
        value.clear()

    spoil(snapshot)
    assert folder.snapshots() == [before]


def test_unknown_fields_inside_of_what_is_carried_tell_contents_apart() -> None:
    """They go into the message; those of the event itself are the transport's."""
    start = {"type": "REPLY_START", "id": "e0", "created_at": "2026-01-01", "reply_id": "r", "session_id": "s", "name": "n"}
    hint = {**start, "type": "HINT_BLOCK", "id": "e1", "block_id": "h"}

    def hinted(**fields: Any) -> Wire:
        return {**hint, "hint": [{"type": "text", "id": "t", "text": "x", **fields}]}

    def second(first: Wire, event: Wire) -> set[str]:
        rules = {finding.rule for finding in check(lines_of([start, first, event]))}
        return rules & {"event.redelivered", "event.id-reused"}

    assert second(hinted(cache={"t": 1}), hinted(cache={"t": 1.0})) == {"event.redelivered"}
    assert second({**hinted(), "trace": 1}, {**hinted(), "trace": 2}) == {"event.redelivered"}
    assert second(hinted(), hinted(cache={"t": 1})) == {"event.id-reused"}
