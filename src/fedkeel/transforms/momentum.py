"""Heavy-ball momentum."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from ..errors import flag, number
from ..layout import Vector
from ..part import Point, State
from .base import Transform


@dataclass(frozen=True, repr=False)
class Momentum(Transform):
    """Add to every gradient what is left of those before: ``u = beta u + g``."""

    beta: float = 0.9
    nesterov: bool = False

    def __post_init__(self) -> None:
        """Check the range."""
        number("beta", self.beta, "a number in [0, 1)", lambda beta: 0 <= beta < 1)
        flag("nesterov", self.nesterov)

    def init(self, params: Vector) -> State:
        """Start at rest."""
        return torch.zeros_like(params)

    def update(self, grad: Vector, state: State, point: Point) -> tuple[Vector, State]:
        """Move along ``u``, or look ahead along ``g + beta u``."""
        u = self.beta * state + grad
        return (grad + self.beta * u if self.nesterov else u), u
