"""Label skew by a Dirichlet distribution, as in the ECGR experiments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, flag
from .base import Facts, Owners, classes_of, enough
from .dealing import Sizes, by_class, concentration, seats, shares, whole


@dataclass(frozen=True)
class DirichletECGR:
    """Each class is dealt in Dirichlet shares rounded down; the rich then fill up the poor.

    Of class c, client k gets floor(q_k n_c). Then each client with fewer than ``fill`` samples, in
    order, takes the first of whoever holds most at that moment, class by class and never below
    ``fill``. So a client that drew little holds one class or two.

    Attributes:
        alpha: Concentration; 0.1 is strong skew, 1000 nearly none.
        fill: Samples that every client ends with at least; 0: nobody is filled up.
        drop_remainder: Whether what rounding down left is nobody's; else it goes, one sample each,
            to the clients that lost the largest fractions of that class.
    """

    alpha: float = 0.1
    fill: int = 256
    drop_remainder: bool = True
    name: ClassVar[str] = "dirichlet_ecgr"
    default_clients: ClassVar[int | None] = 100

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        concentration("alpha", self.alpha)
        whole("fill", self.fill, 0)
        flag("drop_remainder", self.drop_remainder)

    def owners(self, facts: Facts, clients: int | None, rng: np.random.Generator) -> Owners:
        """Draw sizes, deal the shuffled classes out, and fill up."""
        labels = classes_of(self.name, facts)
        count = enough(self.name, clients, len(labels))
        self._suffices(count, len(labels), "there are")
        counts = np.bincount(labels)
        sizes = self._sizes(counts, count, rng)
        self._suffices(count, int(sizes.sum()), "drop_remainder leaves")
        owner = np.empty(len(labels), dtype=np.int64)
        owner[by_class(labels, rng)] = filled(seats(counts, sizes), sizes.sum(axis=0), self.fill)
        return owner

    def _sizes(self, counts: Owners, clients: int, rng: np.random.Generator) -> Sizes:
        exact = np.stack([shares(self.alpha, clients, rng) * count for count in counts])
        if self.drop_remainder:
            return exact.astype(np.int64)
        return np.stack([apportioned(*row) for row in zip(exact, counts, strict=True)])

    def _suffices(self, clients: int, samples: int, what: str) -> None:
        if clients * self.fill > samples:
            raise InputError(
                f"clients={clients} of fill={self.fill} need {clients * self.fill} samples and "
                f"{what} {samples}: take fewer clients or a smaller fill (0: none)"
            )


def apportioned(exact: NDArray[np.float64], total: int) -> Owners:
    """Round parts of a total down, then the largest remainders up; of equals the first.

    >>> apportioned(np.array([1.5, 0.7, 0.8]), 3).tolist()
    [1, 1, 1]
    """
    sizes = exact.astype(np.int64)
    largest = np.argsort(sizes - exact, kind="stable")
    sizes[largest[: total - sizes.sum()]] += 1
    return sizes


def filled(seat: Owners, sizes: Owners, fill: int) -> Owners:
    """Let each client below ``fill`` take the first seats of whoever holds most then.

    Each move fills up a client or brings a giver down to ``fill``: two moves a client at most.

    Args:
        seat: Who holds the first, second, ... sample.
        sizes: How many each client holds.
        fill: How many each is to hold; the clients must hold that many together.

    >>> filled(np.array([0, 0, 0, 0, 1, 2]), np.array([4, 1, 1]), 2).tolist()
    [1, 2, 0, 0, 1, 2]
    """
    seat, sizes = seat.copy(), sizes.copy()
    for taker in np.flatnonzero(sizes < fill):
        while (need := fill - sizes[taker]) > 0:
            giver = int(sizes.argmax())
            moved = np.flatnonzero(seat == giver)[: min(need, sizes[giver] - fill)]
            seat[moved] = taker
            sizes[giver] -= len(moved)
            sizes[taker] += len(moved)
    return seat
