"""FedDyn: dynamic regularisation (Acar et al., ICLR 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..errors import number, unknown
from ..layout import Vector
from ..numerics.mean import weighted_sum
from ..part import Part, Replies, Server, State, Step, Trajectory, Visit, zeros

if TYPE_CHECKING:
    from ..task import Task

SERVERS = ("paper", "released")


@dataclass(frozen=True)
class FedDyn(Part):
    """Tilt each client's loss until its minimum is the federation's.

    Client k lowers ``f_k(w) - <g_k, w> + alpha/2 |w - w_t|^2`` and remembers ``g_k``; the server
    remembers ``h = sum_k p_k g_k`` over all N, and subtracts ``h / alpha`` from the mean model.
    """

    alpha: float = 0.1  # strength of both terms; 0: there is neither, at either end
    server: str = "paper"  # "released": h takes sums over the cohort over K^2, whatever the weights

    def __post_init__(self) -> None:
        """Check range and word."""
        number("alpha", self.alpha, "a number >= 0", lambda alpha: 0 <= alpha < inf)
        if self.server not in SERVERS:
            raise unknown("server", str(self.server), SERVERS)

    def server_state(self, server: Server) -> Vector:
        """Begin with ``h = 0``."""
        return zeros(server.task)

    def client_state(self, task: Task, capacity: int) -> Vector:
        """Begin with ``g_k = 0``."""
        return zeros(task)

    def penalty(self, step: Step) -> Tensor:
        """Return ``alpha/2 |w - w_t|^2``, and ``<g_k, w>`` by its gradient alone.

        A linear term says nothing about how well the client does, so its value is left out of the
        loss that is reported.
        """
        w, w_t, g_k = step.params, step.visit.anchor, step.visit.memory
        tilt: Tensor = g_k @ (w - w.detach())
        return 0.5 * self.alpha * (w - w_t).square().sum() - tilt

    @property
    def pull(self) -> float:
        """The strength of the quadratic term."""
        return self.alpha

    def finish(
        self, update: Vector, trajectory: Trajectory, visit: Visit
    ) -> tuple[Vector, State, Vector]:
        """Remember ``g_k - alpha (w_k - w_t)``."""
        return update, (), visit.memory + self.alpha * update

    def merge(
        self, update: Vector, state: Vector, replies: Replies, server: Server
    ) -> tuple[Vector, Vector, State]:
        """Let ``h <- h - alpha sum_S p_k (w_k - w_t)`` and ``w <- mean_S w_k - h / alpha``."""
        if self.alpha == 0:
            return update, state, replies.ledger
        h = state + self.alpha * weighted_sum(replies.updates, self._weights(replies.shares))
        return update + h / self.alpha, h, replies.ledger

    def _weights(self, shares: Tensor) -> Tensor:
        """Return what a client's update counts in ``h``."""
        if self.server == "paper":
            return shares
        return torch.full_like(shares, 1 / len(shares) ** 2)

    def neutral(self) -> FedDyn:
        """Without its terms it is FedAvg."""
        return FedDyn(0.0, self.server)
