"""
The dialect of OpenAI's Responses, judged by OpenAI's own SDK.

What a stream folds to says what the SDK accumulates of it, and what goes out again is what the SDK would send back.
Recordings of others are read where they lie beside the project; they are no part of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from dialect_laws import decoded, folded
from eventfold_models import structs
from hypothesis import example, given
from hypothesis import strategies as st
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter
from responses_plans import (
    USAGE,
    Plan,
    Wire,
    added,
    bare,
    call,
    created,
    done,
    ended,
    event,
    judged,
    message,
    plans,
    response,
)
from responses_requests import ITEMS, SAID
from support import ROOT, lines_of
from vector_laws import differences, expected, heard, vectors_of

from eventfold import check_and_fold
from eventfold.dialects import NAMES, dialect
from eventfold.dialects.openai_responses import DIALECT, MAPPING, is_responses
from eventfold.dialects.openai_responses.protocol import EVENTS
from eventfold.dialects.openai_responses.request import LOSSES
from eventfold.dialects.reading import DialectChecker
from eventfold.dialects.translation import COMMON, UNFIT, UNKNOWN
from eventfold.findings import Severity
from eventfold.fuzz.strategies import messages, replies
from eventfold.jsonvalue import is_object
from eventfold.wire.schema import errors

if TYPE_CHECKING:
    from pathlib import Path

RECORDED = ROOT.parent / "shared/recordings"
JUDGED = ROOT.parent / "shared/judges/providers/golden.json"
HERE = sorted((RECORDED / "openai_responses").glob("*"))
VECTORS = vectors_of("openai_responses")
INPUT: TypeAdapter[Any] = TypeAdapter(list[ResponseInputItemParam])

recordings = pytest.mark.skipif(not HERE, reason="the recordings of others are not there (../shared/recordings/openai_responses)")
each_recording = pytest.mark.parametrize("path", HERE, ids=lambda path: path.name)

#: Recordings that are broken themselves: the rules of severity error that they break, and why.
BROKEN: dict[str, tuple[set[str], str]] = {
    "parallel_wrapper_completed_output_empty.jsonl": (
        {"wire.not-json", "openai-responses.truncated"},
        "its first and last line lack a brace",
    ),
    "image_generation.jsonl": ({"openai-responses.not-base64"}, "its base64 was cut before it was published"),
}

#: Recordings whose last event gives items other ids or encrypts them anew, after they were done.
RENEWED = ("openrouter_raw_cot.sse", "reasoning_encrypted_tools.jsonl")


def values_of(path: Path) -> list[Wire]:
    """Read the JSON values of a capture, without those that are broken."""
    values: list[Wire] = []
    for line in path.read_text("utf-8").split("\n"):
        text = line.removeprefix("data:").strip()
        if text.startswith("{"):
            try:
                values.append(json.loads(text))
            except ValueError:
                continue
    return values


def responses_of(values: list[Wire]) -> list[list[Wire]]:
    """Cut a capture into responses."""
    found: list[list[Wire]] = []
    for value in values:
        if value["type"] == "response.created" or not found:
            found.append([])
        found[-1].append(value)
    return found


def read(values: list[Any] | bytes) -> DialectChecker:
    """Check a stream in the dialect."""
    checker = DialectChecker(DIALECT)
    checker.feed(values if isinstance(values, bytes) else lines_of(values))
    checker.finish()
    return checker


def sent(conversation: list[Wire]) -> tuple[list[Wire], list[str]]:
    """Write a request, which the SDK's own types must take. Gives its items, and the reasons of losses."""
    assert DIALECT.write_messages is not None
    before = json.dumps(conversation)
    said = DIALECT.write_messages(conversation)
    assert json.dumps(conversation) == before
    items: list[Wire] = json.loads(json.dumps(said.value))["input"]
    INPUT.validate_python(items)
    assert {loss.reason for loss in said.losses} <= DIALECT.losses.keys()
    return items, [loss.reason for loss in said.losses]


