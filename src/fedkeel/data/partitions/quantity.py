"""Quantity skew: clients differ in how much they hold, not in what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .base import Facts, Owners, enough
from .dealing import concentration, cut, shares


@dataclass(frozen=True)
class Quantity:
    """Shuffled samples are cut into sizes drawn from Dirichlet(quantity_alpha).

    Every client first gets one sample; the others are cut at int(cumsum(q) n).

    Attributes:
        quantity_alpha: Concentration; 0.5 is strong skew, 1000 nearly none.
    """

    quantity_alpha: float = 0.5
    name: ClassVar[str] = "quantity"
    default_clients: ClassVar[int | None] = 100

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        concentration("quantity_alpha", self.quantity_alpha)

    def owners(self, facts: Facts, clients: int | None, rng: np.random.Generator) -> Owners:
        """Draw sizes, and shuffle."""
        count = enough(self.name, clients, len(facts.labels))
        rest = len(facts.labels) - count
        sizes = 1 + cut(rest, shares(self.quantity_alpha, count, rng))
        return rng.permutation(np.repeat(np.arange(count), sizes))
