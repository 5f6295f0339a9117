"""FedSOL: where the gradient is read, by hand and in a loop; the first step stays."""

from __future__ import annotations

from math import inf, prod, sqrt

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import fedkeel as fk
from fedkeel.methods.fedsol import FedSOL
from fedkeel.part import Step
from fedkeel.testing.worlds import NETS, Lab, apart, network, untraced
from tests.engines.test_tokens import session
from tests.methods.loops import SQUARES, Gradient, looped, mirror, silently, step

KINDS = pytest.mark.parametrize("kind", ["adaptive", "plain"])


def test_the_contract() -> None:
    fk.testing.check_part(FedSOL(0.7, 2.0), crossings="none")


def walked(*moved: float) -> Step:
    """A step of a softmax of two logits, whose weights have moved from where they arrived."""
    task = mirror(2)
    here = step(task, torch.tensor([[1.0, 2.0]]).double(), torch.tensor([0]))
    return here.at(here.params + torch.tensor(moved).double())


def slope(here: Step, tau: float) -> Tensor:
    """The gradient of KL(p || q) for logits z = W x / tau is (q - p) x^T / tau."""
    x = here.batch.x[0]
    q, p = (F.softmax(w.view(2, 2) @ x / tau, dim=0) for w in (here.params, here.visit.anchor))
    return ((q - p)[:, None] * x[None, :] / tau).flatten()


def test_plain_by_hand() -> None:
    here = walked(0.3, 0.0, -0.4, 0.2)
    g = slope(here, 3.0)
    found = FedSOL(0.5, perturbation="plain").probe(here.params, here)
    assert torch.allclose(found, here.params + 0.5 * g / g.norm(), rtol=1e-12)
    assert (found - here.params).norm().item() == pytest.approx(0.5, rel=1e-12)


def test_adaptive_by_hand() -> None:
    """Columns of |w - w_t| have length one: (.3, .4) / .5 and (0, .2) / .2."""
    here = walked(0.3, 0.0, -0.4, 0.2)
    g, reach = slope(here, 2.0), torch.tensor([0.6, 0.0, 0.8, 1.0]).double()
    found = FedSOL(0.5, tau=2.0).probe(here.params, here)
    assert torch.allclose(found, here.params + 0.5 * reach * g / g.norm(), rtol=1e-11)


@KINDS
@pytest.mark.parametrize("net", ["mlp", "batch"])
def test_the_first_step_has_no_perturbation(kind: str, net: str) -> None:
    """Even where training and evaluation differ, so that there is a slope."""
    task = fk.Task(network(net).double())
    shape = NETS[net][1]
    x = torch.linspace(-1, 1, 3 * prod(shape)).double().sin().view(3, *shape)
    here = step(task, x, torch.arange(3))
    assert torch.equal(FedSOL(5.0, perturbation=kind).probe(here.params, here), here.params)


@KINDS
def test_nor_has_it_where_clients_side_by_side_leave_a_slope_of_rounding(kind: str) -> None:
    lab = Lab(local={"epochs": None, "steps": 1}, settings={"precision": "float32", "rounds": 1})
    parts = (FedSOL(5.0, perturbation=kind), fk.FedAvg())
    ends = [list(untraced(lab.session(p, engine="stacked")).rounds())[-1] for p in parts]
    assert apart(*(end.state_dict() for end in ends)) < 1e-5


def test_plain_many_at_once() -> None:
    part = FedSOL(0.7, 2.0, "plain")
    many = untraced(Lab().session(part, engine="stacked", chunk=3))
    ends = [session.rounds() for session in (Lab().session(part), many)]
    assert apart(*(list(end)[-1].state_dict() for end in ends)) < 1e-9


def test_a_slope_of_rounding_has_no_direction() -> None:
    here = walked(1e-9, 0.0, -1e-9, 0.0)
    assert 0 < slope(here, 3.0).norm() < 1e-8
    assert torch.equal(FedSOL(perturbation="plain").probe(here.params, here), here.params)


@KINDS
def test_where_nothing_is_contradicted_nothing_moves(kind: str) -> None:
    """Both rows moved alike: the softmax is what it was."""
    here = walked(0.5, 0.25, 0.5, 0.25)
    found = FedSOL(perturbation=kind).probe(here.params, here)
    assert torch.allclose(found, here.params, atol=1e-4 if kind == "adaptive" else 0)


def test_a_tensor_without_dims_is_one_column() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale, self.fc = nn.Parameter(torch.ones(())), nn.Linear(2, 2)

        def forward(self, x: Tensor) -> Tensor:
            logits: Tensor = self.fc(self.scale * x)
            return logits

    here = step(fk.Task(Scaled()), torch.randn(3, 2), torch.tensor([0, 1, 0]))
    here = here.at(here.params + 0.1)
    assert FedSOL().probe(here.params, here).isfinite().all()


