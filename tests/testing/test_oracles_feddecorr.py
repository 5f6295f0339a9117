"""FedDecorr's oracle: the penalty by numbers, its slope by difference quotients, its zeros."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from fedkeel.testing.oracles import Local, Setting, Visit, fedavg, feddecorr
from fedkeel.testing.oracles.feddecorr import correlation, last_linear, logits_and_features
from tests.testing import tiny

SCALES = ["released", "paper"]


def rows(*values: tuple[float, ...]) -> Tensor:
    """Features, a tuple a row."""
    return torch.tensor(values, dtype=torch.float64)


def in_floats(h: list[list[float]], scale: str) -> float:
    """The penalty in Python floats."""
    n, q = len(h), len(h[0])
    z = [[0.0] * q for _ in h]
    for i in range(q):
        centre = sum(row[i] for row in h) / n
        var = sum((row[i] - centre) ** 2 for row in h) / (n - 1)
        for row, z_row in zip(h, z, strict=True):
            z_row[i] = (row[i] - centre) / math.sqrt(var + 1e-8)
    total = 0.0
    for i in range(q):
        for j in range(q):
            product = sum(row[i] * row[j] for row in z)
            if i != j:
                total += product**2 if scale == "released" else (product / (n - 1)) ** 2
    return total / (q * (q - 1)) / (n if scale == "released" else 1)


@pytest.mark.parametrize("scale", SCALES)
def test_the_penalty_in_floats(scale: str) -> None:
    h = [[0.3, -1.0, 2.0], [1.5, 0.2, 0.1], [-0.7, 0.4, 1.0], [0.0, 2.0, -1.0]]
    got = correlation(torch.tensor(h, dtype=torch.float64), scale)
    assert float(got) == pytest.approx(in_floats(h, scale), rel=1e-13)


def test_two_rows_are_all_correlated() -> None:
    """Z is +-1/sqrt 2: (Z^T Z)_12 = +-1, over two rows; the correlation itself is 1."""
    h = rows((100.0, 7000.0), (300.0, 1000.0))
    assert float(correlation(h, "released")) == pytest.approx(0.5, abs=1e-9)
    assert float(correlation(h, "paper")) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_one_row_one_dimension_and_what_is_uncorrelated_cost_nothing(scale: str) -> None:
    assert float(correlation(rows((1.0, 2.0)), scale)) == 0.0
    assert float(correlation(rows((1.0,), (2.0,)), scale)) == 0.0
    crossed = rows((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))
    assert float(correlation(crossed, scale)) == pytest.approx(0.0, abs=1e-30)


def test_features_are_what_the_head_is_given() -> None:
    net, x = tiny.normed(), torch.randn(3, 2, dtype=torch.float64)
    assert last_linear(net) == "3"
    logits, h = logits_and_features(net, x, "3")
    assert torch.equal(logits, net[3](h))
    assert h.shape == (3, 4)
    assert torch.equal(logits_and_features(net, x, "0")[1], x)


@pytest.mark.parametrize("scale", SCALES)
def test_a_step_goes_down_the_loss_with_the_penalty(scale: str) -> None:
    """One plain step moves by -lr times the slope found by difference quotients."""
    net = nn.Sequential(nn.Linear(1, 3), nn.Tanh(), nn.Linear(3, 2)).double()
    with torch.no_grad():
        net[0].weight.copy_(rows((0.5,), (-0.8,), (1.1,)))
        net[0].bias.copy_(rows((0.3, 0.6, -0.9))[0])
    x, y = rows((1.0,), (-2.0,), (0.5,)), torch.tensor([0, 1, 0])

    def whole(weight: Tensor) -> float:
        h = torch.tanh(x @ weight.T + net[0].bias)
        loss = nn.functional.cross_entropy(net[2](h), y)
        return float(loss) + 0.7 * in_floats(h.tolist(), scale)

    got = feddecorr(net, [[Visit(0, 3, [(x, y)])]], Setting(tiny.PLAIN), beta=0.7, scale=scale)
    with torch.no_grad():
        weight = net[0].weight.detach()
        for i in range(3):
            bump = torch.zeros_like(weight)
            bump[i] = 1e-6
            slope = (whole(weight + bump) - whole(weight - bump)) / 2e-6
            assert float(got["0.weight"][i, 0] - weight[i, 0]) == pytest.approx(
                -0.3 * slope, abs=1e-8
            )


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("setting", [tiny.USUAL, tiny.EVENLY])
def test_beta_zero_is_fedavg(scale: str, setting: Setting) -> None:
    plain = fedavg(tiny.normed(), tiny.MANY, setting)
    got = feddecorr(tiny.normed(), tiny.MANY, setting, beta=0.0, scale=scale)
    assert tiny.apart(got, plain) < 1e-12
    assert tiny.apart(feddecorr(tiny.normed(), tiny.MANY, setting, scale=scale), plain) > 1e-4


def test_the_head_can_be_named_and_the_scales_differ() -> None:
    ends = [
        feddecorr(tiny.normed(), tiny.MANY, tiny.USUAL, **options)
        for options in ({}, {"head": "3"}, {"head": "1"}, {"scale": "paper"})  # type: ignore[arg-type]
    ]
    assert tiny.apart(ends[0], ends[1]) == 0.0
    assert min(tiny.apart(ends[0], end) for end in ends[2:]) > 1e-6
    with pytest.raises(ValueError, match="allowed are released, paper"):
        correlation(torch.zeros(2, 2), "ours")


def test_clients_with_one_row_are_fedavgs() -> None:
    one = Local(0.1, 0.9, False, 0.05)
    x = torch.tensor([[1.0, -2.0]], dtype=torch.float64)
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2)).double()
    visits = [[Visit(0, 1, [(x, torch.tensor([1]))] * 3)]]
    got = feddecorr(net, visits, Setting(one), beta=9.0)
    assert tiny.apart(got, fedavg(net, visits, Setting(one))) < 1e-15
