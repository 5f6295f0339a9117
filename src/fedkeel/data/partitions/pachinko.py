"""Label skew over two levels of classes: Pachinko allocation, as in the federated CIFAR-100."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from .base import Facts, Owners, classes_of, enough
from .dealing import Sizes, concentration, deal

Logs = NDArray[np.float64]


@dataclass(frozen=True)
class Pachinko:
    """A client prefers some coarse classes and, within each of them, some of its classes.

    Client after client draws floor(samples / clients) samples, each one by drawing a coarse class,
    a class of it and a sample that nobody has. A class without samples left is taken out and the
    chances of the others are scaled to one, within its coarse class; a coarse class without classes
    left likewise. What is left at the end is nobody's. (Li and McCallum, 2006; Reddi et al., 2021.)

    Attributes:
        alpha_coarse: Concentration of a client's chances of coarse classes.
        alpha_fine: Concentration of its chances of the classes of a coarse class.
    """

    alpha_coarse: float = 0.1
    alpha_fine: float = 10.0
    name: ClassVar[str] = "pachinko"
    default_clients: ClassVar[int | None] = 100

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        concentration("alpha_coarse", self.alpha_coarse)
        concentration("alpha_fine", self.alpha_fine)

    def owners(self, facts: Facts, clients: int | None, rng: np.random.Generator) -> Owners:
        """Draw every client's classes, then deal the shuffled classes out."""
        labels = classes_of(self.name, facts)
        count = enough(self.name, clients, len(labels))
        stock = np.bincount(labels)
        if len(facts.parents) < len(stock):
            raise InputError(
                "partition 'pachinko' needs classes with coarse classes: "
                "use name=cifar100 with labels=fine, or another partition"
            )
        parents = np.array(facts.parents[: len(stock)])
        return deal(labels, self.sizes(stock, parents, count, rng), rng)

    def sizes(
        self, stock: Owners, parents: Owners, clients: int, rng: np.random.Generator
    ) -> Sizes:
        """Draw how many samples of each class each client gets, ``(classes, clients)``.

        Args:
            stock: Samples of each class.
            parents: The coarse class of each class.
            clients: How many clients.
            rng: Where the draws come from.
        """
        sizes = np.zeros((len(stock), clients), dtype=np.int64)
        left, each = stock.copy(), int(stock.sum()) // clients
        for mine in sizes.T:
            coarse = log_gammas(self.alpha_coarse, int(parents.max()) + 1, rng)
            fine = log_gammas(self.alpha_fine, len(stock), rng)
            while need := each - int(mine.sum()):
                taken = _run(left, chances(left, parents, coarse, fine), need, rng)
                mine += taken
                left -= taken
        return sizes


def log_gammas(alpha: float, size: int, rng: np.random.Generator) -> Logs:
    """Draw logarithms of gamma variables: Dirichlet shares before they are scaled to one.

    Gamma(a) is Gamma(a + 1) U^(1/a). As logarithms, the shares of small classes do not underflow,
    so that those of any subset can be scaled to one again.
    """
    return np.log(rng.standard_gamma(alpha + 1, size)) + np.log1p(-rng.random(size)) / alpha


def chances(left: Owners, parents: Owners, coarse: Logs, fine: Logs) -> NDArray[np.float64]:
    """Return the relative chance of each class to be drawn next; 0 where nothing is left.

    Args:
        left: Samples left of each class.
        parents: The coarse class of each class.
        coarse: Log weights of the coarse classes.
        fine: Log weights of the classes.
    """
    live = np.flatnonzero(left)
    parent, fine = parents[live], fine[live]
    top = np.full(len(coarse), -np.inf)
    np.maximum.at(top, parent, fine)
    inner = np.exp(fine - top[parent])
    outer = np.exp(coarse[parent] - coarse[parent].max())
    chance = np.zeros(len(left))
    chance[live] = outer * inner / np.bincount(parent, inner)[parent]
    return chance


def _run(left: Owners, chance: NDArray[np.float64], need: int, rng: np.random.Generator) -> Owners:
    """Draw classes with fixed chances until a class runs out or there are enough; count them.

    Until then the draws are independent, so that one call gives what one-by-one draws would; and
    since a class runs out once, there are no more calls than clients and classes together.
    """
    bounds = np.cumsum(chance)
    drawn = np.searchsorted(bounds, rng.random(need) * bounds[-1], side="right")
    counts = np.bincount(drawn, minlength=len(left))
    out = np.flatnonzero((counts > 0) & (counts >= left))
    last = min((int(np.flatnonzero(drawn == c)[left[c] - 1]) for c in out), default=need)
    return np.bincount(drawn[: last + 1], minlength=len(left))
