"""FedNTD: the wrong answers alone, by hand, in a loop, on sequences."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import fedkeel as fk
from fedkeel.methods.fedntd import FedNTD
from fedkeel.part import Server
from fedkeel.testing.worlds import Lab, apart, untraced
from tests.engines.test_tokens import session
from tests.methods.loops import SQUARES, looped, mirror, step


def test_the_contract() -> None:
    fk.testing.check_part(FedNTD(beta=0.7, tau=2.0), crossings="none")


@pytest.mark.parametrize("tau", [1.0, 2.0])
def test_one_row_by_hand(tau: float) -> None:
    """Of three logits the true one is gone, and two make a sigmoid."""
    task = mirror(3)
    here = step(task, torch.tensor([[0.5, 1.0, -1.0]]).double(), torch.tensor([1]))
    here = step(task, here.batch.x, here.batch.y, anchor=2 * task.initial())  # it said twice that
    p = 1 / (1 + exp((-2.0 - 1.0) / tau))
    q = 1 / (1 + exp((-1.0 - 0.5) / tau))
    divergence = p * log(p / q) + (1 - p) * log((1 - p) / (1 - q))
    found = FedNTD(0.3, tau).penalty(here)
    assert found.item() == pytest.approx(0.3 * tau**2 * divergence, rel=1e-12)


def test_the_true_logit_has_no_part_in_it() -> None:
    task, y = mirror(4), torch.tensor([2, 2])
    x = torch.tensor([[0.1, 0.4, -2.0, 0.3], [1.0, -1.0, 0.5, 0.0]]).double()
    other = x.clone()
    other[:, 2] = torch.tensor([1e12, -1e12])
    part, anchor = FedNTD(), 1.5 * task.initial()
    one, two = (step(task, rows, y, anchor=anchor) for rows in (x, other))
    assert part.penalty(one) == part.penalty(two) > 0
    slope = one.gradient_of(part.penalty).view(4, 4)
    assert (slope[2] == 0).all() and (slope[[0, 1, 3]] != 0).any()


def test_where_the_model_arrived_nothing_pulls() -> None:
    here = step(mirror(3), torch.randn(5, 3).double(), torch.tensor([0, 1, 2, 0, 1]))
    assert FedNTD().penalty(here).abs() < 1e-15
    assert here.gradient_of(FedNTD().penalty).abs().max() < 1e-15


def test_a_row_of_weight_zero_is_not_there() -> None:
    task, y = mirror(3), torch.tensor([0, 2, 1])
    x, anchor = torch.randn(3, 3).double(), torch.randn(9).double()
    part = FedNTD(tau=3.0)
    padded = part.penalty(step(task, x, y, anchor=anchor, weight=[1, 1, 0]))
    short = part.penalty(step(task, x[:2], y[:2], anchor=anchor))
    assert padded.item() == pytest.approx(short.item(), rel=1e-14)


def test_of_a_sequence_the_mean_over_its_targets() -> None:
    task, anchor, part = mirror(3), torch.randn(9).double(), FedNTD(tau=2.0)
    x, y = torch.randn(3, 2, 3).double(), torch.tensor([[0, 2], [1, -100], [-100, -100]])

    def one(i: int, t: int) -> Tensor:
        return part.penalty(step(task, x[i, t : t + 1], y[i, t : t + 1], anchor=anchor))

    expected = ((one(0, 0) + one(0, 1)) / 2 + one(1, 0) + 0) / 3
    found = part.penalty(step(task, x, y, anchor=anchor))
    assert found.item() == pytest.approx(expected.item(), rel=1e-12)


def test_with_one_wrong_answer_there_is_nothing_to_keep() -> None:
    here = step(mirror(2), torch.randn(3, 2).double(), torch.tensor([0, 1, 1]))
    assert FedNTD().penalty(here.at(2 * here.params)) == 0


@pytest.mark.parametrize("tau", [1e-9, 1e9])
def test_any_temperature_is_finite(tau: float) -> None:
    here = step(mirror(3), torch.randn(2, 3).double(), torch.tensor([0, 2]))
    here = here.at(3 * here.params)
    assert FedNTD(tau=tau).penalty(here).isfinite()
    assert here.gradient_of(FedNTD(tau=tau).penalty).isfinite().all()


def not_true(logits: Tensor, y: Tensor) -> Tensor:
    """The logits without that of the label, really left out."""
    return torch.stack([torch.cat([z[:c], z[c + 1 :]]) for z, c in zip(logits, y, strict=True)])


@pytest.mark.parametrize(("net", "weighting"), [("mlp", "samples"), ("batch", "uniform")])
def test_a_plain_loop(net: str, weighting: str) -> None:
    def gradient(model: nn.Module, start: nn.Module, x: Tensor, y: Tensor, client: int) -> None:
        logits = model(x)
        with torch.no_grad():
            theirs = F.softmax(not_true(start(x), y) / 3.0, dim=1)
        ours = F.log_softmax(not_true(logits, y) / 3.0, dim=1)
        divergence = F.kl_div(ours, theirs, reduction="batchmean")
        (F.cross_entropy(logits, y) + 0.5 * 9.0 * divergence).backward()

    assert apart(*looped(FedNTD(0.5, 3.0), gradient, net=net, weighting=weighting)) < 1e-9


def test_sequences_in_every_engine() -> None:
    one, many = session(FedNTD(), "sequential"), session(FedNTD(), "stacked")
    plain = session(fk.FedAvg(), "sequential")
    ends = [list(s.rounds())[-1].state_dict() for s in (one, untraced(many), many, plain)]
    assert max(apart(ends[0], ends[1]), apart(ends[0], ends[2])) < 1e-9
    assert apart(ends[0], ends[3]) > 1e-4


def test_a_task_without_wrong_answers_is_refused() -> None:
    with pytest.raises(fk.InputError, match="two classes or more"):
        Lab(task=SQUARES).run(FedNTD())
    alone = fk.Task(nn.Linear(6, 1))
    with pytest.raises(fk.InputError, match="two classes or more"):
        FedNTD().server_state(Server(alone, alone.initial(), 0, 1))


@pytest.mark.parametrize("options", [{"beta": -1}, {"beta": np.inf}, {"tau": 0}, {"tau": np.nan}])
def test_ranges(options: dict[str, float]) -> None:
    with pytest.raises(fk.InputError, match=f"^{next(iter(options))}=.* is out of range"):
        FedNTD(**options)
