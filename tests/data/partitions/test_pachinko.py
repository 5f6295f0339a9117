"""Pachinko allocation: one draw after another, without replacement."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedkeel.data.partitions.base import Facts
from fedkeel.data.partitions.pachinko import Pachinko, chances, log_gammas
from fedkeel.errors import InputError
from fedkeel.numerics.random import generator

TREE = np.repeat(np.arange(20), 5)
STOCK = np.full(100, 500)


def _sizes(
    rule: Pachinko, stock: list[int], tree: list[int], clients: int, seed: int = 0
) -> np.ndarray:
    rng = generator(seed, "split")
    return rule.sizes(np.array(stock), np.array(tree), clients, rng)


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=8).filter(sum),
    st.data(),
    st.sampled_from([1e-6, 0.1, 10.0, 1e9]),
    st.sampled_from([1e-6, 0.1, 10.0, 1e9]),
)
def test_every_client_has_its_number_and_no_class_is_overdrawn(
    stock: list[int], data: st.DataObject, coarse: float, fine: float
) -> None:
    tree = [data.draw(st.integers(0, 3)) for _ in stock]
    clients = data.draw(st.integers(1, sum(stock)))
    sizes = _sizes(Pachinko(coarse, fine), stock, tree, clients)
    assert (sizes.sum(axis=0) == sum(stock) // clients).all()
    assert (sizes.sum(axis=1) <= stock).all()
    assert sizes.min() >= 0


def test_chances_are_products_scaled_to_one_within_what_is_left() -> None:
    tree, left = np.array([0, 0, 1, 1, 2]), np.array([4, 0, 1, 2, 0])
    coarse, fine = np.log([0.5, 0.25, 0.25]), np.log([0.2, 0.8, 0.25, 0.75, 1.0])
    got = chances(left, tree, coarse, fine)
    assert got / got.sum() == pytest.approx([2 / 3, 0, 1 / 12, 1 / 4, 0])


def test_chances_do_not_underflow() -> None:
    """What is left may have had next to no chance beside what ran out."""
    tree, left = np.array([0, 1, 2]), np.array([0, 3, 3])
    got = chances(left, tree, np.array([0.0, -1e6, -2e6]), np.array([0.0, -5e5, -7e5]))
    assert got.tolist() == [0, 1, 0]


def test_draws_end_where_a_class_runs_out() -> None:
    """With even chances, the first client's five draws miss the single sample in 1 of 32 cases."""
    taken = [_sizes(Pachinko(1.0, 1e9), [1, 9], [0, 0], 2, seed)[0, 0] for seed in range(1500)]
    assert np.mean(taken) == pytest.approx(31 / 32, abs=0.014)


def _one_by_one(
    stock: np.ndarray, tree: np.ndarray, clients: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw as the definition says, with alphas of 1."""
    left, sizes = stock.copy(), np.zeros((len(stock), clients), dtype=int)
    for k in range(clients):
        coarse = rng.dirichlet(np.ones(tree.max() + 1))
        fine = np.empty(len(tree))
        for c in range(tree.max() + 1):
            fine[tree == c] = rng.dirichlet(np.ones((tree == c).sum()))
        for _ in range(stock.sum() // clients):
            alive = np.array([left[tree == c].any() for c in range(tree.max() + 1)])
            c = rng.choice(len(alive), p=coarse * alive / (coarse * alive).sum())
            chance = fine * (left > 0) * (tree == c)
            label = rng.choice(len(tree), p=chance / chance.sum())
            left[label] -= 1
            sizes[label, k] += 1
    return sizes


def test_the_distribution_is_that_of_one_draw_after_another() -> None:
    stock, tree = np.array([2, 3, 1, 6]), np.array([0, 0, 1, 1])
    rng = np.random.default_rng(0)
    slow = np.array([_one_by_one(stock, tree, 3, rng) for _ in range(800)]).reshape(800, -1)
    fast = np.array(
        [Pachinko(1.0, 1.0).sizes(stock, tree, 3, generator(i, "split")) for i in range(3000)]
    ).reshape(3000, -1)
    error = np.sqrt(slow.var(axis=0) * (1 / 800 + 1 / 3000))
    assert (abs(slow.mean(axis=0) - fast.mean(axis=0)) < 4 * error + 1e-9).all()
    second = [((s[:, :, None] * s[:, None, :]).mean(axis=0)) for s in (slow, fast)]
    assert abs(second[0] - second[1]).max() < 0.5  # of products up to 16


def test_log_gammas_are_gammas() -> None:
    share = np.exp(log_gammas(0.3, 40_000, generator(0, "split")))
    assert share.mean() == pytest.approx(0.3, rel=0.04)
    assert share.var() == pytest.approx(0.3, rel=0.08)


def test_the_federated_cifar100() -> None:
    """A loop of one draw after another gives 21.9 classes of 6.7 coarse ones, entropy .576.

    Published clients hold 18 to 29 classes, with entropies of .43 to .68 and 10 to 48 % of one.
    """
    sizes = _sizes(Pachinko(), STOCK.tolist(), TREE.tolist(), 500)
    share = sizes / 100
    entropy = -(share * np.log(np.where(share, share, 1))).sum(axis=0) / np.log(100)
    distinct = (sizes > 0).sum(axis=0)
    coarse = (sizes.reshape(20, 5, 500).sum(axis=1) > 0).sum(axis=0)
    assert (sizes.sum(axis=1) == 500).all()
    assert distinct.mean() == pytest.approx(21.85, abs=1.2)
    assert coarse.mean() == pytest.approx(6.65, abs=0.4)
    assert entropy.mean() == pytest.approx(0.576, abs=0.02)
    assert distinct.min() < 18 and distinct.max() > 29
    assert entropy.min() < 0.43 and entropy.max() > 0.68
    assert share.max(axis=0).min() < 0.10 and share.max() > 0.48


def test_small_coarse_concentration_takes_one_coarse_class_after_another() -> None:
    sizes = _sizes(Pachinko(1e-6, 1e9), STOCK.tolist(), TREE.tolist(), 20)
    assert sizes.max() == 500
    assert ((sizes > 0).sum(axis=0) == 5).all()  # 2,500 samples: all of one coarse class


def test_the_remainder_is_nobodys() -> None:
    labels = np.arange(23) % 4
    owner = Pachinko().owners(Facts(labels, None, (0, 0, 1, 1)), 5, generator(0, "split"))
    assert np.bincount(owner[owner >= 0]).tolist() == [4] * 5
    assert (owner < 0).sum() == 3


@pytest.mark.parametrize("parents", [(), (0, 0, 1)])
def test_coarse_classes_are_needed(parents: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"^partition 'pachinko' needs .*cifar100.*labels=fine"):
        Pachinko().owners(Facts(np.arange(8) % 4, None, parents), 2, generator(0, "split"))


@pytest.mark.parametrize("word", ["alpha_coarse", "alpha_fine"])
def test_options_out_of_range(word: str) -> None:
    with pytest.raises(InputError, match=f"^{word}=0 is out of range"):
        Pachinko(**{word: 0})
