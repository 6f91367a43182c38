"""
A stream of chunks, or whole responses -> the events of their replies.

Law: a response goes on until [DONE], the same response as a whole, another one or the end of the stream; what comes after its
last finish_reason (usage, moderation) is still of it. Each of its choices is a reply, and the first has the usage, since there
was one model call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.dialects.halves import mended
from eventfold.dialects.response import Response
from eventfold.dialects.translation import UNFIT, UNKNOWN, Decoder, Unfit
from eventfold.jsonvalue import depth_of, is_array, is_object

from .choice import Choice
from .fields import absorb, is_message, text_of, time_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

#: The objects of the protocol begin so: chat.completion, chat.completion.chunk, chat.completion.done.
OBJECT = "chat.completion"
#: Deepest nesting of a value that is read. What is kept of it stands deeper in the message.
_DEEPEST = 60
#: Fields of a chunk that are read one by one. `obfuscation` is padding against eavesdroppers on lengths, and says nothing.
_READ = frozenset({"id", "object", "created", "choices", "usage", "error", "obfuscation"})


class _Answer:
    """A response that is being read."""

    def __init__(self) -> None:
        self.id = ""  #: the provider's, once it is known
        self.name = ""  #: of its first reply, once that begins
        self.fields: Wire = {}  #: of its chunks, as last said
        self.usage: Wire = {}
        self.error: Any = None
        self.choices: dict[int, Choice] = {}
        self.whole = False  #: whether nothing of it is to come: it came in one piece, or a whole one closes its stream

    @property
    def finished(self) -> bool:
        """Tell whether every choice has a finish_reason."""
        return bool(self.choices) and all(choice.finish is not None for choice in self.choices.values())


class ChatDecoder(Decoder):
    """Reads the values of a stream."""

    halves = True

    def __init__(self) -> None:
        super().__init__()
        self._answer: _Answer | None = None
        self._last = ""  #: id of the response before
        self._names: set[str] = set()
        self._count = 0
        self._held: Wire | None = None  #: what Azure says of a prompt, after a response: the next chunk says whose it is

    def decode(self, value: Any) -> Iterator[Any]:
        """Read a chunk, a whole response or an error."""
        if not is_object(value):
            raise Unfit(UNFIT, "a chunk is a JSON object")
        if (depth := depth_of(value)) > _DEEPEST:
            raise Unfit(UNFIT, f"nested {depth} deep; at most {_DEEPEST} is read")
        if not _is_chunk(value):
            if not value.get("error"):
                self.remark(UNKNOWN, "neither a chunk of a response nor an error")
                yield self._custom("value", mended(value))
                return
        elif self._answer is None and self._is_late(value):
            self.remark("openai-chat.after-done", "the response has ended with [DONE]")
            yield self._custom("value", mended(value))
            return
        if self._answer is not None and self._answer.finished and "prompt_filter_results" in value and not _choices(value):
            yield from self._take_held()
            self._held = value
            return
        if self._answer is not None and self._is_other(self._answer, value):
            yield from self._end(done=False)
        yield from self._take_held()
        yield from self._take(value)
        if self._answer is not None and self._answer.whole:
            yield from self._end(done=True)

    def done(self) -> Iterator[Any]:
        """End the response: the provider says that it is complete."""
        yield from self._take_held()
        yield from self._end(done=True)

    def end(self) -> Iterator[Any]:
        """End the response that is left."""
        yield from self._take_held()
        yield from self._end(done=False)

    def _take_held(self) -> Iterator[Any]:
        held, self._held = self._held, None
        if held is not None:
            yield from self._take(held)

    # --- which response --------------------------------------------------------------------------

    def _is_late(self, value: Wire) -> bool:
        """Tell whether a chunk after [DONE] is still of the response before."""
        return bool(self._last) and text_of(value.get("id")) == self._last and not _begins(value)

    def _is_other(self, answer: _Answer, value: Wire) -> bool:
        """Tell whether a value is of another response than the one that is being read."""
        given = text_of(value.get("id"))
        if _is_whole(value):
            # MiniMax closes a stream with the whole response, which has the id of the one that was streamed.
            return not given or given != answer.id
        if not given or given == answer.id:
            return False
        if not answer.id:
            return answer.finished and bool(_choices(value))
        if _begins(value) or (answer.finished and _choices(value)):
            return True
        self.remark("openai-chat.id-changed", f"id is {given!r}, that of the response is {answer.id!r}", "/id")
        return False

    # --- reading ---------------------------------------------------------------------------------

    def _take(self, value: Wire) -> Iterator[Any]:
        begun = self._answer is None
        if self._answer is None:
            self._answer = _Answer()
            self._count += 1
        answer = self._answer
        self.now = time_of(value.get("created")) or self.now
        given = text_of(value.get("id"))
        answer.id = answer.id or given
        absorb(answer.fields, {key: item for key, item in value.items() if key not in _READ})
        absorb(answer.fields, {} if _is_known(value.get("object")) else {"object": value.get("object")})
        if answer.name and answer.name != answer.id:
            absorb(answer.fields, {"id": answer.id})
        answer.error = mended(value.get("error")) or answer.error
        groq = answer.fields.get("x_groq")
        self._spend(groq.get("usage") if is_object(groq) else None, "/x_groq/usage")
        choices = value.get("choices")
        if choices is not None and not is_array(choices):
            self.remark(UNFIT, f"{type(choices).__name__} where an array is expected", "/choices")
        for i, choice in enumerate(_choices(value)):
            pointer = f"/choices/{i}"
            if not is_object(choice):
                self.remark(UNFIT, f"{type(choice).__name__} where an object is expected", pointer)
                continue
            self._spend(choice.get("usage"), f"{pointer}/usage")
            index = choice.get("index", i)
            if isinstance(index, bool) or not isinstance(index, int):
                self.remark(UNFIT, f"{type(index).__name__} where a whole number is expected", f"{pointer}/index")
                index = i
            if index not in answer.choices:
                yield from self._open(answer, index)
            yield from answer.choices[index].read(choice, pointer, value.get("object"))
        self._spend(value.get("usage"), "/usage")
        answer.whole = _is_whole(value) and (begun or answer.finished)

    def _name(self, answer: _Answer) -> None:
        """Name a response: by its id, unless that is empty or an earlier response has it."""
        base = answer.name = answer.id or f"response-{self._count}"
        count = 1
        while answer.name in self._names:
            count += 1
            answer.name = f"{base}~{count}"
        if answer.id and answer.name != answer.id:
            self.remark("openai-chat.id-reused", f"{answer.id!r} is the id of an earlier response; this one is {answer.name!r}", "/id")
            answer.fields["id"] = answer.id

    def _open(self, answer: _Answer, index: int) -> Iterator[Any]:
        """Begin the reply of a choice."""
        if not answer.name:
            self._name(answer)
        name = answer.name if index == 0 else f"{answer.name}#{index}"
        while index and name in self._names:
            name += "~"
        self._names.add(name)
        response = Response(self.event, name)
        answer.choices[index] = Choice(response, self.remark, self._custom)
        metadata = {"openai": mended(answer.fields)} if answer.fields else None
        yield from response.start(text_of(answer.fields.get("model")), metadata=metadata)

    def _spend(self, usage: Any, pointer: str) -> None:
        """Note the usage: it counts as last said, whoever says it."""
        if usage is not None and not is_object(usage):
            self.remark(UNFIT, f"{type(usage).__name__} where an object is expected", pointer)
        if is_object(usage) and usage and self._answer is not None:
            self._answer.usage = mended(usage)

    def _end(self, *, done: bool) -> Iterator[Any]:
        answer = self._answer
        if answer is None:
            return
        self._answer, self._last = None, answer.id
        if not answer.choices:
            yield from self._open(answer, 0)
        usage = answer.usage
        for _, choice in sorted(answer.choices.items()):
            choice.error = choice.error or answer.error
            yield from choice.end(usage, mended(answer.fields), done=done)
            usage = {}

    def _custom(self, what: str, value: Wire) -> Any:
        return self.event(structs.CustomEvent, name=f"openai_chat.{what}", value=value)


def _is_known(name: Any) -> bool:
    return isinstance(name, str) and name.startswith(OBJECT)


def _is_chunk(value: Wire) -> bool:
    return "choices" in value or _is_known(value.get("object")) or (is_object(value.get("usage")) and "type" not in value)


def _choices(value: Wire) -> list[Any]:
    choices = value.get("choices")
    return choices if is_array(choices) else []


def _is_whole(value: Wire) -> bool:
    """Tell whether a value holds a whole response, or as much of it as there is."""
    held = [choice for choice in _choices(value) if is_object(choice) and is_object(choice.get("message"))]
    return any(is_message(choice, value.get("object")) for choice in held)


def _begins(value: Wire) -> bool:
    """Tell whether a value looks like the first of a response: only that has to say a role."""
    deltas = [choice.get("message") or choice.get("delta") for choice in _choices(value) if is_object(choice)]
    return any(is_object(delta) and delta.get("role") for delta in deltas)


def is_chat(value: Any) -> bool:
    """Tell whether a value is a chunk or a whole response, and of no other format."""
    if not is_object(value) or not is_array(value.get("choices")):
        return False
    named = _is_known(value.get("object")) or "prompt_filter_results" in value
    deltas = [is_object(choice) and any(is_object(choice.get(name)) for name in ("delta", "message")) for choice in value["choices"]]
    return named or (bool(deltas) and all(deltas) and "type" not in value)


def is_error(value: Any) -> bool:
    """Tell whether a value is an error as OpenAI's interfaces answer, and all that take after them."""
    error = value.get("error") if is_object(value) and set(value) == {"error"} else None
    return is_object(error) and isinstance(error.get("message"), str) and {"type", "code"} <= set(error)
