"""
AG-UI's own client as a judge: a process that takes one stream a line (tests/judges/agui/judge.mjs).

Its packages are pinned, and installed where they are missing; where Node or the registry is absent, the tests say so and skip.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

from benchmarks.node import absent
from support import ROOT, Wire

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = ROOT / "tests/judges/agui"


def missing() -> str:
    """Say why the judge cannot be asked here; empty when it can."""
    return absent(FOLDER, "@ag-ui/client")


class Judge:
    """The client, running: one stream after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, events: list[Any], **given: Any) -> Wire:
        """Give the verdict on a stream."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"events": events, **given}) + "\n")
        self._process.stdin.flush()
        verdict: Wire = json.loads(self._process.stdout.readline())
        assert not str(verdict["error"]).startswith("judge:"), verdict
        return verdict


def running() -> Iterator[Judge]:
    """Run the judge as long as it is asked."""
    command = ["node", "judge.mjs"]
    process = subprocess.Popen(command, cwd=FOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    with process:
        yield Judge(process)
        assert process.stdin is not None
        process.stdin.close()
