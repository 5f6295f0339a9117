"""FedDecorr: decorrelation against dimensional collapse (Shi et al., ICLR 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

from ..errors import number, unknown
from ..part import Part, Step

SCALES = ("released", "paper")
_EPS = 1e-8  # added to every variance


@dataclass(frozen=True)
class FedDecorr(Part):
    """Keep the features from collapsing into one another: penalise their correlations in a batch.

    With ``Z`` the ``n`` rows of features, each dimension centred and of variance one::

        "released"   f_k(w) + beta / n  mean_{i != j} (Z^T Z)_ij^2
        "paper"      f_k(w) + beta      mean_{i != j} (Z^T Z / (n - 1))_ij^2
    """

    beta: float = 0.1  # strength
    scale: str = "released"  # "released", which is about n times the other, or "paper"

    def __post_init__(self) -> None:
        """Check range and word."""
        number("beta", self.beta, "a number >= 0", lambda beta: 0 <= beta < inf)
        if self.scale not in SCALES:
            raise unknown("scale", str(self.scale), SCALES)

    def penalty(self, step: Step) -> Tensor:
        """Return the mean squared entry off the diagonal of ``Z^T Z``, scaled."""
        rows, counted = _rows(step)
        n = counted.sum()
        z = _standardised(rows, counted, n)
        products = z.mT @ z
        width = len(products)
        squares = (products - torch.diag(products.diagonal())).square()
        mean = squares.sum() / max(width * (width - 1), 1)
        divisor = n if self.scale == "released" else (n - 1).square()
        return self.beta * mean / divisor.clamp_min(1)  # of one row, z is zero

    def neutral(self) -> FedDecorr:
        """At strength zero it is FedAvg."""
        return FedDecorr(0.0, self.scale)


def _rows(step: Step) -> tuple[Tensor, Tensor]:
    """Return the features as rows, ``(n, q)``, and which of them count, ``(n,)``.

    A row is a sample; of a sequence, each step that has a target. Padding does not count.
    """
    features, y, counted = step.output.features, step.batch.y, step.batch.weight > 0
    labels = y.dim() == 2 and not y.is_floating_point()
    if labels and features.shape[:-1] == y.shape:
        return features.flatten(0, 1), (counted[:, None] & (y >= 0)).flatten()
    return features.flatten(1), counted


def _standardised(rows: Tensor, counted: Tensor, n: Tensor) -> Tensor:
    """Give each column mean zero and (unbiased) variance one; what does not count is zero."""
    keep = counted[:, None]
    mean = torch.where(keep, rows, 0.0).sum(0) / n.clamp_min(1)
    z = torch.where(keep, rows - mean, 0.0)
    return z / (z.square().sum(0) / (n - 1).clamp_min(1) + _EPS).sqrt()
