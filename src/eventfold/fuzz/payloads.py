"""
Values of the contract's classes, drawn from their schemas.

Law: a field that a schema gains is generated without anyone touching this file. Leaves (strings, numbers,
enums) come from hypothesis-jsonschema; objects, arrays and unions are put together here, since
hypothesis-jsonschema 0.23.1 builds those anew on every draw, and not at all on a current hypothesis.
"""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from typing import TYPE_CHECKING, Any

from eventfold_models.tables import FIELDS, REQUIRED, UNIONS, WELCOMING
from hypothesis import strategies as st
from hypothesis_jsonschema import from_schema  # pyright: ignore[reportUnknownVariableType]  the library types half of it

from eventfold.wire.schema import contract

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

#: Text that reducers have lost: a combining mark, a ZWJ emoji, a line separator, astral characters, quotes.
AWKWARD = ("", "e\u0301", "\U0001f469\u200d\U0001f680", "a\u2028b", "\U0001d11e", '{"q": "', "\\", "\r\n", "\x00", "\u202e", "x" * 40)

texts: SearchStrategy[str] = st.one_of(st.text(max_size=6), st.sampled_from(AWKWARD))
_from_schema: Any = from_schema  # pyright: ignore[reportUnknownVariableType]  as above

#: A handful of ids for everything, so that ids of different kinds are often equal.
IDS = ("a", "b", "e\u0301 \U0001f680", "c")
ids: SearchStrategy[str] = st.sampled_from(IDS)
timestamps: SearchStrategy[str] = st.sampled_from(
    ("2026-01-01T00:00:01", "2026-01-01T00:00:02.500000Z", "2026-01-01T00:00:03+02:00", "2026-01-02")
)
#: Bytes of any length as a base64 document of their own.
documents: SearchStrategy[str] = st.binary(max_size=7).map(lambda data: b64encode(data).decode("ascii"))
#: A URL is any text a producer says; few of those are URLs to a library, so whole ones are among them.
urls: SearchStrategy[str] = st.one_of(
    texts, st.sampled_from(("https://example.org/a.png", "https://example.org", "file:///a.pdf", "s3://bucket/a%20b?v=1#c"))
)
scalars: SearchStrategy[Any] = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), texts)
#: Free-form objects: small, with a list inside now and then.
_KEYS: tuple[str, ...] = ("k", "x_k", "type", "\u00e9")
objects: SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(_KEYS), st.one_of(scalars, st.lists(scalars, max_size=2)), max_size=2
)
#: Fields that no schema names; mostly none.
extensions: SearchStrategy[dict[str, Any]] = st.one_of(
    *[st.just(dict[str, Any]())] * 5,
    st.dictionaries(st.sampled_from(("x_note", "unheard_of")), scalars, min_size=1, max_size=2),
    st.just({"x_provisional": True}),
)

#: Definitions that stand for more than their JSON type says.
FORMATS: dict[str, SearchStrategy[str]] = {"x-text": texts, "x-id": ids, "x-timestamp": timestamps, "x-base64": documents, "x-url": urls}
#: What is drawn for a definition besides its schema. Counts stay small enough that their sums are counts, too.
_NAMED: dict[str, dict[str, Any]] = {"Id": {"format": "x-id"}, "Timestamp": {"format": "x-timestamp"}, "Count": {"maximum": 2**40}}
#: Keywords that say what a string looks like.
_SHAPING = {"enum", "const", "format", "pattern", "minLength", "maxLength"}
_FIELDS = {("Base64Source", "data"): "x-base64", ("DataCarrier", "data"): "x-base64", ("UrlSource", "url"): "x-url"}


@cache
def payloads(name: str, leave: frozenset[str] = frozenset()) -> SearchStrategy[dict[str, Any]]:
    """
    Draw values of a class from its schema, without the fields named in `leave`.

    Now and then the value has fields that no schema names.
    """
    wanted = [key for key in FIELDS[name] if key not in leave]
    required = {key: _field(name, key) for key in wanted if key in REQUIRED[name]}
    optional = {key: _field(name, key) for key in wanted if key not in required}
    drawn = st.tuples(st.fixed_dictionaries(required, optional=optional), extensions)
    return drawn.map(lambda pair: {**pair[1], **pair[0]})


