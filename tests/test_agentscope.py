"""
The AgentScope dialect, judged by AgentScope itself.

Whatever `to_agentscope` says loads in AgentScope's own models, and what those write back differs from
the original exactly where the list of losses says.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from agentscope.event import AgentEvent
from agentscope.message import Msg
from hypothesis import given
from pydantic import TypeAdapter
from support import RECORDINGS, ROOT, Wire, events_of, lines_of, recording_name

from eventfold import assistant_msg, check_and_fold
from eventfold.dialects.agentscope import from_agentscope, to_agentscope
from eventfold.fuzz.strategies import messages, replies, streams
from eventfold.jsonvalue import escape, is_array, is_object
from eventfold.wire.schema import errors

if TYPE_CHECKING:
    from pathlib import Path

_EVENT: TypeAdapter[Any] = TypeAdapter(AgentEvent)
EXAMPLES = sorted(path for path in (ROOT / "schemas/examples").glob("*/*.json") if path.parent.name.endswith(("Event", "Msg")))
BASES = {"AgentEvent", "Msg"}

URL = {"type": "url", "media_type": "image/png"}
#: Messages and events that AgentScope's models cannot hold as they are, and where they lose what.
HARD: dict[str, tuple[Wire, list[str]]] = {
    "reason of tomorrow": ({"finished_reason": "max_tokens"}, ["/finished_reason"]),
    "error of tomorrow": ({"error": {"type": "quota", "message": "m", "x_code": 7}}, ["/error/type", "/error/x_code"]),
    "extensions": ({"x_trace": "t", "content": [{"type": "text", "id": "1", "text": "t", "x_a": 1}]}, ["/x_trace", "/content/0/x_a"]),
    "provider fields of thinking": ({"content": [{"type": "thinking", "id": "1", "thinking": "", "signature": "s"}]}, []),
    "nulls": (
        {"metadata": None, "usage": {"input_tokens": 1, "output_tokens": 2, "cache_input_tokens": None}, "finished_at": None},
        [],
    ),
    "nulls in a result": ({"content": [{"type": "tool_result", "id": "1", "name": "n", "output": "o", "metadata": None}]}, []),
    "rewritten URL": ({"content": [{"type": "data", "id": "1", "source": {**URL, "url": "https://e.org"}}]}, ["/content/0/source/url"]),
    "no URL": ({"content": [{"type": "data", "id": "1", "source": {**URL, "url": "not a url"}}]}, ["/content/0"]),
    "legacy blocks": (
        {
            "role": "user",
            "content": [{"type": "image", "source": {**URL, "url": "https://e.org/a.png"}}, {"type": "text", "id": "t", "text": ""}],
        },
        ["/content/0/type"],
    ),
    "tool message": ({"role": "tool", "content": [{"type": "tool_result", "id": "1", "name": "n", "output": "o"}]}, ["/role"]),
    "data in a hint": (
        {"content": [{"type": "hint", "id": "1", "hint": [{"type": "data", "id": "2", "source": {**URL, "url": "https://E.org/ü"}}]}]},
        ["/content/0/hint/0/source/url"],
    ),
}


def load(said: Wire) -> Wire:
    """Load what was said in AgentScope's models, and write it as they do."""
    if "role" in said and "content" in said:
        return Msg.model_validate_json(json.dumps(said)).model_dump(mode="json")
    return _EVENT.validate_json(json.dumps(said)).model_dump(mode="json")


def within(pointer: str, place: str) -> bool:
    """Tell whether a pointer goes to a place or into it."""
    return pointer == place or pointer.startswith(f"{place}/")


def value_at(value: Any, pointer: str) -> Any:
    """Give what a pointer points to."""
    for part in pointer.split("/")[1:]:
        value = value[int(part) if is_array(value) else part.replace("~1", "/").replace("~0", "~")]
    return value


def changes(original: Any, written: Any, pointer: str = "") -> list[str]:
    """Give pointers to what of the original is not as it was; what is added does not count."""
    if is_object(original) and is_object(written):
        return [
            found
            for key, item in original.items()
            if item is not None
            for found in (changes(item, written[key], f"{pointer}/{escape(key)}") if key in written else [f"{pointer}/{escape(key)}"])
        ]
    if is_array(original) and is_array(written) and len(original) == len(written):
        pairs = enumerate(zip(original, written, strict=True))
        return [found for i, (one, other) in pairs for found in changes(one, other, f"{pointer}/{i}")]
    return [] if original == written else [pointer]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_message_and_event_loads_and_loses_what_is_listed(path: Path) -> None:
    """An example that goes through to_agentscope and AgentScope's models differs where the losses say, and nowhere else."""
    original = json.loads(path.read_text("utf-8"))
    said, losses = to_agentscope(original)
    written = load(said)
    if said.get("type") == "CUSTOM" and original["type"] != "CUSTOM":
        assert [loss.pointer for loss in losses] == ["/type"]
        assert (written["name"], written["value"]) == (
            original["type"],
            {k: v for k, v in original.items() if k not in {"type", "id", "created_at"}},
        )
    else:
        assert sorted(changes(original, written)) == sorted(loss.pointer for loss in losses)


