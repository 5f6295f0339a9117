"""SCAFFOLD's oracle in Python floats, its invariant, its reductions and its fixed point."""

from __future__ import annotations

import pytest
import torch

from fedkeel.testing.oracles import Local, Setting, Visit, fedavg, scaffold, scaffold_end
from tests.testing import tiny
from tests.testing.tiny import Floats, minus, plus


def way(tau: int, rho: float, nesterov: bool = False) -> float:
    """How far momentum goes along a gradient of 1."""
    v = a = 0.0
    for _ in range(tau):
        v = rho * v + 1
        a += 1 + rho * v if nesterov else v
    return a


def visited(w: Floats, k: int, shift: Floats, local: Local, correction: str) -> Floats:
    """Where client k ends."""
    if correction == "gradient":
        return tiny.path(w, tiny.HELD[k], local, lambda u, rows: plus(tiny.slope(u, rows), shift))[
            -1
        ]
    v = [0.0] * len(w)
    for rows in tiny.HELD[k]:
        g = plus(tiny.slope(w, rows), w, local.weight_decay)
        v = [local.momentum * v_c + g_c for v_c, g_c in zip(v, g, strict=True)]
        w = plus(plus(w, v, -local.lr), shift, -local.lr)
    return w


def by_hand(
    weighting: str, correction: str, lrs: list[float], server_lr: float
) -> tuple[Floats, Floats, dict[int, Floats]]:
    """Four rounds; w, c and the c_k at the end."""
    w, c = list(tiny.START), [0.0] * 3
    c_k = {k: [0.0] * 3 for k in range(4)}
    everyone = tiny.shares(range(4), weighting)
    for cohort, lr in zip(tiny.COHORTS, lrs, strict=True):
        local = tiny.LOCAL._replace(lr=lr)
        ends = [visited(w, k, minus(c, c_k[k]), local, correction) for k in cohort]
        delta, change = [minus(w, end) for end in ends], [0.0] * 3
        for k, d in zip(cohort, delta, strict=True):
            tau = len(tiny.HELD[k])
            a = way(tau, local.momentum) if correction == "gradient" else float(tau)
            new = plus(minus(c_k[k], c), d, 1 / (lr * a))
            change = plus(change, minus(new, c_k[k]), everyone[k])
            c_k[k] = new
        w = plus(w, tiny.weighted(tiny.shares(cohort, weighting), delta), -server_lr)
        c = plus(c, change)
    return w, c, c_k


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
@pytest.mark.parametrize("correction", ["gradient", "velocity"])
@pytest.mark.parametrize("lrs", [[0.3] * 4, [0.3, 0.2, 0.1, 0.05]])
def test_four_rounds_by_hand(weighting: str, correction: str, lrs: list[float]) -> None:
    w, c, c_k = by_hand(weighting, correction, lrs, 0.8)
    given = () if lrs == [0.3] * 4 else lrs
    setting = tiny.setting(weighting=weighting, server_lr=0.8)
    end = scaffold_end(tiny.layer(), tiny.rounds(), setting, correction=correction, lrs=given)
    assert tiny.weights(end.state) == pytest.approx(w, abs=1e-13)
    assert tiny.weights(end.c) == pytest.approx(c, abs=1e-13)
    for k, vector in end.c_k.items():
        assert tiny.weights(vector) == pytest.approx(c_k[k], abs=1e-13)


def test_the_first_control_variate_of_one_plain_step_is_the_gradient() -> None:
    """1/N, not 1/K: of two clients one is visited, so c is half its gradient."""
    setting = Setting(tiny.PLAIN, "uniform", population=(1, 1))
    visit = Visit(0, 1, [tiny.batch([(2.0, 0)])])
    end = scaffold_end(tiny.layer([0.0, 0.0]), [[visit]], setting)
    assert tiny.weights(end.state) == pytest.approx([0.3, -0.3])
    assert tiny.weights(end.c_k[0]) == pytest.approx([-1.0, 1.0])
    assert tiny.weights(end.c) == pytest.approx([-0.5, 0.5])


