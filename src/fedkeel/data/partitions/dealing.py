"""What partitions by class share: ranges of their numbers, cuts by shares, and dealing out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import number, require
from .base import UNUSED, Owners

Labels = NDArray[np.integer[Any]]
Sizes = NDArray[np.int64]  # of each class what each client gets, (classes, clients)


def concentration(name: str, value: object) -> None:
    """Refuse what cannot be a Dirichlet distribution's concentration."""
    number(name, value, "a number from 1e-6 to 1e9", lambda alpha: 1e-6 <= alpha <= 1e9)


def whole(name: str, value: object, least: int) -> None:
    """Refuse what is not an integer, or is too small; true and false are none."""
    holds = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least
    require(bool(holds), name, value, f"an integer >= {least}")


def shares(alpha: float, clients: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw every client's share from a symmetric Dirichlet distribution."""
    share = rng.dirichlet(np.full(clients, alpha))
    return share if clients > 1 else np.ones(1)  # scaling to one rounds: a single share may be less


def cut(count: int, share: NDArray[np.float64]) -> Owners:
    """Cut a row of ``count`` at int(cumsum(share) count); the last takes what rounding left.

    >>> cut(10, np.array([0.25, 0.25, 0.5])).tolist()
    [2, 3, 5]
    """
    cuts = np.empty(len(share) + 1, dtype=np.int64)
    cuts[1:] = (np.cumsum(share) * count).astype(np.int64)
    cuts[0], cuts[-1] = 0, count
    return np.diff(cuts)


def by_class(labels: Labels, rng: np.random.Generator) -> Owners:
    """Return the samples' positions, class after class, each class shuffled."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order])) + 1
    return np.concatenate([rng.permutation(rows) for rows in np.split(order, starts)])


def seats(counts: Owners, sizes: Sizes) -> Owners:
    """Return who gets the first, second, ... sample of a row that holds class after class.

    Args:
        counts: How many samples of each class there are.
        sizes: How many of them each client gets; what they leave of a class is nobody's.

    >>> seats(np.array([3, 2]), np.array([[1, 1], [0, 2]])).tolist()
    [0, 1, -1, 1, 1]
    """
    who = np.append(np.arange(sizes.shape[1]), UNUSED)
    left = counts - sizes.sum(axis=1)
    rows = [np.repeat(who, np.append(row, rest)) for row, rest in zip(sizes, left, strict=True)]
    return np.concatenate(rows)


def deal(labels: Labels, sizes: Sizes, rng: np.random.Generator) -> Owners:
    """Shuffle each class and hand it out in the sizes given."""
    owner = np.empty(len(labels), dtype=np.int64)
    owner[by_class(labels, rng)] = seats(np.bincount(labels), sizes)
    return owner
