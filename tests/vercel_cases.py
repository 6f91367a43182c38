"""
UI message streams and what they mean: words and data are ours.

A case is: chunks; the messages that they fold to, each as its blocks (kind, what it holds) and its reason to end; the rules of
severity warning or error that are broken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from support import Wire

#: Messages: blocks (kind, what it holds) and the reason to end, empty when it waits.
Messages = list[tuple[list[tuple[str, str]], str]]
Case = tuple[list[Any], Messages, list[str]]

START: Wire = {"type": "start", "messageId": "m"}
STEP: Wire = {"type": "start-step"}
STEPPED: Wire = {"type": "finish-step"}
FINISH: Wire = {"type": "finish", "finishReason": "stop"}


def text(name: str, *deltas: str, kind: str = "text", **fields: Any) -> list[Wire]:
    """Write a part of text or reasoning."""
    pieces = [{"type": f"{kind}-delta", "id": name, "delta": delta} for delta in deltas]
    return [{"type": f"{kind}-start", "id": name}, *pieces, {"type": f"{kind}-end", "id": name, **fields}]


def call(name: str, value: Any, *deltas: str, tool: str = "f", **fields: Any) -> list[Wire]:
    """Write the input of a tool."""
    head = {"toolCallId": name, "toolName": tool, **fields}
    pieces = [{"type": "tool-input-delta", "toolCallId": name, "inputTextDelta": delta} for delta in deltas]
    return [*([{"type": "tool-input-start", **head}, *pieces] if deltas else []), {"type": "tool-input-available", **head, "input": value}]


def output(name: str, value: Any, **fields: Any) -> Wire:
    """Write the output of a tool."""
    return {"type": "tool-output-available", "toolCallId": name, "output": value, **fields}


def whole(*parts: Any) -> list[Any]:
    """Write a message of one step."""
    return [START, STEP, *parts, STEPPED, FINISH]


ASKED = [*call("a", {"x": 1}), {"type": "tool-approval-request", "toolCallId": "a", "approvalId": "p"}]
DENIED = {"type": "tool-output-denied", "toolCallId": "a"}
PNG = "data:image/png;base64,QUJD"

STREAMS: dict[str, Case] = {
    "text": (whole(*text("0", "a", "b")), [([("text", "ab")], "completed")], []),
    "reasoning and text": (
        whole(*text("0", "r", kind="reasoning"), *text("0", "a")),
        [([("thinking", "r"), ("text", "a")], "completed")],
        [],
    ),
    "parts at once": (
        whole(
            {"type": "text-start", "id": "0"},
            {"type": "text-start", "id": "1"},
            {"type": "text-delta", "id": "0", "delta": "a"},
            {"type": "text-delta", "id": "1", "delta": "b"},
            {"type": "text-delta", "id": "0", "delta": "A"},
            {"type": "text-end", "id": "1"},
            {"type": "text-end", "id": "0"},
        ),
        [([("text", "aA"), ("text", "b")], "completed")],
        [],
    ),
    "an id twice": (whole(*text("0", "a"), *text("0", "b")), [([("text", "a"), ("text", "b")], "completed")], []),
    "an id in two steps": (
        [START, STEP, *text("0", "a"), STEPPED, STEP, *text("0", "b"), STEPPED, FINISH],
        [([("text", "a"), ("text", "b")], "completed")],
        [],
    ),
    "a step closes what is open": (
        [START, STEP, *text("0", "a")[:-1], STEPPED, STEP, *text("1", "b"), STEPPED, FINISH],
        [([("text", "a"), ("text", "b")], "completed")],
        [],
    ),
    "a part that begins twice": (
        whole({"type": "text-start", "id": "0"}, *text("0", "a")),
        [([("text", ""), ("text", "a")], "completed")],
        ["vercel.already-started"],
    ),
    "18 text that did not begin": (whole(text("0", "a")[1]), [([("text", "a")], "completed")], ["vercel.not-started"]),
    "an end of nothing": (whole(text("0")[1]), [([], "completed")], ["reply.no-visible-output", "vercel.not-started"]),
    "no steps": ([START, *text("0", "a"), FINISH], [([("text", "a")], "completed")], []),
    "no start": ([*text("0", "a"), FINISH], [([("text", "a")], "completed")], []),
    "no finish": ([START, STEP, *text("0", "a")], [([("text", "a")], "error")], ["vercel.truncated"]),
    "abort": ([START, STEP, *text("0", "a")[:-1], {"type": "abort", "reason": "stop"}], [([("text", "a")], "interrupted")], []),
    "abort in a call": (
        [START, STEP, *call("a", {}, "{")[:-1], {"type": "abort"}],
        [([("tool_call", "{"), ("tool_result", "")], "interrupted")],
        ["vercel.input-open"],
    ),
    "an error, and nothing after": ([START, {"type": "error", "errorText": "broke"}], [([], "error")], []),
    "an error, then the rest": (
        [START, STEP, *text("0", "a"), {"type": "error", "errorText": "broke"}, STEPPED, FINISH],
        [([("text", "a")], "error")],
        [],
    ),
    "the model ends with an error": (
        [START, *text("0", "a"), {"type": "finish", "finishReason": "error"}],
        [([("text", "a")], "error")],
        [],
    ),
    "a call of the client": (whole(*call("a", {"x": 1}, '{"x"', ":1}")), [([("tool_call", '{"x":1}')], "")], []),
    "a call without pieces": (whole(*call("a", {"x": 1})), [([("tool_call", '{"x": 1}')], "")], []),
    "a call without arguments": (whole(*call("a", {}, "")), [([("tool_call", "{}")], "")], []),
    "pieces of two calls": (
        whole(
            call("a", {}, "")[0],
            call("b", {}, "", tool="g")[0],
            {"type": "tool-input-delta", "toolCallId": "a", "inputTextDelta": '{"x":'},
            {"type": "tool-input-delta", "toolCallId": "b", "inputTextDelta": '{"y":2}'},
            {"type": "tool-input-delta", "toolCallId": "a", "inputTextDelta": "1}"},
            call("b", {"y": 2}, tool="g")[0],
            call("a", {"x": 1})[0],
        ),
        [([("tool_call", '{"x":1}'), ("tool_call", '{"y":2}')], "")],
        [],
    ),
    "input that becomes something else": (whole(*call("a", {"x": 2}, '{"x":1}')), [([("tool_call", '{"x":1}')], "")], ["vercel.rewritten"]),
    "26 input that never becomes available": (
        whole(*call("a", {}, '{"x"')[:-1]),
        [([("tool_call", '{"x"'), ("tool_result", "")], "completed")],
        ["vercel.input-open"],
    ),
    "input for no call": (whole(call("a", {}, "{")[1]), [([], "completed")], ["reply.no-visible-output", "vercel.not-started"]),
    "input that is text": (
        whole(*call("a", "SELECT 1", "SELECT", " 1", inputEncoding="text"), output("a", "1")),
        [([("tool_call", "SELECT 1"), ("tool_result", "1")], "completed")],
        [],
    ),
    "a tool of the server": (
        [START, STEP, *call("a", {"x": 1}), output("a", {"y": 2}), STEPPED, STEP, *text("0", "done"), STEPPED, FINISH],
        [([("tool_call", '{"x": 1}'), ("tool_result", '{"y": 2}'), ("text", "done")], "completed")],
        [],
    ),
    "a tool of the provider": (
        whole(*call("a", {"q": 1}, providerExecuted=True), output("a", "o", providerExecuted=True), *text("0", "done")),
        [([("tool_call", '{"q": 1}'), ("tool_result", "o"), ("text", "done")], "completed")],
        [],
    ),
    "a tool of the provider without output": (
        whole(*call("a", {}, providerExecuted=True)),
        [([("tool_call", "{}"), ("tool_result", "")], "completed")],
        [],
    ),
    "a tool that fails": (
        whole(*call("a", {}), {"type": "tool-output-error", "toolCallId": "a", "errorText": "bad"}),
        [([("tool_call", "{}"), ("tool_result", "bad")], "completed")],
        [],
    ),
    "input that cannot be read": (
        whole({"type": "tool-input-error", "toolCallId": "a", "toolName": "f", "input": "{", "errorText": "bad"}),
        [([("tool_call", '"{"'), ("tool_result", "bad")], "completed")],
        [],
    ),
    "input that cannot be read, and an output": (
        whole({"type": "tool-input-error", "toolCallId": "a", "toolName": "f", "input": {}, "errorText": "bad"}, output("a", "o")),
        [([("tool_call", "{}"), ("tool_result", "o")], "completed")],
        [],
    ),
    "outputs on the way": (
        whole(*call("a", {}), output("a", "o", preliminary=True), output("a", "oo", preliminary=True), output("a", "ooo")),
        [([("tool_call", "{}"), ("tool_result", "ooo")], "completed")],
        [],
    ),
    "only an output on the way": (
        whole(*call("a", {}), output("a", "o", preliminary=True)),
        [([("tool_call", "{}"), ("tool_result", "o")], "completed")],
        [],
    ),
    "a second output": (
        whole(*call("a", {}), output("a", "o"), output("a", "p")),
        [([("tool_call", "{}"), ("tool_result", "o")], "completed")],
        ["vercel.after-end"],
    ),
    "a second input": (
        whole(*call("a", {}), *call("a", {"x": 1}), output("a", "o")),
        [([("tool_call", "{}"), ("tool_result", "o")], "completed")],
        ["vercel.after-end"],
    ),
    "a call that begins twice": (
        whole(call("a", {}, "")[0], *call("a", {}, "{}"), output("a", "o")),
        [([("tool_call", "{}"), ("tool_result", "o")], "completed")],
        ["vercel.already-started"],
    ),
    "output of no call": (whole(output("z", 1), *text("0", "a")), [([("text", "a")], "completed")], ["vercel.unknown-tool"]),
    "a user is asked": (whole(*ASKED), [([("tool_call", '{"x": 1}')], "")], []),
    "a user is asked, and allows": (
        [*whole(*ASKED), START, output("a", "o"), STEP, *text("0", "done"), STEPPED, FINISH],
        [([("tool_call", '{"x": 1}'), ("tool_result", "o"), ("text", "done")], "completed")],
        [],
    ),
    "a user is asked, and denies": (
        [*whole(*ASKED), START, DENIED, STEP, *text("0", "well"), STEPPED, FINISH],
        [([("tool_call", '{"x": 1}'), ("tool_result", ""), ("text", "well")], "completed")],
        [],
    ),
    "the answer in a chunk of its own": (
        [*whole(*ASKED), START, {"type": "tool-approval-response", "approvalId": "p", "approved": True}, output("a", "o"), FINISH],
        [([("tool_call", '{"x": 1}'), ("tool_result", "o")], "completed")],
        [],
    ),
    "the client's output comes later": (
        [*whole(*call("a", {})), START, output("a", "o"), STEP, *text("0", "done"), STEPPED, FINISH],
        [([("tool_call", "{}"), ("tool_result", "o"), ("text", "done")], "completed")],
        [],
    ),
    "the client's output comes alone": (
        [*whole(*call("a", {})), output("a", "o")],
        [([("tool_call", "{}"), ("tool_result", "o")], "completed")],
        [],
    ),
    "denied at once": (whole(*ASKED, DENIED), [([("tool_call", '{"x": 1}'), ("tool_result", "")], "completed")], []),
    "files": (
        whole(
            {"type": "file", "url": PNG, "mediaType": "image/png"},
            {"type": "file", "url": "https://e.org/a", "mediaType": "application/pdf"},
        ),
        [([("data", "QUJD"), ("data", "https://e.org/a")], "completed")],
        [],
    ),
    "a file in percent signs": (
        whole({"type": "file", "url": "data:text/plain,A%20B", "mediaType": "text/plain"}),
        [([("data", "QSBC")], "completed")],
        [],
    ),
    "a file that cannot be read": (
        whole({"type": "file", "url": "data:image/png;base64,!", "mediaType": "image/png"}, *text("0", "a")),
        [([("text", "a")], "completed")],
        ["vercel.bad-data"],
    ),
    "what stands beside": (
        whole(
            {"type": "data-weather", "id": "w", "data": 1}, {"type": "source-url", "sourceId": "s", "url": "https://e.org"}, *text("0", "a")
        ),
        [([("text", "a")], "completed")],
        [],
    ),
    "two messages": (
        [*whole(*text("0", "a")), {"type": "start", "messageId": "n"}, *text("0", "b"), FINISH],
        [([("text", "a")], "completed"), ([("text", "b")], "completed")],
        [],
    ),
    "two messages with one id": (
        [*whole(*text("0", "a")), *whole(*text("0", "b"))],
        [([("text", "a")], "completed"), ([("text", "b")], "completed")],
        [],
    ),
    "another message before the end": (
        [START, *text("0", "a"), {"type": "start", "messageId": "n"}, *text("0", "b"), FINISH],
        [([("text", "a")], "error"), ([("text", "b")], "completed")],
        ["vercel.truncated"],
    ),
    "finish twice": ([*whole(*text("0", "a")), FINISH], [([("text", "a")], "completed")], ["vercel.after-end"]),
    "51 halves of a character": (whole(*text("0", "x\ud83d", "\ude00y")), [([("text", "x\U0001f600y")], "completed")], []),
    "half a character": (whole(*text("0", "x\ud83d")), [([("text", "x\ufffd")], "completed")], []),
    "a type of tomorrow": (whole({"type": "steering-message", "x": 1}, *text("0", "a")), [([("text", "a")], "completed")], []),
}

FIRING: dict[str, list[Any]] = {
    "dialect.unfit": [{"type": "text-start"}],
    "dialect.unknown": STREAMS["a type of tomorrow"][0],
    "vercel.truncated": STREAMS["no finish"][0],
    "vercel.not-started": STREAMS["18 text that did not begin"][0],
    "vercel.unknown-tool": STREAMS["output of no call"][0],
    "vercel.bad-data": STREAMS["a file that cannot be read"][0],
    "vercel.already-started": STREAMS["a part that begins twice"][0],
    "vercel.after-end": STREAMS["finish twice"][0],
    "vercel.rewritten": STREAMS["input that becomes something else"][0],
    "vercel.input-open": STREAMS["26 input that never becomes available"][0],
    "vercel.no-start": STREAMS["no start"][0],
}
