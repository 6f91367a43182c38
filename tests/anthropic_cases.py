"""
Streams of Anthropic by hand, and what is right of each: the edge cases of the SDK's accumulator, and what was reported in public.

`sdk` says in what the SDK differs and why; a test holds it against the SDK, so that a reason that holds no more is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from support import Wire


def start(**fields: Any) -> Wire:
    """Begin a message."""
    usage = {"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 3}
    message: Wire = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [], "usage": usage, **fields}
    return {"type": "message_start", "message": {key: value for key, value in message.items() if value is not None}}


def begin(index: int, kind: str, **fields: Any) -> Wire:
    """Begin a block, with what a block of the type begins with."""
    usual: dict[str, Wire] = {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": {"id": f"t{index}", "name": "f", "input": {}},
        "server_tool_use": {"id": f"s{index}", "name": "web_search", "input": {}},
    }
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **usual.get(kind, {}), **fields}}


def text(index: int, piece: Any) -> Wire:
    """Go on with text."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": piece}}


def think(index: int, piece: str) -> Wire:
    """Go on with thinking."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": "thinking_delta", "thinking": piece}}


def sign(index: int, signature: str) -> Wire:
    """Sign thinking."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": "signature_delta", "signature": signature}}


def args(index: int, piece: str) -> Wire:
    """Go on with arguments."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": piece}}


def stop(index: int) -> Wire:
    """Stop a block."""
    return {"type": "content_block_stop", "index": index}


def reason(why: str | None = "end_turn", **usage: Any) -> Wire:
    """Say why the message ends, and what it cost."""
    return {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}, "usage": {"output_tokens": 7, **usage}}


END = {"type": "message_stop"}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
WHOLE = {**start(content=[{"type": "text", "text": "hi"}, {"type": "tool_use", "id": "t", "name": "f", "input": {}}])["message"]}


def said(kind: str, text_: str = "", **fields: Any) -> Wire:
    """Write a block as Anthropic's SDK has it."""
    usual: dict[str, Wire] = {
        "text": {"text": text_},
        "thinking": {"thinking": text_, "signature": ""},
        "tool_use": {"id": "t0", "name": "f", "input": {}},
    }
    return {"type": kind, **usual.get(kind, {}), **fields}


class Case(NamedTuple):
    """A stream that somebody's reducer got wrong, and what is right."""

    events: list[Wire]
    content: list[Wire]  #: in Anthropic's terms
    rules: list[str]  #: what is wrong with it
    sdk: str = ""  #: in what the SDK differs, and why that is wrong; empty when it agrees
    usage: tuple[int, int] = (10, 7)
    ended: str | None = "completed"  #: the finished_reason; None when the reply is parked


