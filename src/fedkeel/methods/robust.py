"""Means that a few wild updates do not move far, in place of the cohort's weighted mean.

Median and trimmed mean: Yin et al., ICML 2018. Krum: Blanchard et al., NeurIPS 2017. Bounding the
norm: Sun et al., 2019.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..errors import InputError, number, require, unknown
from ..layout import Vector
from ..numerics.mean import Mean, weighted_mean, weighted_sum
from ..numerics.robust import crowding, cut_of, inner_mean, lengths, middle
from ..part import Part


@dataclass(frozen=True)
class Median(Part):
    """Take the median of the cohort's updates, weight by weight; every client counts the same."""

    @property
    def mean(self) -> Mean:
        """The median of every column; of an even cohort the mean of the two in the middle."""
        return self._median

    def _median(self, updates: Tensor, weights: Tensor) -> Vector:
        return middle(updates)


@dataclass(frozen=True)
class TrimmedMean(Part):
    """Average without the largest and the smallest, weight by weight; every client counts the same.

    ``floor(share K)`` are left out at each side.
    """

    share: float = 0.1  # left out at each side

    def __post_init__(self) -> None:
        """Check the range."""
        number("share", self.share, "a number in [0, 0.5)", lambda share: 0 <= share < 0.5)

    @property
    def mean(self) -> Mean:
        """The mean of every column's inner values."""
        return self._inner

    def _inner(self, updates: Tensor, weights: Tensor) -> Vector:
        return inner_mean(updates, cut_of(self.share, len(updates)))


@dataclass(frozen=True)
class Krum(Part):
    """Trust the update that lies closest to the others, as many as are surely honest.

    An update's score is the sum of its squared distances to its ``K - f - 2`` nearest.
    """

    f: int = 1  # clients that may send anything
    m: int = 1  # how many of the best are averaged, all alike

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name, count, least in (("f", self.f, 0), ("m", self.m, 1)):
            whole = isinstance(count, int) and not isinstance(count, bool)
            require(whole and count >= least, name, count, f"an integer >= {least}")

    @property
    def quorum(self) -> int:
        """With fewer than ``2f + 3`` the wild could outvote the honest; and there must be ``m``."""
        return max(2 * self.f + 3, self.m)

    @property
    def mean(self) -> Mean:
        """The mean of the ``m`` updates with the lowest scores; of equals the first."""
        return self._closest

    def _closest(self, updates: Tensor, weights: Tensor) -> Vector:
        if len(updates) < self.quorum:
            raise InputError(
                f"{self!r} needs the updates of at least {self.quorum} clients, but "
                f"{len(updates)} came back: raise the cohort, or lower f or m"
            )
        scores = crowding(updates, len(updates) - self.f - 2)
        best = scores.argsort(stable=True)[: self.m]
        return weighted_mean(updates[best], torch.ones_like(scores[best]))


@dataclass(frozen=True)
class NormBounded(Part):
    """Shorten every update that is longer than a bound, then average with the run's weights."""

    norm: str | float = "median"  # the bound: a length, or "median": the cohort's median length

    def __post_init__(self) -> None:
        """Check the range, or the word."""
        if isinstance(self.norm, str) and self.norm != "median":
            raise unknown("norm", self.norm, ("median", "a number > 0"))
        if self.norm != "median":
            number("norm", self.norm, '"median" or a number > 0', lambda norm: norm > 0)

    @property
    def mean(self) -> Mean:
        """The weighted mean of ``min(1, norm / |D_k|) D_k``."""
        return self._bounded

    def _bounded(self, updates: Tensor, weights: Tensor) -> Vector:
        length = lengths(updates)
        bound = middle(length[:, None]) if self.norm == "median" else length.new_tensor(self.norm)
        kept = torch.where(length > bound, bound / length, 1.0)
        p = weights.double() / weights.double().sum()
        return weighted_sum(updates, p * kept)

    def neutral(self) -> NormBounded:
        """Without a bound it is FedAvg."""
        return NormBounded(float("inf"))
