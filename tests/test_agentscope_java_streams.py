"""
Streams of AgentScope Java as the real world has them: recordings of real agents, and public bug reports, each with its outcome.

The recordings are held against the messages that the agent itself kept; where those differ for a reason, the difference is
spelled out. What the recordings cannot show, since 2.0.0 does not write it, is written by hand as later versions do.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from dialect_laws import decoded, folded
from support import ROOT, Wire

from eventfold import check_and_fold
from eventfold.dialects.agentscope_java import DIALECT
from eventfold.dialects.translation import fields_of
from eventfold.jsonvalue import is_object

FOLDER = ROOT / "tests/recordings/agentscope-java-2.0.0"
NAMES = sorted(path.name.removesuffix(".events.jsonl") for path in FOLDER.glob("*.events.jsonl"))

#: What the decoder remarks on each recording, and where; those that are not named have none.
REMARKS: dict[str, list[tuple[str, int]]] = {
    # 2.0.0 writes no USER_CONFIRM_RESULT: that the call was approved shows when it has a result, that it was denied when it has none.
    "confirm_approved": [("java.unseen-answer", 17)],
    "confirm_denied": [("java.unseen-answer", 20), ("java.result-unseen", 20)],
    # Nor EXTERNAL_EXECUTION_RESULT: the result is not in the stream.
    "external_resumed": [("java.unseen-answer", 18), ("java.result-unseen", 18)],
    # The stream failed, and that is no event.
    "model_error": [("java.no-end", 2)],
    "model_error_midway": [("java.no-end", 4)],
}
#: What `check` finds in what was read, by event of ours.
FINDINGS: dict[str, list[tuple[str, str, int]]] = {
    "empty_answer": [("reply.no-visible-output", "warning", 7)],
    "external_resumed": [("tool-call.no-result", "error", 22)],
    "input_without_content": [("tool-call.no-arguments", "warning", 3)],
    "interrupt": [("model-call.open-at-failed-end", "warning", 8), ("block.open-at-failed-end", "warning", 8)],
    "interrupt_in_tool": [("block.outside-model-call", "warning", 9)],
    "model_error": [("reply.missing-end", "error", 2)],
    "model_error_midway": [("reply.missing-end", "error", 4)],
}
#: Where the agent's memory is not what its events said: what we have in its place, and why.
DIFFERENT: dict[str, list[tuple[Any, ...]]] = {
    # The memory joins all text of a model call and puts it first; the events show the order in which it came.
    "text_around_tool": [
        ("text", "Before. "),
        ("tool_call", "call_1", "weather", '{"city":"Paris"}'),
        ("text", "After."),
        ("tool_result", "call_1", "weather", "success", "sunny in Paris"),
        ("text", "Done."),
    ],
    # Of a tool that told of its progress, the final output is no event.
    "tool_progress": [
        ("tool_call", "call_1", "slow", "{}"),
        ("tool_result", "call_1", "slow", "success", "10 %, 90 %, "),
        ("text", "Finished."),
    ],
    # A provider that gives no raw text has no deltas (#2593 of AgentScope Python is the same).
    "input_without_content": [
        ("tool_call", "call_1", "weather", ""),
        ("tool_result", "call_1", "weather", "success", "sunny in Paris"),
        ("text", "Sunny."),
    ],
    # The denial has no event (#3097): neither its text nor its place is known.
    "confirm_denied": [
        ("text", "May I?"),
        ("tool_call", "call_1", "delete", '{"city":"/tmp"}'),
        ("tool_call", "call_2", "weather", '{"city":"Paris"}'),
        ("tool_result", "call_2", "weather", "success", "sunny in Paris"),
        ("tool_result", "call_1", "delete", "denied", ""),
        ("text", "Done."),
    ],
    # The memory holds no result of a call that waits; here it has begun. The placeholder is no output (#2798).
    "external_parked": [
        ("tool_call", "call_1", "outside", '{"city":"x"}'),
        ("tool_call", "call_2", "weather", '{"city":"Rome"}'),
        ("tool_result", "call_1", "outside", "running", ""),
        ("tool_result", "call_2", "weather", "success", "sunny in Rome"),
    ],
    "external_resumed": [
        ("tool_call", "call_1", "outside", '{"city":"x"}'),
        ("tool_call", "call_2", "weather", '{"city":"Rome"}'),
        ("tool_result", "call_1", "outside", "running", ""),
        ("tool_result", "call_2", "weather", "success", "sunny in Rome"),
        ("text", "Outside says 42."),
    ],
    # The memory forgets what a failed model call said.
    "model_error_midway": [("text", "Half an ")],
}
#: How each reply ended; parked and broken ones did not.
ENDS = {
    **dict.fromkeys(NAMES, "completed"),
    **dict.fromkeys(("confirm_parked", "external_parked", "model_error", "model_error_midway"), None),
    "max_iters": "exceed_max_iters",
    "interrupt": "interrupted",
    "interrupt_in_tool": "interrupted",
}

each_recording = pytest.mark.parametrize("name", NAMES)


def lines(name: str) -> list[Wire]:
    """Read a recording's events."""
    return [json.loads(line) for line in (FOLDER / f"{name}.events.jsonl").read_text("utf-8").splitlines()]


