"""SCAFFOLD: stochastic controlled averaging (Karimireddy et al., ICML 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..errors import unknown
from ..layout import Vector
from ..numerics.mean import weighted_sum
from ..part import Part, Replies, Server, State, Step, Trajectory, Visit, zeros

if TYPE_CHECKING:
    from ..task import Task

CORRECTIONS = ("gradient", "velocity")


@dataclass(frozen=True)
class Scaffold(Part):
    """Add to every step what all clients' gradients have and this client's lacks: ``c - c_k``.

    The server remembers ``c``, client k remembers ``c_k``, and ``c = sum_k p_k c_k`` over all N.
    """

    correction: str = "gradient"  # "gradient": before momentum; "velocity": after it

    def __post_init__(self) -> None:
        """Check the word."""
        if self.correction not in CORRECTIONS:
            raise unknown("correction", str(self.correction), CORRECTIONS)

    def server_state(self, server: Server) -> Vector:
        """Begin with ``c = 0``."""
        return zeros(server.task)

    def client_state(self, task: Task, capacity: int) -> Vector:
        """Begin with ``c_k = 0``."""
        return zeros(task)

    def brief(self, params: Vector, state: Vector, server: Server) -> tuple[Vector, Vector]:
        """Send ``c`` along."""
        return params, state

    def gradient(self, grad: Vector, step: Step) -> tuple[Vector, State]:
        """Correct the gradient: ``g - c_k + c``."""
        return (self._corrected(grad, step) if self.correction == "gradient" else grad), step.local

    def direction(self, direction: Vector, step: Step) -> Vector:
        """Correct what momentum made of the gradients."""
        return self._corrected(direction, step) if self.correction == "velocity" else direction

    def finish(
        self, update: Vector, trajectory: Trajectory, visit: Visit
    ) -> tuple[Vector, Vector, Vector]:
        """Remember ``c_k - c + (w_t - w_k) / (lr D_k)``; send what that changed in ``c_k``."""
        c, c_k, length = visit.note, visit.memory, self._length(trajectory, visit)
        walked = (trajectory.start - trajectory.end) / torch.where(length == 0, 1.0, length)
        fresh = torch.where(length == 0, c_k, c_k - c + walked)  # who took no step learnt nothing
        return update, fresh - c_k, fresh

    def merge(
        self, update: Vector, state: Vector, replies: Replies, server: Server
    ) -> tuple[Vector, Vector, State]:
        """Follow the clients: ``c + sum_S p_k (change of c_k)``, with shares of all N clients."""
        return update, state + weighted_sum(replies.note, replies.shares), replies.ledger

    def _corrected(self, vector: Vector, step: Step) -> Vector:
        c, c_k = step.visit.note, step.visit.memory
        corrected: Vector = vector - c_k + c
        return corrected

    def _length(self, trajectory: Trajectory, visit: Visit) -> Tensor:
        """Return ``lr D_k``: what a correction of one moves a weight in this visit."""
        straight: Tensor = visit.lr * trajectory.steps.sum()
        return trajectory.travel if self.correction == "gradient" else straight
