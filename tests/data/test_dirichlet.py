"""The Dirichlet partition: its rules for all inputs, and its published statistics."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedkeel.data import Dirichlet
from fedkeel.errors import InputError
from fedkeel.numerics.random import generator

CIFAR10 = np.full(10, 5000)


def _owners(rule: Dirichlet, labels: np.ndarray, clients: int, seed: int = 0) -> np.ndarray:
    return rule.owners(labels, None, clients, generator(seed, "split"))


@st.composite
def _problems(draw: st.DrawFn) -> tuple[np.ndarray, int, float, int]:
    counts = draw(st.lists(st.integers(0, 40), min_size=1, max_size=8).filter(sum))
    labels = np.random.default_rng(draw(st.integers(0, 9))).permutation(
        np.repeat(np.arange(len(counts)), counts)
    )
    clients = draw(st.integers(1, min(12, len(labels))))
    alpha = draw(st.sampled_from([1e-3, 0.05, 0.1, 0.5, 1.0, 1000.0]))
    return labels, clients, alpha, draw(st.integers(0, 2**40))


@settings(deadline=None)
@given(_problems(), st.booleans())
def test_every_sample_has_one_client(problem: tuple, cap: bool) -> None:
    labels, clients, alpha, seed = problem
    owner = _owners(Dirichlet(alpha, min_size=0, cap=cap), labels, clients, seed)
    assert owner.dtype == np.int64
    assert owner.shape == labels.shape
    assert owner.min() >= 0
    assert owner.max() < clients


@settings(deadline=None)
@given(_problems())
def test_a_full_client_gets_nothing_of_later_classes(problem: tuple) -> None:
    labels, clients, alpha, seed = problem
    owner = _owners(Dirichlet(alpha, min_size=0), labels, clients, seed)
    held = np.zeros(clients, dtype=int)
    for label in range(labels.max() + 1):
        new = np.bincount(owner[labels == label], minlength=clients)
        assert not new[held * clients >= len(labels)].any()
        held += new


@settings(deadline=None)
@given(_problems(), st.integers(1, 3))
def test_the_least_size_is_met_or_refused(problem: tuple, least: int) -> None:
    labels, clients, alpha, seed = problem
    try:
        owner = _owners(Dirichlet(alpha, min_size=least, max_tries=30), labels, clients, seed)
    except InputError as error:
        assert "min_size" in str(error)
        assert "\n" not in str(error)
    else:
        assert np.bincount(owner, minlength=clients).min() >= least


def test_equal_seeds_give_equal_splits_and_others_differ() -> None:
    labels = np.repeat(np.arange(10), 50)
    a, b, c = (_owners(Dirichlet(0.3), labels, 10, seed) for seed in (4, 4, 5))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_without_the_cap_a_client_can_grow_beyond_the_mean_again() -> None:
    labels = np.repeat(np.arange(10), 100)
    capped, free = (
        np.bincount(_owners(Dirichlet(0.1, min_size=0, cap=cap), labels, 10), minlength=10).max()
        for cap in (True, False)
    )
    assert capped <= 200  # below the mean, 100, and one more class of 100 at most
    assert free > capped


def test_samples_are_shuffled_within_a_class() -> None:
    owner = _owners(Dirichlet(1000.0), np.zeros(1000, dtype=int), 2)
    assert 0.4 < owner[:500].mean() < 0.6


def test_large_alpha_is_nearly_even() -> None:
    sizes = next(Dirichlet(1000.0).draws(CIFAR10, 100, generator(0, "split"))).sum(axis=0)
    assert sizes.min() > 470
    assert sizes.max() < 530


@pytest.mark.parametrize(
    ("clients", "alpha", "chance", "median", "least_max"),
    [
        (100, 0.05, (0.05, 0.17), (230, 370), 1500),  # published: 20 of 197 tries, 2/301/2603
        (100, 0.1, (0.8, 1.0), (330, 450), 1400),  # 20 of 21, 3/379/2971
        (200, 0.1, (0.55, 0.85), (165, 235), 700),  # 20 of 28, 1/196/1536
    ],
)
def test_published_statistics_of_cifar10(
    clients: int, alpha: float, chance: tuple, median: tuple, least_max: int
) -> None:
    draws = Dirichlet(alpha).draws(CIFAR10, clients, generator(1, "split"))
    sizes = np.array([draw.sum(axis=0) for draw in islice(draws, 400)])
    accepted = sizes[sizes.min(axis=1) >= 1]
    assert (sizes.sum(axis=1) == 50_000).all()
    assert chance[0] < len(accepted) / len(sizes) < chance[1]
    assert median[0] < np.median(accepted, axis=1).mean() < median[1]
    assert accepted.min(axis=1).mean() < 12
    assert least_max < accepted.max(axis=1).mean() < 3500


def test_a_rare_acceptance_is_waited_for() -> None:
    # Published: about 1 draw in 800 is accepted, so the rule that gives up must not.
    rule = Dirichlet(0.05)
    sizes = rule.accepted(CIFAR10, 200, generator(0, "split")).sum(axis=0)
    assert sizes.min() >= 1


@pytest.mark.parametrize(("clients", "alpha"), [(1000, 0.05), (10_000, 0.1), (400, 0.05)])
def test_a_hopeless_request_ends_early_and_says_the_ways_out(clients: int, alpha: float) -> None:
    with pytest.raises(
        InputError, match=r"% of the clients are empty: use data.min_size=0"
    ) as caught:
        Dirichlet(alpha).accepted(CIFAR10, clients, generator(0, "split"))
    draws = int(str(caught.value).split(" draws")[0].split()[-1])
    assert draws <= 200


def test_the_expected_share_of_empty_clients_is_about_a_tenth() -> None:
    with pytest.raises(InputError, match=r"on average (8|9|10)\.\d\d% of the clients"):
        Dirichlet(0.1).accepted(CIFAR10, 10_000, generator(0, "split"))


def test_min_size_0_keeps_empty_clients() -> None:
    labels = np.repeat(np.arange(10), 1000)
    owner = _owners(Dirichlet(0.1, min_size=0), labels, 5000)
    assert (np.bincount(owner, minlength=5000) == 0).any()


def test_max_tries_bounds_the_draws() -> None:
    with pytest.raises(InputError, match="3 draws of max_tries=3"):
        Dirichlet(0.05, max_tries=3).accepted(CIFAR10, 200, generator(0, "split"))


def test_more_than_there_is_is_refused() -> None:
    labels = np.zeros(10, dtype=int)
    with pytest.raises(InputError, match="clients=11 is more than the 10 samples"):
        _owners(Dirichlet(min_size=0), labels, 11)
    with pytest.raises(InputError, match="need 12 samples and there are 10"):
        _owners(Dirichlet(min_size=3), labels, 4)
    with pytest.raises(InputError, match="needs the number of clients"):
        Dirichlet().owners(labels, None, None, generator(0, "split"))


def test_floating_targets_are_refused() -> None:
    with pytest.raises(InputError, match="needs one class a sample"):
        _owners(Dirichlet(), np.linspace(0, 1, 20), 2)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": "0.1"}, "alpha"),
        ({"alpha": float("nan")}, "alpha"),
        ({"alpha": float("inf")}, "alpha"),
        ({"min_size": -1}, "min_size"),
        ({"min_size": 1.5}, "min_size"),
        ({"max_tries": 0}, "max_tries"),
    ],
)
def test_options_out_of_range(options: dict, word: str) -> None:
    with pytest.raises(InputError, match=f"^{word}=.* is out of range"):
        Dirichlet(**options)
