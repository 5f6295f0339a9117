"""FedProx: stay near the model that arrived (Li et al., MLSys 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from torch import Tensor

from ..errors import number
from ..part import Part, Step


@dataclass(frozen=True)
class FedProx(Part):
    """Pull every local model back to the one that arrived: ``f_k(w) + mu/2 |w - w_t|^2``."""

    mu: float = 0.1  # strength of the pull

    def __post_init__(self) -> None:
        """Check the range."""
        number("mu", self.mu, "a number >= 0", lambda mu: 0 <= mu < inf)

    def penalty(self, step: Step) -> Tensor:
        """Return half the squared distance to the anchor, times mu."""
        return 0.5 * self.mu * (step.params - step.visit.anchor).square().sum()

    @property
    def pull(self) -> float:
        """The spring's strength."""
        return self.mu

    def neutral(self) -> FedProx:
        """Without a spring it is FedAvg."""
        return FedProx(0.0)
