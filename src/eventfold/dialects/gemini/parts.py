"""Parts of Gemini's contents: their kinds, and results of the tools that Gemini runs, as text to read and back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from eventfold.jsonvalue import copy_json

if TYPE_CHECKING:
    from eventfold.shape import Wire

CODE = "executableCode"
#: What code that the provider runs is called as a tool.
CODE_TOOL = "code_execution"
#: The kinds of part that become blocks; a part is of one of them.
KINDS = ("functionCall", CODE, "codeExecutionResult", "toolCall", "toolResponse", "inlineData", "fileData", "text")


def result_of(kind: str, said: Wire) -> tuple[str, str, Wire]:
    """Give the output of a result, its state, and the fields that the output does not say."""
    rest = {key: copy_json(value) for key, value in said.items() if key not in {"output", "response"} and value is not None}
    if kind == "codeExecutionResult":
        output = said.get("output")
        text = output if isinstance(output, str) else "" if output is None else json.dumps(output, ensure_ascii=False)
        return text, "success" if said.get("outcome") == "OUTCOME_OK" else "error", rest
    return json.dumps(said.get("response"), ensure_ascii=False) if "response" in said else "", "success", rest


def part_of(output: str, fields: Wire) -> Wire:
    """Make a part of a result: of its output, and of the fields besides."""
    kind: str = fields["part"]
    own = {key: copy_json(value) for key, value in fields.items() if key not in {"part", "before", "thoughtSignature", "thought"}}
    beside = {key: fields[key] for key in ("thoughtSignature", "thought") if key in fields}
    if kind == "codeExecutionResult":
        return {kind: {**own, **({"output": output} if output else {})}, **beside}
    return {kind: {**own, **({"response": _object_of(output)} if output else {})}, **beside}


def _object_of(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"output": text}  # pyright: ignore[reportUnknownVariableType]  JSON


def base64_of(text: str) -> str:
    """Write base64 as the contract has it: the alphabet of RFC 4648, section 4, padded."""
    plain = text.translate(str.maketrans("-_", "+/", "\r\n ")).rstrip("=")
    return plain + "=" * (-len(plain) % 4)
