"""Data sets by name, by path and by function: everything that ``load`` understands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import InputError, unknown
from .arrays import from_arrays
from .federation import Samples, Source
from .function import from_function
from .npz import read_npz

_LATER = (
    "cifar10", "cifar100", "emnist-byclass", "emnist-digits", "emnist-letters", "femnist",
    "flowers102", "fmnist", "lc25000", "mnist", "shakespeare", "tinyimagenet",
)  # fmt: skip


class Entry(NamedTuple):
    """A data set that can be loaded by its name.

    Attributes:
        load: Returns it.
        title: What it is, in a line.
        train: How many training samples.
        test: How many test samples.
        classes: How many classes.
        shape: The shape of a sample.
        owners: How many natural owners; 0: none.
        licence: Under which terms it may be used.
    """

    load: Callable[[], Source]
    title: str
    train: int
    test: int
    classes: int
    shape: tuple[int, ...]
    owners: int
    licence: str


def load(
    name: str | Path,
    options: Mapping[str, Any] | None = None,
    *,
    test_share: float = 0.2,
    seed: int = 0,
) -> Source:
    """Load a data set.

    Args:
        name: A name of ``DATASETS``, a path (it contains ``/`` or ends in ``.npz``), or
            ``"mymodule:function"``.
        options: What the function is called with.
        test_share: The share held out when there is no test part.
        seed: Draws the share held out.
    """
    text = str(name)
    if isinstance(name, Path) or "/" in text or text.endswith(".npz"):
        return from_file(text, test_share=test_share, seed=seed)
    if ":" in text:
        return from_function(text, options or {}, test_share=test_share, seed=seed)
    if text in DATASETS:
        return DATASETS[text].load()
    if text.lower() in _LATER:
        raise InputError(f"data set '{text}' is not in this version. Allowed: {_allowed()}")
    raise unknown("data set", text, [*DATASETS, "a path to an .npz", "mymodule:function"])


def from_file(path: str | Path, *, test_share: float = 0.2, seed: int = 0) -> Source:
    """Load an ``.npz`` with x_train, y_train, x_test, y_test and, if it has owners, writer_train.

    Images of uint8 with the channels last are turned to channels first; floating x stays as it is.
    Without both test arrays a share is held out.
    """
    stored = read_npz(path, ["x_train", "y_train"], ["x_test", "y_test", "writer_train"])
    test = stored.get("x_test")
    try:
        return from_arrays(
            channels_first(stored["x_train"]),
            stored["y_train"],
            None if test is None else channels_first(test),
            stored.get("y_test"),
            owner=stored.get("writer_train"),
            name=Path(path).stem,
            test_share=test_share,
            seed=seed,
        )
    except InputError as error:
        raise InputError(f"'{path}': {error}") from error


def channels_first(x: NDArray[Any]) -> NDArray[Any]:
    """Return uint8 images ``(n, h, w[, 1 or 3])`` as ``(n, c, h, w)``, the rest as it is."""
    if x.dtype != np.uint8 or x.ndim not in (3, 4):
        return x
    if x.ndim == 3:
        return x[:, None]
    return np.ascontiguousarray(np.moveaxis(x, -1, 1)) if x.shape[-1] in (1, 3) else x


def femnist_mini() -> Source:
    """Load the embedded handwritten characters: 62 classes by 192 writers, ink high."""
    with as_file(files(__package__) / "femnist_mini.npz") as path:
        stored = read_npz(
            path, ["x_train", "y_train", "x_test", "y_test", "writer_train", "classes"]
        )
    labels = tuple(str(label) for label in stored["classes"])
    train, test = (
        Samples(
            torch.from_numpy(channels_first(stored[f"x_{part}"])),
            torch.from_numpy(stored[f"y_{part}"].astype(np.int64)),
        )
        for part in ("train", "test")
    )
    owner = stored["writer_train"].astype(np.int64)
    return Source("femnist-mini", train, test, len(labels), owner, labels)


DATASETS: dict[str, Entry] = {
    "femnist-mini": Entry(
        femnist_mini,
        "Handwritten digits and letters by 192 writers, from LEAF's FEMNIST; inside the package",
        train=28_243,
        test=3_222,
        classes=62,
        shape=(1, 28, 28),
        owners=192,
        licence="NIST Special Database 19 (US Government work)",
    )
}


def _allowed() -> str:
    return ", ".join([*DATASETS, "a path to an .npz", "mymodule:function"])
