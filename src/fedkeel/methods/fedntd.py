"""FedNTD: not-true distillation (Lee et al., NeurIPS 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

from ..errors import InputError, number
from ..numerics.targets import over_targets
from ..part import Part, Server, State, Step


@dataclass(frozen=True)
class FedNTD(Part):
    """Keep what the model that arrived knew of the wrong answers.

    ``f_k(w) + beta tau^2 KL(softmax(z_t / tau) || softmax(z / tau))``, without the true class.
    """

    beta: float = 1.0  # strength
    tau: float = 1.0  # temperature

    def __post_init__(self) -> None:
        """Check the ranges."""
        number("beta", self.beta, "a number >= 0", lambda beta: 0 <= beta < inf)
        number("tau", self.tau, "a number > 0", lambda tau: 0 < tau < inf)

    def server_state(self, server: Server) -> State:
        """Keep nothing; refuse a task without wrong answers."""
        if (server.task.classes or 0) < 2:
            raise InputError(
                "fedntd compares what is said of wrong classes: the task must have two classes or "
                "more (classes=N says how many)"
            )
        return ()

    def penalty(self, step: Step) -> Tensor:
        """Return the mean divergence from what the model said as it arrived."""
        y, said = step.batch.y, (step.output.logits, step.teacher.logits)
        true = torch.arange(said[0].shape[-1], device=y.device) == y[..., None]
        out = torch.finfo(said[0].dtype).min  # -inf would make 0 * inf of the divergence
        ours, theirs = ((z / self.tau).masked_fill(true, out).log_softmax(-1) for z in said)
        apart = (theirs.exp() * (theirs - ours)).sum(-1)
        return self.beta * self.tau**2 * step.mean(over_targets(apart, y))

    def neutral(self) -> FedNTD:
        """At strength zero it is FedAvg."""
        return FedNTD(0.0, self.tau)
