"""FedSOL: stabilised orthogonal learning (Lee et al., CVPR 2024)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import torch
import torch.nn.functional as F
from torch import Tensor

from ..errors import InputError, number, unknown
from ..layout import Vector
from ..numerics.targets import over_targets
from ..part import Part, Server, State, Step

PERTURBATIONS = ("adaptive", "plain")
_GUARD = 1e-12
_NOISE = 1e-8  # a slope shorter than this has no direction


@dataclass(frozen=True)
class FedSOL(Part):
    """Read the gradient where the model would contradict the one that arrived.

    With ``g`` the gradient of ``KL(softmax(z_t / tau) || softmax(z / tau))``, that is at::

        "adaptive"   w + rho s * g / |g|    s: |w - w_t|, scaled to length 1 along dim 0 of a tensor
        "plain"      w + rho g / |g|
    """

    rho: float = 1.0  # how far
    tau: float = 3.0  # temperature
    perturbation: str = "adaptive"  # "adaptive": most where the weights have moved; or "plain"

    def __post_init__(self) -> None:
        """Check ranges and word."""
        number("rho", self.rho, "a number >= 0", lambda rho: 0 <= rho < inf)
        number("tau", self.tau, "a number > 0", lambda tau: 0 < tau < inf)
        if self.perturbation not in PERTURBATIONS:
            raise unknown("perturbation", str(self.perturbation), PERTURBATIONS)

    def server_state(self, server: Server) -> State:
        """Keep nothing; refuse a task without classes."""
        if server.task.classes is None:
            raise InputError(
                "fedsol compares what is said of classes: the task must have some (classes=N says "
                "how many)"
            )
        return ()

    def probe(self, params: Vector, step: Step) -> Vector:
        """Climb away from what the model said as it arrived; the first step stays."""
        slope = step.gradient_of(self._divergence)
        length: Tensor = torch.linalg.vector_norm(slope)
        walked = (params - step.visit.anchor).abs()
        if self.perturbation == "adaptive":
            layout = step.point.layout
            reach = layout.map(lambda _, t: F.normalize(t, dim=0), walked, layout.names)
            return params + self.rho * reach * slope / (length + _GUARD)
        # Where the model arrived g is nothing but rounding: rescaled, it would be a random step.
        climbs = (length > _NOISE) & (walked > 0).any()
        return params + slope * torch.where(climbs, self.rho / length, 0.0)

    def _divergence(self, step: Step) -> Tensor:
        said = (step.output.logits, step.teacher.logits)
        ours, theirs = ((z / self.tau).log_softmax(-1) for z in said)
        apart = (theirs.exp() * (theirs - ours)).sum(-1)
        return step.mean(over_targets(apart, step.batch.y))

    def neutral(self) -> FedSOL:
        """Without the climb it is FedAvg."""
        return FedSOL(0.0, self.tau, self.perturbation)
