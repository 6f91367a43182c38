"""
Walking the lifecycle table: which events are in order at some point of a stream, and what ends it.

Law: the order comes from schemas/lifecycle.json alone. A move is an event type, the instance that it names
and the values that refine its inputs; what a move would break is found by walking its cells on a copy.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from eventfold_models.tables import CHILDREN, DEFAULTS, EVENTS

from eventfold.findings import SEVERITY, Severity
from eventfold.fold import Folder
from eventfold.lifecycle import Breach, Feed, Flaw, Instance, Lifecycle, Reply
from eventfold.table import CALL_KIND, LIFECYCLE_EFFECTS, MACHINES, PLANS, REPLY, Plan, Step

from .payloads import IDS, field_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

#: How many instances of a kind a reply has at most, so that streams stay short and ids meet.
MOST = 3
#: Ids of the data blocks inside a result.
PARTS = IDS[:2]


#: Stands for any value of a field that is only there or not.
_PRESENT = "present"


class Choice(NamedTuple):
    """How one step's input is chosen: the field and its value. Value None, with a field, means any other than the named ones."""

    field: str
    value: Any
    given: str


class Move(NamedTuple):
    """An event that could come next, or an item of its list."""

    plan: Plan
    key: str = ""
    part: str = ""
    choices: tuple[Choice, ...] = ()

    def inputs(self) -> list[tuple[Step, str]]:
        """Give the input of each step that says it by itself."""
        chosen = iter(self.choices)
        return [(step, step.fixed if step.fixed is not None else next(chosen).given) for step in self.plan.steps if step.repeats is None]


@cache
def item_class(plan: Plan) -> str:
    """Give the class whose fields name the instance and refine the inputs: the event's, or its items'."""
    name = EVENTS[plan.type]
    return CHILDREN[name][plan.items] if plan.items is not None else name


@cache
def choices(plan: Plan) -> tuple[tuple[Choice, ...], ...]:
    """Give every way to choose the inputs of an event's steps."""
    return tuple(product(*(_choices(plan, step) for step in plan.steps if step.fixed is None and step.repeats is None)))


def _choices(plan: Plan, step: Step) -> list[Choice]:
    if step.present:
        return [Choice(name, _PRESENT, given) for name, given in step.present]
    name, owner = step.field or "", EVENTS[plan.type] if plan.steps[0] is step else item_class(plan)
    schema = field_schema(owner, name)
    named = [Choice(name, _value(key, schema), given) for key, given in step.values.items() if key]
    others = [value for value in (*schema.get("enum", ()), *schema.get("examples", ())) if str(value) not in step.values]
    if schema.get("type") == "boolean":
        others = [value for value in (True, False) if str(value).lower() not in step.values]
    absent = [Choice(name, None, step.values[""])] if "" in step.values and name in DEFAULTS.get(owner, {}) else []
    return [*named, *absent, *(Choice(name, value, step.otherwise or "") for value in others)]


def _value(key: str, schema: dict[str, Any]) -> Any:
    return key == "true" if schema.get("type") == "boolean" else key


#: What was found before, by situation: there are few, and the same come again and again.
_BROKEN: dict[tuple[Any, ...], tuple[str, ...]] = {}
_CLOSING: dict[tuple[Any, ...], Move] = {}


