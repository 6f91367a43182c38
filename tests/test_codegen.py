"""Everything under generated/ is a function of schemas/ and the options in pyproject.toml."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support import ROOT

if TYPE_CHECKING:
    from pathlib import Path

#: What codegen.py reads and writes.
PARTS = ("schemas", "generated", "codegen.py", "pyproject.toml", "README.md", "src/eventfold/vectors")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Copy what codegen.py needs into a folder of its own."""
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path / name)
    return tmp_path


def codegen(project: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run codegen.py there."""
    command = [sys.executable, str(project / "codegen.py"), *arguments]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def files_of(project: Path) -> dict[str, bytes]:
    """Read everything under generated/, and the README."""
    paths = [path for path in (project / "generated").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {str(path.relative_to(project)): path.read_bytes() for path in [*paths, project / "README.md"]}


def edit(path: Path, old: str, new: str) -> None:
    """Change a file in one place."""
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def test_what_is_committed_is_fresh(project: Path) -> None:
    """--check passes on what is committed."""
    result = codegen(project, "--check")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_two_runs_give_the_same_bytes(project: Path) -> None:
    """Neither the clock nor the order of hashes shows in the output."""
    assert codegen(project, PYTHONHASHSEED="1").returncode == 0
    first = files_of(project)
    assert codegen(project, PYTHONHASHSEED="2").returncode == 0
    assert files_of(project) == first == files_of(ROOT)


def test_one_changed_character_makes_it_stale(project: Path) -> None:
    """After a one-character change of a description, --check exits 1 with a diff and writes nothing."""
    edit(project / "schemas/blocks/text.json", "Text for the reader.", "Text for the readers.")
    before = files_of(project)
    result = codegen(project, "--check")
    assert result.returncode == 1
    assert '+    """Text for the readers."""' in result.stdout
    assert files_of(project) == before


def test_a_stray_file_and_a_missing_one_are_stale(project: Path) -> None:
    """generated/ holds what is generated, and nothing else."""
    package = project / "generated/python/eventfold_models"
    (package / "stray.py").write_text("x = 1\n", "utf-8")
    (package / "structs.py").unlink()
    result = codegen(project, "--check")
    assert result.returncode == 1
    assert "stray.py is stale" in result.stdout
    assert "structs.py is stale" in result.stdout
    assert codegen(project).returncode == 0
    assert files_of(project) == files_of(ROOT)


def test_renaming_a_field_changes_the_models_and_nothing_by_hand(project: Path) -> None:
    """A renamed field is renamed in pydantic models, structs and tables after one run."""
    edit(project / "schemas/events/reply.json", '"max_iters"', '"round_limit"')
    assert codegen(project).returncode == 0
    package = project / "generated/python/eventfold_models"
    for name in ("models.py", "structs.py", "tables.py", "eventfold.schema.json"):
        text = (package / name).read_text("utf-8")
        assert "round_limit" in text
        assert "max_iters:" not in text
    code = (
        "from eventfold_models.models import ExceedMaxItersEvent as E;"
        "e = E(id='1', created_at='t', reply_id='r', name='n', round_limit=3); print(e.model_dump_json())"
    )
    path = os.pathsep.join([str(project / "generated/python"), str(ROOT / "src")])
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert json.loads(result.stdout)["round_limit"] == 3


def test_a_new_event_type_needs_its_row(project: Path) -> None:
    """A type without a row in lifecycle.json is refused in one line, and nothing is written."""
    edit(project / "schemas/events/notice.json", '"const": "CUSTOM"', '"const": "BESPOKE"')
    before = files_of(project)
    result = codegen(project)
    assert result.returncode == 2
    assert "stand on one side only" in result.stderr
    assert "Traceback" not in result.stderr
    assert files_of(project) == before


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"next": "closed", "effect": "close_block"', '"next": "shut", "effect": "close_block"', "is no state"),
        ('"rule": "block.already-open"', '"rule": "block.alredy-open"', "is not in rules.json"),
        ('"then": ["output.show"]', '"then": ["output.shew"]', "there is no"),
        ('"closed": {"next": "closed", "rule": "block.after-end", "drop": true},', "", "the cells must be exactly"),
        ('"effect": "append_text"', '"effect": "append_txt"', "does not fit meta/lifecycle.json"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused(project: Path, old: str, new: str, said: str) -> None:
    """Codegen says in one line what is wrong with the table."""
    edit(project / "schemas/lifecycle.json", old, new)
    result = codegen(project, "--check")
    assert result.returncode == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_a_broken_schema_file_is_refused_in_one_line(project: Path) -> None:
    """JSON that does not parse, and a ref that leads nowhere, name the file."""
    edit(project / "schemas/parts/usage.json", "primitives.json#/$defs/Count", "primitives.json#/$defs/Cuont")
    result = codegen(project)
    assert (result.returncode, "names no definition" in result.stderr, "Traceback" in result.stderr) == (2, True, False)
    (project / "schemas/parts/usage.json").write_text("{", "utf-8")
    result = codegen(project)
    assert (result.returncode, "usage.json" in result.stderr, "Traceback" in result.stderr) == (2, True, False)


def test_one_target_alone_can_be_generated(project: Path) -> None:
    """--only leaves the other targets alone."""
    edit(project / "README.md", "| `CUSTOM`", "| `CUSTOMARY`")
    assert codegen(project, "--only", "python", "--check").returncode == 0
    assert codegen(project, "--only", "readme", "--check").returncode == 1
