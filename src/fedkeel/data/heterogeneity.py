"""How different the clients are: numbers for each client, and their means.

All of them look at the class counts ``c`` of a client, ``(classes,)``, or at its label
distribution ``p = c / sum(c)``; a client without samples has none of them. C is the number of all
classes, whether the client has them or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..numerics.random import generator
from .federation import Federation

PAIRWISE_LIMIT = 2000
KL_SMOOTHING = 1e-10

Counts = NDArray[np.int64]
Reals = NDArray[np.float64]


def shares(counts: Counts) -> Reals:
    """Return each client's label distribution, ``(clients, classes)``."""
    p: Reals = counts / counts.sum(axis=1, keepdims=True)
    return p


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
    spread: Reals = np.sort(counts, axis=1) @ rank / (classes * counts.sum(axis=1))
    return spread


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
    """Return the total variation sum_c |p_c - q_c| / 2 of every pair of clients.

    Of more than ``PAIRWISE_LIMIT`` (2,000) clients that many are taken, always the same ones.
    """
    if len(counts) > PAIRWISE_LIMIT:
        rng = generator(0, "owners", len(counts))
        counts = counts[np.sort(rng.choice(len(counts), PAIRWISE_LIMIT, replace=False))]
    distances: Reals = torch.pdist(torch.from_numpy(shares(counts)), p=1).numpy() / 2
    return np.minimum(distances, 1.0)  # rounding can rise above


def describe(federation: Federation) -> dict[str, Any]:
    """Return how the labels lie across the clients, as plain numbers ready for JSON.

    ``metrics`` are means over the clients that have samples; what is not defined is None.

    Args:
        federation: A split of a data set that has classes.
    """
    counts = federation.label_counts
    held = counts.sum(axis=1) > 0
    whole = np.bincount(federation.train.y.numpy(), minlength=counts.shape[1])
    measures: dict[str, Callable[[Counts], NDArray[Any]]] = {
        "entropy": entropy,
        "distinct": distinct,
        "gini": gini,
        "kl": lambda c: kl(c, whole),
        "dominant": dominant,
    }
    values = {name: measure(counts[held]) for name, measure in measures.items()}
    means = {name: _mean(value) for name, value in values.items()}
    return {
        "name": federation.name,
        "partition": federation.partition,
        "clients": federation.clients,
        "samples": int(counts.sum()),
        "classes": federation.classes,
        "hash": federation.sha256,
        "metrics": {**means, "pairwise": _spread(pairwise(counts[held]))},
        "per_client": {
            "size": federation.sizes.tolist(),
            **{name: _with_gaps(value, held) for name, value in values.items()},
        },
        "label_counts": counts.tolist(),
    }


def _smooth(p: Reals) -> Reals:
    smooth: Reals = (p + KL_SMOOTHING) / (1 + KL_SMOOTHING * p.shape[1])
    return smooth


def _mean(values: NDArray[Any]) -> float | None:
    return float(values.mean()) if len(values) else None


def _spread(distances: Reals) -> dict[str, float | None]:
    some = len(distances) > 0
    return {
        "mean": _mean(distances),
        "min": float(distances.min()) if some else None,
        "max": float(distances.max()) if some else None,
    }


def _with_gaps(values: NDArray[Any], held: NDArray[np.bool_]) -> list[Any]:
    """Return a list over all clients with None for those without samples."""
    filled = np.full(len(held), None, dtype=object)
    filled[held] = values.tolist()
    return list(filled)
