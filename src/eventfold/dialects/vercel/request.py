"""
Messages of ours -> ModelMessages of the AI SDK, for `generateText` and `streamText`.

Law: the AI SDK's own schema takes them, and every call has its result in the tool message behind it. A reply that ran tools becomes
assistant, tool, assistant; a hint becomes a user message in its place. What a provider said of a part goes back to it as
`providerOptions`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from eventfold.dialects.rounds import LOSSES as PAIRING
from eventfold.dialects.rounds import NOT_RUN, Called, Placed, RoundsWriter
from eventfold.findings import Loss
from eventfold.jsonvalue import copy_json, is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eventfold.dialects.translation import Said
    from eventfold.shape import Wire

STATE = "a result that was interrupted, or still runs, is written as an error"
NAME = "the name of data has no place in a file part of a result"
LOST_THINKING = "what a provider other than Anthropic and Google signed or hid in thinking is left out, since no other takes it"
#: What is lost, and where it shows.
LOSSES: dict[str, tuple[str, ...]] = {
    STATE: ("/content/*/state",),
    NAME: ("/content/*/output/*/name",),
    LOST_THINKING: ("/content/*",),
    **PAIRING,
}

#: What thinking holds for its provider, and the options of the AI SDK in which that goes back to it.
_SECRETS = {
    "anthropic": {"signature": "signature", "redacted_thinking_data": "redactedData"},
    "google": {"signature": "thoughtSignature"},
}


def write_messages(messages: Iterable[Wire]) -> Said:
    """Write messages."""
    return _Writer(messages, _is_server).said()


class _Writer(RoundsWriter):
    def write(self, message: Wire, place: str) -> None:
        """Write a message of any role."""
        content, role = message["content"], message["role"]
        if role == "system":
            options = {key: value for block in content for key, value in _options(block).get("providerOptions", {}).items()}
            said = "".join(block["text"] for block in content)
            self.out.append({"role": "system", "content": said, **({"providerOptions": options} if options else {})})
        elif role == "user":
            self._put("user", [_part(block) for block in content])
        elif role == "assistant":
            self._assistant(message, place)

    def _assistant(self, message: Wire, place: str) -> None:
        for each in self.rounds.of(message, place, _steps(message)):
            if each.kind == "said":
                self._round(each.blocks)
            elif each.kind == "hints":
                for _, block in each.blocks:
                    hint = block["hint"]
                    self._put("user", [{"type": "text", "text": hint}] if isinstance(hint, str) else [_part(part) for part in hint])

    def _round(self, blocks: list[Placed]) -> None:
        calls = self.rounds.calls(blocks)
        ids = {called.placed.place: called.id for called in calls}
        content: list[Wire] = []
        for placed in blocks:
            block = placed.block
            if block["type"] == "tool_call":
                content += self._call(placed, ids.get(placed.place) or block["id"])
            elif block["type"] != "tool_result":
                content += self._said(placed)
        self._put("assistant", content)
        self._put("tool", [self._result(called) for called in calls])

    def _said(self, placed: Placed) -> list[Wire]:
        """Write what the model said; thinking without text says nothing when what it hid is lost."""
        block = placed.block
        part = _part(block)
        if block["type"] != "thinking" or "providerOptions" in part or not _has_secret(block):
            return [part]
        self.rounds.losses.append(Loss(placed.place, LOST_THINKING))
        return [part] if part["text"] else []

    def _call(self, placed: Placed, call_id: str) -> list[Wire]:
        """Write a call; one that the provider ran has its result beside it."""
        block = placed.block
        call: Wire = {"type": "tool-call", "toolCallId": call_id, "toolName": block["name"], "input": _input(block)}
        if not _is_server(block):
            return [call | _options(block)]
        call |= {"providerExecuted": True, **_options(block)}
        found = self.rounds.take(block["id"])
        if found is None or found.block.get("state") not in {"success", "error"}:
            return [call]  # as the AI SDK writes one that has no output, or was denied
        output = self._output(found)
        if output["type"] in {"error-text", "error-json"}:
            output = {"type": "error-json", "value": output["value"]}
        result = {"type": "tool-result", "toolCallId": call_id, "toolName": block["name"], "output": output}
        return [call, result | (_result_options(found.block) or _options(block))]

    def _result(self, called: Called) -> Wire:
        block = called.placed.block
        found = self.rounds.answer(called.placed)
        output: Wire = {"type": "error-text", "value": NOT_RUN} if found is None else self._output(found)
        return {"type": "tool-result", "toolCallId": called.id, "toolName": block["name"], "output": output, **_options(block)}

    def _output(self, found: Placed) -> Wire:
        """Write what a tool gave."""
        block = found.block
        output, state = block["output"], block.get("state", "success")
        blocks: list[Wire] = [] if isinstance(output, str) else output
        text = output if isinstance(output, str) else "".join(part["text"] for part in blocks if part["type"] == "text")
        if state == "denied":
            return {"type": "execution-denied", **({"reason": text} if text else {})}
        if state != "success":
            if state != "error":
                self.rounds.losses.append(Loss(f"{found.place}/state", STATE))
            return {"type": "error-text", "value": text}
        if any(part["type"] != "text" for part in blocks):
            for j, part in enumerate(blocks):
                if part.get("name"):
                    self.rounds.losses.append(Loss(f"{found.place}/output/{j}/name", NAME))
            return {"type": "content", "value": [_output_part(part) for part in blocks]}
        if _own(block.get("metadata")).get("outputType") == "json":
            return {"type": "json", "value": _parsed(text)}
        return {"type": "text", "value": text}

    def _put(self, role: str, content: list[Wire]) -> None:
        if content:
            self.out.append({"role": role, "content": content})


def _steps(message: Wire) -> frozenset[int]:
    """Give where steps begin, but for the first."""
    steps = _own(message.get("metadata")).get("steps")
    return frozenset(step for step in steps if isinstance(step, int)) if is_array(steps) else frozenset()


def _own(metadata: Any) -> Wire:
    own = metadata.get("vercel") if is_object(metadata) else None
    return own if is_object(own) else {}


def _extra(block: Wire) -> Wire:
    extra = block.get("x_vercel")
    return extra if is_object(extra) else {}


def _is_server(block: Wire) -> bool:
    return _extra(block).get("providerExecuted") is True


def _options(block: Wire) -> Wire:
    """Give what a provider said of a block, to be given back to it."""
    given = _extra(block).get("providerMetadata")
    if is_object(given) and all(is_object(item) for item in given.values()):
        return {"providerOptions": copy_json(given)}
    # What other dialects keep for a provider.
    provider = _signer(block)
    fields = block.get("x_gemini")
    signature = fields.get("thoughtSignature") if provider == "google" and is_object(fields) else None
    options = {"thoughtSignature": signature} if isinstance(signature, str) and signature else {}
    if block["type"] == "thinking":
        options |= {theirs: block[ours] for ours, theirs in _SECRETS.get(provider, {}).items() if _is_text(block.get(ours))}
    return {"providerOptions": {provider: options}} if options else {}


def says(block: Wire, field: str) -> bool:
    """Tell whether the options of a block say what it has in a provider's field: all of the AI SDK's own, and of Google's the signature."""
    if field == "x_vercel":
        return True
    options: Wire = _options(block).get("providerOptions", {}) if block["type"] != "tool_result" else {}
    google: Wire = options.get("google", {})
    return field == "x_gemini" and block[field] == {"thoughtSignature": google.get("thoughtSignature")}


