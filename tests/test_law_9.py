"""
Law 9: where AgentScope's own reducer is right, ours agrees with it.

`Msg.append_event` of agentscope 2.0.11, and of 2.0.4, the first release with this wire, runs side by side on random valid
streams. Where the two differ, the difference is a row of `DIFFERENCES`, or of `OLDER` for what 2.0.4 does besides: where it
shows, what AgentScope does, what we do, why. A difference outside the tables fails, and so does a row that nothing hits.
"""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from agentscope_reducer import append_all
from eventfold_models.tables import BLOCKS, FIELDS
from hypothesis import example, given, note, seed, settings
from hypothesis import strategies as st
from pydantic_core import Url
from support import ROOT, Wire, lines_of

from eventfold import check_and_fold
from eventfold.dialects.agentscope import from_agentscope, to_agentscope
from eventfold.fuzz.strategies import replies
from eventfold.jsonvalue import escape, is_array, is_object, value_at
from eventfold.shape import wire_of

if TYPE_CHECKING:
    from pathlib import Path

#: Gives the message that a release of AgentScope makes of events, and which of them it refuses.
Reducer = Callable[[list[Wire]], tuple[Wire, list[int]]]


class Stream(NamedTuple):
    """What a row may look at: the events of the reply and both messages."""

    events: list[Wire]
    ours: Wire
    theirs: Wire
    refused: list[int]  #: places of the events that it refuses

    def block(self, pointer: str) -> Wire:
        """Give our block that a pointer goes into."""
        return self.ours["content"][int(pointer.split("/")[2])]

    def ids(self, kind: str, items: str) -> list[str]:
        """Give the ids that the items of a type of event name, as often as they do."""
        return [item.get("tool_call", item)["id"] for event in self.events if event["type"] == kind for item in event[items]]


class Row(NamedTuple):
    """A difference: where it shows, what each does, and why."""

    shows: str  #: pattern of the pointers
    when: Callable[[Stream, str], bool]
    theirs: str
    ours: str
    why: str


def _dropped(stream: Stream, pointer: str) -> bool:
    return not value_at(stream.theirs, pointer)


def _left_out(stream: Stream, pointer: str) -> bool:
    return value_at(stream.ours, pointer) is None


def _stamped(stream: Stream, pointer: str) -> bool:
    return value_at(stream.ours, pointer) in {event["created_at"] for event in stream.events}


def _derived(stream: Stream, pointer: str) -> bool:
    return value_at(stream.ours, pointer) == f"{stream.block(pointer)['id']}/{pointer.split('/')[4]}"


def _merged(stream: Stream, pointer: str) -> bool:
    keys = set(pointer.split("/")[2:3])
    ends = [event for event in stream.events if event["type"] == "REPLY_END" and keys <= set(map(escape, event.get("metadata") or {}))]
    return any(value_at(end, pointer) == value_at(stream.ours, pointer) for end in ends)


def _unheard_of(stream: Stream, _pointer: str) -> bool:
    return any(to_agentscope(event)[1] for event in stream.events if event["type"] == "REPLY_END")


def _refuses(url: str) -> bool:
    try:
        Url(url)
    except ValueError:
        return True
    return False


def _urls_in(value: Any) -> Iterator[Any]:
    for key, item in value.items() if is_object(value) else enumerate(value if is_array(value) else ()):
        if key == "url":
            yield item
        yield from _urls_in(item)


def _foreign_url(stream: Stream, pointer: str) -> bool:
    """
    Tell whether the pointer goes into data at a URL that pydantic would not write so, or names a list that holds such data.

    It has to be a URL that an event says, to the letter.
    """
    steps = pointer.split("/")
    found = [value_at(stream.ours, "/".join(steps[:end])) for end in range(3, len(steps) + 1)]
    holders = [*found, *(found[-1] if is_array(found[-1]) else [])]
    urls = [holder["source"].get("url") for holder in holders if is_object(holder) and holder.get("type") == "data"]
    foreign = {url for url in urls if url is not None and (_refuses(url) or str(Url(url)) != url)}
    return bool(foreign) and foreign <= {url for url in _urls_in(stream.events) if isinstance(url, str)}


def _final(stream: Stream, pointer: str) -> bool:
    ends = [event for event in stream.events if event["type"] == "TEXT_BLOCK_END" and event.get("text") is not None]
    return value_at(stream.ours, pointer) in {end["text"] for end in ends if end["block_id"] == stream.block(pointer)["id"]}


def _hint(stream: Stream, pointer: str) -> bool:
    return stream.block(pointer)["type"] == "hint" and _stamped(stream, pointer)


