"""Streams of Gemini by hand, and what is right of each: the edge cases of the format, and what was reported in public."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from support import Wire

SIGNATURE = "c2lnbmF0dXJl"


def chunk(*parts: Any, finish: str | None = None, index: int = 0, **fields: Any) -> Wire:
    """Write a chunk."""
    candidate = {"content": {"parts": [*parts], "role": "model"}, "index": index, **({"finishReason": finish} if finish else {})}
    head = {"candidates": [candidate], "modelVersion": "gemini", "responseId": "r", **fields}
    return {key: value for key, value in head.items() if value is not None}


def call(*pieces: Wire, more: bool | None = None, signature: str | None = None, **fields: Any) -> Wire:
    """Write a part that calls, or goes on with a call."""
    said = {**fields, **({"partialArgs": [*pieces]} if pieces else {}), **({"willContinue": more} if more is not None else {})}
    return {"functionCall": said, **({"thoughtSignature": signature} if signature else {})}


def usage(prompt: int, candidates: int | None = None, thoughts: int | None = None, **more: Any) -> Wire:
    """Write usage so far."""
    counts = {"promptTokenCount": prompt, "candidatesTokenCount": candidates, "thoughtsTokenCount": thoughts, **more}
    return {"usageMetadata": {key: value for key, value in counts.items() if value is not None}}


def text(piece: str, **fields: Any) -> Wire:
    """Write text."""
    return {"text": piece, **fields}


def string(path: str, value: str, *, more: bool = False) -> Wire:
    """Write a piece of arguments."""
    return {"jsonPath": path, "stringValue": value, **({"willContinue": True} if more else {})}


CODE: Wire = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
OUTPUT: Wire = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}}
FUNCTION: Wire = {"name": "f", "args": {}}


class Case(NamedTuple):
    """A stream that somebody's reader got wrong, and what is right."""

    chunks: list[Wire]
    parts: list[Wire]  #: of the first reply, as they go back
    rules: list[str]  #: what is wrong with it
    tokens: tuple[int, int] = (0, 0)
    ended: str | None = "completed"  #: the finished_reason; None when the reply is parked


