"""FedNova's oracle: the way of every optimiser in closed form, and four rounds in Python floats."""

from __future__ import annotations

import pytest
import torch

from fedkeel.testing.oracles import (
    Local,
    Setting,
    Visit,
    effective_steps,
    fedavg,
    fednova,
    fedprox,
)
from tests.testing import tiny
from tests.testing.tiny import Floats, minus, plus


def closed(tau: int, rho: float) -> float:
    """[tau - rho (1 - rho^tau) / (1 - rho)] / (1 - rho)."""
    return (tau - rho * (1 - rho**tau) / (1 - rho)) / (1 - rho)


def way(tau: int, local: Local, mu: float = 0.0) -> float:
    """v = x = 0; tau times g = 1 - lr mu x, v = rho v + g, x += v (Nesterov: x += g + rho v)."""
    v = x = 0.0
    for _ in range(tau):
        g = 1 - local.lr * mu * x
        v = local.momentum * v + g
        x += g + local.momentum * v if local.nesterov else v
    return x


@pytest.mark.parametrize("tau", [1, 2, 7, 40])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_the_way_along_a_gradient_of_one(tau: int, rho: float) -> None:
    local = Local(0.2, rho, weight_decay=0.3)  # decay does not count
    assert effective_steps(tau, local) == pytest.approx(closed(tau, rho), rel=1e-12)
    if rho:
        nesterov = local._replace(nesterov=True)
        by_sum = sum((1 - rho ** (j + 1)) / (1 - rho) for j in range(1, tau + 1))
        assert effective_steps(tau, nesterov) == pytest.approx(by_sum, rel=1e-12)
        assert effective_steps(tau, nesterov, 0.4) == pytest.approx(way(tau, nesterov, 0.4))
    assert effective_steps(tau, local, 0.4) == pytest.approx(way(tau, local, 0.4), rel=1e-12)


def test_the_way_by_numbers() -> None:
    assert effective_steps(40, Local(0.1, 0.9)) == pytest.approx(311.33, abs=5e-3)
    assert effective_steps(40, Local(0.1, 0.9, True)) == pytest.approx(320.20, abs=5e-3)
    assert effective_steps(0, Local()) == 0.0
    geometric = (1 - (1 - 0.1 * 2.0) ** 5) / (0.1 * 2.0)
    assert effective_steps(5, Local(0.1, 0.0), 2.0) == pytest.approx(geometric, rel=1e-13)


def by_hand(weighting: str, steps: str, mu: float, lrs: list[float]) -> Floats:
    """Four rounds."""
    w = list(tiny.START)
    for cohort, lr in zip(tiny.COHORTS, lrs, strict=True):
        local, w_t = tiny.LOCAL._replace(lr=lr), w

        def pulled(u: Floats, rows: tiny.Rows, w_t: Floats = w_t) -> Floats:
            return plus(tiny.slope(u, rows), minus(u, w_t), mu)

        p = tiny.shares(cohort, weighting)
        tau = [len(tiny.HELD[k]) for k in cohort]
        a = [float(t) if steps == "count" else way(t, local, mu) for t in tau]
        ends = [tiny.path(w, tiny.HELD[k], local, pulled)[-1] for k in cohort]
        d = [[v / a_k for v in minus(w, end)] for end, a_k in zip(ends, a, strict=True)]
        tau_eff = sum(p_k * a_k for p_k, a_k in zip(p, a, strict=True))
        w = plus(w, tiny.weighted(p, d), -tau_eff)
    return w


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
@pytest.mark.parametrize("steps", ["momentum", "count"])
@pytest.mark.parametrize("mu", [0.0, 0.7])
def test_four_rounds_by_hand(weighting: str, steps: str, mu: float) -> None:
    setting = tiny.setting(weighting=weighting)
    for lrs in ([0.3] * 4, [0.3, 0.2, 0.1, 0.05]):
        got = fednova(tiny.layer(), tiny.rounds(), setting, steps=steps, prox=mu, lrs=lrs)
        expected = by_hand(weighting, steps, mu, lrs)
        assert tiny.weights(got) == pytest.approx(expected, abs=1e-12)


def test_two_clients_of_one_and_three_plain_steps() -> None:
    """a = 1 and 3, tau_eff = 2: a third of the long way and all of the short one, twice."""
    setting = Setting(tiny.PLAIN, "uniform")
    rows: list[tiny.Rows] = [[(2.0, 0)]] * 3
    visits = [Visit(0, 1, [tiny.batch(rows[0])]), Visit(1, 1, [tiny.batch(r) for r in rows])]
    short, long = (tiny.path([0.0, 0.0], rows[:n], tiny.PLAIN)[-1][0] for n in (1, 3))
    got = tiny.weights(fednova(tiny.layer([0.0, 0.0]), [visits], setting))
    assert got[0] == pytest.approx(2 * (short / 1 + long / 3) / 2, abs=1e-14)


@pytest.mark.parametrize("steps", ["momentum", "count"])
@pytest.mark.parametrize("setting", [tiny.USUAL, tiny.EVENLY])
def test_equal_lengths_are_fedavg(steps: str, setting: Setting) -> None:
    visits = [[v._replace(batches=v.batches[:1]) for v in cohort] for cohort in tiny.MANY]
    got = fednova(tiny.normed(), visits, setting, steps=steps)
    assert tiny.apart(got, fedavg(tiny.normed(), visits, setting)) < 1e-12
    pulled = fednova(tiny.normed(), visits, setting, steps=steps, prox=0.5)
    assert tiny.apart(pulled, fedprox(tiny.normed(), visits, setting, mu=0.5)) < 1e-12
    unequal = fednova(tiny.normed(), tiny.MANY, setting, steps=steps)
    assert tiny.apart(unequal, fedavg(tiny.normed(), tiny.MANY, setting)) > 1e-4


def test_buffers_are_averaged_with_plain_weights() -> None:
    got = fednova(tiny.normed(), tiny.MANY[:1], tiny.USUAL)
    plain = fedavg(tiny.normed(), tiny.MANY[:1], tiny.USUAL)
    for name in ("1.running_mean", "1.running_var", "1.num_batches_tracked"):
        assert torch.equal(got[name], plain[name])


def test_a_client_without_steps_is_left_out() -> None:
    idle = Visit(3, 60, [])
    with_it, without = (
        fednova(tiny.layer(), [[*tiny.rounds()[0], *more]], tiny.setting()) for more in ([idle], [])
    )
    assert tiny.apart(with_it, without) < 1e-15
    alone = fednova(tiny.layer(), [[idle]], tiny.setting())
    assert tiny.weights(alone) == tiny.START


def test_a_misspelt_word_is_refused() -> None:
    with pytest.raises(ValueError, match="allowed are momentum, count"):
        fednova(tiny.layer(), tiny.rounds(), tiny.setting(), steps="number")
