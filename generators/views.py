"""
The document, seen as a target needs it.

Law: a view says the same in other words, and leaves the document as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .contract import Schema, is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator


def name_of(ref: Schema) -> str:
    """Give the definition that a local ref names."""
    return ref["$ref"].rsplit("/", 1)[1]


def ancestors(definitions: dict[str, Schema], name: str) -> Iterator[str]:
    """Give the definitions that `name` takes in by allOf."""
    for ref in definitions[name].get("allOf", ()):
        yield name_of(ref)
        yield from ancestors(definitions, name_of(ref))


def flatten(definitions: dict[str, Schema], name: str) -> Schema:
    """Fold allOf into the properties. Conditions (if/then/else) are left out: no class can hold them."""
    schema = definitions[name]
    flat = {key: value for key, value in schema.items() if key not in {"allOf", "if", "then", "else"}}
    if "allOf" in schema:
        parents = [flatten(definitions, name_of(ref)) for ref in schema["allOf"]]
        every = [*parents, schema]
        flat["properties"] = {key: value for part in every for key, value in part.get("properties", {}).items()}
        flat["required"] = [key for part in every for key in part.get("required", ())]
    return flat


def refs(node: Any) -> Iterator[str]:
    """Give the definitions that a schema refers to."""
    if is_object(node):
        if "$ref" in node:
            yield name_of(node)
        for value in node.values():
            yield from refs(value)
    elif is_array(node):
        for item in node:
            yield from refs(item)


def engine_view(definitions: dict[str, Schema]) -> dict[str, Schema]:
    """
    Give what the event structs need: flat, reachable from AgentEvent, no prose on fields.

    An optional field without a default gets the default null, so that the structs can tell it from a required one.
    """

    def lean(schema: Schema) -> Schema:
        properties = {
            key: {name: value for name, value in field.items() if name != "description"}
            for key, field in schema.get("properties", {}).items()
        }
        for key, field in properties.items():
            if key not in schema.get("required", ()):
                field.setdefault("default", None)
        return {**schema, "properties": properties} if properties else schema

    view: dict[str, Schema] = {}
    todo = ["AgentEvent"]
    while todo:
        name = todo.pop()
        if name not in view:
            view[name] = lean(flatten(definitions, name))
            todo.extend(refs(view[name]))
    return {name: view[name] for name in definitions if name in view}


def type_view(definitions: dict[str, Schema], title: str, description: str) -> Schema:
    """
    Give what json-schema-to-typescript needs: flat, no conditions, and refs as names of types, so that each keeps its description.

    A class that others take in is no type of its own. The root is an interface with one field for each type.
    """
    bases = {base for name in definitions for base in ancestors(definitions, name)}
    view = {name: named_types(flatten(definitions, name)) for name in definitions if name not in bases}
    fields = {name: {"$ref": f"#/$defs/{name}"} for name in view}
    return {"title": title, "description": description, "type": "object", "properties": fields, "required": list(view), "$defs": view}


def named_types(node: Any) -> Any:
    """Copy a schema with names of types in place of refs, and without what is no matter of types."""
    if is_array(node):
        return [named_types(item) for item in node]
    if not is_object(node):
        return node
    if isinstance(node.get("$ref"), str):
        return {**{key: node[key] for key in ("description", "deprecated") if key in node}, "tsType": name_of(node)}
    plain: Schema = {key: value for key, value in node.items() if key in {"const", "enum", "type", "description", "deprecated", "required"}}
    if "properties" in node:
        plain["properties"] = {key: named_types(field) for key, field in node["properties"].items()}
    for key in ("items", "anyOf", "oneOf", "additionalProperties"):
        if key in node:
            plain[key] = named_types(node[key])
    if {"properties", "additionalProperties"} <= set(plain) and is_object(plain["additionalProperties"]):
        # TypeScript cannot say that all other fields have another type.
        plain["additionalProperties"] = True
    if "oneOf" in plain:
        # Beside a union, json-schema-to-typescript makes an object of its own of it.
        plain.pop("type", None)
    return plain


def inherited(definitions: dict[str, Schema]) -> dict[str, Schema]:
    """Write a ref that stands beside properties as allOf, which means the same."""
    return {
        name: {"allOf": [{"$ref": schema["$ref"]}], **{key: value for key, value in schema.items() if key != "$ref"}}
        if {"$ref", "properties"} <= set(schema)
        else schema
        for name, schema in definitions.items()
    }


def events_of(flat: dict[str, Schema]) -> dict[str, str]:
    """Give the class of each event type."""
    return {flat[name_of(ref)]["properties"]["type"]["const"]: name_of(ref) for ref in flat["AgentEvent"]["oneOf"]}