class Walker:
    """
    A reply that is being written: its folder, and what could come next.

    Works on a reply of a folder that others may fill, too.
    """

    def __init__(self, reply_id: str, folder: Folder | None = None) -> None:
        self.reply_id = reply_id
        self.folder = folder if folder is not None else Folder()

    @property
    def reply(self) -> Reply:
        """The reply as it stands; a fresh one before it begins."""
        return self.folder.lifecycle.replies.get(self.reply_id) or Reply(self.reply_id)

    def moves(self) -> Iterator[Move]:
        """Give every event that names an instance of the reply, or a new one."""
        reply = self.reply
        for plan in PLANS.values():
            if not plan.steps:
                continue
            keys = [""] if plan.kind is None else self._keys(reply, plan.kind)
            for key, part, chosen in product(keys, PARTS if plan.part else ("",), choices(plan)):
                yield Move(plan, key, part, chosen)

    def breaks(self, move: Move) -> tuple[str, ...]:
        """Give the rules that a move would break, in order."""
        reply = self.reply
        first, given = move.inputs()[0]
        if any(machine is None for machine, _ in reply.states[first.machine.slot].cells[given].then):
            return tuple(simulate(reply, move))  # it looks at every instance
        instance = reply.instances.get(move.plan.kind or "", {}).get(move.key)
        part = instance.parts.get(move.part) if instance is not None else None
        states = tuple(holder.states if holder is not None else None for holder in (reply, instance, part))
        situation = (move.plan.number, move.choices, states, reply.parked > 0, reply.role)
        if situation not in _BROKEN:
            _BROKEN[situation] = tuple(simulate(reply, move))
        return _BROKEN[situation]

    def legal(self, move: Move) -> bool:
        """Tell whether a move breaks no rule of severity error."""
        return all(SEVERITY[rule] < Severity.ERROR for rule in self.breaks(move))

    def _keys(self, reply: Reply, kind: str) -> list[str]:
        used = list(reply.instances.get(kind, {}))
        fresh = [key for key in IDS if key not in used]
        return used + (fresh[:1] if len(used) < MOST else [])


def _probe(rules: list[str]) -> Lifecycle:
    def report(breach: Breach) -> None:
        rules.append(breach.rule)

    return Lifecycle(dict.fromkeys(LIFECYCLE_EFFECTS, _nothing), report)


def _nothing(*_given: Any) -> Flaw | None:
    """Do nothing: a walk builds no message."""


def _copy(instance: Instance) -> Instance:
    twin = Instance(
        "reply" if isinstance(instance, Reply) else "call" if instance.kind == CALL_KIND else "block", instance.kind, instance.key
    )
    twin.states = instance.states
    twin.since = instance.since.copy()
    for key, part in instance.parts.items():
        twin.part(key).states = part.states
    return twin


def _copy_reply(reply: Reply) -> Reply:
    twin = Reply(reply.key)
    twin.role, twin.parked, twin.parked_at = reply.role, reply.parked, reply.parked_at
    twin.states, twin.since, twin.counts = reply.states, reply.since.copy(), reply.counts.copy()
    return twin


def simulate(reply: Reply, move: Move) -> list[str]:
    """Walk a move's cells on a copy of the reply, and give the rules that break."""
    return _try(reply, move)[0]


def _try(reply: Reply, move: Move) -> tuple[list[str], Reply]:
    """Give the rules that a move breaks, and the reply after it, which holds states but no message."""
    rules: list[str] = []
    life = _probe(rules)
    twin = _copy_reply(reply)
    twin.instances = {kind: {key: _copy(each) for key, each in known.items()} for kind, known in reply.instances.items()}
    twin.role = twin.role or DEFAULTS["ReplyStartEvent"]["role"]
    kind = move.plan.kind
    place: Instance = twin
    if kind is not None:
        fresh = Instance("call" if kind == CALL_KIND else "block", kind, move.key)
        place = twin.instances.setdefault(kind, {}).setdefault(move.key, fresh)
    event = SimpleNamespace(**{choice.field: choice.value for choice in move.choices})
    if move.plan.part is not None:
        setattr(event, move.plan.part, move.part)
    for step, given in move.inputs():
        if life.step(Feed(twin, move.plan, event), twin if step.machine is REPLY else place, step.machine, given):
            break
    return rules, twin


def complaints(reply: Reply, ending: str) -> list[tuple[str | None, str]]:
    """Give the instances (kind and key) of which the reply's end by `ending` would complain with an error."""
    found: list[tuple[str | None, str]] = []
    for instance in (reply, *reply.every()):
        rules: list[str] = []
        life = _probe(rules)
        for state in instance.states:
            if ending in state.cells:
                life.step(Feed(_copy_reply(reply), None, SimpleNamespace()), _copy(instance), state.machine, ending)
        if any(SEVERITY[rule] == Severity.ERROR for rule in rules):
            found.append((instance.kind, instance.key))
    return found


