"""What the strategies reach: everything that makes a stream hard, so that no law passes by looking away."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from base64 import b64decode
from collections import Counter
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, ClassVar

import pytest
from eventfold_models.tables import BLOCKS, EVENTS, FIELDS, MESSAGES
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st
from support import ROOT, Wire, lines_of

from eventfold import Severity, check_and_fold, read_event
from eventfold.findings import SEVERITY
from eventfold.fold import Folder
from eventfold.fuzz.payloads import values
from eventfold.fuzz.strategies import messages, replies, streams
from eventfold.jsonvalue import is_array
from eventfold.lifecycle import Breach, Feed, Instance, Lifecycle
from eventfold.table import MACHINES, PLANS, Machine
from eventfold.wire.schema import contract, errors

#: Cells that no valid stream reaches: they are entered from a stored message, or lie behind an error.
_FROM_STORED = {"unknown"}
if TYPE_CHECKING:
    from pathlib import Path

_ENDS = ("reply_complete", "reply_interrupt", "reply_fail")
#: Why a message may say that its reply ended, as the schema knows it.
REASONS: list[str] = contract()["$defs"]["ReplyFinishedReason"]["examples"]
#: How many samples may be drawn to reach everything; far fewer are needed.
_SAMPLES = 20


class Seen:
    """What the examples had."""

    cells: ClassVar[Counter[str]] = Counter()
    traits: ClassVar[Counter[str]] = Counter()
    types: ClassVar[Counter[str]] = Counter()


class Spy(Lifecycle):
    """Notes every cell and guard that is walked without an error."""

    def step(self, feed: Feed, instance: Instance, machine: Machine, given: str) -> bool:
        """Note, then walk."""
        holder = feed.reply if machine.scope == "reply" else self._part(instance, feed) if machine.scope == "part" else instance
        name = f"{machine.name}.{given}.{holder.states[machine.slot].name}"
        Seen.cells[name] += 1
        return super().step(feed, instance, machine, given)


@pytest.fixture(scope="module", autouse=True)
def seen() -> type[Seen]:
    """Draw samples, and note what they hold, until every cell is reached; the tests say which was not."""
    for number in range(_SAMPLES):
        sample(number)
        if not missing():
            break
    return Seen


def sample(number: int) -> None:
    """Draw a sample: streams, and replies long and short."""

    @seed(number)
    @settings(max_examples=300, database=None, deadline=None, phases=[Phase.generate])
    @given(st.one_of(streams(redelivered=True), replies(moves=48, roles=("assistant",)), replies(moves=12, roles=("assistant",))))
    def draw(stream: list[Wire]) -> None:
        note_traits(stream)
        folder = Folder()
        breaches: list[Breach] = []
        folder.lifecycle = Spy(folder.lifecycle.effects, breaches.append)
        for event in stream:
            if event["type"] in PLANS:
                folder.feed(read_event(event))
        folder.lifecycle.finish(len(stream))
        assert [breach for breach in breaches if SEVERITY[breach.rule] is Severity.ERROR] == []

    draw()


def missing() -> list[str]:
    """Name the legal cells that were not walked and could be."""
    return [name for name in legal_cells() if not Seen.cells[name] and name not in UNREACHABLE]


def note_traits(stream: list[Wire]) -> None:
    """Note what makes a stream hard."""
    traits = Seen.traits
    text = json.dumps(stream, ensure_ascii=False)
    for name, piece in {"combining": "e\u0301", "zwj": "\u200d", "line separator": "\u2028", "astral": "\U0001d11e"}.items():
        traits[name] += piece in text
    for event in stream:
        Seen.types[event["type"]] += 1
        traits["unknown field"] += event["type"] in EVENTS and not set(event) <= set(FIELDS[EVENTS[event["type"]]])
        traits["unknown type"] += event["type"] not in EVENTS
        traits["sub-agent"] += bool(event.get("source_path"))
        traits["empty delta"] += event.get("delta") == ""
        traits["url"] += event.get("url") is not None and "DATA" in event["type"]
        traits["odd base64"] += event.get("data") is not None and len(b64decode(event["data"])) % 3 > 0
        traits["extra"] += bool(event.get("extra"))
        traits["final text"] += event.get("text") is not None
        traits["several items"] += any(len(event.get(name) or ()) > 1 for name in ("tool_calls", "confirm_results", "execution_results"))
    by_reply: dict[str, list[Wire]] = {}
    for event in stream:
        by_reply.setdefault(event.get("reply_id") or "", []).append(event)
    for events in by_reply.values():
        note_reply(events)
    order = [event["reply_id"] for event in stream if event["type"] in PLANS and PLANS[event["type"]].steps]
    traits["interleaved replies"] += any(one != other and one in order[i + 2 :] for i, (one, other) in enumerate(pairwise(order)))
    ids = [(event["reply_id"], event["id"]) for event in stream if event["type"] in PLANS and PLANS[event["type"]].steps]
    traits["redelivery"] += len(set(ids)) < len(ids)


def note_reply(events: list[Wire]) -> None:
    """Note what makes a reply hard."""
    traits = Seen.traits
    kinds = [event["type"] for event in events]
    traits["several model calls"] += kinds.count("MODEL_CALL_START") > 1
    traits["second start"] += kinds.count("REPLY_START") > 1 and "REPLY_END" in kinds and kinds.index("REPLY_END") > len(kinds) - 2
    traits["parked at the end"] += "REPLY_END" not in kinds and "REPLY_START" in kinds
    started = [event["block_id"] for event in events if event["type"].endswith("_BLOCK_START")]
    calls = {event["tool_call_id"] for event in events if event["type"] == "TOOL_CALL_START"}
    traits["one id in two kinds of block"] += len(set(started)) < len(started)
    traits["one id for a block and a call"] += bool(calls & set(started))
    deltas = {event.get("block_id") for event in events if event["type"].endswith("_BLOCK_DELTA")}
    traits["no delta at all"] += bool(set(started) - deltas)
    ends = [event for event in events if event["type"] == "REPLY_END"]
    if ends:
        traits[f"ended {ends[0].get('finished_reason') or 'by default'}"] += 1
        closed = kinds.count("TEXT_BLOCK_END") + kinds.count("THINKING_BLOCK_END") + kinds.count("DATA_BLOCK_END")
        traits["open block at a failed end"] += ends[0].get("finished_reason") in {"error", "interrupted"} and closed < len(started)
    note_results(events)
    note_answers(events)


def note_results(events: list[Wire]) -> None:
    """Note how results come: side by side, from outside as an event, as deltas, or as both."""
    traits = Seen.traits
    open_results: set[str] = set()
    filled: set[str] = set()
    submitted: set[str] = set()
    growing: list[str] = []
    for event in events:
        kind: str = event["type"]
        if kind == "TOOL_RESULT_START":
            traits["parallel results"] += bool(open_results)
            open_results.add(event["tool_call_id"])
        elif kind == "TOOL_RESULT_END":
            open_results.discard(event["tool_call_id"])
            traits["external result, by deltas alone"] += event["tool_call_id"] in submitted - filled
        elif kind == "REQUIRE_EXTERNAL_EXECUTION":
            submitted |= {call["id"] for call in event["tool_calls"]}
        elif kind == "EXTERNAL_EXECUTION_RESULT":
            for result in event["execution_results"]:
                traits["external result, " + ("started" if result["id"] in open_results else "not started")] += 1
                filled.add(result["id"])
        elif kind.startswith("TOOL_RESULT_"):
            traits["external result, streamed again"] += event["tool_call_id"] in filled
            growing.append(event["tool_call_id"])
    turns = [key for key, _ in groupby(growing)]
    traits["interleaved results"] += len(set(turns)) < len(turns)


def note_answers(events: list[Wire]) -> None:
    """Note how calls that wait are answered: some of them, with no, or changed."""
    traits = Seen.traits
    waiting: set[str] = set()
    written: dict[str, str] = {}
    for event in events:
        if event["type"] == "TOOL_CALL_DELTA":
            written[event["tool_call_id"]] = written.get(event["tool_call_id"], "") + event["delta"]
        elif event["type"] == "REQUIRE_USER_CONFIRM":
            waiting |= {call["id"] for call in event["tool_calls"]}
        elif event["type"] == "USER_CONFIRM_RESULT":
            calls = [result["tool_call"] for result in event["confirm_results"]]
            waiting -= {call["id"] for call in calls}
            traits["partial answer"] += bool(calls) and bool(waiting)
            traits["denied"] += not all(result["confirmed"] for result in event["confirm_results"])
            traits["edited call"] += any(
                result["confirmed"] and result["tool_call"]["input"] != written.get(result["tool_call"]["id"], "")
                for result in event["confirm_results"]
            )


def test_every_event_type_is_drawn(seen: type[Seen]) -> None:
    """No type of the schemas is missing, those without a place in the order among them."""
    assert [name for name in EVENTS if not seen.types[name]] == []


@pytest.mark.parametrize(
    "trait",
    [
        *("combining", "zwj", "line separator", "astral", "unknown field", "unknown type", "sub-agent", "empty delta", "url", "odd base64"),
        *("extra", "final text", "several items", "interleaved replies", "redelivery", "several model calls", "second start"),
        *(
            "parked at the end",
            "one id in two kinds of block",
            "one id for a block and a call",
            "no delta at all",
            "ended completed",
            "ended by default",
            "ended interrupted",
        ),
        *("ended error", "ended exceed_max_iters", "open block at a failed end", "parallel results", "interleaved results"),
        *("external result, started", "external result, by deltas alone"),
        *("external result, not started", "external result, streamed again", "partial answer", "denied", "edited call"),
    ],
)
def test_what_is_hard_is_drawn(seen: type[Seen], trait: str) -> None:
    """Each trait that reducers have stumbled over is in the sample, and not once by luck."""
    assert seen.traits[trait] >= 3


def test_every_legal_cell_is_reached(seen: type[Seen]) -> None:
    """Of the cells that break no rule of severity error, all that a stream can reach were walked."""
    assert seen.cells
    assert missing() == []


def test_what_is_called_unreachable_is_not_reached(seen: type[Seen]) -> None:
    """The list of exceptions holds no cell that was walked after all, and none that is not there."""
    assert [name for name in UNREACHABLE if seen.cells[name]] == []
    assert UNREACHABLE.keys() <= set(legal_cells())


def legal_cells() -> list[str]:
    """Name the cells that break no rule of severity error, `delivery` apart, which the lifecycle looks up by itself."""
    return [
        f"{machine.name}.{given}.{state.name}"
        for machine in MACHINES.values()
        if machine.name != "delivery"
        for state in machine.states.values()
        if state.name not in _FROM_STORED
        for given, cell in state.cells.items()
        if cell.rule is None or SEVERITY[cell.rule] < Severity.ERROR
    ]


_NOT_THERE = "an instance that the reply's end reaches has begun"
_UNKNOWN = "a call that is not there makes the request, answer or result an error"
_RESTARTED = "a call is started once; a second start is an error, or renews it"
_NO_RESULT = "at this end, a call without its result is an error"
_TOO_EARLY = "a call whose arguments are open has no result, since that would be an error, and needs one at this end"

#: Legal cells that no valid stream walks, each with its reason.
UNREACHABLE: dict[str, str] = {
    "reply.stream_end.absent": "a reply that has not begun is not held",
    "reply.stream_end.gone": "a reply that is gone is not held",
    "reply.start.gone": "a thousand replies would have to end first; test_fold.py has it",
    "resume.use.none": "it is used when it was granted",
    "echo.differ.fresh": "the first text repeats the empty text",
    **{f"{kind}.{end}.absent": _NOT_THERE for kind in ("text", "thinking", "data", "arguments") for end in _ENDS},
    **{f"call.{end}.absent": _NOT_THERE for end in _ENDS[:2]},
    **{f"arguments.create.{state}": _UNKNOWN for state in ("absent", "started", "open", "closed")},
    "arguments.close.absent": _UNKNOWN,
    "call.finish.absent": _UNKNOWN,
    **{f"call.start.{state}": _RESTARTED for state in ("pending", "asking", "allowed", "denied", "refused", "submitted", "finished")},
    **{f"result.{end}.{state}": _NO_RESULT for end in _ENDS[:2] for state in ("absent", "open")},
    **{f"arguments.reply_interrupt.{state}": _TOO_EARLY for state in ("started", "open")},
}


def test_what_is_hard_about_messages_is_drawn() -> None:
    """Messages end in every way or not at all, are long, and have calls that come again, are answered, or wait for an answer."""
    traits: Counter[str] = Counter()

    @seed(0)
    @settings(max_examples=1500, database=None, deadline=None, phases=[Phase.generate])
    @given(messages())
    def draw(message: Wire) -> None:
        assert errors(message, MESSAGES[message["role"]]) == []
        traits[f"role {message['role']}"] += 1
        reason = message.get("finished_reason")
        traits[f"ended {reason if reason in REASONS else 'in another way' if reason else 'not'}"] += 1
        content: list[Wire] = message["content"]
        kinds = {kind: [block.get("id") for block in content if block["type"] == kind] for kind in BLOCKS}
        for kind, ids in kinds.items():
            traits[f"kind {kind}"] += bool(ids)
        calls, results = kinds["tool_call"], kinds["tool_result"]
        traits["long"] += len(content) > 5
        traits["two calls of one id"] += len(set(calls)) < len(calls)
        traits["answered call"] += bool(set(calls) & set(results))
        traits["result without call"] += bool(set(results) - set(calls))
        traits["call without result at the end"] += bool(message.get("finished_at") and set(calls) - set(results))
        waiting = [block for block in content if block.get("state") in {"asking", "submitted"}]
        traits["parked"] += bool(waiting) and not message.get("finished_at")
        outputs = [(block["id"], block["output"][0].get("id")) for block in content if is_array(block.get("output")) and block["output"]]
        traits["part with a derived id"] += any(part == f"{call}/0" for call, part in outputs)
        traits["unknown field"] += not set(message) <= set(FIELDS[MESSAGES[message["role"]]])

    draw()
    wanted = [*(f"role {role}" for role in MESSAGES), *(f"kind {kind}" for kind in BLOCKS)]
    wanted += [f"ended {reason}" for reason in (*REASONS, "not", "in another way")]
    wanted += ["long", "two calls of one id", "answered call", "result without call", "call without result at the end", "parked"]
    assert [trait for trait in (*wanted, "part with a derived id", "unknown field") if traits[trait] < 5] == []


@settings(max_examples=40)
@given(st.data())
@pytest.mark.parametrize("name", [*FIELDS])
def test_payloads_fit_their_schemas(name: str, data: st.DataObject) -> None:
    """Whatever is drawn for a class fits its schema."""
    assert errors(data.draw(values(name)), name) == []


@given(streams())
def test_streams_are_valid(stream: list[Wire]) -> None:
    """A drawn stream has no finding of severity error."""
    assert [finding for finding in check_and_fold(lines_of(stream)).findings if finding.severity is Severity.ERROR] == []


#: Optional fields of shapes that no field has yet.
NEWS: Wire = {
    "shiny": {"description": "New.", "type": "string"},
    "code": {"description": "New.", "type": "string", "pattern": "^[A-Z]{2,3}$"},
    "pair": {"description": "New.", "type": "array", "items": {"type": "integer", "minimum": 3}, "minItems": 2, "maxItems": 2},
    "counts": {"description": "New.", "type": "object", "additionalProperties": {"type": "integer"}},
}


def test_a_new_field_and_a_new_type_are_drawn_without_anyone_touching_the_strategies(tmp_path: Path) -> None:
    """After fields and an event type are added to schemas/, the strategies draw them, and what they draw is in order."""
    for name in ("schemas", "codegen.py", "generators", "pyproject.toml", "README.md"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    reply = tmp_path / "schemas/events/reply.json"
    reply.write_text(reply.read_text("utf-8").replace('"session_id": {', f'{json.dumps(NEWS)[1:-1]}, "session_id": {{', 1))
    notice = tmp_path / "schemas/events/notice.json"
    document = json.loads(notice.read_text("utf-8"))
    news = json.loads(json.dumps(document["$defs"]["CustomEvent"]))
    news["title"], news["properties"]["type"]["const"] = "NewsEvent", "NEWS"
    document["$defs"]["NewsEvent"] = news
    notice.write_text(json.dumps(document))
    union = tmp_path / "schemas/events/agent_event.json"
    document = json.loads(union.read_text("utf-8"))
    document["oneOf"].append({"$ref": "notice.json#/$defs/NewsEvent"})
    union.write_text(json.dumps(document))
    table = tmp_path / "schemas/lifecycle.json"
    table.write_text(table.read_text("utf-8").replace('"CUSTOM": {"steps": []}', '"CUSTOM": {"steps": []},\n    "NEWS": {"steps": []}'))
    subprocess.run([sys.executable, "codegen.py", "--only", "python"], cwd=tmp_path, check=True)
    code = (
        "from hypothesis import given, settings; from eventfold.fuzz.strategies import streams\n"
        "seen = set()\n"
        "@settings(max_examples=300, database=None, deadline=None, derandomize=True)\n"
        "@given(streams(moves=2))\n"
        "def draw(stream):\n"
        "    for event in stream: seen.update((event['type'], *event))\n"
        f"draw(); print(*sorted({{'NEWS', *{[*NEWS]!r}}} - seen))"
    )
    path = os.pathsep.join([str(tmp_path / "generated/python"), str(ROOT / "src")])
    result = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []


def test_nothing_hard_is_filtered_away() -> None:
    """Neither the strategies nor the tests filter, assume or silence a health check."""
    assert list(settings.default.suppress_health_check) == []  # pyright: ignore[reportOptionalMemberAccess]  a profile is loaded
    for path in [*(ROOT / "src/eventfold/fuzz").glob("*.py"), *(ROOT / "tests").glob("*.py")]:
        text = path.read_text("utf-8")
        for word in (r"\.filter\(", r"\bassume\(", r"suppress_health_check[=](?!\(\))"):
            assert not re.search(word, text), f"{path.name} has {word}"
