"""
Messages of ours -> messages of LangChain, as `messages_to_dict` writes them and `messages_from_dict` reads them.

Law: every call has its result right behind its message, and no result is without its call. A reply that ran tools becomes
AIMessage, ToolMessages, AIMessage; a hint becomes a HumanMessage in its place. Text alone is a string; else the content is a list
of LangChain's own content blocks, marked as `output_version` v1, so that its models translate them for their providers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.rounds import LOSSES as PAIRING
from eventfold.dialects.rounds import NOT_RUN, Called, Placed, RoundsWriter
from eventfold.findings import Loss
from eventfold.jsonvalue import copy_json, is_array, is_object

from .content import SERVED, SERVER_CALLS
from .parts import arguments_of, bare, calls_of, extras_of, hides_for_openai, listed_calls, output_of_text, part_of, parts_of, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from eventfold.dialects.translation import Said
    from eventfold.shape import Wire

STATE = "a result has no other states than success and error"
LOST_THINKING = "what an answer in OpenAI's form signed or hid in thinking is left out, since LangChain would send it to Anthropic"
#: What is lost, and where it shows.
LOSSES: dict[str, tuple[str, ...]] = {STATE: ("/content/*/state",), LOST_THINKING: ("/content/*",), **PAIRING}

_ROLES = {"user": "human", "system": "system"}


def write_messages(messages: Iterable[Wire]) -> Said:
    """Write messages."""
    return _Writer(messages, _is_server).said()


class _Writer(RoundsWriter):
    def write(self, message: Wire, place: str) -> None:
        """Write a message of any role."""
        role = message["role"]
        if role in _ROLES:
            name = {} if message["name"] in {"user", "system"} else {"name": message["name"]}
            self._put(_ROLES[role], {"content": plain(parts_of(message["content"])), "id": message["id"], **name})
        elif role == "assistant":
            self._assistant(message, place)

    def _assistant(self, message: Wire, place: str) -> None:
        """Write a reply: a message of the model for each round, and the results of its calls."""
        rounds = list(self.rounds.of(message, place))
        facts = _facts(message, sum(each.kind == "said" for each in rounds))
        number = 0
        for each in rounds:
            if each.kind == "said":
                self._model(message, each.blocks, facts[number] if number < len(facts) else {}, number)
                number += 1
            elif each.kind == "hints":
                for _, block in each.blocks:
                    self._hint(block)

    def _model(self, message: Wire, blocks: list[Placed], facts: Wire, number: int) -> None:
        calls = {called.placed.place: called for called in self.rounds.calls(blocks)}
        content: list[Wire] = []
        others = _others(facts)
        for count, (where, block) in enumerate(placed for placed in blocks if placed.block["type"] != "tool_result"):
            content += others.pop(count, [])
            if block["type"] != "tool_call":
                if hides_for_openai(block):
                    self.rounds.losses.append(Loss(where, LOST_THINKING))
                content.extend(part_of(block))
            elif where in calls:
                content += calls_of(block, calls[where].id)
            else:
                content += self._served(block)
        content += [other for left in others.values() for other in left]
        if not content:
            return
        self._put("ai", self._ai(message, content, facts, number))
        for called in calls.values():
            self._answer(called)

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

    def _answer(self, called: Called) -> None:
        """Write the result of a call."""
        call = called.placed
        found = self.rounds.answer(call)
        if found is None:
            self._put("tool", {"content": NOT_RUN, "tool_call_id": called.id, "name": call.block["name"], "status": "error"})
            return
        rest, output = _own(found.block.get("metadata")), found.block["output"]
        data: Wire = {
            "content": output if isinstance(output, str) else plain(parts_of(output)),
            "tool_call_id": called.id,
            "name": found.block["name"],
            "status": self._status(found),
        }
        data |= {key: copy_json(rest[key]) for key in ("artifact", "id") if rest.get(key) is not None}
        self._put("tool", data)

    def _status(self, result: Placed) -> str:
        """Say how a tool ended. More than success and error cannot be said."""
        state = result.block.get("state", "success")
        if state not in {"success", "error"}:
            self.rounds.losses.append(Loss(f"{result.place}/state", STATE))
        return "success" if state == "success" else "error"

    def _served(self, call: Wire) -> Iterator[Wire]:
        """Write a call that the provider ran, and its result, as parts of the content."""
        name, kind = call["name"], call["x_langchain"].get("type")
        extra = {key: copy_json(item) for key, item in call["x_langchain"].items() if key not in {"type", "id"}}
        if kind in {"mcp_tool_use", "mcp_call"}:
            name, extra = "remote_mcp", {"tool_name": name, **extra}  # as LangChain calls it
        arguments = arguments_of(call["input"])
        given = {} if arguments is None else arguments
        yield {"type": "server_tool_call", "id": call["id"], "name": name, "args": given, **extras_of(extra)}
        found = self.rounds.take(call["id"])
        if found is None:
            return
        block, output = found.block, found.block["output"]
        texts = [output] if isinstance(output, str) else [part["text"] for part in output if part["type"] == "text"]
        rest = copy_json(_own(block.get("metadata")))
        if "type" in rest:
            rest["block_type"] = rest.pop("type")
        told = {"output": output_of_text("".join(texts))} if any(texts) else {}
        yield {"type": "server_tool_result", "tool_call_id": call["id"], "status": self._status(found), **told, **extras_of(rest)}

    def _hint(self, block: Wire) -> None:
        hint = block["hint"]
        source = block.get("source")
        said = hint if isinstance(hint, str) else plain(parts_of(hint))
        self._put("human", {"content": said, "id": block["id"], **({"name": source} if source else {})})

    def _put(self, kind: str, data: Wire) -> None:
        self.out.append({"type": kind, "data": data})


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
