"""Statistics, against numbers by hand and against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fedkeel.results import statistics


def test_mean_and_std_by_hand():
    assert statistics.mean([2.0, 4.0, 9.0]) == 5.0
    assert statistics.std([2.0, 4.0, 9.0]) == pytest.approx(13**0.5)  # (9 + 1 + 16) / 2
    assert statistics.std([2.0]) is None


def test_the_paired_test_by_hand():
    found = statistics.paired({0: 3.0, 1: 5.0, 2: 4.0}, {0: 1.0, 1: 2.0, 2: 3.0})
    # Differences 2, 3, 1: mean 2, std 1, t = 2 / (1 / sqrt 3); with 2 degrees of freedom
    # p = 1 - t / sqrt(2 + t^2).
    t = 2 * 3**0.5
    assert found is not None
    assert (found.n, found.df, found.difference, found.std) == (3, 2, 2.0, 1.0)
    assert found.t == pytest.approx(t)
    assert found.p == pytest.approx(1 - t / (2 + t * t) ** 0.5)


@pytest.mark.parametrize("n", [2, 3, 5, 30])
def test_the_paired_test_is_that_of_scipy(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(0.5, 0.1, n), rng.normal(0.45, 0.1, n)
    found = statistics.paired(dict(enumerate(a)), dict(enumerate(b)))
    expected = stats.ttest_rel(a, b)
    assert found is not None
    assert found.t == pytest.approx(expected.statistic, rel=1e-12)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-10)
    assert found.df == expected.df


def test_pairs_are_by_seed_and_other_seeds_do_not_count():
    found = statistics.paired({5: 0.5, 1: 0.4, 9: 0.9}, {1: 0.1, 5: 0.3, 2: 0.0})
    assert found is not None
    assert found.n == 2
    assert found.difference == pytest.approx(0.25)


def test_fewer_than_two_pairs_are_no_test():
    assert statistics.paired({0: 1.0}, {0: 0.5}) is None
    assert statistics.paired({0: 1.0, 1: 1.0}, {2: 0.5, 3: 0.1}) is None


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_equal_differences_leave_nothing_to_test(shift):
    base = {0: 0.1, 1: 0.2, 2: 0.7}
    found = statistics.paired({seed: value + shift for seed, value in base.items()}, base)
    assert found is not None
    assert (found.std, found.t, found.p) == (0.0, None, None)
    assert found.difference == pytest.approx(shift)


@given(st.lists(st.tuples(*[st.floats(-1e6, 1e6)] * 2), min_size=2, max_size=8))
def test_exchanging_the_two_sides_turns_the_sign_alone(pairs):
    one = {seed: pair[0] for seed, pair in enumerate(pairs)}
    two = {seed: pair[1] for seed, pair in enumerate(pairs)}
    there, back = statistics.paired(one, two), statistics.paired(two, one)
    assert there is not None
    assert back is not None
    assert there.difference == -back.difference
    assert there.p == back.p
    assert there.p is None or 0 <= there.p <= 1


def test_rounds_to_target_is_the_first_and_never_the_initial_model():
    assert statistics.rounds_to_target({0: 0.9, 1: 0.3, 4: 0.5, 6: 0.6}, 0.5) == 4
    assert statistics.rounds_to_target({0: 0.9, 1: 0.3}, 0.5) is None
