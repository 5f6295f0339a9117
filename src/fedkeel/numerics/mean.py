"""Means over a stack of vectors."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Mean = Callable[[Tensor, Tensor], Tensor]  # rows (K, D) and weights (K,) to (D,)

_BLOCK = 1 << 18  # columns at a time, so that the copy in float64 stays small


def weighted_mean(rows: Tensor, weights: Tensor) -> Tensor:
    """Average rows in float64, in order.

    >>> weighted_mean(torch.tensor([[1.0, 2.0], [3.0, 6.0]]), torch.tensor([0.5, 0.5]))
    tensor([2., 4.])
    """
    exact = weights.double()
    return weighted_sum(rows, exact / exact.sum())


def weighted_sum(rows: Tensor, weights: Tensor) -> Tensor:
    """Add rows up in float64, in order, each as often as its weight says.

    >>> weighted_sum(torch.tensor([[1.0, 2.0], [3.0, 6.0]]), torch.tensor([0.5, 1.0]))
    tensor([3.5000, 7.0000])
    """
    exact = weights.double()
    starts = range(0, rows.shape[1], _BLOCK)
    blocks = [(exact @ rows[:, i : i + _BLOCK].double()).to(rows.dtype) for i in starts]
    return torch.cat(blocks)
