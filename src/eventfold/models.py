"""The one door to the generated pydantic models, with an adapter for each union."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from eventfold_models import models as _models
from eventfold_models.models import *  # noqa: F403  the door
from eventfold_models.models import AgentEvent, ContentBlock, Msg

if TYPE_CHECKING:
    from typing import Any

#: Reads and writes any message. Reading wire text is `MSG.validate_json`.
MSG: TypeAdapter[Any] = TypeAdapter(Msg)
#: Reads and writes any event.
EVENT: TypeAdapter[Any] = TypeAdapter(AgentEvent)
#: Reads and writes any block.
BLOCK: TypeAdapter[Any] = TypeAdapter(ContentBlock)

__all__ = [name for name in dir(_models) if name[0].isupper() and name not in {"Any", "Annotated", "Field", "Literal", "TypeAliasType", "ConfigDict"}]
__all__ += ["BLOCK", "EVENT", "MSG"]
