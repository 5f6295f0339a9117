"""A user's own arrays as a data set: checked once, copied only where they have to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..errors import InputError, number, require
from ..numerics.random import generator
from .federation import IGNORED, Owners, Samples, Source

Array = NDArray[Any] | Tensor
_MANY = 100_000  # classes that nobody is asked about
_TOKENS = (torch.int16, torch.int32, torch.int64)


def from_arrays(
    x: Array,
    y: Array,
    x_test: Array | None = None,
    y_test: Array | None = None,
    *,
    classes: int | None = None,
    owner: Array | None = None,
    name: str = "arrays",
    test_share: float = 0.2,
    seed: int = 0,
) -> Source:
    """Make a data set of arrays or tensors, samples first.

    Args:
        x: Inputs; uint8 is scaled to [0, 1] when a batch is made, floating is used as it is;
            int16, int32 and int64 are tokens.
        y: Integer classes from 0, one a sample, or one for each step of a sequence ``(n, T)``, -100
            where a step has no target; or floating targets.
        x_test: Test inputs; without them a share of the samples is held out.
        y_test: Test targets.
        classes: How many classes there are; None: the largest label says.
        owner: Who made each sample, as integers >= 0 or names, for the partition ``Natural``.
        name: What the data set is called.
        test_share: The share held out when there is no test part.
        seed: Draws the share held out.
    """
    train = _samples(x, y, "x", "y")
    natural = None if owner is None else _owners(owner, len(train.x))
    if x_test is None and y_test is None:
        train, test, natural = _hold_out(train, natural, test_share, seed)
    elif x_test is None or y_test is None:
        missing = "x_test" if x_test is None else "y_test"
        raise InputError(f"{missing} is missing: give both x_test and y_test, or neither")
    else:
        test = _samples(x_test, y_test, "x_test", "y_test")
        _check_alike(train, test)
    return Source(name, train, test, _count_classes(train.y, test.y, classes), natural)


def as_tensor(value: Array, name: str) -> Tensor:
    """Return an array as a tensor on the CPU, over the same memory if that can be.

    Args:
        value: An array, a tensor or what NumPy makes an array of.
        name: What to call it in an error.
    """
    if isinstance(value, Tensor):
        return value.detach().cpu()
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"it holds {array.dtype}")
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        return torch.from_numpy(np.require(array, requirements=["C", "W"]))
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an array of numbers: {error}") from error


def _samples(x: Array, y: Array, x_name: str, y_name: str) -> Samples:
    inputs, targets = as_tensor(x, x_name), as_tensor(y, y_name)
    _check_inputs(inputs, x_name)
    if len(inputs) != (len(targets) if targets.ndim else 0):
        shape = tuple(targets.shape)
        raise InputError(
            f"{x_name} has {len(inputs)} samples and {y_name} the shape {shape}: one a sample"
        )
    if targets.is_floating_point():
        _check_finite(targets, y_name)
        return Samples(inputs, targets)
    return Samples(inputs, _labels(targets, y_name))


def _check_inputs(x: Tensor, name: str) -> None:
    shape = tuple(x.shape)
    if x.ndim < 2:
        raise InputError(
            f"{name} has shape {shape}: it must be (samples, ...), two dimensions or more"
        )
    if not x.numel():
        raise InputError(f"{name} has shape {shape}: it is empty")
    if x.dtype not in (torch.uint8, *_TOKENS) and not x.is_floating_point():
        kind = str(x.dtype).removeprefix("torch.")
        raise InputError(
            f"{name} is {kind}: it must be uint8 (scaled to [0, 1]), floating point, or int16, "
            "int32 or int64 (tokens)"
        )
    if x.dtype in _TOKENS and int(x.min()) < 0:
        raise InputError(f"{name} holds the token {int(x.min())}: tokens are integers from 0")
    _check_finite(x, name)


def _check_finite(values: Tensor, name: str) -> None:
    # The sum of finite numbers is finite short of an overflow: one pass, and no mask in memory.
    if not values.is_floating_point() or bool(values.sum(dtype=torch.float64).isfinite()):
        return
    wrong = ~values.isfinite()
    if wrong.any():
        first = int(wrong.reshape(len(wrong), -1).any(dim=1).nonzero()[0])
        raise InputError(
            f"{name} holds {int(wrong.sum())} values that are NaN or infinite, the first in sample "
            f"{first}: they must be finite"
        )


def _labels(y: Tensor, name: str) -> Tensor:
    if y.ndim not in (1, 2) or y.shape[1:] in ((0,), (1,)):
        raise InputError(
            f"{name} has shape {tuple(y.shape)}: classes are one integer a sample (n,), as "
            "y.reshape(-1) has, or one for each step of a sequence (n, T)"
        )
    if y.is_complex():
        raise InputError(f"{name} is complex: it must hold integer classes or floating targets")
    labels = y.to(torch.int64)
    wrong = labels < 0 if y.ndim == 1 else (labels < 0) & (labels != IGNORED)
    if wrong.any():
        first = int(labels[wrong][0])
        raise InputError(f"{name} holds the label {first}: classes are integers from 0")
    empty = (labels < 0).reshape(len(labels), -1).all(1)
    if empty.any():
        first = int(empty.nonzero()[0])
        raise InputError(f"sequence {first} of {name} has no target: leave such ones out")
    return labels


def _check_alike(train: Samples, test: Samples) -> None:
    for name, a, b in (("x", train.x, test.x), ("y", train.y, test.y)):
        if a.shape[1:] != b.shape[1:]:
            shapes = f"{tuple(a.shape[1:])} and {tuple(b.shape[1:])}"
            raise InputError(f"a sample of {name} and of {name}_test differ in shape: {shapes}")
        if a.is_floating_point() != b.is_floating_point():
            raise InputError(
                f"{name} is {a.dtype} and {name}_test is {b.dtype}: give both the same type"
            )


def _count_classes(y: Tensor, y_test: Tensor, classes: int | None) -> int | None:
    if y.is_floating_point():
        if classes is not None:
            raise InputError(f"classes={classes}, but y is {y.dtype}: classes are integers")
        return None
    highest = int(max(y.max(), y_test.max()))
    if classes is None:
        if highest >= max(_MANY, y.numel() + y_test.numel()):
            raise InputError(
                f"y holds the label {highest}, and there are {len(y)} samples: number classes from "
                "0, or give classes=N if there are so many"
            )
        return highest + 1
    whole = isinstance(classes, int | np.integer) and not isinstance(classes, bool)
    require(whole and classes >= 1, "classes", classes, "an integer >= 1")
    if highest >= classes:
        raise InputError(
            f"y holds the label {highest}: with classes={classes} it must be below {classes}"
        )
    return classes


def _owners(owner: Array, samples: int) -> Owners:
    values = owner.numpy() if isinstance(owner, Tensor) else np.asarray(owner)
    if values.shape != (samples,) or values.dtype.kind not in "iuU":
        raise InputError(
            f"owner is {values.dtype} of shape {values.shape}: it must hold an integer >= 0 or a "
            f"name for each of {samples} samples"
        )
    if values.dtype.kind == "U":
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    if values.min() < 0:
        raise InputError(f"owner holds {values.min()}: owners are integers from 0, or names")
    return values.astype(np.int64, copy=False)


def _hold_out(
    train: Samples, owner: Owners | None, share: float, seed: int
) -> tuple[Samples, Samples, Owners | None]:
    number("test_share", share, "a share in (0, 1)", lambda part: 0 < part < 1)
    samples = len(train.x)
    if samples < 2:
        raise InputError("x has 1 sample: two are needed, one to train on and one to test with")
    count = min(max(1, round(share * samples)), samples - 1)
    order = generator(seed, "split", 1).permutation(samples)
    kept, held = np.sort(order[count:]), np.sort(order[:count])
    return _take(train, kept), _take(train, held), None if owner is None else owner[kept]


def _take(samples: Samples, positions: Owners) -> Samples:
    rows = torch.from_numpy(positions)
    return Samples(samples.x[rows], samples.y[rows])
