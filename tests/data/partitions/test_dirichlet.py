"""The Dirichlet partition: its rules for all inputs, and its published statistics."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedkeel.data.partitions.base import Facts
from fedkeel.data.partitions.dirichlet import Dirichlet
from fedkeel.errors import InputError
from fedkeel.numerics.random import generator

CIFAR10 = np.full(10, 5000)
CIFAR100 = np.full(100, 500)
TINY_IMAGENET = np.full(200, 500)
# EMNIST by class, about, in hundreds
_DIGITS = "346 384 342 351 335 314 342 358 339 338"
_CAPITALS = "64 39 100 46 49 92 25 32 119 38 25 51 90 82 250 83 26 51 208 98 126 46 27 28 47 27"
_SMALL = "100 52 29 102 246 26 37 87 27 19 25 153 26 114 27 24 30 141 27 183 28 29 27 28 24 27"
EMNIST = 100 * np.array(f"{_DIGITS} {_CAPITALS} {_SMALL}".split(), dtype=int)


def _owners(rule: Dirichlet, labels: np.ndarray, clients: int, seed: int = 0) -> np.ndarray:
    return rule.owners(Facts(labels), clients, generator(seed, "split"))


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


# Data, clients, alpha and min_size; accepted and made, of an independent program in the scheme of
# the experiments; one of its draws: smallest, median and largest size, share of clients below 50;
# and how many draws to make here.
PUBLISHED = [
    (CIFAR10, 100, 0.05, 1, (20, 197), (2, 301, 2603), 0.22, 400),
    (CIFAR10, 100, 0.1, 1, (20, 21), (3, 379, 2971), 0.05, 200),
    (CIFAR10, 200, 0.05, 1, (20, 16512), (1, 172, 1476), 0.23, 3000),
    (CIFAR10, 200, 0.1, 1, (20, 28), (1, 196, 1536), 0.16, 200),
    (CIFAR10, 100, 1.0, 1, (20, 20), (239, 517, 840), 0.0, 100),
    (CIFAR10, 100, 1000.0, 1, (20, 20), (487, 500, 517), 0.0, 100),
    (CIFAR100, 100, 0.05, 1, (20, 20), (186, 511, 743), 0.0, 100),
    (CIFAR100, 200, 0.05, 1, (20, 20), (81, 254, 510), 0.0, 100),
    (CIFAR100, 400, 0.05, 1, (20, 20), (16, 128, 306), 0.02, 60),
    (CIFAR100, 800, 0.05, 1, (20, 20), (9, 64, 154), 0.23, 40),
    (TINY_IMAGENET, 500, 0.05, 1, (20, 20), (100, 204, 334), 0.0, 30),
    (TINY_IMAGENET, 1000, 0.05, 1, (20, 20), (28, 102, 199), 0.02, 30),
    (EMNIST, 1000, 0.05, 62, (20, 404), (76, 699, 3332), 0.0, 200),
]


def _accepted(
    rule: Dirichlet, counts: np.ndarray, clients: int, made: int, seed: int = 1
) -> np.ndarray:
    """Return the clients' sizes in every accepted draw ``(accepted, clients)``."""
    draws = islice(rule.draws(counts, clients, generator(seed, "split")), made)
    sizes = np.array([draw.sum(axis=0) for draw in draws])
    assert (sizes.sum(axis=1) == counts.sum()).all()
    return sizes[sizes.min(axis=1) >= rule.min_size]


def _statistics(sizes: np.ndarray) -> np.ndarray:
    """Return smallest, median and largest size and the share below 50 ``(draws, 4)``."""
    small = (sizes < 50).mean(axis=1)
    return np.stack([sizes.min(axis=1), np.median(sizes, axis=1), sizes.max(axis=1), small], axis=1)


def _beyond(published: tuple, share: float, statistics: np.ndarray) -> np.ndarray:
    """Return how many deviations a published draw lies from the mean of ours.

    Figures are printed in whole samples and hundredths, so that is the least deviation.
    """
    deviation = np.maximum(statistics.std(axis=0, ddof=1), [1, 1, 1, 0.01])
    return abs(np.array([*published, share]) - statistics.mean(axis=0)) / deviation


