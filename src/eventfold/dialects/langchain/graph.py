"""
Stream modes of LangGraph -> events.

A mode and its payload come as one list, with a namespace before them where there are sub-graphs, or as one value after the other,
where the list was taken apart. The mode `messages` builds replies; other modes repeat it, or are not about messages: they are kept.
Of a graph that was asked for no messages, `updates` and `values` build the replies (`states`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from eventfold.dialects.halves import repaired
from eventfold.jsonvalue import copy_json, is_array, is_object

from .chunks import message_of
from .states import INTERRUPT, States, is_state, is_update

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
        self.streams = False  #: whether messages come by themselves, so that states repeat them
        self.seen = False  #: whether anything of a graph came
        self._states = States(decoder, self)
        self._bare = False  #: whether states come bare, so that what holds no message may be one, too

    @property
    def waits(self) -> bool:
        """Tell whether a payload comes next."""
        return self._mode is not None

    def announce(self, mode: str) -> None:
        """Take a mode that stands alone: its payload comes next."""
        self._mode = mode
        self.seen = True

    def payload(self, value: Any) -> Iterator[Any]:
        """Take the payload of the mode that came before."""
        item, self._mode, self._namespace = Item(self._mode or "", self._namespace, value), None, []
        yield from self.item(item)

    def lists(self, value: list[Any]) -> Iterator[Any]:
        """Take a list."""
        self.seen = True
        item = item_of(value)
        if item is not None:
            yield from self.item(item)
        elif all(isinstance(part, str) for part in value):
            self._namespace = list(value)  # of what comes next
        elif len(value) == len(Item._fields) - 1 and is_array(value[0]) and is_object(value[1]):
            yield from self.state(value[1])  # with the namespace of a sub-graph
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
        self.streams = True
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
            self.streams = True
            yield from self.message(message, metadata)
        elif item.mode in {"updates", "values"} and not self.streams and is_object(pair) and is_state(pair):
            yield from self._states.read(pair)
        elif item.mode == "events" and is_object(pair):
            yield from self._decoder.decode(pair)
        else:
            said = {"payload": pair, **({"namespace": item.namespace} if item.namespace else {})}
            yield self._decoder.replies.custom(repaired(item.mode), said)
            if item.mode in {"updates", "values"} and is_object(pair) and INTERRUPT in pair:
                self._decoder.replies.ask(pair[INTERRUPT])

    def takes(self, value: Wire) -> bool:
        """Tell whether an object is a state that comes bare."""
        return is_state(value) or (self._bare and is_update(value))

    def state(self, value: Wire) -> Iterator[Any]:
        """Take a state that comes bare."""
        self.seen = self._bare = True
        if self.streams:
            yield from self.item(Item("values" if "messages" in value else "updates", [], value))
        else:
            yield from self._states.read(value)

    def next_run(self) -> Iterator[Any]:
        """End the run, if one is open: what comes next is of another."""
        if self._run in self._decoder.replies.open:
            yield from self._decoder.replies.close(self._run)
        self._runs += 1
        self._run = ("graph", self._runs)

    def message(self, message: Wire, metadata: Wire) -> Iterator[Any]:
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
                yield from self.next_run()
                scope = self._run
            self._steps[scope] = step
        yield from self._decoder.message(message, scope, lane, {"metadata": copy_json(metadata)})
