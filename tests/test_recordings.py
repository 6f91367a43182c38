"""
Streams of real AgentScope agents: the fold equals what the agent itself kept in memory.

The memory was written by code that is not ours, so it is the ground truth. Where it legitimately
differs stands in `DIFFERENCES` by recording, and in `told` and `remembered`, each with its reason, and nothing wider.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

import pytest
from support import RECORDINGS, Wire, events_of, recording_name

from eventfold import Checker, Folder, check_and_fold, fold
from eventfold.jsonvalue import is_array
from eventfold.models import EVENT
from eventfold.wire.schema import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: Every finding of every recording; those that are not named have none.
FINDINGS: dict[str, list[tuple[str, int]]] = {
    # The producer raised and the connection was gone: no REPLY_END.
    "2.0.11-model_error": [("reply.missing-end", 2)],
    "2.0.11-model_error_midway": [("reply.missing-end", 4)],
    "2.0.4-model_error": [("reply.missing-end", 2)],
    "2.0.4-model_error_midway": [("reply.missing-end", 4)],
    "2.0.4-tool_raises": [("reply.missing-end", 9)],
    # The model answered nothing at all, which is legal.
    "2.0.11-empty_reply": [("reply.no-visible-output", 3)],
    "2.0.4-empty_reply": [("reply.no-visible-output", 3)],
}

each_recording = pytest.mark.parametrize("path", RECORDINGS, ids=recording_name)


def test_all_recordings_are_there() -> None:
    """There are 50 recordings, and the findings name none that is not there."""
    names = {recording_name(path) for path in RECORDINGS}
    assert len(names) == 50
    assert set(FINDINGS) <= names


@each_recording
def test_a_recording_has_exactly_its_findings(path: Path) -> None:
    """What a producer finished or parked has no error; what it broke off has the finding that says so."""
    findings = check_and_fold(path.read_bytes()).findings
    assert [(finding.rule, finding.index) for finding in findings] == FINDINGS.get(recording_name(path), [])


@each_recording
def test_the_fold_equals_the_agents_memory(path: Path) -> None:
    """In everything that the events carry, fold and memory agree."""
    memory = json.loads(path.with_name(path.name.replace(".events.jsonl", ".message.json")).read_text("utf-8"))
    messages = check_and_fold(path.read_bytes()).messages
    assert len(messages) == 1
    if memory == []:
        # The agent keeps nothing of a reply whose model call failed.
        assert FINDINGS[recording_name(path)][0][0] == "reply.missing-end"
        return
    name = recording_name(path)
    assert told(messages[0], old=name.startswith("2.0.4")) == remembered(memory, events_of(path), name)


def test_the_edited_call_is_what_the_message_shows() -> None:
    """A user who edits while confirming decides what runs, and that is what the message shows."""
    for path in RECORDINGS:
        if "hitl_confirm_edited" in path.name:
            [message] = check_and_fold(path.read_bytes()).messages
            assert message["content"][0]["input"] == '{"q": "/tmp/only-this"}'


@each_recording
def test_every_prefix_folds_to_a_valid_message(path: Path) -> None:
    """However early one looks, the message fits its schema."""
    checker = Checker()
    for line in path.read_bytes().splitlines(keepends=True)[:120]:
        checker.feed(line)
        [message] = checker.folder.snapshots()
        assert errors(message, "AssistantMsg") == []


@each_recording
def test_models_and_bytes_fold_alike(path: Path) -> None:
    """The fold takes pydantic events, and gives what the bytes give."""
    events = [EVENT.validate_json(line) for line in path.read_bytes().splitlines()]
    [message] = fold(events)
    assert [message.model_dump()] == check_and_fold(path.read_bytes()).messages


@each_recording
def test_a_checkpoint_at_any_event_changes_nothing(path: Path) -> None:
    """What goes on from a checkpoint gives the same as the whole at once."""
    events = [EVENT.validate_python(event) for event in events_of(path)][:60]
    whole = Folder()
    halves: list[Folder] = []
    for event in events:
        halves.append(Folder.restore(json.loads(json.dumps(whole.checkpoint()))))
        for half in halves:
            half.feed(event)
        whole.feed(event)
    for half in halves:
        assert half.snapshots() == whole.snapshots()
        assert half.checkpoint() == whole.checkpoint()


#: What the agent's memory has otherwise than its events, by recording, in the order in which it is mended.
DIFFERENCES: dict[str, tuple[Callable[[Wire, list[Wire]], None], ...]] = {}


def _differs(*names: str) -> Callable[[Callable[[Wire, list[Wire]], None]], Callable[[Wire, list[Wire]], None]]:
    """Say in which recordings the memory differs in the way that the function mends."""

    def listed(mend: Callable[[Wire, list[Wire]], None]) -> Callable[[Wire, list[Wire]], None]:
        for name in names:
            DIFFERENCES[name] = (*DIFFERENCES.get(name, ()), mend)
        return mend

    return listed


@_differs("2.0.4-cancel_in_text", "2.0.4-data_block", "2.0.11-cancel_in_text", "2.0.11-data_block")
def _join_texts(memory: Wire, events: list[Wire]) -> None:
    """Join what the agent splits: a text where a chunk carried audio, or when it is cancelled; the events hold one block."""
    del events
    first, second = memory["content"]
    memory["content"] = [{"type": "text", "text": first["text"] + second["text"]}]


@_differs("2.0.4-data_block", "2.0.11-data_block")
def _add_audio(memory: Wire, events: list[Wire]) -> None:
    """Add the audio, which the agent streams and does not keep."""
    [start] = [event for event in events if event["type"] == "DATA_BLOCK_START"]
    data = b"".join(b64decode(event["data"]) for event in events if event["type"] == "DATA_BLOCK_DELTA")
    source = {"type": "base64", "data": b64encode(data).decode(), "media_type": start["media_type"]}
    assert source["media_type"].startswith("audio/")
    memory["content"].append({"type": "data", "id": start["block_id"], "source": source})


@_differs("2.0.11-max_iters")
def _drop_hint(memory: Wire, events: list[Wire]) -> None:
    """Take away the hint that the agent gave itself without an event."""
    assert not any(event["type"] == "HINT_BLOCK" for event in events)
    [hint] = [block for block in memory["content"] if block["type"] == "hint"]
    memory["content"].remove(hint)


@_differs("2.0.4-parallel_tools", "2.0.11-parallel_tools")
def _order_results(memory: Wire, events: list[Wire]) -> None:
    """Order results by start, as the stream has them; memory has them by end."""
    started = [event["tool_call_id"] for event in events if event["type"] == "TOOL_RESULT_START"]
    places = [i for i, block in enumerate(memory["content"]) if block["type"] == "tool_result"]
    results = sorted((memory["content"][i] for i in places), key=lambda result: started.index(result["id"]))
    assert places == list(range(places[0], places[0] + len(places)))
    memory["content"][places[0] : places[0] + len(places)] = results


@_differs("2.0.4-cancel_in_text", "2.0.11-cancel_in_text")
def _count_nothing(memory: Wire, events: list[Wire]) -> None:
    """Count the tokens of a cancelled call: 0 and 0 on the wire, nothing in memory."""
    del events
    assert memory.get("usage") is None
    memory["usage"] = {"input_tokens": 0, "output_tokens": 0, "cache_input_tokens": 0, "cache_creation_input_tokens": 0}


def told(message: Wire, *, old: bool) -> Wire:
    """Give what of a folded message must be equal: all but times and random ids. `old` is AgentScope 2.0.4."""
    head = {key: value for key, value in message.items() if key not in {"created_at", "finished_at", "content"}}
    return {**head, "content": [_block(block, old=old) for block in message["content"]]}


def remembered(memory: Wire, events: list[Wire], name: str) -> Wire:
    """Give the same of the agent's memory, with what the events say otherwise."""
    old = name.startswith("2.0.4")
    memory = json.loads(json.dumps(memory))
    for mend in DIFFERENCES.get(name, ()):
        mend(memory, events)
    if old and memory.get("usage"):
        memory["usage"] |= {"cache_input_tokens": 0, "cache_creation_input_tokens": 0}  # 2.0.4 does not count the cache
    # Why a reply ended is in its last event alone.
    for end in (event for event in events if event["type"] == "REPLY_END"):
        memory["finished_reason"] = end.get("finished_reason") or "completed"
        memory |= {key: end[key] for key in ("error", "structured_output") if end.get(key) is not None}
    return told({key: value for key, value in memory.items() if value is not None}, old=old)


