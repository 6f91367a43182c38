"""
Findings and messages for people.

Law: what comes from a stream never steers the terminal: control characters are shown, not sent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.panel import Panel
from rich.text import Text

if TYPE_CHECKING:
    from eventfold.findings import Finding
    from eventfold.shape import Wire

_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}
_STATES = {"error": "red", "denied": "red", "interrupted": "yellow", "success": "green", "finished": "green"}

#: C0 without tab and line feed, DEL, C1, the marks that reorder text, and lone surrogates (of a file's name).
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def safe(text: str) -> str:
    """Show control characters as escapes."""
    return _CONTROL.sub(lambda found: found.group().encode("unicode_escape").decode("ascii"), text)


def one_line(text: str) -> str:
    """Show control characters and line ends as escapes."""
    return safe(text).replace("\n", "\\n")


def finding_line(source: str, finding: Finding) -> Text:
    """Write a finding on one line, in the form that editors jump to: file:line: severity rule: message."""
    place = f"{source}:{finding.line}" if finding.line else source
    where = f"event {finding.index}" + (f", since event {finding.related}" if finding.related is not None else "")
    where = f"message {finding.index}" if finding.rule.startswith("message.") else where
    times = f" {finding.count} times" if finding.count > 1 else ""
    severity = str(finding.severity)
    return Text.assemble(
        f"{one_line(place)}: ",
        (severity, _STYLES[severity]),
        f" {finding.rule}: ",
        one_line(finding.message),
        (f" ({where}{times})", "dim"),
    )


def message_panel(message: Wire) -> Panel:
    """Draw a message."""
    blocks = [_block(block) for block in message["content"]]
    reason = message.get("finished_reason")
    title = Text.assemble((safe(message["name"]), "bold"), f" {message['role']} ", (safe(message["id"]), "dim"))
    parts = [part for part in (reason or "open", _error(message), _usage(message)) if part]
    body = Group(*blocks) if blocks else Text("(empty)", "dim")
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
    return Text(safe(block["thinking"]) or "(redacted)", "dim italic")


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
