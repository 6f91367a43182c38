"""Everything under generated/ is a function of schemas/ and the options in pyproject.toml."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support import ROOT, no_typescript

if TYPE_CHECKING:
    from pathlib import Path

#: What codegen.py reads and writes.
PARTS = ("schemas", "generated", "codegen.py", "generators", "pyproject.toml", "README.md", "src")
#: What pins the generator of the TypeScript part.
NODE_PACKAGE = "tests/harnesses/typescript"
NODE_FILES = ("package.json", "package-lock.json", ".npmrc")


def everything() -> tuple[str, ...]:
    """Choose all targets that can be generated on this machine."""
    return ("--only", "python", "--only", "readme", "--only", "vectors", "--only", "pages") if no_typescript() else ()


@pytest.fixture
def typescript() -> None:
    """Skip what needs the TypeScript target where it cannot be generated."""
    if no_typescript():
        pytest.skip(no_typescript())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Copy what codegen.py needs into a folder of its own."""
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path / name)
    (tmp_path / NODE_PACKAGE).mkdir(parents=True)
    for name in NODE_FILES:
        shutil.copy(ROOT / NODE_PACKAGE / name, tmp_path / NODE_PACKAGE)
    if not no_typescript():
        # Installed once, for all copies.
        (tmp_path / NODE_PACKAGE / "node_modules").symlink_to(ROOT / NODE_PACKAGE / "node_modules")
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
    result = codegen(project, *everything(), "--check")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_two_runs_give_the_same_bytes(project: Path) -> None:
    """Neither the clock nor the order of hashes shows in the output."""
    assert codegen(project, *everything(), PYTHONHASHSEED="1").returncode == 0
    first = files_of(project)
    assert codegen(project, *everything(), PYTHONHASHSEED="2").returncode == 0
    assert files_of(project) == first == files_of(ROOT)


def test_one_changed_character_makes_it_stale(project: Path) -> None:
    """After a one-character change of a description, --check exits 1 with a diff and writes nothing."""
    edit(project / "schemas/blocks/text.json", "Text for the reader.", "Text for the readers.")
    before = files_of(project)
    result = codegen(project, "--check")
    assert result.returncode == 1
    assert '+    """Text for the readers."""' in result.stdout
    assert files_of(project) == before


@pytest.mark.parametrize(
    ("file", "old", "new", "code"),
    [
        ("events/text_block.json", "A text block is opened, grows and is closed.", "A text block is opened, grows and is closed!", 1),
        ("parts/primitives.json", "The named primitives", "The named primitivez", 1),
        ("parts/usage.json", "2020-12", "2020-11", 2),
    ],
)
def test_what_a_file_says_of_itself_counts(project: Path, file: str, old: str, new: str, code: int) -> None:
    """A changed description of a file makes what is generated stale; another draft is refused."""
    edit(project / "schemas" / file, old, new)
    assert codegen(project, "--only", "python", "--check").returncode == code


def test_a_stray_file_and_a_missing_one_are_stale(project: Path) -> None:
    """generated/ holds what is generated, and nothing else."""
    package = project / "generated/python/eventfold_models"
    (package / "stray.py").write_text("x = 1\n", "utf-8")
    (package / "structs.py").unlink()
    result = codegen(project, "--check")
    assert result.returncode == 1
    assert "stray.py is stale" in result.stdout
    assert "structs.py is stale" in result.stdout
    assert codegen(project, *everything()).returncode == 0
    assert files_of(project) == files_of(ROOT)


def test_renaming_a_field_changes_the_models_and_nothing_by_hand(project: Path) -> None:
    """A renamed field is renamed in pydantic models, structs and tables after one run."""
    edit(project / "schemas/events/reply.json", '"max_iters"', '"round_limit"')
    assert codegen(project, *everything()).returncode == 0
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


# --- TypeScript ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("typescript")
def test_renaming_a_field_changes_the_typescript(project: Path) -> None:
    """A renamed field is renamed in types, tables and schema after one run of that target alone."""
    edit(project / "schemas/events/reply.json", '"max_iters"', '"round_limit"')
    before = files_of(project)
    assert codegen(project, "--only", "typescript").returncode == 0
    after = files_of(project)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {f"generated/typescript/{name}.ts" for name in ("models", "schema", "tables")}
    for name in changed:
        assert b"round_limit" in after[name]
        assert b"max_iters?" not in after[name]