def read(values: list[Any]) -> tuple[list[Any], list[tuple[str, int]]]:
    """Read a stream: the events, and the remarks with the index of their value."""
    assert DIALECT.decoder is not None
    decoder = DIALECT.decoder()
    events: list[Any] = []
    remarks: list[tuple[str, int]] = []
    for value in values:
        events += decoder.feed(value)
        remarks += [(remark.rule, decoder.index) for remark in decoder.remarks]
    events += decoder.finish()
    assert decoder.losses == []
    return events, remarks + [(remark.rule, decoder.index) for remark in decoder.remarks]


def findings(events: list[Any]) -> list[tuple[str, str, int]]:
    """Check events of ours."""
    text = b"".join(json.dumps(fields_of(event)).encode() + b"\n" for event in events)
    return [(found.rule, str(found.severity), found.index) for found in check_and_fold(text).findings]


def told(content: list[Wire]) -> list[tuple[Any, ...]]:
    """Say what the blocks of a message of ours tell, without ids of ours and times."""
    said: list[tuple[Any, ...]] = []
    for block in content:
        kind = block["type"]
        if kind == "tool_call":
            said.append((kind, block["id"], block["name"], block["input"]))
        elif kind == "tool_result":
            text = "".join(part.get("text", part.get("source", {}).get("data", "")) for part in block["output"])
            said.append((kind, block["id"], block["name"], block["state"], text))
        else:
            said.append((kind, block[kind]))
    return said


def remembered(memory: list[Wire]) -> list[tuple[Any, ...]]:
    """Say what an agent's own messages tell, after the user's."""
    said: list[tuple[Any, ...]] = []
    for block in (block for message in memory if message["role"] != "USER" for block in message["content"]):
        kind = block["type"]
        if kind == "tool_use":
            said.append(("tool_call", block["id"], block["name"], block["content"]))
        elif kind == "tool_result":
            text = "".join(part.get("text", part.get("source", {}).get("data", "")) for part in block["output"])
            said.append((kind, block["id"], block["name"], block["state"], text))
        else:
            said.append((kind, block[kind]))
    return said


def test_all_recordings_are_there() -> None:
    """There are 21, and what is said of recordings names none that is not there."""
    assert len(NAMES) == 21
    assert {*REMARKS, *FINDINGS, *DIFFERENT} <= set(NAMES)


@each_recording
def test_a_recording_folds_to_what_the_agent_kept(name: str) -> None:
    """One reply, whose blocks are those of the agent's memory, or what is spelled out above."""
    [message] = folded(read(lines(name))[0])
    memory = json.loads((FOLDER / f"{name}.message.json").read_text("utf-8"))
    assert told(message["content"]) == DIFFERENT.get(name, remembered(memory))
    assert message.get("finished_reason") == ENDS[name]
    assert message["id"] == lines(name)[0]["replyId"]


@each_recording
def test_a_recording_has_exactly_its_remarks_and_findings(name: str) -> None:
    """What a real agent finished or parked has none of severity error, but for the result that 2.0.0 does not write."""
    events, remarks = read(lines(name))
    assert remarks == REMARKS.get(name, [])
    assert findings(events) == FINDINGS.get(name, [])


@each_recording
def test_usage_is_the_sum_of_the_model_calls(name: str) -> None:
    """Cached tokens are a part of the input tokens, here as there."""
    usages = [event["usage"] for event in lines(name) if event["type"] == "MODEL_CALL_END"]
    [message] = folded(read(lines(name))[0])
    names = {"input_tokens": "inputTokens", "output_tokens": "outputTokens", "cache_input_tokens": "cachedTokens"}
    sums = {ours: sum(usage[theirs] for usage in usages) for ours, theirs in names.items()}
    assert message.get("usage") == ({**sums, "cache_creation_input_tokens": 0} if usages else None)


