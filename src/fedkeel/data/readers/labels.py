"""Counts and labels that a reader checks before it hands anything on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError

Array = NDArray[Any]
Labels = NDArray[np.int64]


def in_range(
    labels: Array | list[int], classes: int, called: str, *, first: int = 0, what: str = "label"
) -> Labels:
    """Return labels as int64 from 0, if all are classes.

    Args:
        labels: Integers.
        classes: How many classes there are.
        called: What to call their file in an error.
        first: The number of the first class.
        what: What to call one of them.
    """
    low, high = first, first + classes - 1
    # An integer too large for any type is compared as it is.
    checked = np.asarray(labels)
    if checked.size and not low <= int(checked.min()) <= int(checked.max()) <= high:
        wrong = int(checked.min() if checked.min() < low else checked.max())
        raise InputError(f"{called} holds the {what} {wrong}: it must be from {low} to {high}")
    return checked.astype(np.int64) - first


def one_each(labels: int, samples: int, called: str, of: str = "") -> None:
    """Refuse labels that are not one a sample.

    Args:
        labels: How many labels there are.
        samples: How many samples there are.
        called: What to call the labels' file in an error.
        of: What to call the samples' file, if it is another.
    """
    if labels != samples:
        where = f" of {of}" if of else ""
        raise InputError(
            f"{called} holds {labels} labels for {samples} samples{where}: there must be one each"
        )


def filled(samples: int, called: str) -> None:
    """Refuse a file without samples."""
    if not samples:
        raise InputError(f"{called} holds no samples: it is empty")
