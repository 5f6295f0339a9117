"""Data that are split already."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fedkeel.data import from_shards
from fedkeel.errors import InputError

X = np.arange(12, dtype=np.float32).reshape(6, 2)
Y = np.array([0, 1, 2, 0, 1, 2])


def test_client_k_holds_shard_k() -> None:
    federation = from_shards([(X[:1], Y[:1]), (X[1:4], Y[1:4]), (X[4:], Y[4:])], X, Y)
    assert federation.partition == "shards"
    assert federation.sizes.tolist() == [1, 3, 2]
    held = torch.from_numpy(federation.indices(2))
    assert federation.train.x[held].tolist() == X[4:].tolist()


def test_a_client_may_be_empty() -> None:
    federation = from_shards([(X[:0], Y[:0]), (X, Y), (np.empty(0), np.empty(0))], X, Y)
    assert federation.sizes.tolist() == [0, 6, 0]
    assert federation.clients == 3
    assert federation.classes == 3


@pytest.mark.parametrize(
    ("shards", "words"),
    [
        ([], "shards is empty"),
        ([(X, Y), X], "shard 1 is ndarray"),
        ([(X, Y), (X, Y[:3])], "shard 1 has x of"),
        ([(X, Y), (X[:, :1], Y)], "x of shard 1 has"),
        ([(X, Y), (X.astype("f8"), Y)], "float64 and of shard 0"),
        ([(X[:0], Y[:0])], "it is empty"),
        ([(X, Y), (X * np.nan, Y)], "NaN or infinite, the first in sample 6"),
    ],
)
def test_what_is_refused(shards: list, words: str) -> None:
    with pytest.raises(InputError, match=words):
        from_shards(shards, X, Y)