@each_recording
def test_the_memory_of_an_agent_is_read_as_one_reply(name: str) -> None:
    """The stored messages of a call are a user's message and one reply, which tells the same."""
    assert DIALECT.read_messages is not None
    memory = json.loads((FOLDER / f"{name}.message.json").read_text("utf-8"))
    user, *replies = DIALECT.read_messages(memory).value
    assert (user["role"], user["content"][0]["text"]) == ("user", "Go")
    # A failed call is forgotten.
    assert len(replies) == (0 if name.startswith("model_error") else 1)
    assert [block for reply in replies for block in told(reply["content"])] == remembered(memory)
    assert DIALECT.read_messages({"session_id": "s", "context": memory}).value == [user, *replies]


# --- by hand ------------------------------------------------------------------------------------

MEMORY = {"inputTokens": 9, "outputTokens": 3, "cachedTokens": 2, "time": 0.5, "totalTokens": 12}


class Script:
    """Writes Java events with ids and times of their own."""

    def __init__(self, *events: Wire) -> None:
        self.events: list[Wire] = []
        self.say(*events)

    def say(self, *events: Wire) -> Script:
        """Add events."""
        for event in events:
            number = len(self.events)
            self.events.append({"id": f"{number:032x}", "createdAt": f"2026-08-22T08:00:{number:02}.5Z", **event})
        return self

    def read(self) -> tuple[list[Wire], list[tuple[str, int]], list[tuple[str, str, int]]]:
        """Give the messages, the remarks and the findings."""
        events, remarks = read(self.events)
        return folded(events), remarks, findings(events)


def start(reply: str | None = "r", name: str = "bot", **more: Any) -> Wire:
    """Begin an agent call."""
    return {"type": "AGENT_START", **({"replyId": reply} if reply is not None else {}), "name": name, "role": "assistant", **more}


def end(reply: str | None = "r", **more: Any) -> Wire:
    """End an agent call."""
    return {"type": "AGENT_END", **({"replyId": reply} if reply is not None else {}), **more}


def text(model: str, *deltas: str, block: str = "text", **more: Any) -> list[Wire]:
    """Say a text."""
    head = {"replyId": model, "blockId": block, **more}
    return [
        {"type": "TEXT_BLOCK_START", **head},
        *({"type": "TEXT_BLOCK_DELTA", **head, "delta": delta} for delta in deltas),
        {"type": "TEXT_BLOCK_END", **head},
    ]


def model(key: str, *events: Wire, **more: Any) -> list[Wire]:
    """Call a model."""
    return [
        {"type": "MODEL_CALL_START", "replyId": key, **more},
        *events,
        {"type": "MODEL_CALL_END", "replyId": key, "usage": MEMORY, **more},
    ]


def call(model_id: str, key: str, arguments: str = "{}", name: str = "weather") -> list[Wire]:
    """Call a tool."""
    head = {"replyId": model_id, "toolCallId": key, "toolCallName": name}
    return [{"type": "TOOL_CALL_START", **head}, {"type": "TOOL_CALL_DELTA", **head, "delta": arguments}, {"type": "TOOL_CALL_END", **head}]


def result(acting: str, key: str, output: str = "ok", state: str | None = "success", **more: Any) -> list[Wire]:
    """Give a result."""
    head = {"replyId": acting, "toolCallId": key, "toolCallName": "weather"}
    last = {"type": "TOOL_RESULT_END", **head, **({"state": state} if state else {}), **more}
    return [{"type": "TOOL_RESULT_START", **head}, {"type": "TOOL_RESULT_TEXT_DELTA", **head, "delta": output}, last]


def use(key: str, content: str | None = "{}", state: str = "pending", **given: Any) -> Wire:
    """Write a tool_use block."""
    return {"type": "tool_use", "id": key, "name": "weather", "input": given, "content": content, "metadata": {}, "state": state}


def said(message: str, *blocks: Wire, **metadata: Any) -> Wire:
    """Write an AGENT_RESULT with a text, and other blocks."""
    content = [*({"type": "text", "text": part} for part in [message] if part), *blocks]
    result = {"id": "resp", "name": "bot", "role": "ASSISTANT", "content": content, "metadata": metadata}
    return {"type": "AGENT_RESULT", "result": {**result, "timestamp": "2026-08-22 16:00:00.123", "usage": None}}


