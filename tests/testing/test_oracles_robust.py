"""The robust means by numbers on a few updates, and around FedAvg's clients."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from fedkeel.testing.oracles import (
    ORACLES,
    Setting,
    Tensors,
    Visit,
    fedavg,
    krum,
    median,
    norm_bounded,
    trimmed_mean,
)
from fedkeel.testing.oracles.robust import bounded, krum_scores, middle, nearest_ones, trimmed
from tests.testing import tiny
from tests.testing.tiny import Floats, minus


def updates(*vectors: tuple[float, ...]) -> list[Tensors]:
    """Updates of two tensors: the first coordinate, and the others."""
    return [{"a": torch.tensor(v[:1]).double(), "b": torch.tensor(v[1:]).double()} for v in vectors]


def flat(tensors: Tensors) -> Floats:
    """All coordinates."""
    return [float(v) for name in ("a", "b") for v in tensors[name]]


FIVE = updates((1.0, 9.0), (2.0, -100.0), (4.0, 7.0), (50.0, 8.0), (3.0, 6.0))
EVEN = [0.2] * 5


def test_the_median_takes_each_coordinate_by_itself() -> None:
    assert flat(middle(FIVE, EVEN)) == [3.0, 7.0]
    assert flat(middle(FIVE[:4], EVEN)) == [3.0, 7.5]  # of four: the mean of the middle two
    assert flat(middle(FIVE[:1], [1.0])) == [1.0, 9.0]
    assert flat(middle(FIVE, [0.9, 0.1, 0.0, 0.0, 0.0])) == [3.0, 7.0]  # weights do not count


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.0, [12.0, -14.0]),
        (0.1, [12.0, -14.0]),  # floor(.1 of 5) = 0 at each side
        (0.2, [3.0, 7.0]),
        (0.39, [3.0, 7.0]),
        (0.4, [3.0, 7.0]),
    ],
)
def test_the_trimmed_mean_cuts_the_floor_at_each_side(share: float, expected: Floats) -> None:
    assert flat(trimmed(FIVE, EVEN, share)) == pytest.approx(expected)


def test_a_decimal_share_cuts_what_it_says() -> None:
    """29 of 100, though .29 * 100 is below 29 in binary: the cubes of 30 to 71 are left."""
    hundred = updates(*[(float(i) ** 3, 0.0) for i in range(1, 101)])
    left = [i**3 for i in range(30, 72)]
    assert flat(trimmed(hundred, [0.01] * 100, 0.29))[0] == pytest.approx(sum(left) / len(left))


def test_krum_scores_count_the_nearest_without_oneself() -> None:
    """K = 5, f = 1: the two nearest, squared."""
    line = updates((0.0, 0.0), (1.0, 0.0), (3.0, 0.0), (6.0, 0.0), (100.0, 0.0))
    expected = [1.0 + 9, 1.0 + 4, 4.0 + 9, 9.0 + 25, 94.0**2 + 97**2]
    assert krum_scores(line, 1) == pytest.approx(expected)
    assert krum_scores(line, 0)[1] == pytest.approx(1 + 4 + 25)
    assert flat(nearest_ones(line, EVEN, 1, 1)) == [1.0, 0.0]
    assert flat(nearest_ones(line, [0, 0, 0, 0, 1.0], 1, 2)) == [0.5, 0.0]
    assert flat(nearest_ones(line, EVEN, 1, 3)) == pytest.approx([4 / 3, 0.0])


def test_krum_measures_all_tensors_together_and_ties_go_to_the_first() -> None:
    square = updates((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (9.0, 9.0))
    assert krum_scores(square, 1)[:4] == [2.0] * 4
    assert flat(nearest_ones(square, EVEN, 1, 1)) == [0.0, 0.0]
    assert flat(nearest_ones(square, EVEN, 1, 2)) == [0.0, 0.5]


@pytest.mark.parametrize(("f", "m"), [(2, 1), (1, 6)])
def test_krum_refuses_a_cohort_that_is_too_small(f: int, m: int) -> None:
    with pytest.raises(ValueError, match="larger cohort than 5"):
        nearest_ones(FIVE, EVEN, f, m)


def test_long_updates_are_scaled_and_short_ones_are_not() -> None:
    two = updates((3.0, 4.0), (0.6, 0.8))
    assert flat(bounded(two, [0.25, 0.75], 2.0)) == pytest.approx([0.3 + 0.45, 0.4 + 0.6])
    assert flat(bounded(two, [0.25, 0.75], 9.0)) == pytest.approx([0.75 + 0.45, 1.0 + 0.6])
    nothing = updates((0.0, 0.0), (0.0, 0.0))
    assert flat(bounded(nothing, [0.5, 0.5], "median")) == [0.0, 0.0]


def test_the_median_length_bounds() -> None:
    """Lengths 5, 1, 10: bound 5. Of lengths 5 and 1 it is 3."""
    three = updates((3.0, 4.0), (0.6, 0.8), (-6.0, -8.0))
    p = [0.5, 0.25, 0.25]
    assert flat(bounded(three, p, "median")) == pytest.approx([1.5 + 0.15 - 0.75, 2 + 0.2 - 1])
    assert flat(bounded(three[:2], [0.5, 0.5], "median")) == pytest.approx([0.9 + 0.3, 1.2 + 0.4])


def deltas(w: Floats, cohort: list[int]) -> list[Floats]:
    """w_t - w_k of a cohort of the four clients."""
    return [minus(w, tiny.path(w, tiny.HELD[k], tiny.LOCAL)[-1]) for k in cohort]


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
def test_a_run_with_medians_and_with_bounds_by_hand(weighting: str) -> None:
    middles, shorts = list(tiny.START), list(tiny.START)
    cohorts = [[0, 1, 2], [1, 2, 3]]
    for cohort in cohorts:
        columns = zip(*deltas(middles, cohort), strict=True)
        middles = minus(middles, [sorted(column)[1] for column in columns])
        sent = deltas(shorts, cohort)
        bound = sorted(math.hypot(*d) for d in sent)[1]
        sent = [[v * min(1.0, bound / math.hypot(*d)) for v in d] for d in sent]
        shorts = minus(shorts, tiny.weighted(tiny.shares(cohort, weighting), sent))
    setting = tiny.setting(weighting=weighting)
    got = median(tiny.layer(), tiny.rounds(cohorts), setting)
    assert tiny.weights(got) == pytest.approx(middles, abs=1e-13)
    got = norm_bounded(tiny.layer(), tiny.rounds(cohorts), setting)
    assert tiny.weights(got) == pytest.approx(shorts, abs=1e-13)


NEUTRAL: list[tuple[str, dict[str, Any], Setting]] = [
    ("trimmed_mean", {"share": 0.0}, tiny.EVENLY),
    ("trimmed_mean", {"share": 0.32}, tiny.EVENLY),  # floor(.96) of three
    ("norm_bounded", {"norm": 1e9}, tiny.USUAL),
    ("krum", {"f": 0, "m": 3}, tiny.EVENLY),
]


@pytest.mark.parametrize(("name", "options", "setting"), NEUTRAL)
def test_where_they_are_fedavg(name: str, options: dict[str, Any], setting: Setting) -> None:
    got = ORACLES[name](tiny.normed(), tiny.MANY, setting, **options)
    assert tiny.apart(got, fedavg(tiny.normed(), tiny.MANY, setting)) < 1e-12


def test_a_false_update_is_outvoted() -> None:
    """Four honest clients and one that went wild: every robust mean stays near the honest."""
    honest = tiny.rounds()[0][1]
    wild = Visit(9, 50, [tiny.batch([(1e3, 2)])])
    cohort = [honest._replace(client=k) for k in range(4)] + [wild]
    alone = fedavg(tiny.layer(), [[honest]], tiny.setting(tiny.PLAIN))
    for run in (median, krum, lambda *a: trimmed_mean(*a, share=0.2)):
        assert tiny.apart(run(tiny.layer(), [cohort], tiny.setting(tiny.PLAIN)), alone) < 1e-12
    pulled = norm_bounded(tiny.layer(), [cohort], tiny.setting(tiny.PLAIN))
    assert 0.01 < tiny.apart(pulled, alone) < 2.0


def test_buffers_are_averaged_as_in_fedavg() -> None:
    plain = fedavg(tiny.normed(), tiny.MANY[:1], tiny.USUAL)
    for name in ("median", "trimmed_mean", "norm_bounded"):
        got = ORACLES[name](tiny.normed(), tiny.MANY[:1], tiny.USUAL)
        assert torch.equal(got["1.running_var"], plain["1.running_var"])