def said_by_us(message_: Wire) -> list[tuple[str, ...]]:
    """Tell what a message says: texts, thinking, calls."""
    said: list[tuple[str, ...]] = []
    for block in message_["content"]:
        own = block.get("x_openai", {})
        if block["type"] == "text":
            said.append((own["type"], block["text"]))
        elif block["type"] == "thinking" and block["thinking"]:
            said.append(("thinking", block["thinking"]))
        elif block["type"] == "tool_call" and own["type"] in {"function_call", "custom_tool_call", "mcp_approval_request"}:
            said.append((own["type"], block["id"], block["name"], block["input"]))
        elif "id" in own and block["type"] != "text" and own["type"] != "reasoning":
            said.append((own["type"], own["id"]))
    return said


def said_by_sdk(given: Any) -> list[tuple[str, ...]]:
    """Tell what a response of the SDK says."""
    said: list[tuple[str, ...]] = []
    for item in given.output:
        if item.type == "message":
            said += [(part.type, part.refusal if part.type == "refusal" else part.text) for part in item.content]
        elif item.type == "reasoning":
            parts: list[Any] = [*(item.summary or []), *(item.content or [])]
            said += [("thinking", part.text) for part in parts if part.text]
        elif item.type == "function_call":
            said.append((item.type, item.call_id, item.name, item.arguments))
        elif item.type == "custom_tool_call":
            said.append((item.type, item.call_id, item.name, item.input))
        elif item.type == "mcp_approval_request":
            said.append((item.type, item.id, item.name, item.arguments))
        else:
            said.append((item.type, item.id))
    return said


def usage_of(given: Wire | None) -> Wire:
    """Give the provider's usage as a message's."""
    usage: Wire = given or {}
    details: Wire = usage.get("input_tokens_details") or {}
    return {
        "input_tokens": usage.get("input_tokens", 0),
        "output_tokens": usage.get("output_tokens", 0),
        "cache_input_tokens": details.get("cached_tokens") or 0,
        "cache_creation_input_tokens": details.get("cache_write_tokens") or 0,
    }


# Recordings


@recordings
@each_recording
def test_a_recording_says_what_the_sdk_accumulates(path: Path) -> None:
    """Texts, thinking, calls and usage of a recording are those that the SDK itself accumulates, one message for each response."""
    checker = read(path.read_bytes())
    found = {finding.rule for finding in checker.findings() if finding.severity is Severity.ERROR}
    assert found == BROKEN.get(path.name, (set(), ""))[0]
    folded_messages = checker.folder.snapshots()
    assert [errors(each, "AssistantMsg") for each in folded_messages] == [[] for _ in folded_messages]
    captured = responses_of(values_of(path))
    assert len(folded_messages) == len(captured)
    if path.name.startswith("parallel_wrapper"):
        [message_] = folded_messages
        assert [part[0] for part in said_by_us(message_)] == ["function_call"]
        return
    for message_, values in zip(folded_messages, captured, strict=True):
        verdict = judged(values)
        final = verdict.final if verdict.final is not None else verdict.snapshot
        assert verdict.error == ("APIError" if path.name.startswith("error_then_failed") else "")
        assert message_["id"] == final.id
        assert said_by_us(message_) == said_by_sdk(final)
        assert message_["usage"] == usage_of(final.usage and final.usage.to_dict())


@recordings
@pytest.mark.skipif(not JUDGED.exists(), reason="the verdicts are not there (../shared/judges/providers/golden.json)")
@each_recording
def test_a_recording_agrees_with_the_verdicts(path: Path) -> None:
    """The verdict on a recording that was written down before is ours as well; of several responses it is about the first."""
    verdict = json.loads(JUDGED.read_text("utf-8"))[f"openai_responses/{path.name}"]["sdk"]
    judged_ = verdict.get("final") or verdict.get("terminal_event")
    if judged_ is None:
        assert path.name in {"parallel_wrapper_completed_output_empty.jsonl", "error_then_failed.jsonl"}
        return
    message_ = read(path.read_bytes()).folder.snapshots()[0]
    said = said_by_us(message_)
    assert [part[1] for part in said if part[0] == "output_text"] == judged_["text"]
    assert [part[1] for part in said if part[0] == "refusal"] == judged_["refusal"]
    thought = [text for item in judged_["thinking"] for text in (*item["summary"], *item["content"]) if text]
    assert [part[1] for part in said if part[0] == "thinking"] == thought
    calls = [(item["id"], item["name"], item.get("arguments", item.get("input"))) for item in judged_["tool_calls"]]
    assert [part[1:] for part in said if part[0] in {"function_call", "custom_tool_call"}] == calls
    secret = [bool(block["x_openai"].get("encrypted_content")) for block in message_["content"] if block["type"] == "thinking"]
    assert any(secret) == any(item["encrypted"] for item in judged_["thinking"])
    assert message_["usage"] == usage_of(judged_["usage"])
    assert message_.get("metadata", {}).get("openai", {}).get("incomplete_details") == judged_["incomplete_details"]


