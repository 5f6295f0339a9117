"""One client after another: the reference, and the place for a debugger."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .. import trees
from ..part import State, Trajectory
from ..rounds import Progress, Upload
from .base import Answers, Errand, Workshop


@dataclass(frozen=True, eq=False)
class Sequential:
    """Run each visit by itself, every batch at its true size, nothing traced or compiled."""

    shop: Workshop

    def visits(self, errand: Errand) -> Answers:
        """Let every client of the cohort train, in order."""
        visited = [self._visit(errand, i) for i in range(len(errand.clients))]
        return trees.tree_map(lambda *leaves: torch.stack(leaves), *visited)  # type: ignore[no-any-return]

    def _visit(self, errand: Errand, i: int) -> Answers:
        method = self.shop.method
        visit = errand.visit(self.shop.task, i)
        now, trail = method.begin(visit), list[Tensor]()
        for t in range(len(errand.batches[i])):
            before, now = now, method.step(visit, now, self.shop.batch(errand, i, t))
            if method.part.digests:
                trail.append(before.params - now.params)
        upload, memory = self._finish(errand, i, now, trail)
        return Answers(upload.update, upload.buffers, upload.note, memory, now.loss, now.rows)

    def _finish(
        self, errand: Errand, i: int, now: Progress, trail: list[Tensor]
    ) -> tuple[Upload, State]:
        method, visit = self.shop.method, errand.visit(self.shop.task, i)
        steps = len(errand.batches[i])
        travel = visit.anchor.new_tensor(method.travel(steps, errand.lr))
        rows = torch.stack(trail) if trail else None
        gram = rows.double() @ rows.double().T if rows is not None else visit.anchor.new_zeros(0, 0)
        trajectory = Trajectory(
            visit.anchor, now.params, travel, visit.anchor.new_ones(steps), gram
        )
        return method.finish(visit, trajectory, rows, now.buffers)
