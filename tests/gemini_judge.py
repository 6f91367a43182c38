"""Google's own SDK as a judge: what its client keeps of a stream, and whether its types take a request."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

with warnings.catch_warnings():
    # The SDK warns when it is loaded, of what it will no longer load itself.
    warnings.simplefilter("ignore")
    import httpx2
    from google import genai
    from google.genai import types

if TYPE_CHECKING:
    from pathlib import Path

    from support import Wire


def kept(path: Path) -> tuple[list[Wire], list[Wire]]:
    """Give the parts that a chat of the SDK's client keeps of a recorded stream, and the usage of each chunk."""
    raw = path.read_bytes()
    if path.suffix == ".jsonl":
        raw = b"".join(b"data: " + line + b"\r\n\r\n" for line in raw.splitlines() if line.strip())
    answer = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=raw)
    usages: list[Wire] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transport = httpx2.MockTransport(lambda _: answer)
        client = genai.Client(api_key="x", http_options=types.HttpOptions(httpx_client=httpx2.Client(transport=transport)))
        chat: Any = client.chats.create(model="gemini-x")
        for chunk in chat.send_message_stream("hi"):
            usages += [written(chunk.usage_metadata)] if chunk.usage_metadata else []
        history: list[Any] = [content for content in chat.get_history() if content.role != "user"]
    parts: list[Any] = [part for content in history for part in list[Any](content.parts or [])]
    return [written(part) for part in parts], usages


def parsed(chunks: list[Wire]) -> list[Wire]:
    """Give the parts that the SDK's types read of chunks."""
    read = [types.GenerateContentResponse.model_validate(chunk) for chunk in chunks]
    contents = [candidate.content for chunk in read for candidate in chunk.candidates or [] if candidate.content]
    return [written(part) for content in contents for part in content.parts or []]


def takes(request: Wire) -> Wire:
    """Give a request as the SDK's types read it, and write it again. Raises when they refuse it."""
    system = request.get("systemInstruction")
    return {
        "contents": [written(types.Content.model_validate(content)) for content in request["contents"]],
        **({"systemInstruction": written(types.Content.model_validate(system))} if system else {}),
    }


def written(model: Any) -> Wire:
    """Write a value of the SDK as it goes over the wire; bytes in the usual alphabet."""
    return _plain(model.model_dump(mode="json", by_alias=True, exclude_none=True))


def dumped(chunk: Wire) -> Wire:
    """Give a chunk as the SDK dumps its own object of it: with the names of Python."""
    return types.GenerateContentResponse.model_validate(chunk).model_dump(mode="json", exclude_none=True)


def _plain(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _plain(item, str(name)) for name, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  JSON
    if isinstance(value, list):
        return [_plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType]  JSON
    if isinstance(value, str) and key in {"data", "thoughtSignature"}:
        return value.replace("-", "+").replace("_", "/")
    return value
