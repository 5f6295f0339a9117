"""The robust means: by hand, beside plain loops, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import fedkeel as fk
from fedkeel.methods.robust import Krum, Median, NormBounded, TrimmedMean
from fedkeel.numerics.mean import weighted_mean
from fedkeel.numerics.robust import cut_of, inner_mean, squared_distances
from fedkeel.testing.worlds import Lab, apart

ROWS = torch.tensor([[1.0, 9.0], [3.0, 8.0], [2.0, -100.0], [100.0, 6.0]])
WEIGHTS = torch.tensor([0.1, 0.2, 0.3, 0.4])
many = settings(max_examples=25, deadline=None, derandomize=True, database=None)


def stacks() -> st.SearchStrategy[Tensor]:
    """Updates of some clients, some of them equal."""

    def build(seed: int, count: int, width: int, kinds: int) -> Tensor:
        made = torch.Generator().manual_seed(seed)
        rows = torch.randn(kinds, width, generator=made, dtype=torch.float64)
        return rows[torch.randint(kinds, (count,), generator=made)]

    return st.builds(
        build, st.integers(0, 2**32), st.integers(1, 9), st.integers(1, 5), st.integers(1, 9)
    )


def uniform(rows: Tensor) -> Tensor:
    return torch.full((len(rows),), 1 / len(rows), dtype=rows.dtype)


# --- by hand ---


def test_the_median_by_hand() -> None:
    assert Median().mean(ROWS[:3], WEIGHTS[:3]).tolist() == [2.0, 8.0]
    assert Median().mean(ROWS, WEIGHTS).tolist() == [2.5, 7.0]
    assert Median().mean(ROWS[:2], WEIGHTS[:2]).tolist() == [2.0, 8.5]
    assert torch.equal(Median().mean(ROWS[:1], WEIGHTS[:1]), ROWS[0])


def test_the_trimmed_mean_by_hand() -> None:
    assert TrimmedMean(0.25).mean(ROWS, WEIGHTS).tolist() == [2.5, 7.0]
    assert TrimmedMean(0.24).mean(ROWS, WEIGHTS).tolist() == [26.5, -19.25]
    assert TrimmedMean(0.34).mean(ROWS[:3], WEIGHTS[:3]).tolist() == [2.0, 8.0]
    assert TrimmedMean(0.33).mean(ROWS[:3], WEIGHTS[:3]).tolist() == pytest.approx([2, -83 / 3])


@pytest.mark.parametrize(
    ("share", "count", "cut"),
    [(0.1, 9, 0), (0.1, 10, 1), (0.29, 100, 29), (0.499, 5, 2), (0.4999999999999, 2, 0), (0, 7, 0)],
)
def test_how_many_are_cut(share: float, count: int, cut: int) -> None:
    assert cut_of(share, count) == cut
    assert len(inner_mean(torch.zeros(count, 1), cut)) == 1


def test_krum_by_hand() -> None:
    """Five on a line, f = 1: two nearest each, scores 5, 2, 5, 53, 17461 of 0, 1, 2, 6 and 100."""
    line = torch.tensor([[0.0], [1.0], [2.0], [6.0], [100.0]])
    assert Krum(1).mean(line, uniform(line)).item() == 1.0
    assert Krum(1, 2).mean(line, uniform(line)).item() == 0.5  # 0 and 2 score alike: the first
    assert Krum(1, 3).mean(line, uniform(line)).item() == 1.0
    assert Krum(0, 5).mean(line, uniform(line)).item() == pytest.approx(109 / 5)


def test_norm_bounded_by_hand() -> None:
    rows = torch.tensor([[3.0, 4.0], [0.0, 1.0], [0.0, 10.0], [0.0, 0.0]])
    shortened = torch.tensor([[1.8, 2.4], [0.0, 1.0], [0.0, 3.0], [0.0, 0.0]])
    for norm in ("median", 3.0):  # lengths 5, 1, 10, 0: the median is 3
        torch.testing.assert_close(NormBounded(norm).mean(rows, WEIGHTS), WEIGHTS @ shortened)
    none = torch.zeros(3, 2)
    assert torch.equal(NormBounded().mean(none, uniform(none)), none[0])
    scaled = NormBounded(3.0).mean(rows, 7 * WEIGHTS)  # only the weights' proportions count
    torch.testing.assert_close(scaled, WEIGHTS @ shortened)


# --- laws ---


@many
@given(stacks())
def test_the_median_is_numpys(rows: Tensor) -> None:
    np.testing.assert_allclose(Median().mean(rows, uniform(rows)), np.median(rows.numpy(), axis=0))


@many
@given(stacks(), st.floats(0, 0.499))
def test_the_trimmed_mean_is_a_loop(rows: Tensor, share: float) -> None:
    cut = int(share * len(rows) + 1e-9)
    expected = []
    for column in rows.T.tolist():
        inner = sorted(column)[cut : len(rows) - cut]
        expected.append(sum(inner) / len(inner))
    np.testing.assert_allclose(
        TrimmedMean(share).mean(rows, uniform(rows)), expected, rtol=1e-12, atol=1e-12
    )


@many
@given(st.integers(0, 2**32), st.integers(5, 9), st.integers(0, 1), st.integers(1, 5))
def test_krum_is_a_loop(seed: int, count: int, f: int, m: int) -> None:
    rows = torch.randn(count, 3, generator=torch.Generator().manual_seed(seed)).double()
    scores = []
    for row in rows:
        gaps = sorted(float((row - other).square().sum()) for other in rows)
        scores.append(sum(gaps[1 : count - f - 1]))  # without the first, which is its own
    best = sorted(range(count), key=lambda i: (scores[i], i))[:m]
    expected = sum(rows[i] for i in best) / m
    torch.testing.assert_close(Krum(f, m).mean(rows, uniform(rows)), expected)


@many
@given(stacks(), st.floats(0.01, 5))
def test_norm_bounded_is_a_loop(rows: Tensor, norm: float) -> None:
    weights = torch.arange(1, len(rows) + 1, dtype=torch.float64)
    short = [row * min(1.0, norm / max(float(row.norm()), 1e-300)) for row in rows]
    expected = sum(w * row for w, row in zip(weights, short, strict=True)) / weights.sum()
    torch.testing.assert_close(NormBounded(norm).mean(rows, weights), expected)


@many
@given(stacks())
def test_what_all_say_is_what_is_heard(rows: Tensor) -> None:
    alike = rows[:1].expand(5, -1)
    for part in (Median(), TrimmedMean(0.3), Krum(), NormBounded()):
        torch.testing.assert_close(part.mean(alike, uniform(alike)), rows[0])


def test_wild_updates_do_not_move_them_far() -> None:
    made = torch.Generator().manual_seed(0)
    honest = torch.randn(7, 4, generator=made).double()
    rows = torch.cat([honest, torch.full((2, 4), 1e12, dtype=torch.float64)])
    for part in (Median(), TrimmedMean(0.25), Krum(2), NormBounded()):
        found = part.mean(rows, uniform(rows))
        assert found.isfinite().all() and found.abs().max() <= honest.norm(dim=1).max()


def test_ties_go_to_the_first() -> None:
    rows = torch.tensor([[9.0], [1.0], [1.0], [-1.0], [-1.0], [-9.0]])  # a mirror: 1 and -1 tie
    assert Krum(1).mean(rows, uniform(rows)).item() == 1.0
    assert Krum(1).mean(rows.flip(0), uniform(rows)).item() == -1.0


def test_close_rows_lose_no_digits() -> None:
    rows = 1e8 + torch.tensor([[0.0, 0.0], [1e-6, 0.0], [0.0, 3e-6]], dtype=torch.float64)
    exact = (rows[:, None] - rows).square().sum(-1)
    assert torch.equal(squared_distances(rows), exact)


def test_long_updates_are_taken_in_pieces() -> None:
    made = torch.Generator().manual_seed(0)
    rows = torch.randn(5, 20_001, generator=made)
    torch.testing.assert_close(Median().mean(rows, uniform(rows)), rows.median(0).values)
    torch.testing.assert_close(
        TrimmedMean(0.0).mean(rows, uniform(rows)), weighted_mean(rows, uniform(rows))
    )
    exact = torch.cdist(rows.double(), rows.double()).square()
    torch.testing.assert_close(squared_distances(rows), exact)


# --- in a run ---


@pytest.mark.parametrize("part", [Krum(), NormBounded()], ids=repr)
def test_the_contract(part: fk.Part) -> None:
    fk.testing.check_part(part, crossings="none")


def test_where_they_are_fedavg() -> None:
    plain = Lab("mlp", {"weighting": "uniform"})
    average = plain.run(fk.FedAvg())[-1].state_dict()
    for part in (TrimmedMean(0.0), Krum(0, 4), TrimmedMean(0.2)):  # of four a fifth is nobody
        assert apart(plain.run(part)[-1].state_dict(), average) < 1e-12
    one, other = (Lab().run(p)[-1].state_dict() for p in (NormBounded().neutral(), fk.FedAvg()))
    assert apart(one, other) == 0
    pair = Lab("mlp", {"weighting": "uniform"}, {"cohort": 2})
    one, other = (pair.run(p)[-1].state_dict() for p in (Median(), fk.FedAvg()))
    assert apart(one, other) < 1e-12


@pytest.mark.parametrize(
    ("part", "counts"),
    [(Median(), False), (TrimmedMean(), False), (Krum(0), False), (NormBounded(), True)],
    ids=repr,
)
def test_the_weighting_counts_for_norm_bounded_alone(part: fk.Part, counts: bool) -> None:
    ends = [
        Lab("mlp", {"weighting": how}, {"rounds": 1}).run(part)[-1].state_dict()
        for how in ("samples", "uniform")
    ]
    assert (apart(*ends) > 1e-9) == counts


def test_two_means_are_refused_by_name() -> None:
    with pytest.raises(fk.InputError) as error:
        fk.compose(Median(), fk.gc_fed(), Krum())
    said = str(error.value)
    assert "Median()" in said and "Krum(f=1, m=1)" in said and "\n" not in said


@pytest.mark.parametrize(("part", "least"), [(Krum(), 5), (Krum(2), 7), (Krum(0, 7), 7)], ids=repr)
def test_a_cohort_too_small_for_krum_is_refused_before_anything_runs(
    part: Krum, least: int
) -> None:
    with pytest.raises(fk.InputError) as error:
        Lab().session(fk.gc_fed(), part, cohort=least - 1)
    said = str(error.value)
    assert f"cohort={least - 1}" in said and repr(part) in said and "\n" not in said
    assert Lab().session(fk.gc_fed(), part, cohort=least).world.cohort == least


def test_krum_needs_enough_answers() -> None:
    with pytest.raises(fk.InputError, match=r"Krum\(f=1, m=1\) needs .* at least 5 .* 4 came back"):
        Krum().mean(ROWS, WEIGHTS)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: TrimmedMean(0.5), r"share=0.5 .* \[0, 0.5\)"),
        (lambda: TrimmedMean(-0.1), "share=-0.1"),
        (lambda: TrimmedMean(float("nan")), "share=nan"),
        (lambda: Krum(-1), "f=-1 .* an integer >= 0"),
        (lambda: Krum(1, 0), "m=0 .* an integer >= 1"),
        (lambda: Krum(1.0), "f=1.0"),
        (lambda: Krum(True), "f=True"),
        (lambda: NormBounded(0.0), "norm=0.0 .* a number > 0"),
        (lambda: NormBounded(float("nan")), "norm=nan"),
        (lambda: NormBounded("medain"), "did you mean 'median'"),
        (lambda: NormBounded(True), "norm=True"),
    ],
)
def test_what_is_out_of_range_is_refused_in_one_line(wrong: object, said: str) -> None:
    assert callable(wrong)
    with pytest.raises(fk.InputError, match=said) as error:
        wrong()
    assert "\n" not in str(error.value)
