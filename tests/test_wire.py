"""
Bytes -> events: however they are cut, whatever they hold, and in work that grows with them alone.

The readers of each form are held against what the stream was built from; SSE against the algorithm of
WHATWG HTML 9.2.6, written down here a second time.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support import RECORDINGS, Wire, events_of, lines_of

from eventfold import Checker, InvalidEvent, check, check_and_fold, read_event
from eventfold.wire import EventReader, Framer, Problem, SSEDecoder
from eventfold.wire.json_text import MAX_DEPTH
from eventfold.wire.values import ValueDecoder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from eventfold import Finding
    from eventfold.check import Checked

BOM = b"\xef\xbb\xbf"
TIME = "2026-01-01T00:00:00"

#: What breaks readers of lines and strings: quotes, escapes, brackets, and line ends that are none.
AWKWARD = '"\\[]{},: \n\r\t\u2028\u2029\u0085\u00e9\U0001f600x'

texts = st.text(AWKWARD, max_size=12)
objects = st.dictionaries(
    texts, texts | st.integers() | st.none() | st.lists(texts, max_size=3) | st.dictionaries(texts, texts, max_size=2), max_size=4
)
positions = st.lists(st.integers(0, 10_000), max_size=12)


class Read(NamedTuple):
    """What a framer made of bytes."""

    form: str
    frames: list[tuple[int, bytes]]
    problems: list[Problem]


def cut(data: bytes, positions: Iterable[int]) -> list[bytes]:
    """Cut bytes at positions, which are taken modulo their length."""
    places = sorted({position % (len(data) + 1) for position in positions})
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]


def frame(pieces: Iterable[bytes], **options: Any) -> Read:
    """Read pieces with a framer."""
    framer = Framer(**options)
    frames = [one for piece in pieces for one in framer.feed(piece)]
    frames.extend(framer.finish())
    return Read(framer.form, frames, framer.problems)


def values_of(read: Read) -> list[Any]:
    """Parse what was read."""
    return [json.loads(data) for _, data in read.frames]


def singly(data: bytes) -> list[bytes]:
    """Cut bytes into single ones."""
    return [data[i : i + 1] for i in range(len(data))]


def dumps(value: Any, *, ascii_only: bool, indent: int | None = None) -> bytes:
    """Write JSON, with characters or with escapes."""
    return json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()


class Built(NamedTuple):
    """Bytes, and what stands in them."""

    data: bytes
    form: str
    values: list[Any]
    lines: list[int]


@st.composite
def json_lines(draw: st.DrawFn) -> Built:
    """Make JSON Lines with blank lines, both line ends, and a last line with or without its end."""
    values = draw(st.lists(objects, min_size=1, max_size=5))
    data, line, lines = draw(st.sampled_from([b"", BOM])), 1, list[int]()
    for value in values:
        blanks = draw(st.lists(st.sampled_from([b"\n", b"\r\n", b" \t\n"]), max_size=2))
        line += len(blanks)
        lines.append(line)
        data += b"".join(blanks) + dumps(value, ascii_only=draw(st.booleans())) + draw(st.sampled_from([b"\n", b"\r\n", b" \n"]))
        line += 1
    return Built(data.rstrip() if draw(st.booleans()) else data, "jsonl", values, lines)


@st.composite
def json_arrays(draw: st.DrawFn) -> Built:
    """Make a JSON array, on one line or on many."""
    values = draw(st.lists(objects, max_size=5))
    head = draw(st.sampled_from([b"", BOM, b"\n", b" \r\n"]))
    text = dumps(values, ascii_only=draw(st.booleans()), indent=draw(st.sampled_from([None, 0, 2])))
    lines, start, decoder = list[int](), len(head), json.JSONDecoder()
    for _ in values:
        start = (head + text).index(b"{", start)
        lines.append(1 + (head + text)[:start].count(b"\n"))
        rest = (head + text)[start:].decode()
        start += len(rest[: decoder.raw_decode(rest)[1]].encode())
    return Built(head + text + draw(st.sampled_from([b"", b"\n"])), "json", values, lines)


@st.composite
def documents(draw: st.DrawFn) -> Built:
    """Make documents that are spread over lines."""
    values = draw(st.lists(objects.map(lambda value: value or {"k": 1}), min_size=1, max_size=4))
    data, lines = b"", list[int]()
    for value in values:
        lines.append(1 + data.count(b"\n"))
        data += dumps(value, ascii_only=draw(st.booleans()), indent=draw(st.sampled_from([0, 3]))) + b"\n"
    return Built(data, "json", values, lines)


@st.composite
def server_sent_events(draw: st.DrawFn) -> Built:
    """Make server-sent events with comments, several fields and data lines, and one kind of line end."""
    end = draw(st.sampled_from([b"\n", b"\r", b"\r\n"]))
    others = st.sampled_from([b": ping", b"id: 7", b"event: message", b"retry: 3000", b"nothing: x", b"data-x: 1"])
    values = draw(st.lists(objects, min_size=1, max_size=4))
    rows, lines = [draw(st.sampled_from([b": hello", b"retry:1", b"id"]))], list[int]()
    for value in values:
        rows.extend(draw(st.lists(others, max_size=2)))
        lines.append(len(rows) + 1)
        space = draw(st.sampled_from([b"", b" "]))
        text = dumps(value, ascii_only=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])))
        for part in text.split(b"\n"):
            rows.append(b"data:" + (b" " if part.startswith(b" ") else space) + part)
            rows.extend(draw(st.lists(others, max_size=1)))
        rows.extend([b""] * draw(st.integers(1, 2)))
    return Built(draw(st.sampled_from([b"", BOM])) + end.join([*rows, b""]), "sse", values, lines)


streams = json_lines() | json_arrays() | documents() | server_sent_events()

# --- the same events, however the bytes are cut


@settings(max_examples=150)
@given(built=streams, places=positions)
def test_the_same_events_come_out_however_the_bytes_are_cut(built: Built, places: list[int]) -> None:
    """Form, lines, values and problems are those of what the stream was built from, whole, cut anywhere, or byte by byte."""
    whole = frame([built.data])
    assert (whole.form, values_of(whole), whole.problems) == (built.form, built.values, [])
    assert [line for line, _ in whole.frames] == built.lines
    assert frame(cut(built.data, places)) == whole
    assert frame(singly(built.data)) == whole


@settings(max_examples=200)
@given(
    parts=st.lists(
        st.sampled_from(
            [b"{", b"}", b"[", b"]", b'"', b"\\", b":", b",", b"1", b"\n", b"\r", b" ", b"data", b"id", b'{"a":1}', b"[DONE]", BOM, b"\xff"]
        ),
        max_size=24,
    ),
    places=positions,
    limit=st.sampled_from([8, 1000]),
)
def test_wrong_bytes_come_out_the_same_however_they_are_cut(parts: list[bytes], places: list[int], limit: int) -> None:
    """Frames and problems of bytes that are no stream at all do not depend on the cuts either."""
    data = b"".join(parts)
    whole = frame([data])
    assert frame(cut(data, places)) == whole
    assert frame(singly(data)) == whole
    assert all(len(one) <= limit for _, one in frame(cut(data, places), max_length=limit).frames)


@given(values=st.lists(texts.map(lambda text: {text: [text, {text: text}]}), min_size=1, max_size=4), places=positions, array=st.booleans())
def test_brackets_in_strings_are_text_wherever_a_string_is_cut(values: list[Any], places: list[int], *, array: bool) -> None:
    """Quotes, backslashes and brackets inside a string end no value, wherever the string is cut."""
    data = dumps(values, ascii_only=False) if array else b" ".join(dumps(value, ascii_only=False) for value in values)
    for pieces in (cut(data, places), singly(data)):
        decoder = ValueDecoder()
        found = [one for piece in pieces for _, one in decoder.feed(piece)]
        assert (list(decoder.finish()), decoder.cut) == ([], None)
        assert [json.loads(one) for one in found] == values


def test_a_document_may_break_its_lines_anywhere() -> None:
    """A document is read whole when its first line ends inside a list or before a value."""
    for text in (
        '{"a": [\n{"b": 1},\n{"b": 2}]}',
        '{"a":\n{\n"b": 1}}',
        '{"a": [\n1, 2]}',
        "{\n}",
        '{"a": 1,\n\n"b": 2}',
        '{"a": {"b": 1,\r\n"c": 2}}',
    ):
        read = frame(singly(text.encode()))
        assert (read.form, values_of(read), read.problems) == ("json", [json.loads(text)], [])


def test_a_first_line_that_was_cut_costs_no_other() -> None:
    """Lines after a first one that was cut are read as lines."""
    for head in (b'{"a": "x', b'{"a":', b'{"a": [', b"{", b'{"a": 1,'):
        read = frame([head + b'\n{"b": 1}\n{"c": 2}\n'])
        assert read.form == "jsonl"
        assert [one for _, one in read.frames] == [head, b'{"b": 1}', b'{"c": 2}']


@pytest.mark.parametrize("form", ["jsonl", "json", "sse"])
def test_recordings_fold_alike_in_every_form(form: str) -> None:
    """The form of the bytes and their cuts change neither findings nor messages."""
    for path in RECORDINGS[::5]:
        events = events_of(path)
        plain = check_and_fold(lines_of(events))
        data = {
            "jsonl": lines_of(events).replace(b"\n", b"\r\n\r\n"),
            "json": json.dumps(events, indent=1).encode(),
            "sse": b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events),
        }[form]
        checker = Checker()
        for start in range(0, len(data), 997):
            checker.feed(data[start : start + 997])
        findings = checker.finish()
        assert checker.form == form
        assert checker.folder.snapshots() == plain.messages
        assert [(one.rule, one.index) for one in findings] == [(one.rule, one.index) for one in plain.findings]


# --- server-sent events


def browser(data: bytes) -> tuple[list[bytes], bytes, bytes | None]:
    """Do what WHATWG HTML 9.2.6 says: the data dispatched, the last event id, and the data left at the end."""
    text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    *lines, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    dispatched, buffer, last_id = list[bytes](), "", ""
    for line in [*lines, rest] if rest else lines:
        if not line:
            if buffer:
                dispatched.append(buffer.removesuffix("\n").encode("utf-8", "surrogateescape"))
            buffer = ""
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            buffer += value + "\n"
        elif field == "id" and "\0" not in value:
            last_id = value
    return (
        dispatched,
        last_id.encode("utf-8", "surrogateescape"),
        buffer.removesuffix("\n").encode("utf-8", "surrogateescape") if buffer else None,
    )


@settings(max_examples=300)
@given(
    parts=st.lists(
        st.sampled_from(
            [
                b"data",
                b":",
                b" ",
                b"\r",
                b"\n",
                b"\r\n",
                b"\n\n",
                b"id",
                b"event",
                b"retry",
                BOM,
                b"x",
                b"\0",
                "\u2028".encode(),
                b"data: y",
            ]
        ),
        max_size=30,
    ),
    places=positions,
)
@example(parts=[b"data: a\r", b"\ndata: b\r", b"\r"], places=[8, 9])
def test_server_sent_events_are_read_by_the_algorithm(parts: list[bytes], places: list[int]) -> None:
    """Data and last event id are those of the algorithm; what it leaves at the end is read, and said."""
    data = b"".join(parts)
    dispatched, last_id, left = browser(data)
    for pieces in ([data], cut(data, places), singly(data)):
        decoder = SSEDecoder()
        found = [one for piece in pieces for _, one in decoder.feed(piece)]
        rest = [one for _, one in decoder.finish()]
        assert (found, decoder.id) == (dispatched, last_id)
        assert (rest, decoder.unterminated) == ([] if left is None else [left], left is not None)


def event(type_: str, /, **fields: Any) -> Wire:
    """Make an event."""
    return {"type": type_, "id": f"{type_}-{len(fields)}", "created_at": TIME, **fields}


def reply(*events: Wire) -> list[Wire]:
    """Make the stream of a reply around events."""
    start = event("REPLY_START", reply_id="r", session_id="s", name="a")
    return [
        start,
        *({"reply_id": "r", **one, "id": f"{i}"} for i, one in enumerate(events)),
        event("REPLY_END", reply_id="r", session_id="s"),
    ]


def rules_of(findings: Iterable[Finding]) -> list[str]:
    """Give the rules of findings."""
    return [finding.rule for finding in findings]


SAID = reply(
    event("TEXT_BLOCK_START", block_id="b"), event("TEXT_BLOCK_DELTA", block_id="b", delta="hello"), event("TEXT_BLOCK_END", block_id="b")
)


def sse_of(events: Iterable[Wire]) -> bytes:
    """Write events as server-sent events."""
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in events)


def test_a_last_event_without_its_blank_line_is_read_and_said() -> None:
    """An SSE capture without its last blank line gives every event, and one warning."""
    for end in (b"", b"\n", b"\r", b"\r\n"):
        given = check_and_fold(sse_of(SAID).removesuffix(b"\n\n") + end)
        assert rules_of(given.findings) == ["wire.unterminated"]
        assert given.messages == check_and_fold(sse_of(SAID)).messages


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n"])
def test_the_done_marker_is_no_event(end: bytes) -> None:
    """`[DONE]` at the end of a stream is a note and no event, nor counted as one."""
    checker = Checker()
    checker.feed(sse_of(SAID) + b"data: [DONE]" + end)
    rules = rules_of(checker.finish())
    assert rules == ["wire.done-marker"] + ["wire.unterminated"] * (end != b"\n\n")
    assert checker.events == len(SAID)
    assert rules_of(check(lines_of(SAID) + b"[DONE]\n")) == ["wire.done-marker"]


# --- bytes that are wrong


LIMIT = 40
lengths = st.lists(st.integers(8, 2 * LIMIT), min_size=1, max_size=7)


def sized(length: int) -> bytes:
    """Make an object of so many bytes, with what a tail could be taken for."""
    return b'{"":"' + (b'}{,data:[ \\"' * length)[: length - 7].rstrip(b"\\").ljust(length - 7, b"x") + b'"}'


@settings(max_examples=150)
@given(lengths=lengths, form=st.sampled_from(["jsonl", "json", "sse", "document"]), places=positions)
@example(lengths=[2 * LIMIT, 10], form="jsonl", places=[2 * LIMIT])
def test_what_is_too_long_hurts_no_neighbour(lengths: list[int], form: str, places: list[int]) -> None:
    """Of events around the limit those within it come out, and each other one is one problem, with its line."""
    items = [sized(length) for length in lengths]
    head = b'{"":0}'
    data, first, step = {
        "jsonl": (b"\n".join([head, *items, b""]), 2, 1),
        "json": (b"[" + b",\n".join([head, *items]) + b"]", 2, 1),
        "sse": (b"".join(b"data: " + item + b"\n\n" for item in (head, *items)), 3, 2),
        "document": (b'{"":\n"x"}\n' + b"\n".join(items), 3, 1),
    }[form]
    fits = [item for item in items if len(item) <= LIMIT]
    long = [first + step * i for i, item in enumerate(items) if len(item) > LIMIT]
    for pieces in ([data], cut(data, places), singly(data)):
        read = frame(pieces, max_length=LIMIT)
        assert [one for _, one in read.frames[1:]] == fits
        assert [(problem.rule, problem.line) for problem in read.problems] == [("wire.too-long", line) for line in long]


@pytest.mark.parametrize("last", [b"{", b'{"a":', b'{"a": "\xc3', b'{"a": [1, {"b": "}]}', b'{"a": "\\'])
def test_an_input_that_stops_in_an_event_is_truncated(last: bytes) -> None:
    """What was complete is read in every form, and the rest is one finding."""
    for data in (lines_of(SAID[:-1]) + last, json.dumps(SAID[:-1]).encode()[:-1] + b", " + last, sse_of(SAID[:-1]) + b"data: " + last):
        given = check_and_fold(data)
        assert sorted(rules_of(given.findings)) == ["reply.missing-end", "wire.truncated"]
        assert given.messages[0]["content"][0]["text"] == "hello"


def test_an_array_that_does_not_end_is_truncated() -> None:
    """An array without its bracket gives its events, and one finding."""
    assert rules_of(check(json.dumps(SAID).encode()[:-1])) == ["wire.truncated"]


def test_a_last_line_that_is_whole_is_judged_like_any_other() -> None:
    """A last line without its end is no cut one, also when no parser likes it."""
    lone = b'{"type":"CUSTOM","id":"c","created_at":"2026-01-01","name":"\\ud800"}'
    assert rules_of(check(lines_of(SAID) + lone)) == ["event.lone-surrogate"]
    assert rules_of(check(lines_of(SAID) + b'{"a": NaN}')) == ["wire.not-json"]
    assert rules_of(check(lines_of(SAID) + b"garbage")) == ["wire.not-json"]


def test_what_stands_between_the_events_is_said_with_its_line() -> None:
    """Text and numbers between documents or elements are findings, and no event beside them is lost."""
    one, other = (json.dumps(given) for given in (SAID[0], SAID[-1]))
    for text, rule in (("xyz", "wire.not-json"), ("7", "event.not-object"), ('"a ] b"', "event.not-object"), ("null", "event.not-object")):
        checker = Checker()
        checker.feed(f"[{one},\n{text},\n{other}]".encode())
        findings = checker.finish()
        assert [(found.rule, found.line) for found in findings if found.rule != "reply.no-visible-output"] == [(rule, 2)]
        assert checker.events == 2


def test_bytes_that_are_not_utf8_lose_no_event() -> None:
    """The text is applied with U+FFFD, and the byte is said."""
    data = lines_of(SAID).replace(b"hello", b"h\xe9llo")
    given = check_and_fold(data)
    assert rules_of(given.findings) == ["wire.not-utf8"]
    assert "0xe9" in given.findings[0].message
    assert given.messages[0]["content"][0]["text"] == "h\ufffdllo"
    assert rules_of(check("{}".encode("utf-16"))) == ["wire.not-utf8", "wire.not-json"]


def test_a_lone_surrogate_becomes_a_replacement_in_any_field() -> None:
    """A lone surrogate in a delta, a name, carried data or a key is one error with its pointer, and no event is lost."""
    for broken, pointer in (
        (event("TEXT_BLOCK_DELTA", block_id="b", delta="a\ud800b"), "/delta"),
        (event("TEXT_BLOCK_DELTA", block_id="b", delta="", metadata={"k": ["\udfff"]}), "/metadata/k/0"),
        (event("TEXT_BLOCK_DELTA", block_id="b", delta="", metadata={"k": {"\udc00": 1}}), "/metadata/k"),
        (event("CUSTOM", name="n\udbff"), "/name"),
        (event("CUSTOM", name="n", value={"a/b": "\ud83d"}), "/value/a~1b"),
        (event("HINT_BLOCK", block_id="h", hint=[{"type": "text", "id": "t", "text": "\ud83d"}]), "/hint/0/text"),
    ):
        given = check_and_fold(lines_of([*SAID[:3], {"reply_id": "r", **broken}, *SAID[3:]]))
        assert [(found.rule, found.pointer) for found in given.findings] == [("event.lone-surrogate", pointer)]
        json.dumps(given.messages, ensure_ascii=False).encode()


def test_a_pointer_through_a_lone_surrogate_can_be_written() -> None:
    """A pointer never holds the surrogate that it points through."""
    findings = check(lines_of([{"reply_id": "r", **event("CUSTOM", name="n", value={"\ud800": "\udc00"})}]))
    assert sorted(found.pointer for found in findings) == ["/value", "/value/\ufffd"]
    msgspec.json.encode([found.to_dict() for found in findings])


def test_the_replaced_text_is_applied() -> None:
    """Half an answer is not lost: U+FFFD stands where the surrogate stood."""
    broken = event("TEXT_BLOCK_DELTA", block_id="b", delta="a\ud800b")
    given = check_and_fold(lines_of([*SAID[:3], {"reply_id": "r", **broken}, *SAID[3:]]))
    assert given.messages[0]["content"][0]["text"] == "helloa\ufffdb"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "01", "1.", "0x1", "9" * 5000])
def test_what_is_no_number_of_json_is_no_event(number: str) -> None:
    """NaN, Infinity and numbers that no double holds make an event unreadable, wherever they stand."""
    text = f'{{"type":"CUSTOM","id":"c","created_at":"2026-01-01","name":"n","value":{{"a":[{number}]}}}}'
    assert rules_of(check(lines_of(SAID) + text.encode() + b"\n")) == ["wire.not-json"]


def nested(depth: int) -> bytes:
    """Make an event that nests so deep, itself included."""
    return b'{"type":"CUSTOM","id":"c","created_at":"2026-01-01","name":"n","value":{"a":' + b"[" * (depth - 2) + b"]" * (depth - 2) + b"}}"


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 1_100, 10_000])
def test_deep_nesting_is_a_finding_in_every_form(depth: int) -> None:
    """An event that nests deeper than 100 is dropped with one finding, in every form, and its neighbours stay."""
    deep, rest = nested(depth), [json.dumps(one).encode() for one in SAID]
    for data in (
        b"\n".join([rest[0], deep, *rest[1:]]),
        b"[" + b",".join([rest[0], deep, *rest[1:]]) + b"]",
        b"".join(b"data:" + one + b"\n\n" for one in (rest[0], deep, *rest[1:])),
        b"\n".join([rest[0].replace(b"{", b"{\n", 1), deep, *rest[1:]]),
    ):
        given = check_and_fold(data)
        assert rules_of(given.findings) == ["event.too-deep"]
        assert f"{depth:,}" in given.findings[0].message
        assert given.messages[0]["content"][0]["text"] == "hello"


def test_nesting_of_100_is_allowed() -> None:
    """An event that nests as deep as is allowed is clean, as bytes and as a value."""
    assert check(nested(MAX_DEPTH)) == []
    value = json.loads(nested(MAX_DEPTH))
    assert read_event(value).value == value["value"]
    with pytest.raises(InvalidEvent, match=r"event\.too-deep"):
        read_event(json.loads(nested(MAX_DEPTH + 1)))


def test_brackets_in_text_are_no_nesting() -> None:
    """Brackets inside strings count for nothing, however many."""
    text = '[{"\\' * 300
    given = check_and_fold(lines_of([*SAID[:3], {"reply_id": "r", **event("TEXT_BLOCK_DELTA", block_id="b", delta=text)}, *SAID[3:]]))
    assert (given.findings, given.messages[0]["content"][0]["text"]) == ([], "hello" + text)


def test_a_line_of_50_mb_is_one_finding() -> None:
    """A runaway line is skipped with one finding, and what stands around it is read."""
    long = b'{"type":"CUSTOM","id":"c","name":"' + b"x" * 50_000_000 + b'"}\n'
    checker = Checker()
    for piece in (lines_of(SAID[:2]), *cut(long, range(0, len(long), 1 << 20)), lines_of(SAID[2:])):
        checker.feed(piece)
    assert [(found.rule, found.line, found.count) for found in checker.finish()] == [("wire.too-long", 3, 1)]
    assert checker.folder.snapshots() == check_and_fold(lines_of(SAID)).messages


# --- what an event may hold


def test_a_count_may_be_written_as_a_float() -> None:
    """`1.0` is the integer 1: accepted, folded, and written as an integer."""
    end = event("MODEL_CALL_END", input_tokens=1.0, output_tokens=2e3, cache_input_tokens=0.0)
    given = check_and_fold(
        lines_of([SAID[0], {"reply_id": "r", **event("MODEL_CALL_START", model_name="m")}, {"reply_id": "r", **end}, *SAID[1:]])
    )
    assert "event.schema" not in rules_of(given.findings)
    assert json.dumps(given.messages[0]["usage"]) == json.dumps(
        {"input_tokens": 1, "output_tokens": 2000, "cache_input_tokens": 0, "cache_creation_input_tokens": 0}
    )


@pytest.mark.parametrize("count", [True, "1", 1.5, -1, 2**53, [1], None])
def test_what_is_no_count_is_refused(count: Any) -> None:
    """A count is an integer from 0 to 2^53-1 and nothing that looks like one."""
    end = event("MODEL_CALL_END", reply_id="r", input_tokens=count, output_tokens=0)
    findings = check(lines_of([SAID[0], end, SAID[-1]]))
    assert [(found.rule, found.pointer) for found in findings if found.rule.startswith("event.")] == [("event.schema", "/input_tokens")]


CALL = {"type": "tool_call", "id": "t", "name": "f", "input": "{}"}
RESULT = {"type": "tool_result", "id": "t", "name": "f", "output": "done", "state": "success"}
CALLED = [
    event("TOOL_CALL_START", tool_call_id="t", tool_call_name="f"),
    event("TOOL_CALL_DELTA", tool_call_id="t", delta="{}"),
    event("TOOL_CALL_END", tool_call_id="t"),
]

#: An event of each shape with all that is optional, and where null may stand in it.
NULLS: list[tuple[list[Wire], Wire, list[tuple[str, ...]]]] = [
    ([], event("HINT_BLOCK", block_id="h", hint="x"), [("metadata",), ("source_path",), ("source",)]),
    (
        [],
        event("HINT_BLOCK", block_id="h", hint=[{"type": "text", "id": "x", "text": "y"}]),
        [("hint", "0", "created_at"), ("hint", "0", "finished_at")],
    ),
    ([event("TEXT_BLOCK_START", block_id="b")], event("TEXT_BLOCK_END", block_id="b"), [("text",), ("extra",)]),
    (
        [event("DATA_BLOCK_START", block_id="d", media_type="image/png")],
        event("DATA_BLOCK_DELTA", block_id="d", media_type="image/png", data="AAAA"),
        [("url",)],
    ),
    ([], event("DATA_BLOCK_START", block_id="d", media_type="image/png"), [("name",)]),
    (
        [],
        event("MODEL_CALL_END", input_tokens=1, output_tokens=1),
        [("cache_input_tokens",), ("cache_creation_input_tokens",), ("finished_reason",)],
    ),
    (
        CALLED,
        event("REQUIRE_EXTERNAL_EXECUTION", tool_calls=[CALL]),
        [("tool_calls", "0", key) for key in ("state", "suggested_rules", "created_at", "finished_at")],
    ),
    (
        CALLED,
        event("EXTERNAL_EXECUTION_RESULT", execution_results=[RESULT]),
        [("execution_results", "0", key) for key in ("metadata", "created_at", "finished_at")],
    ),
    (
        [*CALLED, event("TOOL_RESULT_START", tool_call_id="t", tool_call_name="f")],
        event("TOOL_RESULT_END", tool_call_id="t", state="success"),
        [("metadata",)],
    ),
    ([], event("CUSTOM", name="n"), [("value",), ("reply_id",)]),
]


def with_null(value: Any, place: tuple[str, ...]) -> Any:
    """Copy a value with null at a place."""
    if isinstance(value, list):
        items: list[Any] = [*value]
        items[int(place[0])] = with_null(items[int(place[0])], place[1:])
        return items
    return {**value, place[0]: with_null(value.get(place[0]), place[1:]) if len(place) > 1 else None}


@pytest.mark.parametrize("row", range(len(NULLS)))
def test_null_and_absent_are_the_same(row: int) -> None:
    """Null in an optional field, at the top or inside a carried block, gives the findings and the message of its absence."""
    before, subject, places = NULLS[row]
    plain = check_and_fold(lines_of(reply(*before, subject)))
    for place in places:
        given = check_and_fold(lines_of(reply(*before, with_null(subject, place))))
        assert (rules_of(given.findings), given.messages) == (rules_of(plain.findings), plain.messages), place


def test_data_comes_inline_or_by_url_and_never_both() -> None:
    """Exactly one of data and url is a string; both and neither are refused whole."""
    starts = (
        event("DATA_BLOCK_START", block_id="d", media_type="image/png"),
        event("TOOL_RESULT_START", tool_call_id="t", tool_call_name="f"),
    )
    for name, ids in (("DATA_BLOCK_DELTA", {"block_id": "d"}), ("TOOL_RESULT_DATA_DELTA", {"tool_call_id": "t", "block_id": "d"})):
        for carried, wrong in (
            ({"data": "AAAA"}, False),
            ({"url": "https://x.y/z"}, False),
            ({"data": "AAAA", "url": "https://x.y/z"}, True),
            ({}, True),
            ({"data": None, "url": None}, True),
        ):
            findings = check(lines_of(reply(*starts, event(name, media_type="image/png", **ids, **carried))))
            said = [found.message for found in findings if found.rule == "event.schema"]
            assert len(said) == wrong
            assert all("exactly one of data and url" in text for text in said)


def folded(*events: Wire) -> Checked:
    """Check and fold a reply around events."""
    return check_and_fold(lines_of(reply(*events)))


def test_an_unknown_field_is_noted_and_changes_nothing() -> None:
    """Unknown fields at the top of every event are notes with their pointer; the message is the same."""
    plain = check_and_fold(lines_of(SAID))
    given = check_and_fold(lines_of([{**one, "x_trace": 1, "a/b": [{}]} for one in SAID]))
    assert given.messages == plain.messages
    assert {found.rule for found in given.findings} == {"event.unknown-field"}
    assert {found.pointer for found in given.findings} == {"/x_trace", "/a~1b"}


@pytest.mark.parametrize(
    ("before", "carrier", "pointer", "read"),
    [
        (CALLED, event("EXTERNAL_EXECUTION_RESULT", execution_results=[{**RESULT, "x_new": [1]}]), "/execution_results/0/x_new", -1),
        (CALLED, event("REQUIRE_EXTERNAL_EXECUTION", tool_calls=[{**CALL, "id": "new", "x_new": [1]}]), "/tool_calls/0/x_new", -1),
        ([], event("HINT_BLOCK", block_id="h", hint=[{"type": "text", "id": "i", "text": "t", "x_new": [1]}]), "/hint/0/x_new", -1),
    ],
    ids=["external result", "request", "hint"],
)
def test_an_unknown_field_of_a_carried_block_survives(before: list[Wire], carrier: Wire, pointer: str, read: int) -> None:
    """What a later version adds to a block that an event carries is noted and stands in the message."""
    given = folded(*before, carrier)
    assert [found.pointer for found in given.findings if found.rule == "event.unknown-field"] == [pointer]
    assert '"x_new": [1]' in json.dumps(given.messages[0]["content"][read])


def test_an_event_of_unknown_type_is_skipped() -> None:
    """With id and created_at it is a warning, without them an error; the events around it are folded."""
    plain = check_and_fold(lines_of(SAID))
    rows: list[tuple[Wire, str]] = [
        (event("BRAND_NEW"), "event.unknown-type"),
        (event("BRAND_NEW", reply_id="r", deep={"a": [1]}), "event.unknown-type"),
        ({"type": "BRAND_NEW"}, "event.schema"),
        ({**event("BRAND_NEW"), "id": ""}, "event.schema"),
        ({**event("BRAND_NEW"), "id": 7}, "event.schema"),
        ({"type": 7, "id": "x", "created_at": TIME}, "event.no-type"),
        ({"id": "x"}, "event.no-type"),
        ({"type": None, "role": "user", "content": []}, "event.no-type"),
    ]
    for unknown, rule in rows:
        given = check_and_fold(lines_of([SAID[0], unknown, *SAID[1:]]))
        assert (rules_of(given.findings), given.messages) == ([rule], plain.messages)
        assert (given.findings[0].index, given.findings[0].line) == (1, 2)


@pytest.mark.parametrize("text", ["7", '"x"', "null", "true", "1.5", "[]", "[1]"])
def test_what_is_no_object_is_no_event(text: str) -> None:
    """A line with any other JSON value is an error with its line."""
    findings = check(lines_of(SAID) + text.encode() + b"\n")
    assert [(found.rule, found.line) for found in findings] == [("event.not-object", len(SAID) + 1)]


def test_messages_and_events_are_told_apart_value_by_value() -> None:
    """Stored messages among events are judged as messages, and the stream folds as without them."""
    stored = check_and_fold(lines_of(SAID)).messages[0]
    checker = Checker()
    checker.feed(lines_of([stored, SAID[0], {**stored, "content": [{"type": "image"}]}, *SAID[1:]]))
    findings = checker.finish()
    assert {found.rule for found in findings} == {"message.schema"}
    assert {(found.index, found.line) for found in findings} == {(1, 3)}
    assert (checker.events, len(checker.stored), checker.folder.snapshots()) == (len(SAID), 2, [stored])


def test_a_struct_that_refuses_what_the_schema_accepts_loses_nothing() -> None:
    """Every recorded event reads the same by the fast way and by the slow one."""
    reader = EventReader()
    for path in RECORDINGS[::7]:
        for wire in events_of(path):
            fast = reader.read(json.dumps(wire).encode())
            assert reader.remarks == []
            slow = reader.read(json.dumps({**wire, "x_more": 1}).encode())
            assert (slow, [remark.rule for remark in reader.remarks]) == (fast, ["event.unknown-field"])


# --- nothing raises

STREAMS = [lines_of(SAID), json.dumps(SAID).encode(), sse_of(SAID), json.dumps(SAID[1], indent=2).encode()] + [
    path.read_bytes() for path in RECORDINGS if path.stat().st_size < 8000
]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Make a valid stream, and break it in some places."""
    data = draw(st.sampled_from(STREAMS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        length = draw(st.sampled_from([0, 1, 2, 50]))
        instead = draw(
            st.sampled_from([b"", b"\xff", b'"', b"\\", b"{", b"]", b"\n", b"\r", b"null", b"\\ud800", b"1e999", BOM])
            | st.binary(max_size=3)
        )
        data = data[:start] + instead + data[start + length :]
    return data


@settings(max_examples=250)
@given(data=st.binary(max_size=80) | mutated(), places=positions)
def test_nothing_raises_on_any_bytes(data: bytes, places: list[int]) -> None:
    """Check and fold return on any bytes, with the same messages and rules however they are cut."""
    whole = check_and_fold(data)
    checker = Checker()
    for piece in cut(data, places):
        checker.feed(piece)
    findings = checker.finish()
    assert sorted(rules_of(findings)) == sorted(rules_of(whole.findings))
    assert checker.folder.snapshots() == whole.messages
    msgspec.json.encode([found.to_dict() for found in findings])


@settings(max_examples=150)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[]), max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from([*SAID[2], "role", "content", "tool_calls", "hint", "\ud800"]), inner, max_size=4)
        ),
        max_leaves=8,
    ),
    field=st.sampled_from(["type", "id", "delta", "block_id", "created_at", "metadata", "new", "reply_id"]),
    at=st.integers(0, len(SAID) - 1),
)
def test_nothing_raises_on_any_value_in_any_field(value: Any, field: str, at: int) -> None:
    """Whatever JSON stands in a field of an event, or in an event's place, check and fold return."""
    for broken in ({**SAID[at], field: value}, value):
        given = check_and_fold(lines_of([*SAID[:at], broken, *SAID[at + 1 :]]))
        msgspec.json.encode([given.messages, [found.to_dict() for found in given.findings]])


