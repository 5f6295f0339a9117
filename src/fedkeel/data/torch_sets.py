"""A PyTorch ``Dataset`` as a data set: every sample is read once, as the data set gives it."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

from ..errors import InputError
from .arrays import Array, as_tensor, from_arrays
from .federation import Source


def from_torch(
    dataset: Dataset[Any],
    test_dataset: Dataset[Any] | None = None,
    *,
    classes: int | None = None,
    owner: Array | None = None,
    name: str = "torch",
    test_share: float = 0.2,
    seed: int = 0,
) -> Source:
    """Make a data set of a PyTorch one whose samples are ``(x, y)``.

    A random transform is applied once, when a sample is read, and not anew in each epoch.

    Args:
        dataset: The training samples.
        test_dataset: The test samples; without them a share is held out.
        classes: How many classes there are; None: the largest label says.
        owner: Who made each sample, as integers >= 0, for the partition ``Natural``.
        name: What the data set is called.
        test_share: The share held out when there is no test part.
        seed: Draws the share held out.
    """
    x, y = _read(dataset, "dataset")
    x_test, y_test = (None, None) if test_dataset is None else _read(test_dataset, "test_dataset")
    return from_arrays(
        x,
        y,
        x_test,
        y_test,
        classes=classes,
        owner=owner,
        name=name,
        test_share=test_share,
        seed=seed,
    )


def _read(dataset: Dataset[Any], name: str) -> tuple[Tensor, Tensor]:
    if isinstance(dataset, DataLoader):
        raise InputError(f"{name} is a DataLoader: give the data set that it loads, its .dataset")
    if isinstance(dataset, TensorDataset):
        if len(dataset.tensors) != 2:
            raise InputError(
                f"{name} has {len(dataset.tensors)} tensors: it must have two, x and y"
            )
        return dataset.tensors[0], dataset.tensors[1]
    samples = enumerate(_samples(dataset, name))
    pairs = [_pair(sample, f"{name}[{i}]") for i, sample in samples]
    if not pairs:
        raise InputError(f"{name} is empty")
    x, y = zip(*pairs, strict=True)
    return _stack(x, name), _stack(y, name)


def _samples(dataset: Dataset[Any], name: str) -> Iterator[Any]:
    if isinstance(dataset, IterableDataset):
        return iter(dataset)
    if not isinstance(dataset, Sized):
        raise InputError(f"{name} has no length: a PyTorch Dataset with __len__ is needed")
    # Many data sets do not end their own iteration, so it is their length that says.
    return (dataset[i] for i in range(len(dataset)))


def _pair(sample: Any, name: str) -> tuple[Tensor, Tensor]:
    if not isinstance(sample, tuple | list) or len(sample) != 2:
        raise InputError(f"{name} is {type(sample).__name__}: it must be a pair (x, y)")
    x, y = sample
    return as_tensor(x, f"x of {name}"), as_tensor(y, f"y of {name}")


def _stack(column: tuple[Tensor, ...], name: str) -> Tensor:
    first = column[0]
    for i, value in enumerate(column):
        if value.shape != first.shape or value.dtype != first.dtype:
            raise InputError(
                f"{name}[{i}] has {tuple(value.shape)} {value.dtype} where {name}[0] has "
                f"{tuple(first.shape)} {first.dtype}: all samples must be alike"
            )
    return torch.stack(column)
