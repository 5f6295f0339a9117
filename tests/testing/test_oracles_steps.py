"""FedProx, FedAvgM, FedOpt and clipping on two weights, against recursions in Python floats."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from fedkeel.testing.oracles import (
    ORACLES,
    Local,
    Setting,
    Visit,
    clip,
    fedadam,
    fedavgm,
    fedprox,
)

PLAIN = Setting(Local(lr=0.5, momentum=0.0, weight_decay=0.0))
XS = [2.0, -1.0, 3.0]
ONE_STEP_ROUNDS = [
    [Visit(0, 1, [(torch.tensor([[x]], dtype=torch.float64), torch.tensor([0]))])] for x in XS
]


def two_weights() -> nn.Linear:
    """Logits w_0 x and w_1 x, starting at 1 and -0.5."""
    layer = nn.Linear(1, 2, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0], [-0.5]]))
    return layer


def slope(w: Sequence[float], x: float) -> list[float]:
    """The gradient of the cross-entropy of class 0 at two weights."""
    s = 1 / (1 + math.exp(-x * (w[1] - w[0])))
    return [-x * s, x * s]


def server_by_hand(rule: Callable[[int, int, float], float]) -> list[float]:
    """Three rounds of one plain step each; `rule(weight, round from 1, D)` is the server's step."""
    w = [1.0, -0.5]
    for t, x in enumerate(XS, start=1):
        delta = [0.5 * g for g in slope(w, x)]
        w = [w[i] - rule(i, t, delta[i]) for i in range(2)]
    return w


def weight(state: dict[str, Tensor]) -> list[float]:
    """The two weights as floats."""
    return [float(v) for v in state["weight"].flatten()]


def test_fedprox_pulls_back_to_where_the_visit_started() -> None:
    local = Local(0.5, 0.9, False, 0.1)
    visit = Visit(0, 3, [round_[0].batches[0] for round_ in ONE_STEP_ROUNDS])
    start, w, v = [1.0, -0.5], [1.0, -0.5], [0.0, 0.0]
    for x in XS:
        g = slope(w, x)
        d = [g[i] + 0.3 * (w[i] - start[i]) + 0.1 * w[i] for i in range(2)]
        v = [0.9 * v[i] + d[i] for i in range(2)]
        w = [w[i] - 0.5 * v[i] for i in range(2)]
    got = weight(fedprox(two_weights(), [[visit]], Setting(local), mu=0.3))
    assert got == pytest.approx(w, abs=1e-14)


@pytest.mark.parametrize("nesterov", [False, True])
def test_fedavgm_by_hand(nesterov: bool) -> None:
    u = [0.0, 0.0]

    def rule(i: int, _: int, delta: float) -> float:
        u[i] = 0.7 * u[i] + delta
        return delta + 0.7 * u[i] if nesterov else u[i]

    got = weight(fedavgm(two_weights(), ONE_STEP_ROUNDS, PLAIN, beta=0.7, nesterov=nesterov))
    assert got == pytest.approx(server_by_hand(rule), abs=1e-14)


def second_moment(kind: str, v: float, d: float) -> float:
    """The next v of each of the three."""
    if kind == "fedadam":
        return 0.8 * v + 0.2 * d * d
    if kind == "fedyogi":
        return v - 0.2 * d * d * math.copysign(1.0, v - d * d)
    return v + d * d


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("fedadam", {"b2": 0.8}),
        ("fedadam", {"b2": 0.8, "bias_correction": True}),
        ("fedyogi", {"b2": 0.8}),
        ("fedyogi", {"b2": 0.8, "bias_correction": True}),
        ("fedadagrad", {}),
    ],
)
def test_fedopt_by_hand(kind: str, options: dict[str, Any]) -> None:
    corrected = "bias_correction" in options
    m, v = [0.0, 0.0], [0.0 if corrected else 0.05**2] * 2

    def rule(i: int, t: int, d: float) -> float:
        m[i] = 0.6 * m[i] + 0.4 * d
        v[i] = second_moment(kind, v[i], d)
        a, b = (1 - 0.6**t, 1 - 0.8**t) if corrected else (1.0, 1.0)
        return 0.3 * (m[i] / a) / (math.sqrt(v[i] / b) + 0.05)

    shared = {"lr": 0.3, "b1": 0.6, "tau": 0.05}
    got = weight(ORACLES[kind](two_weights(), ONE_STEP_ROUNDS, PLAIN, **shared, **options))
    assert got == pytest.approx(server_by_hand(rule), abs=1e-13)


def test_the_first_corrected_step_of_fedadam_is_lr_times_the_sign() -> None:
    got = weight(
        fedadam(two_weights(), ONE_STEP_ROUNDS[:1], PLAIN, lr=0.25, tau=1e-12, bias_correction=True)
    )
    assert got == pytest.approx([1.25, -0.75], abs=1e-9)


def test_the_first_step_of_fedadam_in_closed_form() -> None:
    d = 0.5 * slope([1.0, -0.5], 2.0)[0]
    step = 0.1 * 0.1 * d / (math.sqrt(0.99 * 1e-6 + 0.01 * d * d) + 1e-3)
    got = weight(fedadam(two_weights(), ONE_STEP_ROUNDS[:1], PLAIN))
    assert got == pytest.approx([1.0 - step, -0.5 + step], abs=1e-15)


def test_server_lr_multiplies_fedopts_own_lr() -> None:
    half, first = PLAIN._replace(server_lr=0.5), ONE_STEP_ROUNDS[:1]
    doubled = weight(fedadam(two_weights(), first, half, lr=0.2))
    assert doubled == pytest.approx(weight(fedadam(two_weights(), first, PLAIN, lr=0.1)))


def test_the_clients_gradient_is_clipped_before_decay_and_momentum() -> None:
    local = Local(0.5, 0.9, False, 0.1)
    visit = Visit(0, 3, [round_[0].batches[0] for round_ in ONE_STEP_ROUNDS])
    w, v = [1.0, -0.5], [0.0, 0.0]
    for x in XS:
        g = slope(w, x)
        factor = min(1.0, 0.2 / math.hypot(*g))
        v = [0.9 * v[i] + factor * g[i] + 0.1 * w[i] for i in range(2)]
        w = [w[i] - 0.5 * v[i] for i in range(2)]
    got = weight(clip(two_weights(), [[visit]], Setting(local), norm=0.2))
    assert got == pytest.approx(w, abs=1e-14)


def test_coupled_before_decay_is_clipped_too() -> None:
    setting = Setting(Local(1.0, 0.0, False, 100.0, "coupled_before"))
    end = weight(clip(two_weights(), ONE_STEP_ROUNDS[:1], setting, norm=0.25))
    assert math.hypot(end[0] - 1.0, end[1] + 0.5) == pytest.approx(0.25)


@pytest.mark.parametrize("where", ["client", "server"])
def test_a_gradient_of_length_zero_stays_zero(where: str) -> None:
    x = torch.zeros(1, 1, dtype=torch.float64)
    still = [[Visit(0, 1, [(x, torch.tensor([0]))])]]
    assert weight(clip(two_weights(), still, PLAIN, norm=1.0, where=where)) == [1.0, -0.5]