def _signer(block: Wire) -> str:
    """
    Name the provider that signed a block, as the AI SDK calls it; empty when that is neither Anthropic nor Google.

    Whose fields a block has, its signature is; what nobody has fields on is Anthropic's, which signs and says nothing else.
    """
    whose = {key for key in block if key.startswith("x_") and block[key] is not None} - {"x_vercel"}
    return "google" if whose == {"x_gemini"} else "" if whose - {"x_anthropic"} else "anthropic"


def _has_secret(block: Wire) -> bool:
    """Tell whether thinking holds something that only its provider can read."""
    return any(_is_text(block.get(name)) for name in _SECRETS["anthropic"])


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _result_options(block: Wire) -> Wire:
    given = _own(block.get("metadata")).get("providerMetadata")
    return {"providerOptions": copy_json(given)} if is_object(given) else {}


def _input(block: Wire) -> Any:
    """Give a call's arguments; what is no JSON stays text."""
    extra, text = _extra(block), block["input"]
    if "input" in extra:
        return copy_json(extra["input"])
    if extra.get("inputEncoding") == "text":
        return text
    return _parsed(text) if text.strip() else {}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _part(block: Wire) -> Wire:
    """Write a block as a part of a message."""
    if block["type"] == "text":
        return {"type": "text", "text": block["text"], **_options(block)}
    if block["type"] == "thinking":
        return {"type": "reasoning", "text": block["thinking"], **_options(block)}
    source = block["source"]
    data = source["url"] if source["type"] == "url" else f"data:{source['media_type']};base64,{source['data']}"
    name = {"filename": block["name"]} if block.get("name") else {}
    return {"type": "file", "mediaType": source["media_type"], "data": data, **name, **_options(block)}


def _output_part(block: Wire) -> Wire:
    """Write a block as a part of a tool's output."""
    if block["type"] == "text":
        return {"type": "text", "text": block["text"]}
    source = block["source"]
    image = source["media_type"].startswith("image/")
    if source["type"] == "url":
        return (
            {"type": "image-url", "url": source["url"]}
            if image
            else {"type": "file-url", "url": source["url"], "mediaType": source["media_type"]}
        )
    return {"type": "image-data" if image else "file-data", "data": source["data"], "mediaType": source["media_type"]}
