"""
A candidate of Gemini, part by part -> the events of one reply.

Law: text goes on while parts of its kind follow each other; a part that carries a signature is never joined with others, so
that it can go back as it came.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from eventfold.dialects.halves import repaired
from eventfold.dialects.translation import UNFIT, UNKNOWN
from eventfold.jsonvalue import copy_json, is_array, is_object, shown

from .arguments import Arguments, BadPath
from .flows import Flow, Flows
from .parts import CODE, CODE_TOOL, KINDS, base64_of, result_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventfold.dialects.translation import Decoder
    from eventfold.shape import Wire


class Candidate(Flows):
    """Writes the events of one candidate."""

    def __init__(self, decoder: Decoder, reply_id: str) -> None:
        super().__init__(decoder, reply_id)
        self._call: Flow | None = None  # a call whose arguments go on
        self._functions: list[Flow] = []  # calls that the client runs
        self._hosted: list[Flow] = []  # calls that the provider runs
        self._ids: set[str] = set()
        self._handlers: dict[str, Callable[[Wire, Wire], Iterator[Any]]] = {
            "text": self._text,
            "functionCall": self._function_call,
            "executableCode": self._hosted_call,
            "toolCall": self._hosted_call,
            "codeExecutionResult": self._result,
            "toolResponse": self._result,
            "inlineData": self._data,
            "fileData": self._data,
        }

    def part(self, part: Any) -> Iterator[Any]:
        """Take a part."""
        if not is_object(part):
            self._remark(UNFIT, f"a part is {shown(part)}, expected an object", "/candidates/0/content/parts")
            return
        kind = next((kind for kind in KINDS if part.get(kind) is not None), "text" if set(part) <= {"thoughtSignature", "thought"} else "")
        text = part.get("text")
        fixed: Wire = {key: text if key == "text" else repaired(value) for key, value in part.items()}
        extra = {key: copy_json(value) for key, value in fixed.items() if key not in {kind, "text"} and value is not None}
        if kind in self._handlers:
            yield from self._handlers[kind](fixed, extra)
        elif part:
            self._remark(UNKNOWN, f"a part with {shown(sorted(part))}")
            yield from self._keep(fixed)

    def end(self, reason: str = "completed", error: Wire | None = None) -> Iterator[Any]:
        """End the reply, or park it for the client's tools."""
        yield from self._rest()
        finish = str(self.own.get("finishReason"))
        cut = None
        if self._call is not None:
            if reason == "completed":
                cut = self._call if finish != "STOP" else None
                rule = "gemini.call-cut" if cut is not None else "gemini.call-not-ended"
                self._remark(rule, f"the arguments of {shown(self._call.name)} go on, and the response ends with {finish}")
            yield from self._end_call()
        if reason == "completed":
            unanswered = [call for call in (cut, *self._hosted) if call is not None and not call.answered]
            for call in unanswered:
                call.answered = True
                yield from self.response.result(call.key, "", "interrupted", {"gemini": {"finishReason": finish}})
        self._settle(parks=reason == "completed")
        self.response.metadata = {"gemini": self.own} if self.own else {}
        yield from self.response.end(reason, error)

    def _settle(self, *, parks: bool) -> None:
        """
        Keep the parts that no block followed.

        Those of a reply that parks are given to its last call, which the request carries: its message gets no more metadata.
        """
        calls = [call for call in self._functions if not call.answered]
        if self._waiting and parks and calls:
            fields = {"x_gemini": {**calls[-1].extra, "after": self._waiting}}
            self.response.extra(calls[-1].key, **fields)  # noqa: S610  ours, and not Django's
        elif self._waiting:
            self.own["after"] = self._waiting

    def _text(self, part: Wire, extra: Wire) -> Iterator[Any]:
        text = part.get("text") or ""
        if not isinstance(text, str):
            self._remark(UNFIT, f"text is {shown(text)}, expected a string")
            return
        thought = extra.get("thought") is True
        kind = "thinking" if thought else "text"
        bound = {key: value for key, value in extra.items() if key != "thought"}
        if not text and not bound:
            return
        flow = self._flow
        joins = flow is not None and flow.kind == kind and not flow.signed
        if flow is not None and joins and not text and set(bound) == {"thoughtSignature"}:
            # The signature stands in an empty part of its own, after the text.
            flow.extra.update({**bound, "apart": True})
            flow.signed = True
            return
        if flow is None or not joins or bound:
            yield from self._rest()
            flow = self._flow = self._new(kind)
            flow.extra.update(bound)
            flow.signed = bool(bound)
            yield from self.response.open(kind, flow.key)
        yield from self._append(flow, text)

    def _data(self, part: Wire, extra: Wire) -> Iterator[Any]:
        """Give bytes; audio goes on in the parts that follow."""
        kind = "inlineData" if part.get("inlineData") is not None else "fileData"
        blob = part[kind]
        content = blob.get("data" if kind == "inlineData" else "fileUri") if is_object(blob) else None
        if not isinstance(content, str) or not content:
            self._remark(UNFIT, f"{kind} is {shown(blob)}, which holds nothing")
            yield from self._keep(part)
            return
        media, name = blob.get("mimeType"), blob.get("displayName")
        media = media if isinstance(media, str) and media else "application/octet-stream"
        rest = {
            key: value for key, value in blob.items() if key not in {"data", "fileUri", "mimeType", "displayName"} and value is not None
        }
        flow = self._flow
        if flow is None or (flow.kind, flow.name, flow.signed) != ("data", media, False) or not media.startswith("audio/") or extra:
            yield from self._rest()
            flow = self._flow = self._new("data", media)
            flow.extra.update({**extra, **({kind: rest} if rest else {})})
            flow.signed = bool(extra) or kind == "fileData"
            yield from self.response.open("data", flow.key, media_type=media, name=name if isinstance(name, str) else None)
        content = {"data": base64_of(content)} if kind == "inlineData" else {"url": content}
        yield from self.response.data(flow.key, media, **content)

    def _function_call(self, part: Wire, extra: Wire) -> Iterator[Any]:
        call = part["functionCall"]
        if not is_object(call):
            self._remark(UNFIT, f"functionCall is {shown(call)}, expected an object")
            return
        name, call_id = call.get("name"), call.get("id")
        named = isinstance(name, str) and name != ""
        goes_on = self._call is not None and (not named or (bool(call_id) and call_id == self._call.id))
        if not named and self._call is None:
            self._remark("gemini.unknown-call", "a piece of a call, and none has begun")
            yield from self._keep(part)
            return
        if not goes_on:
            yield from self._rest()
            if self._call is not None:
                self._remark("gemini.call-not-ended", f"the arguments of {shown(self._call.name)} go on, and another call begins")
                yield from self._end_call()
            self._call = self._new("functionCall", str(name))
            self._functions.append(self._call)
            yield from self._begin(self._call, call_id)
        if self._call is not None:
            yield from self._go_on(self._call, call, extra)

    def _go_on(self, flow: Flow, call: Wire, extra: Wire) -> Iterator[Any]:
        """Take what a functionCall says of the call that is open, and end it unless more follows."""
        rest = {
            key: value
            for key, value in call.items()
            if key not in {"id", "name", "args", "partialArgs", "willContinue"} and value is not None
        }
        flow.extra.update({**extra, **({"functionCall": copy_json(rest)} if rest else {})})
        args = call.get("args")
        if flow.arguments is None:
            flow.arguments = Arguments({})
        if is_object(args):
            flow.arguments.value.update(copy_json(args))
        elif args is not None:
            self._remark(UNFIT, f"args is {shown(args)}, expected an object")
        pieces = call.get("partialArgs")
        for piece in pieces if is_array(pieces) else [] if pieces is None else [pieces]:
            try:
                flow.arguments.add(piece if is_object(piece) else {})
            except BadPath:
                self._remark("gemini.bad-path", f"{shown(piece)} belongs nowhere")
                yield self.custom("partialArgs", {"functionCall": copy_json(call)})
        if call.get("willContinue") is not True:
            yield from self._end_call()

    def _end_call(self) -> Iterator[Any]:
        flow, self._call = self._call, None
        if flow is not None and flow.arguments is not None:
            yield from self.response.arguments(flow.key, json.dumps(flow.arguments.value, ensure_ascii=False))
            yield from self._close(flow)

    def _hosted_call(self, part: Wire, extra: Wire) -> Iterator[Any]:
        """Give a call that the provider runs."""
        yield from self._rest()
        kind = CODE if part.get(CODE) is not None else "toolCall"
        call = part[kind]
        if not is_object(call):
            self._remark(UNFIT, f"{kind} is {shown(call)}, expected an object")
            return
        name = CODE_TOOL if kind == CODE else str(call.get("toolType") or kind)
        flow = self._new(kind, name)
        flow.extra.update({**extra, "part": kind})
        self._hosted.append(flow)
        yield from self._begin(flow, call.get("id"))
        args = {key: value for key, value in call.items() if key not in {"id", "toolType"}} if kind == CODE else call.get("args", {})
        yield from self.response.arguments(flow.key, json.dumps(args, ensure_ascii=False))
        yield from self._close(flow)

    def _result(self, part: Wire, extra: Wire) -> Iterator[Any]:
        """Give the result of a call that the provider ran: of the id, or of the last one that has none."""
        yield from self._rest()
        kind = "codeExecutionResult" if part.get("codeExecutionResult") is not None else "toolResponse"
        given = part[kind].get("id") if is_object(part[kind]) else None
        called = CODE if kind == "codeExecutionResult" else "toolCall"
        calls = [call for call in self._hosted if call.kind == called and not call.answered and (not given or call.id == given)]
        if not calls or not is_object(part[kind]):
            self._remark("gemini.result-without-call", f"{kind} {shown(given)} answers nothing that was called")
            yield from self._keep(part)
            return
        calls[0].answered = True
        output, state, rest = result_of(kind, part[kind])
        own = {**extra, **rest, "part": kind}
        if self._waiting:
            own["before"], self._waiting = self._waiting, []
        yield from self.response.result(calls[0].key, output, state, {"gemini": own})

    def _begin(self, flow: Flow, call_id: Any) -> Iterator[Any]:
        """Begin a call, with the provider's id if it has one."""
        flow.id = call_id if isinstance(call_id, str) else ""
        ours = flow.id or f"{self.response.reply_id}/call-{flow.key}"
        if ours in self._ids:
            self._remark("gemini.repeated-id", f"two calls have the id {shown(ours)}")
            ours = f"{ours}#{flow.key}"
        self._ids.add(ours)
        if ours != flow.id:
            flow.extra["id"] = flow.id
        yield from self.response.call(flow.key, ours, flow.name)
