"""
The MCP dialect, judged by MCP's own library: a real server and a real client in memory.

A stream of ours goes out as messages of MCP and comes back whole; its tool calls can really be called. What a foreign server says
is held against the rules of the protocol, and nothing of it is lost.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from dialect_laws import decoded, encoded, folded, journey, outside, patterns_of
from eventfold_models.tables import EVENTS, MESSAGES
from hypothesis import example, given, note
from hypothesis import strategies as st
from mcp.server.validation import validate_tool_use_result_messages
from mcp_peer import accept, called, replayed
from mcp_types import SamplingMessage
from pydantic import TypeAdapter

from eventfold import Severity, check_and_fold, read_event
from eventfold.dialects import Unfit, dialect
from eventfold.dialects.mcp import from_result, read_messages, to_result, write_messages
from eventfold.dialects.mcp.notes import object_of, text_of
from eventfold.fuzz.breaking import broken_streams, with_odd_value
from eventfold.fuzz.payloads import values
from eventfold.fuzz.strategies import messages, streams
from eventfold.jsonvalue import is_array, is_object
from eventfold.shape import wire_of
from eventfold.wire import InvalidEvent
from eventfold.wire.schema import errors

if TYPE_CHECKING:
    from support import Wire

MCP = dialect("mcp")
SAMPLING: TypeAdapter[list[SamplingMessage]] = TypeAdapter(list[SamplingMessage])

#: Any JSON value, and such as MCP knows the words of.
WORDS = st.sampled_from(
    ("jsonrpc", "2.0", "id", "method", "params", "result", "error", "content", "type", "text", "_meta", "eventfold", "tools/call", "name")
)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=3), inner, max_size=4),
    max_leaves=8,
)


def readable(stream: list[Wire]) -> list[Wire]:
    """Give the events that the engine reads; those of types that it does not know never reach an encoder."""
    kept: list[Wire] = []
    for event in stream:
        try:
            read_event(event)
        except InvalidEvent:
            continue
        kept.append(event)
    return kept


def failures(remarks: list[Any]) -> list[Any]:
    """Give the remarks of severity error."""
    return [remark for remark in remarks if MCP.rules[remark.rule]["severity"] == "error"]


# --- ours, out and back -------------------------------------------------------------------------


@given(streams())
def test_a_stream_comes_back_whole(stream: list[Wire]) -> None:
    """What goes out folds, when it comes back, to the same messages outside the reported losses, and breaks no rule of MCP."""
    stream = readable(stream)
    trip = journey(MCP, stream)
    lost = patterns_of(MCP, trip.losses)
    assert failures(trip.remarks) == []
    assert outside(folded(trip.back), lost) == outside(folded(stream), lost)


@given(streams(most=2, moves=12), st.data())
def test_a_prefix_comes_back_whole(stream: list[Wire], data: st.DataObject) -> None:
    """Wherever a stream is cut, what was held back is said at the end."""
    stream = readable(stream)
    stream = stream[: data.draw(st.integers(0, len(stream)))]
    trip = journey(MCP, stream)
    assert failures(trip.remarks) == []
    assert folded(trip.back) == folded(stream)


@given(streams(most=2, redelivered=True))
def test_redelivered_events_come_back_as_such(stream: list[Wire]) -> None:
    """An event that was delivered twice is applied once on both sides."""
    stream = readable(stream)
    assert folded(journey(MCP, stream).back) == folded(stream)


#: A call that is answered though nobody asked, and then runs: its end was held back when the answer came.
UNASKED: list[Wire] = [
    {"id": str(place), "created_at": f"2026-01-0{place + 1}", "reply_id": "r", **event}
    for place, event in enumerate(
        [
            {"type": "REPLY_START", "session_id": "s", "name": "n"},
            {"type": "TOOL_CALL_START", "tool_call_id": "c", "tool_call_name": "t"},
            {"type": "TOOL_CALL_END", "tool_call_id": "c"},
            {
                "type": "USER_CONFIRM_RESULT",
                "confirm_results": [{"confirmed": True, "tool_call": {"type": "tool_call", "id": "c", "name": "t", "input": ""}}],
            },
            {"type": "TOOL_RESULT_START", "tool_call_id": "c", "tool_call_name": "t"},
            {"type": "TOOL_RESULT_END", "tool_call_id": "c", "state": "success"},
        ]
    )
]


@example(UNASKED)
@given(broken_streams())
def test_a_broken_stream_goes_out_and_comes_back(stream: list[Wire]) -> None:
    """A stream that breaks rules of ours is said in messages that MCP accepts, and comes back as it was."""
    stream = readable(stream)
    trip = journey(MCP, stream)
    for message in trip.out:
        accept(message)
    assert folded(trip.back) == folded(stream)


@given(streams(most=2))
def test_the_calls_of_a_stream_can_really_be_called(stream: list[Wire]) -> None:
    """MCP accepts every message; and with each call sent by a real client and answered by a real server, it still comes back whole."""
    stream = readable(stream)
    out, _ = encoded(MCP, stream)
    for message in out:
        accept(message)
    back, _, remarks = decoded(MCP, replayed(out))
    assert failures(remarks) == []
    assert folded(back) == folded(stream)


def project(stream: list[Wire]) -> list[Any]:
    """
    Say which calls a client has seen answered, from the messages alone: name, arguments, whether it failed, what it showed.

    A call was sent if its arguments are an object, nobody denied it, and no result came that nobody had asked for.
    """
    asked = {
        (event["reply_id"], call["id"]) for event in stream if event["type"] == "REQUIRE_EXTERNAL_EXECUTION" for call in event["tool_calls"]
    }
    came = {
        (event["reply_id"], block["id"])
        for event in stream
        if event["type"] == "EXTERNAL_EXECUTION_RESULT"
        for block in event["execution_results"]
    }
    seen: list[Any] = []
    for message in folded(stream):
        calls = {block["id"]: block for block in message["content"] if block["type"] == "tool_call"}
        for block in message["content"]:
            key = (message["id"], block.get("id"))
            if block["type"] != "tool_result" or block["id"] not in calls or (key in came and key not in asked):
                continue
            call = calls[block["id"]]
            if block["state"] in {"denied", "running"}:
                continue
            arguments = arguments_of(call["input"])
            if arguments is not None:
                seen.append((call["name"], arguments, block["state"] != "success", [shown(part) for part in parts_of(block)]))
    return sorted(seen, key=repr)


def arguments_of(text: str) -> Wire | None:
    """Give the arguments that a text says; None when it says none, or two of one name."""
    pairs: list[str] = []

    def collect(found: list[tuple[str, Any]]) -> Wire:
        pairs.extend(name for name, _ in found)
        return dict(found)

    try:
        value = json.loads(text or "{}", object_pairs_hook=collect)
    except ValueError:
        return None
    return value if is_object(value) and len(pairs) == len(set(pairs)) else None


def parts_of(block: Wire) -> list[Wire]:
    """Give the output of a result as parts."""
    return block["output"] if is_array(block["output"]) else [{"type": "text", "text": block["output"]}]


def shown(part: Wire) -> tuple[str, str]:
    """Say what a part looks like in MCP."""
    if part["type"] == "text":
        return "text", part["text"]
    source = part["source"]
    if source["type"] == "url":
        return "resource_link", source["url"]
    kind = source["media_type"].partition("/")[0].lower()
    return kind if kind in {"image", "audio"} else "resource", source["data"]


def viewed(item: Wire) -> tuple[str, str]:
    """Say the same of content of MCP."""
    payload: str = (
        item["resource"]["blob"] if item["type"] == "resource" else next(item[key] for key in ("text", "data", "uri") if key in item)
    )
    return item["type"], payload


#: Calls with arguments that can be sent, as any stream may have; most random arguments are no objects.
@st.composite
def tool_rounds(draw: st.DrawFn) -> list[Wire]:
    """Draw a reply whose calls run: some asked about, some executed outside, with any arguments and any results, interleaved."""
    count = draw(st.integers(1, 3))
    sequences: list[list[Wire]] = []
    for number in range(count):
        place = {"reply_id": "r", "tool_call_id": f"c{number}"}
        arguments = draw(st.sampled_from(("", "{}", '{"a": 1}', '{"a":[1.5,"\u2028"]}', '{"b": {"c": null}}', "{", "[]", '{"a":1,"a":2}')))
        call = {"type": "tool_call", "id": f"c{number}", "name": "f", "input": arguments}
        events: list[Wire] = [
            {"type": "TOOL_CALL_START", **place, "tool_call_name": "f"},
            {"type": "TOOL_CALL_DELTA", **place, "delta": arguments},
            {"type": "TOOL_CALL_END", **place},
        ]
        asked, outside_, state = (
            draw(st.sampled_from((None, True, False))),
            draw(st.booleans()),
            draw(st.sampled_from(("success", "error"))),
        )
        if asked is not None:
            edited = {**call, "input": draw(st.sampled_from((arguments, '{"edited": true}')))}
            events += [
                {"type": "REQUIRE_USER_CONFIRM", "reply_id": "r", "tool_calls": [call]},
                {"type": "USER_CONFIRM_RESULT", "reply_id": "r", "confirm_results": [{"confirmed": asked, "tool_call": edited}]},
            ]
        if asked is not False and outside_:
            block = draw(values("ToolResultBlock"))
            events += [
                {"type": "REQUIRE_EXTERNAL_EXECUTION", "reply_id": "r", "tool_calls": [call]},
                {
                    "type": "EXTERNAL_EXECUTION_RESULT",
                    "reply_id": "r",
                    "execution_results": [{**block, "id": f"c{number}", "state": state}],
                },
            ]
        else:
            events.append({"type": "TOOL_RESULT_START", **place, "tool_call_name": "f"})
            for part in draw(st.lists(st.sampled_from(("text", "image/png", "application/pdf", "url")), max_size=4)):
                carried = {"url": "https://e.org/a"} if part == "url" else {"data": draw(st.sampled_from(("", "QQ==", "QUJD")))}
                events.append(
                    {"type": "TOOL_RESULT_TEXT_DELTA", **place, "delta": draw(st.text(max_size=3))}
                    if part == "text"
                    else {"type": "TOOL_RESULT_DATA_DELTA", **place, "block_id": part, "media_type": part, **carried}
                )
            events.append({"type": "TOOL_RESULT_END", **place, "state": "denied" if asked is False else state})
        sequences.append(events)
    rounds: list[Wire] = [{"type": "REPLY_START", "reply_id": "r", "session_id": "s", "name": "n"}]
    while sequences := [sequence for sequence in sequences if sequence]:
        rounds.append(draw(st.sampled_from(sequences)).pop(0))
    rounds.append({"type": "REPLY_END", "reply_id": "r", "session_id": "s"})
    return [{"id": f"e{number}", "created_at": f"2026-01-01T00:00:{number:02}", **event} for number, event in enumerate(rounds)]


@given(tool_rounds())
def test_a_client_sees_the_calls_of_the_message(stream: list[Wire]) -> None:
    """What a real client sent and was answered is what the folded message says has run, no more and no less; and it comes back whole."""
    stream = readable(stream)
    out, _ = encoded(MCP, stream)
    log = replayed(out)
    requests = {message["id"]: message["params"] for message in log if message.get("method") == "tools/call"}
    answered = [(requests[message["id"]], message["result"]) for message in log if "result" in message]
    views = [
        (params["name"], params.get("arguments", {}), result["isError"], [viewed(item) for item in result["content"]])
        for params, result in answered
    ]
    note(log)
    assert sorted(views, key=repr) == project(stream)
    assert folded(decoded(MCP, log)[0]) == folded(stream)


# --- single results -----------------------------------------------------------------------------


@given(st.lists(values("ToolResultBlock"), max_size=3))
def test_law_m_a_result_comes_back_through_a_real_client_and_server(blocks: list[Wire]) -> None:
    """from_result(what a real client got of to_result(block)) is the block, whatever it holds."""
    exchanges = called(({"name": "f"}, to_result(block).value) for block in blocks)
    assert [from_result(result, block["id"], block["name"]).value for block, (_, result) in zip(blocks, exchanges, strict=True)] == blocks


RICH: Wire = {
    "content": [
        {"type": "text", "text": "a", "annotations": {"audience": ["user"], "priority": 0.5}, "_meta": {"k": 1}},
        {"type": "text", "text": "b"},
        {"type": "image", "data": "QUJD", "mimeType": "image/png"},
        {"type": "audio", "data": "", "mimeType": "audio/wav", "x_rate": 8000},
        {
            "type": "resource_link",
            "uri": "file:///a.txt",
            "name": "a",
            "title": "A",
            "description": "d",
            "size": 3,
            "icons": [{"src": "i"}],
            "mimeType": "text/plain",
        },
        {"type": "resource", "resource": {"uri": "file:///b", "mimeType": "text/markdown", "text": "c", "_meta": {"k": 2}}},
        {
            "type": "resource",
            "resource": {"uri": "file:///c", "mimeType": "application/pdf", "blob": "QQ=="},
            "annotations": {"lastModified": "2026-01-01"},
        },
    ],
    "structuredContent": {"a": [1, None]},
    "isError": False,
    "resultType": "complete",
    "_meta": {"trace": "t"},
}


def test_nothing_of_a_foreign_result_is_lost() -> None:
    """Annotations, titles, sizes, icons, URIs, structured content and `_meta` come in, and go out again as they were."""
    said = from_result(RICH, "c", "f")
    assert said.losses == []
    block = said.value
    assert errors(block, "ToolResultBlock") == []
    out = to_result(block).value
    assert _without_ours(out) == RICH
    assert out["content"][4]["title"] == "A"
    assert from_result(json.loads(json.dumps(out)), "c", "f").value == block


def _without_ours(value: Any) -> Any:
    if is_array(value):
        return [_without_ours(item) for item in value]
    if not is_object(value):
        return value
    found = {key: _without_ours(item) for key, item in value.items() if key != "eventfold"}
    return {key: item for key, item in found.items() if key != "_meta" or item}


def test_what_a_server_says_of_itself_is_reported() -> None:
    """A server that answers with a result of ours adds its name to `_meta`, for which a result of ours has no place."""
    block: Wire = {"type": "tool_result", "id": "c", "name": "f", "output": "a", "state": "success"}
    [(_, result)] = called([({"name": "f"}, to_result(block).value)])
    said = from_result(result, "c", "f")
    assert said.value == block
    assert [loss.pointer for loss in said.losses] == ["/_meta/io.modelcontextprotocol~1serverInfo"]
    assert {loss.reason for loss in said.losses} <= set(MCP.losses)


# --- theirs, in ---------------------------------------------------------------------------------


def call(request_id: Any, name: str = "f", **params: Any) -> Wire:
    """Write a tools/call."""
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": {"name": name, "arguments": {"a": 1}, **params}}


def answer(request_id: Any, text: str = "ok", **fields: Any) -> Wire:
    """Write a result of a tool."""
    result = {"content": [{"type": "text", "text": text}], "isError": False, **fields}
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def notice(method: str, **params: Any) -> Wire:
    """Write a notification."""
    return {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}


def progress(token: Any, value: float) -> Wire:
    """Write progress."""
    return notice("progress", progressToken=token, progress=value)


ASKS: Wire = {
    "resultType": "input_required",
    "inputRequests": {"who": {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": {"type": "object"}}}},
    "requestState": "s1",
}
SAMPLES: Wire = {"resultType": "input_required", "inputRequests": {"m": {"method": "sampling/createMessage", "params": {}}}}
MODERN: Wire = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
TASK: Wire = {"jsonrpc": "2.0", "id": 1, "result": {"task": {"taskId": "t", "status": "working"}}}

#: Foreign streams, and what each breaks: (rule, index).
FOREIGN: dict[str, tuple[list[Any], list[tuple[str, int]]]] = {
    "a call and its result": ([call(1), answer(1)], []),
    "the ids 1 and '1'": ([call(1), call("1", "g"), answer("1", "g"), answer(1, "f")], []),
    "parallel and out of order": ([call(1), call(2), call(3), answer(3), answer(1), answer(2)], []),
    "a result that stands alone": ([answer(1)["result"]], []),
    "a batch": ([[call(1), answer(1)]], [("mcp.batch", 0)]),
    "progress": ([call(1, _meta={"progressToken": "p"}), progress("p", 1), progress("p", 2), answer(1)], []),
    "progress with the response (typescript-sdk#2580)": (
        [call(1, _meta={"progressToken": 7}), progress(7, 1), answer(1), progress(7, 2)],
        [("mcp.late-progress", 3)],
    ),
    "a token that the server made (twenty#24559)": ([call(1), progress("mine", 1), answer(1)], [("mcp.unknown-progress-token", 1)]),
    "progress that does not increase": (
        [call(1, _meta={"progressToken": 7}), progress(7, 2), progress(7, 2), answer(1)],
        [("mcp.progress-not-increasing", 2)],
    ),
    "one token for two requests": (
        [call(1, _meta={"progressToken": 7}), call(2, _meta={"progressToken": 7}), answer(1), answer(2)],
        [("mcp.progress-token-reused", 1)],
    ),
    "a second response": ([call(1), answer(1), answer(1, "other")], [("mcp.repeated-response", 2)]),
    "a response without a request": ([answer(5)], [("mcp.response-without-request", 0)]),
    "a request that is not answered": ([call(1)], [("mcp.unanswered", 1)]),
    "an id that comes again": ([call(1), answer(1), call(1), answer(1)], [("mcp.request-id-reused", 2)]),
    "a request that comes twice": ([call(1), call(1), answer(1)], [("mcp.request-id-reused", 1)]),
    "a cancelled call": ([call(1), notice("cancelled", requestId=1, reason="stop")], []),
    "a response that crossed the cancellation": (
        [call(1), notice("cancelled", requestId=1), answer(1)],
        [("mcp.response-after-cancel", 2)],
    ),
    "what is cancelled does not wait": ([call(1), answer(1), notice("cancelled", requestId=1)], [("mcp.cancelled-unknown-request", 2)]),
    "a log": ([call(1), notice("message", level="info", data={"a": 1}), answer(1)], []),
    "a log of an unknown level": ([notice("message", level="loud", data=1)], [("mcp.unknown-log-level", 0)]),
    "a log that nobody asked for": (
        [call(1, _meta=MODERN), notice("message", level="info", data=1), answer(1)],
        [("mcp.log-not-requested", 1)],
    ),
    "a log that was asked for": (
        [call(1, _meta={**MODERN, "io.modelcontextprotocol/logLevel": "info"}), notice("message", level="info", data=1), answer(1)],
        [],
    ),
    "an error": ([call(1), {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "Unknown tool: f"}}], []),
    "a user is asked": (
        [
            call(1),
            {"jsonrpc": "2.0", "id": 1, "result": ASKS},
            call(2, inputResponses={"who": {"action": "accept"}}, requestState="s1"),
            answer(2),
        ],
        [],
    ),
    "a user is asked, and the state is not given back": (
        [call(1), {"jsonrpc": "2.0", "id": 1, "result": ASKS}, call(2, inputResponses={"who": {"action": "decline"}}), answer(2)],
        [("mcp.state-not-echoed", 2)],
    ),
    "the client is asked, three times": (
        [
            call(1),
            {"jsonrpc": "2.0", "id": 1, "result": SAMPLES},
            call(2, inputResponses={"m": {}}),
            {"jsonrpc": "2.0", "id": 2, "result": SAMPLES},
            call(3, inputResponses={"m": {}}),
            answer(3),
        ],
        [],
    ),
    "a retry of what did not ask": ([call(1, requestState="s"), answer(1)], [("mcp.retry-without-request", 0)]),
    "a task": (
        [
            {**call(1), "params": {"name": "f", "task": {"ttl": 1}}},
            TASK,
            {"jsonrpc": "2.0", "id": 2, "method": "tasks/result", "params": {"taskId": "t"}},
            answer(2),
        ],
        [],
    ),
    "content empty, structured content not (mcp-proxy#196)": (
        [call(1), {"jsonrpc": "2.0", "id": 1, "result": {"content": [], "structuredContent": {"t": 1}}}],
        [],
    ),
    "structured content that its schema does not allow (hermes-agent#101330)": (
        [
            {"jsonrpc": "2.0", "id": 0, "method": "tools/list"},
            {"jsonrpc": "2.0", "id": 0, "result": {"tools": [{"name": "f", "inputSchema": {}, "outputSchema": {"type": "array"}}]}},
            call(1),
            answer(1, structuredContent={"no": "array"}),
        ],
        [],
    ),
    "every line end is text (OpenMetadata#29531)": ([call(1), answer(1, "a\u0085b\u2028c\r\n")], []),
    "no content": (
        [call(1), {"jsonrpc": "2.0", "id": 1, "result": {"structuredContent": 1, "resultType": "complete"}}],
        [("mcp.no-content", 1)],
    ),
    "content of tomorrow": (
        [call(1), {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "video", "data": "QQ=="}, {"type": "text", "text": "t"}]}}],
        [("mcp.unknown-content", 1)],
    ),
    "bad base64": (
        [call(1), {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "image", "data": "!", "mimeType": "image/png"}]}}],
        [("mcp.not-base64", 1)],
    ),
    "base64 with line ends": (
        [call(1), {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "image", "data": "QU\nJD\n", "mimeType": "image/png"}]}}],
        [("mcp.not-base64", 1)],
    ),
    "a whole session": (
        [
            {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"clientInfo": {"name": "agent"}}},
            {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s"}}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            call(1),
            {"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {"message": "?", "requestedSchema": {}}},
            {"jsonrpc": "2.0", "id": 1, "result": {"action": "accept", "content": {}}},
            answer(1),
        ],
        [],
    ),
    "not a message": (["a", {"jsonrpc": "1.0"}, call(1.5), call(1, arguments=[])], [("dialect.unfit", n) for n in range(4)]),
    "a method of tomorrow": ([notice("tomorrow", a=1)], [("dialect.unknown", 0)]),
}


def read(values_: list[Any]) -> tuple[list[Wire], list[tuple[str, int]]]:
    """Read foreign values: the messages, and the rules that they break, with the index of the value."""
    assert MCP.decoder is not None
    decoder = MCP.decoder()
    events: list[Any] = []
    broken: list[tuple[str, int]] = []
    for place, value in enumerate(values_):
        events += decoder.feed(value)
        broken += [(remark.rule, place) for remark in decoder.remarks]
    events += decoder.finish()
    broken += [(remark.rule, len(values_)) for remark in decoder.remarks]
    return [wire_of(event, "") for event in events], broken


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_stream_is_judged_by_its_own_rules(name: str) -> None:
    """Each broken rule is said at its place; and unless a request waits, the events that are read are a valid stream of ours."""
    values_, expected = FOREIGN[name]
    events, broken = read(values_)
    assert broken == expected
    lines = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    found = [finding for finding in check_and_fold(lines).findings if finding.severity is Severity.ERROR]
    allowed = {"mcp.unanswered": {"reply.missing-end"}, "mcp.not-base64": set[str]()}.get(broken[0][0] if broken else "", set[str]())
    assert {finding.rule for finding in found} <= allowed


def test_every_rule_has_its_stream() -> None:
    """Every rule of the dialect is fired by a stream above."""
    assert {rule for _, broken in FOREIGN.values() for rule, _ in broken} == set(MCP.rules)


def results_of(name: str) -> list[Wire]:
    """Give the results that a foreign stream above folds to."""
    return [block for message in folded(read(FOREIGN[name][0])[0]) for block in message["content"] if block["type"] == "tool_result"]


def texts(block: Wire) -> list[str]:
    """Give the texts of a result."""
    return [part["text"] for part in block["output"] if part["type"] == "text"]


def test_ids_are_told_apart_as_json_does() -> None:
    """The requests 1 and "1" are two calls, and each gets its own result."""
    assert {(block["id"], *texts(block)) for block in results_of("the ids 1 and '1'")} == {("1", "f"), ('"1"', "g")}


@pytest.mark.parametrize(
    ("name", "state", "shows"),
    [
        ("a second response", "success", ["ok"]),
        ("a cancelled call", "interrupted", []),
        ("a response that crossed the cancellation", "interrupted", []),
        ("an error", "error", ["Unknown tool: f"]),
        ("a user is asked", "success", ["ok"]),
        ("a task", "success", ["ok"]),
        ("a request that comes twice", "success", ["ok"]),
        ("content empty, structured content not (mcp-proxy#196)", "success", ['{"t": 1}']),
        ("structured content that its schema does not allow (hermes-agent#101330)", "success", ["ok"]),
        ("every line end is text (OpenMetadata#29531)", "success", ["a\u0085b\u2028c\r\n"]),
        ("content of tomorrow", "success", ['{"type": "video", "data": "QQ=="}', "t"]),
    ],
)
def test_what_a_foreign_stream_folds_to(name: str, state: str, shows: list[str]) -> None:
    """One result, in this state, with these texts."""
    [block] = results_of(name)
    assert (block["state"], texts(block)) == (state, shows)


def test_a_session_folds_to_the_message_of_its_client() -> None:
    """The name is the client's, the id derived; a further initialize begins another."""
    session = FOREIGN["a whole session"][0]
    [first, second] = folded(read([*session, *session])[0])
    assert (first["id"], first["name"], second["id"]) == ("mcp", "agent", "mcp/2")
    assert first["finished_reason"] == "completed"