def _begun_so(stream: Stream, pointer: str) -> bool:
    """Tell whether data at a URL has the media type of its START."""
    starts = [event for event in stream.events if event["type"] == "DATA_BLOCK_START"]
    said = [event["media_type"] for event in starts if event["block_id"] == stream.block(pointer)["id"]]
    return _url(stream, pointer) and value_at(stream.ours, pointer) in said


def _url(stream: Stream, pointer: str) -> bool:
    return stream.block(pointer)["source"]["type"] == "url"


def _first_so(stream: Stream, pointer: str) -> bool:
    """Tell whether data in a result has the media type of its first delta."""
    part: Wire = value_at(stream.ours, pointer.removesuffix("/source/media_type"))
    deltas = [event for event in stream.events if event["type"] == "TOOL_RESULT_DATA_DELTA" and event["block_id"] == part["id"]]
    said = [event["media_type"] for event in deltas if event["tool_call_id"] == stream.block(pointer)["id"]]
    return said[:1] == [part["source"]["media_type"]]


def _external(stream: Stream, pointer: str) -> bool:
    """Tell whether a result from outside says what we show there: the result as it came, the call as finished by it."""
    block = stream.block(pointer)
    said = [item for event in stream.events for item in event.get("execution_results", ())]
    items = [wire_of(item, BLOCKS["tool_result"]) for item in said if item["id"] == block.get("id")]
    within = "/" + pointer.split("/", 3)[3]
    ours = value_at(stream.ours, pointer)
    if not items or block["type"] == "tool_call":
        return bool(items) and (within, ours) == ("/state", "finished")
    if within in {"/finished_at", "/x_provisional"}:
        return ours is True or ours in [value_at(item, within) for item in items] or _stamped(stream, pointer)
    return ours in [value_at(item, within) for item in items]


def _streamed_again(stream: Stream, pointer: str) -> bool:
    """Tell whether a result's text and data are those of the deltas after the result came from outside."""
    block = stream.block(pointer)
    places = [
        place for place, event in enumerate(stream.events) if any(item["id"] == block["id"] for item in event.get("execution_results", ()))
    ]
    if not places:
        return False
    after = [event for event in stream.events[places[-1] :] if event.get("tool_call_id") == block["id"]]
    deltas = [event["delta"] for event in after if event["type"] == "TOOL_RESULT_TEXT_DELTA"]
    parts: list[Wire] = block["output"] if is_array(block["output"]) else []
    data = {event["block_id"] for event in after if event["type"] == "TOOL_RESULT_DATA_DELTA"}
    told = "".join(part.get("text", "") for part in parts), {part["id"] for part in parts if part["type"] == "data"}
    return bool(parts) and told == ("".join(deltas), data)


def _confirmed(stream: Stream, pointer: str) -> bool:
    return stream.block(pointer)["id"] in stream.ids("USER_CONFIRM_RESULT", "confirm_results")


def _submitted(stream: Stream, pointer: str) -> bool:
    return stream.block(pointer)["id"] in stream.ids("REQUIRE_EXTERNAL_EXECUTION", "tool_calls")


def _asked_twice(stream: Stream, pointer: str) -> bool:
    return stream.ids("REQUIRE_USER_CONFIRM", "tool_calls").count(stream.block(pointer)["id"]) > 1


def _provider_field(stream: Stream, pointer: str) -> bool:
    return pointer.split("/")[3] not in FIELDS[BLOCKS[stream.block(pointer)["type"]]]


def _refused_end(stream: Stream, _pointer: str) -> bool:
    return "REPLY_END" in {stream.events[place]["type"] for place in stream.refused}


def _with_data(stream: Stream, pointer: str) -> bool:
    return stream.block(pointer)["id"] in {event["tool_call_id"] for event in stream.events if event["type"] == "TOOL_RESULT_DATA_DELTA"}