# --- work

BODY = b'{"type":"CUSTOM","id":"c","created_at":"2026-01-01","name":"n","value":{"a":"'
LONG: dict[str, Callable[[int], bytes]] = {
    "first line": lambda size: BODY + b"x" * size + b'"}}\n',
    "later line": lambda size: b"{}\n" + BODY + b"x" * size + b'"}}\n',
    "many lines": lambda size: (BODY + b'"}}\n') * (size // len(BODY)),
    "array": lambda size: b"[" + BODY + b"x" * size + b'"}}]',
    "array of escapes": lambda size: b"[" + BODY + b'\\"' * (size // 2) + b'"}}]',
    "long array": lambda size: b"[" + (BODY + b'"}},') * (size // len(BODY)) + b"{}]",
    "document": lambda size: b"{\n" + BODY[1:] + b"x" * size + b'"}}',
    "sse line": lambda size: b"data: " + BODY + b"x" * size + b'"}}\n\n',
    "sse with CR": lambda size: b"data: " + BODY + b"x" * size + b'"}}\r\r',
    "sse of many data lines": lambda size: b"data: " + BODY + b'",\n' + b'data: "a":1,\n' * (size // 13) + b'data: "b":1}}\n\n',
    "blank lines": lambda size: b"\n" * size,
    "no value": lambda size: b"[" + b"1," * (size // 2),
}


def work(data: bytes) -> float:
    """Measure how long a framer takes in pieces of 4 KB, at best."""
    best = float("inf")
    for _ in range(2):
        start = time.process_time()
        frame(data[at : at + 4096] for at in range(0, len(data), 4096))
        best = min(best, time.process_time() - start)
    return best


#: Shapes of so many small parts that fewer bytes do.
FINE = {"many lines", "array of escapes", "long array", "sse of many data lines", "blank lines"}


@pytest.mark.parametrize("shape", LONG)
def test_work_grows_with_the_bytes(shape: str) -> None:
    """Four times the bytes take about four times the work, however long one event is (a quadratic reader takes sixteen times)."""
    size = (1 << 19) if shape in FINE else (2 << 20)
    small, large = work(LONG[shape](size)), work(LONG[shape](4 * size))
    assert large < 8 * small + 0.1


def test_an_event_of_8_mb_is_read_in_every_form() -> None:
    """An event of 8 MB in pieces of 4 KB passes whole."""
    for shape in ("first line", "array", "document", "sse line"):
        data = LONG[shape](8 << 20)
        read = frame(data[at : at + 4096] for at in range(0, len(data), 4096))
        assert (len(read.frames), read.problems) == (1, [])
        assert len(json.loads(read.frames[0][1])["value"]["a"]) == 8 << 20
