"""How files are written: whole, or between two marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .contract import ROOT, need

if TYPE_CHECKING:
    from pathlib import Path


def write(path: Path, text: str) -> None:
    """Write a file, with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def write_between(marks: tuple[str, str], rows: list[str], page: Path, out: Path) -> None:
    """Write a page of ours with rows between its marks."""
    need((ROOT / page).exists(), f"{page} is missing")
    text = (ROOT / page).read_text("utf-8")
    start, end = marks
    need(start in text and end in text, f"{page} must hold the marks {start.strip()} and {end.strip()}")
    head, rest = text.split(start)
    write(out / page, head + start + "\n".join(rows) + "\n" + end + rest.split(end)[1])
