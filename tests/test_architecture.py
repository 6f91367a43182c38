"""The shape of the house: which module may know which, and what must not stand in code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from eventfold_models.tables import EVENTS
from support import ROOT

SOURCE = ROOT / "src/eventfold"
MODULES = sorted(SOURCE.rglob("*.py"))

#: The layers, from the bottom up. A module imports modules of its own layer and of those before it.
LAYERS = (
    {"modelbase", "structbase", "jsonvalue", "byclass", "timestamps"},
    {"models", "findings", "shape", "wire"},
    {"table", "instances", "base64_text", "fingerprint", "lane", "shortcuts", "interpreter", "lifecycle"},
    {"draft", "effects", "resume", "fold", "stored", "check"},
    {"messages", "unfold", "dialects"},
    {"vectors"},
    {"fuzz"},
    {"report"},
    {"cli"},
)
#: What the core must not touch: files, network, clock, randomness, logging.
FORBIDDEN = {"os", "pathlib", "socket", "http", "urllib", "httpx", "time", "random", "secrets", "uuid", "logging", "subprocess", "tempfile"}
CORE = set[str]().union(*LAYERS[:4])


def name_of(path: Path) -> str:
    """Name the module or package that stands directly below eventfold."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    """Give what a file imports: absolute names, ours as eventfold.NAME."""
    found: set[str] = set()
    package = ("eventfold", *path.relative_to(SOURCE).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            found |= {module} if node.module else {f"{module}.{alias.name}" for alias in node.names}
    return found


def test_every_module_has_a_layer() -> None:
    """No module stands outside the order."""
    assert {name_of(path) for path in MODULES} - {"__init__"} == set[str]().union(*LAYERS)


@pytest.mark.parametrize("path", [path for path in MODULES if path.parent != SOURCE or path.name != "__init__.py"], ids=str)
def test_imports_point_down(path: Path) -> None:
    """A module knows its own layer and those below."""
    layer = next(i for i, names in enumerate(LAYERS) if name_of(path) in names)
    below = set[str]().union(*LAYERS[: layer + 1])
    ours = {name.split(".")[1] for name in imports_of(path) if name.startswith("eventfold.")}
    assert ours <= below


@pytest.mark.parametrize("path", [path for path in MODULES if name_of(path) in CORE], ids=str)
def test_the_core_touches_nothing_outside(path: Path) -> None:
    """No file, network, clock, randomness or logging: the same input gives the same output."""
    assert {name.split(".")[0] for name in imports_of(path)} & FORBIDDEN == set()
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert calls & {"open", "print", "input"} == set()


def test_no_event_type_is_written_out() -> None:
    """An event type stands in schemas/ and in what is generated, nowhere in src/."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
                text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
                written = {text, *re.findall(r'"(\w+)"', text)} & set(EVENTS)
                assert not written, f"{path.name}:{node.lineno} writes {node.value!r}"


def test_whoever_needs_only_bytes_pays_for_no_models() -> None:
    """check_and_fold of a clean stream imports neither pydantic nor jsonschema."""
    code = (
        "import sys, pathlib; from eventfold import check_and_fold;"
        "assert not check_and_fold(pathlib.Path(sys.argv[1]).read_bytes()).findings;"
        "print([name for name in ('pydantic', 'jsonschema', 'rich', 'typer') if name in sys.modules])"
    )
    recording = ROOT / "tests/recordings/agentscope-2.0.11/one_tool.events.jsonl"
    result = subprocess.run([sys.executable, "-c", code, str(recording)], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_the_package_gives_functions_not_modules() -> None:
    """`fold` and `check` are functions, in whatever order modules were imported."""
    code = "import eventfold.check, eventfold.fold; from eventfold import check, fold; print(callable(check), callable(fold))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["True", "True"]


def test_no_path_of_a_machine_is_in_the_tree() -> None:
    """Nothing names a folder of the machine it was written on."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    ours = [Path(name) for name in listed if not name.startswith(("tests/recordings", "tests/data"))]
    for path in ours:
        text = (ROOT / path).read_text("utf-8", "ignore") if (ROOT / path).exists() else ""
        assert f"/{'work'}/" not in text, path
        assert f"/{'root'}/" not in text, path
