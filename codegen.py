"""
Generate everything that follows from schemas/.

Law: the files under generated/ and the marked table in README.md are a function of schemas/ and of
the options in pyproject.toml; the marked tables of the dialects' pages are one of their modules.
`python codegen.py` writes them, `python codegen.py --check` compares, prints a diff and exits 1 when
they are stale. Nothing is edited afterwards: if the output displeases, change a schema or an option.

The data flows one way: files -> bundle (one document, local refs only) -> targets.
"""

from __future__ import annotations

import argparse
import difflib
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from generators.contract import ROOT, Schema, SchemaError, bundle, load, load_table
from generators.documents import write_manifest, write_pages, write_readme
from generators.python import write_bundle, write_models, write_structs, write_tables
from generators.typescript import MissingTools, write_typescript

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: What can be generated, by the name that --only takes. Further languages are further rows.
TARGETS: dict[str, tuple[Callable[[Schema, Schema, Schema, Path], None], ...]] = {
    "python": (write_bundle, write_models, write_structs, write_tables),
    "readme": (write_readme,),
    "typescript": (write_typescript,),
    "vectors": (write_manifest,),
    "pages": (write_pages,),
}


def stale(fresh: Path, targets: list[str]) -> Iterator[str]:
    """Give a unified diff for each file that differs, is missing, or is no longer generated."""
    wanted = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()}
    present: set[Path] = set()
    for target in targets:
        folder = ROOT / "generated" / target
        ours = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        present |= {path.relative_to(ROOT) for path in ours}
    for path in sorted(wanted | present):
        new = (fresh / path).read_text("utf-8") if path in wanted else ""
        old = (ROOT / path).read_text("utf-8") if (ROOT / path).exists() else ""
        if new != old or (path in wanted) != (ROOT / path).exists():
            yield f"{path} is stale\n"
            yield from difflib.unified_diff(
                old.splitlines(keepends=True), new.splitlines(keepends=True), f"{path}", f"{path} from schemas/"
            )
        elif path not in wanted:
            yield f"{path} is no longer generated\n"


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Generate models, tables and documents from schemas/.")
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 with a diff when something is stale")
    parser.add_argument("--only", choices=sorted(TARGETS), action="append", help="this target only; may be repeated")
    options = parser.parse_args()
    targets: list[str] = options.only or list(TARGETS)
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch)
        try:
            lifecycle, rules = load_table("lifecycle"), load_table("rules")
            contract = bundle(load(), lifecycle["version"])
            for target in list(targets):
                try:
                    for step in TARGETS[target]:
                        step(contract, lifecycle, rules, fresh)
                except MissingTools as missing:
                    if not options.check or options.only:
                        message = f"{target} cannot be generated: {missing}"
                        raise SchemaError(message) from None
                    # The Python part can be checked on a machine that has only Python.
                    print(f"codegen: {target} was not checked: {missing}", file=sys.stderr)
                    targets.remove(target)
        except SchemaError as error:
            print(f"codegen: {error}", file=sys.stderr)
            return 2
        diff = list(stale(fresh, targets))
        if options.check:
            sys.stdout.writelines(diff)
            return 1 if diff else 0
        for target in targets:
            shutil.rmtree(ROOT / "generated" / target, ignore_errors=True)
        shutil.copytree(fresh, ROOT, dirs_exist_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
