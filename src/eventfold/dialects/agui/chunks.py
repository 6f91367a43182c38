"""
Chunks -> the events that they stand for, as `transformChunks` of @ag-ui/client 1.0.0 does.

Law: a lane for each sub-agent, and in each at most one message or call that chunks opened. A chunk goes on with it, or closes
it and opens its own; most other events of the lane close it, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from eventfold.dialects.translation import Unfit

from .shapes import Type

if TYPE_CHECKING:
    from eventfold.shape import Wire

#: Rules about chunks.
UNOPENED, CONFLICT, AMBIGUOUS = "agui.chunk-unopened", "agui.chunk-conflict", "agui.chunk-ambiguous"


class _Kind(NamedTuple):
    """What the chunks of one kind become."""

    name: str
    start: str
    content: str
    end: str
    key: str  #: the field with the id
    needs: tuple[str, ...]  #: what the first one has
    agrees: tuple[str, ...]  #: what a later one repeats, if it has it
    head: tuple[str, ...]  #: what START takes of it
    fixed: dict[str, str]  #: what START says if the chunk does not


_KINDS: dict[str, _Kind] = {
    Type.TEXT_MESSAGE_CHUNK: _Kind(
        "text message",
        Type.TEXT_MESSAGE_START,
        Type.TEXT_MESSAGE_CONTENT,
        Type.TEXT_MESSAGE_END,
        "messageId",
        ("messageId",),
        ("role", "name"),
        ("role", "name"),
        {"role": "assistant"},
    ),
    Type.TOOL_CALL_CHUNK: _Kind(
        "tool call",
        Type.TOOL_CALL_START,
        Type.TOOL_CALL_ARGS,
        Type.TOOL_CALL_END,
        "toolCallId",
        ("toolCallId", "toolCallName"),
        ("toolCallName", "parentMessageId"),
        ("toolCallName", "parentMessageId"),
        {},
    ),
    Type.REASONING_MESSAGE_CHUNK: _Kind(
        "reasoning message",
        Type.REASONING_MESSAGE_START,
        Type.REASONING_MESSAGE_CONTENT,
        Type.REASONING_MESSAGE_END,
        "messageId",
        ("messageId",),
        (),
        (),
        {"role": "reasoning"},
    ),
}
#: What leaves every lane alone, what closes its own only if it names it, and what closes all.
_QUIET = {Type.RAW, Type.ACTIVITY_SNAPSHOT, Type.ACTIVITY_DELTA, Type.REASONING_ENCRYPTED_VALUE, Type.SUBAGENT_STARTED}
_ALL = {Type.RUN_STARTED, Type.RUN_FINISHED, Type.RUN_ERROR, Type.MESSAGES_SNAPSHOT}


@dataclass
class _Open:
    """What chunks opened: of a kind, with the fields of its START, since the event with an index."""

    kind: _Kind
    start: Wire
    since: int


class Expander:
    """Expands chunks. Events that are none come through, behind the ENDs of what they close."""

    def __init__(self) -> None:
        self._lanes: dict[str | None, _Open] = {}

    def feed(self, event: Wire, index: int) -> list[Wire]:
        """Give the events that an event stands for. Raises Unfit for a chunk that belongs to nothing."""
        name: str = event["type"]
        if name in _KINDS:
            return self._chunk(event, _KINDS[name], index)
        if name in _QUIET:
            return [event]
        closed = list(self._lanes) if name in _ALL else [event.get("subagentRunId")]
        return [*(end for lane in closed for end in self.close(lane)), event]

    def close(self, lane: str | None) -> list[Wire]:
        """Give the END of what chunks opened in a lane."""
        opened = self._lanes.pop(lane, None)
        if opened is None:
            return []
        names = (opened.kind.key, "subagentRunId")
        return [{"type": opened.kind.end, **{name: opened.start[name] for name in names if name in opened.start}}]

    def _chunk(self, event: Wire, kind: _Kind, index: int) -> list[Wire]:
        lane = self._lane(event, kind)
        opened = self._lanes.get(lane)
        events: list[Wire] = []
        if opened is not None and opened.kind is kind and event.get(kind.key, opened.start[kind.key]) == opened.start[kind.key]:
            for name in kind.agrees:
                if name in event and event[name] != opened.start.get(name):
                    detail = f"{kind.name} {opened.start[kind.key]!r} began with {name} {opened.start.get(name)!r}, not {event[name]!r}"
                    raise Unfit(CONFLICT, detail, f"/{name}", opened.since)
        else:
            for name in kind.needs:
                if name not in event:
                    raise Unfit(UNOPENED, f"the first {event['type']} has a {name}", f"/{name}")
            events += self.close(lane)
            opened = self._opened(event, kind, index)
            self._lanes[lane] = opened
            events.append(opened.start)
        if "delta" in event or "rawEvent" in event or not events:
            events.append(self._content(event, kind, opened))
        return events

    def _opened(self, event: Wire, kind: _Kind, index: int) -> _Open:
        kept = (kind.key, *kind.head, "subagentRunId", "metadata", "timestamp")
        start = {"type": kind.start, **kind.fixed, **{name: event[name] for name in kept if name in event}}
        return _Open(kind, start, index)

    @staticmethod
    def _content(event: Wire, kind: _Kind, opened: _Open) -> Wire:
        said = {name: value for name, value in event.items() if name not in {"type", *kind.head}}
        tag = {"subagentRunId": opened.start["subagentRunId"]} if "subagentRunId" in opened.start else {}
        return {**tag, "delta": "", **said, "type": kind.content, kind.key: opened.start[kind.key]}

    def _lane(self, event: Wire, kind: _Kind) -> str | None:
        """Find the lane of a chunk: the one that holds its id, the one that it names, or the only one of its kind."""
        tag: Any = event.get("subagentRunId")
        of_kind = {lane: opened for lane, opened in self._lanes.items() if opened.kind is kind}
        if kind.key in event:
            for lane, opened in of_kind.items():
                if opened.start[kind.key] == event[kind.key]:
                    if tag not in {None, lane}:
                        detail = f"{kind.name} {event[kind.key]!r} belongs to {_owner(lane)}, not to {_owner(tag)}"
                        raise Unfit(CONFLICT, detail, "/subagentRunId", opened.since)
                    return lane
            return tag
        if tag is not None or None in of_kind or not of_kind:
            return tag
        if len(of_kind) > 1:
            detail = f"it names neither a {kind.key} nor a subagentRunId, and {len(of_kind)} lanes have an open {kind.name}"
            raise Unfit(AMBIGUOUS, detail, related=max(opened.since for opened in of_kind.values()))
        return next(iter(of_kind))


def _owner(tag: str | None) -> str:
    return "the parent agent" if tag is None else f"sub-agent {tag!r}"
