"""The authored files: what they must have, and that everything that follows from them agrees."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from eventfold_models import models as generated
from eventfold_models import structs, tables
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter, ValidationError
from support import ROOT

from eventfold import check_and_fold
from eventfold.effects import EFFECTS
from eventfold.jsonvalue import is_array, is_object
from eventfold.table import MACHINES
from eventfold.wire import EventReader
from eventfold.wire.schema import contract, errors

DEFS: dict[str, Any] = contract()["$defs"]
EXAMPLES = sorted((ROOT / "schemas/examples").glob("*/*.json"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_example_fits_its_schema_and_loads_as_its_model(path: Any) -> None:
    """Schema and model accept every example, and the model writes it back without the nulls."""
    name, text = path.parent.name, path.read_text("utf-8")
    assert errors(json.loads(text), name) == []
    model = TypeAdapter(getattr(generated, name))
    again = model.dump_json(model.validate_json(text))
    assert errors(json.loads(again), name) == []
    assert _included(_without_nulls(json.loads(text), name), json.loads(again))


@pytest.mark.parametrize("path", [path for path in EXAMPLES if path.parent.name in tables.EVENTS.values()], ids=lambda path: path.stem)
def test_an_example_of_an_event_is_read_by_the_engine(path: Any) -> None:
    """The engine's decoder takes every example, without a remark."""
    reader = EventReader()
    assert isinstance(reader.read(path.read_bytes()), msgspec.Struct)
    assert reader.remarks == []


def test_every_type_has_an_example() -> None:
    """No type of the contract is without an example, and no example without a type."""
    assert {path.parent.name for path in EXAMPLES} == set(DEFS)


@pytest.mark.parametrize("name", DEFS)
def test_every_type_and_field_is_described(name: str) -> None:
    """A description is a sentence with a stop; it becomes the docstring."""
    schema = DEFS[name]
    for place, described in [(name, schema), *schema.get("properties", {}).items()]:
        assert described.get("description", "").endswith("."), f"{name}.{place}"


def test_only_keywords_that_every_tool_reads() -> None:
    """The schemas keep to the subset that schemas/README.md names."""
    allowed = {
        *("$ref", "title", "description", "type", "properties", "required", "items", "enum", "const", "allOf", "anyOf", "oneOf"),
        *("discriminator", "minLength", "minimum", "maximum", "default", "examples", "deprecated", "additionalProperties"),
    }

    def walk(schema: Any, place: str, *, carrier: bool) -> None:
        extra = set(schema) - allowed - ({"if", "then", "else"} if carrier else set())
        assert not extra, f"{place}: {extra}"
        for key in ("items", "if", "then", "else"):
            if key in schema:
                walk(schema[key], f"{place}/{key}", carrier=carrier)
        for key in ("allOf", "anyOf", "oneOf"):
            for branch in schema.get(key, ()):
                walk(branch, f"{place}/{key}", carrier=carrier)
        for key, field in schema.get("properties", {}).items():
            walk(field, f"{place}/{key}", carrier=carrier)

    for name, schema in DEFS.items():
        walk(schema, name, carrier=name == "DataCarrier")


def test_the_bundle_is_one_self_contained_document() -> None:
    """Every ref of the bundle is local and resolves; titles are the keys."""
    text = json.dumps(contract())
    Draft202012Validator.check_schema(contract())
    for part in text.split('"$ref": "')[1:]:
        ref = part.split('"')[0]
        assert ref.removeprefix("#/$defs/") in DEFS
    assert all(schema["title"] == name for name, schema in DEFS.items())


@pytest.mark.parametrize("name", ["lifecycle", "rules"])
def test_a_table_fits_its_meta_schema(name: str) -> None:
    """lifecycle.json and rules.json have the form that meta/ describes."""
    meta = json.loads((ROOT / f"schemas/meta/{name}.json").read_text("utf-8"))
    validator: Any = Draft202012Validator(meta)
    assert list(validator.iter_errors(json.loads((ROOT / f"schemas/{name}.json").read_text("utf-8")))) == []


def test_the_table_is_total() -> None:
    """Every machine has a cell for every pair of input and state."""
    for machine in MACHINES.values():
        for state in machine.states.values():
            assert set(state.cells) == set(machine.inputs), f"{machine.name}.{state.name}"


def test_every_event_has_a_place_and_every_effect_an_implementation() -> None:
    """Schema, table, structs and effects name the same things; none is forgotten."""
    meta = json.loads((ROOT / "schemas/meta/lifecycle.json").read_text("utf-8"))
    assert set(EFFECTS) == set(meta["$defs"]["Effect"]["enum"])
    members = {ref["$ref"].rsplit("/", 1)[1] for ref in DEFS["AgentEvent"]["oneOf"]}
    assert members == set(tables.EVENTS.values())
    assert set(tables.LIFECYCLE["events"]) == set(tables.EVENTS)
    assert all(hasattr(structs, name) for name in members)


def test_every_effect_is_explained() -> None:
    """schemas/README.md explains each effect in a row of its own."""
    text = (ROOT / "schemas/README.md").read_text("utf-8")
    assert [effect for effect in EFFECTS if f"`{effect}`" not in text] == []


def test_every_rule_can_be_broken() -> None:
    """A rule of rules.json is named by the table or by the code that reads bytes, events or messages."""
    used = json.dumps(tables.LIFECYCLE)
    source = "".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    assert [rule for rule in tables.RULES if f'"{rule}"' not in used and f'"{rule}"' not in source] == []


def test_known_values_of_open_vocabularies_are_not_closed() -> None:
    """A finished_reason of tomorrow is accepted by schema, model and engine."""
    event = {"type": "REPLY_END", "id": "1", "created_at": "2026-01-01", "reply_id": "r", "session_id": "s", "finished_reason": "tomorrow"}
    assert errors(event, "ReplyEndEvent") == []
    assert generated.ReplyEndEvent.model_validate_json(json.dumps(event)).finished_reason == "tomorrow"
    assert not [finding for finding in check_and_fold(json.dumps(event).encode()).findings if finding.rule == "event.schema"]


@pytest.mark.parametrize("message", ["UserMsg", "SystemMsg", "ToolMsg"])
def test_a_role_constraint_is_a_class(message: str) -> None:
    """A message with a block that its role forbids is refused by schema and model alike, naming block and place."""
    role = next(role for role, name in tables.MESSAGES.items() if name == message)
    block = {"type": "thinking", "id": "k", "thinking": "hm"}
    value = {"role": role, "name": "n", "id": "1", "created_at": "2026-01-01", "content": [block]}
    assert errors(value, message)
    with pytest.raises(ValidationError, match=r"content\.0"):
        TypeAdapter(generated.Msg).validate_json(json.dumps(value))


def _without_nulls(value: Any, name: str) -> Any:
    required = tables.REQUIRED.get(name, ())
    return {key: item for key, item in value.items() if item is not None or key in required} if is_object(value) else value


def _included(part: Any, whole: Any) -> bool:
    """Tell whether everything of `part` stands in `whole`, which may have defaults besides."""
    if is_object(part):
        return all(key in whole and _included(item, whole[key]) for key, item in part.items())
    if is_array(part):
        return len(part) == len(whole) and all(_included(one, other) for one, other in zip(part, whole, strict=True))
    return part == whole