def test_an_answer_resumes_the_reply_that_asked() -> None:
    """As 2.0.2 writes it (#2511): the answer has the replyId of the question, and AGENT_END between them ends nothing."""
    ask = {"type": "REQUIRE_USER_CONFIRM", "replyId": "a1", "toolCalls": [use("c")]}
    stop = {"type": "REQUEST_STOP", "reason": "permission asking", "generateReason": "PERMISSION_ASKING"}
    parked = Script(start(), *model("m1", *call("m1", "c")), ask, stop)
    parked.say(said("", use("c", state="asking"), agentscope_generate_reason="PERMISSION_ASKING"), end())
    answer = {
        "type": "USER_CONFIRM_RESULT",
        "replyId": "a1",
        "confirmResults": [{"confirmed": True, "toolCall": use("c", None, city="Rome"), "rules": None}],
    }
    [message], _, _ = parked.read()
    assert message["content"][0]["state"] == "asking"
    assert "finished_at" not in message
    parked.say(start("r2"), answer, *result("a2", "c"), *model("m2", *text("m2", "Done.")), said("Done."), end("r2"))
    [message], remarks, found = parked.read()
    # The call is what the user confirmed: edited, and without raw text (#2495), so that the object stands for it.
    assert told(message["content"]) == [
        ("tool_call", "c", "weather", '{"city":"Rome"}'),
        ("tool_result", "c", "weather", "success", "ok"),
        ("text", "Done."),
    ]
    assert (message["id"], message["finished_reason"]) == ("r", "completed")
    assert (remarks, found) == ([], [])


def test_a_denied_call_without_a_result_event_is_denied() -> None:
    """The user denies, and Java writes no event for the result (#3097): it is said before the model is called again."""
    ask = {"type": "REQUIRE_USER_CONFIRM", "replyId": "a1", "toolCalls": [use("c")]}
    answer: Wire = {
        "type": "USER_CONFIRM_RESULT",
        "replyId": "a1",
        "confirmResults": [{"confirmed": False, "toolCall": use("c"), "rules": []}],
    }
    script = Script(start(), *model("m1", *call("m1", "c"), *call("m1", "d")), ask, end(), start("r2"), answer)
    script.say(*model("m2", *text("m2", "No.")), end("r2"))
    [message], remarks, found = script.read()
    # The other call of the batch has no event either: a rule denied it.
    assert told(message["content"])[2:] == [
        ("tool_result", "c", "weather", "denied", ""),
        ("tool_result", "d", "weather", "denied", ""),
        ("text", "No."),
    ]
    assert [rule for rule, _ in remarks] == ["java.result-unseen", "java.result-unseen"]
    assert found == []


def test_an_external_result_takes_the_place_of_the_placeholder() -> None:
    """As 2.0.2 writes it (#2605): END(running), the request, and the result when it comes; `[Awaiting external execution]` is no output."""
    hand = {"type": "REQUIRE_EXTERNAL_EXECUTION", "replyId": "a1", "toolCalls": [use("c")]}
    suspended = {"agentscope_suspended": True}
    script = Script(
        start(), *model("m1", *call("m1", "c")), *result("a1", "c", "[Awaiting external execution]", "running", metadata=suspended), hand
    )
    script.say(said("", agentscope_generate_reason="TOOL_SUSPENDED"), end())
    [message], _, found = script.read()
    assert [block.get("output") for block in message["content"]] == [None, []]
    assert found == []
    given: Wire = {
        "type": "tool_result",
        "id": "c",
        "name": None,
        "output": [{"type": "text", "text": "42"}],
        "metadata": {},
        "state": "success",
    }
    script.say(start("r2"), {"type": "EXTERNAL_EXECUTION_RESULT", "replyId": "a1", "toolResults": [given]})
    script.say(*model("m2", *text("m2", "It is 42.")), said("It is 42."), end("r2"))
    [message], _, found = script.read()
    assert told(message["content"]) == [
        ("tool_call", "c", "weather", "{}"),
        ("tool_result", "c", "weather", "success", "42"),
        ("text", "It is 42."),
    ]
    assert (message["finished_reason"], found) == ("completed", [])


def test_a_suspended_call_may_be_run_after_all() -> None:
    """Handed out twice, then run by the agent: the placeholders are no output, and the deltas of the last run are."""
    suspended = result("a1", "c", "[Awaiting external execution]", "running")
    script = Script(
        start(), *model("m1", *call("m1", "c")), *suspended, said("", use("c"), agentscope_generate_reason="TOOL_SUSPENDED"), end()
    )
    script.say(start("r2"), *suspended, end("r2"), start("r3"), result("a3", "c")[0])
    script.say(*(result("a3", "c", delta)[1] for delta in ("4", "2")), result("a3", "c")[2], *model("m2", *text("m2", "Done.")), end("r3"))
    [message], _, found = script.read()
    assert told(message["content"])[1] == ("tool_result", "c", "weather", "success", "42")
    assert (message["finished_reason"], found) == ("completed", [])


