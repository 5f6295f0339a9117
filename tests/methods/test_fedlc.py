"""FedLC: margins by hand, absent classes, a loop with minus infinity in it."""

from __future__ import annotations

from math import inf

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import fedkeel as fk
from fedkeel.methods.fedlc import FedLC
from fedkeel.testing.worlds import Lab, apart, federation, network, untraced
from tests.engines.test_tokens import session
from tests.methods.loops import SQUARES, looped, mirror, step


def test_the_contract() -> None:
    fk.testing.check_part(FedLC(tau=0.8), crossings="none")


def margins(tau: float, *counts: float) -> list[float]:
    task = mirror(len(counts))
    here = step(task, torch.zeros(1, len(counts)).double(), torch.tensor([0]))
    visit = here.visit._replace(label_counts=torch.tensor(counts).double())
    return FedLC(tau).begin(visit).tolist()


def test_margins_by_hand() -> None:
    assert margins(0.2, 16, 1, 81) == pytest.approx([0.1, 0.2, 0.2 / 3], rel=1e-15)


def test_an_absent_class_has_a_margin_that_is_large_and_finite() -> None:
    assert margins(0.2, 0, 1) == pytest.approx([1e9, 0.2])
    assert margins(1e-12, 0, 1) == pytest.approx([1e9, 1e-12])


def test_at_strength_zero_absent_classes_stay() -> None:
    assert margins(0.0, 0, 5) == [0.0, 0.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_gradient_of_an_absent_class_is_exactly_zero(dtype: torch.dtype) -> None:
    z = torch.tensor([[3.0, 50.0, -2.0], [1.0, 0.0, 0.0]], dtype=dtype, requires_grad=True)
    y, counts = torch.tensor([0, 1]), torch.tensor([4.0, 0.0, 2.0], dtype=dtype)
    here = step(mirror(3), z.detach(), y, counts=counts)
    here = step(here.visit.task, z.detach(), y, local=FedLC().begin(here.visit), weight=[1, 0])
    losses = F.cross_entropy(FedLC().logits(z, here), y, reduction="none")
    # The second row has the label that the client lacks: padding, so it has no weight.
    loss = (here.batch.weight * losses).sum()
    loss.backward()
    assert z.grad is not None and losses.isfinite().all() and z.grad.isfinite().all()
    assert (z.grad[:, 1] == 0).all() and (z.grad[1] == 0).all() and z.grad[0, 0] != 0


def test_margins_of_steps_of_a_sequence() -> None:
    here = step(mirror(3), torch.zeros(2, 4, 3), torch.zeros(2, 4, dtype=torch.long))
    margin = torch.tensor([1.0, 2.0, 3.0])
    moved = FedLC().logits(
        torch.zeros(2, 4, 3), step(here.visit.task, *here.batch[:2], local=margin)
    )
    assert torch.equal(moved, -margin.expand(2, 4, 3))


def calibrated(model: nn.Module, start: nn.Module, x: Tensor, y: Tensor, client: int) -> None:
    held = federation().train.y[federation().indices(client)]
    counts = torch.tensor([float((held == c).sum()) for c in range(3)]).double()
    logits = model(x)
    shift = torch.where(counts > 0, 0.5 / counts.clamp_min(1).sqrt().sqrt(), inf)
    F.cross_entropy(logits - shift, y).backward()


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
def test_a_plain_loop(weighting: str) -> None:
    assert apart(*looped(FedLC(0.5), calibrated, weighting=weighting)) < 1e-9


def test_the_model_is_tested_without_margins() -> None:
    last, model = Lab().run(FedLC(3.0))[-1], network("mlp").double()
    model.load_state_dict(last.state_dict())
    x, y = federation().test
    assert last.loss == pytest.approx(F.cross_entropy(model(x), y).item(), rel=1e-12)


def test_sequences_in_every_engine() -> None:
    one, many = session(FedLC(0.5), "sequential"), untraced(session(FedLC(0.5), "stacked"))
    plain = session(fk.FedAvg(), "sequential")
    ends = [list(s.rounds())[-1].state_dict() for s in (one, many, plain)]
    assert apart(ends[0], ends[1]) < 1e-9
    assert apart(ends[0], ends[2]) > 1e-4


def test_a_task_without_classes_is_refused() -> None:
    with pytest.raises(fk.InputError, match="fedlc counts labels"):
        Lab(task=SQUARES).run(FedLC())


@pytest.mark.parametrize("tau", [-0.1, inf, "much", True])
def test_ranges(tau: float) -> None:
    with pytest.raises(fk.InputError, match=r"^tau=.* is out of range: it must be a number >= 0$"):
        FedLC(tau)
