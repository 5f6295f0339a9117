"""A data set's arrays as they lie on disk, before vocabulary, targets or fine labels are chosen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Raw(NamedTuple):
    """What a reader makes of official files.

    Attributes:
        x_train: uint8 images ``(n, C, H, W)``; or characters ``(n, T + 1)`` with 0 for padding.
        y_train: int64 classes ``(n,)``; of characters ``(n, 0)``: they are their own targets.
        x_test: The same for the test part; None where the source has none.
        y_test: As ``y_train``.
        owner: Who made each training sample, from 0, ``(n,)`` int64.
        labels: The names of the classes.
        coarse_train: A second, coarser class of each training sample.
        coarse_test: The same for the test part.
        coarse_labels: The names of the coarse classes.
    """

    x_train: Array
    y_train: NDArray[np.int64]
    x_test: Array | None = None
    y_test: NDArray[np.int64] | None = None
    owner: NDArray[np.int64] | None = None
    labels: tuple[str, ...] = ()
    coarse_train: NDArray[np.int64] | None = None
    coarse_test: NDArray[np.int64] | None = None
    coarse_labels: tuple[str, ...] = ()