@recordings
@each_recording
def test_a_recording_goes_back_as_the_sdk_would_send_it(path: Path) -> None:
    """What a recording folds to is sent back item by item as the SDK sends back its own response, but for answers to its calls."""
    items, _ = sent(read(path.read_bytes()).folder.snapshots())
    ours = [item for item in items if not item["type"].endswith(("_output", "_response"))]
    verdicts = [judged(values) for values in responses_of(values_of(path))]
    final = [slim(item) for verdict in verdicts if verdict.last is not None for item in verdict.last.output]
    at_last = [slim(item) for verdict in verdicts for item in verdict.items]
    if path.name.startswith("parallel_wrapper"):
        assert [item["type"] for item in ours] == ["function_call"]
    elif path.name in RENEWED:
        # By their places, since items may be done in another order than they began.
        assert sorted(map(written, ours)) == sorted(map(written, at_last))
    else:
        assert [slim(item) for item in ours] == final


def written(item: Any) -> str:
    """Write an item."""
    return json.dumps(slim(item), sort_keys=True)


def slim(item: Any) -> Wire:
    """Give an item without nulls."""
    wire: Wire = item if is_object(item) else item.to_dict(mode="json")
    return {key: value for key, value in wire.items() if value is not None}


@recordings
@each_recording
def test_a_recording_is_recognised(path: Path) -> None:
    """The first value of a recording is enough."""
    assert is_responses(values_of(path)[0])


@pytest.mark.skipif(not RECORDED.is_dir(), reason="the recordings of others are not there (../shared/recordings)")
def test_nothing_else_is_recognised() -> None:
    """No value of another format's recordings, of ours or of another dialect, is taken for one of this."""
    seen = 0
    for path in sorted(RECORDED.glob("*/*")) + sorted((ROOT / "tests/recordings").glob("*/*")):
        if path.parent.name == "openai_responses":
            continue
        text = path.read_text("utf-8")
        lines = [text] if path.suffix == ".json" else [line.removeprefix("data:").strip() for line in text.split("\n")]
        for line in lines:
            try:
                value = json.loads(line)
            except ValueError:
                continue
            seen += 1
            assert not is_responses(value), path
    assert seen > 1000
    for name in NAMES:
        assert name == DIALECT.name or not any(dialect(name).recognise(value) for value in (created(), ended(), response()))


@recordings
@given(st.data())
def test_a_broken_recording_gives_a_message_for_each_response_that_began(data: st.DataObject) -> None:
    """Lines that are dropped, doubled, swapped or cut never raise; what comes of them is a valid stream, and nothing of ours breaks."""
    path = data.draw(st.sampled_from(HERE))
    lines = [json.dumps(value).encode() for value in values_of(path)]
    for _ in range(data.draw(st.integers(1, 4))):
        at, other = data.draw(st.integers(0, len(lines) - 1)), data.draw(st.integers(0, len(lines) - 1))
        how = data.draw(st.sampled_from(("drop", "double", "swap", "cut", "end")))
        if how == "drop" and len(lines) > 1:
            del lines[at]
        elif how == "double":
            lines.insert(other, lines[at])
        elif how == "swap":
            lines[at], lines[other] = lines[other], lines[at]
        elif how == "cut":
            lines[at] = lines[at][: data.draw(st.integers(0, len(lines[at])))]
        else:
            del lines[max(at, 1) :]
    holds(read(b"\n".join(lines)))


def holds(checker: DialectChecker) -> None:
    """Hold what must be true of every stream, whatever it is: our events are in order, and the messages fit their schema."""
    own = {*DIALECT.rules, "event.lone-surrogate"}
    wrong = [finding for finding in checker.findings() if finding.severity is Severity.ERROR and finding.rule not in own]
    assert [finding for finding in wrong if not finding.rule.startswith("wire.")] == []
    for message_ in checker.folder.snapshots():
        assert errors(message_, "AssistantMsg") == []
        json.dumps(message_, allow_nan=False).encode()
        parked = any(block.get("state") in {"asking", "submitted"} for block in message_["content"])
        assert parked != ("finished_at" in message_)
    assert sent(checker.folder.snapshots()) is not None


