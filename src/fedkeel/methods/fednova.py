"""FedNova: normalised averaging (Wang et al., NeurIPS 2020)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..errors import unknown
from ..layout import Vector
from ..part import Part, Replies, Server, State, Trajectory, Visit

STEPS = ("momentum", "count")


@dataclass(frozen=True)
class FedNova(Part):
    """Let a client that takes more steps not count for more: average what was moved a step.

    ``d_k = (w_t - w_k) / a_k`` and ``w <- w - tau_eff sum_S p_k d_k``, with
    ``tau_eff = sum_S p_k a_k``.
    """

    steps: str = "momentum"  # a_k: "momentum": what momentum and pulls make of them; "count": tau_k

    def __post_init__(self) -> None:
        """Check the word."""
        if self.steps not in STEPS:
            raise unknown("steps", str(self.steps), STEPS)

    def finish(
        self, update: Vector, trajectory: Trajectory, visit: Visit
    ) -> tuple[Vector, Tensor, State]:
        """Send ``d_k``, and ``a_k`` as the note."""
        counted = self.steps == "count"
        a_k = trajectory.steps.sum() if counted else trajectory.travel / visit.lr
        return update / torch.where(a_k == 0, 1.0, a_k), a_k, visit.memory

    def merge(
        self, update: Vector, state: State, replies: Replies, server: Server
    ) -> tuple[Vector, State, State]:
        """Take ``tau_eff`` steps along the mean of the ``d_k`` of those who took a step."""
        p, a = replies.weights, replies.note
        walked = p @ (a != 0).to(p)  # 1, less the weight of those who took none: their d_k is 0
        walked = torch.where(walked == 0, 1.0, walked)
        tau_eff = p @ a / walked
        return tau_eff * update / walked, state, replies.ledger
