"""The constant tables that follow from the schemas, for every language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .views import flatten, name_of, refs

if TYPE_CHECKING:
    from .contract import Schema


class Table(NamedTuple):
    """A constant table: its type in each language, what it is, its value."""

    python: str
    typescript: str
    comment: str
    value: Any


def tables_of(contract: Schema, rules: Schema) -> dict[str, Table]:
    """Give the constant tables that follow from the schemas, by name."""
    definitions = contract["$defs"]
    flat = {name: flatten(definitions, name) for name in definitions}

    def tags(union: str) -> dict[str, str]:
        key = flat[union]["discriminator"]["propertyName"]
        return {flat[name_of(ref)]["properties"][key]["const"]: name_of(ref) for ref in flat[union]["oneOf"]}

    def role_blocks(message: str) -> tuple[str, ...]:
        item = name_of(flat[message]["properties"]["content"]["items"])
        return tuple(tags(item)) if "oneOf" in flat[item] else (flat[item]["properties"]["type"]["const"],)

    def child(field: Schema) -> str | None:
        return next((name for name in refs(field) if {"properties", "oneOf"} & set(flat[name])), None)

    def times(schema: Schema) -> tuple[str, ...]:
        return tuple(key for key, field in schema["properties"].items() if "Timestamp" in refs(field))

    objects = {name: schema for name, schema in flat.items() if "properties" in schema}
    unions = {name: schema["discriminator"]["propertyName"] for name, schema in flat.items() if "oneOf" in schema}
    children = {
        name: {key: found for key, field in schema["properties"].items() if (found := child(field))} for name, schema in objects.items()
    }
    names = "Readonly<Record<string, readonly string[]>>"
    return {
        "WIRE_VERSION": Table("str", "string", "Version of the wire.", contract["version"]),
        "EVENTS": Table("dict[str, str]", 'Readonly<Record<AgentEvent["type"], string>>', "Class of each event type.", tags("AgentEvent")),
        "BLOCKS": Table(
            "dict[str, str]", 'Readonly<Record<ContentBlock["type"], string>>', "Class of each kind of block.", tags("ContentBlock")
        ),
        "MESSAGES": Table("dict[str, str]", 'Readonly<Record<Msg["role"], string>>', "Class of each role's message.", tags("Msg")),
        "ROLE_BLOCKS": Table(
            "dict[str, tuple[str, ...]]",
            'Readonly<Record<Msg["role"], readonly ContentBlock["type"][]>>',
            "Kinds of block that a message of each role may hold.",
            {role: role_blocks(name) for role, name in tags("Msg").items()},
        ),
        "FIELDS": Table(
            "dict[str, tuple[str, ...]]",
            names,
            "Fields of each class, in the order of its schema.",
            {name: tuple(schema["properties"]) for name, schema in objects.items()},
        ),
        "REQUIRED": Table(
            "dict[str, tuple[str, ...]]",
            names,
            "Required fields of each class.",
            {name: tuple(schema.get("required", ())) for name, schema in objects.items()},
        ),
        "CHILDREN": Table(
            "dict[str, dict[str, str]]",
            "Readonly<Record<string, Readonly<Record<string, string>>>>",
            "Class or union of what each class's fields hold, or hold a list of.",
            {name: fields for name, fields in children.items() if fields},
        ),
        "FREE_FORM": Table(
            "dict[str, tuple[str, ...]]",
            names,
            "Fields of each class that hold any object.",
            {
                name: tuple(key for key, field in schema["properties"].items() if "object" in field.get("type", ()))
                for name, schema in objects.items()
            },
        ),
        "TIMES": Table(
            "dict[str, tuple[str, ...]]",
            names,
            "Fields of each class that are points in time.",
            {name: found for name, schema in objects.items() if (found := times(schema))},
        ),
        "UNIONS": Table(
            "dict[str, tuple[str, dict[str, str]]]",
            "Readonly<Record<string, readonly [tag: string, members: Readonly<Record<string, string>>]>>",
            "Tag of each union, and the class of each of its values.",
            {name: (key, tags(name)) for name, key in unions.items()},
        ),
        "WELCOMING": Table(
            "frozenset[str]",
            "readonly string[]",
            "Classes whose schema welcomes further fields.",
            frozenset(name for name, schema in objects.items() if schema.get("additionalProperties")),
        ),
        "DEFAULTS": Table(
            "dict[str, dict[str, Any]]",
            "Readonly<Record<string, Readonly<Record<string, unknown>>>>",
            "Defaults of each class that has any.",
            {
                name: found
                for name, schema in objects.items()
                if (found := {key: field["default"] for key, field in schema["properties"].items() if "default" in field})
            },
        ),
        "RULES": Table(
            "dict[str, dict[str, str]]",
            "Readonly<Record<string, Readonly<Record<string, string>>>>",
            "The rule catalogue.",
            rules["rules"],
        ),
    }
