"""
Where in a value the reading is, and what is said about that place.

Law: a field of the wrong kind costs only itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold.dialects.translation import UNFIT
from eventfold.jsonvalue import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventfold.shape import Wire


class Place:
    """A place in the value that is read. `remark(rule, detail, pointer)` is told what is wrong there."""

    def __init__(self, remark: Callable[[str, str, str], None]) -> None:
        self.pointer = ""
        self._remark = remark

    def say(self, rule: str, detail: str, pointer: str = "") -> None:
        """Note what is broken, here or at a pointer from here."""
        self._remark(rule, detail, f"{self.pointer}{pointer}")

    def unfit(self, pointer: str, wanted: str, value: Any) -> None:
        """Note a field of the wrong kind."""
        self.say(UNFIT, f"{type(value).__name__} where {wanted} is expected", pointer)

    def string(self, fields: Wire, name: str) -> str:
        """Read a string; null is an empty one."""
        value = fields.get(name)
        if value is not None and not isinstance(value, str):
            self.unfit(f"/{name}", "a string", value)
        return value if isinstance(value, str) else ""

    def list(self, value: Any, pointer: str) -> list[Any]:
        """Read an array; null is an empty one."""
        if value is not None and not is_array(value):
            self.unfit(pointer, "an array", value)
        return value if is_array(value) else []

    def object(self, value: Any, pointer: str) -> Wire:
        """Read an object; null is an empty one."""
        if value is not None and not is_object(value):
            self.unfit(pointer, "an object", value)
        return value if is_object(value) else {}

    def number(self, value: Any, pointer: str) -> int | None:
        """Read a whole number."""
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            self.unfit(pointer, "a whole number", value)
        return value if isinstance(value, int) and not isinstance(value, bool) else None
