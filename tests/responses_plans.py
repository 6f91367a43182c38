"""
Plans of responses, for the tests of the dialect openai_responses: what a model says, and the stream that says it.

A plan is drawn first; the events that the provider would send and the blocks that must come of them are two readings of it,
which share no code with the dialect.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from hypothesis import strategies as st
from openai._models import construct_type  # pyright: ignore[reportPrivateImportUsage]  the SDK has no public way
from openai._types import omit
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.responses import ResponseStreamEvent

from eventfold.fuzz.payloads import texts
from eventfold.fuzz.strategies import cuts, interleavings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hypothesis.strategies import DrawFn

Wire = dict[str, Any]

USAGE = {
    "input_tokens": 40,
    "input_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 3},
    "output_tokens": 9,
    "output_tokens_details": {"reasoning_tokens": 5},
    "total_tokens": 49,
}


def response(status: str = "in_progress", output: Sequence[Wire] | None = (), response_id: str = "resp_1", **more: Any) -> Wire:
    """Write a response object."""
    body = {
        "id": response_id,
        "object": "response",
        "created_at": 1_800_000_000,
        "status": status,
        "error": None,
        "model": "m-1",
        "output": output if output is None else list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": USAGE if status in {"completed", "incomplete"} else None,
    }
    return {**body, **more}


def created(response_id: str = "resp_1", **more: Any) -> Wire:
    """Write the event with which a response begins."""
    return {"type": "response.created", "response": response(response_id=response_id, **more)}


def ended(*output: Wire, status: str = "completed", response_id: str = "resp_1", **more: Any) -> Wire:
    """Write the event with which a response ends."""
    return {"type": f"response.{status}", "response": response(status, output, response_id, **more)}


def event(kind: str, index: int | None = 0, **fields: Any) -> Wire:
    """Write an event about an item."""
    return {"type": f"response.{kind}", **({} if index is None else {"output_index": index}), **fields}


def added(item: Wire, index: int | None = 0) -> Wire:
    """Write the event with which an item begins."""
    return event("output_item.added", index, item=item)


def done(item: Wire, index: int | None = 0) -> Wire:
    """Write the event with which an item ends."""
    return event("output_item.done", index, item=item)


def message(*said: str, item_id: str = "msg_1", status: str = "completed", **more: Any) -> Wire:
    """Write a message item."""
    content: list[Wire] = [{"type": "output_text", "text": text, "annotations": []} for text in said]
    return {"type": "message", "id": item_id, "role": "assistant", "status": status, "content": content, **more}


def call(arguments: Any = "", call_id: str = "call_1", name: str = "look", item_id: str = "fc_1", **more: Any) -> Wire:
    """Write a function call item."""
    return {"type": "function_call", "id": item_id, "call_id": call_id, "name": name, "arguments": arguments, "status": "completed", **more}


@dataclass
class Step:
    """An event of a plan, and the blocks that begin with it."""

    event: Wire
    begins: list[Wire] = field(default_factory=list[Wire])


@dataclass
class Plan:
    """A response that is to be streamed."""

    steps: list[Step]
    output: list[Wire]
    waits: bool

    def stream(self) -> list[Wire]:
        """Give the events."""
        events = [
            created(),
            {"type": "response.in_progress", "response": response()},
            *(step.event for step in self.steps),
            ended(*self.output),
        ]
        return [{**each, "sequence_number": number} for number, each in enumerate(events)]

    def content(self) -> list[Wire]:
        """Give the blocks that must come of it."""
        return [block for step in self.steps for block in step.begins]


def pieces(draw: DrawFn, text: str) -> list[str]:
    """Cut a text."""
    found: list[str] = []
    for size in draw(cuts()):
        found.append(text[:size])
        text = text[size:]
    return [*found, text]


@st.composite
def plans(draw: DrawFn, *, most: int = 4) -> Plan:
    """Draw a plan: items of all kinds, whose events interleave."""
    kinds = (_message, _reasoning, _call, _call, _hosted, _image, _opaque)
    drawn = [draw(st.sampled_from(kinds))(draw, index) for index in range(draw(st.integers(0, most)))]
    steps = draw(interleavings([steps for steps, _ in drawn]))
    output = [item for _, item in drawn]
    return Plan(steps, output, any(item["type"] in {"function_call", "custom_tool_call", "mcp_approval_request"} for item in output))


def _message(draw: DrawFn, index: int) -> tuple[list[Step], Wire]:
    base: Wire = {"type": "message", "id": f"msg_{index}", "role": "assistant", "status": "in_progress"}
    if draw(st.booleans()):
        base["phase"] = "final_answer"
    steps = [Step(added({**base, "content": []}, index))]
    content: list[Wire] = []
    for place in range(draw(st.integers(0, 3))):
        refused = draw(st.integers(0, 3)) == 0
        text = draw(texts)
        where = {"item_id": base["id"], "content_index": place}
        notes = [{"type": "file_citation", "file_id": "f", "filename": "a.md", "index": 1}] if draw(st.booleans()) else []
        part: Wire = {"type": "refusal", "refusal": text} if refused else {"type": "output_text", "text": text, "annotations": notes}
        empty: Wire = {"type": "refusal", "refusal": ""} if refused else {"type": "output_text", "text": "", "annotations": []}
        about, holds = ("refusal", "refusal") if refused else ("output_text", "text")
        own = {"type": part["type"], **{key: value for key, value in base.items() if key not in {"type", "role"}}, "status": "completed"}
        block = {"type": "text", "text": text, "x_openai": own if refused else {**own, "annotations": notes}}
        steps.append(Step(event("content_part.added", index, part=empty, **where), [block]))
        more: Wire = {} if refused else {"logprobs": []}
        steps += [Step(event(f"{about}.delta", index, delta=piece, **where, **more)) for piece in pieces(draw, text)]
        for note in notes if not refused else []:
            steps.append(Step(event("output_text.annotation.added", index, annotation=note, annotation_index=0, **where)))
        steps.append(Step(event(f"{about}.done", index, **{holds: text}, **where, **more)))
        steps.append(Step(event("content_part.done", index, part=part, **where)))
        content.append(part)
    item = {**base, "status": "completed", "content": content}
    return [*steps, Step(done(item, index))], item


def _reasoning(draw: DrawFn, index: int) -> tuple[list[Step], Wire]:
    base: Wire = {"type": "reasoning", "id": f"rs_{index}", "summary": []}
    summed = draw(st.booleans())
    secret = {"encrypted_content": draw(st.text("ab=", min_size=1))} if draw(st.booleans()) else {}
    said = draw(st.lists(texts, max_size=3))
    name, kind, about = ("summary", "summary_text", "reasoning_summary") if summed else ("content", "reasoning_text", "reasoning")
    own = {"type": "reasoning", "id": base["id"]}
    blocks: list[Wire] = [
        {"type": "thinking", "thinking": text, "x_openai": {**own, f"{name}_index": i, **(secret if i == 0 else {})}}
        for i, text in enumerate(said)
    ]
    first = blocks[:1] or [{"type": "thinking", "thinking": "", "x_openai": {**own, **secret}}]
    steps = [Step(added(base, index), first)]
    for i, text in enumerate(said):
        where = {"item_id": base["id"], f"{name}_index": i}
        part = "reasoning_summary_part" if summed else "content_part"
        steps.append(Step(event(f"{part}.added", index, part={"type": kind, "text": ""}, **where), blocks[i : i + 1] if i else []))
        steps += [Step(event(f"{about}_text.delta", index, delta=piece, **where)) for piece in pieces(draw, text)]
        steps.append(Step(event(f"{about}_text.done", index, text=text, **where)))
        steps.append(Step(event(f"{part}.done", index, part={"type": kind, "text": text}, **where)))
    item = {**base, **({name: [{"type": kind, "text": text} for text in said]} if said else {}), **secret}
    return [*steps, Step(done(item, index))], item


def _call(draw: DrawFn, index: int) -> tuple[list[Step], Wire]:
    kind = draw(st.sampled_from(("function_call", "custom_tool_call", "mcp_approval_request")))
    field_name, about = ("input", "custom_tool_call_input") if kind == "custom_tool_call" else ("arguments", "function_call_arguments")
    asked = draw(st.one_of(texts, st.dictionaries(texts, texts, max_size=2).map(json.dumps)))
    name = draw(st.sampled_from(("look", "f", "ü")))
    item_id = f"{kind[:2]}_{index}"
    base: Wire = {"type": kind, "id": item_id, "name": name}
    own: Wire = {"type": kind, "id": item_id}
    block: Wire = {"type": "tool_call", "name": name, "input": asked, "state": "submitted"}
    if kind == "mcp_approval_request":
        item = {**base, "arguments": asked, "server_label": "s"}
        block |= {"id": item_id, "state": "asking", "x_openai": {**own, "server_label": "s"}}
        return [Step(added(item, index), [block]), Step(done(item, index))], item
    base["call_id"] = f"call_{index}"
    item = {**base, field_name: asked, **({"status": "completed"} if kind == "function_call" else {})}
    block |= {"id": base["call_id"], "x_openai": {**own, **({"status": "completed"} if kind == "function_call" else {})}}
    steps = [Step(added({**base, field_name: ""}, index), [block])]
    if draw(st.booleans()):
        steps += [Step(event(f"{about}.delta", index, item_id=item_id, delta=piece)) for piece in pieces(draw, asked)]
    if draw(st.booleans()):
        steps.append(Step(event(f"{about}.done", index, item_id=item_id, **{field_name: asked})))
    return [*steps, Step(done(item, index))], item


def _hosted(draw: DrawFn, index: int) -> tuple[list[Step], Wire]:
    kind = draw(st.sampled_from(("mcp_call", "code_interpreter_call", "file_search_call", "web_search_call")))
    item_id = f"h_{index}"
    base: Wire = {"type": kind, "id": item_id, "status": "in_progress"}
    text, answer = draw(texts), draw(texts)
    block: Wire = {"type": "tool_call", "id": item_id, "state": "finished", "name": kind.removesuffix("_call")}
    own: Wire = {"type": kind, "id": item_id, "status": "completed"}
    middle: list[Step] = []
    output: Any = answer
    if kind == "mcp_call":
        more: Wire = {"name": "ask", "server_label": "s", "arguments": text}
        start = {**more, "arguments": ""}
        full = {**more, "output": answer}
        middle = [Step(event("mcp_call_arguments.delta", index, item_id=item_id, delta=piece)) for piece in pieces(draw, text)]
        block |= {"name": "ask", "input": text}
        own |= {"server_label": "s", **({} if answer else {"output": ""})}
    elif kind == "code_interpreter_call":
        output = [{"type": "logs", "logs": answer}]
        start = {"container_id": "c", "code": "", "outputs": list[Wire]()}
        full = {"container_id": "c", "code": text, "outputs": output}
        middle = [Step(event("code_interpreter_call_code.delta", index, item_id=item_id, delta=piece)) for piece in pieces(draw, text)]
        block["input"] = json.dumps({"code": text}, ensure_ascii=False, separators=(",", ":"))
        own["container_id"] = "c"
    elif kind == "file_search_call":
        output = [{"file_id": "f", "text": answer}]
        start, full = {"queries": list[str]()}, {"queries": [text], "results": output}
        block["input"] = json.dumps({"queries": [text]}, ensure_ascii=False, separators=(",", ":"))
    else:
        output = ""
        start, full = {"action": {"type": "search", "query": ""}}, {"action": {"type": "search", "query": text}}
        block["input"] = json.dumps(full, ensure_ascii=False, separators=(",", ":"))
    item = {**base, **full, "status": "completed"}
    block["x_openai"] = own
    said = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, separators=(",", ":"))
    result = {
        "type": "tool_result",
        "id": item_id,
        "name": block["name"],
        "output": [{"type": "text", "text": said}] if said else [],
        "state": "success",
    }
    steps = [Step(added({**base, **start}, index), [block]), *middle]
    if kind in {"file_search_call", "web_search_call"}:
        steps.append(Step(event(f"{kind}.searching", index, item_id=item_id)))
    return [*steps, Step(done(item, index), [result])], item


def _image(draw: DrawFn, index: int) -> tuple[list[Step], Wire]:
    data = base64.b64encode(draw(st.binary(min_size=1, max_size=9))).decode()
    base: Wire = {"type": "image_generation_call", "id": f"ig_{index}", "status": "completed", "output_format": "webp"}
    item = {**base, "result": data}
    block = {"type": "data", "source": {"type": "base64", "media_type": "image/webp", "data": data}, "x_openai": base}
    where = {"item_id": base["id"]}
    steps = [
        Step(added({**base, "status": "in_progress", "result": None}, index)),
        Step(event("image_generation_call.partial_image", index, partial_image_b64=data, partial_image_index=0, **where)),
    ]
    return [*steps, Step(done(item, index), [block])], item


def _opaque(draw: DrawFn, index: int) -> tuple[list[Step], Wire]:
    item = {"type": "compaction", "id": f"cmp_{index}", "encrypted_content": draw(st.text("ab="))}
    return [Step(added(item, index)), Step(done(item, index), [{"type": "thinking", "thinking": "", "x_openai": item}])], item


def bare(content: Iterable[Wire]) -> list[Wire]:
    """Give blocks without what the provider does not say: times, and ids that are derived."""
    blocks: list[Wire] = []
    for block in content:
        out = {"created_at", "finished_at", *(() if block["type"] in {"tool_call", "tool_result"} else ("id",))}
        kept = {key: value for key, value in block.items() if key not in out}
        if isinstance(kept.get("output"), list):
            kept["output"] = [{"type": part["type"], "text": part["text"]} for part in kept["output"]]
        blocks.append(kept)
    return blocks


@dataclass
class Verdict:
    """What the vendor's SDK makes of a stream."""

    final: Any = None  #: the response it ends with
    last: Any = None  #: the same, as the last event holds it: the SDK adds `parsed` to the other
    snapshot: Any = None  #: what it built of deltas
    items: list[Any] = field(default_factory=list[Any])  #: as they were when they were done
    error: str = ""


def judged(events: Iterable[Wire]) -> Verdict:
    """Let the vendor's SDK accumulate the events of one response."""
    state: Any = ResponseStreamState(input_tools=omit, text_format=omit)
    verdict = Verdict()
    try:
        for value in events:
            if value.get("error") and value["type"] != "response.failed":
                verdict.error = "APIError"
                break
            made: Any = construct_type(type_=cast("Any", ResponseStreamEvent), value=value)
            state.handle_event(made)
            if made.type in {"response.completed", "response.incomplete", "response.failed"}:
                verdict.final = verdict.last = made.response
            if made.type == "response.output_item.done":
                verdict.items.append(made.item)
    except (RuntimeError, AssertionError, TypeError, AttributeError, IndexError, ValueError) as error:
        verdict.error = f"{type(error).__name__}: {error}"
    # The SDK has no public way to either.
    verdict.snapshot = getattr(state, "_ResponseStreamState__current_snapshot")  # noqa: B009  pyright refuses the plain form
    verdict.final = getattr(state, "_completed_response") or verdict.final  # noqa: B009  as above
    return verdict
