"""
One choice of a response -> one reply.

Law: a delta and a whole message are read alike, and every field of them goes somewhere: into a block, into the fields of one,
or into the metadata of the reply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.jsonvalue import is_array, is_object

from .blocks import TEXTS, Blocks, arguments_text
from .calls import Piece
from .fields import absorb, error_of, gather, mended, text_of, tokens_of
from .media import image_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventfold.dialects.response import Response
    from eventfold.shape import Wire

    from .calls import Call

#: Fields of a delta that hold thinking. They repeat each other: the first that says something counts, `reasoning_details` before all.
REASONING = ("reasoning_content", "reasoning", "reasoning_text")
DETAILS = "reasoning_details"
#: What of a detail is thinking.
_SAID = ("text", "summary")
_SECRET = {"signature": "signature", "data": "redacted_thinking_data"}
#: Fields that are read one by one.
_OF_CHOICE = frozenset({"index", "delta", "message", "finish_reason", "logprobs", "error", "usage"})
_OF_DELTA = frozenset({*REASONING, DETAILS, "role", "content", "refusal", "audio", "images", "annotations", "tool_calls", "function_call"})
#: Reasons of an end that leave the arguments of a call cut, if they are not whole. None: nobody said why.
_CUTTING = frozenset({"length", "content_filter", "max_tokens", None})


class Choice:
    """Writes the events of one choice."""

    def __init__(self, response: Response, say: Callable[[str, str, str], None], custom: Callable[[str, Wire], Any]) -> None:
        self.finish: str | None = None  #: finish_reason
        self.fields: Wire = {}  #: of the choice, as last said
        self.message: Wire = {}  #: fields of its deltas that no block holds
        self.error: Any = None  #: what the provider says went wrong
        self._response = response
        self._say = say
        self._custom = custom
        self._pointer = ""  #: to what is read
        self._blocks = Blocks(response, lambda rule, detail: say(rule, detail, self._pointer))

    def read(self, choice: Wire, pointer: str) -> Iterator[Any]:
        """Read a choice of a chunk, or of a whole response."""
        self._pointer = pointer
        absorb(self.fields, {key: value for key, value in choice.items() if key not in _OF_CHOICE})
        self.error = mended(choice.get("error")) or self.error
        name = "message" if is_object(choice.get("message")) else "delta"
        delta = choice.get(name)
        if is_object(delta):
            late, wrote = self.finish, False
            self._pointer = f"{pointer}/{name}"
            for event in self._delta(delta, whole=name == "message"):
                wrote = True
                yield event
            if late is not None and wrote:
                self._say("openai-chat.after-finish", f"the choice goes on after its finish_reason {late!r}", self._pointer)
            self._pointer = pointer
        elif delta is not None:
            self._unfit(f"/{name}", "an object", delta)
        self._logprobs(choice.get("logprobs"))
        self._finish(choice.get("finish_reason"))

    def end(self, usage: Wire, top: Wire, *, done: bool) -> Iterator[Any]:
        """End the reply. `top` are the fields of the response, `done` tells whether its stream was ended by the provider."""
        self._pointer = ""
        yield from self._blocks.end()
        self._settle(usage, top)
        name = repr(self._response.reply_id)
        if self.error is not None:
            yield from self._response.end("error", error_of(self.error))
            return
        if self.finish is None and not done:
            self._say("openai-chat.truncated", f"the reply {name} has no finish_reason, and no [DONE] follows", "")
            yield from self._response.stop("the stream stopped before the response was finished")
            return
        if self.finish is None:
            self._say("openai-chat.no-finish-reason", f"the reply {name} has no finish_reason", "")
        cut = next((call for call in self._blocks.calls.all if self._is_cut(call)), None)
        if cut is not None:
            detail = f"the arguments of the call {cut.id!r} are cut (finish_reason {self.finish!r})"
            self._say("openai-chat.cut-arguments", detail, "")
            yield from self._response.end("error", {"type": "upstream", "message": detail})
        else:
            yield from self._response.end()

    def _is_cut(self, call: Call) -> bool:
        """Tell whether the model was stopped while it wrote the arguments of a call."""
        if self.finish not in _CUTTING:
            return False
        if call.extra.get("type") == "custom":
            # Its text may be anything: only the last can be cut.
            return self.finish is not None and call is self._blocks.calls.all[-1]
        return not call.whole and bool(call.text or self.finish)

    def _settle(self, usage: Wire, top: Wire) -> None:
        """Give the response its usage, and metadata of what no block holds."""
        tokens, wrong = tokens_of(usage)
        for pointer in wrong:
            self._say("openai-chat.not-a-count", f"the usage's {pointer} is no count of tokens", "")
        left = {key: value for key, value in usage.items() if key not in {"prompt_tokens", "completion_tokens"} or f"/{key}" in wrong}
        gather(self.message, self._blocks.left())
        last = {"finish_reason": self.finish, "usage": mended(left), "message": self.message, "error": self.error}
        metadata = {**top, **self.fields, **{key: value for key, value in last.items() if value}}
        self._response.usage = tokens
        self._response.metadata = {"openai": metadata} if metadata else {}

    def _finish(self, reason: Any) -> None:
        if not reason:
            return
        if not isinstance(reason, str):
            self._unfit("/finish_reason", "a string", reason)
            return
        reason = mended(reason)
        if self.finish is not None and reason != self.finish:
            self._say("openai-chat.finish-changed", f"finish_reason is {reason!r} after {self.finish!r}", f"{self._pointer}/finish_reason")
        self.finish = reason
        if reason == "error" and self.error is None:
            self.error = {"message": "the provider ended the choice with an error"}

    def _delta(self, delta: Wire, *, whole: bool) -> Iterator[Any]:
        yield from self._thinking(delta)
        yield from self._content(delta.get("content"))
        yield from self._blocks.write("text", "refusal", self._string(delta, "refusal"))
        yield from self._images(delta.get("images"), "/images")
        yield from self._sound(delta.get("audio"))
        self._annotations(delta.get("annotations"))
        for i, entry in enumerate(self._list(delta.get("tool_calls"), "/tool_calls")):
            yield from self._call(entry, f"/tool_calls/{i}", i if whole else None)
        yield from self._function(delta.get("function_call"))
        role = delta.get("role")
        absorb(self.message, {} if role == "assistant" else {"role": role})
        gather(self.message, {key: value for key, value in delta.items() if key not in _OF_DELTA})

    # --- thinking --------------------------------------------------------------------------------

    def _thinking(self, delta: Wire) -> Iterator[Any]:
        details = [detail for detail in self._list(delta.get(DETAILS), f"/{DETAILS}") if is_object(detail)]
        said, chosen = "".join(_said(detail) for detail in details), DETAILS
        for detail in details:
            yield from self._detail(detail)
        for name in REASONING:
            text = self._string(delta, name)
            if text and not said:
                said, chosen = text, name
                self._blocks.note(name)["field"] = name
                yield from self._blocks.write("thinking", name, text)
            elif text and text != said:
                self._say("openai-chat.reasoning-differs", f"{name} and {chosen} say different things", f"{self._pointer}/{name}")
                yield self._custom("reasoning", {name: mended(text)})

    def _detail(self, detail: Wire) -> Iterator[Any]:
        index = detail.get("index")
        key = (DETAILS, text_of(detail.get("type")), index if isinstance(index, int) else text_of(detail.get("id")))
        secret = {name: detail[field] for field, name in _SECRET.items() if isinstance(detail.get(field), str) and detail[field]}
        gather(self._blocks.fields(key), secret)
        rest = {name: value for name, value in detail.items() if not (isinstance(value, str) and name in {*_SAID, *_SECRET})}
        absorb(self._blocks.note(key).setdefault(DETAILS, {}), rest)
        if text := _said(detail):
            yield from self._blocks.write("thinking", key, text)
        elif secret:
            yield from self._blocks.begin("thinking", key)

    # --- text and data ---------------------------------------------------------------------------

    def _content(self, content: Any) -> Iterator[Any]:
        if isinstance(content, str):
            yield from self._blocks.write("text", "content", content)
            return
        for i, part in enumerate(self._list(content, "/content")):
            if not is_object(part):
                self._unfit(f"/content/{i}", "an object", part)
            elif part.get("type") == "text":
                yield from self._blocks.write("text", "content", self._string(part, "text"))
            elif part.get("type") == "refusal":
                yield from self._blocks.write("text", "refusal", self._string(part, "refusal"))
            elif part.get("type") == "thinking":
                absorb(self._blocks.note("thinking"), {key: value for key, value in part.items() if key != "thinking"})
                yield from self._blocks.write("thinking", "thinking", "".join(_texts_of(part.get("thinking"))))
            elif part.get("type") == "image_url":
                yield from self._images([part], f"/content/{i}")
            else:
                yield self._custom("part", mended(part))

    def _images(self, images: Any, pointer: str) -> Iterator[Any]:
        for image in self._list(images, pointer):
            found = image_of(image)
            if found is None:
                self._unfit(pointer, "an image_url", image)
            else:
                yield from self._blocks.image(*found)

    def _sound(self, audio: Any) -> Iterator[Any]:
        if not is_object(audio):
            if audio is not None:
                self._unfit("/audio", "an object", audio)
            return
        yield from self._blocks.write("text", "transcript", self._string(audio, "transcript"))
        sound = self._blocks.audio
        data = sound.take(audio)
        if data:
            yield from self._blocks.data("audio", sound.media_type, data=data)
        if sound.wrong:
            self._say("openai-chat.not-base64", "the data of the audio is not base64; the piece is dropped", f"{self._pointer}/audio/data")

    def _annotations(self, annotations: Any) -> None:
        waiting = self._blocks.citations
        waiting += [item for item in mended(self._list(annotations, "/annotations")) if item not in waiting]
        if waiting and self._blocks.is_open("content"):
            gather(self._blocks.note("content"), {"annotations": waiting})
            self._blocks.citations = []

    def _logprobs(self, logprobs: Any) -> None:
        if not is_object(logprobs):
            if logprobs is not None:
                self._unfit("/logprobs", "an object", logprobs)
            return
        for name, tokens in logprobs.items():
            if is_array(tokens) and tokens and name in TEXTS and self._blocks.is_open(name):
                self._blocks.note(name).setdefault("logprobs", []).extend(mended(tokens))
            elif is_array(tokens) and tokens:
                self.fields.setdefault("logprobs", {}).setdefault(mended(name), []).extend(mended(tokens))
            else:
                absorb(self.fields, {"logprobs": {name: tokens}} if tokens else {})

    # --- calls -----------------------------------------------------------------------------------

    def _call(self, entry: Any, pointer: str, place: int | None) -> Iterator[Any]:
        if not is_object(entry):
            self._unfit(pointer, "an object", entry)
            return
        index = entry.get("index", place)
        if isinstance(index, bool) or not isinstance(index, int):
            if index is not None:
                self._unfit(f"{pointer}/index", "a whole number", index)
            index = None
        kind, grows = ("custom", "input") if is_object(entry.get("custom")) else ("function", "arguments")
        function = entry.get(kind)
        if not is_object(function):
            if function is not None:
                self._unfit(f"{pointer}/{kind}", "an object", function)
            function = {}
        call = self._blocks.calls.take(Piece(index, text_of(entry.get("id")), text_of(function.get("name"))))
        rest = {key: value for key, value in entry.items() if key not in {"index", "id", "type", kind}}
        inner = {key: value for key, value in function.items() if key not in {"name", grows}}
        if rest := rest | ({kind: inner} if inner else {}):
            gather(call.extra.setdefault("tool_call", {}), rest)
        called = text_of(entry.get("type")) or kind
        if kind == "custom" or called != "function":
            call.extra["type"] = kind if called == "function" else called
        yield from self._arguments(call, function.get(grows), f"{pointer}/{kind}/{grows}")

    def _function(self, function: Any) -> Iterator[Any]:
        """Read function_call, of the time before tool_calls: a choice has at most one, without an id."""
        if not is_object(function):
            if function is not None:
                self._unfit("/function_call", "an object", function)
            return
        call = self._blocks.calls.take(Piece(-1, "call_function", text_of(function.get("name"))))
        call.extra["type"] = "function_call"
        if rest := {key: value for key, value in function.items() if key not in {"name", "arguments"}}:
            gather(call.extra.setdefault("tool_call", {}), rest)
        yield from self._arguments(call, function.get("arguments"), "/function_call/arguments")

    def _arguments(self, call: Call, arguments: Any, pointer: str) -> Iterator[Any]:
        if arguments is None:
            return
        if not isinstance(arguments, str):
            self._say("openai-chat.arguments-not-text", "the arguments are JSON and no text that holds it", f"{self._pointer}{pointer}")
        yield from self._blocks.arguments(call, arguments_text(arguments))

    # --- reading ---------------------------------------------------------------------------------

    def _string(self, fields: Wire, name: str) -> str:
        value = fields.get(name)
        if value is not None and not isinstance(value, str):
            self._unfit(f"/{name}", "a string", value)
        return value if isinstance(value, str) else ""

    def _list(self, value: Any, pointer: str) -> list[Any]:
        if value is not None and not is_array(value):
            self._unfit(pointer, "an array", value)
        return value if is_array(value) else []

    def _unfit(self, pointer: str, wanted: str, value: Any) -> None:
        self._say("dialect.unfit", f"{type(value).__name__} where {wanted} is expected", f"{self._pointer}{pointer}")


def _said(detail: Wire) -> str:
    return "".join(detail[name] for name in _SAID if isinstance(detail.get(name), str))


def _texts_of(value: Any) -> Iterator[str]:
    """Give the texts of a thinking part: one, or a list of parts."""
    if isinstance(value, str):
        yield value
    for part in value if is_array(value) else []:
        if is_object(part) and isinstance(part.get("text"), str):
            yield part["text"]
