"""
The vectors: each says what check and fold give, and together they reach every rule.

What those of dialects say is held against the dialects in their own tests, but for those that are about bytes.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from eventfold_models.tables import MESSAGES, RULES
from jsonschema import Draft202012Validator
from rfc8785 import dumps as canonical
from support import ROOT
from vector_laws import counted, differences, expected

from eventfold.check import Checker
from eventfold.dialects import NAMES, dialect
from eventfold.dialects.reading import DialectChecker
from eventfold.findings import SEVERITY, Severity
from eventfold.fuzz.features import FEATURES_OF_STEPS, REPAIR
from eventfold.lifecycle import KEEP_ENDED, MAX_OPEN
from eventfold.vectors import FOLDER, MANIFEST, Vector, bytes_of, dialect_vectors, vectors
from eventfold.wire.schema import errors

VECTORS = list(vectors())
FOREIGN = [vector for name in sorted(NAMES) for vector in dialect_vectors(name)]
#: Vectors of dialects that are about bytes; the others are read by the tests of their dialects.
BYTES = [vector for vector in FOREIGN if "bytes" in vector]
META = ROOT / "schemas/meta"


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_a_vector_is_what_check_and_fold_give(vector: Vector) -> None:
    """Every finding and every message, whole."""
    checker = Checker(keep_ended=vector.get("keep_ended", KEEP_ENDED), max_open=vector.get("max_open", MAX_OPEN))
    checker.feed(bytes_of(vector))
    found = [finding.to_dict() for finding in checker.finish()]
    names = ("rule", "index", "pointer", "related", "count")
    ours = [{name: finding[name] for name in names if name in finding and finding[name] != {"count": 1}.get(name)} for finding in found]
    assert sorted(ours, key=canonical) == sorted(vector["findings"], key=canonical)
    assert [canonical(message) for message in checker.folder.snapshots()] == [canonical(message) for message in vector["messages"]]


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_a_vector_keeps_its_word(vector: Vector) -> None:
    """What is accepted breaks no rule of severity error, what is rejected breaks the rule of its folder, and messages are valid."""
    kind, folder, _ = vector["id"].split("/")
    rules = {finding["rule"] for finding in vector["findings"]}
    if kind == "accept":
        assert not [rule for rule in rules if SEVERITY[rule] is Severity.ERROR]
    else:
        assert folder in rules
    for message in vector["messages"]:
        assert errors(message, MESSAGES[message["role"]]) == []


def test_areas_are_the_features_of_the_protocol() -> None:
    """What a vector may ask is what a harness may declare; `repair` is said by the findings."""
    areas, features = (
        json.loads((META / f"{name}.json").read_text("utf-8"))["$defs"][kind]["enum"]
        for name, kind in (("vector", "Area"), ("harness", "Feature"))
    )
    assert {*areas, REPAIR} == set(features) == {*FEATURES_OF_STEPS.values(), "several-replies", REPAIR}


def test_every_rule_has_a_vector() -> None:
    """No rule is without a stream that breaks it."""
    assert set(RULES) - {vector["id"].split("/")[1] for vector in VECTORS} == set()


@pytest.mark.parametrize("name", ["vector", "vector-manifest"])
def test_the_files_fit_their_schemas(name: str) -> None:
    """Vectors and manifest are what schemas/meta says, and the manifest lists each vector."""
    schema = json.loads((META / f"{name}.json").read_text("utf-8"))
    manifest = json.loads(MANIFEST.read_text("utf-8"))
    validator: Any = Draft202012Validator(schema)
    for document in VECTORS if name == "vector" else [manifest]:
        validator.validate(document)
    assert [entry["id"] for entry in manifest["vectors"]] == [vector["id"] for vector in VECTORS]


def test_vectors_of_dialects_fit_their_schema() -> None:
    """They are what schemas/meta says, stand where their ids say, and the manifest lists each."""
    schema = json.loads((META / "dialect-vector.json").read_text("utf-8"))
    validator: Any = Draft202012Validator(schema)
    for vector in FOREIGN:
        validator.validate(vector)
    listed = json.loads(MANIFEST.read_text("utf-8"))["dialects"]
    assert [entry["id"] for entry in listed] == [vector["id"] for vector in FOREIGN]
    assert {str(path) for path in FOLDER.glob("dialects/**/*.json")} == {f"{FOLDER / vector['id']}.json" for vector in FOREIGN}


@pytest.mark.parametrize("vector", FOREIGN, ids=[vector["id"] for vector in FOREIGN])
def test_a_vector_of_a_dialect_keeps_its_word(vector: Vector) -> None:
    """Its dialect is that of its folder, its rules are known, in order, and what is counted is found."""
    assert vector["id"].split("/")[1] == vector["dialect"]
    assert vector["findings"] == sorted(vector["findings"])
    assert {*vector["findings"]} <= {*RULES, *dialect(vector["dialect"]).rules}
    assert {*vector.get("times", {})} <= {*vector["findings"]}


@pytest.mark.parametrize("vector", [*VECTORS, *FOREIGN], ids=[vector["id"] for vector in [*VECTORS, *FOREIGN]])
def test_the_intent_of_a_vector_is_one_sentence(vector: Vector) -> None:
    """It ends with its only full stop."""
    assert vector["intent"].endswith(".")
    assert ". " not in vector["intent"]


def test_no_two_vectors_of_a_dialect_are_one() -> None:
    """Each has a stream and an intent of its own."""
    streams = Counter((vector["dialect"], json.dumps([vector.get(name) for name in ("values", "bytes", "done")])) for vector in FOREIGN)
    intents = Counter((vector["dialect"], vector["intent"]) for vector in FOREIGN)
    assert {*streams.values(), *intents.values()} == {1}


@pytest.mark.parametrize("vector", BYTES, ids=[vector["id"] for vector in BYTES])
def test_bytes_of_a_provider_are_read_however_they_are_cut(vector: Vector) -> None:
    """Bytes give the replies and findings of their vector, at once and in small pieces, as a network gives them."""
    data = bytes_of(vector)
    for size in (len(data), max(1, len(data) // 2_000)):
        checker = DialectChecker(dialect(vector["dialect"]))
        for start in range(0, len(data), size):
            checker.feed(data[start : start + size])
        findings = checker.finish()
        assert differences(vector, checker.folder.snapshots()) == []
        assert counted(findings) == expected(vector)


@pytest.mark.parametrize("vector", FOREIGN, ids=[vector["id"] for vector in FOREIGN])
def test_what_a_vector_of_a_dialect_names_is_compared(vector: Vector) -> None:
    """Messages that say more than the replies fit; with a block, a message or a reason too many, they do not."""
    messages = [{**reply, "content": [{**block, "x_more": 1} for block in reply["blocks"]]} for reply in vector["replies"]]
    assert differences(vector, messages) == []
    assert differences(vector, [*messages, {"content": []}]) != []
    for i, message in enumerate(messages):
        for other in ({"content": [*message["content"], {}]}, {"finished_reason": "tomorrow"}):
            assert differences(vector, [*messages[:i], {**message, **other}, *messages[i + 1 :]]) != []
