"""FedNTD's oracle: the distillation by hand, what it ignores, and where it is FedAvg."""

from __future__ import annotations

import math

import pytest
import torch

from fedkeel.testing.oracles import Setting, fedavg, fedntd
from fedkeel.testing.oracles.fedntd import divergence, not_true
from tests.testing import tiny
from tests.testing.tiny import Floats


def by_hand(weighting: str, beta: float, tau: float) -> Floats:
    """Four rounds; the gradient of tau^2 KL is tau (q - q_g) at every class but the label's."""
    w = list(tiny.START)
    for cohort in tiny.COHORTS:
        w_t = w

        def slope(u: Floats, rows: tiny.Rows, w_t: Floats = w_t) -> Floats:
            g = tiny.slope(u, rows)
            for x, y in rows:
                others = [c for c in range(3) if c != y]
                q = tiny.softmax([u[c] * x / tau for c in others])
                q_g = tiny.softmax([w_t[c] * x / tau for c in others])
                for c, a, b in zip(others, q, q_g, strict=True):
                    g[c] += beta * tau * (a - b) * x / len(rows)
            return g

        ends = [tiny.path(w, tiny.HELD[k], tiny.LOCAL, slope)[-1] for k in cohort]
        w = tiny.weighted(tiny.shares(cohort, weighting), ends)
    return w


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
@pytest.mark.parametrize(("beta", "tau"), [(1.0, 1.0), (2.0, 0.5), (0.3, 3.0)])
def test_four_rounds_by_hand(weighting: str, beta: float, tau: float) -> None:
    setting = tiny.setting(weighting=weighting)
    got = fedntd(tiny.layer(), tiny.rounds(), setting, beta=beta, tau=tau)
    assert tiny.weights(got) == pytest.approx(by_hand(weighting, beta, tau), abs=1e-13)


def test_the_divergence_by_numbers() -> None:
    """From (1/2, 1/2) to (3/4, 1/4): ln 2 - ln 3 / 2; the other way round is another number."""
    even = torch.zeros(1, 2, dtype=torch.float64)
    uneven = torch.tensor([[math.log(3.0), 0.0]], dtype=torch.float64)
    assert float(divergence(even, uneven)) == pytest.approx(math.log(2) - math.log(3) / 2)
    back = 0.75 * math.log(1.5) + 0.25 * math.log(0.5)
    assert float(divergence(uneven, even)) == pytest.approx(back)


def test_the_true_class_is_left_out() -> None:
    z = torch.arange(6.0).reshape(2, 3)
    assert not_true(z, torch.tensor([0, 2])).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_two_classes_have_nothing_to_distil() -> None:
    two = [[v._replace(batches=[tiny.batch([(1.5, 0), (-1.0, 1)])] * 2) for v in tiny.rounds()[0]]]
    got = fedntd(tiny.layer([0.5, 0.1]), two, tiny.setting(), beta=9.0)
    assert tiny.apart(got, fedavg(tiny.layer([0.5, 0.1]), two, tiny.setting())) < 1e-15


@pytest.mark.parametrize("setting", [tiny.USUAL, tiny.EVENLY])
def test_beta_zero_is_fedavg(setting: Setting) -> None:
    plain = fedavg(tiny.normed(), tiny.MANY, setting)
    assert tiny.apart(fedntd(tiny.normed(), tiny.MANY, setting, beta=0.0), plain) < 1e-12
    assert tiny.apart(fedntd(tiny.normed(), tiny.MANY, setting), plain) > 1e-5


def test_the_received_model_is_in_eval_mode_and_its_statistics_stay() -> None:
    """Without a step taken, the norm alone tells the two models apart; its buffers are FedAvg's."""
    once = [[tiny.MANY[0][0]]]
    got = fedntd(tiny.normed(), once, tiny.USUAL, beta=5.0)
    plain = fedavg(tiny.normed(), once, tiny.USUAL)
    assert torch.equal(got["1.running_mean"], plain["1.running_mean"])
    assert torch.equal(got["1.num_batches_tracked"], plain["1.num_batches_tracked"])
    assert tiny.apart(got, plain) > 1e-4
