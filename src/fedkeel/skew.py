"""How different clients are: numbers for each client, all from how often it has which label.

``counts`` are ``(clients, classes)``. c is a client's row of it and p = c / sum(c); q is the same
for the whole training set; C is the number of all classes, whether a client has them or not. A
client that holds nothing has no p: where a number needs one it is NaN, and no mean counts it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .numerics.random import generator

PAIRWISE_LIMIT = 2000
KL_SMOOTHING = 1e-10

Counts = NDArray[np.int64]
Reals = NDArray[np.float64]


class Measure(NamedTuple):
    """What a number of a client is called, and what it is, in a line."""

    title: str
    meaning: str


MEASURES = {
    "entropy": Measure("entropy of labels", "Σ p log(1/p) / log C: 0 one label, 1 all alike"),
    "distinct": Measure("distinct labels", "how many of the C labels a client has"),
    "gini": Measure("Gini of labels", "Σ |c_i - c_j| / (2 C Σ c): 0 all alike, 1 - 1/C one label"),
    "kl": Measure("KL to the whole", "Σ p log(p/q) in nats, 1e-10 added to p and q: 0 alike"),
    "dominant": Measure("largest label", "max p: how much of a client is its commonest label"),
    "pairwise": Measure("distance of two", "Σ |p - p'| / 2 of two clients: 0 alike, 1 disjoint"),
    "noisy": Measure("noisy samples", "how much of a client was made wrong on purpose"),
}
"""The measures in the order in which they are shown."""


class Spread(NamedTuple):
    """How numbers lie: their mean and median, the least and the most of them."""

    mean: float
    median: float
    least: float
    most: float


def shares(counts: Counts) -> Reals:
    """Return each client's label distribution p, ``(clients, classes)``."""
    return _over(counts, counts.sum(axis=1, keepdims=True))


def entropy(counts: Counts) -> Reals:
    """Return the entropy of each client's labels over log(C): 0 for one class, 1 for all alike."""
    p = shares(counts)
    nats: Reals = np.abs((p * np.log(np.where(p > 0, p, 1.0))).sum(axis=1))
    return nats / math.log(max(counts.shape[1], 2))  # of a single class the entropy is 0


def distinct(counts: Counts) -> Counts:
    """Return how many classes each client has at all."""
    present: Counts = (counts > 0).sum(axis=1)
    return present


def gini(counts: Counts) -> Reals:
    """Return sum_ij |c_i - c_j| / (2 C sum(c)): 0 for all classes alike, 1 - 1/C for one class.

    Sorted ascending, the i-th of C counts (from 0) enters that sum 2 (2i - C + 1) times.
    """
    classes = counts.shape[1]
    rank = 2 * np.arange(classes) - classes + 1
    return _over(np.sort(counts, axis=1) @ rank, classes * counts.sum(axis=1))


def dominant(counts: Counts) -> Reals:
    """Return the share of each client's largest class."""
    largest: Reals = shares(counts).max(axis=1)
    return largest


def kl(counts: Counts, whole: Counts) -> Reals:
    """Return KL(p || q) in nats, q the labels of the whole training set.

    Both get 1e-10 added to every class and are normalised again, so that nothing is infinite.

    Args:
        counts: Of the clients.
        whole: Of the whole training set, ``(classes,)``.
    """
    p, q = _smooth(shares(counts)), _smooth(shares(whole[None]))
    nats: Reals = (p * np.log(p / q)).sum(axis=1)
    return np.maximum(nats, 0.0)  # rounding can fall below


def pairwise(counts: Counts) -> Reals:
    """Return the total variation sum_c |p_c - p'_c| / 2 of every pair of clients that hold samples.

    Of more than ``PAIRWISE_LIMIT`` (2,000) such clients that many are taken, always the same ones.
    """
    from scipy.spatial.distance import pdist

    counts = counts[counts.sum(axis=1) > 0]
    if len(counts) > PAIRWISE_LIMIT:
        rng = generator(0, "owners", len(counts))
        counts = counts[np.sort(rng.choice(len(counts), PAIRWISE_LIMIT, replace=False))]
    if len(counts) < 2:
        return np.zeros(0)
    distances: Reals = pdist(shares(counts), "cityblock") / 2
    return np.minimum(distances, 1.0)  # rounding can rise above


def noisy(owner: Counts, clean: NDArray[np.bool_], clients: int) -> Counts:
    """Return how many samples of each client are not as they came, ``(clients,)``.

    Args:
        owner: Who holds each sample; below 0: no client.
        clean: Whether each sample is as it came.
        clients: How many clients there are.
    """
    return np.bincount(owner[(owner >= 0) & ~clean], minlength=clients)


def spread(values: NDArray[Any]) -> Spread | None:
    """Return how numbers lie; None where there are none."""
    if not len(values):
        return None
    found = values.mean(), np.median(values), values.min(), values.max()
    return Spread(*map(float, found))


def summary(counts: Counts, whole: Counts) -> dict[str, Any]:
    """Return all measures as plain numbers, ready for JSON.

    Args:
        counts: How often each client has which label, ``(clients, classes)``.
        whole: How often the whole training set has it, ``(classes,)``.

    Returns:
        ``metrics``, the means over the clients that hold samples, and the mean, least and largest
        distance of two; and ``per_client``, lists over all clients. What is not defined is None.
    """
    held = counts.sum(axis=1) > 0
    values: dict[str, NDArray[Any]] = {
        "entropy": entropy(counts),
        "distinct": distinct(counts),
        "gini": gini(counts),
        "kl": kl(counts, whole),
        "dominant": dominant(counts),
    }
    far = spread(pairwise(counts))
    distances = (far.mean, far.least, far.most) if far else (None, None, None)
    means = {name: float(v[held].mean()) if held.any() else None for name, v in values.items()}
    return {
        "metrics": {
            **means,
            "pairwise": dict(zip(("mean", "min", "max"), distances, strict=True)),
        },
        "per_client": {
            "size": counts.sum(axis=1).tolist(),
            **{name: _with_gaps(value, held) for name, value in values.items()},
        },
    }


def _over(amounts: NDArray[Any], totals: NDArray[Any]) -> Reals:
    """Divide, and give NaN where a total is zero."""
    nothing = np.full(np.broadcast_shapes(amounts.shape, totals.shape), np.nan)
    divided: Reals = np.divide(amounts, totals, out=nothing, where=totals > 0)
    return divided


def _smooth(p: Reals) -> Reals:
    smooth: Reals = (p + KL_SMOOTHING) / (1 + KL_SMOOTHING * p.shape[1])
    return smooth


def _with_gaps(values: NDArray[Any], held: NDArray[np.bool_]) -> list[Any]:
    """Return a list over all clients with None for those without samples."""
    return [value if some else None for value, some in zip(values.tolist(), held, strict=True)]
