"""FedSAM: the climb by hand, and a loop that walks up and back."""

from __future__ import annotations

from math import inf, sqrt

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import fedkeel as fk
from fedkeel.methods.fedsam import FedSAM
from fedkeel.part import Step
from fedkeel.testing.worlds import Lab, apart, untraced
from tests.engines.test_tokens import session
from tests.methods.loops import Gradient, looped, silently, squares, step


def test_the_contract() -> None:
    fk.testing.check_part(FedSAM(0.3), crossings="none")


def line(weight: float, y: float, x: tuple[float, ...] = (3.0, 4.0)) -> Step:
    """One sample of a squared error: the gradient is 2 (w x - y) x."""
    model = nn.Linear(2, 1, bias=False).double()
    nn.init.constant_(model.weight, weight)
    task = fk.Task(model, criterion=squares, metric=squares)
    return step(task, torch.tensor([x]).double(), torch.tensor([y]).double())


def test_the_climb_by_hand() -> None:
    here = line(1.0, 2.0)  # the gradient points along (3, 4), whose length is 5
    found = FedSAM(0.5).probe(here.params, here)
    assert found.tolist() == pytest.approx([1 + 0.5 * 3 / 5, 1 + 0.5 * 4 / 5], rel=1e-11)
    here = line(1.0, 12.0)  # and now against it
    found = FedSAM(0.5).probe(here.params, here)
    assert found.tolist() == pytest.approx([1 - 0.3, 1 - 0.4], rel=1e-11)


def test_at_the_bottom_nothing_moves() -> None:
    here = line(1.0, 7.0)
    assert torch.equal(FedSAM(5.0).probe(here.params, here), here.params)


def test_padding_has_no_part_in_the_climb() -> None:
    here = line(1.0, 2.0)
    batch = here.batch
    x, y = torch.cat([batch.x, batch.x.flip(1)]), torch.cat([batch.y, batch.y])
    padded = step(here.visit.task, x, y, weight=[1, 0])
    one, other = (FedSAM(0.5).probe(s.params, s) for s in (here, padded))
    assert torch.allclose(one, other, rtol=1e-14)


def climbing(rho: float) -> Gradient:
    def gradient(model: nn.Module, start: nn.Module, x: Tensor, y: Tensor, client: int) -> None:
        F.cross_entropy(model(x), y).backward()  # BatchNorm's statistics move here alone
        weights = list(model.parameters())
        slopes = [w.grad.clone() for w in weights if w.grad is not None]
        length = sqrt(sum(float(g.square().sum()) for g in slopes))
        before = [w.detach().clone() for w in weights]
        with torch.no_grad():
            for w, g in zip(weights, slopes, strict=True):
                w += rho * g / (length + 1e-12)
                w.grad = None
        F.cross_entropy(silently(model, x), y).backward()
        with torch.no_grad():
            for w, old in zip(weights, before, strict=True):
                w.copy_(old)

    return gradient


@pytest.mark.parametrize(("net", "weighting"), [("mlp", "uniform"), ("batch", "samples")])
def test_a_plain_loop(net: str, weighting: str) -> None:
    ends = looped(FedSAM(0.4), climbing(0.4), net=net, weighting=weighting)
    assert apart(*ends) < 1e-9


def test_the_loss_is_told_where_the_model_stands() -> None:
    """Of the first step of all: not where the gradient is read."""
    lab = Lab(local={"epochs": None, "steps": 1})
    steep, plain = (lab.run(part)[1].train_loss for part in (FedSAM(2.0), fk.FedAvg()))
    assert steep == pytest.approx(plain, rel=1e-14)


def test_sequences_in_every_engine() -> None:
    one, many = session(FedSAM(0.3), "sequential"), untraced(session(FedSAM(0.3), "stacked"))
    ends = [list(s.rounds())[-1].state_dict() for s in (one, many)]
    assert apart(*ends) < 1e-9


@pytest.mark.parametrize("rho", [-0.1, inf])
def test_ranges(rho: float) -> None:
    with pytest.raises(fk.InputError, match=r"^rho=.* is out of range: it must be a number >= 0$"):
        FedSAM(rho)
