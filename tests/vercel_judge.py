"""
The AI SDK as a judge: a Node process that answers line by line (judges/vercel/judge.mjs).

Its packages are installed where they are missing. Without Node or without the registry there is no judge.
"""

from __future__ import annotations

import atexit
import json
import subprocess
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from benchmarks.node import absent
from support import ROOT

if TYPE_CHECKING:
    from support import Wire

FOLDER = ROOT / "tests/judges/vercel"


def missing() -> str:
    """Say why there is no judge here; empty when there is one."""
    return absent(FOLDER, "ai")


class _Judge:
    """The process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(["node", "judge.mjs"], cwd=FOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        atexit.register(self._process.kill)

    def ask(self, question: Wire) -> Any:
        """Ask, and wait for the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert "failed" not in answer, answer
        return answer


@cache
def _judge() -> _Judge:
    return _Judge()


def ask(operation: str, **question: Any) -> Any:
    """Ask the AI SDK; skip the test where it is not."""
    if reason := missing():
        pytest.skip(reason)
    return _judge().ask({"op": operation, **question})
