"""
One choice of a response -> one reply.

Law: the reply ends when the response does, not at the finish_reason, since usage and errors may follow that. What its blocks do
not hold stands in its metadata, under the provider's own names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.halves import mended
from eventfold.jsonvalue import is_array

from .blocks import TEXTS, Blocks
from .delta import DeltaReader
from .fields import absorb, error_of, gather, is_message, tokens_of
from .place import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventfold.dialects.response import Response
    from eventfold.shape import Wire

    from .calls import Call

#: Fields that are read one by one.
_READ = frozenset({"index", "delta", "message", "finish_reason", "logprobs", "error", "usage"})
#: Reasons of an end that leave the arguments of a call cut, if they are not whole. None: nobody said why.
_CUTTING = frozenset({"length", "content_filter", "max_tokens", None})


class Choice:
    """Writes the events of one choice."""

    def __init__(self, response: Response, remark: Callable[[str, str, str], None], custom: Callable[[str, Wire], Any]) -> None:
        self.finish: str | None = None  #: finish_reason
        self.fields: Wire = {}  #: as last said
        self.error: Any = None  #: what the provider says went wrong
        self._response = response
        self._place = Place(remark)
        self._blocks = Blocks(response, self._place.say)
        self._deltas = DeltaReader(self._blocks, self._place, custom)

    @property
    def said(self) -> bool:
        """Tell whether anything of the answer has come."""
        return bool(self._response.parts or self._blocks.calls.all)

    def read(self, choice: Wire, pointer: str, name: Any) -> Iterator[Any]:
        """
        Read a choice of a chunk, or of a whole response; `name` is the `object` that holds it.

        A message behind deltas says them again: of it, only what stands beside the answer is taken.
        """
        self._place.pointer = pointer
        absorb(self.fields, {key: value for key, value in choice.items() if key not in _READ})
        self.error = mended(choice.get("error")) or self.error
        whole = is_message(choice, name)
        field = "message" if whole else "delta"
        delta = self._place.object(choice.get(field), f"/{field}")
        late, wrote, again = self.finish, False, whole and self.said
        self._place.pointer = f"{pointer}/{field}"
        if again:
            self._deltas.beside(delta)
        for event in () if again else self._deltas.read(delta, whole=whole):
            wrote = True
            yield event
        if late is not None and wrote:
            self._place.say("openai-chat.after-finish", f"the choice goes on after its finish_reason {late!r}")
        self._place.pointer = pointer
        if not again:
            self._logprobs(self._place.object(choice.get("logprobs"), "/logprobs"))
        self._finish(choice.get("finish_reason"))

    def end(self, usage: Wire, top: Wire, *, done: bool) -> Iterator[Any]:
        """End the reply. `top` are the fields of the response, `done` tells whether its stream was ended by the provider."""
        self._place.pointer = ""
        yield from self._blocks.end()
        self._settle(usage, top)
        name = repr(self._response.reply_id)
        if self.error is not None:
            yield from self._response.end("error", error_of(self.error))
            return
        if self.finish is None and not done:
            self._place.say("openai-chat.truncated", f"the reply {name} has no finish_reason, and no [DONE] follows")
            yield from self._response.stop("the stream stopped before the response was finished")
            return
        if self.finish is None:
            self._place.say("openai-chat.no-finish-reason", f"the reply {name} has no finish_reason")
        cut = next((call for call in self._blocks.calls.all if self._is_cut(call)), None)
        if cut is not None:
            detail = f"the arguments of the call {cut.id!r} are cut (finish_reason {self.finish!r})"
            self._place.say("openai-chat.cut-arguments", detail)
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
            self._place.say("openai-chat.not-a-count", f"the usage's {pointer} is no count of tokens")
        left = {key: value for key, value in usage.items() if key not in {"prompt_tokens", "completion_tokens"} or f"/{key}" in wrong}
        gather(self._deltas.rest, self._blocks.left())
        last = {"finish_reason": self.finish, "usage": mended(left), "message": self._deltas.rest, "error": self.error}
        metadata = {**top, **self.fields, **{key: value for key, value in last.items() if value}}
        self._response.usage = tokens
        self._response.metadata = {"openai": metadata} if metadata else {}

    def _finish(self, reason: Any) -> None:
        if not reason:
            return
        if not isinstance(reason, str):
            self._place.unfit("/finish_reason", "a string", reason)
            return
        reason = mended(reason)
        if self.finish is not None and reason != self.finish:
            self._place.say("openai-chat.finish-changed", f"finish_reason is {reason!r} after {self.finish!r}", "/finish_reason")
        self.finish = reason
        if reason == "error" and self.error is None:
            self.error = {"message": "the provider ended the choice with an error"}

    def _logprobs(self, logprobs: Wire) -> None:
        """Keep log-probabilities with the text that they are of."""
        for name, tokens in logprobs.items():
            if is_array(tokens) and tokens and name in TEXTS and self._blocks.is_open(name):
                self._blocks.note(name).setdefault("logprobs", []).extend(mended(tokens))
            elif is_array(tokens) and tokens:
                self.fields.setdefault("logprobs", {}).setdefault(mended(name), []).extend(mended(tokens))
            else:
                absorb(self.fields, {"logprobs": {name: tokens}} if tokens else {})