@pytest.mark.usefixtures("typescript")
def test_a_changed_cell_is_one_changed_line_of_typescript(project: Path) -> None:
    """The table stands in lifecycle.ts as it stands in schemas/."""
    old, new = '"rule": "block.already-open", "drop": true', '"rule": "block.already-open"'
    edit(project / "schemas/lifecycle.json", old, new)
    result = codegen(project, "--only", "typescript", "--check")
    assert result.returncode == 1
    [*changed] = (line for line in result.stdout.splitlines() if line[:1] in "+-" and line[:3] not in {"+++", "---"})
    assert [line[0] for line in changed] == ["-", "+"]


@pytest.mark.usefixtures("typescript")
def test_types_are_named_once_and_explained(project: Path) -> None:
    """Each class and union of the contract is a type of its own, with its description, and no type has a number in its name."""
    text = (project / "generated/typescript/models.ts").read_text("utf-8")
    contract = json.loads((project / "generated/python/eventfold_models/eventfold.schema.json").read_text("utf-8"))
    bases = {ref["$ref"].rsplit("/", 1)[1] for schema in contract["$defs"].values() for ref in schema.get("allOf", ())}
    names = [line.split()[2] for line in text.splitlines() if line.startswith(("export interface ", "export type "))]
    assert sorted(names) == sorted({*contract["$defs"], "Contract"} - bases)
    for name in set(names) - {"Contract"}:
        assert f" * {contract['$defs'][name]['description'].split('. ')[0]}" in text, name


def without_node(tmp_path: Path) -> str:
    """Make a PATH without Node on it."""
    empty = tmp_path / "empty"
    empty.mkdir()
    return str(empty)


def test_without_node_the_rest_is_checked(project: Path, tmp_path: Path) -> None:
    """A machine that has only Python checks everything else, and is told in one line what was not checked."""
    path = without_node(tmp_path)
    result = codegen(project, "--check", PATH=path)
    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr.splitlines() == [
        "codegen: typescript was not checked: Node 20 or newer and npm are needed, and node is not on the PATH"
    ]
    edit(project / "schemas/blocks/text.json", "Text for the reader.", "Text for the readers.")
    assert codegen(project, "--check", PATH=path).returncode == 1


def test_without_node_nothing_is_half_generated(project: Path, tmp_path: Path) -> None:
    """All targets, or TypeScript by name: one clear line, exit code 2, and nothing is written. The Python target needs no Node."""
    path = without_node(tmp_path)
    edit(project / "schemas/blocks/text.json", "Text for the reader.", "Text for the readers.")
    before = files_of(project)
    for arguments in ((), ("--only", "typescript"), ("--only", "typescript", "--check")):
        result = codegen(project, *arguments, PATH=path)
        assert result.returncode == 2
        assert result.stderr.splitlines() == [
            "codegen: typescript cannot be generated: Node 20 or newer and npm are needed, and node is not on the PATH"
        ]
    assert files_of(project) == before
    assert codegen(project, "--only", "python", PATH=path).returncode == 0


@pytest.mark.usefixtures("typescript")
def test_packages_that_cannot_be_installed_are_named(project: Path, tmp_path: Path) -> None:
    """Without the packages and without a way to them, one line says so."""
    (project / NODE_PACKAGE / "node_modules").unlink()
    lock = project / NODE_PACKAGE / "package-lock.json"
    lock.write_text("{}", "utf-8")
    result = codegen(project, "--only", "typescript", npm_config_cache=str(tmp_path / "cache"))
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert "`npm ci`" in result.stderr
    assert [path.name for path in (project / NODE_PACKAGE).iterdir() if path.name not in NODE_FILES] == []


def test_the_tools_are_pinned_and_no_registry_is_named() -> None:
    """Exact versions in package.json, and a lock that works with any registry."""
    manifest = json.loads((ROOT / NODE_PACKAGE / "package.json").read_text("utf-8"))
    lock = json.loads((ROOT / NODE_PACKAGE / "package-lock.json").read_text("utf-8"))
    for kind in ("dependencies", "devDependencies"):
        for name, version in manifest[kind].items():
            assert version.replace(".", "").isdigit()
            assert lock["packages"][f"node_modules/{name}"]["version"] == version
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []
