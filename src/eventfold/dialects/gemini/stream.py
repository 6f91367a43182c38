"""Streams of Gemini, and responses that were not streamed -> events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.halves import repaired
from eventfold.dialects.translation import EPOCH, UNFIT, UNKNOWN, Decoder, Unfit
from eventfold.jsonvalue import copy_json, depth_of, is_array, is_object, shown
from eventfold.wire.json_text import MAX_DEPTH

from .candidate import Candidate
from .names import in_camel_case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

#: Fields by which a chunk is known.
KNOWN = ("candidates", "usageMetadata", "promptFeedback", "modelVersion", "responseId", "createTime", "modelStatus")
#: Fields of what others stream, whatever counts it has.
OF_OTHERS = ("type", "object", "choices", "kind", "jsonrpc", "event")
#: Kinds of error there, and of ours. The rest is "unknown".
ERRORS = {
    "UNAUTHENTICATED": "authentication",
    "PERMISSION_DENIED": "permission",
    "RESOURCE_EXHAUSTED": "rate_limit",
    "INVALID_ARGUMENT": "invalid_request",
    "NOT_FOUND": "invalid_request",
    "FAILED_PRECONDITION": "invalid_request",
    "OUT_OF_RANGE": "invalid_request",
    "INTERNAL": "upstream",
    "UNAVAILABLE": "upstream",
    "UNKNOWN": "upstream",
    "DEADLINE_EXCEEDED": "connection",
    "CANCELLED": "connection",
}
#: What makes the counts that the contract has.
TOKENS = {
    "input_tokens": ("promptTokenCount", "toolUsePromptTokenCount"),
    "output_tokens": ("candidatesTokenCount", "thoughtsTokenCount"),
    "cache_input_tokens": ("cachedContentTokenCount",),
}
_MOST_TOKENS = 2**53 - 1

#: Deepest nesting of a value that is read: what is kept of it stands a few levels deeper in our events.
DEEPEST = MAX_DEPTH - 8


class GeminiDecoder(Decoder):
    """Reads streams of Gemini: each response is a reply, and each further candidate another."""

    halves = True

    def __init__(self) -> None:
        super().__init__()
        self._id = ""  # of the response under way, as the provider gave it
        self._name = ""  # of its first reply
        self._candidates: dict[int, Candidate] = {}
        self._own: Wire = {}  # metadata
        self._usage: Wire = {}
        self._ids: set[str] = set()
        self._began = 0

    def decode(self, value: Any) -> Iterator[Any]:
        """Translate a chunk of a stream, or a whole response."""
        if not is_object(value):
            raise Unfit(UNFIT, f"a chunk is {shown(value)}, expected an object")
        if depth_of(value) > DEEPEST:
            raise Unfit(UNFIT, f"a chunk is nested deeper than {DEEPEST}")
        value = in_camel_case(value)
        chunk: Wire = {key: item if key == "candidates" else repaired(item) for key, item in value.items()}
        if is_object(chunk.get("error")):
            yield from self._error(chunk)
        elif not _is_chunk(chunk):
            self.remark(UNKNOWN, f"a chunk with {shown(sorted(value))}")
            where = {"reply_id": self._name} if self._candidates else {}
            yield self.event(structs.CustomEvent, name="gemini.unknown", value=repaired(copy_json(value)), **where)
        else:
            yield from self._chunk(chunk)

    def done(self) -> Iterator[Any]:
        """End the response at the text [DONE], which gateways send."""
        yield from super().done()
        yield from self._leave()

    def end(self) -> Iterator[Any]:
        """End the response that is under way."""
        yield from self._leave()

    def _chunk(self, chunk: Wire) -> Iterator[Any]:
        candidates = self._candidates_of(chunk)
        given = chunk.get("responseId")
        response_id = given if isinstance(given, str) else ""
        new = bool(response_id and self._id and response_id != self._id)
        says_more = any(_says_something(candidate) for candidate in candidates)
        if self._candidates and (new or (not response_id and says_more and self._finished())):
            yield from self._leave()
        if not self._candidates:
            self._begin(chunk, response_id)
        elif says_more and self._finished():
            self.remark("gemini.after-finish", "content after the finishReason")
        self._id = self._id or response_id
        self._take(chunk)
        for candidate in candidates:
            yield from self._candidate(candidate)
        if not self._candidates:
            yield from self._start(0)

    def _candidates_of(self, chunk: Wire) -> list[Wire]:
        candidates = chunk.get("candidates")
        if candidates is None:
            return []
        if not is_array(candidates) or not all(is_object(candidate) for candidate in candidates):
            self.remark(UNFIT, f"candidates is {shown(candidates)}, expected an array of objects", "/candidates")
        return [candidate for candidate in candidates if is_object(candidate)] if is_array(candidates) else []

    def _candidate(self, candidate: Wire) -> Iterator[Any]:
        index = candidate.get("index", 0)
        if not isinstance(index, int) or isinstance(index, bool) or index < 0:
            self.remark(UNFIT, f"index is {shown(index)}, expected a count", "/candidates/0/index")
            index = 0
        if index not in self._candidates:
            yield from self._start(index)
        there = self._candidates[index]
        content = candidate.get("content")
        for name, item in candidate.items():
            if name not in {"index", "content"} and item is not None:
                there.own[name] = _merged(name, there.own.get(name), repaired(copy_json(item)))
        if content is None:
            return
        parts = content.get("parts") if is_object(content) else content
        if is_object(content):
            rest = {key: repaired(copy_json(item)) for key, item in content.items() if key not in {"parts", "role"} and item is not None}
            if rest:
                there.own.setdefault("content", {}).update(rest)
        if parts is not None and not is_array(parts):
            self.remark(UNFIT, f"content is {shown(content)}, expected an object with parts", "/candidates/0/content")
            return
        for part in parts or []:
            yield from there.part(part)

    def _begin(self, chunk: Wire, response_id: str) -> None:
        """Begin a response."""
        self._began += 1
        self._id, self._own, self._usage = response_id, {}, {}
        time = chunk.get("createTime")
        self.now = time if isinstance(time, str) and time else EPOCH
        self._name = response_id or f"response-{self._began}"
        if self._name in self._ids:
            self.remark("gemini.repeated-id", f"two responses have the id {shown(self._name)}")
        while self._name in self._ids:
            self._name = f"{self._name}#{self._began}"

    def _start(self, index: int) -> Iterator[Any]:
        """Begin the reply of a candidate."""
        name = self._name if index == 0 else f"{self._name}#{index}"
        while name in self._ids:
            name = f"{name}#{index}"
        self._ids.add(name)
        there = self._candidates[index] = Candidate(self, name)
        model = self._own.get("modelVersion")
        metadata = {"gemini": copy_json(self._own)} if self._own else None
        yield from there.response.start(model if isinstance(model, str) else "", metadata=metadata)

    def _take(self, chunk: Wire) -> None:
        """Take what a chunk says of the response."""
        for key, item in chunk.items():
            if key not in {"candidates", "usageMetadata", "responseId"} and item is not None:
                self._own[key] = copy_json(item)
        usage = chunk.get("usageMetadata")
        if is_object(usage):
            if any(key.endswith("TokenCount") for key in usage):
                # The counts are those of the response so far, all of them.
                self._usage = {key: value for key, value in self._usage.items() if "oken" not in key}
            self._usage.update({key: copy_json(value) for key, value in usage.items() if value is not None})
        elif usage is not None:
            self.remark(UNFIT, f"usageMetadata is {shown(usage)}, expected an object", "/usageMetadata")

    def _finished(self) -> bool:
        return bool(self._candidates) and all("finishReason" in there.own for there in self._candidates.values())

    def _error(self, chunk: Wire) -> Iterator[Any]:
        error: Wire = chunk["error"]
        if not self._candidates:
            self._begin(chunk, "")
            self._take(chunk)
            yield from self._start(0)
        else:
            self._take(chunk)
        status, message = error.get("status"), error.get("message")
        kind = ERRORS.get(status, "unknown") if isinstance(status, str) else "unknown"
        yield from self._end_all({"type": kind, "message": message if isinstance(message, str) else str(status)})

    def _leave(self) -> Iterator[Any]:
        """End the response that is under way."""
        feedback = self._own.get("promptFeedback")
        reason = feedback.get("blockReason") if is_object(feedback) else None
        if reason is not None and not self._finished():
            message = feedback.get("blockReasonMessage") if is_object(feedback) else None
            yield from self._end_all({"type": "invalid_request", "message": str(message or f"the prompt was blocked: {reason}")})
        elif self._candidates:
            if not self._finished():
                self.remark("gemini.truncated", f"the response {shown(self._name)} says no finishReason")
            yield from self._end_all(None)

    def _end_all(self, error: Wire | None) -> Iterator[Any]:
        """End all candidates; the first counts the usage."""
        tokens, candidates = self._tokens(), [*self._candidates.values()]
        self._candidates = {}
        for there in candidates:
            there.response.usage, tokens = tokens, {}
            usage = {"usageMetadata": self._usage} if self._usage else {}
            there.own = copy_json({**self._own, **there.own, **usage})
            if error is not None:
                yield from there.end("error", error)
            elif "finishReason" in there.own:
                yield from there.end()
            else:
                yield from there.end("error", {"type": "connection", "message": "the stream broke off before the response ended"})

    def _tokens(self) -> Wire:
        tokens: Wire = {}
        for ours, names in TOKENS.items():
            counts: list[int] = []
            for name in names:
                value = self._usage.get(name, 0)
                if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS // 2:
                    counts.append(value)
                else:
                    self.remark(UNFIT, f"{name} is {shown(value)}, expected a count", f"/usageMetadata/{name}")
            tokens[ours] = sum(counts)
        return tokens


def _says_something(candidate: Wire) -> bool:
    content = candidate.get("content")
    parts = content.get("parts") if is_object(content) else None
    return is_array(parts) and any(is_object(part) and part not in ({}, {"text": ""}) for part in parts)


def _merged(name: str, before: Any, item: Any) -> Any:
    """Join what chunks say of a candidate: lists of log-probabilities and citations go on, objects are filled up, the rest is replaced."""
    if not is_object(item) or not is_object(before):
        return item
    if name in {"logprobsResult", "citationMetadata"}:
        lists = {key: [*before[key], *value] for key, value in item.items() if is_array(value) and is_array(before.get(key))}
        return {**before, **item, **lists}
    return {**before, **item}


def _is_chunk(value: Wire) -> bool:
    known = any(value.get(name) is not None for name in KNOWN)
    return known and ("candidates" in value or not any(name in value for name in OF_OTHERS))
