"""FedDyn's oracle in Python floats: both servers, both weightings, alpha's end."""

from __future__ import annotations

import pytest
import torch

from fedkeel.testing.oracles import Setting, Visit, fedavg, feddyn, feddyn_end
from tests.testing import tiny
from tests.testing.tiny import Floats, minus, plus


def visited(w: Floats, k: int, g_k: Floats, alpha: float) -> Floats:
    """Where client k ends."""

    def bent(u: Floats, rows: tiny.Rows) -> Floats:
        return plus(minus(tiny.slope(u, rows), g_k), minus(u, w), alpha)

    return tiny.path(w, tiny.HELD[k], tiny.LOCAL, bent)[-1]


def by_hand(weighting: str, server: str, alpha: float) -> tuple[Floats, Floats, dict[int, Floats]]:
    """Four rounds; w, h and the g_k at the end."""
    w, h = list(tiny.START), [0.0] * 3
    g = {k: [0.0] * 3 for k in range(4)}
    everyone = tiny.shares(range(4), weighting)
    for cohort in tiny.COHORTS:
        ends = [visited(w, k, g[k], alpha) for k in cohort]
        for k, end in zip(cohort, ends, strict=True):
            moved = minus(end, w)
            g[k] = plus(g[k], moved, -alpha)
            h = plus(h, moved, -alpha * (everyone[k] if server == "paper" else 1 / 4))
        w = plus(tiny.weighted(tiny.shares(cohort, weighting), ends), h, -1 / alpha)
    return w, h, g


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
@pytest.mark.parametrize("server", ["paper", "released"])
def test_four_rounds_by_hand(weighting: str, server: str) -> None:
    w, h, g = by_hand(weighting, server, 0.2)
    setting = tiny.setting(weighting=weighting)
    end = feddyn_end(tiny.layer(), tiny.rounds(), setting, alpha=0.2, server=server)
    assert tiny.weights(end.state) == pytest.approx(w, abs=1e-13)
    assert tiny.weights(end.h) == pytest.approx(h, abs=1e-13)
    for k, vector in end.g_k.items():
        assert tiny.weights(vector) == pytest.approx(g[k], abs=1e-13)
    state = feddyn(tiny.layer(), tiny.rounds(), setting, alpha=0.2, server=server)
    assert tiny.apart(state, end.state) == 0.0


def test_one_plain_step_of_one_client_of_two() -> None:
    """The mean moves by .3, h / alpha by half of it more: 1/N, not 1/K."""
    setting = Setting(tiny.PLAIN, "uniform", population=(1, 1))
    visit = Visit(0, 1, [tiny.batch([(2.0, 0)])])
    end = feddyn_end(tiny.layer([0.0, 0.0]), [[visit]], setting, alpha=0.1)
    assert tiny.weights(end.state) == pytest.approx([0.45, -0.45])
    assert tiny.weights(end.h) == pytest.approx([-0.015, 0.015])
    assert tiny.weights(end.g_k[0]) == pytest.approx([-0.03, 0.03])


def test_server_lr_multiplies_all_of_the_step() -> None:
    visit = Visit(0, 1, [tiny.batch([(2.0, 0)])])
    setting = Setting(tiny.PLAIN, "uniform", 0.5, population=(1, 1))
    got = tiny.weights(feddyn(tiny.layer([0.0, 0.0]), [[visit]], setting))
    assert got == pytest.approx([0.225, -0.225])


def test_the_two_servers_meet_where_k_squared_is_n() -> None:
    """K = 2 of N = 4 under uniform weights: alpha / K^2 is alpha / N."""
    setting = tiny.setting(weighting="uniform")
    a, b = (feddyn(tiny.layer(), tiny.rounds(), setting, server=s) for s in ("paper", "released"))
    assert tiny.apart(a, b) < 1e-14
    a, b = (feddyn(tiny.layer(), tiny.rounds(), tiny.setting(), server=s) for s in
            ("paper", "released"))  # fmt: skip
    assert tiny.apart(a, b) > 1e-3


def test_alpha_zero_is_fedavg() -> None:
    got = feddyn(tiny.normed(), tiny.MANY, tiny.USUAL, alpha=0.0)
    assert tiny.apart(got, fedavg(tiny.normed(), tiny.MANY, tiny.USUAL)) == 0.0


@pytest.mark.parametrize("setting", [tiny.USUAL, tiny.EVENLY])
def test_h_is_the_mean_of_every_g_k(setting: Setting) -> None:
    end = feddyn_end(tiny.normed(), tiny.MANY, setting)
    n = setting.population if setting.weighting == "samples" else (1, 1, 1, 1, 1)
    for name, h in end.h.items():
        terms = [n[k] / sum(n) * g_k[name] for k, g_k in end.g_k.items()]
        assert torch.allclose(h, torch.stack(terms).sum(0), rtol=0.0, atol=1e-13)


def test_a_misspelt_server_is_refused() -> None:
    with pytest.raises(ValueError, match="allowed are paper, released"):
        feddyn(tiny.layer(), tiny.rounds(), tiny.setting(), server="code")