def test_a_parked_call_leaves_its_reply_open() -> None:
    """While the server waits for a user, the call is asking; nothing is broken by stopping there."""
    events, broken = read([call(1), {"jsonrpc": "2.0", "id": 1, "result": ASKS}])
    [message] = folded(events)
    assert (broken, message["content"][0]["state"], "finished_at" in message) == ([], "asking", False)


@given(JSON)
def test_any_json_is_read(value: Any) -> None:
    """Whatever comes, nothing is raised, and what is read are events."""
    read([value])
    read([{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": value}, {"jsonrpc": "2.0", "id": 1, "result": value}])
    assert MCP.recognise(value) in {True, False}


@given(st.sampled_from([values_ for values_, _ in FOREIGN.values()]), st.data())
def test_a_mutated_foreign_stream_is_read(values_: list[Any], data: st.DataObject) -> None:
    """With an odd value anywhere, nothing is raised, and what is read still folds to messages that the schemas allow."""
    events, _ = read(data.draw(with_odd_value(values_)))
    for message in folded(events):
        assert errors(message, MESSAGES[message["role"]]) == []


@given(streams(most=1), st.data())
def test_our_own_messages_are_read_when_mutated(stream: list[Wire], data: st.DataObject) -> None:
    """What stands in `_meta` below our key is not trusted."""
    read(data.draw(with_odd_value(encoded(MCP, readable(stream))[0])))


HARD: list[Any] = [float("nan"), 10**5000, "\ud800", [[[[]]]], {"jsonrpc": "2.0", "id": 10**5000, "method": "tools/call"}]


@pytest.mark.parametrize("value", HARD, ids=range(len(HARD)))
def test_hard_values_are_read(value: Any) -> None:
    """Numbers that no double holds, half a character, and nesting without end are no reason to stop."""
    deep: Any = value
    for _ in range(2000):
        deep = [deep]
    for odd in (value, deep, call(1, arguments={"a": value}), {"content": [value], "isError": True}):
        read([odd])


# --- messages -----------------------------------------------------------------------------------


@given(st.lists(messages(), max_size=3))
def test_law_s_messages_come_back_through_sampling(written: list[Wire]) -> None:
    """Messages said as SamplingMessages come back; the SDK accepts them, and so does its check of calls and results, at every step."""
    said = json.loads(json.dumps(write_messages(written).value))
    judged = SAMPLING.validate_json(json.dumps(said))
    for length in range(len(judged)):
        ends = judged[: length + 1]
        last = ends[-1].content_as_list
        if not any(block.type == "tool_use" for block in last):
            validate_tool_use_result_messages(ends)
    assert read_messages(said).value == written


@given(st.lists(messages(), max_size=3))
def test_what_sampling_shows_is_what_the_messages_say(written: list[Wire]) -> None:
    """Every text of the messages is shown, in order; each block is either shown or reported."""
    said = write_messages(written)
    shown_ = [block for message in said.value for block in message["content"]]
    hidden = {loss.pointer for loss in said.losses}
    plain = [
        block["text"]
        for number, message in enumerate(written)
        for place, block in enumerate(message["content"])
        if block["type"] == "text" and f"/{number}/content/{place}" not in hidden
    ]
    assert [block["text"] for block in shown_ if block["type"] == "text"] == plain
    assert len(shown_) + sum("/content/" in pointer for pointer in hidden) == sum(len(message["content"]) for message in written)
    assert patterns_of(MCP, said.losses) == set()


@given(JSON)
def test_any_json_as_messages_is_read_or_refused(value: Any) -> None:
    """What is no message of sampling is Unfit; what is, gives messages that the schemas allow."""
    for given_ in (value, {"role": "user", "content": value}, [{"role": "assistant", "content": [value]}]):
        try:
            read_back = read_messages(given_).value
        except Unfit:
            continue
        for message in read_back:
            assert errors(message, MESSAGES[message["role"]]) == []


def test_a_foreign_conversation_is_read() -> None:
    """The results of tools go to the message that called them, and the assistant goes on in it."""
    conversation: list[Wire] = [
        {"role": "user", "content": {"type": "text", "text": "Weather?"}},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "w", "input": {"city": "Paris"}}]},
        {"role": "user", "content": [{"type": "tool_result", "toolUseId": "1", "content": [{"type": "text", "text": "sunny"}]}]},
        {"role": "assistant", "content": {"type": "text", "text": "Sunny."}, "model": "m", "stopReason": "endTurn"},
    ]
    user, assistant = read_messages(conversation).value
    assert [block["type"] for block in assistant["content"]] == ["tool_call", "tool_result", "text"]
    assert (user["role"], assistant["content"][0]["state"], assistant["metadata"]["mcp"]["model"]) == ("user", "finished", "m")
    assert [message["role"] for message in write_messages([user, assistant]).value] == ["user", "assistant", "user", "assistant"]


