"""
Random responses of OpenAI Chat Completions: a plan of what is said, and the chunks that say it.

Law: the plan knows what the message is, without looking at the dialect.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

from eventfold.fuzz.strategies import interleavings

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

Chunk = dict[str, Any]

#: What is said: non-empty text, so that a block is there.
said = st.one_of(st.text(min_size=1, max_size=6), st.sampled_from(("\U0001f99c", "a\u2028b", "e\u0301", '{"q": "', "\x00")))
names = st.sampled_from(("find", "sum", "e\u0301"))
#: The arguments of a call that a response may end with for whatever reason.
arguments = st.sampled_from(('{"q":1}', '{"q":"\U0001f99c"}', "{}", '{"a":{"b":[1,2]}}'))
#: How a block is told in deltas, by its kind.
KINDS = ("content", "refusal", "reasoning", "reasoning_content", "both", "details", "calls")
SAME = {"both": "reasoning_content"}


class Plan(NamedTuple):
    """A response: its chunks in order, and what its messages show."""

    chunks: list[Chunk]
    messages: list[list[tuple[Any, ...]]]  #: blocks of each choice
    usage: tuple[int, int]


@st.composite
def pieces(draw: DrawFn, text: str) -> list[str]:
    """Cut a text in pieces, between UTF-16 units: halves of characters may stand apart."""
    units = [unit for char in text for unit in _units(char)]
    cuts = sorted(draw(st.lists(st.integers(0, len(units)), max_size=3)))
    borders = [0, *cuts, len(units)]
    return ["".join(units[start:stop]) for start, stop in pairwise(borders)]


def _units(char: str) -> list[str]:
    code = ord(char) - 0x10000
    return [char] if code < 0 else [chr(0xD800 + (code >> 10)), chr(0xDC00 + (code & 0x3FF))]


def _whole(texts: list[str]) -> str:
    """Join pieces, and their halves."""
    return "".join(texts).encode("utf-16", "surrogatepass").decode("utf-16")


@st.composite
def plans(draw: DrawFn, *, most: int = 3) -> Plan:
    """Draw a response with one to three choices, interleaved."""
    count = draw(st.integers(1, most))
    told = [draw(_choices(i)) for i in range(count)]
    parts: list[tuple[int, Chunk]] = draw(interleavings([[(i, part) for part in parts] for i, (parts, _) in enumerate(told)]))
    order = list(dict.fromkeys(i for i, _ in parts))
    usage = draw(st.tuples(st.integers(0, 9), st.integers(0, 9)))
    spent = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    head = {"id": "chat-p", "object": "chat.completion.chunk", "created": 1_750_000_000, "model": "parrot-1"}
    chunks: list[Chunk] = [{**head, "choices": [{"index": i, **part}]} for i, part in parts]
    if draw(st.booleans()):
        chunks.append({**head, "choices": [], "usage": spent})
    else:
        chunks[-1]["usage"] = spent
    return Plan(chunks, [told[i][1] for i in order], usage)


@st.composite
def _choices(draw: DrawFn, number: int) -> tuple[list[Chunk], list[tuple[Any, ...]]]:
    """Draw the deltas of a choice, and its blocks."""
    kinds: list[str] = draw(st.lists(st.sampled_from(KINDS), max_size=5))
    deltas: list[Chunk] = [{"role": "assistant", "content": ""}]
    blocks: list[tuple[Any, ...]] = []
    before, calls, details = "", 0, 0
    late: list[list[Chunk]] = []
    for kind in kinds:
        name = SAME.get(kind, kind)
        if name == before and kind != "calls":
            continue
        before = name
        if kind == "calls":
            for _ in range(draw(st.integers(1, 2))):
                call_id, tool, text = f"c-{number}-{calls}", draw(names), draw(arguments)
                blocks.append(("tool_call", call_id, tool, text))
                deltas.append(_call(calls, "", id=call_id, type="function", name=tool))
                late.append([_call(calls, piece) for piece in draw(pieces(text))])
                calls += 1
            # What is left of the arguments may come at any time, but in its order.
            now = draw(st.booleans())
            if now:
                deltas += draw(interleavings(late))
                late = []
            continue
        details += kind == "details"
        text = draw(said)
        cut = draw(pieces(text))
        blocks.append(("thinking" if name in {"reasoning", "reasoning_content", "details"} else "text", _whole(cut)))
        deltas += [_delta(kind, piece, details) for piece in cut]
    deltas += draw(interleavings(late)) if late else []
    finish = draw(st.sampled_from(("stop", "length", "tool_calls")))
    parts = [{"delta": delta, "finish_reason": None} for delta in deltas]
    return [*parts, {"delta": {}, "finish_reason": finish}], blocks


def _call(index: int, text: str, *, name: str | None = None, **fields: str) -> Chunk:
    function = {"arguments": text} if name is None else {"name": name, "arguments": text}
    return {"tool_calls": [{"index": index, **fields, "function": function}]}


def _delta(kind: str, text: str, number: int) -> Chunk:
    if kind == "both":
        return {"reasoning_content": text, "reasoning": text}
    if kind == "details":
        return {"reasoning": text, "reasoning_details": [{"type": "reasoning.text", "text": text, "index": number}]}
    return {kind: text}


@st.composite
def rechunked(draw: DrawFn, chunks: list[Chunk]) -> list[Chunk]:
    """Draw the same stream with its deltas of text and arguments split and merged otherwise."""
    merged: list[Chunk] = []
    for value in chunks:
        if merged and draw(st.booleans()) and (joined := _joined(merged[-1], value)) is not None:
            merged[-1] = joined
        else:
            merged.append(value)
    return [part for value in merged for part in draw(_split(value))]


def _only(value: Chunk) -> tuple[int, str, str] | None:
    """Tell what a chunk says, if it says one thing and no more: the choice, the field and the text."""
    if "usage" in value or len(value["choices"]) != 1 or value["choices"][0]["finish_reason"] is not None:
        return None
    delta = value["choices"][0]["delta"]
    if len(delta) != 1 or not isinstance(next(iter(delta.values())), str):
        return None
    return value["choices"][0]["index"], *next(iter(delta.items()))


def _joined(one: Chunk, other: Chunk) -> Chunk | None:
    first, second = _only(one), _only(other)
    if first is None or second is None or first[:2] != second[:2]:
        return None
    return {**one, "choices": [{"index": first[0], "delta": {first[1]: first[2] + second[2]}, "finish_reason": None}]}


@st.composite
def _split(draw: DrawFn, value: Chunk) -> list[Chunk]:
    only = _only(value)
    if only is None:
        return [value]
    at = draw(st.integers(0, len(only[2])))
    texts = (only[2][:at], only[2][at:])
    return [{**value, "choices": [{"index": only[0], "delta": {only[1]: text}, "finish_reason": None}]} for text in texts]


#: Keys of the protocol, which arbitrary values have.
_KEYS = (
    "id",
    "object",
    "choices",
    "delta",
    "message",
    "index",
    "content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "finish_reason",
    "usage",
)
_MORE = (
    "type",
    "text",
    "reasoning_details",
    "reasoning",
    "audio",
    "data",
    "images",
    "image_url",
    "url",
    "error",
    "logprobs",
    "role",
    "custom",
    "input",
)
_leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.sampled_from((1e300, 10**30, 2**53)),
    st.sampled_from(("", "a", "stop", "{}", "\ud83e", "\udd9c", "AQI=", "chat.completion.chunk", "text", "data:image/png;base64,AQI=")),
)
#: JSON of any shape, much of it like what the protocol has.
anything: st.SearchStrategy[Any] = st.recursive(
    _leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(_KEYS + _MORE), inner, max_size=5)),
    max_leaves=25,
)
_delta_like = st.dictionaries(
    st.sampled_from(_KEYS + _MORE + ("refusal", "reasoning_content", "function_call", "annotations")), anything, max_size=5
)
_choice_like = st.fixed_dictionaries(
    {},
    optional={
        "index": st.integers(0, 2),
        "delta": _delta_like,
        "finish_reason": st.sampled_from((None, "stop", "length", "error")),
        "logprobs": anything,
    },
)
#: Values that have the shape of a chunk, and anything in it.
almost: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"choices": st.lists(_choice_like, max_size=3)},
    optional={
        "id": st.sampled_from(("", "a", "b", 7)),
        "object": _leaves,
        "usage": anything,
        "error": st.one_of(st.none(), anything),
        "created": _leaves,
    },
)
