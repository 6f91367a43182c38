"""
Streams of OpenAI Chat Completions as producers get them wrong, and what comes of each.

Each case says what is odd in its name, the chunks, the blocks that come out, how the reply ends, the rules that are broken, and
what OpenAI's own reducer makes of it where that is something else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Chunk = dict[str, Any]

#: How a reply stands at the end of its stream.
PARKED, COMPLETED, ERROR = "parked", "completed", "error"


class Case(NamedTuple):
    """A stream, and what comes of it."""

    chunks: list[Any]
    blocks: list[tuple[Any, ...]]
    end: str = COMPLETED
    rules: tuple[str, ...] = ()
    usage: tuple[int, int] = (0, 0)
    done: bool = True  #: whether [DONE] follows
    sdk: str = ""  #: what OpenAI's own reducer does instead; empty when it agrees


def chunk(*choices: Any, **fields: Any) -> Chunk:
    """Write a chunk."""
    head = {"id": "chat-7", "object": "chat.completion.chunk", "created": 1_750_000_000, "model": "parrot-1"}
    return {**head, "choices": list(choices), **fields}


def says(finish_reason: str | None = None, *, at: int = 0, more: Chunk | None = None, **delta: Any) -> Chunk:
    """Write a chunk with one choice."""
    return chunk({"index": at, "delta": delta, "finish_reason": finish_reason, **(more or {})})


def calls(*entries: Chunk, finish_reason: str | None = None) -> Chunk:
    """Write a chunk with pieces of calls."""
    return says(finish_reason, tool_calls=list(entries))


def piece(index: int | None = 0, call_id: str | None = None, name: str | None = None, arguments: Any = None) -> Chunk:
    """Write a piece of a call; what is None is left out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    entry = {"index": index, "id": call_id, "type": "function" if call_id else None, "function": function}
    return {key: value for key, value in entry.items() if value is not None}


def spent(prompt: int, completion: int, **more: Any) -> Chunk:
    """Write a usage."""
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion, **more}


STOP, TOOLS = says("stop"), says("tool_calls")
HEAD = piece(0, "c-1", "find", "")
ONE = [("tool_call", "c-1", "find", '{"q":1}')]
TWO = [("tool_call", "c-1", "find", '{"q":1}'), ("tool_call", "c-2", "sum", '{"n":2}')]
HALVES = "\ud83e", "\udd9c"

