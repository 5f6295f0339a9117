"""Clients of different sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedkeel.data.partitions.base import Facts
from fedkeel.data.partitions.quantity import Quantity
from fedkeel.errors import InputError
from fedkeel.numerics.random import generator


def _owners(alpha: float, samples: int, clients: int, seed: int = 0) -> np.ndarray:
    return Quantity(alpha).owners(Facts(np.zeros(samples)), clients, generator(seed, "split"))


@settings(deadline=None)
@given(
    st.integers(1, 200),
    st.data(),
    st.sampled_from([1e-6, 0.01, 0.5, 1e9]),
    st.integers(0, 2**40),
)
def test_nobody_is_empty(samples: int, data: st.DataObject, alpha: float, seed: int) -> None:
    clients = data.draw(st.integers(1, samples))
    sizes = np.bincount(_owners(alpha, samples, clients, seed), minlength=clients)
    assert sizes.min() >= 1
    assert sizes.sum() == samples


def test_sizes_vary_as_dirichlet_ones_do() -> None:
    """A Dirichlet share's square is (alpha + 1) / (N (N alpha + 1)) on average."""
    shares = [np.bincount(_owners(0.5, 100_000, 20, seed)) / 100_000 for seed in range(40)]
    assert np.square(shares).mean() == pytest.approx(1.5 / (20 * 11), rel=0.1)


def test_large_alpha_is_nearly_even() -> None:
    sizes = np.bincount(_owners(1e9, 1000, 10))
    assert sizes.max() - sizes.min() <= 2


def test_samples_are_shuffled() -> None:
    owner = _owners(1e9, 1000, 2)
    assert 0.4 < owner[:500].mean() < 0.6


def test_options_out_of_range() -> None:
    with pytest.raises(InputError, match=r"^quantity_alpha=0 is out of range"):
        Quantity(0)
