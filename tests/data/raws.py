"""Small arrays in the form of the data sets that have a name."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from fedkeel.data.raw import Raw


def digits(train: int = 20, test: int = 10, *, side: int = 28, channels: int = 1) -> Raw:
    """Return random images of ten classes."""
    rng = np.random.default_rng(train)
    x = rng.integers(0, 256, (train + test, channels, side, side), dtype=np.uint8)
    y = np.arange(train + test) % 10
    return Raw(x[:train], y[:train], x[train:], y[train:])


def coarse(train: int = 200, test: int = 100) -> Raw:
    """Return images in CIFAR-100's form: class c lies in the coarse class c // 5."""
    y = np.arange(train + test) % 100
    x = np.zeros((train + test, 3, 32, 32), np.uint8)
    return Raw(
        x[:train], y[:train], x[train:], y[train:],
        coarse_train=y[:train] // 5, coarse_test=y[train:] // 5,
    )  # fmt: skip


def plays() -> Raw:
    """Return windows of two roles, the last of them half full."""
    x = np.full((3, 81), ord("a"), np.uint8)
    x[2, 40:] = 0
    none = np.empty((3, 0), np.int64)
    return Raw(x, none, x[:2], none[:2], owner=np.array([0, 0, 1]))


def save(path: Path, raw: Raw) -> Path:
    """Write arrays as the .npz that a user would have: channels last, no names."""
    arrays = {name: value for name, value in raw._asdict().items() if isinstance(value, np.ndarray)}
    for name in ("x_train", "x_test"):
        if name in arrays and arrays[name].ndim == 4:
            arrays[name] = np.moveaxis(arrays[name], 1, -1)
    if "owner" in arrays:
        arrays["writer_train"] = arrays.pop("owner")
    np.savez(path, **arrays)
    return path


def idx_files(raw: Raw) -> dict[str, bytes]:
    """Return arrays as MNIST's four official files."""
    assert raw.x_test is not None and raw.y_test is not None
    parts = {
        "train-images-idx3-ubyte.gz": raw.x_train[:, 0],
        "train-labels-idx1-ubyte.gz": raw.y_train.astype(np.uint8),
        "t10k-images-idx3-ubyte.gz": raw.x_test[:, 0],
        "t10k-labels-idx1-ubyte.gz": raw.y_test.astype(np.uint8),
    }
    return {name: gzip.compress(_idx(array), mtime=0) for name, array in parts.items()}


def _idx(array: np.ndarray) -> bytes:
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    return head + array.tobytes()
