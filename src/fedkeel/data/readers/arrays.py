"""Arrays of an ``.npz``, by the names that are usual, MedMNIST's among them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..npz import Arrays, read_npz
from ..raw import Raw

Array = NDArray[Any]

_NEEDED = ("x_train", "y_train")
_OPTIONAL = ("x_test", "y_test", "writer_train", "coarse_train", "coarse_test", "classes")
_MEDICAL = {
    "x_train": "train_images",
    "y_train": "train_labels",
    "x_test": "test_images",
    "y_test": "test_labels",
}


def read_arrays(path: str | Path) -> Raw:
    """Read x_train, y_train and, if they are there, x_test, y_test and what goes with them.

    That is ``writer_train`` (owners), ``coarse_train`` and ``coarse_test``, and ``classes``, their
    names. MedMNIST's names are understood too: its validation part is left out, labels of one
    column are classes, and those of several, of which any number can hold, are floating targets.
    Images of uint8 with the channels last are turned to channels first; all else stays as it is,
    but that integers y become int64.

    Args:
        path: The file.
    """
    stored = _stored(path)
    called = f"'{path}'"
    x, y = _part(stored, "train", called)
    x_test, y_test = _part(stored, "test", called) if _has_test(stored, called) else (None, None)
    names = stored.get("classes", np.empty(0)).reshape(-1)
    return Raw(
        x,
        y,
        x_test,
        y_test,
        _whole(stored, "writer_train", len(x), called),
        tuple(str(name) for name in names),
        _whole(stored, "coarse_train", len(x), called),
        None if x_test is None else _whole(stored, "coarse_test", len(x_test), called),
    )


def channels_first(x: Array) -> Array:
    """Return uint8 images ``(n, h, w[, 1 or 3])`` as ``(n, c, h, w)``, the rest as it is.

    Args:
        x: Samples.
    """
    if x.dtype != np.uint8 or x.ndim not in (3, 4):
        return x
    if x.ndim == 3:
        return x[:, None]
    return np.ascontiguousarray(np.moveaxis(x, -1, 1)) if x.shape[-1] in (1, 3) else x


def _stored(path: str | Path) -> Arrays:
    """Return the arrays by their usual names."""
    stored = read_npz(path, (), (*_NEEDED, *_OPTIONAL, *_MEDICAL.values()))
    if _MEDICAL["x_train"] in stored and not set(_NEEDED) & stored.keys():
        stored = {name: stored[key] for name, key in _MEDICAL.items() if key in stored}
        for name in ("y_train", "y_test"):
            if name in stored:
                stored[name] = _columns(stored[name])
    # Where one is missing, reading it says so, and what there is instead.
    return stored if set(_NEEDED) <= stored.keys() else read_npz(path, _NEEDED)


def _columns(labels: Array) -> Array:
    """Return labels of one column as classes, and of several as floating targets."""
    if labels.ndim != 2 or labels.dtype.kind not in "biu":
        return labels
    return labels[:, 0] if labels.shape[1] == 1 else labels.astype(np.float32)


def _has_test(stored: Arrays, called: str) -> bool:
    there = [name for name in ("x_test", "y_test") if name in stored]
    if len(there) == 1:
        missing = "y_test" if there[0] == "x_test" else "x_test"
        raise InputError(f"{called} has {there[0]} and no {missing}: give both, or neither")
    return bool(there)


def _part(stored: Arrays, part: str, called: str) -> tuple[Array, Array]:
    x, y = channels_first(stored[f"x_{part}"]), stored[f"y_{part}"]
    for name, values in ((f"x_{part}", x), (f"y_{part}", y)):
        if values.dtype.kind not in "biuf":
            raise InputError(f"{called}: {name} is {values.dtype}: it must hold numbers")
    if x.ndim < 1 or y.ndim < 1 or len(x) != len(y):
        shapes = f"x_{part} of shape {x.shape} and y_{part} of {y.shape}"
        raise InputError(f"{called} has {shapes}: there must be one y for each x")
    return x, y.astype(np.int64) if y.dtype.kind in "biu" else y


def _whole(stored: Arrays, name: str, samples: int, called: str) -> NDArray[np.int64] | None:
    values = stored.get(name)
    if values is None:
        return None
    if values.shape != (samples,) or values.dtype.kind not in "iu" or (values < 0).any():
        found = f"{name} is {values.dtype} of shape {values.shape}"
        raise InputError(f"{called}: {found}: it must hold an integer >= 0 for each of {samples}")
    return values.astype(np.int64)
