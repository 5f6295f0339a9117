"""The measures of label skew, by hand, by plain loops, and as laws."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkeel import skew

COUNTS = np.array([[4, 0], [1, 1], [1, 3]])
EMPTY = np.array([[0, 0, 0], [2, 1, 1]])

tables = st.integers(1, 5).flatmap(
    lambda classes: st.lists(
        st.lists(st.integers(0, 50), min_size=classes, max_size=classes).filter(any),
        min_size=1,
        max_size=6,
    )
)


def test_entropy_by_hand() -> None:
    quarter = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75)) / math.log(2)
    assert skew.entropy(COUNTS).tolist() == pytest.approx([0, 1, quarter])
    assert skew.entropy(np.array([[7]])).tolist() == [0]


def test_entropy_is_over_all_classes_and_not_over_those_present() -> None:
    # A published client of CIFAR-100: 100 samples, 29 labels, 10 % in the largest, entropy .68.
    held = [10, 9, 8, 7, 6, 5, 5, *[4] * 4, *[3] * 6, *[2] * 4, *[1] * 8]
    counts = np.array([held + [0] * 71])
    assert counts.sum() == 100
    assert skew.entropy(counts)[0] == pytest.approx(0.68, abs=0.01)
    assert skew.distinct(counts).tolist() == [29]
    assert skew.dominant(counts).tolist() == [0.1]


def test_gini_by_hand() -> None:
    # sum over ordered pairs |c_i - c_j| is 8, 0, 4; 2 C sum(c) is 16, 8, 16
    assert skew.gini(COUNTS).tolist() == pytest.approx([0.5, 0, 0.25])


def test_kl_by_hand() -> None:
    whole = COUNTS.sum(axis=0)  # 6 and 4
    two = 0.5 * math.log(0.5 / 0.6) + 0.5 * math.log(0.5 / 0.4)
    three = 0.25 * math.log(0.25 / 0.6) + 0.75 * math.log(0.75 / 0.4)
    assert skew.kl(COUNTS, whole).tolist() == pytest.approx([math.log(1 / 0.6), two, three])
    assert skew.kl(COUNTS[:1] * 0 + whole, whole).tolist() == [0]


def test_kl_is_finite_where_the_whole_has_none_of_a_class() -> None:
    (nats,) = skew.kl(np.array([[0, 5]]), np.array([5, 0]))
    assert nats == pytest.approx(math.log(1e10), rel=1e-6)


def test_pairwise_by_hand() -> None:
    assert skew.pairwise(COUNTS).tolist() == pytest.approx([0.5, 0.75, 0.25])
    assert len(skew.pairwise(COUNTS[:1])) == len(skew.pairwise(EMPTY)) == 0


def test_pairwise_takes_the_same_clients_of_very_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skew, "PAIRWISE_LIMIT", 10)
    counts = np.random.default_rng(0).integers(1, 9, (50, 4))
    first = skew.pairwise(counts)
    assert len(first) == 45
    assert np.array_equal(first, skew.pairwise(counts))


def test_a_client_without_samples_has_no_numbers_and_no_weight() -> None:
    whole = EMPTY.sum(axis=0)
    for values in (
        skew.entropy(EMPTY), skew.gini(EMPTY), skew.dominant(EMPTY), skew.kl(EMPTY, whole)
    ):  # fmt: skip
        assert np.isnan(values).tolist() == [True, False]
    told = skew.summary(EMPTY, whole)
    assert told["per_client"]["size"] == [0, 4]
    assert told["per_client"]["distinct"] == [None, 3]
    assert told["metrics"]["dominant"] == 0.5
    assert told["metrics"]["pairwise"] == {"mean": None, "min": None, "max": None}


def test_a_summary_of_nobody() -> None:
    told = skew.summary(np.zeros((2, 3), np.int64), np.zeros(3, np.int64))
    assert set(told["metrics"]) == {"entropy", "distinct", "gini", "kl", "dominant", "pairwise"}
    assert told["metrics"]["entropy"] is None
    assert told["per_client"]["kl"] == [None, None]
    json.dumps(told, allow_nan=False)


def test_noisy_samples_are_those_of_clients() -> None:
    owner = np.array([0, 0, 2, -1, -2, 2])
    clean = np.array([True, False, False, False, False, False])
    assert skew.noisy(owner, clean, 4).tolist() == [1, 0, 2, 0]


def test_a_spread_by_hand() -> None:
    assert skew.spread(np.array([4, 1, 1, 2])) == (2.0, 1.5, 1.0, 4.0)
    assert skew.spread(np.zeros(0)) is None


@given(tables)
def test_measures_are_what_plain_loops_give(rows: list[list[int]]) -> None:
    counts, classes = np.array(rows), len(rows[0])
    whole = counts.sum(axis=0)
    for row, entropy, gini, kl, dominant in zip(
        rows,
        skew.entropy(counts),
        skew.gini(counts),
        skew.kl(counts, whole),
        skew.dominant(counts),
        strict=True,
    ):
        size, p = sum(row), [n / sum(row) for n in row]
        q = [int(n) / int(whole.sum()) for n in whole]
        nats = sum(share * math.log(1 / share) for share in p if share)
        assert entropy == pytest.approx(nats / math.log(max(classes, 2)), abs=1e-12)
        apart = sum(abs(a - b) for a in row for b in row)
        assert gini == pytest.approx(apart / (2 * classes * size), abs=1e-12)
        exact = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a)
        assert kl == pytest.approx(exact, abs=1e-6)  # which the smoothing moves
        assert dominant == max(row) / size


@given(tables)
def test_distances_are_what_plain_loops_give(rows: list[list[int]]) -> None:
    shares = [[n / sum(row) for n in row] for row in rows]
    apart = [
        sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
        for p, q in itertools.combinations(shares, 2)
    ]
    assert skew.pairwise(np.array(rows)).tolist() == pytest.approx(apart, abs=1e-12)


@given(tables, st.integers(2, 9))
def test_measures_stay_in_their_ranges_and_see_shares_alone(
    rows: list[list[int]], times: int
) -> None:
    counts, classes = np.array(rows), len(rows[0])
    whole = counts.sum(axis=0)
    limits = {"entropy": 1.0, "gini": 1 - 1 / classes, "dominant": 1.0, "kl": math.inf}
    told = skew.summary(counts, whole)
    again = skew.summary(times * counts, whole)
    for name, limit in limits.items():
        values = told["per_client"][name]
        assert min(values) >= 0 and max(values) <= limit + 1e-9
        assert again["per_client"][name] == pytest.approx(values, abs=1e-9)


@pytest.mark.parametrize("classes", [1, 2, 10])
def test_who_has_one_class_alone_is_at_the_end_of_every_range(classes: int) -> None:
    counts = np.eye(classes, dtype=np.int64) * 7
    assert skew.entropy(counts).tolist() == [0.0] * classes
    assert skew.gini(counts) == pytest.approx(1 - 1 / classes)
    assert skew.dominant(counts).tolist() == [1.0] * classes
    assert skew.pairwise(counts).tolist() == [1.0] * (classes * (classes - 1) // 2)
