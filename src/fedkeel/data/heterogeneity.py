"""How different the clients of a federation are; the measures themselves are in ``skew``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..skew import noisy, summary
from .federation import Federation
from .partitions.base import UNUSED

Counts = NDArray[np.int64]


def describe(federation: Federation) -> dict[str, Any]:
    """Return how the labels lie across the clients, as plain numbers ready for JSON.

    ``metrics`` are means over the clients that have samples; what is not defined is None. Where a
    sample is a sequence, sizes are counts of samples and all else counts the symbols to predict.

    Args:
        federation: A split of a data set that has classes.
    """
    counts = federation.label_counts
    found = summary(counts, totals(federation))
    return {
        "name": federation.name,
        "partition": federation.partition,
        "clients": federation.clients,
        "samples": int(federation.sizes.sum()),
        "classes": federation.classes,
        "hash": federation.sha256,
        "metrics": found["metrics"],
        "per_client": {**found["per_client"], "size": federation.sizes.tolist()},
        "label_counts": counts.tolist(),
    }


def totals(federation: Federation) -> Counts:
    """Return how often each class comes in the whole training set, whoever holds it.

    Foreign samples that open-set noise took away have no class any more.
    """
    labels = federation.train.y.numpy()
    if federation.clean is not None:
        labels = labels[federation.clean | (federation.owner != UNUSED)]
    return np.bincount(labels[labels >= 0], minlength=federation.classes or 0)


def noisy_samples(federation: Federation) -> Counts | None:
    """Return how many samples of each client are not as they came; None: nothing is known."""
    if federation.clean is None:
        return None
    return noisy(federation.owner, federation.clean, federation.clients)
