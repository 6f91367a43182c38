"""The one door to the generated pydantic models, with an adapter for each union."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventfold_models.models import *  # noqa: F403  the door
from eventfold_models.models import AgentEvent, ContentBlock, Msg
from pydantic import TypeAdapter

if TYPE_CHECKING:
    from typing import Any

#: Reads and writes any message. Reading wire text is `MSG.validate_json`.
MSG: TypeAdapter[Any] = TypeAdapter(Msg)
#: Reads and writes any event.
EVENT: TypeAdapter[Any] = TypeAdapter(AgentEvent)
#: Reads and writes any block.
BLOCK: TypeAdapter[Any] = TypeAdapter(ContentBlock)
