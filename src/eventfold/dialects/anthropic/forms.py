"""What the blocks and deltas of Anthropic are to us."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eventfold.shape import Wire

#: What each type of block becomes. All other types are kept as they are, and those that end in _tool_result are results.
FORMS = {
    "text": "text",
    "thinking": "thinking",
    "redacted_thinking": "redacted",
    "tool_use": "call",
    "server_tool_use": "call",
    "mcp_tool_use": "call",
}
#: Types of block that the contract has no place for, and which are known all the same.
KEPT = frozenset({"compaction", "container_upload", "fallback", "mcp_tool_listing"})
#: Fields of a block that become fields of ours; the rest goes into `x_anthropic`.
OURS = {
    "text": {"type", "text"},
    "thinking": {"type", "thinking", "signature"},
    "redacted": {"type", "data"},
    "call": {"type", "id", "name", "input"},
}
#: What each type of delta appends to: the form of block, and the field that holds the piece.
DELTAS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("thinking", "signature"),
    "citations_delta": ("text", "citation"),
    "input_json_delta": ("call", "partial_json"),
    "compaction_delta": ("kept", ""),
}
#: Stop reasons at which the text of what was being written is cut.
CUT = frozenset({"max_tokens", "model_context_window_exceeded", "refusal"})


@dataclass(slots=True)
class Block:
    """A block of the message, under way or stopped."""

    key: int
    form: str  #: a value of FORMS, "result" or "kept"
    said: Wire  #: as the provider began it
    extra: Wire = field(default_factory=dict[str, Any])  #: x_anthropic
    text: list[str] = field(default_factory=list[str])
    given: str = ""  #: arguments that the start held
    signature: str = ""
    stopped: bool = False
    answered: bool = False