def test_two_parked_replies_are_told_apart_by_the_answer() -> None:
    """Of several parked replies of one agent, the one goes on whose question the answer names."""
    first = [
        start("r1"),
        *model("m1", *call("m1", "c1")),
        {"type": "REQUIRE_USER_CONFIRM", "replyId": "a1", "toolCalls": [use("c1")]},
        end("r1"),
    ]
    other = [
        start("r2", "second"),
        *model("m2", *call("m2", "c2")),
        {"type": "REQUIRE_USER_CONFIRM", "replyId": "a2", "toolCalls": [use("c2")]},
        end("r2"),
    ]
    answer = {"type": "USER_CONFIRM_RESULT", "replyId": "a1", "confirmResults": [{"confirmed": True, "toolCall": use("c1")}]}
    messages, remarks, _ = Script(
        *first, *other, start("r3"), answer, *result("a3", "c1"), *model("m3", *text("m3", "x")), end("r3")
    ).read()
    assert [message.get("finished_reason") for message in messages] == ["completed", None]
    assert remarks == []


def test_arguments_of_interleaved_calls_come_together() -> None:
    """START A, END A, START B, END B, START A again, and fragments under a placeholder name or no id at all (#1758, #418)."""
    head = {"replyId": "m", "toolCallName": "__fragment__"}
    script = Script(
        start(),
        *model(
            "m",
            *call("m", "a", '{"x"'),
            *call("m", "b", '{"y"'),
            *call("m", "a", ":1"),
            *[
                {"type": "TOOL_CALL_DELTA", **head, "toolCallId": "a", "delta": "}"},
                {"type": "TOOL_CALL_DELTA", **head, "toolCallId": "b", "delta": ":2"},
                {"type": "TOOL_CALL_DELTA", **head, "toolCallId": "", "delta": "}"},
            ],
        ),
        *result("a1", "a"),
        *result("a1", "b"),
        *model("m2", *text("m2", "ok")),
        end(),
    )
    [message], remarks, found = script.read()
    assert told(message["content"])[:2] == [("tool_call", "a", "weather", '{"x":1}'), ("tool_call", "b", "weather", '{"y":2}')]
    assert (remarks, found) == ([], [])


def test_a_sub_agent_is_a_reply_of_its_own() -> None:
    """Its START and END have no replyId (#2498), its blocks have the parent's ids, and its END may come late."""
    path = {"source": "main/researcher"}
    child = [start(None, "researcher", sessionId="child", **path), *model("m2", *text("m2", "found", **path), **path)]
    script = Script(start(), {"type": "SUBAGENT_EXPOSED", "subagentId": "s", "agentId": "researcher", "sessionId": "child", "label": "R"})
    script.say(*model("m1", *call("m1", "c")), *result("a", "c")[:1], *child, *result("a", "c")[1:])
    script.say(*model("m3", *text("m3", "Done.")), end(None, **path), end())
    parent, sub = script.read()[0]
    assert told(parent["content"]) == [
        ("tool_call", "c", "weather", "{}"),
        ("tool_result", "c", "weather", "success", "ok"),
        ("text", "Done."),
    ]
    assert (sub["name"], sub["finished_reason"], told(sub["content"])) == ("researcher", "completed", [("text", "found")])
    assert script.read()[1:] == ([], [])
    events, _ = read(script.events)
    paths = {(fields_of(event).get("reply_id"), fields_of(event).get("source_path")) for event in events}
    assert {("r", None), ("main/researcher/1", "main/researcher")} <= paths


def test_max_iterations_without_a_tag() -> None:
    """The summary call fails (#2754): EXCEED_MAX_ITERS tells all the same, and the text that only AGENT_RESULT has is shown."""
    exceed = {"type": "EXCEED_MAX_ITERS", "replyId": "", "maxIters": 1, "currentIter": 1}
    script = Script(start(), *model("m1", *call("m1", "c")), *result("a", "c"), exceed, model("m2")[0], said("Maximum iterations."), end())
    [message], remarks, found = script.read()
    assert (message["finished_reason"], told(message["content"])[-1]) == ("exceed_max_iters", ("text", "Maximum iterations."))
    assert remarks == [("java.model-call-no-end", 12)]
    assert found == []


def test_what_only_agent_result_says_gets_into_the_message() -> None:
    """A structured output, and why the agent stopped."""
    result_event = said("", _structured_output={"city": "Rome"}, agentscope_generate_reason="STRUCTURED_OUTPUT")
    [message], remarks, found = Script(start(), *model("m1"), result_event, end()).read()
    assert message["structured_output"] == {"city": "Rome"}
    assert message["metadata"] == {"agentscope_generate_reason": "STRUCTURED_OUTPUT"}
    assert remarks == []
    assert [rule for rule, _, _ in found] == ["reply.no-visible-output"]


