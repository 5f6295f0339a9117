"""FedSAM: sharpness-aware minimisation at the clients (Qu et al., ICML 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

from ..errors import number
from ..layout import Vector
from ..part import Part, Step

_GUARD = 1e-12  # where the gradient is zero, nothing moves


@dataclass(frozen=True)
class FedSAM(Part):
    """Read the gradient uphill, where a sharp valley shows: at ``w + rho g / |g|``."""

    rho: float = 0.05  # how far uphill

    def __post_init__(self) -> None:
        """Check the range."""
        number("rho", self.rho, "a number >= 0", lambda rho: 0 <= rho < inf)

    def probe(self, params: Vector, step: Step) -> Vector:
        """Climb along the gradient of the batch."""
        slope = step.gradient_of(self._loss)
        length: Tensor = torch.linalg.vector_norm(slope)
        return params + self.rho * slope / (length + _GUARD)

    def _loss(self, step: Step) -> Tensor:
        return step.mean(step.visit.task.losses(step.output.logits, step.batch.y))

    def neutral(self) -> FedSAM:
        """Without the climb it is FedAvg."""
        return FedSAM(0.0)
