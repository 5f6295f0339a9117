"""FedACG's oracle in Python floats: what is sent, what is pulled to, what is kept."""

from __future__ import annotations

import pytest
import torch

from fedkeel.testing.oracles import Setting, Visit, fedacg, fedacg_end, fedavg, fedprox
from tests.testing import tiny
from tests.testing.tiny import Floats, minus, plus


def by_hand(weighting: str, lam: float, beta: float, server_lr: float) -> tuple[Floats, Floats]:
    """Four rounds; w and m at the end."""
    w, m = list(tiny.START), [0.0] * 3
    for cohort in tiny.COHORTS:
        sent = plus(w, m, lam)

        def slope(u: Floats, rows: tiny.Rows, sent: Floats = sent) -> Floats:
            return plus(tiny.slope(u, rows), minus(u, sent), 2 * beta)

        ends = [tiny.path(sent, tiny.HELD[k], tiny.LOCAL, slope)[-1] for k in cohort]
        moved = [minus(end, sent) for end in ends]
        m = plus([lam * v for v in m], tiny.weighted(tiny.shares(cohort, weighting), moved))
        w = plus(w, m, server_lr)
    return w, m


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
@pytest.mark.parametrize(("lam", "beta", "server_lr"), [(0.85, 1e-3, 1.0), (0.5, 0.4, 0.7)])
def test_four_rounds_by_hand(weighting: str, lam: float, beta: float, server_lr: float) -> None:
    w, m = by_hand(weighting, lam, beta, server_lr)
    setting = tiny.setting(weighting=weighting, server_lr=server_lr)
    end = fedacg_end(tiny.layer(), tiny.rounds(), setting, lam=lam, beta=beta)
    assert tiny.weights(end.state) == pytest.approx(w, abs=1e-13)
    assert tiny.weights(end.m) == pytest.approx(m, abs=1e-13)
    state = fedacg(tiny.layer(), tiny.rounds(), setting, lam=lam, beta=beta)
    assert tiny.apart(state, end.state) == 0.0


def test_the_next_model_is_the_mean_of_the_clients() -> None:
    """Momentum acts through the point that is sent alone: w + m = mean w_k."""
    second = fedacg(tiny.layer(), tiny.rounds()[:2], tiny.setting(), beta=0.0)
    unpulled = fedacg_end(tiny.layer(), tiny.rounds()[:1], tiny.setting(), beta=0.0)
    sent = plus(tiny.weights(unpulled.state), tiny.weights(unpulled.m), 0.85)
    ends = [tiny.path(sent, tiny.HELD[k], tiny.LOCAL)[-1] for k in tiny.COHORTS[1]]
    mean = tiny.weighted(tiny.shares(tiny.COHORTS[1], "samples"), ends)
    assert tiny.weights(second) == pytest.approx(mean, abs=1e-13)


def test_one_plain_step_by_numbers() -> None:
    visit = Visit(0, 1, [tiny.batch([(2.0, 0)])])
    end = fedacg_end(tiny.layer([0.0, 0.0]), [[visit]], Setting(tiny.PLAIN))
    assert tiny.weights(end.m) == pytest.approx([0.3, -0.3])


@pytest.mark.parametrize("setting", [tiny.USUAL, tiny.EVENLY])
def test_without_momentum_it_is_fedprox_and_without_both_fedavg(setting: Setting) -> None:
    got = fedacg(tiny.normed(), tiny.MANY, setting, lam=0.0, beta=0.2)
    assert tiny.apart(got, fedprox(tiny.normed(), tiny.MANY, setting, mu=0.4)) < 1e-12
    got = fedacg(tiny.normed(), tiny.MANY, setting, lam=0.0, beta=0.0)
    assert tiny.apart(got, fedavg(tiny.normed(), tiny.MANY, setting)) < 1e-12
    got = fedacg(tiny.normed(), tiny.MANY, setting, beta=0.0)
    assert tiny.apart(got, fedavg(tiny.normed(), tiny.MANY, setting)) > 1e-4


def test_buffers_that_stay_with_their_clients_come_back_to_them() -> None:
    setting = tiny.USUAL._replace(buffers="local")
    got = fedacg(tiny.normed(), tiny.MANY, setting, lam=0.0, beta=0.0)
    assert tiny.apart(got, fedavg(tiny.normed(), tiny.MANY, setting)) < 1e-12
    assert torch.equal(got["1.running_mean"], torch.zeros(4, dtype=torch.float64))