def closing(reply: Reply, kind: str | None, key: str, ending: str) -> Move:
    """Find the first move on the shortest way after which the end by `ending` no longer complains of an instance."""
    instance = reply if kind is None else reply.instances[kind][key]
    situation = (kind, instance.states, reply.states, tuple(reply.counts), reply.parked > 0, reply.role, ending)
    if situation not in _CLOSING:
        _CLOSING[situation] = _shortest(reply, kind, key, ending)
    return _CLOSING[situation]._replace(key=key)


def _shortest(reply: Reply, kind: str | None, key: str, ending: str) -> Move:
    moves = [
        Move(plan, key, PARTS[0] if plan.part else "", chosen)
        for plan in PLANS.values()
        if plan.steps and plan.kind == kind
        for chosen in choices(plan)
    ]
    todo: list[tuple[Reply, Move | None]] = [(reply, None)]
    seen: set[tuple[Any, ...]] = set()
    while todo:
        here, first = todo.pop(0)
        if first is not None and (kind, key) not in complaints(here, ending):
            return first
        for move in moves:
            gate, given = move.inputs()[0]
            if any(machine is None for machine, _ in here.states[gate.machine.slot].cells[given].then):
                continue
            rules, after = _try(here, move)
            instance: Instance = after if kind is None else after.instances[kind][key]
            states = (after.states, instance.states, tuple(after.counts))
            # What adds to a count leads away from the end.
            if states not in seen and sum(after.counts) <= sum(here.counts) and all(SEVERITY[rule] < Severity.ERROR for rule in rules):
                seen.add(states)
                todo.append((after, first or move))
    message = f"no way to end {kind} {key!r} before {ending}"
    raise LookupError(message)


def way_to(reply: Reply, rule: str, key: str, turn: int = 0) -> list[Move]:
    """
    Find the shortest way to break a rule: moves that are legal, and as the last one that breaks it.

    The moves name the reply and instances of one key, so that a key that is not used gives a way on its own. Of ways of one
    length, `turn` chooses: it says with which event type the search begins.

    Raises:
        LookupError: there is none.

    """
    kinds = _kinds_of(rule)
    plans = [plan for plan in PLANS.values() if plan.steps and (plan.kind is None or plan.kind in kinds)]
    first = turn % len(plans)
    moves = [
        Move(plan, key if plan.kind is not None else "", PARTS[0] if plan.part else "", chosen)
        for plan in (*plans[first:], *plans[:first])
        for chosen in choices(plan)
    ]
    todo: list[tuple[Reply, list[Move]]] = [(reply, [])]
    seen: set[tuple[Any, ...]] = set()
    while todo:
        here, way = todo.pop(0)
        for move in moves:
            rules, after = _try(here, move)
            if rule in rules or _carelessly(here, move, rule):
                return [*way, move]
            instances = tuple(known[key].states for known in after.instances.values() if key in known)
            situation = (after.states, tuple(after.counts), instances)
            bounded = all(count <= max(before, 1) for count, before in zip(after.counts, here.counts, strict=True))
            if bounded and situation not in seen and all(SEVERITY[broken] < Severity.ERROR for broken in rules):
                seen.add(situation)
                todo.append((after, [*way, move]))
    message = f"there is no way to break {rule}"
    raise LookupError(message)


def _carelessly(reply: Reply, move: Move, rule: str) -> bool:
    """Tell whether a move would break a rule if its event carried what a guard of that rule looks for."""
    step, given = move.inputs()[0]
    guards = reply.states[step.machine.slot].cells[given].guards
    return any(name == "present" for guard in guards if guard.rule == rule for name, _ in guard.when)


@cache
def _kinds_of(rule: str) -> frozenset[str]:
    """Give the kinds of block that the machines have which name a rule, and those that it ties them to."""
    found: set[str] = set()
    for machine in MACHINES.values():
        for state in machine.states.values():
            for cell in state.cells.values():
                if rule in {cell.rule, *(guard.rule for guard in cell.guards)} and machine.kind is not None:
                    found.add(CALL_KIND if machine.scope == "call" else machine.kind)
                elif rule in {cell.rule, *(guard.rule for guard in cell.guards)} and machine.scope == "part":
                    found.add(CALL_KIND)
    return frozenset(found)
