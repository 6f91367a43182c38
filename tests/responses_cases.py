"""
Streams of the real world, in our own words and data: what public reports are about, and what gateways do.

Numbers are those of the collection of reports that the project was made with: 18, for one, is GitHub Copilot, whose ids
change in every event.
"""

from __future__ import annotations

from typing import Any

from responses_plans import USAGE, Wire, added, call, created, done, ended, event, message, response

from eventfold.dialects.translation import UNFIT, UNKNOWN


class Case:
    """A stream, what the message says of it, and the rules that it breaks."""

    def __init__(self, stream: list[Any], said: list[tuple[str, ...]], *rules: str, **message_: Any) -> None:
        self.stream = stream
        self.said = said
        self.rules = set(rules)
        self.message = message_


A = "openai-responses."
TEXT = [added(message(status="in_progress")), event("content_part.added", content_index=0, part={"type": "output_text", "text": ""})]
HALF = call("", status="in_progress")
WAITS: Wire = {"finished_reason": None}
OVER: Wire = {"finished_reason": "completed"}
SHELL: Wire = {"type": "shell_call", "id": "sc_1", "call_id": "sh", "action": {"commands": ["ls"]}, "status": "completed"}
RAN: Wire = {"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
THOUGHT: Wire = {"type": "reasoning", "id": "rs_1", "summary": []}
NOTHING = {"input_tokens": 0, "output_tokens": 0, "cache_input_tokens": 0, "cache_creation_input_tokens": 0}
ASKED = ("function_call", "call_1", "look")


def text(delta: str, index: int | None = 0, **more: Any) -> Wire:
    """Write a delta of a text."""
    return event("output_text.delta", index, delta=delta, **{"content_index": 0, "item_id": "msg_1", **more})


def args(delta: Any, index: int | None = 0, **more: Any) -> Wire:
    """Write a delta of arguments."""
    return event("function_call_arguments.delta", index, delta=delta, **{"item_id": "fc_1", **more})


CASES: dict[str, Case] = {
    "18 every event has another item id and the response another id": Case(
        [
            created("resp_a"),
            {"type": "response.in_progress", "response": response(response_id="resp_b")},
            added(message(item_id="a", status="in_progress")),
            event("content_part.added", content_index=0, item_id="b", part={"type": "output_text", "text": ""}),
            text("Good ", item_id="c"),
            text("day", item_id="d"),
            done(message("Good day", item_id="e")),
            ended(message("Good day", item_id="f"), response_id="resp_c"),
        ],
        [("output_text", "Good day")],
        A + "another-id",
        id="resp_a",
        **OVER,
    ),
    "28 arguments come only at their end": Case(
        [created(), added(HALF), event("function_call_arguments.done", arguments='{"q":1}'), ended()],
        [(*ASKED, '{"q":1}')],
        A + "item-not-done",
        **WAITS,
    ),
    "28 arguments come only with the item": Case([created(), added(HALF), done(call('{"q":1}')), ended()], [(*ASKED, '{"q":1}')], **WAITS),
    "20 arguments are null": Case(
        [created(), added(call(None)), args(None), args("{}"), done(call("{}")), ended()], [(*ASKED, "{}")], **WAITS
    ),
    "33 arguments are an object": Case([created(), added(HALF), done(call({"q": [1]})), ended()], [(*ASKED, '{"q":[1]}')], **WAITS),
    "21 a call without arguments": Case([created(), added(HALF), args(""), done(call("")), ended(call(""))], [(*ASKED, "")], **WAITS),
    "27 arguments when the call begins and again in deltas": Case(
        [created(), added(call('{"q":1}')), args('{"q"'), args(":1}"), done(call('{"q":1}')), ended()], [(*ASKED, '{"q":1}')], **WAITS
    ),
    "arguments that the end takes back": Case(
        [created(), added(HALF), args('{"q":1}'), done(call('{"q":2}')), ended()],
        [(*ASKED, '{"q":1}')],
        A + "final-differs",
        **WAITS,
    ),
    "26 arguments are cut": Case(
        [created(), added(HALF), args('{"path":"/a'), done(call('{"path":"/a', status="incomplete")), ended(status="incomplete")],
        [(*ASKED, '{"path":"/a')],
        **OVER,
    ),
    "26 the end does not say that arguments are cut": Case(
        [created(), added(HALF), args('{"path":"/a'), ended(status="incomplete", incomplete_details={"reason": "max_output_tokens"})],
        [(*ASKED, '{"path":"/a')],
        **OVER,
    ),
    "17 deltas of two calls interleave": Case(
        [
            created(),
            added(call("", "call_1", "f", "fc_1"), 0),
            added(call("", "call_2", "g", "fc_2"), 1),
            args('{"a":', 0),
            args('{"b":', 1),
            args("1}", 0),
            args("2}", 1),
            done(call('{"b":2}', "call_2", "g", "fc_2"), 1),
            done(call('{"a":1}', "call_1", "f", "fc_1"), 0),
            ended(call('{"a":1}', "call_1", "f", "fc_1"), call('{"b":2}', "call_2", "g", "fc_2")),
        ],
        [("function_call", "call_1", "f", '{"a":1}'), ("function_call", "call_2", "g", '{"b":2}')],
        **WAITS,
    ),
    "12 places in the output have gaps": Case(
        [created(), added(HALF, 7), args("{}", 7), done(call("{}"), 7), ended()], [(*ASKED, "{}")], **WAITS
    ),
    "5 no place in the output": Case(
        [
            created(),
            added(call("", "call_1", "f", "fc_1"), None),
            added(call("", "call_2", "g", "fc_2"), None),
            args("[1]", None, item_id="fc_1"),
            args("[2]", None, item_id="fc_2"),
            done(call("[2]", "call_2", "g", "fc_2"), None),
            done(call("[1]", "call_1", "f", "fc_1"), None),
            ended(),
        ],
        [("function_call", "call_1", "f", "[1]"), ("function_call", "call_2", "g", "[2]")],
        **WAITS,
    ),
    "5 a call without an id": Case(
        [created(), added({**HALF, "id": None, "call_id": ""}), done(call("{}", "", item_id="")), ended()],
        [("function_call", "resp_1/call_1", "look", "{}")],
        A + "call-without-id",
        **WAITS,
    ),
    "8 the name comes only with the item": Case(
        [created(), added({**HALF, "name": ""}), args("{}"), done(call("{}")), ended()], [(*ASKED, "{}")], **WAITS
    ),
    "a call that never gets a name": Case(
        [created(), added({**HALF, "name": None}), args("{}"), done(call("{}", name="")), ended()], [], A + "call-without-name", **OVER
    ),
    "two calls have one id": Case(
        [created(), done(call("[1]"), 0), done(call("[2]", item_id="fc_2"), 1), ended()],
        [(*ASKED, "[1]"), ("function_call", "call_1#1", "look", "[2]")],
        A + "repeated-id",
        **WAITS,
    ),
    "two items have one place": Case(
        [created(), added(message()), text("A"), added(message(item_id="msg_2")), text("B"), done(message("B", item_id="msg_2")), ended()],
        [("output_text", "A"), ("output_text", "B")],
        A + "place-taken",
        **OVER,
    ),
    "an item begins twice": Case(
        [created(), *TEXT, text("A"), TEXT[0], text("B"), done(message("AB")), ended()], [("output_text", "AB")], A + "place-taken", **OVER
    ),
    "a delta without its item": Case(
        [created(), text("A"), done(message("A")), ended()], [("output_text", "A")], A + "item-not-added", **OVER
    ),
    "arguments without their item, which comes at the end": Case(
        [created(), args('{"q":'), args("1}"), ended(call('{"q":1}'))], [(*ASKED, '{"q":1}')], A + "item-not-added", **WAITS
    ),
    "29 usage stands in every event of the response": Case(
        [{**created(), "response": response(usage=USAGE)}, *TEXT, text("A"), done(message("A")), ended(message("A"))],
        [("output_text", "A")],
        usage={"input_tokens": 40, "output_tokens": 9, "cache_input_tokens": 8, "cache_creation_input_tokens": 3},
        **OVER,
    ),
    "usage is no count": Case(
        [created(), done(message("A")), ended(usage={"input_tokens": -1, "output_tokens": 2.5, "input_tokens_details": [], "x": 1})],
        [("output_text", "A")],
        A + "not-a-count",
        usage=NOTHING,
        **OVER,
    ),
    "trimmed deltas: the final text counts": Case(
        [created(), *TEXT, text("Go"), text("od"), event("output_text.done", text="Good day to you", content_index=0), ended()],
        [("output_text", "Good day to you")],
        A + "item-not-done",
        **OVER,
    ),
    "deltas that the final text takes back": Case(
        [created(), *TEXT, text("Bad"), done(message("Good")), ended(message("Good"))],
        [("output_text", "Good")],
        A + "final-differs",
        **OVER,
    ),
    "a final text that is empty takes nothing back": Case(
        [created(), *TEXT, text("Kept"), done(message("")), ended(message(""))], [("output_text", "Kept")], A + "final-differs", **OVER
    ),
    "the end has no output": Case(
        [created(), *TEXT, text("A"), done(message("A")), ended(), {"type": "keepalive"}], [("output_text", "A")], UNKNOWN, **OVER
    ),
    "the end's output is null": Case(
        [created(), *TEXT, text("A"), done(message("A")), {"type": "response.completed", "response": response("completed", None)}],
        [("output_text", "A")],
        **OVER,
    ),
    "the end differs from what was done": Case(
        [created(), done(message("A")), ended(message("B"))], [("output_text", "A")], A + "final-differs", **OVER
    ),
    "42 an error event is all there is": Case(
        [{"type": "error", "code": "server_error", "message": "no luck", "param": None, "sequence_number": 0}],
        [],
        error={"type": "upstream", "message": "no luck"},
        finished_reason="error",
    ),
    "43 an error in the middle": Case(
        [created(), *TEXT, text("A"), {"error": {"type": "invalid_request_error", "message": "too long"}}],
        [("output_text", "A")],
        error={"type": "invalid_request", "message": "too long"},
        finished_reason="error",
    ),
    "an error, then the failed response": Case(
        [
            created(),
            {"type": "error", "error": {"code": "insufficient_quota", "message": "broke"}},
            ended(status="failed", error={"code": "insufficient_quota", "message": "broke"}),
        ],
        [],
        error={"type": "rate_limit", "message": "broke"},
        finished_reason="error",
    ),
    "the response failed after a text": Case(
        [created(), *TEXT, text("A"), ended(status="failed", error={"code": "server_error", "message": "oops"})],
        [("output_text", "A")],
        error={"type": "upstream", "message": "oops"},
        finished_reason="error",
    ),
    "the response was cancelled": Case(
        [created(), added(HALF), args("{}"), done(call("{}")), *[TEXT[0] | {"output_index": 1}], text("A", 1), ended(status="cancelled")],
        [(*ASKED, "{}"), ("output_text", "A")],
        finished_reason="interrupted",
    ),
    "45 the stream stops": Case(
        [created(), *TEXT, text("A")],
        [("output_text", "A")],
        A + "truncated",
        error={"type": "connection", "message": "the stream stopped before the response ended"},
        finished_reason="error",
    ),
    "the stream was joined late": Case(
        [text("B"), done(message("AB")), ended(message("AB"))],
        [("output_text", "AB")],
        A + "not-created",
        A + "item-not-added",
        A + "final-differs",
        **OVER,
    ),
    "the response is created twice": Case(
        [created(), created(), *TEXT, text("A"), done(message("A")), ended()], [("output_text", "A")], A + "created-again", **OVER
    ),
    "58 the response ends twice": Case(
        [created(), done(message("A")), ended(message("A")), ended(message("A"))], [("output_text", "A")], A + "after-end", **OVER
    ),
    "57 a delta after the end": Case(
        [created(), done(message("A")), ended(message("A")), text("B")], [("output_text", "A")], A + "after-end", **OVER
    ),
    "a delta after its item": Case(
        [created(), done(message("A")), text("B"), ended(message("A"))], [("output_text", "A")], A + "after-end", **OVER
    ),
    "51 a pair of surrogates in two deltas": Case(
        [created(), *TEXT, text("x\ud83d"), text("\ude00y"), ended()], [("output_text", "x\U0001f600y")], A + "item-not-done", **OVER
    ),
    "51 half a pair, whose other half never comes": Case(
        [created(), *TEXT, text("x\ud83d"), ended()], [("output_text", "x\ufffd")], A + "item-not-done", A + "split-surrogate", **OVER
    ),
    "51 arguments in halves": Case(
        [created(), added(HALF), args('"\ud83d'), args('\ude00"'), done(call('"\U0001f600"')), ended()], [(*ASKED, '"\U0001f600"')], **WAITS
    ),
    "a refusal": Case(
        [
            created(),
            added(message(status="in_progress")),
            event("content_part.added", content_index=0, part={"type": "refusal", "refusal": ""}),
            event("refusal.delta", content_index=0, delta="I will "),
            event("refusal.delta", content_index=0, delta="not."),
            event("refusal.done", content_index=0, refusal="I will not."),
            done({**message(), "content": [{"type": "refusal", "refusal": "I will not."}]}),
            ended(),
        ],
        [("refusal", "I will not.")],
        **OVER,
    ),
    "thinking, in summary and raw, and whose final value differs": Case(
        [
            created(),
            added(THOUGHT),
            event("reasoning_summary_text.delta", summary_index=0, delta="A"),
            event("reasoning_summary_text.delta", summary_index=1, delta="B"),
            event("reasoning_text.delta", content_index=0, delta="C"),
            done(
                {
                    **THOUGHT,
                    "summary": [{"type": "summary_text", "text": "A!"}, {"type": "summary_text", "text": "Z"}],
                    "content": [{"type": "reasoning_text", "text": "C"}],
                }
            ),
            ended(),
        ],
        [("thinking", "A!"), ("thinking", "B"), ("thinking", "C")],
        A + "final-differs",
        **OVER,
    ),
    "an image that is no base64": Case(
        [created(), done({"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "?"}), ended()],
        [("image_generation_call", "ig_1")],
        A + "not-base64",
        **OVER,
    ),
    "an item of tomorrow": Case(
        [created(), done({"type": "dream", "id": "dr_1", "of": ["sheep"]}), ended()], [("dream", "dr_1")], A + "unknown-item", **OVER
    ),
    "an event of tomorrow": Case(
        [created(), event("dream.delta", delta="zzz"), done(message("A")), ended()], [("output_text", "A")], UNKNOWN, **OVER
    ),
    "an answer to a call of another response": Case(
        [created(), done({"type": "program_output", "id": "po_1", "call_id": "p", "result": "4", "status": "completed"}), ended()],
        [("program_output", "po_1")],
        A + "answer-without-call",
        **OVER,
    ),
    "the provider's shell": Case(
        [
            created(),
            done({**SHELL, "environment": {"type": "container_reference", "container_id": "c"}}, 0),
            done({"type": "shell_call_output", "id": "so_1", "call_id": "sh", "status": "completed", "output": [RAN]}, 1),
            ended(),
        ],
        [("shell_call", "sc_1")],
        **OVER,
    ),
    "the client's shell": Case([created(), done(SHELL), ended()], [("shell_call", "sc_1")], **WAITS),
    "a program that waits for its calls": Case(
        [
            created(),
            done({"type": "program", "id": "p_1", "call_id": "p", "code": "1", "fingerprint": "x"}, 0),
            done(call("{}"), 1),
            ended(),
        ],
        [("program", "p_1"), (*ASKED, "{}")],
        **WAITS,
    ),
    "sound": Case(
        [
            created(),
            event("audio.delta", None, delta="AAEC"),
            event("audio.transcript.delta", None, delta="Good day"),
            event("audio.delta", None, delta="?"),
            event("audio.transcript.done", None),
            event("audio.done", None),
            ended(),
        ],
        [("audio.transcript", "Good day")],
        A + "not-base64",
        **OVER,
    ),
    "numbers that leave some out": Case(
        [{**created(), "sequence_number": 0}, {**done(message("A")), "sequence_number": 4}, {**ended(), "sequence_number": 5}],
        [("output_text", "A")],
        A + "gap",
        **OVER,
    ),
    "the same number for every event": Case(
        [{**each, "sequence_number": 0} for each in (created(), *TEXT, text("A"), text("A"), done(message("AA")), ended())],
        [("output_text", "AA")],
        **OVER,
    ),
    "a number comes again": Case(
        [
            {**each, "sequence_number": number}
            for number, each in ((0, created()), (1, TEXT[0]), (2, text("A")), (2, text("A")), (3, done(message("A"))), (4, ended()))
        ],
        [("output_text", "A")],
        A + "redelivered",
        **OVER,
    ),
    "no item, no response, no part": Case(
        [created(), event("output_item.added"), {"type": "response.completed"}, event("content_part.added", part=[]), ended()],
        [],
        UNFIT,
        **OVER,
    ),
}
