"""FedVARP's oracle in Python floats: which y is used when, and with which weights."""

from __future__ import annotations

import pytest
import torch

from fedkeel.testing.oracles import Setting, Visit, fedavg, fedvarp, fedvarp_end
from tests.testing import tiny
from tests.testing.tiny import Floats, minus, plus


def by_hand(weighting: str, server_lr: float) -> tuple[Floats, Floats, dict[int, Floats]]:
    """Four rounds; w, y and the y_k at the end. y is summed anew from all y_k every round."""
    w, y_k = list(tiny.START), {k: [0.0] * 3 for k in range(4)}
    everyone = tiny.shares(range(4), weighting)
    for cohort in tiny.COHORTS:
        y = tiny.weighted(everyone, list(y_k.values()))
        delta = [minus(w, tiny.path(w, tiny.HELD[k], tiny.LOCAL)[-1]) for k in cohort]
        news = [minus(d, y_k[k]) for k, d in zip(cohort, delta, strict=True)]
        v = plus(y, tiny.weighted(tiny.shares(cohort, weighting), news))
        w = plus(w, v, -server_lr)
        y_k.update(zip(cohort, delta, strict=True))
    return w, tiny.weighted(everyone, list(y_k.values())), y_k


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
def test_four_rounds_by_hand(weighting: str) -> None:
    w, y, y_k = by_hand(weighting, 0.8)
    setting = tiny.setting(weighting=weighting, server_lr=0.8)
    end = fedvarp_end(tiny.layer(), tiny.rounds(), setting)
    assert tiny.weights(end.state) == pytest.approx(w, abs=1e-13)
    assert tiny.weights(end.y) == pytest.approx(y, abs=1e-13)
    for k, vector in end.y_k.items():
        assert tiny.weights(vector) == pytest.approx(y_k[k], abs=1e-13)
    assert tiny.apart(fedvarp(tiny.layer(), tiny.rounds(), setting), end.state) == 0.0


def test_two_rounds_of_one_client_of_two() -> None:
    """From zero a step moves by .3, and y is half of it."""
    setting = Setting(tiny.PLAIN, "uniform", population=(1, 1))
    visits = [[Visit(k, 1, [tiny.batch([(2.0, 0)])])] for k in (0, 1)]
    first = fedvarp_end(tiny.layer([0.0, 0.0]), visits[:1], setting)
    assert tiny.weights(first.state) == pytest.approx([0.3, -0.3])
    assert tiny.weights(first.y) == pytest.approx([-0.15, 0.15])
    moved = 0.3 * tiny.slope([0.3, -0.3], [(2.0, 0)])[0]
    second = fedvarp(tiny.layer([0.0, 0.0]), visits, setting)
    assert tiny.weights(second)[0] == pytest.approx(0.3 + 0.15 - moved)


@pytest.mark.parametrize("setting", [tiny.USUAL, tiny.EVENLY])
def test_y_is_the_mean_of_every_y_k(setting: Setting) -> None:
    end = fedvarp_end(tiny.normed(), tiny.MANY, setting)
    n = setting.population if setting.weighting == "samples" else (1, 1, 1, 1, 1)
    for name, y in end.y.items():
        terms = [n[k] / sum(n) * y_k[name] for k, y_k in end.y_k.items()]
        assert torch.allclose(y, torch.stack(terms).sum(0), rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
def test_with_everyone_it_is_fedavg(weighting: str) -> None:
    """y cancels: v = y + mean D_k - mean y_k."""
    visits = tiny.rounds([range(4)] * 4)
    setting = tiny.setting(weighting=weighting)
    got = fedvarp(tiny.layer(), visits, setting)
    assert tiny.apart(got, fedavg(tiny.layer(), visits, setting)) < 1e-13


def test_the_first_round_is_fedavgs() -> None:
    got = fedvarp(tiny.normed(), tiny.MANY[:1], tiny.USUAL)
    assert tiny.apart(got, fedavg(tiny.normed(), tiny.MANY[:1], tiny.USUAL)) < 1e-15


def test_buffers_are_averaged_and_never_stand_in_for_the_absent() -> None:
    got = fedvarp(tiny.normed(), tiny.MANY, tiny.USUAL)
    plain = fedavg(tiny.normed(), tiny.MANY, tiny.USUAL)
    assert torch.equal(got["1.num_batches_tracked"], plain["1.num_batches_tracked"])
    assert bool((got["1.running_var"] > 0).all())