@pytest.mark.parametrize("name", HARD)
def test_what_agentscope_cannot_hold_is_said_differently(name: str) -> None:
    """Each kind of loss is listed once, at its place."""
    fields, expected = HARD[name]
    original: Wire = {"name": "n", "role": "assistant", "id": "1", "created_at": "t", "content": [], **fields}
    assert errors(original, {"user": "UserMsg", "tool": "ToolMsg"}.get(original["role"], "AssistantMsg")) == []
    said, losses = to_agentscope(original)
    written = load(said)
    assert sorted(loss.pointer for loss in losses) == sorted(expected)
    assert all(loss.reason for loss in losses)
    lost = changes(original, written)
    assert {pointer for pointer in lost if not any(pointer.startswith(loss) for loss in expected)} == set()
    assert [loss for loss in expected if not any(pointer.startswith(loss) for pointer in lost)] == []


def explained(original: Wire) -> None:
    """Hold what AgentScope writes of a message or event against it: the losses say where they differ, and each says so for a reason."""
    said, losses = to_agentscope(original)
    written = load(said)
    if said.get("type") == "CUSTOM" and original.get("type") != "CUSTOM":
        assert [loss.pointer for loss in losses] == ["/type"]
        original = {"name": original["type"], "value": {k: v for k, v in original.items() if k not in {"type", "id", "created_at"}}}
        losses = []
    lost = changes(original, written)
    places = [loss.pointer for loss in losses]
    assert [pointer for pointer in lost if not any(within(pointer, place) for place in places)] == []
    # An unknown field that is null is lost, too, though `changes` does not see it.
    places = [place for place in places if value_at(original, place) is not None]
    assert [place for place in places if not any(within(pointer, place) or within(place, pointer) for pointer in lost)] == []


@given(messages())
def test_any_message_loads_and_loses_what_is_listed(message: Wire) -> None:
    """Whatever the schemas allow as a message, AgentScope's models load what is said of it, and write back what was not listed as lost."""
    explained(message)


@given(streams(moves=12))
def test_any_event_loads_and_loses_what_is_listed(stream: list[Wire]) -> None:
    """The same of every event of a random stream, unknown types and fields among them."""
    for event in stream:
        explained(event)


@given(replies(roles=("assistant",)))
def test_what_agentscope_dumps_comes_back(events: list[Wire]) -> None:
    """What AgentScope dumps of a random message or event is valid here, and comes back equal."""
    [message] = check_and_fold(lines_of(events)).messages
    for value, name in [(message, "AssistantMsg"), *((event, "AgentEvent") for event in events)]:
        dumped = load(to_agentscope(value)[0])
        ours = from_agentscope(dumped)
        assert errors(dumped, name) == errors(ours, name) == []
        assert changes(dumped, ours) == []


@pytest.mark.parametrize("path", RECORDINGS, ids=recording_name)
def test_what_we_fold_loads_in_agentscope(path: Path) -> None:
    """A folded message of a real stream goes into AgentScope's memory without loss, and comes back."""
    [message] = check_and_fold(path.read_bytes()).messages
    said, losses = to_agentscope(message)
    assert losses == []
    assert changes(message, from_agentscope(load(said))) == []


@pytest.mark.parametrize("path", RECORDINGS, ids=recording_name)
def test_what_agentscope_writes_fits_our_schemas(path: Path) -> None:
    """Messages and events that AgentScope dumps are valid here, and nothing of them changes."""
    memory = json.loads(path.with_name(path.name.replace(".events.jsonl", ".message.json")).read_text("utf-8"))
    for value in [*events_of(path)[:60], *([memory] if memory else [])]:
        dumped = load(value)
        ours = from_agentscope(dumped)
        name = "AssistantMsg" if "content" in dumped else "AgentEvent"
        assert errors(dumped, name) == errors(ours, name) == []
        assert changes(dumped, ours) == []


def test_models_and_structs_are_taken_as_well() -> None:
    """to_agentscope takes what the package makes; something else is refused."""
    said, losses = to_agentscope(assistant_msg("b", "hi", id="r1"))
    assert (losses, load(said)["content"][0]["text"]) == ([], "hi")
    with pytest.raises(ValueError, match="neither a message"):
        to_agentscope({"name": "n"})
