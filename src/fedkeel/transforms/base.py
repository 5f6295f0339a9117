"""What a transform is, and how either end makes a part of it."""

from __future__ import annotations

from dataclasses import dataclass

from ..layout import Vector
from ..part import Part, Point, Replies, Server, State, Step, Visit
from ..printing import shown


class Transform:
    """A gradient in, a gradient out, and what to remember in between."""

    def init(self, params: Vector) -> State:
        """Return what is remembered before the first gradient."""
        return ()

    def update(self, grad: Vector, state: State, point: Point) -> tuple[Vector, State]:
        """Edit a gradient; return it and what to remember."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Print what is not as usual."""
        return shown(self)


@dataclass(frozen=True, repr=False)
class AtClient(Part):
    """Use a transform on every local gradient; its state lives for one visit."""

    transform: Transform
    prefers_decay: str | None = None

    def __repr__(self) -> str:
        """Print what is not as usual."""
        return shown(self)

    def begin(self, visit: Visit) -> State:
        """Start the transform afresh."""
        return self.transform.init(visit.anchor)

    def gradient(self, grad: Vector, step: Step) -> tuple[Vector, State]:
        """Transform a local gradient."""
        return self.transform.update(grad, step.local, step.point)


@dataclass(frozen=True, repr=False)
class AtServer(Part):
    """Use a transform on the cohort's mean update; its state lives as long as the server."""

    transform: Transform

    def __repr__(self) -> str:
        """Print what is not as usual."""
        return shown(self)

    def server_state(self, server: Server) -> State:
        """Start the transform, once."""
        return self.transform.init(server.params)

    def merge(
        self, update: Vector, state: State, replies: Replies, server: Server
    ) -> tuple[Vector, State, State]:
        """Transform the mean update."""
        update, state = self.transform.update(
            update, state, Point(server.params, server.task.layout)
        )
        return update, state, replies.ledger
