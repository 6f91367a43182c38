"""
The lifecycle table as objects that can be walked.

Law: nothing about order is decided here. Each object is a row of schemas/lifecycle.json, with its names
resolved, so that the interpreter follows references instead of looking words up.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from eventfold_models import structs
from eventfold_models.tables import CHILDREN, DEFAULTS, EVENTS, FIELDS, FREE_FORM, LIFECYCLE, REQUIRED

from .byclass import ByClass
from .jsonvalue import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Callable

#: The kind of block that the machines of a call belong to.
CALL_KIND = LIFECYCLE["machines"]["arguments"]["kind"]

#: Fields of an event that are not its content: they say which event it is, or when it was made.
_IDENTITY = ("type", "id", "reply_id", "created_at")


#: Types of fields that hold a string.
_TEXTS = {"str", "Id", "ToolResultState"}


class Outcome:
    """What happens: next state, effects, broken rule, and what follows."""

    __slots__ = (
        "clash",
        "count",
        "drop",
        "effects",
        "guards",
        "next",
        "others",
        "renew",
        "replaces",
        "rule",
        "steady",
        "then",
        "trivial",
        "when",
        "where",
        "zero",
    )

    def __init__(self, row: dict[str, Any]) -> None:
        effects = row.get("effect", [])
        self.effects: tuple[str, ...] = (effects,) if isinstance(effects, str) else tuple(effects)
        self.rule: str | None = row.get("rule")
        self.drop: bool = row.get("drop", False)
        self.renew: bool = row.get("renew", False)
        self.count: int = row.get("count", 0)
        #: Machine and input of each step that follows; machine None means every instance of the reply.
        self.then: tuple[tuple[Machine | None, str], ...] = ()
        self.next: State | None = None
        self.zero: State | None = None
        self.guards: tuple[Outcome, ...] = ()
        #: Of a guard: what must hold, and whether it stands in place of the cell.
        self.when: tuple[tuple[str, Any], ...] = ()
        #: The same, taken apart: whether a reply's machine is meant, its slot, the states that will do; and what is no machine.
        self.where: tuple[tuple[bool, int, tuple[State, ...]], ...] = ()
        self.others: tuple[tuple[str, Any], ...] = ()
        self.replaces: bool = bool(self.effects or self.drop or "next" in row)
        #: Of a guard: the machine whose state the event clashes with, if it is another one.
        self.clash: Machine | None = None
        #: Of a cell: nothing at all happens; or effects alone, so that the next input of the kind finds the same cell.
        self.trivial = False
        self.steady = False


class State:
    """A state of a machine, with its cells by input."""

    __slots__ = ("cells", "machine", "name", "parks")

    def __init__(self, machine: Machine, name: str, *, parks: bool) -> None:
        self.machine = machine
        self.name = name
        self.parks = parks
        self.cells: dict[str, Outcome] = {}


class Machine:
    """A machine: its states, and the slot that its state has in an instance."""

    __slots__ = ("initial", "inputs", "kind", "name", "of_part", "of_reply", "scope", "slot", "states", "stored")

    def __init__(self, name: str, row: dict[str, Any], slot: int) -> None:
        self.name = name
        self.scope: str = row["scope"]
        self.of_reply = self.scope == "reply"
        self.of_part = self.scope == "part"
        self.kind: str | None = row.get("kind")
        self.slot = slot
        parks = row.get("parks", ())
        self.states = {state: State(self, state, parks=state in parks) for state in row["states"]}
        self.initial = self.states[row["initial"]]
        self.stored: list[dict[str, Any]] = row.get("stored", [])
        self.inputs: dict[str, Any] = row["inputs"]


def _machines() -> dict[str, Machine]:
    """Give each machine a slot among those that share an instance: 0 for the kinds of block, then the others."""
    machines: dict[str, Machine] = {}
    used: dict[str, int] = {}
    for name, row in LIFECYCLE["machines"].items():
        scope = row["scope"]
        if scope == "block" and "kind" in row:
            slot = 0
        else:
            slot = used.get(scope, 1 if scope == "block" else 0)
            used[scope] = slot + 1
        machines[name] = Machine(name, row, slot)
    for machine in machines.values():
        for given, row in machine.inputs.items():
            for state, cell in row.items():
                outcome = Outcome(cell)
                outcome.next = machine.states[cell["next"]]
                outcome.zero = machine.states[cell["zero"]] if "zero" in cell else None
                outcome.then = _then(machines, cell)
                outcome.guards = tuple(_guards(machines, machine, given, state))
                outcome.steady = set(cell) <= {"next", "effect"} and cell["next"] == state and not outcome.guards
                outcome.trivial = outcome.steady and not outcome.effects
                machine.states[state].cells[given] = outcome
    return machines


def _then(machines: dict[str, Machine], row: dict[str, Any]) -> tuple[tuple[Machine | None, str], ...]:
    pairs = (reference.split(".") for reference in row.get("then", ()))
    return tuple((machines.get(name), given) for name, given in pairs)


def _guards(machines: dict[str, Machine], machine: Machine, given: str, state: str) -> list[Outcome]:
    found: list[Outcome] = []
    for row in LIFECYCLE["guards"]:
        if f"{machine.name}.{given}" in row["at"] and state in row.get("state", machine.states):
            guard = Outcome(row)
            guard.next = machine.states[row["next"]] if "next" in row else machine.states[state]
            guard.then = _then(machines, row)
            guard.clash = machines[row["clash"]] if "clash" in row else None
            guard.when = tuple(row["when"].items())
            guard.where = tuple(
                (machines[name].of_reply, machines[name].slot, tuple(machines[name].states[wanted] for wanted in states))
                for name, states in guard.when
                if is_array(states)
            )
            guard.others = tuple((name, wanted) for name, wanted in guard.when if not is_array(wanted))
            found.append(guard)
    return found


MACHINES = _machines()
#: Every effect that the table names.
LIFECYCLE_EFFECTS = frozenset(
    effect
    for machine in MACHINES.values()
    for state in machine.states.values()
    for cell in state.cells.values()
    for outcome in (cell, *cell.guards)
    for effect in outcome.effects
)
REPLY = MACHINES["reply"]
DELIVERY = MACHINES["delivery"]


def initial_states(scope: str, kind: str | None = None) -> list[State]:
    """Give the states of a new instance, by slot."""
    chosen = [m for m in MACHINES.values() if m.scope == scope and (scope != "block" or m.kind in {None, kind})]
    return [m.initial for m in sorted(chosen, key=lambda m: m.slot)]


class Step:
    """One step of an event: the machine, and how its input is found."""

    __slots__ = ("field", "fixed", "machine", "otherwise", "present", "repeats", "values", "verdicts")

    def __init__(self, row: dict[str, Any], default: Any) -> None:
        self.machine = MACHINES[row["machine"]]
        self.fixed: str | None = row["input"] if isinstance(row["input"], str) else None
        how: dict[str, Any] = row["input"] if is_object(row["input"]) else {}
        self.field: str | None = how.get("field")
        self.values: dict[str, str] = how.get("values", {})
        #: Absent is the schema's default.
        self.otherwise: str | None = how.get("otherwise")
        if default is not None:
            self.values = {**self.values, "": self.values.get(_json_name(default), self.otherwise or "")}
        self.present: tuple[tuple[str, str], ...] = tuple(how.get("present", {}).items())
        self.repeats: str | None = how.get("repeats")
        self.verdicts: tuple[str, str] = (how.get("yes", ""), how.get("no", ""))

    def cells(self) -> list[Outcome]:
        """Give the cells that a step with a fixed input may walk."""
        return [state.cells[self.fixed or ""] for state in self.machine.states.values()]

    def verdict(self, *, repeats: bool) -> str:
        """Give the input of a delta that repeats all the text so far, or does not."""
        return self.verdicts[0] if repeats else self.verdicts[1]

    def input_of(self, source: Any) -> str:
        """Find the input by the fields of an event or of an item of its list."""
        if self.fixed is not None:
            return self.fixed
        if self.field is not None:
            value = field_of(source, self.field)
            if type(value) is str and value:
                return self.values.get(value, self.otherwise or "")
            return self.values.get("" if value is None else _json_name(value), self.otherwise or "")
        return next(given for name, given in self.present if field_of(source, name) is not None)


def _json_name(value: Any) -> str:
    """Write a field's value as the table writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def field_of(source: Any, name: str) -> Any:
    """Read a field of a struct or of a dict; None when it is absent."""
    value: Any = cast("dict[str, Any]", source).get(name) if isinstance(source, dict) else getattr(source, name, None)
    return None if value is structs.UNSET else value


