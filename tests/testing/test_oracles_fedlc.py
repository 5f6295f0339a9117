"""FedLC's oracle: margins by hand, absent classes, and where it is FedAvg."""

from __future__ import annotations

import math

import pytest
import torch

from fedkeel.testing.oracles import fedavg, fedlc
from fedkeel.testing.oracles.fedlc import calibrated
from tests.testing import tiny
from tests.testing.tiny import Floats


def by_hand(weighting: str, tau: float) -> Floats:
    """Four rounds; the softmax is over the classes a client holds."""
    w = list(tiny.START)
    for cohort in tiny.COHORTS:
        ends = []
        for k in cohort:
            n = tiny.counts(k)

            def slope(u: Floats, rows: tiny.Rows, n: list[int] = n) -> Floats:
                g = [0.0] * 3
                for x, y in rows:
                    e = [math.exp(u[c] * x - tau / n[c] ** 0.25) if n[c] else 0.0 for c in range(3)]
                    for c in range(3):
                        g[c] += (e[c] / sum(e) - (c == y)) * x / len(rows)
                return g

            ends.append(tiny.path(w, tiny.HELD[k], tiny.LOCAL, slope)[-1])
        w = tiny.weighted(tiny.shares(cohort, weighting), ends)
    return w


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
@pytest.mark.parametrize("tau", [0.1, 2.0])
def test_four_rounds_by_hand(weighting: str, tau: float) -> None:
    got = fedlc(tiny.layer(), tiny.rounds(), tiny.setting(weighting=weighting), tau=tau)
    assert tiny.weights(got) == pytest.approx(by_hand(weighting, tau), abs=1e-13)


def test_the_loss_of_one_row_by_numbers() -> None:
    """Equal logits; 16 and 1 rows: margins 1/2 and 1 at tau 1. The rare class must win by more."""
    z, rare = torch.zeros(1, 3, dtype=torch.float64), torch.tensor([1])
    loss = float(calibrated(z, rare, (16, 1, 0), 1.0))
    assert loss == pytest.approx(math.log(1 + math.exp(0.5)), abs=1e-15)


def test_an_absent_class_has_no_gradient() -> None:
    z = torch.tensor([[0.3, -0.2, 5.0]], dtype=torch.float64, requires_grad=True)
    calibrated(z, torch.tensor([0]), (2, 1, 0), 0.1).backward()  # type: ignore[no-untyped-call]
    assert z.grad is not None
    assert z.grad[0, 2].item() == 0.0
    assert z.grad[0, 1].item() > 0


def test_equal_counts_cancel_and_tau_zero_is_fedavg() -> None:
    plain = fedavg(tiny.normed(), tiny.MANY, tiny.USUAL)
    assert tiny.apart(fedlc(tiny.normed(), tiny.MANY, tiny.USUAL, tau=0.0), plain) < 1e-12
    equal = [[v._replace(counts=(5, 5, 5)) for v in cohort] for cohort in tiny.MANY]
    assert tiny.apart(fedlc(tiny.normed(), equal, tiny.USUAL, tau=3.0), plain) < 1e-12
    assert tiny.apart(fedlc(tiny.normed(), tiny.MANY, tiny.USUAL, tau=3.0), plain) > 1e-4


def test_counts_are_asked_for() -> None:
    bare = [[v._replace(counts=()) for v in cohort] for cohort in tiny.rounds()]
    with pytest.raises(ValueError, match=r"Visit\.counts"):
        fedlc(tiny.layer(), bare, tiny.setting())