#: Every difference on valid streams. Faults are those of AgentScope's reducer, by number of the list of its faults.
DIFFERENCES: dict[str, Row] = {
    "block times": Row(
        r"/content/\d+(/.*)?/created_at", _stamped, "stamps blocks with the clock", "takes the event's time", "fault 34: replays differ"
    ),
    "times inside blocks": Row(
        r"/content/\d+/(hint|output)/\d+/created_at",
        _left_out,
        "stamps what a block holds with the clock",
        "keeps it as the event carries it",
        "fault 34",
    ),
    "hint end": Row(r"/content/\d+/finished_at", _hint, "the clock", "the event's time", "fault 34"),
    "media type of a URL": Row(r"/content/\d+/source/media_type", _begun_so, "takes the delta's", "START's wins", "fault 27"),
    "media types in results": Row(
        r"/content/\d+/output/\d+/source/media_type",
        _first_so,
        "takes the newest delta's",
        "the first one's wins",
        "fault 27",
    ),
    "URLs": Row(
        r"/content/.*",
        _foreign_url,
        "refuses URLs that are not whole, and writes others anew",
        "keeps what the producer says",
        "fault 24; to_agentscope lists the loss",
    ),
    "ids in results": Row(r"/content/\d+/output/\d+/id", _derived, "random ids for text in results", "derives them", "fault 34"),
    "edited calls": Row(
        r"/content/\d+/(name|input)", _confirmed, "shows the call that was asked", "shows the call that ran", "fault 19, case as-029"
    ),
    "external results": Row(
        r"/content/\d+/(output|state|metadata|finished_at|x_provisional|name)(/.*)?",
        _external,
        "ignores them on an open result, and leaves the call submitted",
        "sets the result and finishes the call",
        "faults 20 and 21, case java-017",
    ),
    "results streamed again": Row(
        r"/content/\d+/output(/.*)?",
        _streamed_again,
        "adds the deltas after a result from outside to those before it",
        "shows those after it, which tell the result once more",
        "fault 20, case java-017",
    ),
    "rules of external requests": Row(
        r"/content/\d+/suggested_rules(/.*)?",
        _submitted,
        "keeps the rules of confirm requests only",
        "keeps those of both",
        "nothing is lost",
    ),
    "rules of a repeated request": Row(
        r"/content/\d+/suggested_rules(/.*)?",
        _asked_twice,
        "lets a repeated request replace the rules",
        "keeps those of the first, and warns",
        "rule tool-call.requested-again",
    ),
    "message metadata": Row(r"/metadata(/.*)?", _merged, "drops REPLY_END's", "merges it", "fault 35"),
    "structured output": Row(r"/structured_output(/.*)?", _dropped, "has no event for it", "REPLY_END carries it", "fault 35"),
    "provider fields": Row(r"/content/\d+/[^/]+(/.*)?", _provider_field, "drops them", "sets extra and keeps unknown fields", "fault 35"),
    "fields inside blocks": Row(
        r"/content/\d+/(output|hint|suggested_rules)/\d+/.*",
        _dropped,
        "drops unknown fields of what a block holds",
        "keeps them",
        "DESIGN: a proxy loses nothing",
    ),
    "unknown reasons and errors": Row(
        r"/(finished_reason|error(/.*)?)",
        _unheard_of,
        "knows a closed list",
        "keeps what is said",
        "open strings; to_agentscope lists the loss",
    ),
}
#: What 2.0.4 does besides.
OLDER: dict[str, Row] = {
    "cache tokens": Row(r"/usage/cache_.*", _dropped, "does not know them", "adds them up", "came with a later release"),
    "times of blocks": Row(r"/content/\d+/(created|finished)_at", _dropped, "does not note them", "takes the event's", "came later"),
    "failed ends": Row(
        r"/(finished_at|error(/.*)?)", _refused_end, "refuses REPLY_END with the reason error", "ends the reply", "came later"
    ),
    "reasons": Row(r"/finished_reason", _dropped, "does not note them", "notes how the reply ended", "came later"),
    "names of data": Row(r"/content/\d+/name", _dropped, "drops them", "keeps them", "came later"),
    "URLs of data": Row(r"/content/\d+/source/(type|url|data)", _url, "refuses a delta with a URL", "sets it", "came later"),
    "bytes in results": Row(
        r"/content/\d+/output(/.*)?",
        _with_data,
        "makes a block of each delta",
        "joins the bytes of one block",
        "came later",
    ),
    "final text": Row(r"/content/\d+/text", _final, "keeps what the deltas made", "takes the final text", "came later"),
}
HITS: Counter[str] = Counter()


def differences(one: Any, other: Any, pointer: str = "") -> list[str]:
    """Give pointers to where two values differ; absent and empty are equal."""
    if is_object(one) and is_object(other):
        return [found for key in {**one, **other} for found in differences(one.get(key), other.get(key), f"{pointer}/{escape(key)}")]
    if is_array(one) and is_array(other) and len(one) == len(other):
        return [found for i, (a, b) in enumerate(zip(one, other, strict=True)) for found in differences(a, b, f"{pointer}/{i}")]
    return [] if one == other or (one in (None, {}, []) and other in (None, {}, [])) else [pointer]


