"""
A producer and a folder that talk to each other in any order.

The producer writes whatever is in order; the folder is fed, saved and restored through JSON, gets events again, loses
its connection and goes on from a stored message. At any time it holds what an undisturbed folder holds.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from eventfold import Checker, Folder, Severity, read_event
from eventfold.fuzz.strategies import STEP, Writer
from eventfold.wire.schema import errors

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn


class ProducerAndFolder(RuleBasedStateMachine):
    """One producer, a folder that nothing disturbs, and one that everything happens to."""

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """Begin a reply."""
        self.writer = Writer(cast("DrawFn", data.draw), "r")
        self.writer.begin("assistant")
        self.quiet = Folder()
        self.checker = Checker()
        self.delivered = 0
        #: Since when the folder has known the ids of events: it forgets them with its memory.
        self.remembered = 0
        self.ended = False

    @precondition(lambda self: not self.ended)
    @rule(data=st.data(), steps=st.lists(STEP, min_size=2, max_size=8))
    def produce(self, data: st.DataObject, steps: list[tuple[int, int, int]]) -> None:
        """Write events that are in order."""
        self.writer.draw = cast("DrawFn", data.draw)
        for step in steps:
            self.writer.step(*step)

    @precondition(lambda self: not self.ended and len(self.writer.events) > 15)
    @rule(data=st.data(), how=st.integers(0, 6))
    def end(self, data: st.DataObject, how: int) -> None:
        """End the reply in some way."""
        self.writer.draw = cast("DrawFn", data.draw)
        self.writer.end(how)
        self.ended = not self.writer.walker.reply.parked or how < 7

    @precondition(lambda self: self.delivered < len(self.writer.events))
    @rule(count=st.integers(1, 12))
    def deliver(self, count: int) -> None:
        """Bring the next events to both folders."""
        for event in self.writer.events[self.delivered : self.delivered + count]:
            self.feed(event)
            self.quiet.feed(read_event(event))
            self.delivered += 1

    @rule(data=st.data())
    def deliver_again(self, data: st.DataObject) -> None:
        """Bring an event again that the folder remembers, perhaps with another time."""
        if self.remembered < self.delivered:
            event = self.writer.events[data.draw(st.integers(self.remembered, self.delivered - 1))]
            self.feed({**event, "created_at": data.draw(st.sampled_from((event["created_at"], "2026-02-02")))})

    @rule()
    def save_and_restore(self) -> None:
        """Go on from a checkpoint, through JSON."""
        events = self.checker.events
        saved = json.loads(json.dumps(self.checker.folder.checkpoint()))
        self.checker = Checker(folder=Folder.restore(saved))
        self.checker.events = events

    @precondition(lambda self: bool(self.quiet.lifecycle.replies) and self.quiet.replies()[0].parked > 0)
    @rule()
    def lose_everything_but_the_message(self) -> None:
        """While the reply is parked, go on from its stored message."""
        stored = json.loads(json.dumps(self.checker.folder.snapshots()[0]))
        self.checker = Checker(folder=Folder.from_messages([stored]))
        self.remembered = self.delivered

    def feed(self, event: dict[str, Any]) -> None:
        """Feed the folder that everything happens to."""
        self.checker.feed_event(read_event(event))

    @invariant()
    def the_folders_agree(self) -> None:
        """Both hold the same message, it fits its schema, and nothing was called an error."""
        if not hasattr(self, "checker"):
            return
        assert self.checker.folder.snapshots() == self.quiet.snapshots()
        for message in self.quiet.snapshots():
            assert errors(message, "AssistantMsg") == []
        assert [finding for finding in self.checker.findings() if finding.severity is Severity.ERROR] == []


ProducerAndFolder.TestCase.settings = settings(stateful_step_count=25)
TestProducerAndFolder = ProducerAndFolder.TestCase