# --- the dialect --------------------------------------------------------------------------------


def kind_of(value: Wire) -> str:
    """Name a message as the mapping table does."""
    return "CallToolResult" if "result" in value else value["method"]


@given(st.lists(st.one_of(streams(most=2), tool_rounds()), min_size=1, max_size=2))
def test_the_mapping_table_says_what_happens(drawn: list[list[Wire]]) -> None:
    """What a message of ours is read as is a row of the table, and every class of event has one."""
    rows = {(row.ours, row.theirs) for row in MCP.mapping if row.way == "both"}
    assert {row.ours for row in MCP.mapping} == set(EVENTS.values())
    for stream in drawn:
        assert MCP.decoder is not None
        decoder = MCP.decoder()
        for value in encoded(MCP, readable(stream))[0]:
            for event in decoder.feed(value):
                if value.get("method") != "notifications/cancelled" and getattr(event, "name", "") != "mcp.beside":
                    assert (type(event).__name__, kind_of(value)) in rows


def test_every_row_of_foreign_messages_happens() -> None:
    """The classes that foreign messages are read as are those of the table."""
    seen = {event["type"] for values_, _ in FOREIGN.values() for event in read(values_)[0]}
    assert {row.ours for row in MCP.mapping if row.way == "in"} <= {EVENTS[kind] for kind in seen}