def compare(events: list[Wire], reducer: Reducer = append_all, rows: dict[str, Row] = DIFFERENCES, hits: Counter[str] = HITS) -> Stream:
    """Hold the two reducers against each other, and note which rows explain the rest."""
    [ours] = check_and_fold(lines_of(events)).messages
    theirs, refused = reducer([to_agentscope(event)[0] for event in events])
    stream = Stream(events, ours, from_agentscope(theirs), refused)
    note(stream.theirs)
    note(stream.ours)
    assert len(stream.theirs["content"]) == len(ours["content"])
    for pointer in differences(ours, stream.theirs):
        names = [name for name, row in rows.items() if re.fullmatch(row.shows, pointer) and row.when(stream, pointer)]
        assert names, f"{pointer} differs, and no row says why"
        hits[names[0]] += 1
    return stream


@pytest.fixture(autouse=True)
def quiet() -> None:
    """Keep AgentScope from logging each event that it skips."""
    logging.getLogger("as").setLevel(logging.CRITICAL)
    logging.getLogger("agentscope").setLevel(logging.CRITICAL)


#: Metadata at both ends, which is seldom drawn.
MERGED: list[Wire] = [
    {
        "type": "REPLY_START",
        "id": "1",
        "created_at": "2026-01-01",
        "reply_id": "r",
        "session_id": "s",
        "name": "n",
        "metadata": {"a": 1, "b": 1},
    },
    {"type": "REPLY_END", "id": "2", "created_at": "2026-01-02", "reply_id": "r", "session_id": "s", "metadata": {"b": 2, "c": 2}},
]
#: Data in a result told by two deltas of two media types, and such at an empty URL: both are seldom drawn.
TWO_TYPES: list[Wire] = [
    {"id": str(place), "created_at": f"2026-01-0{place + 1}", "reply_id": "r", **event}
    for place, event in enumerate(
        [
            {"type": "REPLY_START", "session_id": "s", "name": "n"},
            {"type": "TOOL_CALL_START", "tool_call_id": "c", "tool_call_name": "t"},
            {"type": "TOOL_CALL_END", "tool_call_id": "c"},
            {"type": "TOOL_RESULT_START", "tool_call_id": "c", "tool_call_name": "t"},
            {"type": "TOOL_RESULT_DATA_DELTA", "tool_call_id": "c", "block_id": "d", "media_type": "image/png", "data": ""},
            {"type": "TOOL_RESULT_DATA_DELTA", "tool_call_id": "c", "block_id": "d", "media_type": "image/gif", "data": "QQ=="},
            {"type": "TOOL_RESULT_DATA_DELTA", "tool_call_id": "c", "block_id": "e", "media_type": "image/gif", "url": ""},
        ]
    )
]


@given(replies())
@example(MERGED)
@example(TWO_TYPES)
def test_ours_and_agentscopes_reducer_agree(events: list[Wire]) -> None:
    """On a random valid stream, each difference is explained by a row of the table, and only URLs that are not whole are refused."""
    urls = {place: event["url"] for place, event in enumerate(events) if "_DELTA" in event["type"] and event.get("url") is not None}
    # That of a data block it takes for none when it is empty.
    urls = {place: url for place, url in urls.items() if url or events[place]["type"] != "DATA_BLOCK_DELTA"}
    assert compare(events).refused == [place for place, url in urls.items() if _refuses(url)]


def test_every_row_is_hit() -> None:
    """A row that no stream needs is no difference, and has to go."""
    for number in range(12):

        @seed(number)
        @settings(max_examples=100, database=None, deadline=None)
        @given(st.one_of(replies(), replies(moves=40, roles=("assistant",))))
        @example(TWO_TYPES)
        def look(events: list[Wire]) -> None:
            compare(events)

        look()
        if set(HITS) == set(DIFFERENCES):
            break
    assert set(DIFFERENCES) - set(HITS) == set()


@pytest.fixture
def older(tmp_path: Path) -> Iterator[Reducer]:
    """Install AgentScope 2.0.4 beside the other, and run its reducer as a program."""
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(tmp_path), "agentscope==2.0.4"]
    subprocess.run(install, check=True)
    command = [sys.executable, str(ROOT / "tests/agentscope_reducer.py")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path)}
    ) as program:
        given, answers = program.stdin, program.stdout
        assert given is not None
        assert answers is not None

        def reduce(events: list[Wire]) -> tuple[Wire, list[int]]:
            given.write(json.dumps(events) + "\n")
            given.flush()
            message, refused = json.loads(answers.readline())
            return message, refused

        yield reduce
        given.close()


def test_the_first_release_differs_where_its_table_says(older: Reducer) -> None:
    """2.0.4 differs by the rows of both tables, and each row of its own is hit."""
    hits: Counter[str] = Counter()

    @settings(max_examples=400, database=None, deadline=None)
    @given(st.one_of(replies(), replies(moves=40, roles=("assistant",))))
    def look(events: list[Wire]) -> None:
        compare(events, older, {**OLDER, **DIFFERENCES}, hits)

    look()
    assert set(OLDER) - set(hits) == set()
