"""Node programs with packages of their own: whether they can run here."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@cache
def absent(folder: Path, package: str) -> str:
    """Say why the programs of a folder cannot run; empty when they can. Installs what it pins where the package is missing."""
    npm = shutil.which("npm")
    if shutil.which("node") is None or npm is None:
        return "there is no node with npm"
    if not (folder / "node_modules" / package).is_dir():
        done = subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"npm ci failed: {done.stderr.strip()[-200:]}"
    return ""
