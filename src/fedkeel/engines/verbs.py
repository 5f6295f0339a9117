"""The verbs of one client as functions of what is shared and what is its own."""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor

from .. import trees
from ..layout import Vector
from ..numbers import renumbered
from ..part import Batch, State, Trajectory, Visit
from ..rounds import Algorithm, Progress, Upload
from ..task import Buffers, Task


class Shared(NamedTuple):
    """What is the same for every client of a round."""

    numbers: tuple[Any, ...]  # of the method, so that none is baked into a graph
    round: Tensor
    lr: Tensor
    anchor: Vector
    note: State


class Mine(NamedTuple):
    """What each client has for itself."""

    buffers: Buffers
    label_counts: Tensor
    coreset: Tensor
    memory: State


class Walked(NamedTuple):
    """How a visit went."""

    params: Vector
    buffers: Buffers
    steps: Tensor  # (T,)
    travel: Tensor  # ()
    gram: Tensor  # (T, T), or (0, 0)
    trail: tuple[Tensor, ...]  # one (T, D), or none


class Verbs(NamedTuple):
    """Begin, walk, finish."""

    method: Algorithm
    task: Task

    def begin(self, shared: Shared, mine: Mine) -> Progress:
        """Hand the model over."""
        return self._method(shared).begin(self._visit(shared, mine))

    def walk(self, shared: Shared, mine: Mine, now: Progress, batches: Batch) -> Progress:
        """Take local steps, one on each of ``(U, B, ...)`` batches."""
        method, visit = self._method(shared), self._visit(shared, mine)
        for u in range(len(batches.weight)):
            now = method.step(visit, now, trees.tree_map(lambda t, u=u: t[u], batches))
        return now

    def visit(
        self, shared: Shared, mine: Mine, batches: Batch, steps: Tensor, travel: Tensor
    ) -> tuple[Upload, State, Tensor, Tensor]:
        """Begin, walk and finish in one."""
        now = self.walk(shared, mine, self.begin(shared, mine), batches)
        walked = Walked(now.params, now.buffers, steps, travel, travel.new_zeros(0, 0), ())
        return *self.finish(shared, mine, walked), now.loss, now.rows

    def finish(self, shared: Shared, mine: Mine, walked: Walked) -> tuple[Upload, State]:
        """Return what is sent back and what is kept."""
        trajectory = Trajectory(
            shared.anchor, walked.params, walked.travel, walked.steps, walked.gram
        )
        trail = walked.trail[0] if walked.trail else None
        visit = self._visit(shared, mine)
        return self._method(shared).finish(visit, trajectory, trail, walked.buffers)

    def _method(self, shared: Shared) -> Algorithm:
        method: Algorithm = renumbered(self.method, shared.numbers)
        return method

    def _visit(self, shared: Shared, mine: Mine) -> Visit:
        return Visit(
            self.task,
            shared.round,
            shared.lr,
            shared.anchor,
            mine.buffers,
            mine.label_counts,
            mine.coreset,
            shared.note,
            mine.memory,
        )
