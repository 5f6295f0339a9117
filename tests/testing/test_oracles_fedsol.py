"""FedSOL's oracle in Python floats: both perturbations, the first step, statistics."""

from __future__ import annotations

import math

import pytest
import torch

from fedkeel.testing.oracles import Setting, fedavg, fedsam, fedsol
from fedkeel.testing.oracles.fedsol import perturbation_of, unit
from tests.testing import tiny
from tests.testing.tiny import Floats, minus, plus


def proximal(u: Floats, w_t: Floats, rows: tiny.Rows, tau: float) -> Floats:
    """The gradient of KL(softmax(z_g / tau) || softmax(z / tau)): (q - q_g) / tau a logit."""
    g = [0.0] * 3
    for x, _ in rows:
        q = tiny.softmax([v * x / tau for v in u])
        q_g = tiny.softmax([v * x / tau for v in w_t])
        for c in range(3):
            g[c] += (q[c] - q_g[c]) / tau * x / len(rows)
    return g


def by_hand(weighting: str, rho: float, tau: float, kind: str) -> Floats:
    """Four rounds. A column of weights is the first axis: it is scaled to length 1 as one."""
    w = list(tiny.START)
    for cohort in tiny.COHORTS:
        w_t = w

        def slope(u: Floats, rows: tiny.Rows, w_t: Floats = w_t) -> Floats:
            g = proximal(u, w_t, rows, tau)
            size, drift = math.hypot(*g), [abs(v) for v in minus(u, w_t)]
            if size < 1e-8:
                return tiny.slope(u, rows)
            if kind == "adaptive":
                g = [g_c * d / math.hypot(*drift) for g_c, d in zip(g, drift, strict=True)]
            return tiny.slope(plus(u, g, rho / size), rows)

        ends = [tiny.path(w, tiny.HELD[k], tiny.LOCAL, slope)[-1] for k in cohort]
        w = tiny.weighted(tiny.shares(cohort, weighting), ends)
    return w


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
@pytest.mark.parametrize(("rho", "tau"), [(1.0, 3.0), (0.2, 1.0)])
@pytest.mark.parametrize("kind", ["adaptive", "plain"])
def test_four_rounds_by_hand(weighting: str, rho: float, tau: float, kind: str) -> None:
    for decay in ("coupled", "coupled_before"):
        setting = tiny.setting(tiny.LOCAL._replace(decay=decay), weighting)
        got = fedsol(tiny.layer(), tiny.rounds(), setting, rho=rho, tau=tau, perturbation=kind)
        assert tiny.weights(got) == pytest.approx(by_hand(weighting, rho, tau, kind), abs=1e-9)


def test_drift_is_scaled_along_the_first_axis() -> None:
    drift = torch.tensor([[3.0, 0.0, 1.0], [4.0, 0.0, 0.0]])
    assert unit(drift).tolist() == [[pytest.approx(0.6), 0.0, 1.0], [pytest.approx(0.8), 0.0, 0.0]]
    assert unit(torch.tensor([3.0, 4.0])).tolist() == pytest.approx([0.6, 0.8])
    assert float(unit(torch.tensor(2.0))) == 1.0


def test_the_length_is_that_of_all_tensors_together() -> None:
    w_k, w_t = tiny.normed(), tiny.normed()
    g = {name: torch.ones_like(w) for name, w in w_k.named_parameters()}
    with torch.no_grad():
        w_k[0].bias += 1.0
    count = sum(x.numel() for x in g.values())
    eps = perturbation_of(w_k, w_t, g, 2.0, "plain")
    assert all(torch.allclose(x, torch.full_like(x, 2 / math.sqrt(count))) for x in eps.values())
    eps = perturbation_of(w_k, w_t, g, 2.0, "adaptive")
    bias = eps.pop("0.bias")
    assert torch.allclose(bias, torch.full_like(bias, 0.5 * 2 / math.sqrt(count)))
    assert all(bool((x == 0).all()) for x in eps.values())
    nothing = {name: 1e-12 * x for name, x in g.items()}
    assert perturbation_of(w_k, w_t, nothing, 2.0, "plain") == {}
    assert perturbation_of(w_t, w_t, g, 2.0, "plain") == {}


@pytest.mark.parametrize("kind", ["adaptive", "plain"])
def test_the_first_step_of_a_visit_is_fedavgs(kind: str) -> None:
    """Even where a BatchNorm in its two modes tells the two models apart."""
    once = [[v._replace(batches=v.batches[:1]) for v in cohort] for cohort in tiny.MANY]
    got = fedsol(tiny.normed(), once, tiny.USUAL, rho=50.0, perturbation=kind)
    assert tiny.apart(got, fedavg(tiny.normed(), once, tiny.USUAL)) < 1e-12


@pytest.mark.parametrize("kind", ["adaptive", "plain"])
@pytest.mark.parametrize("setting", [tiny.USUAL, tiny.EVENLY])
def test_rho_zero_is_fedavg(kind: str, setting: Setting) -> None:
    plain = fedavg(tiny.normed(), tiny.MANY, setting)
    got = fedsol(tiny.normed(), tiny.MANY, setting, rho=0.0, perturbation=kind)
    assert tiny.apart(got, plain) < 1e-12
    assert tiny.apart(fedsol(tiny.normed(), tiny.MANY, setting, perturbation=kind), plain) > 1e-5


def test_statistics_are_taken_once_a_step() -> None:
    got = fedsol(tiny.normed(), tiny.MANY[:1], tiny.USUAL)
    plain = fedavg(tiny.normed(), tiny.MANY[:1], tiny.USUAL)
    assert torch.equal(got["1.num_batches_tracked"], plain["1.num_batches_tracked"])
    sam = fedsam(tiny.normed(), tiny.MANY[:1], tiny.USUAL)
    assert tiny.apart(got, sam) > 1e-6


def test_a_misspelt_perturbation_is_refused() -> None:
    with pytest.raises(ValueError, match="allowed are adaptive, plain"):
        fedsol(tiny.layer(), tiny.rounds(), tiny.setting(), perturbation="fixed")
