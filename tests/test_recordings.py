"""
Streams of real AgentScope agents: the fold equals what the agent itself kept in memory.

The memory was written by code that is not ours, so it is the ground truth. Where it legitimately
differs stands in `normal`, each with its reason, and nothing wider.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support import RECORDINGS, Wire, events_of, recording_name

from eventfold import Checker, Folder, check_and_fold, fold
from eventfold.jsonvalue import is_array
from eventfold.models import EVENT
from eventfold.wire.schema import errors

if TYPE_CHECKING:
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
    events = events_of(path)
    old = path.parent.name == "agentscope-2.0.4"
    assert normal(messages[0], events, old=old) == normal(memory, events, old=old)


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


def normal(message: Wire, events: list[Wire], *, old: bool) -> Wire:
    """Give what of a message must be equal. `old` is AgentScope 2.0.4."""
    hinted = {event["block_id"] for event in events if event["type"] == "HINT_BLOCK"}
    ended = any(event["type"] == "REPLY_END" for event in events)
    blocks: list[Wire] = []
    for block in message["content"]:
        if block["type"] == "data" and block["source"]["media_type"].startswith("audio/"):
            continue  # the agent streams audio and does not keep it
        if block["type"] == "hint" and block["id"] not in hinted:
            continue  # a hint that the agent gave itself without an event (max_iters in 2.0.11)
        blocks.append(_normal_block(block, ended=ended, old=old))
        if len(blocks) > 1 and blocks[-1]["type"] == blocks[-2]["type"] == "text":
            # The agent splits a text where a chunk carried audio, or when it is cancelled; the events hold one block.
            blocks[-2:] = [{"type": "text", "text": blocks[-2]["text"] + blocks[-1]["text"]}]
    usage = message.get("usage")
    return {
        "id": message["id"],
        "name": message["name"],
        "role": message["role"],
        "metadata": message["metadata"],
        # The usage of a cancelled call is 0 and 0 on the wire and nothing in memory; 2.0.4 does not count the cache.
        "usage": (usage["input_tokens"], usage["output_tokens"]) if usage and any(usage.values()) else None,
        "content": _sort_results(blocks),
    }


def _normal_block(block: Wire, *, ended: bool, old: bool, inner: bool = False) -> Wire:
    # Times differ: the agent's memory stamps blocks itself. Null, and an empty list of rules, mean absent.
    kept = {key: value for key, value in block.items() if key not in {"created_at", "finished_at"} and value not in (None, [])}
    if block["type"] in {"text", "thinking"} or (old and inner):
        del kept["id"]  # the stream's ids of text and thinking are random, in 2.0.4 those of data inside a result, too
    if block["type"] == "tool_result":
        output: Any = block["output"]
        # Text that never ran is a string in memory and a list of one text in the stream; its inner ids are random.
        kept["output"] = output if isinstance(output, str) else [_normal_block(part, ended=ended, old=old, inner=True) for part in output]
        if is_array(output) and [part["type"] for part in output] == ["text"]:
            kept["output"] = output[0]["text"]
    if not ended and block["type"] in {"tool_call", "tool_result"} and block.get("state") not in {"asking", "submitted"}:
        del kept["state"]  # no event says how a call ended that the producer broke off
    return kept


def _sort_results(blocks: list[Wire]) -> list[Wire]:
    """Order neighbouring results by id: the stream has them by start, memory by end."""
    ordered: list[Wire] = []
    run: list[Wire] = []
    for block in [*blocks, {"type": ""}]:
        if block["type"] == "tool_result":
            run.append(block)
            continue
        ordered += sorted(run, key=lambda result: result["id"])
        run = []
        ordered.append(block)
    return ordered[:-1]
