"""
Findings and messages for people.

Law: what comes from a stream never steers the terminal: control characters are shown, not sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.segment import Segment
from rich.text import Text

from .plain import parts_of, safe

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from eventfold.findings import Finding
    from eventfold.shape import Wire

_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}
_STATES = {"error": "red", "denied": "red", "interrupted": "yellow", "success": "green", "finished": "green"}


def finding_line(source: str, finding: Finding) -> Text:
    """Write a finding on one line, in the form that editors jump to: file:line: severity rule: message."""
    place, severity, what, when = parts_of(source, finding)
    return Text.assemble(place, (severity, _STYLES[severity]), what, (when, "dim"))


class _Last:
    """The last lines of something."""

    def __init__(self, whole: RenderableType, lines: int) -> None:
        self._whole = whole
        self._lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in console.render_lines(self._whole, options, pad=False)[-self._lines :]:
            yield from line
            yield Segment.line()


def message_panel(message: Wire, lines: int | None = None) -> Panel:
    """Draw a message, or its last lines."""
    blocks = [_block(block) for block in message["content"]]
    reason = message.get("finished_reason")
    title = Text.assemble((safe(message["name"]), "bold"), f" {message['role']} ", (safe(message["id"]), "dim"))
    parts = [part for part in (reason or "open", _error(message), _usage(message)) if part]
    body: RenderableType = Group(*blocks) if blocks else Text("(empty)", "dim")
    body = body if lines is None else _Last(body, lines)
    style = {"error": "red", "interrupted": "yellow", None: "blue"}.get(reason, "green")
    return Panel(body, title=title, subtitle=Text(safe(" | ".join(parts))), title_align="left", subtitle_align="left", border_style=style)


def _error(message: Wire) -> str:
    error = message.get("error")
    return f"{error.get('type', 'unknown')}: {error['message']}" if error else ""


def _usage(message: Wire) -> str:
    usage = message.get("usage")
    return f"{usage['input_tokens']} tokens in, {usage['output_tokens']} out" if usage else ""


def _block(block: Wire) -> Text:
    kind = block["type"]
    show = _KINDS.get(kind)
    return show(block) if show is not None else Text(f"[{kind}]", "dim")


def _text(block: Wire) -> Text:
    return Text(safe(block["text"]))


def _thinking(block: Wire) -> Text:
    return Text.assemble(("thinking: ", "magenta"), (safe(block["thinking"]) or "(redacted)", "dim italic"))


def _hint(block: Wire) -> Text:
    source = f" from {safe(str(block['source']))}" if block.get("source") else ""
    return Text.assemble((f"hint{source}: ", "magenta"), safe(_plain(block["hint"])))


def _data(block: Wire) -> Text:
    source: Any = block["source"]
    size = f"{len(source['data']) * 3 // 4:,} bytes" if "data" in source else safe(source["url"])
    name = f" {safe(block['name'])}" if block.get("name") else ""
    return Text(f"[{safe(source['media_type'])}{name}, {size}]", "cyan")


def _call(block: Wire) -> Text:
    state = block.get("state", "pending")
    return Text.assemble(
        ("-> ", "bold"), (safe(block["name"]), "bold"), f"({safe(block['input'])}) ", (state, _STATES.get(state, "yellow"))
    )


def _result(block: Wire) -> Text:
    state = block.get("state", "running")
    return Text.assemble(
        ("<- ", "bold"), (safe(block["name"]), "bold"), " ", (state, _STATES.get(state, "yellow")), f" {safe(_plain(block['output']))}"
    )


def _plain(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] if block["type"] == "text" else str(_data(block)) for block in content)


_KINDS = {"text": _text, "thinking": _thinking, "hint": _hint, "data": _data, "tool_call": _call, "tool_result": _result}