def test_every_loss_is_hit() -> None:
    """Each declared loss is reported by something."""
    head: Wire = {"created_at": "t", "reply_id": "r"}
    stream: list[Wire] = [
        {"id": "1", "type": "REPLY_START", **head, "session_id": "", "name": "n"},
        {"id": "2", "type": "HINT_BLOCK", **head, "block_id": "h", "hint": "h"},
        {"id": "3", "type": "TOOL_CALL_START", **head, "tool_call_id": "c", "tool_call_name": "f"},
        {"id": "4", "type": "TOOL_CALL_DELTA", **head, "tool_call_id": "c", "delta": "[]"},
        {"id": "5", "type": "TOOL_CALL_END", **head, "tool_call_id": "c"},
        {"id": "6", "type": "TOOL_RESULT_START", **head, "tool_call_id": "c", "tool_call_name": "f"},
    ]
    message: Wire = {"id": "1", "name": "s", "role": "system", "created_at": "t", "content": []}
    thought: Wire = {**message, "role": "assistant", "content": [{"type": "thinking", "id": "1", "thinking": "t"}]}
    result = to_result({"type": "tool_result", "id": "c", "name": "f", "output": ""}).value
    result["_meta"]["other"] = 1
    losses = [*encoded(MCP, stream)[1], *write_messages([message, thought]).losses, *from_result(result, "c", "f").losses]
    assert {loss.reason for loss in losses} == set(MCP.losses)


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_streams_are_recognised(name: str) -> None:
    """A stream of MCP is known by its first value."""
    assert MCP.recognise(FOREIGN[name][0][0]) or name in {"not a message", "a method of tomorrow"}


