"""Several parts laid side by side are again a part."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from .errors import InputError
from .layout import Vector
from .numerics.mean import Mean
from .part import Part, Replies, Server, Shard, State, Step, Trajectory, Visit
from .task import Task


@dataclass(frozen=True)
class Together(Part):
    """Let parts act in the order written, at both ends; notes and states are kept one per part."""

    parts: tuple[Part, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what only one part may bring."""
        _only([part for part in self.parts if part.mean], "replaces the mean over the cohort")
        preferring = {part.prefers_decay: part for part in self.parts if part.prefers_decay}
        _only(
            list(preferring.values()),
            "prefers a weight decay of its own (set decay= by hand, one part at a time)",
        )

    @property
    def mean(self) -> Mean | None:
        """The one mean that a part brings."""
        return next((part.mean for part in self.parts if part.mean), None)

    @property
    def prefers_decay(self) -> str | None:
        """The one order of weight decay that a part asks for."""
        return next((part.prefers_decay for part in self.parts if part.prefers_decay), None)

    @property
    def pull(self) -> float:
        """The sum of the parts' pulls."""
        return sum((part.pull for part in self.parts), 0.0)

    @property
    def quorum(self) -> int:
        """The fewest clients that every part is content with."""
        return max((part.quorum for part in self.parts), default=1)

    @property
    def rows_meet(self) -> bool:
        """Whether any part mixes the rows of a batch."""
        return any(part.rows_meet for part in self.parts)

    @property
    def selects(self) -> bool:
        """Whether any part selects."""
        return any(part.selects for part in self.parts)

    @property
    def probes(self) -> bool:
        """Whether any part probes."""
        return any(part.probes for part in self.parts)

    @property
    def digests(self) -> bool:
        """Whether any part digests."""
        return any(part.digests for part in self.parts)

    def server_state(self, server: Server) -> State:
        """One state a part."""
        return tuple(part.server_state(server) for part in self.parts)

    def client_state(self, task: Task, capacity: int) -> State:
        """One memory a part."""
        return tuple(part.client_state(task, capacity) for part in self.parts)

    def ledger_state(self, task: Task) -> State:
        """One ledger row a part."""
        return tuple(part.ledger_state(task) for part in self.parts)

    def brief(self, params: Vector, state: State, server: Server) -> tuple[Vector, State]:
        """Each part sends what the one before it would have sent, moved, and its own note."""
        notes: list[State] = []
        for part, mine in zip(self.parts, state, strict=True):
            params, note = part.brief(params, mine, server)
            notes.append(note)
        return params, tuple(notes)

    def select(self, weights: Tensor, shard: Shard, visit: Visit) -> Tensor:
        """Select in turn."""
        for i, part in enumerate(self.parts):
            weights = part.select(weights, shard, visit.of(i))
        return weights

    def begin(self, visit: Visit) -> State:
        """One local state a part."""
        return tuple(part.begin(visit.of(i)) for i, part in enumerate(self.parts))

    def probe(self, params: Vector, step: Step) -> Vector:
        """Each part probes from where the one before it stands."""
        for i, part in enumerate(self.parts):
            params = part.probe(
                params, step.of(i) if params is step.params else step.at(params).of(i)
            )
        return params

    def logits(self, logits: Tensor, step: Step) -> Tensor:
        """Edit in turn."""
        for i, part in enumerate(self.parts):
            logits = part.logits(logits, step.of(i))
        return logits

    def penalty(self, step: Step) -> Tensor | float:
        """Add the terms up."""
        terms = [part.penalty(step.of(i)) for i, part in enumerate(self.parts)]
        return sum(terms, 0.0)

    def gradient(self, grad: Vector, step: Step) -> tuple[Vector, State]:
        """Edit in turn."""
        after: list[State] = []
        for i, part in enumerate(self.parts):
            grad, local = part.gradient(grad, step.of(i))
            after.append(local)
        return grad, tuple(after)

    def direction(self, direction: Vector, step: Step) -> Vector:
        """Edit in turn."""
        for i, part in enumerate(self.parts):
            direction = part.direction(direction, step.of(i))
        return direction

    def digest(self, weights: Tensor, trajectory: Trajectory) -> Tensor:
        """Re-weight in turn."""
        for part in self.parts:
            weights = part.digest(weights, trajectory)
        return weights

    def finish(
        self, update: Vector, trajectory: Trajectory, visit: Visit
    ) -> tuple[Vector, State, State]:
        """Edit in turn; one note and one memory a part."""
        notes: list[State] = []
        memories: list[State] = []
        for i, part in enumerate(self.parts):
            update, note, memory = part.finish(update, trajectory, visit.of(i))
            notes.append(note)
            memories.append(memory)
        return update, tuple(notes), tuple(memories)

    def weigh(self, weights: Tensor, replies: Replies) -> Tensor:
        """Weigh in turn."""
        for i, part in enumerate(self.parts):
            weights = part.weigh(weights, replies.of(i))
        return weights

    def merge(
        self, update: Vector, state: State, replies: Replies, server: Server
    ) -> tuple[Vector, State, State]:
        """Edit in turn; one state and one set of ledger rows a part."""
        states: list[State] = []
        rows: list[State] = []
        for i, (part, mine) in enumerate(zip(self.parts, state, strict=True)):
            update, after, ledger = part.merge(update, mine, replies.of(i), server)
            states.append(after)
            rows.append(ledger)
        return update, tuple(states), tuple(rows)


def compose(*parts: Part) -> Together:
    """Lay parts side by side; parts that are already so are opened.

    >>> compose(compose(Part()), Part()) == compose(Part(), Part())
    False
    """
    opened: list[Part] = []
    for part in parts:
        if not isinstance(part, Part):
            raise InputError(
                f"{part!r} is not a Part: write a class that inherits fedkeel.Part, and pass an "
                "instance of it"
            )
        opened.extend(part.parts if isinstance(part, Together) else (part,))
    return Together(tuple(opened))


def _only(parts: list[Part], does: str) -> None:
    if len(parts) > 1:
        names = " and ".join(repr(part) for part in parts)
        raise InputError(f"only one part may be what {does}, here {names} would: leave one out")
