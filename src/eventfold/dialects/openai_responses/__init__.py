"""OpenAI Responses."""
from __future__ import annotations
from typing import Any
from eventfold.dialects.translation import Dialect
from eventfold.jsonvalue import is_array, is_object
from .decoder import ResponsesDecoder
from .protocol import EVENTS
from .rules import NAME, RULES

def _is_ours(value: Any) -> bool:
    if not is_object(value):
        return False
    kind = value.get("type")
    if kind == "error":
        return isinstance(value.get("sequence_number"), int)
    if isinstance(kind, str) and kind in EVENTS:
        return "event_id" not in value
    return kind is None and value.get("object") == "response" and is_array(value.get("output"))

DIALECT = Dialect(name=NAME, title="OpenAI Responses (openai 3.57.0)", recognise=_is_ours, decoder=ResponsesDecoder, rules=RULES)
