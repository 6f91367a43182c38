"""
Streams of AG-UI, written by hand and drawn: each rule broken once, what the real world sends, and what a mutation makes of it.

The names in WORLD that AG-UI's own conformance corpus has (spec/1.1/conformance/streams) stand for the same situations, in our
own words. Each comes with a part of what the fold makes of it, and with the rules that are broken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn
    from support import Wire

RUN: Wire = {"type": "RUN_STARTED", "threadId": "t", "runId": "r", "protocolVersion": "1.0"}
AGAIN: Wire = {**RUN, "runId": "r2"}
DONE: Wire = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
ERROR: Wire = {"type": "RUN_ERROR", "message": "boom", "code": "rate_limit"}


def text(key: str, *deltas: str, **more: Any) -> list[Wire]:
    """Write a text message."""
    tag = {name: value for name, value in more.items() if name == "subagentRunId"}
    body: list[Wire] = [{"type": "TEXT_MESSAGE_CONTENT", "messageId": key, "delta": delta, **tag} for delta in deltas]
    return [{"type": "TEXT_MESSAGE_START", "messageId": key, **more}, *body, {"type": "TEXT_MESSAGE_END", "messageId": key, **tag}]


def thought(key: str, *deltas: str) -> list[Wire]:
    """Write a reasoning message."""
    body: list[Wire] = [{"type": "REASONING_MESSAGE_CONTENT", "messageId": key, "delta": delta} for delta in deltas]
    start = {"type": "REASONING_MESSAGE_START", "messageId": key, "role": "reasoning"}
    return [start, *body, {"type": "REASONING_MESSAGE_END", "messageId": key}]


def call(key: str, *deltas: str, **more: Any) -> list[Wire]:
    """Write a tool call."""
    body: list[Wire] = [{"type": "TOOL_CALL_ARGS", "toolCallId": key, "delta": delta} for delta in deltas]
    return [
        {"type": "TOOL_CALL_START", "toolCallId": key, "toolCallName": "f", **more},
        *body,
        {"type": "TOOL_CALL_END", "toolCallId": key},
    ]


def result(key: str, content: Any = "ok", **more: Any) -> Wire:
    """Write the result of a call."""
    return {"type": "TOOL_CALL_RESULT", "messageId": f"{key}:result", "toolCallId": key, "content": content, **more}


def chunk(kind: str, **fields: Any) -> Wire:
    """Write a chunk."""
    return {"type": f"{kind}_CHUNK", **fields}


def step(kind: str, **fields: Any) -> Wire:
    """Write an event of a step."""
    return {"type": f"STEP_{kind}", "stepName": "s", **fields}


def agent(kind: str, key: str = "s1", **fields: Any) -> Wire:
    """Write an event of a sub-agent."""
    name = {"STARTED": {"name": "helper"}, "ERROR": {"message": "boom"}}.get(kind, {})
    return {"type": f"SUBAGENT_{kind}", "subagentRunId": key, **name, **fields}


def finished(**fields: Any) -> Wire:
    """Write the end of a run."""
    return {**DONE, **fields}


def asking(*interrupts: Wire) -> Wire:
    """Write the end of a run that asks."""
    return finished(outcome={"type": "interrupt", "interrupts": list(interrupts)})


class Fault(NamedTuple):
    """A stream that breaks a rule: at an event, by clashing with an earlier one."""

    events: list[Any]
    at: int
    related: int | None = None


_SPAN: Wire = {"type": "REASONING_START", "messageId": "m"}
_PLAIN = {"role": "tool", "toolCallId": "c", "id": "x", "content": "1"}
#: The rules, each broken once.
FAULTS: dict[str, Fault] = {
    "agui.run-not-started": Fault(text("m", "x"), 0),
    "agui.after-run-error": Fault([RUN, ERROR, *text("m")], 2, 1),
    "agui.after-run-finished": Fault([RUN, DONE, *text("m")], 2, 1),
    "agui.run-nested": Fault([RUN, AGAIN, DONE], 1, 0),
    "agui.text-already-open": Fault([RUN, text("m")[0], *text("m"), DONE], 2, 1),
    "agui.text-not-open": Fault([RUN, text("m", "x")[1]], 1),
    "agui.text-end-not-open": Fault([RUN, text("m")[1]], 1),
    "agui.call-already-open": Fault([RUN, call("c")[0], *call("c"), DONE], 2, 1),
    "agui.call-args-not-open": Fault([RUN, *call("c"), call("c", "x")[1]], 3),
    "agui.call-end-not-open": Fault([RUN, call("c")[1]], 1),
    "agui.span-already-open": Fault([RUN, _SPAN, _SPAN], 2, 1),
    "agui.span-not-open": Fault([RUN, {**_SPAN, "type": "REASONING_END"}], 1),
    "agui.reasoning-already-open": Fault([RUN, thought("m")[0], thought("m")[0]], 2, 1),
    "agui.reasoning-not-open": Fault([RUN, _SPAN, thought("m", "x")[1]], 2),
    "agui.reasoning-end-not-open": Fault([RUN, thought("m")[1]], 1),
    "agui.step-already-open": Fault([RUN, step("STARTED"), step("STARTED")], 2, 1),
    "agui.step-not-open": Fault([RUN, step("FINISHED")], 1),
    "agui.step-other-owner": Fault([RUN, step("STARTED"), step("FINISHED", subagentRunId="a")], 2, 1),
    "agui.open-at-run-finished": Fault([RUN, text("m")[0], DONE], 2, 1),
    "agui.subagent-already-active": Fault([RUN, agent("STARTED"), agent("STARTED")], 2, 1),
    "agui.subagent-reused": Fault([RUN, agent("STARTED"), agent("FINISHED"), agent("STARTED")], 3, 2),
    "agui.subagent-parent-unknown": Fault([RUN, agent("STARTED", parentSubagentRunId="p")], 1),
    "agui.subagent-not-active": Fault([RUN, agent("ERROR")], 1),
    "agui.attribution": Fault([RUN, text("m")[0], {**text("m", "x")[1], "subagentRunId": "s1"}], 2, 1),
    "agui.call-other-owner": Fault([RUN, *text("m"), {**call("c", parentMessageId="m")[0], "subagentRunId": "s1"}], 3, 1),
    "agui.run-unfinished": Fault([RUN, *text("m", "x")], 4, 0),
    "agui.chunk-unopened": Fault([RUN, chunk("TEXT_MESSAGE", delta="a"), DONE], 1),
    "agui.chunk-conflict": Fault(
        [RUN, chunk("TEXT_MESSAGE", messageId="m"), chunk("TEXT_MESSAGE", messageId="m", role="user"), DONE], 2, 1
    ),
    "agui.chunk-ambiguous": Fault(
        [
            RUN,
            chunk("TEXT_MESSAGE", messageId="m", subagentRunId="s1"),
            chunk("TEXT_MESSAGE", messageId="n", subagentRunId="s2"),
            chunk("TEXT_MESSAGE", delta="a"),
            DONE,
        ],
        3,
        2,
    ),
    "agui.null-field": Fault([RUN, {**text("m")[0], "name": None}, text("m")[1], DONE], 1),
    "agui.unknown-material": Fault([RUN, {**text("m")[0], "zzz": 1}, text("m")[1], DONE], 1),
    "agui.retired-event": Fault([RUN, {"type": "THINKING_START"}, {"type": "THINKING_END"}, DONE], 1),
    "agui.lone-surrogate": Fault([RUN, *text("m", "a\ud800"), DONE], 2),
    "dialect.unfit": Fault([RUN, {"type": "TEXT_MESSAGE_START", "messageId": 5}, DONE], 1),
    "dialect.unknown": Fault([RUN, {"type": "FUTURE", "x": 1}, DONE], 1),
}


class Case(NamedTuple):
    """A stream of the real world: what the first message holds in part, which rules are broken, and CUSTOM events that keep the rest."""

    events: list[Any]
    message: Wire
    broken: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def _texts(*given: str) -> Wire:
    return {"content": [{"type": "text", "text": each} for each in given]}


_C, _D = call("c", "{}"), call("d", "{}")
_ASK: Wire = {"id": "i1", "reason": "tool_call", "toolCallId": "c"}
_ANSWER: Wire = {"threadId": "t", "runId": "r2", "messages": [], "resume": [{"interruptId": "i1", "status": "resolved"}]}
WORLD: dict[str, Case] = {
    "activity-delta-missing-target-tolerated": Case(
        [RUN, {"type": "ACTIVITY_DELTA", "messageId": "a", "activityType": "p", "patch": []}, *text("m", "x"), DONE],
        _texts("x"),
        kept=("agui.ACTIVITY_DELTA",),
    ),
    "activity-snapshot-then-delta": Case(
        [
            RUN,
            {"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "p", "content": {"n": 0}, "replace": False},
            {"type": "ACTIVITY_DELTA", "messageId": "a", "activityType": "p", "patch": [{"op": "replace", "path": "/n", "value": 1}]},
            DONE,
        ],
        {"content": []},
        kept=("agui.ACTIVITY_SNAPSHOT", "agui.ACTIVITY_DELTA"),
    ),
    "chunk-conflicting-role-fatal": Case(
        [RUN, chunk("TEXT_MESSAGE", messageId="m", delta="a"), chunk("TEXT_MESSAGE", role="user", delta="b"), DONE],
        _texts("ab"),
        ("agui.chunk-conflict",),
    ),
    "chunk-conflicting-tool-name-fatal": Case(
        [
            RUN,
            chunk("TOOL_CALL", toolCallId="c", toolCallName="f", delta="1"),
            chunk("TOOL_CALL", toolCallName="g", delta="2"),
            result("c"),
            DONE,
        ],
        {"content": [{"name": "f", "input": "12"}, {"type": "tool_result"}]},
        ("agui.chunk-conflict",),
    ),
    "chunk-expansion-assembles": Case(
        [
            RUN,
            chunk("REASONING_MESSAGE", messageId="h", delta="hm"),
            chunk("TEXT_MESSAGE", messageId="m", delta="he"),
            chunk("TEXT_MESSAGE", delta="llo"),
            DONE,
        ],
        {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "hello"}]},
    ),
    "chunk-repeat-identical-accepted": Case(
        [RUN, *([chunk("TEXT_MESSAGE", messageId="m", role="assistant", delta="a")] * 2), DONE], _texts("aa")
    ),
    "content-without-start-fatal": Case(
        [RUN, text("m", "half")[1], text("m", "half")[1], DONE], _texts("halfhalf"), ("agui.text-not-open", "agui.text-not-open")
    ),
    "custom-closes-chunk-stream-fatal": Case(
        [
            RUN,
            chunk("TEXT_MESSAGE", messageId="m", delta="a"),
            {"type": "CUSTOM", "name": "n", "value": 1},
            chunk("TEXT_MESSAGE", delta="b"),
            DONE,
        ],
        _texts("a", "b"),
        ("agui.chunk-unopened",),
        ("n",),
    ),
    "encrypted-value-unknown-entity-tolerated": Case(
        [RUN, {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "?", "encryptedValue": "v"}, DONE],
        {"content": []},
        kept=("agui.REASONING_ENCRYPTED_VALUE",),
    ),
    "era-0-0-45-thinking-translated": Case(
        [
            RUN,
            {"type": "THINKING_START", "title": "why"},
            {"type": "THINKING_TEXT_MESSAGE_START"},
            {"type": "THINKING_TEXT_MESSAGE_CONTENT", "delta": "hm"},
            {"type": "THINKING_TEXT_MESSAGE_END"},
            {"type": "THINKING_END"},
            DONE,
        ],
        {"content": [{"type": "thinking", "thinking": "hm"}]},
        (*["agui.retired-event"], "agui.unknown-material", *["agui.retired-event"] * 4),
        ("agui.unknown", "agui.REASONING_START", "agui.REASONING_END"),
    ),
    "event-after-run-finished-fatal": Case([RUN, *text("m", "x"), DONE, text("n", "late")[0]], _texts("x"), ("agui.after-run-finished",)),
    "first-chunk-missing-id-fatal": Case([RUN, chunk("TEXT_MESSAGE", delta="a"), DONE], _texts("a"), ("agui.chunk-unopened",)),
    "first-tool-chunk-missing-name-fatal": Case(
        [RUN, chunk("TOOL_CALL", toolCallId="c", delta="1"), DONE],
        {"content": [{"name": "", "input": "1", "state": "submitted"}]},
        ("agui.chunk-unopened",),
    ),
    "first-event-not-run-started-fatal": Case(
        text("m", "x"), {**_texts("x"), "finished_at": None}, ("agui.run-not-started", "agui.text-not-open", "agui.text-end-not-open")
    ),
    "late-run-error-after-finished-run-continues": Case(
        [RUN, *text("m", "x"), DONE, ERROR], {**_texts("x"), "finished_reason": "completed"}, kept=("agui.RUN_ERROR",)
    ),
    "malformed-known-field-fatal": Case(
        [RUN, {"type": "TEXT_MESSAGE_START", "messageId": "m", "timestamp": 1.5}, DONE],
        {"content": []},
        ("dialect.unfit",),
        ("agui.TEXT_MESSAGE_START",),
    ),
    "messages-snapshot-reconciles-by-id": Case(
        [
            RUN,
            *text("m", "seen"),
            {
                "type": "MESSAGES_SNAPSHOT",
                "messages": [
                    {"id": "old", "role": "assistant", "content": "of an earlier run"},
                    {"id": "u", "role": "user", "content": "hi"},
                    {"id": "m", "role": "assistant", "content": "seen"},
                    {"id": "h", "role": "reasoning", "content": "hm", "encryptedValue": "v"},
                    {
                        "id": "n",
                        "role": "assistant",
                        "content": "new",
                        "toolCalls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                    },
                    _PLAIN,
                ],
            },
            DONE,
        ],
        {
            "content": [
                {"text": "seen"},
                {"thinking": "hm", "signature": "v"},
                {"text": "new"},
                {"id": "c", "input": "{}", "state": "finished"},
                {"id": "c", "output": [{"text": "1"}]},
            ],
            "finished_reason": "completed",
        },
        kept=("agui.MESSAGES_SNAPSHOT",),
    ),
    "nested-run-started-fatal": Case(
        [RUN, *text("m", "a"), AGAIN, *text("n", "b"), DONE], {**_texts("a"), "finished_at": None}, ("agui.run-nested",)
    ),
    "open-message-at-run-finished-fatal": Case(
        [RUN, *text("m", "half")[:2], DONE], {**_texts("half"), "finished_reason": "completed"}, ("agui.open-at-run-finished",)
    ),
    "open-object-patch-op-extras": Case(
        [RUN, {"type": "STATE_DELTA", "delta": [{"op": "remove", "path": "/a", "value": 1}]}, DONE],
        {"content": []},
        kept=("agui.STATE_DELTA",),
    ),
    "raw-and-custom-pass-through": Case(
        [RUN, {"type": "RAW", "event": None, "source": "x"}, {"type": "CUSTOM", "name": "n", "value": {"k": None}}, DONE],
        {"content": []},
        kept=("agui.RAW", "n"),
    ),
    "raw-does-not-close-chunk-stream": Case(
        [RUN, chunk("TEXT_MESSAGE", messageId="m", delta="a"), {"type": "RAW", "event": {}}, chunk("TEXT_MESSAGE", delta="b"), DONE],
        _texts("ab"),
        kept=("agui.RAW",),
    ),
    "reasoning-message-wrong-role-fatal": Case(
        [RUN, {**thought("h")[0], "role": "assistant"}, *thought("h", "hm")[1:], DONE],
        {"content": [{"thinking": "hm"}]},
        ("dialect.unfit", "agui.reasoning-not-open", "agui.reasoning-end-not-open"),
        ("agui.REASONING_MESSAGE_START",),
    ),
    "reasoning-span-and-message": Case(
        [
            RUN,
            _SPAN,
            *thought("m", "h", "m"),
            {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "m", "encryptedValue": "v"},
            {**_SPAN, "type": "REASONING_END"},
            DONE,
        ],
        {"content": [{"thinking": "hm", "signature": "v"}]},
        kept=("agui.REASONING_START", "agui.REASONING_END"),
    ),
    "encrypted value of a call after its end": Case(
        [
            RUN,
            *_C,
            {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "tool-call", "entityId": "c", "encryptedValue": "v"},
            result("c"),
            DONE,
        ],
        {"content": [{"type": "tool_call", "signature": "v"}, {"type": "tool_result"}]},
    ),
    "reopen-closed-message-appends": Case([RUN, *text("m", "a"), *text("m", "b"), DONE], _texts("a", "b")),
    "run-error-first-run-continues": Case(
        [ERROR], {"content": [], "finished_reason": "error", "error": {"type": "rate_limit", "message": "boom"}}
    ),
    "run-error-then-new-run-continues": Case([RUN, *text("m", "x"), ERROR, AGAIN, DONE], {**_texts("x"), "finished_reason": "error"}),
    "run-finished-cancelled-outcome-accepted": Case(
        [RUN, *text("m", "x"), finished(outcome={"type": "cancelled"})], {**_texts("x"), "finished_reason": "interrupted"}
    ),
    "run-finished-interrupt-outcome-accepted": Case(
        [RUN, *_C, asking(_ASK)], {"content": [{"id": "c", "state": "asking"}], "finished_at": None}
    ),
    "run-finished-with-active-subagent-fatal": Case([RUN, agent("STARTED"), DONE], {"id": "r"}, ("agui.open-at-run-finished",)),
    "state-falsy-snapshot-applies": Case([RUN, {"type": "STATE_SNAPSHOT", "snapshot": False}, DONE], {}, kept=("agui.STATE_SNAPSHOT",)),
    "state-delta-unknown-op-dropped": Case(
        [RUN, {"type": "STATE_DELTA", "delta": [{"op": "frob", "path": "/a"}]}, DONE],
        {},
        ("agui.unknown-material",),
        ("agui.unknown", "agui.STATE_DELTA"),
    ),
    "step-finished-without-start-fatal": Case([RUN, step("FINISHED"), DONE], {}, ("agui.step-not-open",), ("agui.STEP_FINISHED",)),
    "subagent-attribution-mismatch-fatal": Case(
        [
            RUN,
            text("m", subagentRunId="s1")[0],
            {**text("m", "x")[1], "subagentRunId": "s2"},
            {**text("m")[1], "subagentRunId": "s1"},
            DONE,
        ],
        {"id": "r"},
        ("agui.attribution",),
    ),
    "subagent-finished-unstarted-fatal": Case(
        [RUN, agent("FINISHED"), DONE], {}, ("agui.subagent-not-active",), ("agui.SUBAGENT_FINISHED",)
    ),
    "subagent-started-missing-name-fatal": Case(
        [RUN, {"type": "SUBAGENT_STARTED", "subagentRunId": "s1"}, DONE], {}, ("dialect.unfit",), ("agui.SUBAGENT_STARTED",)
    ),
    "subagent-terminal-closes-open-chunk-stream": Case(
        [RUN, agent("STARTED"), chunk("TEXT_MESSAGE", messageId="m", delta="x", subagentRunId="s1"), agent("FINISHED"), DONE], {"id": "r"}
    ),
    "subagent-unannounced-attribution-accepted": Case([RUN, *text("m", "x", subagentRunId="s9"), *text("n", "y"), DONE], _texts("y")),
    "tool-call-triad-assembles": Case(
        [RUN, *call("c", '{"a"', ":1}"), result("c"), DONE], {"content": [{"input": '{"a":1}'}, {"output": [{"text": "ok"}]}]}
    ),
    "tool-result-file-source-passes-through": Case(
        [RUN, *_C, result("c", [{"type": "document", "source": {"type": "file", "value": "f-1", "provider": "p"}}]), DONE],
        {
            "content": [
                {},
                {"output": [{"type": "data", "source": {"type": "url", "url": "f-1", "media_type": "application/octet-stream"}}]},
            ]
        },
    ),
    "tool-result-parts-mint-tool-message": Case(
        [
            RUN,
            *_C,
            result(
                "c",
                [
                    {"type": "text", "text": "a"},
                    {"type": "image", "id": "p", "source": {"type": "data", "value": "AA==", "mimeType": "image/png"}},
                ],
            ),
            DONE,
        ],
        {"content": [{}, {"output": [{"text": "a"}, {"id": "p", "source": {"data": "AA==", "media_type": "image/png"}}]}]},
    ),
    "truncated-run-reported-as-completed": Case([RUN, *text("m", "x")], {**_texts("x"), "finished_at": None}, ("agui.run-unfinished",)),
    "two-sequential-runs-accumulate": Case([RUN, *text("m", "x"), DONE, AGAIN, *text("n", "y"), DONE], {**_texts("x"), "id": "r"}),
    "unknown-enum-value-role-fatal": Case(
        [RUN, {**text("m")[0], "role": "wizard"}, DONE], {}, ("dialect.unfit",), ("agui.TEXT_MESSAGE_START",)
    ),
    "unknown-event-dropped": Case([RUN, {"type": "FUTURE", "x": 1}, DONE], {}, ("dialect.unknown",), ("agui.FUTURE",)),
    "unknown-outcome-array-fatal": Case([RUN, finished(outcome=[]), DONE], {}, ("dialect.unfit",), ("agui.RUN_FINISHED",)),
    "unknown-outcome-stripped": Case(
        [RUN, finished(outcome={"type": "timeout"})], {"finished_reason": "completed"}, ("agui.unknown-material",), ("agui.unknown",)
    ),
    "unknown-part-in-message-list": Case(
        [RUN, *_C, result("c", [{"type": "binary", "data": "AA"}, {"type": "text", "text": "k"}]), DONE],
        {"content": [{}, {"output": [{"text": "k"}]}]},
        ("agui.unknown-material",),
        ("agui.unknown",),
    ),
    "multibyte-text-assembles": Case([RUN, *text("m", "\u4f60", "\u597d\u2028"), DONE], _texts("\u4f60\u597d\u2028")),
    "combining-mark-split-from-its-base": Case([RUN, *text("m", "e", "\u0301"), DONE], _texts("e\u0301")),
    "zwj-sequence-split-at-the-joiner": Case(
        [RUN, *text("m", "\U0001f469\u200d", "\U0001f680"), DONE], _texts("\U0001f469\u200d\U0001f680")
    ),
    # --- public bug reports
    "ag-ui#2813, #2024: a call that is never closed": Case(
        [RUN, *call("c", "{}")[:2], *_D, result("d"), DONE],
        {"content": [{"id": "c", "input": "{}", "state": "submitted"}, {"id": "d"}, {"id": "d"}]},
        ("agui.open-at-run-finished",),
    ),
    "ag-ui#1016: arguments of parallel calls interleave": Case(
        [RUN, _C[0], _D[0], _D[1], _C[1], _C[2], _D[2], result("d"), result("c"), DONE],
        {"content": [{"id": "c", "input": "{}"}, {"id": "d", "input": "{}"}, {"id": "d", "type": "tool_result"}, {"id": "c"}]},
    ),
    "ag-ui#2199: reasoning and answer share an id": Case(
        [RUN, *thought("m", "hm"), *text("m", "answer"), DONE], {"content": [{"thinking": "hm"}, {"text": "answer"}]}
    ),
    "ag-ui#1524: a call is replayed after its result": Case(
        [RUN, *_C, result("c"), DONE, AGAIN, *text("m", "x"), DONE], {"content": [{"input": "{}"}, {"state": "success"}]}
    ),
    "agentscope-java#2907: results share a message id": Case(
        [RUN, *_C, *_D, result("c", messageId="r"), result("d", messageId="r"), DONE],
        {"content": [{"id": "c"}, {"id": "d"}, {"id": "c", "state": "success"}, {"id": "d", "state": "success"}]},
    ),
    "agentscope-java#2642: RUN_FINISHED after RUN_ERROR": Case(
        [RUN, *text("m", "x"), ERROR, DONE], {"finished_reason": "error"}, ("agui.after-run-error",), ("agui.RUN_FINISHED",)
    ),
    "agentscope-java#588: a result of a call that was not streamed": Case(
        [RUN, result("c"), DONE], {"content": [{"type": "tool_result", "id": "c", "state": "success"}]}
    ),
    "agentscope-java#510: a message is closed twice": Case(
        [RUN, *text("m", "x"), text("m")[1], DONE], _texts("x"), ("agui.text-end-not-open",), ("agui.TEXT_MESSAGE_END",)
    ),
    "ag-ui#2407: expiresAt is null": Case(
        [RUN, *_C, asking({**_ASK, "expiresAt": None})],
        {"finished_at": None},
        ("agui.null-field", "agui.run-unfinished"),
        ("agui.RUN_FINISHED",),
    ),
    "agent-framework#8244: a request while the call is open": Case(
        [RUN, *_C[:2], asking(_ASK)], {"content": [{"state": "asking"}], "finished_at": None}, ("agui.open-at-run-finished",)
    ),
    "assistant-ui#6500: success with a call that nobody answered": Case(
        [RUN, *_C, finished(outcome={"type": "success", "pendingToolCallIds": ["c"]})],
        {"content": [{"id": "c", "state": "submitted"}], "finished_at": None},
    ),
    "trpc-agent-go#1969: a result stands twice": Case(
        [RUN, *_C, result("c"), result("c", "again"), DONE],
        {"content": [{}, {"output": [{"text": "ok"}]}]},
        kept=("agui.TOOL_CALL_RESULT",),
    ),
    "datarobot-genai#335: the parent does not exist": Case(
        [RUN, *call("c", parentMessageId="nowhere"), result("c"), DONE], {"content": [{"id": "c"}, {"id": "c"}]}
    ),
    "ag-ui#2417: an abort is no success": Case(
        [RUN, *text("m", "x"), finished(outcome={"type": "cancelled"})], {"finished_reason": "interrupted"}
    ),
    "a user is asked, answers, and the run goes on": Case(
        [RUN, *_C, asking(_ASK), {**AGAIN, "input": _ANSWER}, result("c"), *text("m", "done"), DONE],
        {
            "id": "r",
            "content": [{"id": "c", "state": "finished"}, {"id": "c", "state": "success"}, {"text": "done"}],
            "finished_reason": "completed",
        },
    ),
    "a user interface executes a call": Case(
        [
            RUN,
            *_C,
            DONE,
            {**AGAIN, "input": {"threadId": "t", "runId": "r2", "messages": [{**_PLAIN, "content": "42"}]}},
            *text("m", "done"),
            DONE,
        ],
        {"id": "r", "content": [{"id": "c", "state": "finished"}, {"output": "42"}, {"text": "done"}], "finished_reason": "completed"},
    ),
    "another role speaks": Case(
        [RUN, *text("u", "hi", role="user"), *text("m", "ho"), DONE],
        {"content": [{"type": "hint", "hint": "hi", "source": "user"}, {"text": "ho"}]},
    ),
    "result and usage": Case(
        [RUN, finished(result={"a": 1}, usage=[{"model": "x", "inputTokens": 3, "outputTokens": 4, "cachedInputTokens": 2}])],
        {"structured_output": {"a": 1}, "usage": {"input_tokens": 3, "output_tokens": 4, "cache_input_tokens": 2}},
    ),
    "times": Case(
        [{**RUN, "timestamp": 1_700_000_000_123}, {**DONE, "timestamp": 1_700_000_001_000.0}],
        {"created_at": "2023-11-14T22:13:20.123Z", "finished_at": "2023-11-14T22:13:21.000Z"},
    ),
}

# --- drawn --------------------------------------------------------------------------------------

_TAGS = st.sampled_from(({}, {}, {}, {"subagentRunId": "s1"}, {"subagentRunId": "s2"}))
_KEYS = st.sampled_from(("m", "n"))
_EVENTS: list[Wire] = [
    RUN,
    AGAIN,
    DONE,
    asking(_ASK),
    finished(outcome={"type": "success", "pendingToolCallIds": ["m"]}, usage=[{"inputTokens": 1}], result={"a": 1}),
    ERROR,
    *text("*", "x"),
    text("*", role="user")[0],
    *thought("*", "x"),
    *call("*", "x"),
    call("*", parentMessageId="m")[0],
    result("*"),
    result("*", [{"type": "text", "text": "a"}, {"type": "image", "source": {"type": "url", "value": "u"}}]),
    chunk("TEXT_MESSAGE", messageId="*", delta="x"),
    chunk("TEXT_MESSAGE", delta="x"),
    chunk("TOOL_CALL", toolCallId="*", toolCallName="f", delta="x"),
    chunk("TOOL_CALL", delta="x"),
    chunk("REASONING_MESSAGE", messageId="*", delta="x"),
    chunk("REASONING_MESSAGE", metadata={"a": 1}),
    step("STARTED"),
    step("FINISHED"),
    agent("STARTED"),
    agent("STARTED", "s2", parentSubagentRunId="s1"),
    agent("FINISHED"),
    agent("FINISHED", outcome={"type": "suspended", "interruptIds": ["i"]}),
    agent("ERROR", "s2"),
    {**_SPAN, "messageId": "*"},
    {"type": "REASONING_END", "messageId": "*"},
    {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "*", "encryptedValue": "v"},
    {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "tool-call", "entityId": "*", "encryptedValue": "v"},
    {"type": "ACTIVITY_SNAPSHOT", "messageId": "*", "activityType": "a", "content": {}},
    {"type": "ACTIVITY_SNAPSHOT", "messageId": "*", "activityType": "a", "content": {}, "replace": False},
    {"type": "ACTIVITY_DELTA", "messageId": "*", "activityType": "a", "patch": [{"op": "add", "path": "/a", "value": 1}]},
    {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "m", "role": "assistant", "content": "x", "subagentRunId": "s1"}]},
    {"type": "STATE_SNAPSHOT", "snapshot": None},
    {"type": "STATE_DELTA", "delta": []},
    {"type": "RAW", "event": 1},
    {"type": "CUSTOM", "name": "n", "value": None},
]
_UNTAGGED = ("RUN_", "MESSAGES_", "SUBAGENT_")


@st.composite
def _event(draw: DrawFn) -> Wire:
    event = draw(st.sampled_from(_EVENTS))
    key = draw(_KEYS)
    drawn = {name: key if value == "*" else value for name, value in event.items()}
    return drawn if drawn["type"].startswith(_UNTAGGED) else {**drawn, **draw(_TAGS)}


#: Pieces that are mostly in order, so that a stream gets far.
_PIECES = st.one_of(
    _event().map(lambda event: [event]),
    _KEYS.map(lambda key: text(key, "a", "b")),
    _KEYS.map(lambda key: thought(key, "a")),
    _KEYS.map(lambda key: [*call(key, "{}"), result(key)]),
    _KEYS.map(lambda key: call(key, "{}")[:2]),
    st.just([agent("STARTED"), *text("m", "x", subagentRunId="s1"), agent("FINISHED")]),
)


@st.composite
def foreign_streams(draw: DrawFn) -> list[Wire]:
    """Draw a stream that begins well and goes on with anything."""
    pieces = draw(st.lists(_PIECES, max_size=8))
    ends = draw(st.sampled_from(([DONE], [DONE], [ERROR], [])))
    return [RUN, *(event for piece in pieces for event in piece), *ends]


#: What is put in place of a field: other types, ids of others, nothing.
_ODD: st.SearchStrategy[Any] = st.sampled_from(
    (None, "", "m", "s1", "r2", 5, 1.0, 1.5, -1, 2**53, True, [], {}, {"type": "x"}, ["a"], "user", "tool")
)


@st.composite
def mutated(draw: DrawFn, stream: list[Any]) -> list[Any]:
    """Draw the stream with one to three things wrong."""
    broken = list(stream)
    for _ in range(draw(st.integers(1, 3))):
        if not broken:
            break
        place, other = draw(st.integers(0, len(broken) - 1)), draw(st.integers(0, len(broken) - 1))
        how = draw(st.sampled_from(("drop", "double", "swap", "alter", "alter", "add", "retag")))
        event = broken[place]
        if how == "drop":
            del broken[place]
        elif how == "double":
            broken.insert(other, event)
        elif how == "swap":
            broken[place], broken[other] = broken[other], event
        elif how == "add":
            broken[place] = {
                **event,
                draw(st.sampled_from(("zzz", "name", "timestamp", "subagentRunId", "toString", "metadata", "rawEvent"))): draw(_ODD),
            }
        elif how == "retag":
            broken[place] = {**event, "subagentRunId": draw(st.sampled_from(("s1", "s2", "r1")))}
        else:
            key = draw(st.sampled_from([name for name in event if name != "type"] or ["zzz"]))
            broken[place] = {**event, key: draw(_ODD)}
    return broken
