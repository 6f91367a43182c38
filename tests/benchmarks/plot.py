"""
A run as a picture: on the left the time of each contender over the floor, on the right how the time grows.

Hand-written SVG of one style sheet, which looks right on a light and on a dark page, also as an image in a README.
"""

from __future__ import annotations

from html import escape
from math import ceil, log2, log10
from typing import TYPE_CHECKING, NamedTuple

from .contenders import BASE64, CONTENDERS, FLOOR, OURS
from .measure import SIZES
from .targets import TARGETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .measure import Measurement
    from .targets import Run

#: Colours that people who see few colours can tell apart, and that stand on white and on black.
_COLOURS = {
    OURS: "#d6332a",
    "eventfold check": "#e8836f",
    "eventfold fold": "#f0b3a0",
    "jsonschema-rs": "#009e73",
    "pydantic": "#2a7fd0",
    "jsonschema": "#8a6fd1",
    "agentscope": "#e69f00",
    "AG-UI client": "#b0508f",
    FLOOR: "#8b949e",
}
_STYLE = """
  text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #24292f }
  .small { font-size: 11px; fill: #57606a } .title { font-size: 13px; font-weight: 600 }
  .grid { stroke: #d0d7de; stroke-width: 1 } .bar { stroke: #57606a; stroke-width: 1; stroke-dasharray: 4 3 }
  .ring { stroke: #ffffff; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .small { fill: #9da7b3 } .grid { stroke: #30363d } .bar { stroke: #9da7b3 } .ring { stroke: #0d1117 }
  }
"""
_WIDTH, _ROW, _TOP = 1000, 34, 80
_LEFT = (236, 620)  #: where the left axis begins and ends
_RIGHT = (710, 984)
#: The workload whose growth is drawn: where contenders differ most.
_GROWING = ("tools", "chat")
#: Not drawn there: they lie upon check + fold.
_ALIKE = ("eventfold check", "eventfold fold")