def test_nothing_is_dropped_silently() -> None:
    """Unknown fields, unknown events, other blocks in a result: all of it is kept."""
    picture = {"type": "image", "source": {"type": "url", "url": "https://x.test/y"}, "minPixels": 4}
    data = {"type": "TOOL_RESULT_DATA_DELTA", "replyId": "a", "toolCallId": "c", "toolCallName": "weather", "data": picture}
    thought = {**data, "data": {"type": "thinking", "thinking": "hm", "metadata": None}}
    script = Script(start(novel=1), *model("m1", *call("m1", "c")), *result("a", "c")[:1], data, thought, *result("a", "c")[1:])
    script.say(
        {"type": "TOMORROW", "x": 1}, {"type": "HINT_BLOCK", "replyId": "z", "blockId": "h", "hintSource": "inbox", "hint": "mind"}, end()
    )
    events, remarks = read(script.events)
    assert remarks == [("dialect.unknown", 11)]
    kept = json.dumps([fields_of(event) for event in events])
    assert all(word in kept for word in ("novel", "minPixels", "TOMORROW", "hm", "inbox"))
    [message] = folded(events)
    assert [part["type"] for part in message["content"][1]["output"]] == ["data", "text"]
    assert message["content"][2]["source"] == "inbox"


def test_frames_carry_events_and_older_ones_tell_of_them() -> None:
    """RemoteAgentEvent: the payload is the event, its doubled key too; a server without payloads gives neither ids nor starts (#2613)."""

    def frame(number: int, kind: str, event: Wire | None = None, **more: Any) -> Wire:
        payload = {"payload": json.dumps(event)[:-1] + f', "type": "{event["type"]}"}}'} if event is not None else {}
        return {"seq": number, "type": kind, "taskId": "t", "agentId": "bot", "timestamp": "2026-08-22T08:00:00Z", **payload, **more}

    inner = Script(start(), *model("m", *text("m", "hi")), end()).events
    frames = [frame(i + 1, "AGENT_EVENT", event) for i, event in enumerate(inner)]
    events, remarks = read([*frames, frames[-1]])
    assert (told(folded(events)[0]["content"]), remarks) == ([("text", "hi")], [("java.frame-repeated", len(inner))])
    assert read([frames[0], *frames[2:]])[1][0] == ("java.frame-gap", 1)
    old = [
        frame(1, "RUN_STARTED"),
        frame(2, "TEXT_DELTA", text="Hel"),
        frame(3, "TEXT_DELTA", text="lo"),
        frame(4, "TOOL_CALL_START", toolCallId="c", toolName="weather"),
        frame(5, "TOOL_CALL_END", toolCallId="c", toolName="weather", toolInput='{"a":1}'),
        frame(6, "TOOL_RESULT", toolCallId="c", toolName="weather", text="ok", status="SUCCESS"),
        frame(7, "STATUS", status="success"),
        frame(8, "RUN_FINISHED"),
    ]
    events, remarks = read(old)
    assert DIALECT.recognise(old[0])
    assert told(folded(events)[0]["content"]) == [
        ("text", "Hello"),
        ("tool_call", "c", "weather", '{"a":1}'),
        ("tool_result", "c", "weather", "success", "ok"),
    ]
    assert (remarks, findings(events)) == ([], [])


