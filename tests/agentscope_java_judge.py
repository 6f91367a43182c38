"""
AgentScope Java itself, as a judge: one process that reads values with its classes and writes them back.

Maven builds it into a folder that git ignores, once; where Java, Maven or the artifact are absent, there is a reason to skip.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
from functools import cache
from typing import TYPE_CHECKING, Any

from support import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = ROOT / "tests/judges/agentscope_java"
_TARGET = FOLDER / "target"


@cache
def no_judge() -> str:
    """Say why there is no judge here; empty when there is one. Builds it when it is not built, or older than its sources."""
    missing = [name for name in ("java", "mvn") if shutil.which(name) is None]
    if missing:
        return f"{' and '.join(missing)} not installed"
    _TARGET.mkdir(exist_ok=True)
    with (_TARGET / "lock").open("w") as lock:
        # Test workers wait for the one that builds.
        fcntl.flock(lock, fcntl.LOCK_EX)
        built = _TARGET / "built"
        sources = [FOLDER / "pom.xml", *FOLDER.glob("src/main/java/*.java")]
        if built.exists() and all(source.stat().st_mtime <= built.stat().st_mtime for source in sources):
            return ""
        for mode in (["-o"], []):
            result = subprocess.run(["mvn", "-q", "-B", *mode, "compile"], cwd=FOLDER, capture_output=True, text=True, check=False)
            if result.returncode == 0:
                built.touch()
                return ""
    if "COMPILATION ERROR" in result.stdout:
        raise AssertionError(result.stdout)
    return f"Maven cannot resolve agentscope-core: {result.stdout[:300]}"


class Judge:
    """A running judge."""

    def __init__(self) -> None:
        path = f"{_TARGET / 'classes'}:{(_TARGET / 'classpath.txt').read_text('utf-8')}"
        self.process = subprocess.Popen(
            ["java", "-cp", path, "Judge"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )

    def ask(self, op: str, values: Sequence[Any]) -> Any:
        """Let values be read as events or messages, and give the answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"op": op, "values": values}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def written(self, op: str, values: Sequence[Any]) -> list[str]:
        """Give what the vendor writes of values that it must read."""
        answer = self.ask(op, values)
        assert "error" not in answer, (answer["error"], values[answer["at"]])
        return answer["written"]

    def read(self, op: str, values: Sequence[Any]) -> list[Any]:
        """Give what the vendor makes of values, as any JSON reader reads its text."""
        return [json.loads(text) for text in self.written(op, values)]

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(30)
