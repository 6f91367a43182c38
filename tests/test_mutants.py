"""The planted faults (mutants/run.py) are ones of the code as it is, so that the run of them can begin."""

from __future__ import annotations

import pytest
from mutants.run import MUTANTS
from support import ROOT


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_finds_its_place(name: str) -> None:
    """What it replaces stands in its file, and is replaced by something else."""
    mutant = MUTANTS[name]
    assert mutant.old in (ROOT / mutant.file).read_text("utf-8")
    assert mutant.old != mutant.new
