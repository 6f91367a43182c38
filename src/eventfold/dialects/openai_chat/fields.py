"""
What is read of a provider's fields: strings, times, counts, errors, and how what comes in pieces is put together.

Law: whatever a field holds, nothing is raised, and what is made of it is well-formed Unicode and shares nothing with it.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from eventfold.dialects.halves import mended
from eventfold.effects import LARGEST
from eventfold.jsonvalue import is_array, is_object

if TYPE_CHECKING:
    from eventfold.shape import Wire


#: A `created` beyond this is in milliseconds: in seconds it would be the year 5138.
_SECONDS = 10**11

#: What errors are called, by status or by a word of the provider's `type` or `code`.
_STATUS = {
    **dict.fromkeys((400, 404, 413, 422), "invalid_request"),
    401: "authentication",
    403: "permission",
    429: "rate_limit",
}
_FIRST_OF_SERVER, _LAST_OF_SERVER = 500, 599
_WORDS = {
    "authentication": "authentication",
    "api_key": "authentication",
    "permission": "permission",
    "rate_limit": "rate_limit",
    "quota": "rate_limit",
    "invalid_request": "invalid_request",
    "context_length": "invalid_request",
    "server": "upstream",
    "overloaded": "upstream",
    "upstream": "upstream",
    "timeout": "connection",
}


def text_of(value: Any) -> str:
    """Read an id, a name, a model; empty stands for whatever is no string."""
    return mended(value) if isinstance(value, str) else ""


def json_text(value: Any) -> str:
    """Write a value as JSON text, as the provider would have."""
    return json.dumps(mended(value), ensure_ascii=False)


def is_whole(text: str) -> bool:
    """Tell whether a text is a whole JSON object."""
    if not text.rstrip().endswith("}"):
        return False
    try:
        return is_object(json.loads(text))
    except (ValueError, RecursionError):
        return False


def time_of(created: Any) -> str | None:
    """Write a time in seconds since 1970 as a timestamp; None when it is none."""
    if isinstance(created, bool) or not isinstance(created, int | float):
        return None
    try:
        seconds = created / 1000 if created > _SECONDS else created
        return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z") if seconds > 0 else None
    except (ValueError, OverflowError, OSError):
        return None


def is_message(choice: Wire, name: Any) -> bool:
    """
    Tell whether a choice is told by its message, in a value whose `object` is `name`.

    Perplexity's chunks have both a delta and the message so far, which says again what the deltas before have said.
    """
    delta = choice.get("delta")
    beside = name != "chat.completion" and is_object(delta) and bool(delta)
    return choice.get("message") is not None and not beside


def absorb(into: Wire, fields: Wire) -> None:
    """Take fields over, each time as last said. What is empty says nothing; objects are merged."""
    for key, value in fields.items():
        if value is None or (not value and (is_object(value) or is_array(value) or isinstance(value, str))):
            continue
        name = mended(key)
        old = into.get(name)
        if is_object(old) and is_object(value):
            absorb(old, value)
        else:
            into[name] = mended(value)


def gather(into: Wire, fields: Wire) -> None:
    """Take pieces of fields over: strings and lists grow by what is new, objects are merged, the rest is as last said."""
    for key, value in fields.items():
        name = mended(key)
        old = into.get(name)
        if value is None:
            continue
        if isinstance(old, str) and isinstance(value, str):
            into[name] = old if old == mended(value) else old + mended(value)
        elif is_array(old) and is_array(value):
            old += [item for item in mended(value) if item not in old]
        elif is_object(old) and is_object(value):
            gather(old, value)
        else:
            into[name] = mended(value)


def tokens_of(usage: Wire) -> tuple[Wire, list[str]]:
    """Give the fields of MODEL_CALL_END, and pointers to what is no count."""
    details = usage.get("prompt_tokens_details")
    details = details if is_object(details) else {}
    # The first that says something: OpenAI's own, DeepSeek's, Moonshot's.
    places: dict[str, tuple[tuple[str, Any], ...]] = {
        "input_tokens": (("/prompt_tokens", usage.get("prompt_tokens")),),
        "output_tokens": (("/completion_tokens", usage.get("completion_tokens")),),
        "cache_input_tokens": (
            ("/prompt_tokens_details/cached_tokens", details.get("cached_tokens")),
            ("/prompt_cache_hit_tokens", usage.get("prompt_cache_hit_tokens")),
            ("/cached_tokens", usage.get("cached_tokens")),
        ),
        "cache_creation_input_tokens": (("/prompt_tokens_details/cache_write_tokens", details.get("cache_write_tokens")),),
    }
    tokens: Wire = {}
    wrong: list[str] = []
    for name, candidates in places.items():
        for pointer, count in candidates:
            if count is None:
                continue
            if isinstance(count, float) and count.is_integer():
                count = int(count)  # noqa: PLW2901  as JSON Schema reads it
            if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= LARGEST:
                wrong.append(pointer)
                continue
            tokens[name] = count
            break
    return tokens, wrong


def error_of(error: Any) -> Wire:
    """Say a provider's error as the contract does; its own fields are kept elsewhere."""
    fields = error if is_object(error) else {}
    message = fields.get("message") if is_object(error) else error
    said = mended(message) if isinstance(message, str) and message else json_text(error)
    words = " ".join(str(fields[key]).lower() for key in ("type", "code", "status") if isinstance(fields.get(key), str))
    status = next((fields[key] for key in ("code", "status") if isinstance(fields.get(key), int)), None)
    kind = _STATUS.get(status or 0) or next((name for word, name in _WORDS.items() if word in words), None)
    if kind is None:
        kind = "upstream" if status is not None and _FIRST_OF_SERVER <= status <= _LAST_OF_SERVER else "unknown"
    return {"type": kind, "message": said}
