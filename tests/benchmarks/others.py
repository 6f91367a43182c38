"""
The reducers of others, as their users call them: AgentScope's in Python, AG-UI's client in Node.

Each gets the stream in its own form, written before anything is measured. AG-UI's says itself how long it took, without the start
of Node, after one run to warm up.
"""

from __future__ import annotations

import json
import logging
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eventfold import read_event
from eventfold.dialects import dialect
from eventfold.dialects.agentscope import to_agentscope
from eventfold.jsonvalue import is_array, is_object

from .node import absent
from .workloads import ROOT, Told, Wire, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER = ROOT / "tests/judges/agui"


def said_by_agentscope(events: list[Wire]) -> bytes:
    """Write a stream as AgentScope's own models read it."""
    return lines_of([to_agentscope(event)[0] for event in events])


def agentscope(data: bytes) -> Callable[[], Any]:
    """Parse each event, and append it to the message of its reply."""
    from agentscope.event import AgentEvent  # noqa: PLC0415  heavy, and an absent one is left out
    from agentscope.message import Msg  # noqa: PLC0415  as above
    from pydantic import TypeAdapter  # noqa: PLC0415  as above

    logging.getLogger("as").setLevel(logging.CRITICAL)
    # It turns warnings on when it is imported; a producer's deprecated event is none of the reader's business.
    warnings.simplefilter("ignore", DeprecationWarning)
    adapter: TypeAdapter[Any] = TypeAdapter(AgentEvent)
    read = adapter.validate_json
    lines = data.splitlines()

    def run() -> list[Any]:
        messages: dict[str, Any] = {}
        for line in lines:
            event = read(line)
            message = messages.get(event.reply_id)
            if message is None:
                head = {"name": event.name, "role": event.role, "id": event.reply_id, "created_at": event.created_at}
                message = messages[event.reply_id] = Msg(**head, content=[])
            message.append_event(event)
        return list(messages.values())

    return run


def dumped(messages: list[Any]) -> list[Wire]:
    """Give AgentScope's messages as JSON values."""
    return [message.model_dump(mode="json") for message in messages]


def said_by_agui(events: list[Wire]) -> bytes:
    """Write a stream as AG-UI events."""
    make = dialect("agui").encoder
    assert make is not None, "AG-UI can be written"
    encoder = make()
    written = [value for event in events for value in encoder.feed(read_event(event))]
    return lines_of([*written, *encoder.finish()])


def no_node() -> str:
    """Say why AG-UI's client cannot run here; empty when it can."""
    return absent(FOLDER, "@ag-ui/client")


class Node:
    """AG-UI's client with a stream in hand: a process that runs it when asked."""

    def __init__(self, data: bytes) -> None:
        with tempfile.NamedTemporaryFile(suffix=".jsonl", delete=False) as file:
            file.write(data)
        self._path = Path(file.name)
        command = ["node", "--max-old-space-size=2048", "bench.mjs", file.name]
        self._process = subprocess.Popen(command, cwd=FOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def ask(self, word: str) -> Any:
        """
        Ask for a run, or to show its messages.

        Raises:
            RuntimeError: the client refused the stream, or Node ended.

        """
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            message = "node has no pipes"
            raise RuntimeError(message)
        stdin.write(f"{word}\n")
        stdin.flush()
        answer: Any = json.loads(stdout.readline() or '{"error": "node ended"}')
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
        self._path.unlink(missing_ok=True)


def not_shown(messages: list[Wire], told: Told) -> str:
    """Say which texts AG-UI's messages do not hold, wherever they put them."""
    held = set(_strings(messages))
    wrong = [key for key, text in told.items() if text not in held]
    return f"{len(wrong)} of {len(told)} texts are not shown, the first {wrong[0]}" if wrong else ""


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_object(value):
        for item in value.values():
            yield from _strings(item)
    elif is_array(value):
        for item in value:
            yield from _strings(item)
