"""
Plain values of options and arguments, read without the library that typer loads to read any.

Law: what is not plain, or is wrong, is left to typer, so that it is read and refused as typer does. This is about the start of
the program only: where a version of typer reads values in another way, nothing here has an effect.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

_INTEGER = re.compile(r"-?[0-9]{1,15}")
_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")

#: What is left to typer.
_NOT_PLAIN: Any = object()


def quicken(command: Any) -> Any:
    """Let the parameters of a command read plain values by themselves."""
    for parameter in command.params:
        quicken_one(parameter)
    make = command.get_help_option

    def get_help_option(ctx: Any) -> Any:
        return quicken_one(make(ctx))

    command.get_help_option = get_help_option
    return command


def quicken_one(parameter: Any) -> Any:
    """Let a parameter, if there is one, read plain values by itself."""
    slow = getattr(parameter, "get_runtime_param", None)
    if slow is not None and not isinstance(slow, _Quick) and hasattr(parameter, "type_descriptor"):
        parameter.get_runtime_param = _Quick(slow, parameter.type_descriptor)
    return parameter


class _Quick:
    """In place of what makes typer's reader of a parameter: it is one itself, and makes typer's only when needed."""

    def __init__(self, slow: Any, described: Any) -> None:
        self._slow = slow
        self._described = described

    def __call__(self) -> _Quick:
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Read a value."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        if several and value in ((), []):
            return []
        read = _plain(value, self._described.annotation, self._described.parameter_info)
        return self._slow().coerce(value, param=param, ctx=ctx) if read is _NOT_PLAIN else read


def _plain(value: Any, annotation: Any, about: Any) -> Any:
    """Read a value of a plain type; what is not given is typer's, too."""
    if getattr(about, "parser", None) is not None:
        return _NOT_PLAIN
    if annotation == list[str]:
        return list(value) if value and not isinstance(value, str) and all(type(item) is str for item in value) else _NOT_PLAIN
    if annotation is str:
        return value if type(value) is str else _NOT_PLAIN
    if annotation in {int, float}:
        return _number(value, annotation, about)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return next((member for member in annotation if value in (member, member.value)), _NOT_PLAIN)
    return _NOT_PLAIN


def _number(value: Any, annotation: Any, about: Any) -> Any:
    """Read a number within its bounds."""
    number: Any = value
    if isinstance(value, str):
        number = annotation(value) if (_INTEGER if annotation is int else _NUMBER).fullmatch(value) else None
    if type(number) is not annotation:
        return _NOT_PLAIN
    fits = (about.min is None or number >= about.min) and (about.max is None or number <= about.max)
    return number if fits else _NOT_PLAIN
