"""
Files of schemas/ -> one document.

Law: what is in schemas/ fits its own schemas, or nothing is generated. The document refers to nothing outside itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard
from urllib.parse import urldefrag, urljoin

from jsonschema import Draft202012Validator
from jsonschema import SchemaError as InvalidSchema

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "schemas"
#: Folders of schemas/ that hold the contract's types; the others describe or show them.
TYPES = ("parts", "blocks", "messages", "events")
#: The draft that all of them are written in.
DRAFT = Draft202012Validator.META_SCHEMA["$id"]
Schema = dict[str, Any]


class SchemaError(Exception):
    """Something in schemas/ contradicts something else there."""


def need(condition: object, message: str) -> None:
    """Refuse to generate unless the condition holds. Raises SchemaError."""
    if not condition:
        raise SchemaError(message)


def read(path: Path) -> Schema:
    """Read a JSON file of schemas/."""
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        message = f"{path.relative_to(ROOT)} is not JSON: {error}"
        raise SchemaError(message) from None


def check_schema(schema: Schema, path: Path) -> None:
    """Hold a schema against the meta schema of its draft."""
    try:
        Draft202012Validator.check_schema(schema)
    except InvalidSchema as error:
        message = f"{path.relative_to(ROOT)} is no JSON Schema: {error.message} at {error.json_path}"
        raise SchemaError(message) from None


def load() -> dict[str, Schema]:
    """Read the type schemas, by `$id`."""
    documents: dict[str, Schema] = {}
    for folder in TYPES:
        for path in sorted((SCHEMAS / folder).rglob("*.json")):
            document = read(path)
            check_schema(document, path)
            need(document.get("$schema") == DRAFT, f"{path.relative_to(ROOT)}: $schema must be {DRAFT}")
            if "$id" not in document:
                message = f"{path.relative_to(ROOT)} has no $id"
                raise SchemaError(message)
            documents[document["$id"]] = document
    return documents


def load_table(name: str) -> dict[str, Any]:
    """Read lifecycle.json or rules.json and hold it against its meta schema."""
    table = read(SCHEMAS / f"{name}.json")
    meta = read(SCHEMAS / "meta" / f"{name}.json")
    check_schema(meta, SCHEMAS / "meta" / f"{name}.json")
    validator: Any = Draft202012Validator(meta)
    for error in validator.iter_errors(table):
        message = f"{name}.json does not fit meta/{name}.json at {error.json_path}: {error.message}"
        raise SchemaError(message)
    return table


def bundle(documents: dict[str, Schema], version: str) -> Schema:
    """Join the documents into one whose refs are all `#/$defs/...`, every definition under its title."""
    definitions: dict[str, Schema] = {}
    for uri, document in documents.items():
        for definition in named(uri, document):
            if definition["title"] in definitions:
                message = f"{uri}: {definition['title']} is defined twice"
                raise SchemaError(message)
            definitions[definition["title"]] = localize(definition, uri, documents)
    base_uri = next(iter(documents)).split("/parts/")[0]
    return {
        "$schema": DRAFT,
        "$id": f"{base_uri}/eventfold.schema.json",
        "title": "eventfold",
        "description": "The contract between an agent's event stream and its message, in one document.",
        "version": version,
        # What a file says of all that is in it.
        "files": {
            uri.removeprefix(f"{base_uri}/"): document["description"] for uri, document in documents.items() if "title" not in document
        },
        "$defs": definitions,
    }


def named(uri: str, document: Schema) -> Iterator[Schema]:
    """Give the definitions of a document: itself, when it has a title, and its $defs."""
    if "title" in document:
        yield document
    for key, definition in document.get("$defs", {}).items():
        if definition.get("title") != key:
            message = f"{uri}: the title of $defs/{key} must be {key!r}, since it becomes the class name"
            raise SchemaError(message)
        yield definition


def title_of(uri: str, documents: dict[str, Schema]) -> str:
    """Give the title of the definition that a whole URI names."""
    base, fragment = urldefrag(uri)
    node: Any = documents.get(base)
    for part in fragment.split("/")[1:]:
        node = node and node.get(part)
    if not node:
        message = f"{uri} names no definition of schemas/"
        raise SchemaError(message)
    return node["title"]


def localize(node: Any, base: str, documents: dict[str, Schema]) -> Any:
    """Copy a schema with local refs."""
    if is_array(node):
        return [localize(item, base, documents) for item in node]
    if not is_object(node):
        return node
    local: Schema = {}
    for key, value in node.items():
        if key == "$ref":
            local[key] = f"#/$defs/{title_of(urljoin(base, value), documents)}"
        elif key in {"const", "enum", "default", "examples"}:
            local[key] = value
        elif key not in {"$id", "$schema", "$defs"}:
            local[key] = localize(value, base, documents)
    return local


def is_object(value: Any) -> TypeGuard[Schema]:
    """Tell whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """Tell whether a JSON value is an array."""
    return isinstance(value, list)