CASES: dict[str, Case] = {
    # --- ids, names and indexes of calls
    "a call in pieces": Case([calls(HEAD), calls(piece(0, arguments='{"q"')), calls(piece(0, arguments=":1}")), TOOLS], ONE, PARKED),
    "the id in every piece": Case(
        [calls(HEAD), calls(piece(0, "c-1", arguments='{"q":')), calls(piece(0, "c-1", arguments="1}")), TOOLS],
        ONE,
        PARKED,
        sdk="joins the ids",
    ),
    "the name in every piece": Case(
        [calls(piece(0, "c-1", "find", '{"q":')), calls(piece(0, name="find", arguments="1}")), TOOLS], ONE, PARKED, sdk="joins the names"
    ),
    "the name again in the last piece, with id null": Case(
        [
            calls(HEAD),
            calls(piece(0, arguments='{"q":1')),
            calls({"index": 0, "id": None, "function": {"name": "find", "arguments": "}"}}),
            TOOLS,
        ],
        ONE,
        PARKED,
        sdk="joins the names",
    ),
    "id and name empty later": Case([calls(piece(0, "c-1", "find", '{"q":')), calls(piece(0, "", "", "1}")), TOOLS], ONE, PARKED),
    "id, name and type null later": Case(
        [
            calls(piece(0, "c-1", "find", '{"q":')),
            calls({"index": 0, "id": None, "type": None, "function": {"name": None, "arguments": "1}"}}),
            TOOLS,
        ],
        ONE,
        PARKED,
        sdk="AssertionError",
    ),
    "no index": Case([calls(piece(None, "c-1", "find", '{"q":1}')), TOOLS], ONE, PARKED, ("openai-chat.no-index",), sdk="TypeError"),
    "no index in pieces": Case(
        [calls(piece(None, "c-1", "find", '{"q"')), calls(piece(None, arguments=":1}")), TOOLS],
        ONE,
        PARKED,
        ("openai-chat.no-index",),
        sdk="TypeError",
    ),
    "parallel calls without index": Case(
        [calls(piece(None, "c-1", "find", '{"q":1}')), calls(piece(None, "c-2", "sum", '{"n":2}')), TOOLS],
        TWO,
        PARKED,
        ("openai-chat.no-index",),
        sdk="TypeError",
    ),
    "parallel calls without index, one after another": Case(
        [
            calls(piece(None, "c-1", "find", '{"q":')),
            calls(piece(None, arguments="1}")),
            calls(piece(None, "c-2", "sum", '{"n":')),
            calls(piece(None, arguments="2}")),
            TOOLS,
        ],
        TWO,
        PARKED,
        ("openai-chat.no-index",),
        sdk="TypeError",
    ),
    "parallel calls without index and id": Case(
        [calls(piece(None, name="find", arguments='{"q":1}'), piece(None, name="find", arguments='{"q":2}')), TOOLS],
        [("tool_call", "call_0", "find", '{"q":1}'), ("tool_call", "call_1", "find", '{"q":2}')],
        PARKED,
        ("openai-chat.no-index", "openai-chat.call-without-id"),
        sdk="TypeError",
    ),
    "the index begins at 1": Case(
        [calls(piece(1, "c-1", "find", "")), calls(piece(1, arguments='{"q":1}')), TOOLS], ONE, PARKED, sdk="IndexError"
    ),
    "a gap in the index": Case(
        [calls(piece(0, "c-1", "find", '{"q":1}')), calls(piece(2, "c-2", "sum", "")), calls(piece(2, arguments='{"n":2}')), TOOLS],
        TWO,
        PARKED,
        sdk="IndexError",
    ),
    "indexes backwards": Case(
        [calls(piece(1, "c-1", "find", '{"q":1}')), calls(piece(0, "c-2", "sum", '{"n":2}')), TOOLS], TWO, PARKED, sdk="IndexError"
    ),
    "two calls at one index": Case(
        [calls(piece(0, "c-1", "find", '{"q":1}')), calls(piece(0, "c-2", "sum", '{"n":2}')), TOOLS],
        TWO,
        PARKED,
        ("openai-chat.index-reused",),
        sdk="joins the calls",
    ),
    "two calls at one index in one chunk": Case(
        [calls(piece(0, "c-1", "find", '{"q":1}'), piece(0, "c-2", "sum", '{"n":2}')), TOOLS],
        TWO,
        PARKED,
        ("openai-chat.index-reused",),
        sdk="joins the calls",
    ),
    "two calls at one index without ids": Case(
        [calls(piece(0, name="find", arguments='{"q":1}')), calls(piece(0, name="sum", arguments='{"n":2}')), TOOLS],
        [("tool_call", "call_0", "find", '{"q":1}'), ("tool_call", "call_0~2", "sum", '{"n":2}')],
        PARKED,
        ("openai-chat.index-reused", "openai-chat.call-without-id"),
        sdk="joins the calls",
    ),
    "two pieces of one call in the first chunk": Case([calls(HEAD, piece(0, arguments='{"q":1}')), TOOLS], ONE, PARKED),
    "the index grows although the call goes on": Case(
        [calls(HEAD), calls(piece(1, "c-1", arguments='{"q":1}')), TOOLS], ONE, PARKED, sdk="takes it for two calls"
    ),
    "one id for two calls": Case(
        [calls(piece(0, "c-1", "find", '{"q":1}')), calls(piece(1, "c-1", "find", '{"q":2}')), TOOLS],
        [("tool_call", "c-1", "find", '{"q":1}'), ("tool_call", "c-1~2", "find", '{"q":2}')],
        PARKED,
        ("openai-chat.call-id-reused",),
        sdk="keeps both ids, which no result can tell apart",
    ),
    "interleaved parallel calls": Case(
        [
            calls(HEAD),
            calls(piece(1, "c-2", "sum", "")),
            calls(piece(0, arguments='{"q":')),
            calls(piece(1, arguments='{"n":')),
            calls(piece(0, arguments="1}")),
            calls(piece(1, arguments="2}")),
            TOOLS,
        ],
        TWO,
        PARKED,
    ),
    "the second call has its arguments first": Case(
        [calls(HEAD), calls(piece(1, "c-2", "sum", '{"n":2}')), calls(piece(0, arguments='{"q":1}')), TOOLS], TWO, PARKED
    ),
    "the name in pieces": Case([calls(piece(0, "c-1", "fi", "")), calls(piece(0, name="nd", arguments='{"q":1}')), TOOLS], ONE, PARKED),
    "the name grows": Case(
        [calls(piece(0, "c-1", "fi", "")), calls(piece(0, name="find", arguments='{"q":1}')), TOOLS], ONE, PARKED, sdk="joins the names"
    ),
    "another name after the arguments": Case(
        [calls(piece(0, "c-1", "find", '{"q":')), calls(piece(0, name="sum", arguments="1}")), TOOLS],
        ONE,
        PARKED,
        ("openai-chat.name-changed",),
        sdk="joins the names",
    ),
    "the id comes late": Case([calls(piece(0, None, "find", "")), calls(piece(0, "c-1", arguments='{"q":1}')), TOOLS], ONE, PARKED),
    "the id comes after the arguments": Case(
        [calls(piece(0, None, "find", '{"q":')), calls(piece(0, "c-1", arguments="1}")), TOOLS], ONE, PARKED
    ),
    "the name comes late": Case([calls(piece(0, "c-1", None, "")), calls(piece(0, None, "find", '{"q":1}')), TOOLS], ONE, PARKED),
    "no id at all": Case(
        [calls(piece(0, None, "find", '{"q"')), calls(piece(0, arguments=":1}")), TOOLS],
        [("tool_call", "call_0", "find", '{"q":1}')],
        PARKED,
        ("openai-chat.call-without-id",),
        sdk="leaves the id null",
    ),
    "no name at all": Case(
        [calls(piece(0, "c-1", None, '{"q":1}')), TOOLS],
        [("tool_call", "c-1", "", '{"q":1}')],
        PARKED,
        ("openai-chat.call-without-name",),
        sdk="leaves the name null",
    ),
    "another id in every piece": Case(
        [calls(piece(0, "c-1", "find", '{"q":')), calls(piece(0, "c-9", arguments="1}")), TOOLS],
        ONE,
        PARKED,
        ("openai-chat.call-id-changed",),
        sdk="joins the ids",
    ),
    # --- arguments
    "no arguments": Case([calls(HEAD), TOOLS], [("tool_call", "c-1", "find", "")], PARKED),
    "arguments null": Case(
        [
            calls({"index": 0, "id": "c-1", "type": "function", "function": {"name": "find", "arguments": None}}),
            calls(piece(0, arguments="{}")),
            TOOLS,
        ],
        [("tool_call", "c-1", "find", "{}")],
        PARKED,
    ),
    "no field for arguments": Case(
        [calls(piece(0, "c-1", "find")), TOOLS],
        [("tool_call", "c-1", "find", "")],
        PARKED,
        ("tool-call.no-arguments",),
        sdk="leaves them null",
    ),
    "function null": Case(
        [calls(piece(0, "c-1", "find", '{"q":1}')), calls({"index": 0, "function": None}), TOOLS], ONE, PARKED, sdk="AssertionError"
    ),
    "arguments as an object": Case(
        [calls(piece(0, "c-1", "find", {"q": 1})), TOOLS],
        [("tool_call", "c-1", "find", '{"q": 1}')],
        PARKED,
        ("openai-chat.arguments-not-text",),
        sdk="keeps the object",
    ),
    "arguments that are no JSON": Case([calls(piece(0, "c-1", "find", "q = 1")), TOOLS], [("tool_call", "c-1", "find", "q = 1")], PARKED),
    "arguments that max_tokens cuts": Case(
        [calls(piece(0, "c-1", "find", '{"path":"/ho')), says("length")],
        [("tool_call", "c-1", "find", '{"path":"/ho')],
        ERROR,
        ("openai-chat.cut-arguments",),
    ),
    "whole arguments before max_tokens": Case([calls(piece(0, "c-1", "find", '{"q":1}')), says("length")], ONE, PARKED),
    "a call of the time before tools": Case(
        [says(function_call={"name": "find", "arguments": ""}), says(function_call={"arguments": '{"q":1}'}), says("function_call")],
        [("tool_call", "call_function", "find", '{"q":1}')],
        PARKED,
        sdk="has it in function_call, without an id",
    ),
    "a custom tool": Case(
        [
            calls({"index": 0, "id": "c-1", "type": "custom", "custom": {"name": "sql", "input": "select "}}),
            calls({"index": 0, "custom": {"input": "1"}}),
            TOOLS,
        ],
        [("tool_call", "c-1", "sql", "select 1")],
        PARKED,
        sdk="AssertionError",
    ),
    "a custom tool that max_tokens cuts": Case(
        [calls({"index": 0, "id": "c-1", "type": "custom", "custom": {"name": "sql", "input": "sel"}}), says("length")],
        [("tool_call", "c-1", "sql", "sel")],
        ERROR,
        ("openai-chat.cut-arguments",),
        sdk="AssertionError",
    ),
    # --- text and thinking
    "content null, then text": Case(
        [says(role="assistant", content=None), says(content="He"), says(content=None), says(content="y"), STOP], [("text", "Hey")]
    ),
    "the role in every delta": Case(
        [says(role="assistant", content="a"), says(role="assistant", content="b"), STOP], [("text", "ab")], sdk="joins the roles"
    ),
    "delta null": Case(
        [says(content="a"), chunk({"index": 0, "delta": None, "finish_reason": "stop"})], [("text", "a")], sdk="AttributeError"
    ),
    "no delta": Case([says(content="a"), chunk({"index": 0, "finish_reason": "stop"})], [("text", "a")], sdk="AttributeError"),
    "tool_calls null and empty": Case([says(content="a", tool_calls=None), says(content="b", tool_calls=[]), STOP], [("text", "ab")]),
    "an empty delta in between": Case([says(content="a"), says(), says(content="b"), STOP], [("text", "ab")]),
    "text after a call": Case(
        [says(content="pre"), calls(piece(0, "c-1", "find", '{"q":1}')), says(content="post"), TOOLS],
        [("text", "pre"), *ONE, ("text", "post")],
        PARKED,
        sdk="joins the texts",
    ),
    "text after a call whose arguments come last": Case(
        [calls(HEAD), says(content="post"), calls(piece(0, arguments='{"q":1}')), TOOLS], [*ONE, ("text", "post")], PARKED
    ),
    "reasoning in two fields": Case(
        [says(reasoning="hm", reasoning_content="hm"), says(content="a"), STOP], [("thinking", "hm"), ("text", "a")]
    ),
    "reasoning that differs in two fields": Case(
        [says(reasoning="hm", reasoning_content="well"), says(content="a"), STOP],
        [("thinking", "well"), ("text", "a")],
        rules=("openai-chat.reasoning-differs",),
    ),
    "thinking between texts": Case(
        [says(content="a"), says(reasoning_content="hm"), says(content="b"), STOP],
        [("text", "a"), ("thinking", "hm"), ("text", "b")],
        sdk="joins the texts",
    ),
    "thinking as a part of the content": Case(
        [
            says(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "h"}]}]),
            says(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "m"}]}]),
            says(content="a"),
            STOP,
        ],
        [("thinking", "hm"), ("text", "a")],
        sdk="TypeError",
    ),
    "thinking on both sides of a call": Case(
        [says(reasoning_content="hm"), calls(HEAD), says(reasoning_content="so"), calls(piece(0, arguments='{"q":1}')), TOOLS],
        [("thinking", "hm"), *ONE, ("thinking", "so")],
        PARKED,
    ),
    "a refusal": Case([says(content=None, refusal=""), says(refusal="I "), says(refusal="won't"), STOP], [("text", "I won't")]),
    "a character in two deltas": Case(
        [says(content="a" + HALVES[0]), says(content=HALVES[1] + "z"), STOP], [("text", "a\U0001f99cz")], sdk="leaves two halves"
    ),
    "a character of the arguments in two deltas": Case(
        [calls(piece(0, "c-1", "find", '{"q":"' + HALVES[0])), calls(piece(0, arguments=HALVES[1] + '"}')), TOOLS],
        [("tool_call", "c-1", "find", '{"q":"\U0001f99c"}')],
        PARKED,
        sdk="leaves two halves",
    ),
    "an escaped character of the arguments in two deltas": Case(
        [calls(piece(0, "c-1", "find", '{"q":"\\ud83e')), calls(piece(0, arguments='\\udd9c"}')), TOOLS],
        [("tool_call", "c-1", "find", '{"q":"\\ud83e\\udd9c"}')],
        PARKED,
    ),
    "half a character": Case(
        [says(content=HALVES[1] + "a"), says(content="b" + HALVES[0]), STOP],
        [("text", "\ufffdab\ufffd")],
        rules=("openai-chat.lone-surrogate",),
        sdk="leaves two halves",
    ),
    "half a character before another block": Case(
        [says(content="a" + HALVES[0]), calls(piece(0, "c-1", "find", '{"q":1}')), TOOLS],
        [("text", "a\ufffd"), *ONE],
        PARKED,
        ("openai-chat.lone-surrogate",),
        sdk="leaves the half",
    ),
    "only half a character": Case(
        [says(content=HALVES[0]), STOP], [("text", "\ufffd")], rules=("openai-chat.lone-surrogate",), sdk="leaves the half"
    ),
    "sound and its transcript": Case(
        [
            says(role="assistant", audio={"id": "au-1", "transcript": "Wel"}),
            says(audio={"id": "au-1", "data": "AQI="}),
            says(audio={"id": "au-1", "data": "AwQ="}),
            says(audio={"id": "au-1", "transcript": "come"}),
            says("stop", audio={"expires_at": 9}),
        ],
        [("text", "Welcome"), ("data", "audio/pcm", "AQIDBA==")],
        sdk="joins the base64 as text",
    ),
    "sound that is cut within a group": Case(
        [says(audio={"data": "UklGR"}), says(audio={"data": "gAB"}), STOP],
        [("data", "audio/wav", "UklGRgAB")],
    ),
    "sound that is no base64": Case(
        [says(audio={"data": "A_-="}), says(audio={"data": "AQI="}), says(audio={"data": "A"}), STOP],
        [("data", "audio/pcm", "AQI=")],
        rules=("openai-chat.not-base64",),
        sdk="keeps it",
    ),
    "images": Case(
        [
            says(content="Here"),
            says(images=[{"type": "image_url", "index": 0, "image_url": {"url": "data:image/png;base64,AQI="}}]),
            says(images=[{"type": "image_url", "index": 1, "image_url": {"url": "https://example.org/p.png"}}]),
            STOP,
        ],
        [("text", "Here"), ("data", "image/png", "AQI="), ("data", "image/*", "https://example.org/p.png")],
    ),
    # --- usage
    "usage in a last chunk without choices": Case([says(content="a"), STOP, chunk(usage=spent(5, 1))], [("text", "a")], usage=(5, 1)),
    "usage in every chunk": Case(
        [{**says(content="a"), "usage": spent(5, 1)}, {**says(content="b"), "usage": spent(5, 2)}, {**STOP, "usage": spent(5, 3)}],
        [("text", "ab")],
        usage=(5, 3),
    ),
    "usage, then a chunk without": Case(
        [says(content="a"), STOP, chunk(usage=spent(5, 1)), chunk(usage=None, moderation={"flagged": False})],
        [("text", "a")],
        usage=(5, 1),
    ),
    "usage twice": Case([says(content="a"), {**STOP, "usage": spent(5, 1)}, chunk(usage=spent(5, 1))], [("text", "a")], usage=(5, 1)),
    "usage in x_groq": Case(
        [{**says(content="a"), "x_groq": {"id": "q"}}, {**STOP, "x_groq": {"id": "q", "usage": spent(5, 1)}}],
        [("text", "a")],
        usage=(5, 1),
        sdk="leaves it there",
    ),
    "usage in the choice": Case(
        [says(content="a"), says("stop", more={"usage": spent(5, 1)})], [("text", "a")], usage=(5, 1), sdk="leaves it there"
    ),
    "usage that is no count": Case(
        [says(content="a"), {**STOP, "usage": {"prompt_tokens": -1, "completion_tokens": 1.0}}],
        [("text", "a")],
        rules=("openai-chat.not-a-count",),
        usage=(0, 1),
        sdk="keeps it",
    ),
    # --- ends and errors
    "finish_reason and content in one chunk": Case([says(content="a"), says("stop", content="b")], [("text", "ab")]),
    "finish_reason twice": Case([says(content="a"), STOP, STOP], [("text", "a")]),
    "two finish_reasons": Case([says(content="a"), STOP, says("length")], [("text", "a")], rules=("openai-chat.finish-changed",)),
    "content after the finish_reason": Case(
        [says(content="a"), STOP, says(content="b")], [("text", "ab")], rules=("openai-chat.after-finish",)
    ),
    "no finish_reason": Case([says(content="a")], [("text", "a")], rules=("openai-chat.no-finish-reason",)),
    "no finish_reason and no [DONE]": Case([says(content="a")], [("text", "a")], ERROR, ("openai-chat.truncated",), done=False),
    "no finish_reason, within arguments": Case(
        [says(content="a"), calls(piece(0, "c-1", "find", '{"q":'))],
        [("text", "a"), ("tool_call", "c-1", "find", '{"q":')],
        ERROR,
        ("openai-chat.no-finish-reason", "openai-chat.cut-arguments"),
    ),
    "no finish_reason, after whole calls": Case(
        [calls(piece(0, "c-1", "find", '{"q":1}'), piece(1, "c-2", "now", ""))],
        [*ONE, ("tool_call", "c-2", "now", "")],
        PARKED,
        ("openai-chat.no-finish-reason",),
    ),
    "finish_reason stop with calls": Case([calls(piece(0, "c-1", "find", '{"q":1}')), STOP], ONE, PARKED),
    "finish_reason without [DONE]": Case([says(content="a"), STOP], [("text", "a")], done=False),
    "finish_reason empty on the way": Case([says("", content="a"), says("", content="b"), STOP], [("text", "ab")]),
    "the model's context is filtered": Case([says(content="a"), says("content_filter")], [("text", "a")]),
    "an error in the middle": Case(
        [says(content="a"), {"error": {"code": 502, "message": "upstream died"}}], [("text", "a")], ERROR, sdk="APIError"
    ),
    "an error in a chunk with usage": Case(
        [says(content="a"), {**says(), "error": {"message": "no more"}, "usage": spent(5, 1)}],
        [("text", "a")],
        ERROR,
        usage=(5, 1),
        sdk="APIError",
    ),
    "an error in a choice": Case(
        [says(content="a"), says("error", more={"error": {"code": 429, "message": "slow down"}})], [("text", "a")], ERROR
    ),
    "finish_reason error": Case([says(content="a"), says("error")], [("text", "a")], ERROR),
    "an error that is a string": Case([says(content="a"), {"error": "boom"}], [("text", "a")], ERROR, sdk="APIError"),
    "error null": Case([{**says(content="a"), "error": None}, STOP], [("text", "a")]),
    "only an error": Case([{"error": {"type": "invalid_request_error", "message": "bad"}}], [], ERROR, sdk="APIError"),
    # --- chunks
    "a first chunk without choices": Case(
        [chunk(id="", object="", model="", prompt_filter_results=[{"prompt_index": 0}]), says(role="assistant", content="a"), STOP],
        [("text", "a")],
    ),
    "choices null": Case([chunk() | {"choices": None}, says(content="a"), STOP], [("text", "a")], sdk="TypeError"),
    "no object": Case([{k: v for k, v in says(content="a").items() if k != "object"}, STOP], [("text", "a")], sdk="drops the chunk"),
    "the id changes on the way": Case(
        [says(role="assistant", content="a"), {**says(content="b"), "id": "chat-8"}, {**STOP, "id": "chat-9"}],
        [("text", "ab")],
        rules=("openai-chat.id-changed",),
    ),
    "the id comes late, after the first choice": Case([{**says(content="a"), "id": ""}, says(content="b"), STOP], [("text", "ab")]),
    "something else": Case([says(content="a"), {"type": "ping"}, STOP], [("text", "a")], rules=("dialect.unknown",), sdk="drops the chunk"),
    "fields of wrong kinds": Case(
        [
            says(content=7, reasoning=[], refusal={}, tool_calls="x", audio=1, annotations=2, images="y", function_call=[]),
            chunk({"index": "0", "delta": [], "logprobs": 3, "finish_reason": 7}, "a", usage="much"),
            says(content=["a"], images=[{"type": "image_url"}]),
            {"id": "chat-7", "choices": {}},
            says(content="a"),
            STOP,
        ],
        [("text", "a")],
        rules=("dialect.unfit",),
        sdk="fails",
    ),
}
