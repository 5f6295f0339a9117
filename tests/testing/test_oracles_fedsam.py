"""FedSAM's oracle in Python floats; statistics, weights and decay stay at the model's own point."""

from __future__ import annotations

import math

import pytest
import torch

from fedkeel.testing.oracles import Local, Setting, fedavg, fedsam
from tests.testing import tiny
from tests.testing.tiny import Floats, plus


def by_hand(weighting: str, rho: float) -> Floats:
    """Four rounds."""

    def slope(u: Floats, rows: tiny.Rows) -> Floats:
        g = tiny.slope(u, rows)
        return tiny.slope(plus(u, g, rho / math.hypot(*g)), rows)

    w = list(tiny.START)
    for cohort in tiny.COHORTS:
        ends = [tiny.path(w, tiny.HELD[k], tiny.LOCAL, slope)[-1] for k in cohort]
        w = tiny.weighted(tiny.shares(cohort, weighting), ends)
    return w


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
@pytest.mark.parametrize("rho", [0.05, 1.0])
@pytest.mark.parametrize("decay", ["coupled", "coupled_before"])
def test_four_rounds_by_hand(weighting: str, rho: float, decay: str) -> None:
    """Decay is wd times the model's own w, wherever it is added, and no part of the ascent."""
    setting = tiny.setting(tiny.LOCAL._replace(decay=decay), weighting)
    got = fedsam(tiny.layer(), tiny.rounds(), setting, rho=rho)
    assert tiny.weights(got) == pytest.approx(by_hand(weighting, rho), abs=1e-11)


@pytest.mark.parametrize("setting", [tiny.USUAL, tiny.EVENLY])
def test_rho_zero_is_fedavg(setting: Setting) -> None:
    plain = fedavg(tiny.normed(), tiny.MANY, setting)
    assert tiny.apart(fedsam(tiny.normed(), tiny.MANY, setting, rho=0.0), plain) < 1e-12
    assert tiny.apart(fedsam(tiny.normed(), tiny.MANY, setting), plain) > 1e-5


def test_a_flat_place_is_left_alone() -> None:
    still = [[v._replace(batches=[tiny.batch([(0.0, 0)])]) for v in tiny.rounds()[0]]]
    got = fedsam(tiny.layer(), still, tiny.setting(tiny.PLAIN), rho=5.0)
    assert tiny.weights(got) == tiny.START


def test_statistics_are_taken_once_and_at_the_models_own_point() -> None:
    once = [[v._replace(batches=v.batches[:1]) for v in tiny.MANY[0]]]
    got = fedsam(tiny.normed(), once, tiny.USUAL, rho=2.0)
    plain = fedavg(tiny.normed(), once, tiny.USUAL)
    for name in ("1.running_mean", "1.running_var", "1.num_batches_tracked"):
        assert torch.equal(got[name], plain[name])
    assert float((got["0.weight"] - plain["0.weight"]).abs().max()) > 1e-4


def test_a_step_never_ends_at_the_point_it_looked_from() -> None:
    """With a tiny lr the weights stay where they are, however far the look goes."""
    setting = tiny.USUAL._replace(local=Local(1e-12, 0.0, False, 0.0))
    got = fedsam(tiny.normed(), tiny.MANY, setting, rho=3.0)
    assert float((got["0.weight"] - tiny.normed().state_dict()["0.weight"]).abs().max()) < 1e-9