def _block(block: Wire, *, old: bool, inner: bool = False) -> Wire:
    # Times differ: the agent's memory stamps blocks itself. Null, and an empty list of rules, mean absent.
    kept = {key: value for key, value in block.items() if key not in {"created_at", "finished_at"} and value not in (None, [])}
    if block["type"] in {"text", "thinking"} or (old and inner):
        kept.pop("id", None)  # the stream's ids of text and thinking are random, in 2.0.4 those of data inside a result, too
    if block["type"] == "tool_result":
        output: Any = block["output"]
        # Text that never ran is a string in memory and a list of one text in the stream; its inner ids are random.
        kept["output"] = output if isinstance(output, str) else [_block(part, old=old, inner=True) for part in output]
        if is_array(output) and [part["type"] for part in output] == ["text"]:
            kept["output"] = output[0]["text"]
    return kept


def _wrong(message: Wire) -> Iterator[tuple[str, Wire]]:
    """Give messages that are wrong in one thing."""
    content: list[Wire] = message["content"]
    text = {"type": "text", "id": "i", "text": ""}
    audio = {"type": "data", "id": "i", "source": {"type": "base64", "data": "", "media_type": "audio/wav"}}
    yield "another role", {**message, "role": "user"}
    yield "another reason", {**message, "finished_reason": "error"}
    yield "an error", {**message, "error": {"type": "unknown", "message": "m"}}
    yield "an output", {**message, "structured_output": {}}
    yield "another usage", {**message, "usage": {**(message.get("usage") or {}), "cache_input_tokens": 7}}
    yield "a hint", {**message, "content": [*content, {"type": "hint", "id": "i", "hint": "h"}]}
    yield "audio", {**message, "content": [*content, audio]}
    yield "an empty text", {**message, "content": [*content, text]}
    yield "a block less", {**message, "content": content[:-1]}
    for i, block in enumerate(content):
        places = content[:i], content[i + 1 :]
        if "state" in block:
            yield "another state", {**message, "content": [*places[0], {**block, "state": "nowhere"}, *places[1]]}
        if len(block.get("text", "")) > 1:
            halves = {**block, "text": block["text"][:1]}, {**block, "text": block["text"][1:]}
            yield "a text in two", {**message, "content": [*places[0], *halves, *places[1]]}
        if places[1] and block["type"] == places[1][0]["type"] == "tool_result":
            yield "results in another order", {**message, "content": [*places[0], places[1][0], block, *places[1][1:]]}


def test_the_comparison_sees_what_is_wrong() -> None:
    """A message that is wrong in one thing does not equal the agent's memory."""
    seen: set[str] = set()
    for path in RECORDINGS:
        [message] = check_and_fold(path.read_bytes()).messages
        old = recording_name(path).startswith("2.0.4")
        right = told(message, old=old)
        for name, wrong in _wrong(message):
            if name != "a block less" or message["content"]:
                assert told(wrong, old=old) != right, f"{path.name}: {name}"
                seen.add(name)
    assert seen == {
        "another role",
        "another reason",
        "an error",
        "an output",
        "another usage",
        "a hint",
        "audio",
        "an empty text",
        "a block less",
        "another state",
        "a text in two",
        "results in another order",
    }
