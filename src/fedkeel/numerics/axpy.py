"""A vector plus a multiple of another, in one pass over memory."""

from __future__ import annotations

import torch
from torch import Tensor


def plus(x: Tensor, a: float | Tensor, y: Tensor) -> Tensor:
    """Return ``x + a y``; ``a`` is a number, or a tensor of no dimension where a step is traced.

    >>> plus(torch.ones(2), 0.5, torch.ones(2))
    tensor([1.5000, 1.5000])
    """
    return torch.addcmul(x, a, y) if isinstance(a, Tensor) else torch.add(x, y, alpha=a)


def minus(x: Tensor, a: float | Tensor, y: Tensor) -> Tensor:
    """Return ``x - a y``."""
    return torch.addcmul(x, a, y, value=-1) if isinstance(a, Tensor) else torch.sub(x, y, alpha=a)