@pytest.mark.parametrize("setting", [tiny.USUAL, tiny.EVENLY])
@pytest.mark.parametrize("correction", ["gradient", "velocity"])
def test_c_is_the_mean_of_every_c_k(setting: Setting, correction: str) -> None:
    end = scaffold_end(tiny.normed(), tiny.MANY, setting, correction=correction)
    n = setting.population if setting.weighting == "samples" else (1, 1, 1, 1, 1)
    for name, c in end.c.items():
        terms = [n[k] / sum(n) * c_k[name] for k, c_k in end.c_k.items()]
        assert torch.allclose(c, torch.stack(terms).sum(0), rtol=0.0, atol=1e-13)


def test_an_absent_clients_state_is_what_it_was() -> None:
    before = scaffold_end(tiny.normed(), tiny.MANY[:1], tiny.USUAL).c_k
    after = scaffold_end(tiny.normed(), tiny.MANY[:2], tiny.USUAL).c_k
    assert set(before) == {0, 1, 2}
    for k, same in ((0, True), (2, True), (1, False)):
        assert all(torch.equal(before[k][n], after[k][n]) for n in before[k]) is same


@pytest.mark.parametrize("correction", ["gradient", "velocity"])
def test_one_client_alone_is_fedavg(correction: str) -> None:
    """c = c_k: the correction is nothing."""
    visits = [[round_[0]._replace(client=0)] for round_ in tiny.MANY]
    setting = tiny.USUAL._replace(population=[3])
    got = scaffold(tiny.normed(), visits, setting, correction=correction)
    assert tiny.apart(got, fedavg(tiny.normed(), visits, setting)) < 1e-12


def test_the_first_round_is_fedavgs() -> None:
    got = scaffold(tiny.normed(), tiny.MANY[:1], tiny.USUAL)
    assert tiny.apart(got, fedavg(tiny.normed(), tiny.MANY[:1], tiny.USUAL)) == 0.0


def test_without_momentum_the_corrections_are_one() -> None:
    setting = tiny.USUAL._replace(local=Local(0.1, 0.0, False, 0.05))
    a = scaffold(tiny.normed(), tiny.MANY, setting)
    b = scaffold(tiny.normed(), tiny.MANY, setting, correction="velocity")
    assert tiny.apart(a, b) < 1e-12
    a, b = (scaffold(tiny.normed(), tiny.MANY, tiny.USUAL, correction=c) for c in
            ("gradient", "velocity"))  # fmt: skip
    assert tiny.apart(a, b) > 1e-6


def test_nesterovs_way_divides() -> None:
    setting = Setting(Local(0.3, 0.9, True, 0.0), population=(2,))
    x = torch.tensor([[2.0]], dtype=torch.float64)
    visit = Visit(0, 2, [(x, torch.tensor([0]))] * 2)
    end = scaffold_end(tiny.layer([0.0, 0.0]), [[visit]], setting)
    moved = -end.state["weight"]  # from zero
    assert torch.allclose(end.c_k[0]["weight"], moved / (0.3 * way(2, 0.9, True)), atol=1e-14)


def test_a_client_without_batches_keeps_its_variate() -> None:
    idle = [[*tiny.MANY[0], Visit(3, 6, [])]]
    end = scaffold_end(tiny.normed(), [*tiny.MANY[:1], *idle], tiny.USUAL)
    assert all(bool((c == 0).all()) for c in end.c_k[3].values())


def test_a_population_is_asked_for_and_words_are_checked() -> None:
    with pytest.raises(ValueError, match="population"):
        scaffold(tiny.layer(), tiny.rounds(), Setting(tiny.PLAIN))
    with pytest.raises(ValueError, match="correction is 'speed'"):
        scaffold(tiny.layer(), tiny.rounds(), tiny.setting(), correction="speed")
