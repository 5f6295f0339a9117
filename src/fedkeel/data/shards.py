"""Data that are split already: one pair of arrays for each client."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ..errors import InputError
from .arrays import Array, as_tensor, from_arrays
from .federation import Federation

Shard = tuple[Array, Array]


def from_shards(
    shards: Sequence[Shard],
    x_test: Array,
    y_test: Array,
    *,
    classes: int | None = None,
    name: str = "shards",
) -> Federation:
    """Make a federation in which client k holds shard k.

    Args:
        shards: ``(x, y)`` of each client; a client may have no samples.
        x_test: Test inputs.
        y_test: Test targets.
        classes: How many classes there are; None: the largest label says.
        name: What the data set is called.
    """
    if not len(shards):
        raise InputError("shards is empty: give one pair (x, y) for each client")
    pairs = [_pair(shard, k) for k, shard in enumerate(shards)]
    x, y = (_join([pair[i] for pair in pairs], "xy"[i]) for i in (0, 1))
    source = from_arrays(x, y, x_test, y_test, classes=classes, name=name)
    sizes = [len(pair[0]) for pair in pairs]
    return Federation(source, np.repeat(np.arange(len(sizes)), sizes), "shards", len(sizes))


def _pair(shard: Shard, k: int) -> tuple[Tensor, Tensor]:
    if not isinstance(shard, tuple | list) or len(shard) != 2:
        raise InputError(f"shard {k} is {type(shard).__name__}: it must be a pair (x, y)")
    x, y = (
        as_tensor(value, f"{name} of shard {k}") for name, value in zip("xy", shard, strict=True)
    )
    if x.ndim < 1 or y.ndim < 1 or len(x) != len(y):
        raise InputError(
            f"shard {k} has x of {tuple(x.shape)} and y of {tuple(y.shape)}: one y for each x"
        )
    return x, y


def _join(parts: list[Tensor], name: str) -> Tensor:
    full = [k for k, part in enumerate(parts) if len(part)] or [0]
    first = parts[full[0]]
    for k in full:
        if parts[k].shape[1:] != first.shape[1:] or parts[k].dtype != first.dtype:
            raise InputError(
                f"{name} of shard {k} has {tuple(parts[k].shape)} {parts[k].dtype} and of shard "
                f"{full[0]} {tuple(first.shape)} {first.dtype}: they must be alike"
            )
    return torch.cat([parts[k] for k in full])
