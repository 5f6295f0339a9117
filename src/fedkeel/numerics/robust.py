"""Statistics of a stack of vectors ``(K, D)`` that a few wild rows do not move far."""

from __future__ import annotations

from math import floor

import torch
from torch import Tensor

_BLOCK = 1 << 13  # columns at a time: what is made of them stays in the processor's cache


def inner_mean(rows: Tensor, cut: int) -> Tensor:
    """Average each column in float64, without its ``cut`` smallest and ``cut`` largest values.

    >>> inner_mean(torch.tensor([[1.0], [2.0], [4.0], [100.0]]), 1)
    tensor([3.])
    """
    kept = slice(cut, len(rows) - cut)
    blocks = (block.T.contiguous().sort(1).values for block in rows.split(_BLOCK, dim=1))
    return torch.cat([b[:, kept].mean(1, dtype=torch.float64).to(rows.dtype) for b in blocks])


def middle(rows: Tensor) -> Tensor:
    """Return the median of each column; of an even number the mean of the two in the middle.

    >>> middle(torch.tensor([[1.0, 7.0], [2.0, 9.0], [4.0, 8.0]]))
    tensor([2., 8.])
    """
    return inner_mean(rows, (len(rows) - 1) // 2)


def cut_of(share: float, count: int) -> int:
    """Return how many of ``count`` a share is, rounded down, but never so many that none is left.

    >>> cut_of(0.29, 100), cut_of(0.1, 9)
    (29, 0)
    """
    exact = round(share * count, 9)  # .29 * 100 falls short of 29
    return min(floor(exact), (count - 1) // 2)


def lengths(rows: Tensor) -> Tensor:
    """Return the length of every row, ``(K,)``, in float64."""
    norms: Tensor = torch.linalg.vector_norm(rows, dim=1, dtype=torch.float64)
    return norms


def crowding(rows: Tensor, neighbours: int) -> Tensor:
    """Add up each row's squared distances to its nearest others, ``(K,)``, in float64.

    >>> crowding(torch.tensor([[0.0], [1.0], [3.0]]), 1)
    tensor([1., 1., 4.], dtype=torch.float64)
    """
    squares = squared_distances(rows).fill_diagonal_(torch.inf)
    return squares.sort(1).values[:, :neighbours].sum(1)


def squared_distances(rows: Tensor) -> Tensor:
    """Return the squared distance of every two rows, ``(K, K)``, in float64.

    By differences, not by products: equal rows are at distance 0, and close ones lose no digits.
    """
    total = rows.new_zeros(len(rows), len(rows), dtype=torch.float64)
    for block in rows.split(_BLOCK, dim=1):
        exact = block.double()
        total += torch.stack([(exact - row).square().sum(1) for row in exact])
    return total
