"""
What `check` is given -> the files that it checks: folders are walked.

Law: the same folders give the same files in the same order; hidden files are left alone, and no link to a folder is followed,
so that a walk ends.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: How the names of files end that are looked for in folders. Logs and texts hold anything; name those one by one.
ENDINGS = tuple(f"{ending}{packed}" for ending in (".jsonl", ".ndjson", ".json", ".sse") for packed in ("", ".gz", ".zst"))
_SAID = "*.jsonl, *.ndjson, *.json, *.sse, also with .gz or .zst"

#: For how many bytes another process is worth its start.
_WORTH = 4 << 20


class Source(NamedTuple):
    """Something to check."""

    name: str
    size: int | None = None  #: in bytes, as it is stored; None when that is not known
    error: str | None = None  #: why there is nothing to check


def sources(names: Iterable[str]) -> Iterator[Source]:
    """Give what is to be checked, in order; folders are walked."""
    for name in names:
        if name != "-" and not is_url(name) and os.path.isdir(name):  # noqa: PTH112  a Path would change the name
            found = False
            for source in _walk(name):
                found = True
                yield source
            if not found:
                yield Source(name, error=f"{name} is a directory without any file to check ({_SAID})")
        else:
            yield Source(name, _size(name))


def jobs_for(found: list[Source], wanted: int) -> int:
    """Choose how many processes to use: as many as wanted, or with 0 as the inputs are worth. Standard input cannot be handed over."""
    if any(source.name == "-" for source in found):
        return 1
    if wanted:
        return min(wanted, len(found))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, len(found), sum(source.size or 0 for source in found) // _WORTH))


def is_url(name: str) -> bool:
    """Tell a URL from the name of a file."""
    return name.lower().startswith(("http://", "https://"))


def _size(name: str) -> int | None:
    try:
        return os.stat(name).st_size if name != "-" and not is_url(name) else None  # noqa: PTH116  as above
    except (OSError, ValueError):
        return None


def _walk(folder: str) -> Iterator[Source]:
    """Walk a folder and those in it, each sorted by name."""
    left: list[tuple[str, bool, int | None]] = [(folder, True, None)]
    while left:
        path, is_folder, size = left.pop()
        if not is_folder:
            yield Source(path, size)
            continue
        try:
            with os.scandir(path) as entries:
                inside = [_entry(entry) for entry in entries if not entry.name.startswith(".")]
        except OSError as error:
            yield Source(path, error=f"{path} cannot be read: {error.strerror}")
            continue
        left += sorted((entry for entry in inside if entry[1] or entry[0].endswith(ENDINGS)), reverse=True)


def _entry(entry: os.DirEntry[str]) -> tuple[str, bool, int | None]:
    """Give path, whether it is a folder, and size. What cannot be looked at is taken for a file, so that it is said."""
    try:
        if entry.is_dir(follow_symlinks=False):
            return entry.path, True, None
        # Neither pipes and sockets nor links to folders are files to check.
        return (entry.path if entry.is_file() or _leads_nowhere(entry) else ""), False, entry.stat().st_size
    except OSError:
        return entry.path, False, None


def _leads_nowhere(entry: os.DirEntry[str]) -> bool:
    return entry.is_symlink() and not os.path.exists(entry.path)  # noqa: PTH110  as above
