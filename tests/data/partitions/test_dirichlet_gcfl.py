"""The Dirichlet partition of the GCFL experiments: multinomial sizes."""

from __future__ import annotations

import numpy as np
import pytest

from fedkeel.data.partitions.base import Facts
from fedkeel.data.partitions.dirichlet_gcfl import DirichletGCFL
from fedkeel.errors import InputError
from fedkeel.numerics.random import generator

LABELS = np.repeat(np.arange(20), 100)


def _sizes(alpha: float, clients: int, seed: int = 0) -> np.ndarray:
    """Count ``(classes, clients)``."""
    owner = DirichletGCFL(alpha).owners(Facts(LABELS), clients, generator(seed, "split"))
    cells = np.bincount(LABELS * clients + owner, minlength=20 * clients)
    return cells.reshape(20, clients)


def test_every_sample_is_given() -> None:
    assert (_sizes(0.4, 10).sum(axis=1) == 100).all()


def test_clients_may_be_empty() -> None:
    assert (_sizes(0.01, 100).sum(axis=0) == 0).any()


def test_sizes_vary_as_multinomial_ones_do() -> None:
    """With even chances a size is binomial: mean n/N, variance n/N (1 - 1/N)."""
    sizes = np.concatenate([_sizes(1e9, 10, seed) for seed in range(20)])
    assert sizes.mean() == 10
    assert sizes.var() == pytest.approx(9, rel=0.1)


def test_chances_vary_as_dirichlet_ones_do() -> None:
    """A Dirichlet share's square is (alpha + 1) / (N (N alpha + 1)) on average."""
    sizes = np.concatenate([_sizes(0.4, 10, seed) for seed in range(20)])
    square = (sizes * (sizes - 1)).mean() / (100 * 99)  # two samples of a class fall together
    assert square == pytest.approx(1.4 / (10 * 5), rel=0.1)


def test_a_class_is_shuffled() -> None:
    owner = DirichletGCFL(1e9).owners(Facts(np.zeros(1000, int)), 2, generator(0, "split"))
    assert 0.4 < owner[:500].mean() < 0.6


def test_options_out_of_range() -> None:
    with pytest.raises(InputError, match=r"^alpha=-1 is out of range"):
        DirichletGCFL(-1)
