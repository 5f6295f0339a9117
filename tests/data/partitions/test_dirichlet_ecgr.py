"""The Dirichlet partition of the ECGR experiments: rounding down, and filling up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedkeel.data.partitions.base import Facts
from fedkeel.data.partitions.dirichlet_ecgr import DirichletECGR, apportioned, filled
from fedkeel.errors import InputError
from fedkeel.numerics.random import generator

CIFAR10 = np.repeat(np.arange(10), 5000)
CIFAR100 = np.repeat(np.arange(100), 500)


def _owners(rule: DirichletECGR, labels: np.ndarray, clients: int, seed: int = 0) -> np.ndarray:
    return rule.owners(Facts(labels), clients, generator(seed, "split"))


def _sizes(owner: np.ndarray, clients: int) -> np.ndarray:
    return np.bincount(owner[owner >= 0], minlength=clients)


def _filled_by_lists(lists: list[list[int]], fill: int) -> list[list[int]]:
    """Do the same with plain lists."""
    lists = [list(held) for held in lists]
    for taker in range(len(lists)):
        while len(lists[taker]) < fill:
            giver = max(range(len(lists)), key=lambda k: (len(lists[k]), -k))
            moved = min(fill - len(lists[taker]), len(lists[giver]) - fill)
            lists[taker] += lists[giver][:moved]
            lists[giver] = lists[giver][moved:]
    return lists


@given(
    st.lists(st.integers(-1, 5), min_size=1, max_size=60),
    st.integers(0, 10),
)
def test_filling_is_that_of_plain_lists(seat: list[int], fill: int) -> None:
    clients = 6
    seats = np.array(seat)
    fill = min(fill, int((seats >= 0).sum()) // clients)
    lists = [np.flatnonzero(seats == k).tolist() for k in range(clients)]
    got = filled(seats, _sizes(seats, clients), fill)
    assert [np.flatnonzero(got == k).tolist() for k in range(clients)] == [
        sorted(held) for held in _filled_by_lists(lists, fill)
    ]
    assert np.array_equal(got == -1, seats == -1)


def test_the_largest_gives_its_first_and_never_falls_below() -> None:
    seat = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    got = filled(seat, np.array([3, 5, 0]), 2)
    assert got.tolist() == [0, 0, 0, 2, 2, 1, 1, 1]
    got = filled(seat, np.array([3, 5, 0, 0]), 2)  # 1 gives two, then 0 and 1 give one each
    assert got.tolist() == [3, 0, 0, 2, 2, 3, 1, 1]


def test_largest_remainders() -> None:
    assert apportioned(np.array([2.2, 0.9, 1.9]), 5).tolist() == [2, 1, 2]
    assert apportioned(np.array([0.5, 0.5, 0.5, 0.5]), 2).tolist() == [1, 1, 0, 0]
    assert apportioned(np.array([3.0, 0.0]), 3).tolist() == [3, 0]


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=6).filter(sum),
    st.integers(1, 8),
    st.integers(0, 6),
    st.booleans(),
    st.sampled_from([1e-6, 0.01, 0.1, 1.0, 1000.0]),
)
def test_everyone_has_the_fill_or_it_is_refused(
    counts: list[int], clients: int, fill: int, drop: bool, alpha: float
) -> None:
    labels = np.repeat(np.arange(len(counts)), counts)
    rule = DirichletECGR(alpha, fill, drop)
    try:
        owner = _owners(rule, labels, clients)
    except InputError as error:
        assert "\n" not in str(error)
        assert clients * fill > len(labels) - drop * len(counts) * clients or clients > len(labels)
        return
    assert _sizes(owner, clients).min() >= fill
    dropped = np.bincount(labels[owner < 0], minlength=len(counts))
    assert (dropped < clients).all()
    assert drop or not dropped.any()


def test_rounding_down_and_remainders_differ_by_the_remainder() -> None:
    labels = np.repeat(np.arange(3), 50)
    down, all_ = (_owners(DirichletECGR(1.0, 0, drop), labels, 7) for drop in (True, False))
    counts = [np.array([_sizes(owner[labels == c], 7) for c in range(3)]) for owner in (down, all_)]
    more = counts[1] - counts[0]
    assert set(more.ravel().tolist()) <= {0, 1}
    assert more.sum() == (down < 0).sum() > 0


@pytest.mark.parametrize("seed", range(5))
def test_published_remainders(seed: int) -> None:
    """Published: 10 to 11 samples at alpha .01 on CIFAR-10, about 500 at 1 on CIFAR-100."""
    assert 8 <= (_owners(DirichletECGR(0.01), CIFAR10, 10, seed) < 0).sum() <= 16
    assert 400 <= (_owners(DirichletECGR(1.0), CIFAR100, 10, seed) < 0).sum() <= 550


def test_published_fillers() -> None:
    """Published at alpha .01: 1 to 5 of 10 clients are filled up, and the largest hold 14,000."""
    fillers, largest, distinct = [], [], []
    for seed in range(20):
        owner = _owners(DirichletECGR(0.01), CIFAR10, 10, seed)
        sizes = _sizes(owner, 10)
        poor = np.flatnonzero(sizes == 256)
        fillers.append(len(poor))
        largest.append(sizes.max())
        distinct += [len(np.unique(CIFAR10[owner == k])) for k in poor]
    assert 1 <= np.median(fillers) <= 5
    assert max(fillers) <= 7
    assert 11_000 < np.mean(largest) < 19_000
    assert np.median(distinct) <= 2


def test_more_than_there_is_is_refused_at_once() -> None:
    labels = np.repeat(np.arange(5), 20)
    with pytest.raises(InputError, match=r"need 2560 samples and there are 100: take fewer .*0: n"):
        _owners(DirichletECGR(), labels, 10)
    with pytest.raises(InputError, match=r"need 100 samples and drop_remainder leaves \d\d: take"):
        _owners(DirichletECGR(1.0, fill=10), labels, 10)
    owner = _owners(DirichletECGR(1.0, fill=10, drop_remainder=False), labels, 10)
    assert (_sizes(owner, 10) == 10).all()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"alpha": 0}, "alpha"),
        ({"fill": -1}, "fill"),
        ({"fill": 2.5}, "fill"),
        ({"drop_remainder": 1}, "drop_remainder"),
    ],
)
def test_options_out_of_range(options: dict, word: str) -> None:
    with pytest.raises(InputError, match=f"^{word}=.* is out of range"):
        DirichletECGR(**options)