PARKED = None
UNSEEN = "reply.no-visible-output"
CASES: dict[str, Case] = {
    "usage in each chunk is a total": Case(
        [chunk(text("a"), **usage(9, 1)), chunk(text("b"), **usage(9, 5, 2)), chunk(finish="STOP", **usage(9, 6, 2))],
        [text("ab")],
        [],
        (9, 8),
    ),
    "usage that is not monotone": Case(
        [
            *(chunk(text("a"), **usage(46, 101)), chunk(text("b"), **usage(46))),
            chunk(text("c"), finish="STOP", **usage(147, 108, 168, toolUsePromptTokenCount=360)),
        ],
        [text("abc")],
        [],
        (507, 276),
    ),
    "usage in a chunk without candidates": Case(
        [chunk(text("a"), finish="STOP"), {"responseId": "r", **usage(4, 2, cachedContentTokenCount=3)}], [text("a")], [], (4, 2)
    ),
    "usage that is null or without counts at the end": Case(
        [chunk(text("a"), **usage(4, 2)), chunk(finish="STOP", usageMetadata={"trafficType": "ON_DEMAND"})], [text("a")], [], (4, 2)
    ),
    "thinking, text, thinking": Case(
        [chunk(text("r", thought=True)), chunk(text("s", thought=True), text("a")), chunk(text("t", thought=True), finish="STOP")],
        [text("rs", thought=True), text("a"), text("t", thought=True)],
        [],
    ),
    "a call without arguments, with a signature, and its empty end": Case(
        [chunk(call(name="f", more=True, signature=SIGNATURE)), chunk(call()), chunk(finish="STOP")],
        [{"functionCall": FUNCTION, "thoughtSignature": SIGNATURE}],
        [],
        ended=PARKED,
    ),
    "a call without arguments and without an end": Case(
        [chunk(call(name="f")), chunk(finish="STOP")], [{"functionCall": FUNCTION}], [], ended=PARKED
    ),
    "arguments piece by piece without an end": Case(
        [
            chunk(call(name="f", more=True)),
            chunk(call(string("$.a[0].b", "x", more=True), more=True)),
            chunk(call(string("$.a[0].b", "y"), {"jsonPath": "$.a[1]", "numberValue": 0.5}, more=True), finish="STOP"),
        ],
        [{"functionCall": {"name": "f", "args": {"a": [{"b": "xy"}, 0.5]}}}],
        ["gemini.call-not-ended"],
        ended=PARKED,
    ),
    "two calls piece by piece, the first without an end": Case(
        [
            *(chunk(call(name="f", more=True)), chunk(call(string("$['a b']", "x"), more=True)), chunk(call(name="g", more=True))),
            *(chunk(call({"jsonPath": "$.n", "nullValue": "NULL_VALUE"}, {"jsonPath": "$.t", "boolValue": False})), chunk(finish="STOP")),
        ],
        [{"functionCall": {"name": "f", "args": {"a b": "x"}}}, {"functionCall": {"name": "g", "args": {"n": None, "t": False}}}],
        ["gemini.call-not-ended"],
        ended=PARKED,
    ),
    "a name repeated with the id": Case(
        [chunk(call(name="f", id="c", more=True)), chunk(call(string("$.a", "x"), name="f", id="c")), chunk(finish="STOP")],
        [{"functionCall": {"id": "c", "name": "f", "args": {"a": "x"}}}],
        [],
        ended=PARKED,
    ),
    "parallel calls in one chunk": Case(
        [chunk(call(name="f", args={"a": 1}), call(name="f", args={"a": 2}), finish="STOP")],
        [{"functionCall": {"name": "f", "args": {"a": 1}}}, {"functionCall": {"name": "f", "args": {"a": 2}}}],
        [],
        ended=PARKED,
    ),
    "ids used twice": Case(
        [chunk(call(name="f", id="c"), call(name="g", id="c"), finish="STOP")],
        [{"functionCall": {**FUNCTION, "id": "c"}}, {"functionCall": {"id": "c", "name": "g", "args": {}}}],
        ["gemini.repeated-id"],
        ended=PARKED,
    ),
    "arguments cut by the limit": Case(
        [chunk(call(name="f", more=True)), chunk(call(string("$.a", "x", more=True), more=True), finish="MAX_TOKENS")],
        [{"functionCall": {"name": "f", "args": {"a": "x"}}}],
        ["gemini.call-cut"],
    ),
    "a piece of a call that has not begun": Case(
        [chunk(text("a"), call(string("$.a", "x"), more=True)), chunk(finish="STOP")],
        [text("a"), call(string("$.a", "x"), more=True)],
        ["gemini.unknown-call"],
    ),
    "paths that lead nowhere": Case(
        [
            chunk(call(name="f", args={"s": "x", "l": []}, more=True)),
            chunk(call(string("$.s.t", "x"), string("$.l[5]", "x"), string("$..", "x"), string("a", "x"), string("$.ok", "y"))),
            chunk(finish="STOP"),
        ],
        [{"functionCall": {"name": "f", "args": {"s": "x", "l": [], "ok": "y"}}}],
        ["gemini.bad-path"] * 4,
        ended=PARKED,
    ),
    "a signature on text": Case(
        [chunk(text("a")), chunk(text("b", thoughtSignature=SIGNATURE)), chunk(text("c"), finish="STOP")],
        [text("a"), text("b", thoughtSignature=SIGNATURE), text("c")],
        [],
    ),
    "a signature on empty text after the text": Case(
        [chunk(text("a")), chunk(text("b")), chunk(text("", thoughtSignature=SIGNATURE), finish="STOP")],
        [text("ab"), text("", thoughtSignature=SIGNATURE)],
        [],
    ),
    "a signature on empty text after a call": Case(
        [chunk(call(name="f"), text("", thoughtSignature=SIGNATURE), finish="STOP")],
        [{"functionCall": FUNCTION}, text("", thoughtSignature=SIGNATURE)],
        [],
        ended=PARKED,
    ),
    "a signature on thinking": Case(
        [chunk(text("r", thought=True, thoughtSignature=SIGNATURE), text("a"), finish="STOP")],
        [text("r", thought=True, thoughtSignature=SIGNATURE), text("a")],
        [],
    ),
    "an empty text at the end": Case([chunk(text("a")), chunk(text(""), finish="STOP")], [text("a")], []),
    "code that was run": Case([chunk(CODE), chunk(OUTPUT), chunk(text("a"), finish="STOP")], [CODE, OUTPUT, text("a")], []),
    "code that failed": Case(
        [chunk(CODE, {"codeExecutionResult": {"outcome": "OUTCOME_FAILED"}}, finish="STOP")],
        [CODE, {"codeExecutionResult": {"outcome": "OUTCOME_FAILED"}}],
        [],
    ),
    "code without an outcome": Case([chunk(CODE, finish="STOP")], [CODE], []),
    "an outcome without code": Case([chunk(OUTPUT, text("a"), finish="STOP")], [OUTPUT, text("a")], ["gemini.result-without-call"]),
    "a tool that Gemini runs": Case(
        [
            chunk({"toolCall": {"id": "s", "toolType": "GOOGLE_SEARCH_WEB", "args": {"q": "x"}}, "thoughtSignature": SIGNATURE}),
            chunk({"toolResponse": {"id": "s", "toolType": "GOOGLE_SEARCH_WEB", "response": {"r": 1}}}, text("a"), finish="STOP"),
        ],
        [
            {"toolCall": {"id": "s", "toolType": "GOOGLE_SEARCH_WEB", "args": {"q": "x"}}, "thoughtSignature": SIGNATURE},
            {"toolResponse": {"id": "s", "toolType": "GOOGLE_SEARCH_WEB", "response": {"r": 1}}},
            text("a"),
        ],
        [],
    ),
    "an image, and a file": Case(
        [
            chunk({"inlineData": {"mimeType": "image/png", "data": "-_8"}, "thoughtSignature": SIGNATURE}),
            chunk({"fileData": {"mimeType": "video/mp4", "fileUri": "gs://b/v"}}, finish="STOP"),
        ],
        [
            {"inlineData": {"mimeType": "image/png", "data": "+/8="}, "thoughtSignature": SIGNATURE},
            {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://b/v"}},
        ],
        [],
    ),
    "audio that goes on, each chunk a document of its own": Case(
        [chunk({"inlineData": {"mimeType": "audio/pcm", "data": data}}) for data in ("AA==", "AQI=")] + [chunk(finish="STOP")],
        [{"inlineData": {"mimeType": "audio/pcm", "data": "AAEC"}}],
        [],
    ),
    "an unknown part": Case(
        [chunk(text("a"), {"hologram": {"x": 1}}, text("b"), finish="STOP")],
        [text("a"), {"hologram": {"x": 1}}, text("b")],
        ["dialect.unknown"],
    ),
    "an unknown part at the end": Case(
        [chunk(text("a"), {"hologram": {"x": 1}}, finish="STOP")], [text("a"), {"hologram": {"x": 1}}], ["dialect.unknown"]
    ),
    "an unknown part after a call": Case(
        [chunk(call(name="f"), {"hologram": {"x": 1}}, finish="STOP")],
        [{"functionCall": FUNCTION}, {"hologram": {"x": 1}}],
        ["dialect.unknown"],
        ended=PARKED,
    ),
    "no finishReason": Case([chunk(text("a"), **usage(3, 1))], [text("a")], ["gemini.truncated"], (3, 1), "error"),
    "a finishReason for safety": Case([chunk(text("a")), chunk(finish="SAFETY")], [text("a")], []),
    "a prompt that is blocked": Case(
        [{"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "gemini", "responseId": "r", **usage(5)}], [], [], (5, 0), "error"
    ),
    "an error in the middle": Case(
        [chunk(text("a")), {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}], [text("a")], [], ended="error"
    ),
    "an error first": Case([{"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}], [], [], ended="error"),
    "content after the finishReason": Case(
        [chunk(text("a"), finish="STOP"), chunk(text("b"), finish="STOP")], [text("ab")], ["gemini.after-finish"]
    ),
    "candidates without content, and content without parts": Case(
        [{"candidates": [{"index": 0}]}, {"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]}], [], [UNSEEN]
    ),
    "halves of a character": Case(
        [chunk(text("x\ud83d")), chunk(text("\ude00y\ud83d"), finish="STOP")], [text("x\U0001f600y\ufffd")], ["event.lone-surrogate"]
    ),
    "odd values": Case(
        [
            chunk(5, text("a"), {"text": 5}, {"functionCall": 5}, {"inlineData": {}}, call(name="f", args=5), {}, finish="STOP"),
            {"candidates": 5, "usageMetadata": 5, "responseId": "r"},
            {"candidates": [{"index": -1, "content": 5}], **usage(-1)},
        ],
        [text("a"), {"inlineData": {}}, {"functionCall": FUNCTION}],
        ["dialect.unfit"] * 10,
        ended=PARKED,
    ),
}
