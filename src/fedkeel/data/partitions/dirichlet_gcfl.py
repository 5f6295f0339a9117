"""Label skew by a Dirichlet distribution, as in the GCFL experiments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .base import Facts, Owners, classes_of, enough
from .dealing import concentration, deal, shares


@dataclass(frozen=True)
class DirichletGCFL:
    """Every sample of a class falls to a client by itself, with chances from Dirichlet(alpha).

    So the sizes of a class are multinomial. There is no least size: a client may be empty.

    Attributes:
        alpha: Concentration; 0.1 is strong skew, 1000 nearly none.
    """

    alpha: float = 0.1
    name: ClassVar[str] = "dirichlet_gcfl"
    default_clients: ClassVar[int | None] = 100

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        concentration("alpha", self.alpha)

    def owners(self, facts: Facts, clients: int | None, rng: np.random.Generator) -> Owners:
        """Draw each class's chances and sizes, then deal the shuffled class out."""
        labels = classes_of(self.name, facts)
        count = enough(self.name, clients, len(labels))
        rows = [rng.multinomial(n, shares(self.alpha, count, rng)) for n in np.bincount(labels)]
        return deal(labels, np.stack(rows), rng)