@given(streams(), messages())
def test_nothing_of_ours_is_taken_for_mcp(stream: list[Wire], message: Wire) -> None:
    """No event and no message of ours is recognised."""
    assert not any(MCP.recognise(value) for value in (*stream, message))


A2A: list[Wire] = [
    {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": {}}},
    {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"id": "t"}},
    {"jsonrpc": "2.0", "id": 1, "result": {"task": {"id": "t"}}},
    {"jsonrpc": "2.0", "id": 1, "result": {"artifactUpdate": {}}},
    {"role": "user", "content": [{"type": "text", "text": "a"}]},
    {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
]


@pytest.mark.parametrize("value", A2A)
def test_other_protocols_are_not_taken_for_mcp(value: Wire) -> None:
    """A2A speaks JSON-RPC, too, and a message of text alone may be anybody's."""
    assert not MCP.recognise(value)


@given(st.text())
def test_arguments_are_sent_only_if_all_read_them_alike(text: str) -> None:
    """What is read as an object is an object of JSON; nothing is an empty one."""
    for given_ in (text, f'{{"a": {text}}}', f'{{"{text}": 1}}'):
        arguments = object_of(given_)
        if arguments is not None and given_:
            assert json.loads(given_) == arguments
            assert object_of(text_of(arguments)) == arguments
