"""A number of classes for each client."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedkeel.data.partitions.base import Facts
from fedkeel.data.partitions.classes import Classes, hands
from fedkeel.errors import InputError
from fedkeel.numerics.random import generator


def _counts(each: int, labels: np.ndarray, clients: int, seed: int = 0) -> np.ndarray:
    """Count ``(classes, clients)``."""
    owner = Classes(each).owners(Facts(labels), clients, generator(seed, "split"))
    held = owner >= 0
    cells = labels[held] * clients + owner[held]
    return np.bincount(cells, minlength=(labels.max() + 1) * clients).reshape(-1, clients)


@given(st.integers(1, 40), st.integers(1, 12), st.data())
def test_hands_are_distinct_and_holders_are_balanced(
    clients: int, classes: int, data: st.DataObject
) -> None:
    each = data.draw(st.integers(1, classes))
    held = hands(clients, classes, each, generator(0, "split"))
    assert all(len(set(hand)) == each for hand in held.tolist())
    holders = np.bincount(held.ravel(), minlength=classes)
    assert holders.max() - holders.min() <= 1


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 2**40), st.data())
def test_every_client_holds_its_classes_and_shares_them_evenly(
    clients: int, classes: int, seed: int, data: st.DataObject
) -> None:
    each = data.draw(st.integers(1, classes))
    stock = [data.draw(st.integers(clients, 40)) for _ in range(classes)]
    counts = _counts(each, np.repeat(np.arange(classes), stock), clients, seed)
    assert ((counts > 0).sum(axis=0) == each).all()
    for row, total in zip(counts, stock, strict=True):
        held = row[row > 0]
        assert not held.size or (held.sum() == total and held.max() - held.min() <= 1)


def test_classes_without_samples_are_no_classes() -> None:
    labels = np.repeat([0, 3, 7], 10)
    assert (_counts(3, labels, 2).sum(axis=0) == 15).all()
    with pytest.raises(InputError, match=r"^classes_per_client=4 is more than the 3 classes .* 3 "):
        _counts(4, labels, 2)


def test_a_class_of_fewer_samples_than_holders_runs_out() -> None:
    labels = np.array([0, 0, 1, 1, 1, 1, 1, 1])
    counts = _counts(2, labels, 3)
    assert sorted(counts[0].tolist()) == [0, 1, 1]
    assert counts[1].tolist() == [2, 2, 2]


def test_classes_without_a_holder_are_nobodys(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        counts = _counts(2, np.repeat(np.arange(7), 4), 3)
    assert sorted(counts.sum(axis=1).tolist()) == [0, 4, 4, 4, 4, 4, 4]
    message = "clients=3 of classes_per_client=2 leave 1 of 7 classes without a client"
    assert caplog.messages == [message]


def test_who_gets_one_more_is_drawn() -> None:
    first = {int(_counts(1, np.zeros(3, dtype=int), 2, seed)[0, 0]) for seed in range(20)}
    assert first == {1, 2}


def test_who_holds_what_is_drawn() -> None:
    kinds = {tuple(sorted(hand)) for hand in hands(100, 10, 2, generator(0, "split")).tolist()}
    assert len(kinds) > 25  # of 45


def test_options_out_of_range() -> None:
    with pytest.raises(InputError, match=r"^classes_per_client=0 is out of range"):
        Classes(0)