def divergence(model: nn.Module, start: nn.Module, x: Tensor, tau: float) -> Tensor:
    with torch.no_grad():
        p = F.softmax(start(x) / tau, dim=1)
    q = F.softmax(model(x) / tau, dim=1)
    return (p * (p.log() - q.log())).sum() / len(x)


def solving(kind: str, rho: float, tau: float) -> Gradient:
    def gradient(model: nn.Module, start: nn.Module, x: Tensor, y: Tensor, client: int) -> None:
        divergence(model, start, x, tau).backward()  # BatchNorm's statistics move here alone
        pairs = list(zip(model.parameters(), start.parameters(), strict=True))
        moved = any(bool((w != old).any()) for w, old in pairs)
        length = sqrt(sum(float(w.grad.square().sum()) for w, _ in pairs if w.grad is not None))
        before = [w.detach().clone() for w, _ in pairs]
        with torch.no_grad():
            for w, old in pairs:
                assert w.grad is not None
                if kind == "adaptive":
                    far = (w - old).abs()
                    norms = far.square().sum(0, keepdim=True).sqrt().clamp_min(1e-12)
                    w += rho / (length + 1e-12) * far / norms * w.grad
                elif moved and length > 1e-8:
                    w += rho / length * w.grad
                w.grad = None
        F.cross_entropy(silently(model, x), y).backward()
        with torch.no_grad():
            for (w, _), old in zip(pairs, before, strict=True):
                w.copy_(old)

    return gradient


@KINDS
@pytest.mark.parametrize(("net", "weighting"), [("mlp", "samples"), ("batch", "uniform")])
def test_a_plain_loop(kind: str, net: str, weighting: str) -> None:
    part = FedSOL(0.6, 2.0, kind)
    ends = looped(part, solving(kind, 0.6, 2.0), net=net, weighting=weighting)
    assert apart(*ends) < 1e-9


def test_convolutions_that_lie_channels_last() -> None:
    tensors = dict(network("conv").double().named_parameters())
    reached = []
    for last in (False, True):
        task = fk.Task(network("conv").double(), channels_last=last)
        x = torch.linspace(-1, 1, 3 * 32).double().view(3, 2, 4, 4)
        here = step(task, x, torch.tensor([0, 1, 2]))
        here = here.at(
            task.layout.pack({n: t.detach() + t.detach().sin() for n, t in tensors.items()})
        )
        reached.append(task.layout.open(FedSOL().probe(here.params, here)))
    assert apart(*reached) < 1e-12


def test_of_a_sequence_the_mean_over_its_targets() -> None:
    x, y = torch.randn(3, 2, 2).double(), torch.tensor([[0, 1], [1, -100], [-100, -100]])
    part, anchor = FedSOL(perturbation="plain"), torch.randn(4).double()
    here = step(mirror(2), x, y, anchor=anchor)

    def one(i: int, t: int) -> Tensor:
        alone = step(here.visit.task, x[i, t : t + 1], y[i, t : t + 1], anchor=anchor)
        p, q = (
            F.softmax(alone.batch.x @ w.view(2, 2).T / 3, dim=1) for w in (anchor, alone.params)
        )
        return ((q - p)[0, :, None] * x[i, t][None, :] / 3).flatten()

    g = ((one(0, 0) + one(0, 1)) / 2 + one(1, 0)) / 3
    assert torch.allclose(part.probe(here.params, here), here.params + g / g.norm(), rtol=1e-11)


def test_sequences_in_every_engine() -> None:
    one, many = session(FedSOL(), "sequential"), session(FedSOL(), "stacked")
    ends = [list(s.rounds())[-1].state_dict() for s in (one, many)]
    assert apart(*ends) < 1e-9


def test_a_task_without_classes_is_refused() -> None:
    with pytest.raises(fk.InputError, match="fedsol compares what is said of classes"):
        Lab(task=SQUARES).run(FedSOL())


@pytest.mark.parametrize("options", [{"rho": -1.0}, {"rho": inf}, {"tau": 0.0}])
def test_ranges(options: dict[str, float]) -> None:
    with pytest.raises(fk.InputError, match=f"^{next(iter(options))}=.* is out of range"):
        FedSOL(**options)  # type: ignore[arg-type]
    with pytest.raises(fk.InputError, match="unknown perturbation 'plane': did you mean 'plain'"):
        FedSOL(perturbation="plane")
