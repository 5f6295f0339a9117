"""FedDecorr: correlations by numpy, rows that count, a loop over true batches."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor, nn

import fedkeel as fk
from fedkeel.methods.feddecorr import FedDecorr
from fedkeel.testing.worlds import apart, untraced
from tests.engines.test_tokens import session
from tests.methods.loops import Gradient, looped, mirror, step

Rows = NDArray[np.float64]


def test_the_contract() -> None:
    fk.testing.check_part(FedDecorr(0.3), crossings="none")


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def penalty(part: FedDecorr, rows: Tensor, weight: list[float] | None = None) -> Tensor:
    labels = torch.zeros(len(rows), dtype=torch.long)
    return part.penalty(step(mirror(rows.shape[1]), rows, labels, weight=weight))


def correlation(rows: Rows) -> float:
    """The mean squared correlation of two dimensions."""
    pairs = np.corrcoef(rows.T)[~np.eye(rows.shape[1], dtype=bool)]
    return float(np.mean(pairs**2))


def test_the_printed_formula_is_the_mean_squared_correlation() -> None:
    rows = drawn(7, 4)
    found = penalty(FedDecorr(0.3, "paper"), rows)
    assert found.item() == pytest.approx(0.3 * correlation(rows.numpy()), rel=1e-6)


@pytest.mark.parametrize("n", [2, 3, 9])
def test_the_released_code_is_stronger_by_about_the_number_of_rows(n: int) -> None:
    rows = drawn(n, 4)
    released, paper = (penalty(FedDecorr(0.3, scale), rows) for scale in ("released", "paper"))
    assert (released / paper).item() == pytest.approx((n - 1) ** 2 / n, rel=1e-12)


def test_two_rows_and_two_dimensions_by_hand() -> None:
    """Two rows lie on a line: both columns are +-1/sqrt(2) once standardised, so (Z^T Z)_12 = 1."""
    rows = torch.tensor([[1.0, 5.0], [3.0, 9.0]]).double()
    assert penalty(FedDecorr(1.0), rows).item() == pytest.approx(1 / 2, rel=1e-7)
    assert penalty(FedDecorr(1.0, "paper"), rows).item() == pytest.approx(1.0, rel=1e-7)


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(st.integers(2, 12), st.integers(1, 6), st.floats(0.1, 10), st.floats(-5, 5))
def test_it_is_blind_to_the_scale_and_place_of_features(
    n: int, width: int, factor: float, shift: float
) -> None:
    rows = drawn(n, width, seed=n)
    one, other = (penalty(FedDecorr(1.0, "paper"), r) for r in (rows, factor * rows + shift))
    assert one.item() == pytest.approx(other.item(), abs=1e-4)
    assert 0 <= one <= 1


@pytest.mark.parametrize("scale", ["released", "paper"])
def test_one_row_costs_nothing(scale: str) -> None:
    here = step(mirror(4), drawn(1, 4), torch.tensor([0]))
    part = FedDecorr(1.0, scale)
    assert part.penalty(here) == 0 and (here.gradient_of(part.penalty) == 0).all()
    here = step(mirror(4), drawn(3, 4), torch.tensor([0, 1, 2]), weight=[0, 0, 1])
    assert part.penalty(here) == 0 and (here.gradient_of(part.penalty) == 0).all()
    here = step(mirror(4), drawn(2, 4), torch.tensor([0, 1]), weight=[0, 0])
    assert part.penalty(here) == 0 and (here.gradient_of(part.penalty) == 0).all()


def test_one_dimension_has_no_other() -> None:
    assert penalty(FedDecorr(1.0), drawn(5, 1)) == 0


def test_dead_features_are_finite() -> None:
    rows = drawn(5, 3)
    rows[:, 1] = 0.0
    here = step(mirror(3), rows, torch.zeros(5, dtype=torch.long))
    assert FedDecorr().penalty(here).isfinite()
    assert here.gradient_of(FedDecorr().penalty).isfinite().all()


def test_rows_of_weight_zero_do_not_enter_and_others_enter_whole() -> None:
    rows = drawn(6, 3)
    short = penalty(FedDecorr(), rows[:4])
    rows[4:] = torch.tensor([1e8, -inf, nan]).double()
    padded = penalty(FedDecorr(), rows, weight=[1, 1, 1, 1, 0, 0])
    assert padded.item() == pytest.approx(short.item(), rel=1e-14)
    weighted = penalty(FedDecorr(), rows, weight=[0.5, 3, 1, 2, 0, 0])
    assert weighted.item() == pytest.approx(short.item(), rel=1e-14)


def test_of_a_sequence_each_step_with_a_target_is_a_row() -> None:
    x, y = drawn(3, 2, 4), torch.tensor([[0, 2], [1, -100], [3, 3]])
    found = FedDecorr().penalty(step(mirror(4), x, y, weight=[1, 1, 0]))
    rows = torch.stack([x[0, 0], x[0, 1], x[1, 0]])
    assert found.item() == pytest.approx(penalty(FedDecorr(), rows).item(), rel=1e-13)


def test_a_map_of_features_is_laid_flat() -> None:
    """A sample is a row whatever the shape of what the head is given."""
    model = nn.Sequential(nn.Flatten(), nn.Linear(6, 2, bias=False).double())
    task, x = fk.Task(model, head="1"), drawn(5, 2, 3)
    whole = fk.Task(nn.Sequential(model), head="0", classes=2)
    y = torch.zeros(5, dtype=torch.long)
    one, other = (FedDecorr().penalty(step(t, x, y)) for t in (task, whole))
    assert one == other > 0


def decorrelating(scale: str, beta: float) -> Gradient:
    def gradient(model: nn.Module, start: nn.Module, x: Tensor, y: Tensor, client: int) -> None:
        seen: list[Tensor] = []
        head = [m for m in model.modules() if isinstance(m, nn.Linear)][-1]
        tap = head.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
        loss = F.cross_entropy(model(x), y)
        tap.remove()
        n, width = seen[0].shape
        if n > 1:
            z = (seen[0] - seen[0].mean(0)) / (seen[0].var(0, unbiased=True) + 1e-8).sqrt()
            total = torch.zeros(()).double()
            for i in range(width):
                for j in range(width):
                    if i != j:
                        total = total + (z[:, i] @ z[:, j]) ** 2
            by = n if scale == "released" else (n - 1) ** 2
            loss = loss + beta * total / (width * (width - 1)) / by
        loss.backward()

    return gradient


@pytest.mark.parametrize(
    ("scale", "beta", "weighting"), [("released", 0.1, "samples"), ("paper", 0.5, "uniform")]
)
def test_a_plain_loop(scale: str, beta: float, weighting: str) -> None:
    gradient = decorrelating(scale, beta)
    assert apart(*looped(FedDecorr(beta, scale), gradient, weighting=weighting)) < 1e-9


def test_sequences_in_every_engine() -> None:
    one, many = session(FedDecorr(), "sequential"), session(FedDecorr(), "stacked")
    plain = session(fk.FedAvg(), "sequential")
    ends = [list(s.rounds())[-1].state_dict() for s in (one, untraced(many), many, plain)]
    assert max(apart(ends[0], ends[1]), apart(ends[0], ends[2])) < 1e-9
    assert apart(ends[0], ends[3]) > 1e-6


def test_ranges() -> None:
    with pytest.raises(fk.InputError, match=r"^beta=-0.1 is out of range"):
        FedDecorr(-0.1)
    with pytest.raises(fk.InputError, match="unknown scale 'papers': did you mean 'paper'"):
        FedDecorr(scale="papers")
