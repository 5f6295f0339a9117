"""FedLC: logits calibration (Zhang et al., ICML 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

from ..errors import InputError, number
from ..part import Part, Server, State, Step, Visit

_OUT = 1e9  # for a class that is absent; infinite, it would make NaN of a row that does not count


@dataclass(frozen=True)
class FedLC(Part):
    """Ask more of the labels that a client seldom sees: cross-entropy of ``z_c - tau n_c^(-1/4)``.

    ``n_c`` counts the client's labels. A class that it does not hold is left out.
    """

    tau: float = 0.1  # strength

    def __post_init__(self) -> None:
        """Check the range."""
        number("tau", self.tau, "a number >= 0", lambda tau: 0 <= tau < inf)

    def server_state(self, server: Server) -> State:
        """Keep nothing; refuse a task without classes."""
        if server.task.classes is None:
            raise InputError(
                "fedlc counts labels: the task must have classes (classes=N says how many)"
            )
        return ()

    def begin(self, visit: Visit) -> Tensor:
        """Return the margin of each class, ``(classes,)``."""
        counts = visit.label_counts
        margin: Tensor = self.tau * counts.clamp_min(1).pow(-0.25)
        absent = _OUT * margin.sign()  # at tau = 0 none is left out
        return torch.where(counts > 0, margin, absent)

    def logits(self, logits: Tensor, step: Step) -> Tensor:
        """Subtract the margins."""
        margin: Tensor = step.local
        return logits - margin

    def neutral(self) -> FedLC:
        """At strength zero it is FedAvg."""
        return FedLC(0.0)