class Plan:
    """What an event type feeds to which machines."""

    __slots__ = (
        "asks",
        "base64",
        "bulk",
        "content",
        "defaults",
        "gate",
        "items",
        "kept",
        "key",
        "key_of",
        "kind",
        "nested",
        "number",
        "own",
        "part",
        "plain",
        "read",
        "rest",
        "scope",
        "spare",
        "steps",
        "tail",
        "text",
        "type",
    )

    def __init__(self, number: int, name: str, row: dict[str, Any]) -> None:
        self.type = name
        self.number = number
        self.items: str | None = row.get("items")
        self.key: tuple[str, ...] = tuple(row["key"].split(".")) if "key" in row else ()
        self.part: str | None = row.get("part")
        #: Field that must be base64, and the rule that it breaks when it is not.
        self.base64: tuple[str, str] | None = (row["base64"]["field"], row["base64"]["rule"]) if "base64" in row else None
        defaults = DEFAULTS.get(_item_class(name, self.items) if self.items else EVENTS[name], {})
        self.steps = tuple(Step(step, defaults.get(_field(step))) for step in row["steps"])
        #: The first step, which asks the reply, and those after it.
        self.gate = self.steps[0] if self.steps else None
        self.rest = self.steps[1:]
        kinds = [step.machine.kind for step in self.steps if step.machine.kind]
        #: Whether a walk can be kept: there is one instance, and nothing but a step's input is read from the event.
        self.kept = not {"items", "base64", "part"} & set(row) and self.gate is not None and self.gate.fixed is not None
        #: The step whose input a field says, or how two texts compare, if there is one.
        self.asks = next((step for step in self.rest if step.fixed is None), None)
        #: Under which kind the instance is found: a call and its result are one.
        self.kind: str | None = CALL_KIND if any(step.machine.scope == "call" for step in self.steps) else next(iter(kinds), None)
        self.scope = "call" if self.kind == CALL_KIND else "block"
        #: Reads the id of the instance that an event names.
        self.key_of: Callable[[Any], str] = attrgetter(self.key[0]) if self.key and not self.items else _nothing
        names = [field for field in FIELDS[EVENTS[name]] if field not in _IDENTITY]
        getter = attrgetter(*names)
        #: Place in the content of the base64 field.
        self.bulk = names.index(self.base64[0]) if self.base64 is not None else None
        #: Places in the content of fields that have a default, which null and absent mean.
        self.defaults = tuple((names.index(field), value) for field, value in DEFAULTS.get(EVENTS[name], {}).items() if field in names)
        #: Places in the content of objects and arrays, with their class or union; without one they are free-form.
        children = CHILDREN.get(EVENTS[name], {})
        free = FREE_FORM[EVENTS[name]]
        self.nested = tuple((i, children.get(field, "")) for i, field in enumerate(names) if field in children or field in free)
        self.content: Callable[[Any], tuple[Any, ...]] = getter if len(names) > 1 else lambda event: (getter(event),)
        #: Whether the content is text alone, when nothing stands in the fields that may be absent; and what reads these, and the text.
        own = [field for field in names if field in REQUIRED[EVENTS[name]]]
        spare = [field for field in names if field not in own and field not in FIELDS["EventBase"]]
        self.plain = plain = bool(own) and all(_is_text(name, field) for field in names) and not self.defaults
        self.spare: Callable[[Any], tuple[Any, ...]] | None = attrgetter(*spare, "metadata") if spare else None
        self.own: Callable[[Any], Any] = attrgetter(*own) if plain else _nothing
        self.tail: Callable[[Any], str] = attrgetter(own[-1]) if plain else _nothing
        grows = any(cell.steady and cell.effects for step in self.rest if step.fixed for cell in step.cells())
        self.text = own[-1] if plain and grows and self.key == tuple(own[:-1]) and len(own) == len(names) - 2 else ""
        #: Reads what a lane looks at: the key and the text.
        self.read: Callable[[Any], tuple[str, str]] = attrgetter(*self.key, self.text or "id")


def _nothing(event: Any) -> str:
    """Read no field."""
    del event
    return ""


def _is_text(name: str, field: str) -> bool:
    """Tell whether a field of an event is a string that must be there, or a string or object that is empty or says something."""
    struct = getattr(structs, EVENTS[name])
    hint: str = struct.__annotations__.get(field) or next(
        base.__annotations__[field] for base in struct.__mro__ if field in base.__annotations__
    )
    required = field in REQUIRED[EVENTS[name]]
    return hint in _TEXTS if required else hint.split(" | ", maxsplit=1)[0] in {"str", "dict[str, Any]"}


def _field(step: dict[str, Any]) -> str:
    return step["input"].get("field", "") if is_object(step["input"]) else ""


def _item_class(name: str, items: str) -> str:
    """Give the class of the items in an event's list."""
    hint: str = getattr(structs, EVENTS[name]).__annotations__[items]
    return hint.removeprefix("list[").removesuffix("]")


PLANS: dict[str, Plan] = {name: Plan(number, name, row) for number, (name, row) in enumerate(LIFECYCLE["events"].items())}


#: The plan of each struct class, and of what extends it.
PLAN_OF = ByClass({getattr(structs, EVENTS[name]): plan for name, plan in PLANS.items()})
