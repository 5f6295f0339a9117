"""Shares of the whole federation, and the small words that the newer oracles share."""

from __future__ import annotations

import pytest
import torch

from fedkeel.testing.oracles import Local, Setting, population_weights
from fedkeel.testing.oracles.descent import gradient, in_round
from fedkeel.testing.oracles.plain import mean
from tests.testing import tiny


def test_shares_of_the_population() -> None:
    setting = Setting(Local(), population=(3, 0, 1))
    assert population_weights(setting) == [0.75, 0.0, 0.25]
    assert population_weights(setting._replace(weighting="uniform")) == [0.5, 0.0, 0.5]


@pytest.mark.parametrize("population", [(), (0, 0)])
def test_a_population_without_samples_is_refused(population: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"Setting\.population"):
        population_weights(Setting(Local(), population=population))
    with pytest.raises(ValueError, match="allowed are samples, uniform"):
        population_weights(Setting(Local(), "sample", population=(1,)))


def test_a_schedule_gives_every_round_its_lr() -> None:
    assert in_round(tiny.LOCAL, (), 3) == tiny.LOCAL
    assert in_round(tiny.LOCAL, (0.1, 0.2), 1) == tiny.LOCAL._replace(lr=0.2)


def test_a_mean_weighs_every_tensor() -> None:
    two = [{"a": torch.tensor([1.0, 2.0])}, {"a": torch.tensor([5.0, -2.0])}]
    assert mean([0.25, 0.75], two)["a"].tolist() == [4.0, -1.0]


def test_a_gradient_leaves_out_what_the_loss_does_not_see() -> None:
    net = tiny.normed()
    net[1].requires_grad_(False)
    got = gradient((net[0](torch.ones(1, 2).double()) ** 2).sum(), net)
    assert set(got) == {"0.weight", "0.bias"}
