"""
Hypothesis strategies: replies, streams, messages, and the ways to cut and interleave them.

Law: what they draw is valid (no finding of severity error), and every legal cell of the lifecycle table is
reached. Order comes from the table (`walk`), payloads from the schemas (`payloads`), so that a new field or
event type is drawn without anyone touching this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventfold_models.tables import BLOCKS, CHILDREN, EVENTS, FIELDS, REQUIRED
from hypothesis import strategies as st

from eventfold.findings import SEVERITY, Severity
from eventfold.fold import Folder
from eventfold.table import CALL_KIND, MACHINES, PLANS, REPLY, Plan
from eventfold.wire import read_event

from .payloads import documents, payloads, scalars, texts, urls, values
from .walk import Choice, Move, Walker, closing, complaints, item_class

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

Event = dict[str, Any]

#: Fields that `extra` may set: such as no block names itself.
_EXTRAS = st.one_of(st.none(), st.dictionaries(st.sampled_from(("signature", "citations", "x_k")), scalars, max_size=2))
#: What a step is drawn by: which type of event, which of its moves, and the mood, which makes it daring or persistent.
STEP = st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 9))
#: Mostly the assistant, whose replies may hold everything.
ROLES = (*(["assistant"] * 8), "user", "system")
#: How often an event is drawn: what changes nothing least, lists most of all.
_WEIGHTS = {"": 1, "reply": 4, "block": 2, "call": 4, "list": 10}
#: From here on, a step goes on with what is there.
_CURIOUS = 5
#: From here on, a step may do what is legal but worth a warning.
_DARING = 8


def messages() -> SearchStrategy[dict[str, Any]]:
    """
    Draw any message that the schemas allow, as a dict on the wire.

    Some are any values, some are long, with calls that were answered or not, and some are what a reply folds to, parked ones among
    them.
    """
    return st.one_of(values("Msg"), *[_histories()] * 3, replies(moves=16).map(_folded))


@st.composite
def _histories(draw: DrawFn) -> dict[str, Any]:
    """Draw a message of the assistant with results of its calls, each somewhere after its call; ids come again."""
    content: list[Event] = []
    owed: list[Event] = []
    for block in draw(st.lists(st.one_of(values(BLOCKS[CALL_KIND]), values("AssistantContentBlock")), min_size=2, max_size=6)):
        content.append(block)
        owed += [block] if block["type"] == CALL_KIND else []
        if owed and draw(st.booleans()):
            call = owed.pop(draw(st.integers(0, len(owed) - 1)))
            content.append(_answer(call, draw(values(BLOCKS[str(MACHINES["result"].kind)]))))
    return {**draw(values("AssistantMsg")), "content": content}


def _answer(call: Event, result: Event) -> Event:
    """Make a result that of a call, with ids of its parts as a fold derives them."""
    output = result["output"]
    if not isinstance(output, str):
        output = [{**part, "id": f"{call['id']}/{place}"} for place, part in enumerate(output)]
    return {**result, "id": call["id"], "name": call["name"], "output": output}


def _folded(events: Sequence[Event]) -> dict[str, Any]:
    folder = Folder()
    for event in events:
        if event["type"] in PLANS:
            folder.feed(read_event(event))
    return folder.snapshots()[0]


def cuts() -> SearchStrategy[list[int]]:
    """Draw sizes of pieces, in characters or bytes; 0 is an empty delta, and the last piece takes the rest."""
    return st.lists(st.integers(0, 5), max_size=6)


@st.composite
def interleavings(draw: DrawFn, sequences: Sequence[Sequence[Any]]) -> list[Any]:
    """Draw an order of all items that keeps the order within each sequence."""
    rest = [list(sequence) for sequence in sequences if sequence]
    merged: list[Any] = []
    while rest:
        chosen = draw(st.integers(0, len(rest) - 1)) if len(rest) > 1 else 0
        merged.append(rest[chosen].pop(0))
        rest = [sequence for sequence in rest if sequence]
    return merged


@st.composite
def replies(draw: DrawFn, reply_id: str = "r", *, moves: int = 24, roles: Sequence[str] = ROLES) -> list[Event]:
    """Draw the events of one valid reply, as dicts on the wire: ended in some way, or parked."""
    writer = Writer(draw, reply_id)
    writer.begin(draw(st.sampled_from(roles)))
    least = draw(st.sampled_from((0, moves // 3, 2 * moves // 3)))
    for kind, which, mood in draw(st.lists(STEP, min_size=least, max_size=moves)):
        writer.step(kind, which, mood)
    writer.end(draw(st.integers(0, 9)))
    return writer.events


@st.composite
def streams(draw: DrawFn, *, most: int = 3, moves: int = 16, redelivered: bool = False) -> list[Event]:
    """
    Draw a valid stream: replies interleaved, signals and events of unknown type anywhere.

    With `redelivered`, events come again after their first, any number of times.
    """
    count = draw(st.integers(1, most))
    drawn = [draw(replies(f"r{i}", moves=moves)) for i in range(count)]
    signals = [draw(_signals(f"s{i}")) for i in range(draw(st.integers(0, 2)))]
    stream: list[Event] = draw(interleavings([*drawn, *([signal] for signal in signals)]))
    if redelivered:
        stream = draw(redeliveries(stream))
    return stream


@st.composite
def redeliveries(draw: DrawFn, stream: Sequence[Event]) -> list[Event]:
    """Draw the stream with some events, if it has any, delivered again, anywhere after their first; created_at may differ."""
    again: list[Event] = list(stream)
    for _ in range(draw(st.integers(1, 4)) if again else 0):
        index = draw(st.integers(0, len(again) - 1))
        place = draw(st.integers(index + 1, len(again)))
        event = again[index]
        name = EVENTS.get(event["type"], "")
        absent = [field for field in FIELDS.get(name, ()) if field not in event and field not in REQUIRED[name]]
        # Another process may write other times, and null for what is absent.
        nulls = dict.fromkeys(draw(st.lists(st.sampled_from(absent), max_size=2)) if absent else ())
        again.insert(place, {**event, **nulls, "created_at": draw(st.sampled_from((event["created_at"], "2026-01-09")))})
    return again


@st.composite
def _signals(draw: DrawFn, event_id: str) -> Event:
    """Draw an event that may stand anywhere, or one of a type that nobody knows."""
    plan: Plan | None = draw(st.sampled_from([None, *(plan for plan in PLANS.values() if not plan.steps)]))
    head = {"id": event_id, "created_at": "2026-01-01T00:00:00"}
    if plan is None:
        return {**head, "type": draw(st.sampled_from(("TOMORROW", "text_block_delta"))), "reply_id": "r0", "delta": draw(texts)}
    return {**draw(payloads(EVENTS[plan.type], frozenset({*head, "type"}))), **head, "type": plan.type}


def _weight(plan: Plan) -> int:
    return _WEIGHTS[
        "list" if plan.items else "call" if plan.kind == CALL_KIND else "block" if plan.key else "reply" if len(plan.steps) > 1 else ""
    ]


class Writer:
    """Writes the events of a reply, move by move, drawing what the moves leave open."""

    def __init__(self, draw: DrawFn, reply_id: str) -> None:
        self.draw = draw
        self.walker = Walker(reply_id)
        self.cumulative = False
        self.careless = ""
        self.events: list[Event] = []

    def begin(self, role: str) -> None:
        """Write what begins a reply of a role."""
        self.write([next(move for move in self.walker.moves() if self.walker.legal(move))], role=role)

    def step(self, kind: int, which: int, mood: int) -> None:
        """Write an event that is in order: the kind-th of the types, the which-th of its moves, and more items by mood."""
        walker = self.walker
        by_type: dict[str, list[Move]] = {}
        for move in walker.moves():
            rules = () if self._ends(move) else walker.breaks(move)
            quiet = not rules or (mood >= _DARING and all(SEVERITY[rule] < Severity.ERROR for rule in rules))
            if quiet and not self._ends(move):
                by_type.setdefault(move.plan.type, []).append(move)
        if not by_type:
            return
        if mood >= _CURIOUS:
            # Now and then, what goes on with a call or a block that is there, so that they get far.
            going = {name: [move for move in moves if self._goes_on(move, mood)] for name, moves in by_type.items()}
            by_type = {name: moves for name, moves in going.items() if moves} or by_type
        weighted = [name for name in PLANS if name in by_type for _ in range(_weight(PLANS[name]))]
        moves = by_type[weighted[kind % len(weighted)]]
        chosen = [moves[which % len(moves)]]
        if chosen[0].plan.items is not None:
            others = [move for move in moves if move.key != chosen[0].key]
            chosen += others[: mood % 3] if len({move.key for move in others[: mood % 3]}) == len(others[: mood % 3]) else others[:1]
        self.write(chosen)

    def end(self, how: int) -> None:
        """End the reply in some way, or leave it parked, if it is. By half, requests and answers come last of all."""
        walker = self.walker
        for turn in range(2 * (how % 2)):
            last = [move for move in walker.moves() if move.plan.items and self._goes_on(move, turn + 1) and not walker.breaks(move)]
            if last:
                self.write([last[(how + turn) % len(last)]])
        reply = walker.reply
        if reply.parked and how >= _DARING - 1:
            return
        endings = [move for move in self.walker.moves() if self._ends(move)]
        move = endings[how % len(endings)]
        ending = self._broadcast(move)
        while owed := complaints(self.walker.reply, ending):
            self.write([closing(self.walker.reply, *owed[0], ending)])
        self.write([move])
        if how == _DARING:
            self.write([next(move for move in self.walker.moves() if self.walker.legal(move))])

    def write(self, moves: list[Move], *, role: str | None = None, careless: str = "") -> None:
        """Write an event and apply it. What a guard of the rule `careless` would complain of is written all the same."""
        self.careless = careless
        self.take(self._render(moves, role))

    def take(self, event: Event) -> None:
        """Take an event that is written already, and apply it."""
        self.events.append(event)
        self.walker.folder.feed(read_event(event))

    def _goes_on(self, move: Move, mood: int) -> bool:
        there = move.key in self.walker.reply.instances.get(move.plan.kind or "", {})
        grows = any(step.repeats is not None for step in move.plan.steps)
        return there and (grows if mood % 3 == 0 else move.plan.kind == CALL_KIND)

    def _ends(self, move: Move) -> bool:
        return bool(self._broadcast(move))

    def _broadcast(self, move: Move) -> str:
        step, given = move.inputs()[0]
        cell = self.walker.reply.states[step.machine.slot].cells[given] if step.machine is REPLY else None
        return next((name for machine, name in cell.then if machine is None), "") if cell is not None else ""

    def _render(self, moves: list[Move], role: str | None) -> Event:
        """Draw an event that makes the moves: one, or one for each item of its list."""
        number = len(self.events)
        plan = moves[0].plan
        bound: Event = {
            "type": plan.type,
            "id": f"{self.walker.reply_id}-{number}",
            "created_at": f"2026-01-01T00:00:{number // 10:02}.{number % 10}",
            "reply_id": self.walker.reply_id,
        }
        if role is not None:
            bound["role"] = role
        if "extra" in FIELDS[EVENTS[plan.type]]:
            bound["extra"] = self.draw(_EXTRAS)
        if plan.items is None:
            return self._payload(EVENTS[plan.type], moves[0], bound)
        bound[plan.items] = [self._payload(item_class(plan), move, {}) for move in moves]
        return {**self.draw(payloads(EVENTS[plan.type], frozenset(bound))), **bound}

    def _payload(self, name: str, move: Move, bound: Event) -> Event:
        """Draw an event or item: what the move binds, and the rest from the schema."""
        plan = move.plan
        leave: set[str] = set()
        if len(plan.key) == 1:
            bound[plan.key[0]] = move.key
        elif plan.key:
            outer, inner = plan.key
            bound[outer] = {**self.draw(payloads(CHILDREN[name][outer], frozenset({inner}))), inner: move.key}
        if plan.part is not None:
            bound[plan.part] = move.part
        for choice in move.choices:
            self._choose(plan, choice, bound, leave)
        for step in plan.steps:
            if step.repeats is None:
                continue
            # As a cumulative producer does: all the text so far, and more. Who has begun with it goes on with it.
            self.cumulative = self.draw(st.integers(0, 3)) <= 2 * self.cumulative
            if self.cumulative:
                instance = self.walker.reply.instances.get(plan.kind or "", {}).get(move.key)
                bound[step.repeats] = (instance.draft.heard() if instance is not None else "") + self.draw(texts)
        step, given = move.inputs()[0]
        for guard in self.walker.reply.states[step.machine.slot].cells[given].guards:
            fields = {wanted for condition, wanted in guard.when if condition == "present"}
            if guard.rule == self.careless:
                bound |= {field: self.draw(values(CHILDREN[name][field])) for field in fields}
            else:
                # What a guard would complain of stays out.
                leave |= fields
        return {**self.draw(payloads(name, frozenset({*bound, *leave}))), **bound}

    def _choose(self, plan: Plan, choice: Choice, bound: Event, leave: set[str]) -> None:
        """Bind the field that refines an input."""
        fields = {name for step in plan.steps for name, _ in step.present}
        if choice.field in fields:
            bound[choice.field] = self.draw(documents if plan.base64 is not None and plan.base64[0] == choice.field else urls)
            leave |= fields - {choice.field}
        elif choice.value is None:
            leave.add(choice.field)
        else:
            bound[choice.field] = choice.value