@pytest.mark.parametrize(
    ("counts", "clients", "alpha", "least", "tries", "sizes", "share", "made"),
    PUBLISHED,
    ids=[f"{len(row[0])} classes-{row[1]}-{row[2]}" for row in PUBLISHED],
)
def test_published_statistics(
    counts: np.ndarray,
    clients: int,
    alpha: float,
    least: int,
    tries: tuple[int, int],
    sizes: tuple[int, int, int],
    share: float,
    made: int,
) -> None:
    accepted = _accepted(Dirichlet(alpha, least), counts, clients, made)
    assert (_beyond(sizes, share, _statistics(accepted)) < 4).all()
    theirs, ours = tries[0] / tries[1], len(accepted) / made
    pooled = (tries[0] + len(accepted)) / (tries[1] + made)
    error = np.sqrt(pooled * (1 - pooled) * (1 / tries[1] + 1 / made))
    assert abs(theirs - ours) <= 3.5 * error


@pytest.mark.parametrize("row", [8, 9])
def test_published_statistics_need_the_cap(row: int) -> None:
    counts, clients, alpha, _, _, sizes, share, made = PUBLISHED[row]
    free = _accepted(Dirichlet(alpha, cap=False), counts, clients, made)
    assert (_beyond(sizes, share, _statistics(free)) > 4).any()


def _by_the_scheme(
    counts: np.ndarray, clients: int, alpha: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw sizes as the scheme is written: zero the shares of full clients, scale, cut."""
    held = np.zeros(clients, dtype=int)
    for count in counts:
        share = rng.dirichlet(np.full(clients, alpha)) * (held < counts.sum() / clients)
        cuts = (np.cumsum(share / share.sum()) * count).astype(int)[:-1]
        held += np.diff([0, *cuts, count])
    return held


@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_sizes_are_distributed_as_in_the_scheme(alpha: float) -> None:
    rng = np.random.default_rng(0)
    theirs = _statistics(np.array([_by_the_scheme(CIFAR10, 60, alpha, rng) for _ in range(400)]))
    ours = _statistics(_accepted(Dirichlet(alpha, min_size=0), CIFAR10, 60, 400))
    error = np.sqrt((theirs.var(axis=0) + ours.var(axis=0)) / 400)
    assert (abs(theirs.mean(axis=0) - ours.mean(axis=0)) <= 4 * error).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_rare_acceptance_is_waited_for(seed: int) -> None:
    # Published: about 1 draw in 800 is accepted, so the rule that gives up must not.
    rule = Dirichlet(0.05)
    sizes = rule.accepted(CIFAR10, 200, generator(seed, "split")).sum(axis=0)
    assert sizes.min() >= 1


@pytest.mark.parametrize(("clients", "alpha"), [(1000, 0.05), (10_000, 0.1), (400, 0.05)])
def test_a_hopeless_request_ends_early_and_says_the_ways_out(clients: int, alpha: float) -> None:
    with pytest.raises(
        InputError, match=r"% of the clients are empty: use data.min_size=0"
    ) as caught:
        Dirichlet(alpha).accepted(CIFAR10, clients, generator(0, "split"))
    draws = int(str(caught.value).split(" draws")[0].split()[-1])
    assert draws <= 200


class _Empty(Dirichlet):
    """Draws in which 10 and 16 of 100 clients are empty, in turn."""

    def draws(
        self, counts: np.ndarray, clients: int, rng: np.random.Generator
    ) -> Iterator[np.ndarray]:
        for empty in cycle((10, 16)):
            yield (np.arange(clients)[None] >= empty).astype(int)


def test_few_draws_are_no_proof() -> None:
    """The mean of 13 is hopeless in 10,000 tries; 20 draws leave 11 possible, which is not."""
    with pytest.raises(InputError, match=r": 200 draws of .* on average 13.00% of the clients"):
        _Empty().accepted(CIFAR10, 100, generator(0, "split"))


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
        Dirichlet().owners(Facts(labels), None, generator(0, "split"))


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
        ({"min_size": True}, "min_size"),
        ({"max_tries": 0}, "max_tries"),
        ({"cap": 1}, "cap"),
    ],
)
def test_options_out_of_range(options: dict, word: str) -> None:
    with pytest.raises(InputError, match=f"^{word}=.* is out of range"):
        Dirichlet(**options)


def test_a_hopeless_request_ends_after_twenty_draws() -> None:
    with pytest.raises(InputError, match="20 draws of max_tries=10000"):
        _owners(Dirichlet(0.05), np.repeat(np.arange(10), 5000), 1000)
