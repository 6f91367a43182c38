"""
The vectors: streams with the messages and findings that are right for them, for any language.

There are streams of the contract's own events, for reducers, and streams of providers, for importers (dialects/).

Law: what a vector expects was written by hand or comes from the report that it was rewritten from, never from what
this package gives. The files beside this one are data; README.md says how to use them without Python.
"""

from __future__ import annotations

import json
import shutil
from base64 import b64decode
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Where the vectors stand.
FOLDER = Path(__file__).parent
#: The list of them, in the form of schemas/meta/vector-manifest.json.
MANIFEST = FOLDER / "manifest.json"

#: A vector, in the form of schemas/meta/vector.json or, of a dialect, of schemas/meta/dialect-vector.json.
Vector = dict[str, Any]


def vectors(folder: Path = FOLDER) -> Iterator[Vector]:
    """
    Read the vectors of a folder, in the order of their ids.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is no JSON.

    """
    for path in sorted(path for kind in ("accept", "reject") for path in folder.glob(f"{kind}/*/*.json")):
        yield orjson.loads(path.read_bytes())


def dialect_vectors(name: str, folder: Path = FOLDER) -> Iterator[Vector]:
    """
    Read the vectors of a dialect, in the order of their ids; none where there are none.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is no JSON.

    """
    for path in sorted(folder.glob(f"dialects/{name}/*.json")):
        yield json.loads(path.read_bytes())  # orjson refuses halves of surrogate pairs, which some of them are about


def bytes_of(vector: Vector) -> bytes:
    """Give what a vector is about as bytes: JSON Lines, or the pieces that it gives. Values of a dialect have no form of their own."""
    if "bytes" in vector:
        return b"".join(
            (piece["text"].encode() if "text" in piece else b64decode(piece["base64"])) * piece.get("times", 1) for piece in vector["bytes"]
        )
    return b"".join(orjson.dumps(value) + b"\n" for value in vector.get("events") or vector["stored"])


def export(to: Path) -> None:
    """
    Copy the vectors, their list, their schemas and what explains them to a folder that is not there yet.

    Raises:
        OSError: it cannot be written; nothing is left of it.

    """
    to.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=to.parent, prefix=f".{to.name}-") as scratch:
        whole = Path(scratch) / to.name
        shutil.copytree(FOLDER, whole, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
        for form in ("vector", "dialect-vector"):
            schema = files("eventfold_models").joinpath(f"meta/{form}.json")
            (whole / f"{form}.schema.json").write_bytes(schema.read_bytes())
        whole.rename(to)
