"""
A failure, as a file: a vector that names what was found.

Law: a case file is a vector (schemas/meta/vector.json). Moved into a folder of vectors, it is a regression test.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from eventfold_models.tables import WIRE_VERSION

from eventfold.check import check_and_fold

from .cases import Case, case_of, lines_of
from .features import REPAIR

if TYPE_CHECKING:
    from pathlib import Path

    from .campaign import Group

_NOT_IN_SLUGS = re.compile(r"[^a-z0-9]+")
_FIELDS = ("rule", "index", "pointer", "related")


class NotACase(ValueError):
    """A file that holds no stream with its messages, in one line."""


def vector_of(case: Case, key: str) -> dict[str, Any]:
    """Write a case as a vector."""
    slug = _NOT_IN_SLUGS.sub("-", key.lower()).strip("-")[:80].strip("-")
    folder = f"reject/{case.rules[0]}" if case.rules else "accept/found"
    found = [finding.to_dict() for finding in check_and_fold(lines_of(case.events)).findings]
    findings = [
        {**{name: each[name] for name in _FIELDS if name in each}, **({"count": each["count"]} if each["count"] > 1 else {})}
        for each in found
    ]
    return {
        "form": 1,
        "id": f"{folder}/{slug}",
        "since": WIRE_VERSION,
        "intent": f"Found by eventfold fuzz: {key.rstrip('.')}.",
        "areas": sorted(case.needs - {REPAIR}),
        "events": case.events,
        "messages": case.messages,
        "findings": findings,
    }


def write_case(group: Group, folder: Path) -> Path:
    """Write a failure below a folder. Gives the file. Raises OSError."""
    vector = vector_of(group.case, group.key)
    path = folder / f"{vector['id']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(vector, indent=1) + "\n", "utf-8")
    return path


def read_case(path: Path) -> Case:
    """
    Read a case file, or any vector that holds events.

    Raises:
        OSError: it cannot be read.
        NotACase: it is none; says what is missing.

    """
    try:
        vector: Any = json.loads(path.read_bytes())
        return case_of(vector["id"], "vectors", vector["events"], vector["messages"])
    except (ValueError, RecursionError):
        message = f"{path} is no JSON"
    except (KeyError, TypeError) as error:
        message = f"{path} is no case: it lacks {error}" if isinstance(error, KeyError) else f"{path} is no case"
    raise NotACase(message)
