"""Cuts by shares, and dealing classes out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkeel.data.partitions.dealing import by_class, concentration, cut, deal, seats, shares, whole
from fedkeel.errors import InputError
from fedkeel.numerics.random import generator


@given(st.integers(0, 1000), st.integers(1, 30), st.sampled_from([1e-6, 0.1, 1.0, 1e9]))
def test_a_cut_gives_everything_out(count: int, clients: int, alpha: float) -> None:
    share = shares(alpha, clients, generator(count, "split"))
    sizes = cut(count, share)
    assert sizes.sum() == count
    assert sizes.min() >= 0
    assert (abs(sizes - share * count) < 1 + 1e-9 * count).all()


def test_the_last_share_takes_what_rounding_left() -> None:
    assert cut(5, np.array([1 / 3, 1 / 3, 1 / 3])).tolist() == [1, 2, 2]
    assert cut(1, np.array([0.5, 0.5])).tolist() == [0, 1]


@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 0.099, 0.1, 1e9])
def test_shares_are_shares_at_every_concentration(alpha: float) -> None:
    share = shares(alpha, 1000, generator(0, "split"))
    assert np.isfinite(share).all()
    assert (share >= 0).all()
    assert share.sum() == pytest.approx(1)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40))
def test_rows_hold_class_after_class(labels: list[int]) -> None:
    order = by_class(np.array(labels), generator(0, "split"))
    assert sorted(order.tolist()) == list(range(len(labels)))
    assert [labels[i] for i in order] == sorted(labels)


def test_a_class_is_shuffled() -> None:
    order = by_class(np.zeros(50, dtype=int), generator(0, "split"))
    assert order.tolist() != list(range(50))


def test_seats_of_classes_without_samples() -> None:
    counts, sizes = np.array([0, 2, 0, 3]), np.array([[0, 0], [1, 1], [0, 0], [2, 0]])
    assert seats(counts, sizes).tolist() == [0, 1, 0, 0, -1]


def test_a_deal_has_the_sizes_given() -> None:
    labels = np.array([3, 1, 1, 3, 3, 1, 1])
    sizes = np.array([[0, 0], [1, 3], [0, 0], [2, 0]])
    owner = deal(labels, sizes, generator(0, "split"))
    assert np.bincount(owner[labels == 1], minlength=2).tolist() == [1, 3]
    assert sorted(owner[labels == 3].tolist()) == [-1, 0, 0]


@pytest.mark.parametrize("value", [0, 1e-7, 1e10, -1.0, float("nan"), float("inf"), "0.1", True])
def test_what_is_no_concentration(value: object) -> None:
    with pytest.raises(InputError, match=r"^alpha=.* a number from 1e-6 to 1e9$"):
        concentration("alpha", value)


@pytest.mark.parametrize("value", [0, -1, 1.0, "1", True, None])
def test_what_is_no_whole_number(value: object) -> None:
    with pytest.raises(InputError, match=r"^fill=.* an integer >= 1$"):
        whole("fill", value, 1)


def test_whole_numbers_of_numpy_are_whole() -> None:
    whole("fill", np.int64(3), 1)
    concentration("alpha", np.float32(0.5))
