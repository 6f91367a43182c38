"""
The ends of AG-UI's runs -> how our replies end, or what they wait for.

Law: only what says so is a success. A run that asks for something, or leaves a call without a result, parks its reply; a run that
was cancelled was interrupted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models import structs

from eventfold.jsonvalue import copy_json, is_object

from .lanes import FOREIGN, Call, Lane, Lanes

if TYPE_CHECKING:
    from eventfold.shape import Wire

#: TokenUsage -> our counts.
_COUNTS = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cachedInputTokens": "cache_input_tokens",
    "cacheWriteInputTokens": "cache_creation_input_tokens",
}


class Outcomes(Lanes):
    """How the runs of a stream end."""

    def agent_finished(self, event: Wire) -> None:
        """End the reply of a sub-agent, unless it waits for something."""
        lane = self.lanes.get(event["subagentRunId"])
        if lane is None or lane.ended or event.get("outcome", {}).get("type") == "suspended":
            self.keep(event)
        elif not self._park(event["subagentRunId"], lane, self._pending(lane)):
            metadata = self._result(event)
            self._end(lane, finished_reason="completed", **metadata)

    def agent_failed(self, event: Wire) -> None:
        """End the reply of a sub-agent with an error."""
        lane = self.lanes.get(event["subagentRunId"])
        if lane is None or lane.ended:
            self.keep(event)
        else:
            self._end(lane, **self._failure(event))

    def run_finished(self, event: Wire) -> None:
        """End the replies of a run, or leave them waiting."""
        main = self.lanes.get(None) or next(iter(self.lanes.values()), None)
        if main is None:
            self.keep(event)
            return
        self._spend(main, event)
        outcome: Wire = event.get("outcome", {"type": "success"})
        waiting = self._interrupts(outcome.get("interrupts", []))
        named: list[str] = outcome.get("pendingToolCallIds", [])
        for tag, lane in self.lanes.items():
            if lane.ended:
                continue
            ends = self._result(event) if lane is main else {}
            if lane in waiting:
                self.parked[self.session, tag] = lane
                self._left_over(ends, lane)
            elif outcome["type"] == "cancelled":
                self._end(lane, finished_reason="interrupted", **ends)
            elif outcome["type"] == "interrupt" or not self._park(tag, lane, [*self._pending(lane, named)]):
                self._end(lane, finished_reason="completed", **ends)
            else:
                self._left_over(ends, lane)
        self.lanes.clear()

    def run_failed(self, event: Wire) -> None:
        """End the replies of a run with an error. One that comes before any run is a reply all the same, one after it is not."""
        if not self.lanes and self._names:
            self.keep(event)
            return
        main = self.lanes.get(None) or next(iter(self.lanes.values()), None) or self.lane(event)
        self._spend(main, event)
        for lane in self.lanes.values():
            if not lane.ended:
                self._end(lane, **self._failure(event))
        self.lanes.clear()

    def _end(self, lane: Lane, **fields: Any) -> None:
        lane.ended = True
        self.add(structs.ReplyEndEvent, reply_id=lane.reply_id, session_id=lane.session, **fields)

    def _left_over(self, ends: Wire, lane: Lane) -> None:
        """Keep what would have stood in the end of a reply that waits."""
        if ends:
            self.add(structs.CustomEvent, name=f"{FOREIGN}.RUN_FINISHED", value=ends, reply_id=lane.reply_id)

    def _result(self, event: Wire) -> Wire:
        """Give what the end of a reply takes of the end of a run."""
        result = event.get("result")
        told = ("threadId", "runId", "outcome", "usage", *(("result",) if is_object(result) else ()))
        given = {"structured_output": copy_json(result) if is_object(result) else None, "metadata": self.kept(event, *told)}
        return {key: value for key, value in given.items() if value is not None}

    def _failure(self, event: Wire) -> Wire:
        error = {"message": event["message"], "type": event.get("code", "unknown")}
        return {"finished_reason": "error", "error": error, "metadata": self.kept(event, "message", "code", "usage")}

    def _pending(self, lane: Lane, named: list[str] | None = None) -> list[Call]:
        """Give the calls of a reply that were left to somebody else: those that are named, or all without a result."""
        own = [call for call in self.calls.values() if call.lane is lane and not call.answered]
        if not named:
            return own
        return [call for key, call in self.calls.items() if key in named and call in own]

    def _park(self, tag: str | None, lane: Lane, calls: list[Call]) -> bool:
        """Leave a reply waiting for the results of calls. Tells whether there are any."""
        if calls:
            self.add(structs.RequireExternalExecutionEvent, reply_id=lane.reply_id, tool_calls=[call.block() for call in calls])
            self.parked[self.session, tag] = lane
        return bool(calls)

    def _interrupts(self, interrupts: list[Wire]) -> set[Lane]:
        """Ask the user about calls. Gives the replies that wait."""
        asked: dict[Lane, list[Wire]] = {}
        waiting: set[Lane] = set()
        for interrupt in interrupts:
            call = self.calls.get(interrupt.get("toolCallId", ""))
            lane = call.lane if call is not None else self.lane(interrupt)
            waiting.add(lane)
            if call is None:
                self.note("interrupt", interrupt)
                continue
            self.asked[interrupt["id"]] = call
            rest = {key: copy_json(value) for key, value in interrupt.items() if key not in {"toolCallId", "subagentRunId"}}
            asked.setdefault(lane, []).append({**call.block(), "x_agui": rest})
        for lane, blocks in asked.items():
            self.add(structs.RequireUserConfirmEvent, reply_id=lane.reply_id, tool_calls=blocks)
        return waiting

    def _spend(self, lane: Lane, event: Wire) -> None:
        """Count the tokens of a run: a model call for each entry."""
        for usage in event.get("usage", []):
            counts = {ours: int(usage[theirs]) for theirs, ours in _COUNTS.items() if theirs in usage}
            self.add(structs.ModelCallStartEvent, reply_id=lane.reply_id, model_name=usage.get("model", ""))
            metadata = self.kept(usage, "model", *_COUNTS)
            tokens = {"input_tokens": 0, "output_tokens": 0, **counts}
            self.add(structs.ModelCallEndEvent, reply_id=lane.reply_id, metadata=metadata, **tokens)
