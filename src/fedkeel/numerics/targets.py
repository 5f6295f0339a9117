"""Targets of samples: one for each, or one for each step of a sequence but those left out."""

from __future__ import annotations

import torch
from torch import Tensor


def targets(labels: Tensor) -> Tensor:
    """Count the targets of every sample, ``(B,)``: one, but of a sequence those not left out."""
    if labels.is_floating_point() or labels.dim() == 1:
        return labels.new_ones(len(labels), dtype=torch.int64)
    return (labels >= 0).sum(1)


def over_targets(values: Tensor, labels: Tensor) -> Tensor:
    """Average a value of each target over the targets of its sample, ``(B,)``.

    >>> over_targets(torch.tensor([[1.0, 3.0, 9.0]]), torch.tensor([[0, 2, -100]])).tolist()
    [2.0]
    """
    if labels.dim() == 1:
        return values
    return (values * (labels >= 0)).sum(1) / targets(labels).clamp_min(1)