# Plans


@given(plans())
def test_a_plan_comes_to_the_blocks_that_were_planned(plan: Plan) -> None:
    """A planned stream, its items interleaved, checks clean and folds to the planned blocks; the SDK accepts it and ends with the plan."""
    checker = read(plan.stream())
    assert [finding for finding in checker.findings() if finding.severity > Severity.NOTE and finding.rule not in QUIET] == []
    [message_] = checker.folder.snapshots()
    assert bare(message_["content"]) == plan.content()
    assert message_["usage"] == usage_of(USAGE)
    assert ("finished_at" in message_) != plan.waits
    verdict = judged(plan.stream())
    assert verdict.error == ""
    assert sorted(said_by_sdk(verdict.final)) == sorted(said_by_us(message_))


#: What is remarked on streams in order: a model may say nothing, or the same again and more.
QUIET = {"reply.no-visible-output", "block.cumulative-deltas"}


@given(plans(), st.data())
def test_cutting_deltas_changes_no_message(plan: Plan, data: st.DataObject) -> None:
    """Deltas that are cut anywhere, between the halves of a surrogate pair too, or joined with the next, fold to the same message."""
    values = [{key: value for key, value in each.items() if key != "sequence_number"} for each in plan.stream()]
    cut: list[Wire] = []
    for value in values:
        text = value.get("delta")
        if not isinstance(text, str):
            cut.append(value)
            continue
        halves = text.encode("utf-16-be", "surrogatepass")
        at = 2 * data.draw(st.integers(0, len(halves) // 2))
        first, rest = (half.decode("utf-16-be", "surrogatepass") for half in (halves[:at], halves[at:]))
        joins = data.draw(st.booleans()) and bool(cut) and where(cut[-1]) == where(value)
        if joins:
            cut[-1] = {**cut[-1], "delta": cut[-1]["delta"] + first}
            first = ""
        cut += [{**value, "delta": first}, {**value, "delta": rest}]
    assert folded(decoded(DIALECT, cut)[0]) == folded(decoded(DIALECT, values)[0])


def where(value: Wire) -> tuple[Any, ...]:
    """Tell what a delta goes to."""
    return tuple(value.get(name) for name in ("type", "output_index", "content_index", "summary_index"))


@given(plans())
def test_a_response_that_was_not_streamed_says_the_same(plan: Plan) -> None:
    """The whole response folds to what its stream folds to, up to the order in which interleaved items began."""
    whole, losses, remarks = decoded(DIALECT, [response("completed", plan.output)])
    assert (losses, [remark for remark in remarks if remark.rule != UNKNOWN]) == ([], [])
    [ours], [theirs] = folded(whole), folded(decoded(DIALECT, plan.stream())[0])
    assert sorted(map(json.dumps, bare(ours["content"]))) == sorted(map(json.dumps, bare(theirs["content"])))
    same = ("id", "name", "usage", "created_at", "finished_reason", "finished_at")
    assert {name: ours.get(name) for name in same} == {name: theirs.get(name) for name in same}
    head = [item["id"] for item in plan.output]
    assert [block["x_openai"]["id"] for block in ours["content"] if "x_openai" in block] == sorted(
        (block["x_openai"]["id"] for block in ours["content"] if "x_openai" in block), key=head.index
    )


@given(plans())
def test_the_end_alone_says_the_same(plan: Plan) -> None:
    """A stream whose deltas and items were lost folds to what its last event says."""
    [ours] = folded(decoded(DIALECT, [created(), ended(*plan.output)])[0])
    [whole] = folded(decoded(DIALECT, [response("completed", plan.output)])[0])
    assert bare(ours["content"]) == bare(whole["content"])


@given(plans())
def test_a_plan_goes_back_as_it_came(plan: Plan) -> None:
    """What a plan folds to is sent back as the items of the plan, in their order: only reasoning that nothing follows stays behind."""
    [message_] = folded(decoded(DIALECT, [response("completed", plan.output)])[0])
    items, _ = sent([message_])
    ours = [item for item in items if not item["type"].endswith(("_output", "_response"))]
    expected = list(plan.output)
    while expected and (expected[-1]["type"] == "reasoning" or not _shows(expected[-1])):
        expected.pop()
    given_ = [{**item, "arguments": "{}"} if item["type"] in RAW and not item["arguments"] else item for item in expected if _shows(item)]
    assert [slim(item) for item in ours] == [slim(item) for item in given_]


#: Calls whose arguments may not be empty.
RAW = ("function_call", "mcp_call", "mcp_approval_request")


def _shows(item: Wire) -> bool:
    """Tell whether an item makes a block. A message without parts makes none."""
    return item["type"] != "message" or bool(item["content"])


@given(plans(), st.data())
def test_every_prefix_gives_a_whole_message(plan: Plan, data: st.DataObject) -> None:
    """A stream that stops anywhere gives one message that fits its schema, ended as an error unless the response had ended."""
    stream = plan.stream()
    size = data.draw(st.integers(1, len(stream)))
    checker = read(stream[:size])
    holds(checker)
    [message_] = checker.folder.snapshots()
    broken = any(finding.rule == "openai-responses.truncated" for finding in checker.findings())
    assert broken == (size < len(stream)) == (message_.get("finished_reason") == "error")


@given(plans(), st.data())
def test_events_that_come_again_count_once(plan: Plan, data: st.DataObject) -> None:
    """Events about items that are delivered again, told by their sequence_number, change no message."""
    stream = plan.stream()
    again = list(stream)
    for _ in range(3):
        at = data.draw(st.integers(0, len(stream) - 2))
        if stream[at]["type"] not in {"response.created", "response.in_progress"}:
            again.insert(data.draw(st.integers(again.index(stream[at]) + 1, len(again) - 1)), stream[at])
    events, _, remarks = decoded(DIALECT, again)
    assert folded(events) == folded(decoded(DIALECT, stream)[0])
    assert {remark.rule for remark in remarks} <= {"openai-responses.redelivered", UNKNOWN}


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(ANYTHING, max_size=4))
@example([[], {}, None, "", {"type": []}, {"type": {}}, {"object": "response"}])
def test_any_json_is_read_without_raising(values: list[Any]) -> None:
    """Whatever comes, nothing is raised, and each value is remarked on."""
    assert DIALECT.decoder is not None
    decoder = DIALECT.decoder()
    for value in values:
        list(decoder.feed(value))
        assert decoder.remarks
    list(decoder.finish())


@given(plans(), st.data())
def test_any_value_in_any_field_is_read_without_raising(plan: Plan, data: st.DataObject) -> None:
    """Fields of a stream that hold anything, or are gone, never raise, and our own events stay in order."""
    stream = json.loads(json.dumps(plan.stream()))
    for _ in range(data.draw(st.integers(1, 4))):
        value: Any = stream[data.draw(st.integers(0, len(stream) - 1))]
        while is_object(value) and value:
            key = data.draw(st.sampled_from(sorted(value)))
            inner: Any = value[key]
            if is_object(inner) and data.draw(st.booleans()):
                value = inner
                continue
            if data.draw(st.booleans()):
                del value[key]
            else:
                value[key] = data.draw(ANYTHING)
            break
    assert DIALECT.decoder is not None
    decoder = DIALECT.decoder()
    events = [each for value in stream for each in decoder.feed(value)] + list(decoder.finish())
    found = check_and_fold(events)
    assert [finding.rule for finding in found.findings if finding.severity is Severity.ERROR] == []
    for message_ in found.messages:
        assert errors(message_, "AssistantMsg") == []


@given(plans())
def test_events_of_a_plan_are_in_the_mapping(plan: Plan) -> None:
    """What comes of a stream is in the mapping table, and what is in a stream is of the protocol."""
    assert {type(each).__name__ for each in decoded(DIALECT, plan.stream())[0]} <= MAPPED
    assert {each["type"] for each in plan.stream()} <= EVENTS


def test_the_mapping_is_true() -> None:
    """The events that come of the vectors and of items of all kinds are those of the mapping table."""
    streams: list[list[Any]] = [vector["values"] for vector in VECTORS.values()]
    streams += [[created(), *(done(item, i) for i, item in enumerate(output)), ended(*output)] for output in ITEMS.values()]
    streams += [[response("completed", [APPROVAL, PICTURE])]]
    assert {type(each).__name__ for stream in streams for each in decoded(DIALECT, stream)[0]} == MAPPED


#: Kinds of events that the mapping table says come of a stream.
MAPPED = {name for row in MAPPING if row.way != "out" for name in row.ours.split(", ") if name.endswith("Event")}
APPROVAL: Wire = {"type": "mcp_approval_request", "id": "a", "name": "f", "server_label": "s", "arguments": "{}"}
PICTURE: Wire = {"type": "image_generation_call", "id": "i", "status": "completed", "result": "AAEC"}


# Vectors


@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_has_the_right_outcome(name: str) -> None:
    """What public reports are about comes to the right message, with exactly the findings that it deserves."""
    vector = VECTORS[name]
    found = heard(DIALECT, vector["values"])
    assert differences(vector, found.messages) == []
    assert found.rules == expected(vector)
    assert found.losses == []
    events = decoded(DIALECT, vector["values"])[0]
    assert [finding for finding in check_and_fold(events).findings if finding.severity is Severity.ERROR] == []
    if "openai-responses.unknown-item" not in vector["findings"]:
        sent(found.messages)


def test_every_rule_fires_on_a_vector() -> None:
    """There is no rule of the dialect that nothing breaks."""
    fired = {rule for vector in VECTORS.values() for rule in vector["findings"]} | {"openai-responses.repeated-id"}
    assert fired - {"reply.no-visible-output"} == {*DIALECT.rules}
    assert {*COMMON} < fired


def test_a_remark_points_at_its_event() -> None:
    """A finding says which event it is about, and where in it."""
    checker = read([created(), added(call()), event("function_call_arguments.delta", 3, delta="{}"), ended()])
    [found] = [finding for finding in checker.findings() if finding.rule == "openai-responses.item-not-added"]
    assert (found.index, found.pointer, found.severity) == (2, "/output_index", Severity.ERROR)


def test_responses_one_after_the_other_are_several_replies() -> None:
    """Each response is a message of its own, also when one stops, when calls have the same id, and when an id comes again."""
    stream = [
        created("a"),
        done(call("[1]")),
        ended(response_id="a"),
        created("b"),
        done(call("[2]")),
        created("a"),
        ended(message("C"), response_id="a"),
    ]
    events, _, remarks = decoded(DIALECT, stream)
    first, second, third = folded(events)
    assert [(each["id"], each.get("finished_reason")) for each in (first, second, third)] == [
        ("a", None),
        ("b", "error"),
        ("a#1", "completed"),
    ]
    assert [block["id"] for each in (first, second) for block in each["content"]] == ["call_1", "call_1"]
    assert {remark.rule for remark in remarks} == {"openai-responses.truncated", "openai-responses.repeated-id"}


def test_a_response_that_is_asked_for_again_is_one_reply() -> None:
    """Whole responses of one id, as polling gives them, are one reply, which ends with the last."""
    polled = [response("queued"), response("in_progress"), response("completed", [message("A")])]
    events, _, remarks = decoded(DIALECT, polled)
    [message_] = folded(events)
    assert (said_by_us(message_), message_["finished_reason"], remarks) == ([("output_text", "A")], "completed", [])


def test_calls_that_are_cut_are_not_handed_out() -> None:
    """A call whose arguments are cut has a result that says so, and the whole ones are asked for."""
    stream = [
        created(),
        done(call("[1]"), 0),
        added(call("", "call_2", "f", "fc_2"), 1),
        event("function_call_arguments.delta", 1, delta="["),
    ]
    [message_] = folded(decoded(DIALECT, [*stream, ended(status="incomplete", incomplete_details={"reason": "max_output_tokens"})])[0])
    assert [(block["id"], block["state"]) for block in message_["content"]] == [
        ("call_1", "submitted"),
        ("call_2", "finished"),
        ("call_2", "interrupted"),
    ]


def test_what_the_message_has_no_field_for_is_kept() -> None:
    """Stop reasons, details of usage and settings stand in metadata.openai; progress and unknown fields in CUSTOM events."""
    details = {"reason": "content_filter"}
    stream = [
        created(conversation={"id": "conv_1"}),
        event("web_search_call.searching", 0, item_id="ws_1"),
        {**done(message("A")), "trace": 7},
        ended(status="incomplete", incomplete_details=details, service_tier="flex", completed_at=1_800_000_009),
    ]
    events, _, _ = decoded(DIALECT, stream)
    [message_] = folded(events)
    told = message_["metadata"]["openai"]
    assert (told["incomplete_details"], told["usage"], told["service_tier"]) == (details, USAGE, "flex")
    assert (message_["created_at"], message_["finished_at"]) == ("2027-01-15T08:00:00Z", "2027-01-15T08:00:09Z")
    customs = {each.name: each.value for each in events if each.__struct_config__.tag == "CUSTOM"}
    assert customs == {
        "openai_responses.web_search_call.searching": {"output_index": 0, "item_id": "ws_1"},
        "openai_responses.output_item.done": {"trace": 7},
    }
    assert events[0].session_id == "conv_1"


def test_what_is_too_deep_is_not_read() -> None:
    """A value that nests deeper than events may is remarked on."""
    deep: Any = []
    for _ in range(200):
        deep = [deep]
    _, _, remarks = decoded(DIALECT, [created(), event("output_item.added", item={"type": "message", "content": deep}), ended()])
    assert [remark.rule for remark in remarks] == [UNFIT]


def text_done(said: str) -> Wire:
    """Write the end of a response that says a text."""
    return ended(message(said))


FRAMES = {
    "line separators in a text": ("data: " + json.dumps(text_done("x\u2028y"), ensure_ascii=False) + "\n\n", "x\u2028y", set[str]()),
    "comments and fields without data": (": ping\n\nretry: 5\n\ndata: " + json.dumps(text_done("A")) + "\n\n", "A", set[str]()),
    "carriage returns, no blank at the end": ("event: x\r\ndata:" + json.dumps(text_done("A")) + "\r\n\r\n", "A", set[str]()),
    "a gateway's last word": ("data: " + json.dumps(text_done("A")) + "\n\ndata: [DONE]\n\n", "A", {"wire.done-marker"}),
}


@pytest.mark.parametrize("name", FRAMES)
def test_server_sent_events_are_read(name: str) -> None:
    """Captures of server-sent events are read however they are framed."""
    frames, said, rules = FRAMES[name]
    checker = read(f"data: {json.dumps(created())}\n\n{frames}".encode())
    [message_] = checker.folder.snapshots()
    assert [block["text"] for block in message_["content"]] == [said]
    assert {finding.rule for finding in checker.findings()} == rules


def test_the_number_of_an_unknown_event_counts() -> None:
    """A kind of event that is not known has its place in the count: nothing is missing after it, and it counts once itself."""
    strange = [{"type": "response.apply_patch_call_operation_diff.delta", "output_index": 0, "delta": "+y", "sequence_number": 1}]
    values = [{**created(), "sequence_number": 0}, *strange, *strange, {**ended(), "sequence_number": 2}]
    events, _, remarks = decoded(DIALECT, values)
    assert [remark.rule for remark in remarks] == [UNKNOWN, "openai-responses.redelivered"]
    assert [event.name for event in events if isinstance(event, structs.CustomEvent)] == [
        "openai_responses.apply_patch_call_operation_diff.delta"
    ]
    _, _, remarks = decoded(DIALECT, [{**created(), "sequence_number": 0}, *strange, {**ended(), "sequence_number": 3}])
    assert [remark.rule for remark in remarks] == [UNKNOWN, "openai-responses.gap"]


def test_a_gateway_s_last_word_ends_a_response() -> None:
    """After [DONE], what was not ended is."""
    lines = lines_of([created(), done(message("A"))]) + b"[DONE]\n"
    checker = read(lines + lines_of([ended(message("A"))]))
    [message_] = checker.folder.snapshots()
    assert message_["finished_reason"] == "error"
    assert {"openai-responses.truncated", "openai-responses.after-end"} <= {finding.rule for finding in checker.findings()}


# Requests


def paired(items: list[Wire]) -> None:
    """Hold that every call has one answer after it, and no answer lacks its call."""
    waiting: list[tuple[str, str]] = []
    for item in items:
        kind = item["type"]
        if kind in ANSWER_OF:
            waiting.append((ANSWER_OF[kind], item["id" if kind == "mcp_approval_request" else "call_id"]))
        elif kind in {*ANSWER_OF.values()}:
            name = item.get("approval_request_id") or item.get("call_id") or item["id"]
            assert (kind, name) in waiting
            waiting.remove((kind, name))
    assert waiting == []


#: Calls that a client answers, and what it answers with.
ANSWER_OF = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "mcp_approval_request": "mcp_approval_response",
    "computer_call": "computer_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
}


