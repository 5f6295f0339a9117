"""Shards of samples sorted by class."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkeel.data.partitions.base import Facts
from fedkeel.data.partitions.label_shards import Shards
from fedkeel.errors import InputError
from fedkeel.numerics.random import generator


def _owners(each: int, labels: np.ndarray, clients: int, seed: int = 0) -> np.ndarray:
    return Shards(each).owners(Facts(labels), clients, generator(seed, "split"))


@given(st.integers(1, 5), st.integers(1, 20), st.integers(0, 99))
def test_sizes_differ_by_a_sample_a_shard(each: int, clients: int, more: int) -> None:
    samples = each * clients + more
    sizes = np.bincount(_owners(each, np.arange(samples) % 7, clients), minlength=clients)
    assert sizes.sum() == samples
    least = samples // (each * clients)
    assert sizes.min() >= each * least
    assert sizes.max() <= each * (least + 1)


def test_a_shard_of_one_class_makes_clients_of_few_classes() -> None:
    labels = np.random.default_rng(0).permutation(np.repeat(np.arange(10), 100))
    owner = _owners(2, labels, 50)
    distinct = [len(np.unique(labels[owner == k])) for k in range(50)]
    assert max(distinct) == 2
    assert min(distinct) == 1  # by chance: two shards of one class


def test_a_shard_is_contiguous_once_sorted() -> None:
    labels = np.array([2, 0, 1, 2, 0, 1, 2, 0, 1])
    owner = _owners(1, labels, 3)
    assert [np.unique(labels[owner == k]).size for k in range(3)] == [1, 1, 1]


def test_more_shards_than_samples_are_refused() -> None:
    with pytest.raises(InputError, match=r"^clients=3 of shards_per_client=4 need 12 samples and "):
        _owners(4, np.zeros(11, dtype=int), 3)


def test_options_out_of_range() -> None:
    with pytest.raises(InputError, match=r"^shards_per_client=0 is out of range"):
        Shards(0)
