"""
Judging a value by the schema, to say exactly what is wrong with it.

Law: a value is judged by the schema of its own type or role, never against the union, and a union
inside it by the member that its tag names; so an error says what to change. This is the slow way: what
is in order never comes here.
"""

from __future__ import annotations

import json
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator, ValidationError, validators

from eventfold.jsonvalue import escape, is_array, is_object, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LONGEST = 200


@cache
def contract() -> dict[str, Any]:
    """Give the bundle: one document, local refs only."""
    return json.loads((files("eventfold_models") / "eventfold.schema.json").read_text("utf-8"))


def _resolve(schema: dict[str, Any]) -> dict[str, Any]:
    return contract()["$defs"][schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema


def _one_of(validator: Any, branches: list[dict[str, Any]], instance: Any, schema: dict[str, Any]) -> Iterator[ValidationError]:
    """Follow the discriminator."""
    tag = schema["discriminator"]["propertyName"]
    members = {_resolve(branch)["properties"][tag]["const"]: branch for branch in branches}
    if not is_object(instance):
        return
    if tag not in instance:
        yield ValidationError(f"{tag!r} is a required property, one of {', '.join(members)}")
        return
    value = instance[tag]
    if not isinstance(value, str) or value not in members:
        yield ValidationError(f"{shown(value)} is not one of {', '.join(members)}", path=[tag])
    else:
        yield from validator.descend(instance, members[value])


def _any_of(validator: Any, branches: list[dict[str, Any]], instance: Any, schema: dict[str, Any]) -> Iterator[ValidationError]:
    """Follow the branch whose JSON type the value has."""
    del schema
    types = [_resolve(branch)["type"] for branch in branches]
    for branch, kind in zip(branches, types, strict=True):
        if validator.is_type(instance, kind):
            yield from validator.descend(instance, branch)
            return
    yield ValidationError(f"{shown(instance)} is not of type {' or '.join(types)}")


_extend: Any = getattr(validators, "extend")  # noqa: B009  the library does not type it
_Validator: Any = _extend(Draft202012Validator, {"oneOf": _one_of, "anyOf": _any_of})


@cache
def _validator(class_name: str) -> Any:
    return _Validator({**contract(), "$ref": f"#/$defs/{class_name}"})


def errors(value: Any, class_name: str) -> list[tuple[str, str]]:
    """Give what is wrong with a value of a class: (pointer, message), by place."""
    found: list[ValidationError] = sorted(_validator(class_name).iter_errors(value), key=lambda error: list(map(str, error.absolute_path)))
    return [("".join(f"/{escape(str(part))}" for part in error.absolute_path), _wording(error)) for error in found]


#: What is wrong, by the keyword that says so. The others say it without words of Python's.
_WORDS: dict[Any, Callable[[Any], str]] = {
    "type": lambda error: f"{shown(error.instance)} is not of type {shown(error.validator_value)}",
    "const": lambda error: f"{shown(error.instance)} is not {shown(error.validator_value)}",
    "enum": lambda error: f"{shown(error.instance)} is not one of {', '.join(map(shown, error.validator_value))}",
}


def _wording(error: ValidationError) -> str:
    if error.validator == "if" or "if" in error.absolute_schema_path or {"then", "else"} & set(map(str, error.absolute_schema_path)):
        return "exactly one of data and url must be a string"
    place = "".join(f"/{escape(str(part))}" for part in error.absolute_path)
    words = _WORDS.get(error.validator)
    message = words(error) if words else error.message
    text = f"{place}: {message}" if place else message
    return text if len(text) <= _LONGEST else text[: _LONGEST // 2] + " ... " + text[-_LONGEST // 2 :]


def excerpt(name: str) -> dict[str, Any]:
    """
    Give one type of the contract as a document of its own, with what it refers to.

    Raises:
        LookupError: there is no such type; names the nearest.

    """
    definitions: dict[str, Any] = contract()["$defs"]
    if name not in definitions:
        nearest = get_close_matches(name, definitions, 1)
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        message = f"{name!r} is no type of the contract.{hint} `eventfold schema --list` lists them."
        raise LookupError(message)
    reached: list[str] = []
    todo = [name]
    while todo:
        one = todo.pop()
        if one not in reached:
            reached.append(one)
            todo.extend(_refs(definitions[one]))
    head = {key: contract()[key] for key in ("$schema", "version")}
    return {**head, "$ref": f"#/$defs/{name}", "$defs": {key: value for key, value in definitions.items() if key in reached}}


def _refs(node: Any) -> Iterator[str]:
    if is_object(node):
        if "$ref" in node:
            yield str(node["$ref"]).rsplit("/", 1)[1]
        for value in node.values():
            yield from _refs(value)
    elif is_array(node):
        for item in node:
            yield from _refs(item)