def reasoned(items: list[Wire]) -> None:
    """Hold that something of the assistant follows each reasoning item."""
    for i, item in enumerate(items):
        if item["type"] == "reasoning":
            after = items[i + 1]
            assert after.get("role", "assistant") == "assistant"
            assert "id" in after or not after["type"].endswith(("_output", "_response"))


@given(st.lists(messages(), max_size=4))
def test_any_messages_go_out_as_the_sdk_takes_them(conversation: list[Wire]) -> None:
    """Whatever messages there are, the SDK's types take the request, calls and answers pair, and losses are of those that are declared."""
    items, _ = sent(conversation)
    paired(items)
    reasoned(items)


@given(replies(), st.lists(messages(), max_size=2))
def test_any_reply_goes_out_as_the_sdk_takes_it(events: list[Wire], more: list[Wire]) -> None:
    """The same of what a stream of ours folds to, among other messages."""
    [message_] = check_and_fold(lines_of(events)).messages
    items, _ = sent([*more[:1], message_, *more[1:]])
    paired(items)
    reasoned(items)


@given(plans(), plans())
def test_plans_go_out_in_a_conversation(first: Plan, second: Plan) -> None:
    """What two planned responses fold to, whose calls may have the same ids, is a conversation in which calls and answers pair."""
    values = [
        *first.stream(),
        *[{**each, "response": {**each["response"], "id": "resp_2"}} if "response" in each else each for each in second.stream()],
    ]
    items, _ = sent(folded(decoded(DIALECT, values)[0]))
    paired(items)
    reasoned(items)


