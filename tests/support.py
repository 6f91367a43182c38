"""What several test files need: recordings, cases and the comparison that these ask for; what the TypeScript part needs."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from eventfold.jsonvalue import is_array, is_object

ROOT = Path(__file__).resolve().parent.parent
RECORDINGS = sorted((ROOT / "tests/recordings").glob("agentscope-2.*/*.events.jsonl"))
CASES: list[dict[str, Any]] = [json.loads(line) for line in (ROOT / "tests/data/cases.jsonl").read_text("utf-8").splitlines()]

Wire = dict[str, Any]


@cache
def no_typescript() -> str:
    """Say why the TypeScript part cannot be tested here; empty when it can. Installs its packages where they are missing."""
    command = [sys.executable, str(ROOT / "codegen.py"), "--only", "typescript", "--check"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.stderr.strip() if result.returncode == 2 else ""


def recording_name(path: Path) -> str:
    """Name a recording by version and scenario."""
    return f"{path.parent.name.removeprefix('agentscope-')}-{path.name.removesuffix('.events.jsonl')}"


def lines_of(events: list[Wire]) -> bytes:
    """Write events as JSON Lines."""
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def events_of(path: Path) -> list[Wire]:
    """Read a recording's events."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def differences(wanted: Any, given: Any, pointer: str = "") -> list[str]:
    """
    Compare as the public cases ask: listed keys only; absent, null and empty are equal.

    A tool output given as a string equals a list of one text.
    """
    if wanted in (None, [], {}, "") and given in (None, [], {}, ""):
        return []
    if isinstance(wanted, str) != isinstance(given, str):
        wanted, given = _as_text(wanted), _as_text(given)
    if is_object(wanted) and is_object(given):
        return [found for key in wanted for found in differences(wanted[key], given.get(key), f"{pointer}/{key}")]
    if is_array(wanted) and is_array(given) and len(wanted) == len(given):
        pairs = enumerate(zip(wanted, given, strict=True))
        return [found for i, (one, other) in pairs for found in differences(one, other, f"{pointer}/{i}")]
    return [] if wanted == given else [f"{pointer}: wanted {wanted!r}, given {given!r}"]


def _as_text(output: Any) -> Any:
    if is_array(output) and len(output) == 1 and output[0].get("type") == "text":
        return output[0]["text"]
    return output
