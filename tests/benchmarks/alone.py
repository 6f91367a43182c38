"""
Memory, in a process that does nothing else: `python -m tests.benchmarks.alone peak|state FILE [CONTENDER]` prints JSON.

`peak`: how far the resident set rises above what it was when the contender had its input in hand, at its highest. A short run of the
same comes before, so that what is loaded or cached once does not count. `state`: what eventfold holds, at its highest, while a file
goes through it in pieces, by tracemalloc; the size of the messages as Python values; the ids of replies that are open at once.
"""

from __future__ import annotations

import gc
import os
import resource
import sys
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from eventfold import Checker

from .contenders import PIECE, contender

if TYPE_CHECKING:
    from .workloads import Wire

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
#: Lines of the run that comes before.
_SHORT = 50


def peak(file: Path, name: str) -> dict[str, int]:
    """Run a contender on a file."""
    row = contender(name)
    data = file.read_bytes()
    short = row.start(b"".join(data.splitlines(keepends=True)[:_SHORT]))
    if short.told is None:
        short.run()
    short.close()
    trial = row.start(data)
    gc.collect()
    before = _forget_peak()
    result = trial.run()
    highest = trial.told(result)[1] if trial.told else max(_peak() - before, 0)
    trial.close()
    return {"peak": highest}


def _forget_peak() -> int:
    """Give the resident set in bytes; where the system can, the highest one so far is forgotten."""
    if _CLEAR.exists():
        _CLEAR.write_text("5")
        return int(_STATUS.read_text().split("VmRSS:")[1].split()[0]) * 1024
    return _peak()


def _peak() -> int:
    if _CLEAR.exists():
        return int(_STATUS.read_text().split("VmHWM:")[1].split()[0]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def state(file: Path) -> dict[str, int]:
    """Say what eventfold holds while a file goes through it."""
    ids = _open_ids(file)
    _feed(file, limit=PIECE)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    checker = _feed(file)
    highest = tracemalloc.get_traced_memory()[1] - before
    snapshots = checker.folder.snapshots()
    given = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    messages = orjson.dumps(snapshots)
    del checker, snapshots
    tracemalloc.start()
    values = orjson.loads(messages)
    own = tracemalloc.get_traced_memory()[0]
    del values
    return {"state": highest, "given": given, "messages": own, "ids": ids}


def _feed(file: Path, limit: int = sys.maxsize) -> Checker:
    checker = Checker()
    with file.open("rb", buffering=0) as stream:
        while stream.tell() < limit and (piece := stream.read(PIECE)):
            checker.feed(piece)
    checker.finish()
    return checker


def _open_ids(file: Path) -> int:
    """Give the most bytes that the event ids of open replies take at once, as Python strings."""
    held: dict[str, int] = {}
    most = 0
    for line in file.read_bytes().splitlines():
        event: Wire = orjson.loads(line)
        reply = event["reply_id"]
        held[reply] = held.get(reply, 0) + sys.getsizeof(event["id"])
        if event["type"] == "REPLY_END":
            most = max(most, sum(held.values()))
            del held[reply]
    return max(most, sum(held.values()))


def main() -> None:
    """Answer with one JSON value."""
    what, file, name = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    found = state(file) if what == "state" else peak(file, name)
    sys.stdout.write(orjson.dumps(found).decode())
    sys.stdout.flush()
    # Node was ended, and nothing else is worth the time of taking all apart.
    os._exit(0)


if __name__ == "__main__":
    main()