PARKED = None
NO_ARGUMENTS = "tool-call.no-arguments"
CASES: dict[str, Case] = {
    # The edge cases of the SDK's accumulator.
    "a call without a delta": Case(
        [start(), begin(0, "tool_use"), stop(0), reason(), END], [said("tool_use")], [NO_ARGUMENTS], ended=PARKED
    ),
    "a call with an empty delta": Case(
        [start(), begin(0, "tool_use"), args(0, ""), stop(0), reason(), END], [said("tool_use")], [NO_ARGUMENTS], ended=PARKED
    ),
    "arguments in the start": Case(
        [start(), begin(0, "tool_use", input={"a": 1}), stop(0), reason(), END], [said("tool_use", input={"a": 1})], [], ended=PARKED
    ),
    "arguments in the start and again in deltas": Case(
        [start(), begin(0, "tool_use", input={"a": 1}), args(0, '{"b":2}'), stop(0), reason(), END],
        [said("tool_use", input={"b": 2})],
        [],
        ended=PARKED,
    ),
    "arguments that begin as text": Case(
        [start(), begin(0, "tool_use", input=""), args(0, '{"b":2}'), stop(0), reason(), END],
        [said("tool_use", input={"b": 2})],
        [],
        ended=PARKED,
    ),
    "two calls interleaved": Case(
        [
            *(start(), begin(0, "tool_use"), begin(1, "tool_use"), args(0, '{"a"'), args(1, '{"b"'), args(0, ":1}"), args(1, ":2}")),
            *(stop(1), stop(0), reason("tool_use"), END),
        ],
        [said("tool_use", input={"a": 1}), said("tool_use", id="t1", input={"b": 2})],
        [],
        ended=PARKED,
    ),
    "a gap in the index": Case(
        [start(), begin(0, "text"), text(0, "hi"), stop(0), begin(2, "tool_use"), args(2, "{}"), stop(2), reason(), END],
        [said("text", "hi"), said("tool_use", id="t2")],
        ["anthropic.index-order"],
        "raises IndexError: it takes the index for a position",
        ended=PARKED,
    ),
    "indexes out of order": Case(
        [start(), begin(1, "tool_use"), begin(0, "text"), text(0, "hi"), args(1, '{"a":1}'), stop(0), stop(1), reason(), END],
        [said("tool_use", id="t1", input={"a": 1}), said("text", "hi")],
        ["anthropic.index-order"] * 2,
        "drops both deltas: it takes the index for a position, and the kinds differ",
        ended=PARKED,
    ),
    "text in the start": Case(
        [start(), begin(0, "text", text="Hello"), text(0, " w"), stop(0), reason(), END], [said("text", "Hello w")], []
    ),
    "two signatures": Case(
        [start(), begin(0, "thinking"), think(0, "t"), sign(0, "AA"), sign(0, "BB"), stop(0), reason(), END],
        [said("thinking", "t", signature="BB")],
        ["reply.no-visible-output"],
    ),
    "a signature without thinking": Case(
        [start(), begin(0, "thinking"), sign(0, "AA"), stop(0), reason(), END],
        [said("thinking", signature="AA")],
        ["reply.no-visible-output"],
    ),
    "text after the stop": Case(
        [start(), begin(0, "text"), text(0, "a"), stop(0), text(0, "b"), reason(), END],
        [said("text", "a"), said("text", "b")],
        ["anthropic.after-stop", "anthropic.open-at-end"],
        "appends to the block that has ended; a block of ours that has ended does not change, so that the rest is one of its own",
    ),
    "no stop of a block": Case([start(), begin(0, "text"), text(0, "a"), reason(), END], [said("text", "a")], ["anthropic.open-at-end"]),
    "no message_stop": Case(
        [start(), begin(0, "text"), text(0, "a"), stop(0)], [said("text", "a")], ["anthropic.truncated"], usage=(10, 1), ended="error"
    ),
    "no usage in the start": Case(
        [start(usage=None), begin(0, "text"), text(0, "a"), stop(0), reason(), END],
        [said("text", "a")],
        ["anthropic.no-usage"],
        "raises AttributeError at the message_delta",
        usage=(0, 7),
    ),
    "two message_deltas": Case(
        [start(), begin(0, "text"), stop(0), reason(), reason(output_tokens=9), END],
        [said("text")],
        [],
        usage=(10, 9),
    ),
    "an unknown kind of delta": Case(
        [start(), begin(0, "text"), {**text(0, ""), "delta": {"type": "fancy_delta", "x": 1}}, text(0, "a"), stop(0), reason(), END],
        [said("text", "a")],
        ["dialect.unknown"],
    ),
    "an unknown kind of block": Case(
        [start(), begin(0, "hologram", data="x"), stop(0), begin(1, "text"), text(1, "a"), stop(1), reason(), END],
        [said("hologram", data="x"), said("text", "a")],
        ["dialect.unknown"],
    ),
    "text for a call": Case(
        [start(), begin(0, "tool_use"), text(0, "a"), stop(0), reason(), END],
        [said("tool_use")],
        ["anthropic.delta-mismatch", NO_ARGUMENTS],
        ended=PARKED,
    ),
    "arguments that are no JSON": Case(
        [start(), begin(0, "tool_use"), args(0, '{"a": tru'), args(0, "x}"), stop(0), reason(), END],
        [said("tool_use", input='{"a": trux}')],
        ["anthropic.arguments-not-json"],
        "raises ValueError",
        ended=PARKED,
    ),
    "usage that message_delta corrects": Case(
        [start(), begin(0, "text"), stop(0), reason(input_tokens=99, cache_read_input_tokens=0), END],
        [said("text")],
        [],
        usage=(99, 7),
    ),
    "no message_start": Case(
        [begin(0, "text"), text(0, "a")],
        [said("text", "a")],
        ["anthropic.no-message-start", "anthropic.truncated"],
        "raises RuntimeError",
        usage=(0, 0),
        ended="error",
    ),
    # What was reported in public, as far as it concerns this format.
    "thinking, text, call": Case(
        [
            *(start(), begin(0, "thinking"), think(0, "r"), sign(0, "S"), stop(0), begin(1, "text"), text(1, "pre"), stop(1)),
            *(begin(2, "tool_use"), args(2, "{}"), stop(2), begin(3, "text"), text(3, "post"), stop(3), reason("tool_use"), END),
        ],
        [said("thinking", "r", signature="S"), said("text", "pre"), said("tool_use", id="t2"), said("text", "post")],
        [],
        ended=PARKED,
    ),
    "arguments cut by the limit": Case(
        [start(), begin(0, "tool_use"), args(0, '{"path":"/a'), reason("max_tokens"), END],
        [said("tool_use", input='{"path":"/a')],
        ["anthropic.open-at-end", "anthropic.call-cut"],
        "closes the object as if it were whole, and drops the text that was cut",
    ),
    "a message that starts twice": Case(
        [start(), start(), begin(0, "text"), text(0, "a"), stop(0), reason(), END], [said("text", "a")], ["anthropic.repeated-start"]
    ),
    "an error in the middle": Case(
        [start(), begin(0, "text"), text(0, "a"), OVERLOADED],
        [said("text", "a")],
        [],
        "raises APIStatusError",
        usage=(10, 1),
        ended="error",
    ),
    "an error first": Case([OVERLOADED], [], [], "raises APIStatusError", usage=(0, 0), ended="error"),
    "no stop reason": Case(
        [start(), begin(0, "text"), text(0, "a"), stop(0), END], [said("text", "a")], ["anthropic.no-stop-reason"], usage=(10, 1)
    ),
    "a stop reason and no message_stop": Case(
        [start(), begin(0, "text"), text(0, "a"), stop(0), reason()], [said("text", "a")], ["anthropic.no-message-stop"]
    ),
    "a delta at an index that nothing began": Case(
        [start(), text(4, "a"), stop(4), args(5, "{}"), stop(5), reason(), END],
        [said("text", "a")],
        ["anthropic.unknown-index"] * 3,
        "raises IndexError",
    ),
    "an index used again": Case(
        [start(), begin(0, "text"), text(0, "a"), begin(0, "text"), text(0, "b"), stop(0), reason(), END],
        [said("text", "a"), said("text", "b")],
        ["anthropic.index-in-use"],
        "appends the second text to the first block",
    ),
    "a call's id used again": Case(
        [start(), begin(0, "tool_use"), args(0, "{}"), stop(0), begin(1, "tool_use", id="t0"), args(1, "{}"), stop(1), reason(), END],
        [said("tool_use"), said("tool_use", id="t0#1")],
        ["anthropic.repeated-id"],
        "has two calls that cannot be told apart",
        ended=PARKED,
    ),
    "arguments after the stop": Case(
        [start(), begin(0, "tool_use"), args(0, "{}"), stop(0), args(0, " "), reason(), END],
        [said("tool_use")],
        ["anthropic.after-stop"],
        ended=PARKED,
    ),
    "a call without id and name": Case(
        [start(), begin(0, "tool_use", id=None, name=None), args(0, "{}"), stop(0), reason(), END],
        [said("tool_use", id="m/call-0", name="")],
        ["dialect.unfit"],
        "has a call that nobody can answer",
        ended=PARKED,
    ),
    "a refusal": Case([start(), reason("refusal", output_tokens=0), END], [], ["reply.no-visible-output"], usage=(10, 0)),
    "halves of a character": Case(
        [start(), begin(0, "text"), text(0, "x\ud83d"), text(0, "\ude00y\ud83d"), stop(0), reason(), END],
        [said("text", "x\U0001f600y\ufffd")],
        ["event.lone-surrogate"],
        "keeps the halves apart, which no UTF-8 can hold",
    ),
    "the result of a paused call": Case(
        [
            start(),
            begin(0, "web_search_tool_result", tool_use_id="before", content=[]),
            stop(0),
            begin(1, "text"),
            text(1, "a"),
            stop(1),
            reason(),
            END,
        ],
        [said("web_search_tool_result", tool_use_id="before", content=[]), said("text", "a")],
        ["anthropic.result-without-call"],
    ),
    "a tool of the provider's that pauses": Case(
        [start(), begin(0, "server_tool_use"), args(0, '{"query":"q"}'), stop(0), reason("pause_turn"), END],
        [said("server_tool_use", id="s0", name="web_search", input={"query": "q"})],
        [],
    ),
    "a block that follows nothing": Case(
        [start(), begin(0, "text"), text(0, "a"), stop(0), begin(1, "container_upload", file_id="f"), stop(1), reason(), END],
        [said("text", "a"), said("container_upload", file_id="f")],
        [],
    ),
    "a block that follows a call, and nothing else": Case(
        [start(), begin(0, "tool_use"), args(0, "{}"), stop(0), begin(1, "container_upload", file_id="f"), stop(1), reason(), END],
        [said("tool_use"), said("container_upload", file_id="f")],
        [],
        ended=PARKED,
    ),
    "two results of a call": Case(
        [
            *(start(), begin(0, "server_tool_use"), args(0, "{}"), stop(0)),
            *(event for i in (1, 2) for event in (begin(i, "web_search_tool_result", tool_use_id="s0", content=[{"n": i}]), stop(i))),
            *(reason(), END),
        ],
        [
            said("server_tool_use", id="s0", name="web_search", input={}),
            said("web_search_tool_result", tool_use_id="s0", content=[{"n": 1}]),
        ],
        ["anthropic.repeated-id"],
        "keeps both; a call of ours has one result, and the second is a CUSTOM event",
    ),
    "odd values": Case(
        [start(model=5, content=None), begin(0, "text", text=5), text(0, 5), stop(0), reason(output_tokens=-1), END],
        [said("text")],
        ["dialect.unfit"] * 3,
        "keeps the number, or raises TypeError",
        usage=(10, 0),
    ),
}