@pytest.mark.parametrize("name", ITEMS)
def test_items_of_every_kind_go_back_as_they_came(name: str) -> None:
    """What the provider ran, and what it wants answered, is sent back as it was, whether it was streamed or not."""
    output = ITEMS[name]
    streamed = [created(), *(each for i, item in enumerate(output) for each in (added(item, i), done(item, i))), ended(*output)]
    for values in ([response("completed", output)], streamed):
        events, _, remarks = decoded(DIALECT, values)
        assert {remark.rule for remark in remarks} <= {"openai-responses.answer-without-call"}
        assert [finding.rule for finding in check_and_fold(events).findings if finding.severity is Severity.ERROR] == []
        items, _ = sent(folded(events))
        assert items[: len(output)] == output
        paired(items)


@pytest.mark.parametrize("name", SAID)
def test_what_is_said_is_said_like_this(name: str) -> None:
    """Each kind of block has its form, and each loss is reported where it happens."""
    conversation, wanted, lost = SAID[name]
    items, losses = sent(conversation)
    assert items == wanted
    assert losses == lost


def test_every_loss_happens() -> None:
    """There is no loss of the writer that is declared and never reported."""
    assert {reason for _, _, lost in SAID.values() for reason in lost} == {*LOSSES}


def test_the_example_of_the_page_is_true() -> None:
    """The stream of the page folds to its message, and with the result of its call goes out as its request."""
    page = (ROOT / "src/eventfold/dialects/openai_responses.md").read_text("utf-8")
    stream, message_, request = (part.split("```")[0] for part in page.split("```json\n")[1:])
    events, _, remarks = decoded(DIALECT, [json.loads(line) for line in stream.splitlines()])
    [found] = folded(events)
    assert remarks == []
    told = json.loads(message_)
    assert bare(found["content"]) == bare(told["content"])
    assert {key: found[key] for key in told if key != "content"} == {key: value for key, value in told.items() if key != "content"}
    result = {"type": "tool_result", "id": "call_1", "name": "tide", "output": "high at 14:10", "state": "success"}
    assert sent([{**found, "content": [*found["content"], result]}]) == (json.loads(request)["input"], [])
