"""Steps divided by the size that gradients have had: Adam, Yogi, Adagrad, as FedOpt has them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import torch

from ..errors import flag, number, unknown
from ..layout import Vector
from ..part import Point, State
from .base import Transform

RULES = ("adam", "yogi", "adagrad")


@dataclass(frozen=True, repr=False)
class Adaptive(Transform):
    """Divide a running mean of gradients by the root of a running square (Reddi et al., 2021).

    ``tau`` stands where Adam has its epsilon; ``v`` starts at ``tau ** 2`` and nothing is corrected
    for its bias, unless ``bias_correction`` asks for Adam as Kingma and Ba have it.
    """

    rule: str = "adam"
    lr: float = 0.1
    b1: float = 0.9
    b2: float = 0.99
    tau: float = 1e-3
    bias_correction: bool = False

    def __post_init__(self) -> None:
        """Check the ranges."""
        if self.rule not in RULES:
            raise unknown("rule", str(self.rule), RULES)
        for name, value in (("lr", self.lr), ("tau", self.tau)):
            number(name, value, "a number > 0", lambda x: 0 < x < inf)
        for name, value in (("b1", self.b1), ("b2", self.b2)):
            number(name, value, "a number in [0, 1)", lambda b: 0 <= b < 1)
        flag("bias_correction", self.bias_correction)

    def init(self, params: Vector) -> State:
        """Return mean, square and count."""
        start = 0.0 if self.bias_correction else self.tau**2
        return torch.zeros_like(params), torch.full_like(params, start), params.new_zeros(())

    def update(self, grad: Vector, state: State, point: Point) -> tuple[Vector, State]:
        """Return ``lr m / (sqrt(v) + tau)``."""
        m, v, t = state
        m = self.b1 * m + (1 - self.b1) * grad
        v, t = self._square(v, grad * grad), t + 1
        mean, square = (
            (m / (1 - self.b1**t), v / (1 - self.b2**t)) if self.bias_correction else (m, v)
        )
        return self.lr * mean / (square.sqrt() + self.tau), (m, v, t)

    def _square(self, v: Vector, fresh: Vector) -> Vector:
        if self.rule == "adam":
            return self.b2 * v + (1 - self.b2) * fresh
        if self.rule == "yogi":
            return v - (1 - self.b2) * fresh * (v - fresh).sign()
        return v + fresh
