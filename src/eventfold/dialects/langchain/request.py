"""
Messages of ours -> messages of LangChain, as `messages_to_dict` writes them and `messages_from_dict` reads them.

Law: every call has its result right behind its message, and no result is without its call. A reply that ran tools becomes
AIMessage, ToolMessages, AIMessage; a hint becomes a HumanMessage in its place. Text alone is a string; else the content is a list
of LangChain's own content blocks, marked as `output_version` v1, so that its models translate them for their providers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.translation import Said
from eventfold.findings import Loss
from eventfold.jsonvalue import copy_json, is_array, is_object

from .content import SERVED, SERVER_CALLS
from .parts import arguments_of, bare, calls_of, extras_of, listed_calls, output_of_text, part_of, parts_of, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from eventfold.shape import Wire

#: What is lost, and where it shows.
LOSSES: dict[str, tuple[str, ...]] = {
    "a result has no other states than success and error": ("/content/*/state",),
    "a call without a result is answered as not run, since providers ask for an answer": ("/content/*",),
    "a result without a call is left out, since providers refuse it": ("/content/*",),
    "a call that repeats the id of another gets an id of its own": ("/content/*/id",),
}
STATE, UNANSWERED, ORPHAN, REPEATED = LOSSES

#: What stands in place of a result that there is not.
NOT_RUN = "The tool was not run."

_ROLES = {"user": "human", "system": "system"}


def write_messages(messages: Iterable[Wire]) -> Said:
    """Write messages."""
    writer = _Writer()
    listed = list(messages)
    writer.collect(listed)
    for i, message in enumerate(listed):
        writer.write(message, f"/{i}")
    return Said(writer.out, [*writer.losses, *writer.orphans()])


class _Writer:
    """Writes messages; knows all results, since one may stand in a later message."""

    def __init__(self) -> None:
        self.out: list[Wire] = []
        self.losses: list[Loss] = []
        self._results: dict[str, list[tuple[Wire, str]]] = {}  #: that nothing took yet, by call, with their place

    def collect(self, messages: list[Wire]) -> None:
        """Find all results."""
        for i, message in enumerate(messages):
            for j, block in enumerate(message["content"]):
                if block["type"] == "tool_result":
                    self._results.setdefault(block["id"], []).append((block, f"/{i}/content/{j}"))

    def write(self, message: Wire, place: str) -> None:
        """Write a message of any role."""
        role = message["role"]
        if role in _ROLES:
            name = {} if message["name"] in {"user", "system"} else {"name": message["name"]}
            self._put(_ROLES[role], {"content": plain(parts_of(message["content"])), "id": message["id"], **name})
        elif role == "assistant":
            self._assistant(message, place)

    def orphans(self) -> list[Loss]:
        """List the results that no call has taken."""
        return [Loss(place, ORPHAN) for left in self._results.values() for _, place in left]

    def _assistant(self, message: Wire, place: str) -> None:
        """Write a reply: a message of the model for each round of calls, and their results."""
        segments = list(_segments(message["content"]))
        models = sum(1 for kind, _ in segments if kind == "ai")
        facts = _facts(message, models)
        number = 0
        for kind, blocks in segments:
            if kind == "hint":
                for _, block in blocks:
                    self._hint(block)
            elif kind == "ai":
                self._model(message, blocks, facts[number] if number < len(facts) else {}, place, number)
                number += 1

    def _model(self, message: Wire, blocks: list[tuple[int, Wire]], facts: Wire, place: str, number: int) -> None:
        calls: list[tuple[Wire, str, str]] = []
        content: list[Wire] = []
        taken: set[str] = set()
        others = _others(facts)
        for count, (j, block) in enumerate((j, block) for j, block in blocks if block["type"] != "tool_result"):
            where = f"{place}/content/{j}"
            content += others.pop(count, [])
            if block["type"] != "tool_call":
                content.extend(part_of(block))
            elif _is_server(block):
                content += self._served(block)
            else:
                call_id = block["id"]
                while call_id in taken:
                    call_id += "#"
                if call_id != block["id"]:
                    self.losses.append(Loss(f"{where}/id", REPEATED))
                taken.add(call_id)
                calls.append((block, call_id, where))
                content += calls_of(block, call_id)
        content += [other for left in others.values() for other in left]
        if not content:
            return
        self._put("ai", self._ai(message, content, facts, number))
        for block, call_id, where in calls:
            self._answer(block, call_id, where)

    def _ai(self, message: Wire, content: list[Wire], facts: Wire, number: int) -> Wire:
        known = _own(message.get("metadata"))
        provider = known.get("model_provider", known.get("ls_provider"))
        response = dict(facts.get("response_metadata", {}))
        if isinstance(provider, str):
            response.setdefault("model_provider", provider)
        visible = [block for block in content if block["type"] not in {"tool_call", "invalid_tool_call"}]
        said = plain(visible)
        if not isinstance(said, str) or any("extras" in block for block in content):
            response["output_version"] = "v1"
            said = content
        data: Wire = {
            "content": said,
            "id": facts.get("id") or (message["id"] if number == 0 else f"{message['id']}-{number}"),
            "tool_calls": [call for block in content for call in listed_calls(block)],
            "invalid_tool_calls": [bare(block, "invalid_tool_call") for block in content if block["type"] == "invalid_tool_call"],
            "response_metadata": response,
            "additional_kwargs": copy_json(facts.get("additional_kwargs", {})),
        }
        if message["name"] != "assistant":
            data["name"] = message["name"]
        if is_object(facts.get("usage_metadata")):
            data["usage_metadata"] = copy_json(facts["usage_metadata"])
        return data

    def _answer(self, call: Wire, call_id: str, where: str) -> None:
        """Write the result of a call."""
        found = self._take(call["id"])
        if found is None:
            self.losses.append(Loss(where, UNANSWERED))
            self._put("tool", {"content": NOT_RUN, "tool_call_id": call_id, "name": call["name"], "status": "error"})
            return
        block, place = found
        state = block.get("state", "success")
        if state not in {"success", "error"}:
            self.losses.append(Loss(f"{place}/state", STATE))
        rest = _own(block.get("metadata"))
        output = block["output"]
        data: Wire = {
            "content": output if isinstance(output, str) else plain(parts_of(output)),
            "tool_call_id": call_id,
            "name": block["name"],
            "status": "success" if state == "success" else "error",
        }
        data |= {key: copy_json(rest[key]) for key in ("artifact", "id") if rest.get(key) is not None}
        self._put("tool", data)

    def _served(self, call: Wire) -> Iterator[Wire]:
        """Write a call that the provider ran, and its result, as parts of the content."""
        name, kind = call["name"], call["x_langchain"].get("type")
        extra = {key: copy_json(item) for key, item in call["x_langchain"].items() if key not in {"type", "id"}}
        if kind in {"mcp_tool_use", "mcp_call"}:
            name, extra = "remote_mcp", {"tool_name": name, **extra}  # as LangChain calls it
        arguments = arguments_of(call["input"])
        given = {} if arguments is None else arguments
        yield {"type": "server_tool_call", "id": call["id"], "name": name, "args": given, **extras_of(extra)}
        found = self._take(call["id"])
        if found is None:
            return
        block, place = found
        state = block.get("state", "success")
        if state not in {"success", "error"}:
            self.losses.append(Loss(f"{place}/state", STATE))
        output = block["output"]
        texts = [output] if isinstance(output, str) else [part["text"] for part in output if part["type"] == "text"]
        status = "success" if state == "success" else "error"
        rest = copy_json(_own(block.get("metadata")))
        if "type" in rest:
            rest["block_type"] = rest.pop("type")
        told = {"output": output_of_text("".join(texts))} if any(texts) else {}
        yield {"type": "server_tool_result", "tool_call_id": call["id"], "status": status, **told, **extras_of(rest)}

    def _take(self, call_id: str) -> tuple[Wire, str] | None:
        """Take the first result of a call that is left."""
        left = self._results.get(call_id)
        if not left:
            return None
        return left.pop(0)

    def _hint(self, block: Wire) -> None:
        hint = block["hint"]
        source = block.get("source")
        said = hint if isinstance(hint, str) else plain(parts_of(hint))
        self._put("human", {"content": said, "id": block["id"], **({"name": source} if source else {})})

    def _put(self, kind: str, data: Wire) -> None:
        self.out.append({"type": kind, "data": data})


def _segments(blocks: list[Wire]) -> Iterator[tuple[str, list[tuple[int, Wire]]]]:
    """Cut a reply: what the model said in one go, results, hints. Numbers are places in the content."""
    kind: str | None = None
    segment: list[tuple[int, Wire]] = []
    for j, block in enumerate(blocks):
        now = {"tool_result": "results", "hint": "hint"}.get(block["type"], "ai")
        if now == "results" and kind == "ai" and _answers_server(block, segment):
            now = "ai"  # it stands in the content, behind its call
        if kind is not None and now != kind:
            yield kind, segment
            segment = []
        kind = now
        segment.append((j, block))
    if kind is not None:
        yield kind, segment


def _facts(message: Wire, models: int) -> list[Wire]:
    """Give what is known of each message of the model, if their number is known to be right."""
    calls = _own(message.get("metadata")).get("calls")
    if is_array(calls) and len(calls) == models:
        return [call if is_object(call) else {} for call in calls]
    return []


def _others(facts: Wire) -> dict[int, list[Any]]:
    """Give the parts of the content that no block of ours stands for, by their place."""
    found: dict[int, list[Any]] = {}
    listed = facts.get("blocks")
    for other in listed if is_array(listed) else ():
        if is_object(other) and isinstance(other.get("at"), int) and "block" in other:
            found.setdefault(other["at"], []).append({"type": "non_standard", "value": copy_json(other["block"])})
    return found


def _own(metadata: Any) -> Wire:
    """Give what metadata says under our key."""
    own = metadata.get("langchain") if is_object(metadata) else None
    return own if is_object(own) else {}


def _is_server(block: Wire) -> bool:
    extra = block.get("x_langchain")
    kind = extra.get("type") if is_object(extra) else None
    return isinstance(kind, str) and (kind in SERVER_CALLS or kind in SERVED)


def _answers_server(result: Wire, segment: list[tuple[int, Wire]]) -> bool:
    return any(block["type"] == "tool_call" and block["id"] == result["id"] and _is_server(block) for _, block in segment)
