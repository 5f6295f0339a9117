"""FedVARP: variance reduction at the server (Jhunjhunwala et al., UAI 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..layout import Vector
from ..numerics.mean import weighted_sum
from ..part import Part, Replies, Server, zeros

if TYPE_CHECKING:
    from ..task import Task


@dataclass(frozen=True)
class FedVARP(Part):
    """Let absent clients speak with what they said last.

    The server remembers every client's last update ``y_k``, and ``y = sum_k p_k y_k`` over all N.
    """

    def server_state(self, server: Server) -> Vector:
        """Begin with ``y = 0``."""
        return zeros(server.task)

    def ledger_state(self, task: Task) -> Vector:
        """Begin with ``y_k = 0``."""
        return zeros(task)

    def merge(
        self, update: Vector, state: Vector, replies: Replies, server: Server
    ) -> tuple[Vector, Vector, Vector]:
        """Return ``v = y + mean_S (D_k - y_k)``; then move ``y``, and let ``y_k = D_k``."""
        y, y_k, d_k = state, replies.ledger, replies.updates
        v = update + y - weighted_sum(y_k, replies.weights)
        return v, y + weighted_sum(d_k - y_k, replies.shares), d_k
