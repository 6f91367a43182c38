"""
States of a LangGraph run -> its messages: what a graph gives that is asked for `updates` or `values`, and for no messages.

A state repeats what stood in those before it: each message counts once, as it came first, and whole. What a human says begins
another run. Whatever else a state holds is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.jsonvalue import is_array, is_object

from .chunks import message_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from eventfold.shape import Wire

    from .decoder import LangChainDecoder
    from .graph import Graph

#: A node that stopped for its user, and why.
INTERRUPT = "__interrupt__"
_MESSAGES = "messages"
#: How many messages are remembered.
_MOST = 10_000


def messages_in(change: Any) -> list[Wire]:
    """Give the messages that a state, or what a node changed of it, holds; a node may have changed it several times."""
    if is_array(change):
        return [message for part in change for message in messages_in(part)]
    held: Any = change.get(_MESSAGES) if is_object(change) else None
    found = [message_of(part) for part in (held if is_array(held) else [held])]
    return [message for message in found if message is not None]


def is_update(value: Wire) -> bool:
    """Tell whether a value may be what nodes changed of a state: nodes by their names, and nothing that says what it is."""
    return bool(value) and "type" not in value and all(change is None or is_object(change) or is_array(change) for change in value.values())


def is_state(value: Wire) -> bool:
    """Tell whether a value is a state, or what nodes changed of it, with messages, or with the list that they will stand in."""
    if "type" in value:
        return False
    return value.get(_MESSAGES) == [] or bool(messages_in(value)) or (is_update(value) and any(map(messages_in, value.values())))


class States:
    """Reads the states of a graph."""

    def __init__(self, decoder: LangChainDecoder, graph: Graph) -> None:
        self._decoder = decoder
        self._graph = graph
        self._heard: dict[str, Wire] = {}  #: messages by id
        self._last: list[Wire] = []  #: all messages of the last whole state

    def read(self, value: Wire) -> Iterator[Any]:
        """Take a state, or what nodes changed of it."""
        if _MESSAGES in value:
            name, found = "values", messages_in(value)
            same = [one == other for one, other in zip(found, self._last, strict=False)]
            fresh = found[same.index(False) if False in same else len(same) :]
            self._last = found
            whole = yield from self._take("", fresh)
            rest = not whole or _holds_more({key: item for key, item in value.items() if key != INTERRUPT})
        else:
            name, rest = "updates", False
            for node, change in value.items():
                if node != INTERRUPT:
                    whole = yield from self._take(node, messages_in(change))
                    rest = rest or not whole or (change is not None and _holds_more(change))
        if rest:
            yield self._decoder.replies.custom(name, value)
        if INTERRUPT in value:
            self._decoder.replies.ask(value[INTERRUPT])

    def _take(self, node: str, messages: list[Wire]) -> Generator[Any, None, bool]:
        """Take messages that stand one after the other. Returns whether all of them count, or did before."""
        known = [place for place, message in enumerate(messages) if message.get("id") in self._heard]
        older = known[-1] if known else 0
        whole = True
        for place, message in enumerate(messages):
            before = self._heard.get(str(message.get("id")))
            if message == before:
                continue
            if before is None and place >= older and message["type"] != "remove":
                yield from self._message(node, message)
                continue
            # What stands before a message that came is older than the run; what came is not taken back.
            whole = False
            if before is not None:
                self._decoder.remark(
                    "langchain.after-end", f"the message {message['id']!r} comes again and differs; what came first counts"
                )
        return whole

    def _message(self, node: str, message: Wire) -> Iterator[Any]:
        if isinstance(message.get("id"), str):
            self._heard[message["id"]] = message
            if len(self._heard) > _MOST:
                del self._heard[next(iter(self._heard))]
        if message["type"] == "human":
            yield from self._graph.next_run()
        said = {**message, "type": "ai"} if message["type"] == "AIMessageChunk" else message
        yield from self._graph.message(said, {"langgraph_node": node} if node else {})


def _holds_more(change: Any) -> bool:
    """Tell whether a change holds anything but messages of LangChain's."""
    if is_array(change):
        return any(map(_holds_more, change))
    if not is_object(change) or set(change) != {_MESSAGES}:
        return True
    held = change[_MESSAGES]
    return len(messages_in(change)) != (len(held) if is_array(held) else 1)
