"""
The lifecycle table, proven before anything is made of it.

Law: it is total, and whatever it names is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .contract import Schema, is_array, need

if TYPE_CHECKING:
    from collections.abc import Iterator


def _need(condition: object, message: str) -> None:
    """Refuse the table unless the condition holds."""
    need(condition, f"lifecycle.json: {message}")


def inputs_of(step: Schema) -> list[str]:
    """Give the inputs that a step can feed."""
    how = step["input"]
    if isinstance(how, str):
        return [how]
    if "repeats" in how:
        return [how["yes"], how["no"]]
    return [*(how.get("present") or how["values"]).values(), *([how["otherwise"]] if "otherwise" in how else [])]


def effects_in_order(lifecycle: Schema, entry: Schema) -> Iterator[str]:
    """Give the effects that an event has in cells and guards that break no rule."""
    todo = [(step["machine"], name) for step in entry["steps"] for name in inputs_of(step)]
    seen: set[tuple[str, str]] = set()
    while todo:
        machine, name = todo.pop(0)
        if (machine, name) in seen or machine == "*":
            continue
        seen.add((machine, name))
        for cell in lifecycle["machines"][machine]["inputs"][name].values():
            if "rule" not in cell:
                effect = cell.get("effect", [])
                yield from [effect] if isinstance(effect, str) else effect
                todo += [tuple(then.split(".")) for then in cell.get("then", ())]


def check_reference(machines: Schema, reference: str, where: str) -> None:
    """Hold a `machine.input` against the machines."""
    machine, name = reference.split(".")
    found = (
        any(name in m["inputs"] for m in machines.values()) if machine == "*" else name in machines.get(machine, {"inputs": ()})["inputs"]
    )
    _need(found, f"{where}: there is no {reference!r}")


def check_outcome(lifecycle: Schema, rules: Schema, cell: Schema, states: Schema, where: str) -> None:
    """Hold a cell or guard against the states, the rules and the machines."""
    for key in ("next", "zero"):
        _need(cell.get(key) is None or cell[key] in states, f"{where}: {cell.get(key)!r} is no state")
    _need(cell.get("rule") is None or cell["rule"] in rules, f"{where}: {cell.get('rule')!r} is not in rules.json")
    for then in cell.get("then", ()):
        check_reference(lifecycle["machines"], then, where)


def check_machine(lifecycle: Schema, rules: Schema, name: str) -> None:
    """Hold a machine against itself: total, and every state that is named is there."""
    machine = lifecycle["machines"][name]
    states = machine["states"]
    for state in (machine["initial"], *machine.get("parks", ()), *(row["state"] for row in machine.get("stored", ()))):
        _need(state in states, f"{name}: {state!r} is no state")
    for given, row in machine["inputs"].items():
        _need(set(row) == set(states), f"{name}.{given}: the cells must be exactly {sorted(states)}, found {sorted(row)}")
        for state, cell in row.items():
            check_outcome(lifecycle, rules, cell, states, f"{name}.{given}.{state}")


def check_guard(lifecycle: Schema, rules: Schema, guard: Schema) -> None:
    """Hold a guard against the machines that it ties together."""
    machines = lifecycle["machines"]
    for at in guard["at"]:
        check_reference(machines, at, "guards")
        states = machines[at.split(".")[0]]["states"]
        check_outcome(lifecycle, rules, guard, states, f"guard at {at}")
        _need(set(guard.get("state", ())) <= set(states), f"guard at {at}: no such state in {guard.get('state')}")
    for machine, wanted in guard["when"].items():
        if is_array(wanted):
            known = set(machines[machine]["states"]) if machine in machines else set[str]()
            _need(set(wanted) <= known, f"guard: when {machine} {wanted}")


def check_lifecycle(lifecycle: Schema, rules: Schema, events: dict[str, str]) -> None:
    """Hold the table against itself, the rules and the events: total, and nothing named that is not there."""
    for name in lifecycle["machines"]:
        check_machine(lifecycle, rules, name)
    for guard in lifecycle["guards"]:
        check_guard(lifecycle, rules, guard)
    _need(set(lifecycle["events"]) == set(events), f"events: {sorted(set(lifecycle['events']) ^ set(events))} stand on one side only")
    for event, entry in lifecycle["events"].items():
        for step in entry["steps"]:
            for name in inputs_of(step):
                check_reference(lifecycle["machines"], f"{step['machine']}.{name}", event)
