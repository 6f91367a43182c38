"""
What OpenAI's own client makes of a stream of chat chunks, and what ours is when it is said in the same words.

The client's decoder and reducer run as they are; nothing is called over a network.
"""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

from openai._models import construct_type
from openai._streaming import SSEDecoder
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

from eventfold.dialects.openai_chat import DIALECT
from eventfold.dialects.reading import DialectChecker

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from support import Wire

#: Under which names thinking comes.
THINKING = ("reasoning_content", "reasoning")


def values_of(path: Path) -> list[Wire]:
    """Read a recording as the client does: server-sent events up to [DONE], or JSON Lines."""
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    texts = [event.data for event in SSEDecoder().iter_bytes(iter([path.read_bytes()]))]
    return [json.loads(text) for text in texts if text and not text.startswith("[DONE]")]


def accumulated(chunks: Iterable[Any]) -> Any:
    """Give what the client's reducer accumulates, with the last usage that was said. Raises what it raises."""
    state, usage = ChatCompletionStreamState(), None
    with warnings.catch_warnings():
        # It writes snapshots of values of wrong kinds all the same, and warns of each.
        warnings.simplefilter("ignore")
        for value in chunks:
            chunk: Any = construct_type(type_=ChatCompletionChunk, value=json.loads(json.dumps(value)))
            state.handle_chunk(chunk)
            usage = getattr(chunk, "usage", None) or usage
    snapshot = state.current_completion_snapshot
    snapshot.usage = usage
    return snapshot


def told(snapshot: Any) -> list[Wire]:
    """Say each choice of the client in words that fit both sides."""
    choices: list[Wire] = []
    choice: Any
    for choice in sorted(snapshot.choices, key=lambda choice: choice.index):
        message: Any = choice.message
        more: Wire = message.model_extra or {}
        details: list[Wire] = more.get("reasoning_details") or []
        thinking = "".join(str(detail.get("text") or "") for detail in details) or next(
            (more[name] for name in THINKING if more.get(name)), ""
        )
        calls: list[Any] = message.tool_calls or []
        audio: Wire = message.audio.to_dict() if message.audio else {}
        choices.append(
            {
                "images": [image["image_url"]["url"] for image in more.get("images", [])],
                "sound": (audio.get("data") or "", audio.get("transcript") or ""),
                "text": message.content or "",
                "refusal": message.refusal or "",
                "thinking": thinking,
                "calls": [(call.id, call.function.name, call.function.arguments) for call in calls],
                "signature": "".join(str(detail.get("signature") or "") for detail in details),
                "logprobs": tokens_of(choice),
            }
        )
    usage = snapshot.usage
    choices[0]["usage"] = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
    return choices


def tokens_of(choice: Any) -> list[Wire]:
    """Give the log-probabilities of a choice."""
    every: list[Any] = [*(choice.logprobs.content or ()), *(choice.logprobs.refusal or ())] if choice.logprobs else []
    return [token.to_dict() for token in every]


def own(block: Wire) -> Wire:
    """Give what the provider said of a block."""
    return block.get("x_openai", {})


def url_of(source: Wire) -> str:
    """Write the source of a data block as a URL."""
    return source["url"] if source["type"] == "url" else f"data:{source['media_type']};base64,{source['data']}"


def retold(messages: list[Wire]) -> list[Wire]:
    """Say messages of ours in the same words."""
    choices: list[Wire] = []
    for message in messages:
        blocks: list[Wire] = message["content"]
        texts = [block for block in blocks if block["type"] == "text"]
        kinds = {kind: "".join(b["text"] for b in texts if own(b).get("type") == kind) for kind in (None, "refusal", "transcript")}
        data = [block for block in blocks if block["type"] == "data"]
        thinking = [block for block in blocks if block["type"] == "thinking"]
        choices.append(
            {
                "images": [url_of(block["source"]) for block in data if own(block).get("type") == "image_url"],
                "sound": (
                    "".join(block["source"]["data"] for block in data if own(block).get("type") != "image_url"),
                    kinds["transcript"],
                ),
                "text": kinds[None],
                "refusal": kinds["refusal"],
                "thinking": "".join(block["thinking"] for block in thinking),
                "calls": [(block["id"], block["name"], block["input"]) for block in blocks if block["type"] == "tool_call"],
                "signature": "".join(block.get("signature", "") for block in thinking),
                "logprobs": [token for block in texts for token in own(block).get("logprobs", [])],
            }
        )
    choices[0]["usage"] = (messages[0]["usage"]["input_tokens"], messages[0]["usage"]["output_tokens"])
    return choices


def sse(values: Iterable[Any], *, done: bool = True) -> bytes:
    """Write server-sent events."""
    frames = [f"data: {json.dumps(value)}\n\n" for value in values]
    return "".join([*frames, "data: [DONE]\n\n"] if done else frames).encode()


def read(data: bytes) -> DialectChecker:
    """Check bytes in the dialect."""
    checker = DialectChecker(DIALECT)
    checker.feed(data)
    checker.finish()
    return checker