class _Scale(NamedTuple):
    """A logarithmic axis between two points."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        return self.start + (log10(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        return [10.0**power for power in range(round(self.low), round(self.high) + 1)]


def _scale(values: Iterable[float], start: float, end: float) -> _Scale:
    powers = [log10(value) for value in values]
    low, high = int(min(powers) // 1), int(-(-max(powers) // 1))
    return _Scale(low, max(high, low + 1), start, end)


def drawn(run: Run) -> str:
    """Draw a run."""
    height = _TOP + _ROW * max(len(run.workloads), 4) + 48
    inside = [*_legend(run), *_dots(run, height - 48), *_lines(run, height - 48)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img" '
        f'aria-label="Time of each contender as a multiple of orjson.loads, and how it grows">\n'
        f"<style>{_STYLE}</style>\n" + "\n".join(inside) + "\n</svg>\n"
    )


def _text(x: float, y: float, text: str, style: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{style}"/>'


def _shown(run: Run) -> list[str]:
    return [
        row.name for row in CONTENDERS if row.name in _COLOURS and any(row.name in found.contenders for found in run.workloads.values())
    ]


def _legend(run: Run) -> Iterator[str]:
    x, y = 12.0, 20.0
    for name in _shown(run):
        width = 21 + 6.5 * len(name)
        if x + width > _WIDTH:
            x, y = 12.0, y + 20
        yield f'<circle cx="{x + 5:.1f}" cy="{y - 4:.1f}" r="5" fill="{_COLOURS[name]}"/>'
        yield _text(x + 15, y, name)
        x += width + 5


def _dots(run: Run, bottom: float) -> Iterator[str]:
    """One row a workload, one dot a contender."""
    ratios = {
        key: {name: found.ratio(name, FLOOR) for name in _shown(run) if name != BASE64 and found.ratio(name, FLOOR)}
        for key, found in run.workloads.items()
    }
    scale = _scale([pair[0] for row in ratios.values() for pair in row.values() if pair], *_LEFT)
    yield _text(12, _TOP - 28, "Time, as a multiple of orjson.loads on the same lines", "title")
    for tick in scale.ticks():
        yield _line(scale.at(tick), _TOP - 8, scale.at(tick), bottom, "grid")
        yield _text(scale.at(tick), bottom + 16, f"{tick:,g}×", "small", "middle")
    for target in TARGETS[:1]:
        yield _line(scale.at(target.bar), _TOP - 8, scale.at(target.bar), bottom, "bar")
        yield _text(scale.at(target.bar), bottom + 30, f"bar {target.bar:g}×", "small", "middle")
    yield _text(_LEFT[1], bottom + 34, "a hollow dot: at a part of the size", "small", "end")
    for place, (key, row) in enumerate(ratios.items()):
        y = _TOP + _ROW * (place + 0.4)
        yield _text(_LEFT[0] - 12, y + 4, _short(run.workloads[key].title), "", "end")
        yield _line(_LEFT[0], y, _LEFT[1], y, "grid")
        for name, pair in sorted(row.items(), key=lambda item: item[0] == OURS):
            if pair:
                colour, hollow = _COLOURS[name], pair[1] != SIZES[-1]
                paint = f'fill="none" stroke="{colour}" stroke-width="2.5"' if hollow else f'fill="{colour}" class="ring"'
                yield (
                    f'<circle cx="{scale.at(pair[0]):.1f}" cy="{y:.1f}" r="{7 if name == OURS else 5.5}" {paint}>'
                    f"<title>{escape(name)}: {pair[0]:.1f}×</title></circle>"
                )


def _short(title: str) -> str:
    return title.replace("the chat, an unknown field in every event", "chat with unknown fields").replace("4,000 parallel", "4,000")


def _lines(run: Run, bottom: float) -> Iterator[str]:
    """How time grows on one workload: a line a contender, each over its own time for the smallest size."""
    found: Measurement | None = next((run.workloads[key] for key in (*_GROWING, *run.workloads) if key in run.workloads), None)
    if found is None:
        return
    lines: dict[str, dict[int, float]] = {}
    for name in _shown(run):
        times = found.contenders[name].times if name in found.contenders and name not in _ALIKE else {}
        lines[name] = {int(size): timing.low / times[str(SIZES[0])].low for size, timing in times.items()}
    across = _Scale(0, log10(SIZES[-1]), *_RIGHT)
    highest = max((value for line in lines.values() for value in line.values()), default=SIZES[-1])
    doublings = ceil(log2(max(highest, SIZES[-1])))
    up = _Scale(0, doublings * log10(2), bottom, _TOP)
    yield _text(_RIGHT[0] - 36, _TOP - 28, f"Growth: {_short(found.title)}", "title")
    for tick in (2**power for power in range(doublings + 1)):
        yield _line(_RIGHT[0], up.at(tick), _RIGHT[1], up.at(tick), "grid")
        yield _text(_RIGHT[0] - 8, up.at(tick) + 4, f"{tick}×", "small", "end")
    yield _line(_RIGHT[0], up.at(1), _RIGHT[1], up.at(SIZES[-1]), "bar")
    for size in SIZES:
        yield _text(across.at(size), bottom + 16, f"{size}×", "small", "middle")
    yield _text(_RIGHT[1], bottom + 34, "size of the stream; dashed: linear", "small", "end")
    for name, line in sorted(lines.items(), key=lambda item: item[0] == OURS):
        points = " ".join(f"{across.at(size):.1f},{up.at(value):.1f}" for size, value in line.items())
        width = 3 if name == OURS else 2
        yield f'<polyline points="{points}" fill="none" stroke="{_COLOURS[name]}" stroke-width="{width}" stroke-linejoin="round"/>'
        for size, value in line.items():
            yield f'<circle cx="{across.at(size):.1f}" cy="{up.at(value):.1f}" r="{width}" fill="{_COLOURS[name]}"/>'
