"""
What streams reach: types of events, rules, cells of the lifecycle table.

Law: a cell counts when the interpreter walks it, whatever comes of it.
"""

from __future__ import annotations

from typing import NamedTuple

from eventfold_models.tables import EVENTS, RULES

from eventfold.check import Checked, Checker
from eventfold.fold import Folder
from eventfold.lifecycle import Feed, Instance, Lifecycle
from eventfold.table import MACHINES, Machine

#: All cells, as machine.input.state.
CELLS = frozenset(
    f"{machine.name}.{given}.{state}" for machine in MACHINES.values() for state in machine.states for given in machine.inputs
)


class Coverage(NamedTuple):
    """What was reached."""

    types: set[str]
    rules: set[str]
    cells: set[str]

    def to_dict(self) -> dict[str, dict[str, object]]:
        """Write as JSON: how many, of how many, and which were missed."""
        pairs = {"events": (self.types, set(EVENTS)), "rules": (self.rules, set(RULES)), "cells": (self.cells, set(CELLS))}
        return {name: {"reached": len(got & of), "of": len(of), "missed": sorted(of - got)} for name, (got, of) in pairs.items()}


class _Walked(Lifecycle):
    """Notes every cell that is walked."""

    cells: set[str]

    def step(self, feed: Feed, instance: Instance, machine: Machine, given: str) -> bool:
        """Note, then walk."""
        holder = feed.reply if machine.scope == "reply" else self._part(instance, feed) if machine.scope == "part" else instance
        self.cells.add(f"{machine.name}.{given}.{holder.states[machine.slot].name}")
        return super().step(feed, instance, machine, given)


def check_and_note(data: bytes, coverage: Coverage) -> Checked:
    """Check and fold, and add what the stream reaches."""
    folder = Folder()
    walked = _Walked(folder.lifecycle.effects, folder.lifecycle.report)
    walked.cells = coverage.cells
    folder.lifecycle = walked
    checker = Checker(folder=folder)
    checker.feed(data)
    findings = checker.finish()
    coverage.rules.update(finding.rule for finding in findings)
    return Checked(folder.snapshots(), findings)
