"""
One choice of a response -> one reply.

Law: text, thinking and data follow each other: what begins closes what was there. Calls stay open until the choice ends, so
that their pieces may come in any order. A delta and a whole message are read alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.response import Response
from eventfold.jsonvalue import is_array, is_object

from . import media
from .calls import Call, Calls, Piece
from .fields import Halves, absorb, error_of, gather, json_text, mended, text_of, tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from eventfold.shape import Wire

    Say = Callable[[str, str, str], None]

#: Fields of a delta that hold thinking. They repeat each other: the first that says something counts, `reasoning_details` before all.
REASONING = ("reasoning_content", "reasoning", "reasoning_text")
DETAILS = "reasoning_details"
#: What of a detail is thinking.
_DETAIL_TEXT = ("text", "summary")
#: Fields of a delta that are read one by one.
_READ = frozenset({*REASONING, DETAILS, "role", "content", "refusal", "audio", "images", "annotations", "tool_calls", "function_call"})
#: Reasons of an end that leave the arguments of a call cut, if they are not whole. None: nobody said why.
_CUTTING = frozenset({"length", "content_filter", "max_tokens", None})
#: Names of the texts of a choice: what they are called in `x_openai.type`.
_TEXTS = {"content": None, "refusal": "refusal", "transcript": "transcript"}
#: What is heard and what is read of it come side by side.
_SOUND = frozenset({"audio", "transcript"})


class Choice:
    """Writes the events of one choice."""

    def __init__(self, response: Response, say: Say, custom: Callable[[str, Wire], Any]) -> None:
        self.finish: str | None = None  #: finish_reason
        self.fields: Wire = {}  #: of the choice
        self.message: Wire = {}  #: fields of its deltas that no block holds
        self.error: Any = None  #: what the provider says went wrong
        self._response = response
        self._say = say
        self._custom = custom
        self._pointer = ""  #: of the choice that is read
        self._calls = Calls(lambda rule, detail: say(rule, detail, f"{self._pointer}/tool_calls"))
        self._halves = Halves()
        self._audio = media.Audio()
        self._notes: dict[Hashable, Wire] = {}  #: what closing a block sets on it
        self._citations: list[Any] = []

    def read(self, choice: Wire, pointer: str) -> Iterator[Any]:
        """Read a choice of a chunk, or of a whole response."""
        self._pointer = pointer
        known = {"index", "delta", "message", "finish_reason", "logprobs", "error", "usage"}
        absorb(self.fields, {key: value for key, value in choice.items() if key not in known})
        self.error = mended(choice.get("error")) or self.error
        name = "message" if is_object(choice.get("message")) else "delta"
        delta = choice.get(name)
        if is_object(delta):
            self._pointer = f"{pointer}/{name}"
            late, wrote = self.finish, False
            for event in self._delta(delta, whole=name == "message"):
                wrote = True
                yield event
            self._pointer = pointer
            if late is not None and wrote:
                self._say("openai-chat.after-finish", f"the choice goes on after its finish_reason {late!r}", f"{pointer}/{name}")
        elif delta is not None:
            self._unfit(f"/{name}", "an object", delta)
        if choice.get("logprobs") is not None:
            self._logprobs(choice["logprobs"])
        self._finish(choice.get("finish_reason"))

    def end(self, usage: Wire, top: Wire, *, done: bool) -> Iterator[Any]:
        """End the reply. `top` are the fields of the response, `done` tells whether its stream was ended by the provider."""
        self._pointer = ""
        for key in self._halves.waiting():
            yield from self._fill(key)
        if self._audio.cut:
            self._say("openai-chat.not-base64", "the data of the audio ends within a group", "")
        self._calls.complete()
        yield from self._close_all()
        for call in self._calls.all:
            yield from self._start(call)
            yield from self._rest(call)
            self._response.extra(call, x_openai=call.extra or None)
        self._settle(usage, top)
        if self.error is not None:
            yield from self._response.end("error", error_of(self.error))
        elif self.finish is None and not done:
            self._say("openai-chat.truncated", f"the reply {self._response.reply_id!r} has no finish_reason, and no [DONE] follows", "")
            yield from self._response.stop("the stream stopped before the response was finished")
        else:
            if self.finish is None:
                self._say("openai-chat.no-finish-reason", f"the reply {self._response.reply_id!r} has no finish_reason", "")
            cut = [call for call in self._calls.all if self.finish in _CUTTING and not call.whole]
            if cut:
                detail = f"the arguments of the call {cut[0].id!r} are cut (finish_reason {self.finish!r})"
                self._say("openai-chat.cut-arguments", detail, "")
                yield from self._response.end("error", {"type": "upstream", "message": detail})
            else:
                yield from self._response.end()

    def _settle(self, usage: Wire, top: Wire) -> None:
        """Give the response its usage, and metadata of what no block holds."""
        tokens, wrong = tokens_of(usage)
        for pointer in wrong:
            self._say("openai-chat.not-a-count", f"the usage's {pointer} is no count of tokens", "")
        left = {key: value for key, value in usage.items() if key not in {"prompt_tokens", "completion_tokens"} or f"/{key}" in wrong}
        if self._citations:
            self.message["annotations"] = self._citations
        for notes in self._notes.values():
            gather(self.message, notes)
        metadata = {**top, **self.fields}
        last = {"finish_reason": self.finish, "usage": mended(left), "message": self.message, "error": self.error}
        metadata |= {key: value for key, value in last.items() if value}
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
        yield from self._write("text", "refusal", self._string(delta, "refusal"))
        yield from self._images(delta.get("images"))
        yield from self._sound(delta.get("audio"))
        self._annotations(delta.get("annotations"))
        entries = delta.get("tool_calls")
        for i, entry in enumerate(self._list(entries, "/tool_calls")):
            yield from self._call(entry, f"/tool_calls/{i}", i if whole else None)
        if delta.get("function_call") is not None:
            yield from self._function(delta["function_call"])
        rest = {key: value for key, value in delta.items() if key not in _READ}
        if delta.get("role") not in {None, "", "assistant"}:
            absorb(self.message, {"role": delta["role"]})
        gather(self.message, rest)

    # --- thinking --------------------------------------------------------------------------------

    def _thinking(self, delta: Wire) -> Iterator[Any]:
        details = [detail for detail in self._list(delta.get(DETAILS), f"/{DETAILS}") if is_object(detail)]
        said = "".join(text for detail in details for text in (_text_in(detail, _DETAIL_TEXT),))
        for detail in details:
            yield from self._detail(detail)
        chosen = DETAILS if said else ""
        for name in REASONING:
            text = self._string(delta, name)
            if not text:
                continue
            if not said:
                said, chosen = text, name
                self._notes.setdefault(name, {})["x_openai"] = {"field": name}
                yield from self._write("thinking", name, text)
            elif text != said:
                self._say("openai-chat.reasoning-differs", f"{name} and {chosen} say different things", f"{self._pointer}/{name}")
                yield self._custom("reasoning", {name: mended(text)})

    def _detail(self, detail: Wire) -> Iterator[Any]:
        index = detail.get("index")
        key = (DETAILS, text_of(detail.get("type")), index if isinstance(index, int) else text_of(detail.get("id")))
        notes = self._notes.setdefault(key, {})
        text = _text_in(detail, _DETAIL_TEXT)
        secrets = {"signature": detail.get("signature"), "redacted_thinking_data": detail.get("data")}
        gather(notes, {name: value for name, value in secrets.items() if isinstance(value, str) and value})
        rest = {name: value for name, value in detail.items() if name not in {*_DETAIL_TEXT, "signature", "data"}}
        odd = {name: detail[name] for name in (*_DETAIL_TEXT, "signature", "data") if not isinstance(detail.get(name), str | None)}
        absorb(notes.setdefault("x_openai", {}).setdefault(DETAILS, {}), {**rest, **odd})
        if text:
            yield from self._write("thinking", key, text)
        elif len(notes) > 1:
            yield from self._begin("thinking", key)

    # --- text and data ---------------------------------------------------------------------------

    def _content(self, content: Any) -> Iterator[Any]:
        if isinstance(content, str):
            yield from self._write("text", "content", content)
            return
        for i, part in enumerate(self._list(content, "/content")):
            kind = part.get("type") if is_object(part) else None
            if kind == "text":
                yield from self._write("text", "content", self._string(part, "text"))
            elif kind == "refusal":
                yield from self._write("text", "refusal", self._string(part, "refusal"))
            elif kind == "thinking":
                absorb(self._notes.setdefault(kind, {}).setdefault("x_openai", {}), {k: v for k, v in part.items() if k != "thinking"})
                yield from self._write("thinking", kind, "".join(_texts_of(part.get("thinking"))))
            elif kind == "image_url":
                yield from self._images([part])
            elif is_object(part):
                yield self._custom("part", mended(part))
            else:
                self._unfit(f"/content/{i}", "an object", part)

    def _images(self, images: Any) -> Iterator[Any]:
        for i, image in enumerate(self._list(images, "/images")):
            found = media.image_of(image)
            if found is None:
                self._unfit(f"/images/{i}", "an image_url", image)
                continue
            media_type, content, rest = found
            key = ("images", len(self._response.parts))
            yield from self._begin("data", key, media_type=media_type)
            yield from self._response.data(key, media_type, **content)
            self._notes[key] = {"x_openai": rest}
            yield from self._close(key)

    def _sound(self, audio: Any) -> Iterator[Any]:
        if not is_object(audio):
            if audio is not None:
                self._unfit("/audio", "an object", audio)
            return
        yield from self._write("text", "transcript", self._string(audio, "transcript"))
        data = self._audio.take(audio)
        if data:
            yield from self._begin("data", "audio", media_type=self._audio.media_type)
            yield from self._response.data("audio", self._audio.media_type, data=data)
        if self._audio.wrong:
            self._say("openai-chat.not-base64", "the data of the audio is not base64; the piece is dropped", f"{self._pointer}/audio/data")

    def _annotations(self, annotations: Any) -> None:
        self._citations += [mended(item) for item in self._list(annotations, "/annotations") if mended(item) not in self._citations]
        if self._response.is_open("content") and self._citations:
            notes = self._notes.setdefault("content", {}).setdefault("x_openai", {})
            gather(notes, {"annotations": self._citations})
            self._citations = []

    def _logprobs(self, logprobs: Any) -> None:
        if not is_object(logprobs):
            self._unfit("/logprobs", "an object", logprobs)
            return
        for name, tokens in logprobs.items():
            if not tokens:
                continue
            if name in _TEXTS and is_array(tokens) and self._response.is_open(name):
                notes = self._notes.setdefault(name, {}).setdefault("x_openai", {})
                notes.setdefault("logprobs", []).extend(mended(tokens))
            elif is_array(tokens):
                self.fields.setdefault("logprobs", {}).setdefault(mended(name), []).extend(mended(tokens))
            else:
                absorb(self.fields.setdefault("logprobs", {}), {name: tokens})

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
        kind = "custom" if is_object(entry.get("custom")) else "function"
        function = entry.get(kind)
        if not is_object(function):
            if function is not None:
                self._unfit(f"{pointer}/{kind}", "an object", function)
            function = {}
        call = self._calls.take(Piece(index, text_of(entry.get("id")), text_of(function.get("name"))))
        grows = "input" if kind == "custom" else "arguments"
        rest = {key: value for key, value in entry.items() if key not in {"index", "id", "type", kind}}
        inner = {key: value for key, value in function.items() if key not in {"name", grows}}
        if rest := rest | ({kind: inner} if inner else {}):
            gather(call.extra.setdefault("tool_call", {}), rest)
        if kind == "custom" or entry.get("type") not in {None, "", "function"}:
            absorb(call.extra, {"type": entry.get("type") or kind})
        yield from self._arguments(call, function.get(grows), f"{pointer}/{kind}/{grows}")

    def _function(self, function: Any) -> Iterator[Any]:
        """Read function_call, of the time before tool_calls: a choice has at most one."""
        if not is_object(function):
            self._unfit("/function_call", "an object", function)
            return
        call = self._calls.take(Piece(-1, "", text_of(function.get("name"))))
        call.extra["type"] = "function_call"
        if not call.id:
            call = self._calls.take(Piece(-1, "call_function", ""))
        if rest := {key: value for key, value in function.items() if key not in {"name", "arguments"}}:
            gather(call.extra.setdefault("tool_call", {}), rest)
        yield from self._arguments(call, function.get("arguments"), "/function_call/arguments")

    def _arguments(self, call: Call, arguments: Any, pointer: str) -> Iterator[Any]:
        if arguments is None:
            return
        if not isinstance(arguments, str):
            self._say("openai-chat.arguments-not-text", "the arguments are JSON and no text that holds it", f"{self._pointer}{pointer}")
            arguments = json_text(arguments)
        text, lone = self._halves.join(call, arguments)
        self._mind(pointer, lone=lone)
        if not text:
            return
        call.text.append(text)
        call.held.append(text)
        if call.started or call.ready:
            yield from self._start(call)
            yield from self._rest(call)

    def _start(self, call: Call) -> Iterator[Any]:
        """Tell a call, and before it those that began earlier, if they can be told."""
        if call.started:
            return
        for other in [*self._calls.waiting(call), call]:
            other.started = True
            yield from self._close_all()
            yield from self._response.call(other, other.id, other.name)

    def _rest(self, call: Call) -> Iterator[Any]:
        for text in call.held:
            yield from self._response.arguments(call, text)
        call.held.clear()

    def _fill(self, key: Hashable) -> Iterator[Any]:
        """Say a half of a character that no other half follows."""
        if half := self._halves.left(key):
            self._mind("", lone=True)
            if isinstance(key, Call):
                yield from self._arguments(key, half, "")
            else:
                yield from self._write("text" if key in _TEXTS else "thinking", key, half)

    # --- blocks ----------------------------------------------------------------------------------

    def _write(self, kind: str, key: Hashable, text: str) -> Iterator[Any]:
        """Append to a text, which is begun when it says something for the first time."""
        text, lone = self._halves.join(key, text)
        self._mind("", lone=lone)
        if text:
            yield from self._begin(kind, key)
            yield from self._response.append(kind, key, text)

    def _begin(self, kind: str, key: Hashable, **fields: Any) -> Iterator[Any]:
        """Open a block, unless it is open. What was there is closed; calls that wait are told, since they stand before it."""
        for call in list(self._calls.waiting()):
            yield from self._start(call)
        if self._response.is_open(key):
            return
        yield from self._close_all(_SOUND if key in _SOUND else frozenset())
        yield from self._response.open(kind, key, **fields)

    def _close_all(self, but: frozenset[str] = frozenset()) -> Iterator[Any]:
        for key in [key for key, part in self._response.parts.items() if part.open and part.kind != "tool_call"]:
            if key not in but:
                yield from self._close(key)

    def _close(self, key: Hashable) -> Iterator[Any]:
        if half := self._halves.left(key):
            self._mind("", lone=True)
            yield from self._response.append(self._response.parts[key].kind, key, half)
        notes = self._notes.pop(key, {})
        own: Wire = notes.setdefault("x_openai", {})
        if isinstance(key, str) and _TEXTS.get(key):
            own["type"] = _TEXTS[key]
        if key == "content" and self._citations:
            gather(own, {"annotations": self._citations})
            self._citations = []
        if key in _SOUND:
            gather(own, {"audio": self._audio.fields} if self._audio.fields else {})
        self._response.extra(key, **{name: value for name, value in notes.items() if value})
        yield from self._response.close(key)

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

    def _mind(self, pointer: str, *, lone: bool) -> None:
        if lone:
            self._say("openai-chat.lone-surrogate", "half of a character stands without its other half", f"{self._pointer}{pointer}")


def _text_in(fields: Wire, names: tuple[str, ...]) -> str:
    return "".join(fields[name] for name in names if isinstance(fields.get(name), str))


def _texts_of(value: Any) -> Iterator[str]:
    """Give the texts of a thinking part: one, or a list of parts."""
    if isinstance(value, str):
        yield value
    for part in value if is_array(value) else []:
        if is_object(part) and isinstance(part.get("text"), str):
            yield part["text"]