#: A stream for each rule: where it fires.
BREAKS: dict[str, tuple[list[Any], int]] = {
    "dialect.unfit": ([start(), {"type": "TEXT_BLOCK_START", "replyId": "m"}, end()], 1),
    "dialect.unknown": ([{"type": "RUN_STARTED", "createdAt": "t", "replyId": "r"}], 0),
    "java.no-end": ([start(), *model("m", *text("m", "x"))[:3]], 4),
    "java.not-started": ([*model("m", *text("m", "x")), end("m")], 0),
    "java.after-end": (
        [start(), *model("m", *call("m", "c")), *result("a", "c"), *model("n", *text("n", "x")), end(), *result("a", "c")[2:]],
        15,
    ),
    "java.unknown-answer": (
        [
            start(),
            *model("m", *call("m", "c")),
            {"type": "USER_CONFIRM_RESULT", "replyId": "?", "confirmResults": []},
            *result("a", "c"),
            end(),
        ],
        6,
    ),
    "java.unseen-answer": (
        [
            start(),
            *model("m", *call("m", "c")),
            {"type": "REQUIRE_USER_CONFIRM", "replyId": "a", "toolCalls": [use("c")]},
            end(),
            start("r2"),
            *result("a", "c"),
            end(),
        ],
        9,
    ),
    "java.result-differs": ([start(), *model("m", *text("m", "x")), said("y"), end()], 6),
    "java.model-call-no-end": (
        [start(), {"type": "EXCEED_MAX_ITERS", "replyId": "", "maxIters": 1, "currentIter": 1}, model("m")[0], said("x"), end()],
        4,
    ),
    "java.call-no-start": ([start(), *model("m", *call("m", "c", "{}", "__fragment__")[1:]), *result("a", "c"), end()], 2),
    "java.result-unseen": ([start(), *model("m", *call("m", "c")), *model("n", *text("n", "x")), end()], 6),
    "java.result-no-state": ([start(), *model("m", *call("m", "c")), *result("a", "c", "ok", None), end()], 8),
    "java.repeated": (
        [{**start(), "id": "1"}, {**start(), "id": "1", "createdAt": "2026-08-22T08:00:00.5Z"}, *model("m", *text("m", "x")), end()],
        1,
    ),
    "java.frame-gap": ([{"seq": 1, "type": "STATUS", "taskId": "t"}, {"seq": 3, "type": "STATUS", "taskId": "t"}], 1),
    "java.frame-repeated": ([{"seq": 1, "type": "STATUS", "taskId": "t"}, {"seq": 1, "type": "STATUS", "taskId": "t"}], 1),
}


def test_every_rule_has_a_stream_that_breaks_it() -> None:
    """No rule is without one."""
    assert set(BREAKS) == set(DIALECT.rules)


@pytest.mark.parametrize("rule", BREAKS)
def test_a_rule_fires_where_it_is_broken(rule: str) -> None:
    """Once, at the right place; the decoder goes on after it."""
    values, index = BREAKS[rule]
    if not rule.startswith("java.frame-"):
        values = Script(*values).events
    assert [found for found in read(values)[1] if found[0] == rule] == [(rule, index)]


def test_the_mapping_table_is_true_of_what_comes_in() -> None:
    """Each Java event is read as the class of its row."""
    rows = {(row.ours, row.theirs) for row in DIALECT.mapping if row.way in {"both", "in"} and row.ours.endswith("Event")}
    block = {"replyId": "m", "blockId": "b"}
    denied = {"type": "ALL_TOOLS_DENIED", "deniedToolCalls": [use("c")]}
    custom: Wire = {"type": "CUSTOM", "name": "state_updated", "value": {"tasks": []}}
    data = {"type": "data", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}, "id": "d1"}
    ask, hand = ({"type": kind, "replyId": "a", "toolCalls": [use("e")]} for kind in ("REQUIRE_USER_CONFIRM", "REQUIRE_EXTERNAL_EXECUTION"))
    script = Script(start(), model("m")[0], *text("m", "x"))
    script.say(*({**event, "type": event["type"].replace("TEXT", "THINKING")} for event in text("m", "x", block="thinking")))
    script.say(
        {"type": "DATA_BLOCK_START", **block}, {"type": "DATA_BLOCK_DELTA", **block, "delta": "aGVs"}, {"type": "DATA_BLOCK_END", **block}
    )
    script.say({"type": "HINT_BLOCK", **block, "hint": "h"}, *call("m", "c"), *call("m", "e"), model("m")[1])
    script.say(
        *result("a", "c")[:2], {"type": "TOOL_RESULT_DATA_DELTA", "replyId": "a", "toolCallId": "c", "data": data}, result("a", "c")[2]
    )
    script.say({"type": "EXCEED_MAX_ITERS", "replyId": "", "maxIters": 1, "currentIter": 1}, ask)
    script.say({"type": "USER_CONFIRM_RESULT", "replyId": "a", "confirmResults": [{"confirmed": True, "toolCall": use("e")}]}, hand)
    given: Wire = {"type": "tool_result", "id": "e", "name": "weather", "output": [], "metadata": {}, "state": "success"}
    script.say({"type": "EXTERNAL_EXECUTION_RESULT", "replyId": "a", "toolResults": [given]})
    script.say(*result("a", "f", "x", "running", metadata={"why": "later"}), custom, denied, {"type": "TOMORROW"}, said("x"))
    script.say({"type": "REQUEST_STOP", "reason": "r"}, {"type": "SUBAGENT_EXPOSED", "subagentId": "s", "agentId": "a", "sessionId": "t"})
    script.say({"type": "EXTERNAL_EXECUTION_RESULT", "replyId": "a", "toolResults": [{**given, "id": "f"}]}, end())
    events, _ = read(script.events)
    types = {value["id"]: value["type"] for value in script.events}
    names = {event.id: type(event).__name__ for event in events}
    pairs = {(names[key], "any other type" if kind == "TOMORROW" else kind) for key, kind in types.items() if key in names}
    # What we say as CUSTOM comes back as what it was; see the laws.
    assert pairs == {row for row in rows if row not in {("UserInterruptEvent", "CUSTOM"), ("AllToolsDeniedEvent", "CUSTOM")}}