@cache
def values(name: str) -> SearchStrategy[Any]:
    """Draw values of a definition of the contract, by its name."""
    if name in UNIONS:
        return st.one_of([values(member) for member in UNIONS[name][1].values()])
    if name in FIELDS:
        if _carries(name):
            whole = st.tuples(payloads(name, frozenset({"data", "url"})), _CARRIED)
            return whole.map(lambda pair: {**pair[0], **pair[1]})
        drawn = payloads(name)
        if name in WELCOMING:
            return st.tuples(drawn, st.dictionaries(st.just("signature"), texts, max_size=1)).map(lambda pair: {**pair[1], **pair[0]})
        return drawn
    schema = contract()["$defs"][name]
    return _leaf(json.dumps({**schema, **_NAMED.get(name, {})}))


#: Exactly one of data and url, which is a condition in the schema and no field's own.
_CARRIED = st.one_of(documents.map(lambda data: {"data": data}), urls.map(lambda url: {"url": url}))


def _carries(name: str) -> bool:
    """Tell whether a class is, or takes in, one with a condition."""
    schema = contract()["$defs"][name]
    return "if" in schema or any(_carries(ref["$ref"].rsplit("/", 1)[1]) for ref in schema.get("allOf", ()))


@cache
def _field(name: str, key: str) -> SearchStrategy[Any]:
    schema = _property(name, key)
    if (name, key) in _FIELDS:
        return st.one_of(FORMATS[_FIELDS[name, key]], texts)
    return _of(schema)


def _property(name: str, key: str) -> dict[str, Any]:
    """Find the schema of a field, in the class or in what it takes in."""
    schema = contract()["$defs"][name]
    if key in schema.get("properties", {}):
        return schema["properties"][key]
    parents = (ref["$ref"].rsplit("/", 1)[1] for ref in schema["allOf"])
    return next(_property(parent, key) for parent in parents if key in FIELDS[parent])


def field_schema(name: str, key: str) -> dict[str, Any]:
    """Give the schema of a field with its own ref resolved, null left aside."""
    schema = _property(name, key)
    branches = [branch for branch in schema.get("anyOf", ()) if branch.get("type") != "null"]
    schema = branches[0] if branches else schema
    return contract()["$defs"][schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema


def _of(schema: dict[str, Any]) -> SearchStrategy[Any]:
    if "$ref" in schema:
        return values(schema["$ref"].rsplit("/", 1)[1])
    if "anyOf" in schema:
        return st.one_of([_of(branch) for branch in schema["anyOf"]])
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return st.one_of([_of({**schema, "type": kind}) for kind in kinds])  # pyright: ignore[reportUnknownVariableType]  JSON
    if kinds == "array":
        least: int = schema.get("minItems", 0)
        return st.lists(_of(schema.get("items", {})), min_size=least, max_size=schema.get("maxItems", max(3, least)))
    if kinds == "object":
        return _object(schema)
    return _leaf(json.dumps(schema))


def _object(schema: dict[str, Any]) -> SearchStrategy[dict[str, Any]]:
    """Draw an object that no definition names."""
    named: dict[str, Any] = schema.get("properties", {})
    required = {key: _of(named[key]) for key in named if key in schema.get("required", ())}
    optional = {key: _of(named[key]) for key in named if key not in required}
    others: Any = schema.get("additionalProperties", True)
    more: SearchStrategy[dict[str, Any]] = objects
    if others is not True:
        more = st.dictionaries(st.sampled_from(_KEYS), _of(others), max_size=2) if others else st.just(dict[str, Any]())
    return st.tuples(more, st.fixed_dictionaries(required, optional=optional)).map(lambda pair: {**pair[0], **pair[1]})


@cache
def _leaf(schema: str) -> SearchStrategy[Any]:
    """Draw a string, number, boolean or null from its schema; of an open set, what is known as often as what is not."""
    given: dict[str, Any] = json.loads(schema)
    leaf = {key: value for key, value in given.items() if key not in {"title", "description", "default", "examples"}}
    if not leaf:
        return scalars
    if leaf.get("type") == "string" and not _SHAPING & set(leaf):
        leaf["format"] = "x-text"
    drawn = _from_schema(leaf, custom_formats=FORMATS)
    return st.one_of(st.sampled_from(given["examples"]), drawn) if "examples" in given else drawn
