"""
How our replies end, or what they wait for -> the ends of AG-UI's runs.

Law: a run ends when its own reply has ended and no other in it is busy, or when nothing more comes. What is open is closed
before, and opened again if it goes on later. Only a reply that completed is a success.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.translation import NAMESPACE
from eventfold.jsonvalue import copy_json, is_object
from eventfold.table import CALL_KIND, MACHINES

from .runs import Run, Runs, Speaker
from .shapes import LARGEST, Type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventfold.shape import Wire

#: The code of a run whose stream ended before its reply did.
CUT = "eventfold.cut"

#: How a run ends, by the reason of its reply; others are success.
CANCELLED = frozenset({"interrupted", "exceed_max_iters"})
FAILED = "error"

#: The answer that is asked for about a tool call.
ANSWER = {"type": "object", "properties": {"approved": {"type": "boolean"}}, "required": ["approved"]}

_CALL = MACHINES["call"]


class Endings(Runs):
    """How the runs of a stream end."""

    def close_items(self, speaker: Speaker) -> Iterator[Wire]:
        """Close what is open of a reply."""
        raise NotImplementedError

    def ended(self, speaker: Speaker) -> Iterator[Wire]:
        """End a reply that has an end, and its run if nothing in it is busy."""
        yield from self.close_items(speaker)
        speaker.items.clear()
        speaker.places.clear()
        if speaker.tag is not None and self.run is not None:
            yield self._close_agent(speaker)
            self.run.others.remove(speaker)
            speaker.busy, speaker.tag = False, None
        if self.run is not None and (self.run.main is None or self.run.main.end is not None) and self.idle():
            yield from self.close_run()

    def close_run(self) -> Iterator[Wire]:
        """End the run that is active, whatever is left in it."""
        run = self.run
        if run is None:
            return
        members = self.members()
        asks = [ask for speaker in members for ask in self._asks(speaker)]
        for speaker in members:
            yield from self.close_items(speaker)
            if speaker is not run.main:
                yield self._close_agent(speaker)
        yield self._terminal(run, asks)
        for speaker in members:
            speaker.busy, speaker.tag = False, None
        self.run = None

    def _close_agent(self, speaker: Speaker) -> Wire:
        """Give the end of a sub-agent."""
        end = speaker.end
        if end is None:
            if self.waits(speaker):
                outcome = {"type": "suspended", "interruptIds": [ask["id"] for ask in self._asks(speaker)]}
                return self.say(speaker, Type.SUBAGENT_FINISHED, None, {"copy": True}, outcome=outcome)
            return self.say(speaker, Type.SUBAGENT_ERROR, None, {"copy": True}, message="The stream ended before the reply did.", code=CUT)
        own, at = {"event": end}, end["created_at"]
        reason = end["finished_reason"]
        if reason == FAILED or reason in CANCELLED:
            message, code = _complaint(end)
            return self.say(speaker, Type.SUBAGENT_ERROR, at, own, message=message, code=code)
        own, result = _result(own, end)
        return self.say(speaker, Type.SUBAGENT_FINISHED, at, own, result=result, outcome={"type": "success"})

    def _terminal(self, run: Run, asks: list[Wire]) -> Wire:
        """Give the end of the run."""
        main = run.main
        usage = [{**({"model": model} if model else {}), **_tokens(counts)} for model, counts in run.usage.items()] or None
        head: Wire = {"threadId": run.thread, "runId": run.id, "usage": usage}
        end = main.end if main is not None else None
        own: Wire = {"copy": True} if end is None or (main is not None and main.told) else {"event": end}
        if end is not None and end["finished_reason"] == FAILED:
            message, code = _complaint(end)
            return self.say(main, Type.RUN_ERROR, end["created_at"], own, message=message, code=code, usage=usage)
        if end is None and main is not None and not self.waits(main):
            message = "The stream ended before the reply did."
            return self.say(main, Type.RUN_ERROR, None, {"copy": True}, message=message, code=CUT, usage=usage)
        outcome = _outcome(asks, cancelled=end is not None and end["finished_reason"] in CANCELLED)
        if end is None:
            return self.say(main, Type.RUN_FINISHED, None, own, **head, outcome=outcome)
        own, result = _result(own, end)
        return self.say(main, Type.RUN_FINISHED, end["created_at"], own, **head, result=result, outcome=outcome)

    def _asks(self, speaker: Speaker) -> list[Wire]:
        """Give what a parked reply waits for, as interrupts."""
        if speaker.end is not None or not self.waits(speaker):
            return []
        asks: list[Wire] = []
        for key, call in self.reply(speaker).instances.get(CALL_KIND, {}).items():
            state = call.states[_CALL.slot]
            if not state.parks:
                continue
            item = speaker.items[CALL_KIND, key]
            block = call.draft.snapshot()
            asking = state.name == "asking"
            tag = {"subagentRunId": speaker.tag} if speaker.tag is not None else {}
            asks.append(
                {
                    "id": f"{speaker.reply_id}:{item.id}",
                    "reason": "tool_call" if asking else "external_execution",
                    "toolCallId": item.id,
                    **({"responseSchema": copy_json(ANSWER)} if asking else {}),
                    **tag,
                    "metadata": {NAMESPACE: {"tool_call": block}},
                }
            )
        return asks


def _outcome(asks: list[Wire], *, cancelled: bool) -> Wire:
    """Say how a run ends: what the user is asked about comes first, then what is left to somebody else."""
    if any(ask["reason"] == "tool_call" for ask in asks):
        return {"type": "interrupt", "interrupts": asks}
    if cancelled:
        return {"type": "cancelled"}
    pending = {"pendingToolCallIds": [ask["toolCallId"] for ask in asks]} if asks else {}
    return {"type": "success", **pending}


def _result(own: Wire, end: Wire) -> tuple[Wire, Any]:
    """Give what only we understand of an end, and its result."""
    result = end.get("structured_output")
    if "event" not in own:
        return own, result
    return {"event": {key: value for key, value in end.items() if key != "structured_output"}}, result


def _complaint(end: Wire) -> tuple[str, str]:
    """Give the words and the code of an end that is no success."""
    error = end.get("error")
    if end["finished_reason"] == FAILED and is_object(error):
        return error["message"], error.get("type", "unknown")
    return f"The reply ended: {end['finished_reason']}.", end["finished_reason"]


def _tokens(counts: list[int]) -> Wire:
    return {"inputTokens": min(counts[0], LARGEST), "outputTokens": min(counts[1], LARGEST)}