def test_arguments_that_are_text_only_are_kept() -> None:
    """agentscope-java #1526: a fragment of a call has an empty input, and what was said of it is in its content."""
    said = '{"productName": "'
    block: Wire = {"type": "tool_use", "id": "c1", "name": "__fragment__", "input": {}, "content": said}
    assert DIALECT.read_messages is not None
    [reply] = DIALECT.read_messages([{"id": "a", "name": "bot", "role": "ASSISTANT", "content": [block], "metadata": {}}]).value
    assert [(call["id"], call["input"]) for call in reply["content"]] == [("c1", said)]


def test_stored_messages_keep_what_is_not_ours() -> None:
    """Older blocks, names that are null, pixel fields, several messages in one reply: all of it is read, and kept."""
    image = {
        "type": "image",
        "source": {"type": "url", "url": "https://x.test/y.png", "mime_type": "image/png"},
        "minPixels": 1,
        "maxPixels": 2,
    }
    stored: list[Wire] = [
        {
            "id": "u",
            "name": None,
            "role": "USER",
            "content": [image],
            "metadata": {},
            "timestamp": "2026-08-22 16:00:00.123",
            "usage": None,
        },
        {
            "id": "s",
            "name": "s",
            "role": "SYSTEM",
            "content": [{"type": "text", "text": "be terse"}],
            "metadata": {},
            "timestamp": None,
            "usage": None,
        },
        {
            "id": "chatcmpl-1",
            "name": "bot",
            "role": "ASSISTANT",
            "content": [
                {"type": "thinking", "thinking": "hm", "metadata": {"reasoningDetails": [1]}},
                use("c", None, "asking", city="Paris"),
            ],
            "metadata": {"agentscope_generate_reason": "PERMISSION_ASKING"},
            "timestamp": "2026-08-22 16:00:00.123",
            "usage": MEMORY,
        },
    ]
    assert DIALECT.read_messages is not None
    user, system, reply = DIALECT.read_messages(stored).value
    assert user["content"] == [
        {
            "type": "image",
            "source": {"type": "url", "url": "https://x.test/y.png", "media_type": "image/png"},
            "x_agentscope_java": {"minPixels": 1, "maxPixels": 2},
        }
    ]
    assert (user["name"], user["created_at"], system["content"][0]["text"]) == ("", "2026-08-22T16:00:00.123", "be terse")
    assert "finished_at" not in reply
    assert reply["content"][0]["metadata"] == {"reasoningDetails": [1]}
    assert (reply["content"][1]["input"], reply["content"][1]["state"]) == ('{"city":"Paris"}', "asking")
    assert reply["usage"] == {"input_tokens": 9, "output_tokens": 3, "cache_input_tokens": 2}
    assert reply["metadata"]["agentscope_java"]["messages"][0]["usage"] == MEMORY


def test_two_sub_agents_and_their_parent_are_interleaved() -> None:
    """Events of several sources in any order keep apart, also with one block id for all."""
    script = Script(start())
    for name in ("one", "two"):
        script.say(start(f"r-{name}", name, source=f"main/{name}"), model(f"m-{name}", source=f"main/{name}")[0])
    pieces = [text(f"m-{name}", name.upper(), source=f"main/{name}") for name in ("one", "two")]
    for one, two in zip(*pieces, strict=True):
        script.say(one, two)
    for name in ("two", "one"):
        script.say(model(f"m-{name}", source=f"main/{name}")[1], end(f"r-{name}", source=f"main/{name}"))
    script.say(*model("m", *text("m", "both")), end())
    messages, remarks, found = script.read()
    assert [told(message["content"]) for message in messages] == [[("text", "both")], [("text", "ONE")], [("text", "TWO")]]
    assert (remarks, found) == ([], [])


def test_decoding_shares_nothing() -> None:
    """Changing what was read changes nothing of what was given, and reading changes nothing of it."""
    value: Wire = {"type": "CUSTOM", "id": "1", "createdAt": "t", "name": "n", "value": {"list": [1]}, "metadata": {"k": {}}}
    [event], _, _ = decoded(DIALECT, [value])
    assert is_object(event.value)
    event.value["list"].append(2)
    event.metadata["k"]["x"] = 1
    assert value["value"] == {"list": [1]}
    assert value["metadata"] == {"k": {}}
