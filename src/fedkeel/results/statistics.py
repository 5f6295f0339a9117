"""The few statistics that a comparison over seeds needs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Paired(NamedTuple):
    """A paired t-test: the same seeds, once with and once without.

    Attributes:
        n: How many pairs.
        difference: The mean of the differences.
        std: Their standard deviation (n - 1).
        t: Student's t, or None when all differences are equal.
        p: The two-sided p-value, or None when all differences are equal.
        df: The degrees of freedom, n - 1.
    """

    n: int
    difference: float
    std: float
    t: float | None
    p: float | None
    df: int


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean.

    >>> mean([1.0, 2.0, 6.0])
    3.0
    """
    return math.fsum(values) / len(values)


def std(values: Sequence[float]) -> float | None:
    """Return the standard deviation with n - 1, or None for fewer than two values.

    >>> std([1.0, 3.0])
    1.4142135623730951
    """
    if len(values) < 2:
        return None
    center = mean(values)
    return math.sqrt(math.fsum((v - center) ** 2 for v in values) / (len(values) - 1))


def paired(values: Mapping[int, float], baseline: Mapping[int, float]) -> Paired | None:
    """Test whether two methods differ, over the seeds that both have.

    The numbers are those of ``scipy.stats.ttest_rel``. Where every difference is the same up to
    rounding there is no spread to measure against: t and p are then None. Fewer than two common
    seeds are no test at all.
    """
    seeds = sorted(values.keys() & baseline.keys())
    differences = [values[seed] - baseline[seed] for seed in seeds]
    spread = std(differences)
    if spread is None:
        return None
    n, center = len(seeds), mean(differences)
    size = max(abs(v) for seed in seeds for v in (values[seed], baseline[seed]))
    if spread <= 1e-12 * size:
        return Paired(n, center, 0.0, None, None, n - 1)
    t = center / (spread / math.sqrt(n))
    return Paired(n, center, spread, t, _two_sided(t, n - 1), n - 1)


def rounds_to_target(trace: Mapping[int, float], target: float) -> int | None:
    """Return the first round that reached the target, or None; the initial model never counts.

    >>> rounds_to_target({0: 0.9, 1: 0.2, 2: 0.5, 3: 0.4}, 0.5)
    2
    """
    return min((r for r, value in trace.items() if r > 0 and value >= target), default=None)


def _two_sided(t: float, df: int) -> float:
    from scipy.special import stdtr

    return float(2.0 * stdtr(df, -abs(t)))
