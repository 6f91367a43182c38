"""
Stream modes of LangGraph -> events.

A mode and its payload come as one list, with a namespace before them where there are sub-graphs, or as one value after the other,
where the list was taken apart. The mode `messages` builds replies; other modes repeat it, or are not about messages: they are kept.
Of a graph that was asked for `updates` or `values` alone, payloads come bare: then whole messages in them build the replies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from eventfold.dialects.halves import repaired
from eventfold.jsonvalue import copy_json, is_array, is_object

from .chunks import message_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from eventfold.shape import Wire

    from .decoder import LangChainDecoder

#: The stream modes of LangGraph.
MODES = frozenset({"messages", "values", "updates", "custom", "debug", "checkpoints", "tasks", "messages-tuple", "events"})


class Item(NamedTuple):
    """What a graph streams: a payload of a mode."""

    mode: str
    namespace: list[Any]
    payload: Any


def item_of(value: list[Any]) -> Item | None:
    """Take a list apart; None when it is no mode with its payload, and no chunk with its metadata."""
    namespace, rest = (value[0], value[1:]) if value and is_array(value[0]) else ([], value)
    if len(rest) != len(Item._fields) - 1:
        return None
    mode, payload = rest
    if isinstance(mode, str):
        return Item(mode, copy_json(namespace), payload)
    return Item("messages", [], rest) if message_of(mode) is not None and is_object(payload) else None


def messages_in(state: Any) -> list[Wire]:
    """Give the messages that a graph's state, or what a node changed of it, holds; none when it holds anything else as such."""
    held: Any = state.get("messages") if is_object(state) else None
    found = [message_of(part) for part in (held if is_array(held) else [held])]
    return [message for message in found if message is not None] if all(message is not None for message in found) else []


def is_state(value: Wire) -> bool:
    """Tell whether a value is a state, or what nodes changed of it, with messages."""
    if "type" in value:
        return False
    nodes = bool(value) and all(change is None or is_object(change) or is_array(change) for change in value.values())
    return bool(messages_in(value)) or (nodes and any(messages_in(change) for change in value.values()))


class Graph:
    """Reads what a graph streams."""

    def __init__(self, decoder: LangChainDecoder) -> None:
        self._decoder = decoder
        self._mode: str | None = None  #: a mode whose payload comes next
        self._namespace: list[Any] = []
        self._steps: dict[Hashable, int] = {}
        self._run: Hashable = ("graph", 0)
        self._runs = 0
        self._sent: Wire | None = None  #: a message, as far as it was sent
        self._streams = False  #: whether messages come by a mode of their own
        self._heard: set[str] = set()  #: ids of messages that came in a state
        self.bare = False  #: whether states come bare, so that what holds no message may be one, too

    @property
    def waits(self) -> bool:
        """Tell whether a payload comes next."""
        return self._mode is not None

    def announce(self, mode: str) -> None:
        """Take a mode that stands alone: its payload comes next."""
        self._mode = mode
        self._streams = True

    def payload(self, value: Any) -> Iterator[Any]:
        """Take the payload of the mode that came before."""
        item, self._mode, self._namespace = Item(self._mode or "", self._namespace, value), None, []
        yield from self.item(item)

    def lists(self, value: list[Any]) -> Iterator[Any]:
        """Take a list."""
        self._streams = True
        item = item_of(value)
        if item is not None:
            yield from self.item(item)
        elif all(isinstance(part, str) for part in value):
            self._namespace = list(value)  # of what comes next
        elif all(message_of(part) is not None for part in value):
            for part in value:
                yield from self._partial(message_of(part) or {})
        else:
            yield from self._decoder.unknown("list", {"items": value})

    def flush(self) -> Iterator[Any]:
        """Give the message that was sent as far as it was, again and again."""
        message, self._sent = self._sent, None
        if message is not None:
            yield from self._decoder.message({**message, "type": "ai"})

    def _partial(self, message: Wire) -> Iterator[Any]:
        """Take a message as far as it is (a server's `messages/partial`): the last one of an id counts."""
        model = message["type"] in {"AIMessageChunk", "ai"}
        if self._sent is not None and not (model and message.get("id") == self._sent.get("id")):
            yield from self.flush()
        if model:
            self._sent = message
        else:
            yield from self._decoder.message(message)

    def item(self, item: Item) -> Iterator[Any]:
        """Take a payload of a mode."""
        pair = item.payload
        message = message_of(pair[0]) if is_array(pair) and pair else None
        metadata = pair[1] if is_array(pair) and len(pair) > 1 else None
        if item.mode.startswith("messages") and message is not None and is_object(metadata):
            yield from self._message(message, metadata)
        elif item.mode == "events" and is_object(pair):
            yield from self._decoder.decode(pair)
        else:
            said = {"payload": pair, **({"namespace": item.namespace} if item.namespace else {})}
            yield self._decoder.replies.custom(repaired(item.mode), said)
            if item.mode == "updates" and is_object(pair) and "__interrupt__" in pair:
                self._decoder.replies.ask(pair["__interrupt__"])

    def state(self, value: Wire) -> Iterator[Any]:
        """Take a state, or what nodes changed of it, that came bare. It repeats messages that came before, and those that were streamed."""
        self.bare = True
        changes: dict[str, Any] = {"": value} if messages_in(value) else value
        for node, change in [] if self._streams else changes.items():
            for message in messages_in(change):
                message_id = message.get("id")
                if isinstance(message_id, str):
                    if message_id in self._heard:
                        continue
                    self._heard.add(message_id)
                yield from self._message(message, {"langgraph_node": node} if node else {})
        if self._streams or any(not is_object(change) or set(change) != {"messages"} for change in changes.values()):
            yield self._decoder.replies.custom("values" if "" in changes else "updates", value)

    def _message(self, message: Wire, metadata: Wire) -> Iterator[Any]:
        """Take a message that a node gave."""
        namespace = metadata.get("langgraph_checkpoint_ns") or metadata.get("checkpoint_ns")
        lane = namespace if isinstance(namespace, str) else ""
        run_id, step = metadata.get("run_id"), metadata.get("langgraph_step")
        scope = self._run
        if isinstance(run_id, str) and run_id:
            scope = ("graph", run_id)
        elif isinstance(step, int) and "|" not in lane:
            if step < self._steps.get(scope, step):
                # A step that is lower than the last: another run has begun.
                self._runs += 1
                if scope in self._decoder.replies.open:
                    yield from self._decoder.replies.close(scope)
                scope = self._run = ("graph", self._runs)
            self._steps[scope] = step
        yield from self._decoder.message(message, scope, lane, {"metadata": copy_json(metadata)})
