"""What a round is made of: how far SGD travels, and the hooks around its step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import fedkeel as fk
from fedkeel.testing.worlds import Lab, apart, untraced

many = settings(max_examples=20, deadline=None, derandomize=True, database=None)


@many
@given(
    st.integers(0, 40), st.floats(0, 0.99), st.booleans(), st.floats(0, 5), st.floats(0.001, 0.1)
)
def test_travel_with_a_pull_is_what_torch_does(
    steps: int, momentum: float, nesterov: bool, pull: float, lr: float
) -> None:
    """The loss w + pull/2 w^2 from 0: a gradient of one, and a spring to where it began."""
    local = fk.Local(momentum=momentum, nesterov=nesterov, lr=lr)
    weight = torch.zeros((), dtype=torch.float64, requires_grad=True)
    sgd = torch.optim.SGD([weight], lr, momentum, nesterov=nesterov and momentum > 0)
    for _ in range(steps):
        weight.grad = 1 + pull * weight.detach()
        sgd.step()
    assert local.travel(steps, lr, pull) == pytest.approx(-float(weight.detach()), rel=1e-9)


@pytest.mark.parametrize("tau", [0, 1, 7, 40])
def test_travel_in_closed_form(tau: int) -> None:
    lr, mu, rho = 0.05, 2.0, 0.9
    plain, heavy, ahead = (
        fk.Local(momentum=m, nesterov=n) for m, n in ((0.0, False), (rho, False), (rho, True))
    )
    assert plain.travel(tau, lr) == pytest.approx(lr * tau)
    assert plain.travel(tau, lr, mu) == pytest.approx((1 - (1 - lr * mu) ** tau) / mu)
    a = (tau - rho * (1 - rho**tau) / (1 - rho)) / (1 - rho)
    assert heavy.travel(tau, lr) == pytest.approx(lr * a)
    assert ahead.travel(tau, 1.0) == pytest.approx(
        sum((1 - rho ** (j + 1)) / (1 - rho) for j in range(1, tau + 1))
    )
    assert heavy.travel(40, 1.0) == pytest.approx(311.33, abs=5e-3)
    assert ahead.travel(40, 1.0) == pytest.approx(320.20, abs=5e-3)
    assert heavy.travel(1, 1.0) == 1.0


@dataclass(frozen=True)
class Told(fk.Part):
    """Says how far a visit travelled, after a quadratic term of its own."""

    strength: float = 0.0

    @property
    def pull(self) -> float:
        return self.strength

    def finish(self, update: Tensor, trajectory: fk.Trajectory, visit: fk.Visit) -> Any:
        return trajectory.travel * torch.ones_like(update), (), visit.memory


def test_pulls_add_up_and_engines_know_them() -> None:
    both = fk.compose(fk.FedProx(0.5), Told(1.5), fk.gc_fed())
    assert both.pull == 2.0 and fk.compose().pull == 0.0 and fk.Part().pull == 0.0
    lab = Lab("mlp", {"weighting": "uniform"}, {"rounds": 1})
    sizes = lab.session().federation.sizes
    one = lab.run(both)
    local = lab.session(both).method.local
    walked = [local.travel(2 * -(-int(sizes[k]) // 4), 0.05, 2.0) for k in one[-1].cohort]
    gap = one[0].state_dict()["fc1.bias"] - one[-1].state_dict()["fc1.bias"]
    centred = sum(walked) / len(walked)
    assert gap == pytest.approx([centred] * 5, rel=1e-9)
    for session in (lab.session(both, engine="stacked", compile=False),
                    untraced(lab.session(both, engine="stacked", chunk=2))):  # fmt: skip
        assert apart(list(session.rounds())[-1].state_dict(), one[-1].state_dict()) < 1e-12


@dataclass(frozen=True)
class Turned(fk.Part):
    """Adds to the direction, or to the gradient."""

    by: float = 0.1
    what: str = "direction"

    def direction(self, direction: Tensor, step: fk.Step) -> Tensor:
        return direction + self.by if self.what == "direction" else direction

    def gradient(self, grad: Tensor, step: fk.Step) -> tuple[Tensor, Any]:
        return (grad + self.by if self.what == "gradient" else grad), step.local


@dataclass(frozen=True)
class InPlace(fk.Part):
    """Changes what it was given."""

    def direction(self, direction: Tensor, step: fk.Step) -> Tensor:
        return direction.mul_(0.5)


@dataclass(frozen=True)
class Halved(fk.Part):
    """Halves the direction."""

    def direction(self, direction: Tensor, step: fk.Step) -> Tensor:
        return direction / 2


def test_the_direction_is_edited_after_momentum() -> None:
    """With no momentum it is the gradient's edit; with momentum it is not carried on."""
    for momentum, alike in ((0.0, True), (0.9, False)):
        lab = Lab("mlp", {"momentum": momentum, "weight_decay": 0.0})
        one, other = (
            lab.run(Turned(0.1, what))[-1].state_dict() for what in ("direction", "gradient")
        )
        assert (apart(one, other) < 1e-12) == alike


def test_directions_are_edited_in_the_order_written() -> None:
    lab = Lab("mlp", {"momentum": 0.0})
    turned_first, turned_last, less = (
        lab.run(*parts)[-1].state_dict()
        for parts in (
            (Turned(0.1), Halved()),
            (Halved(), Turned(0.1)),
            (Halved(), Turned(0.05)),
        )
    )
    assert apart(turned_first, turned_last) > 1e-6
    assert apart(turned_first, less) < 1e-12


def test_a_direction_is_held_to_the_contract() -> None:
    fk.testing.check_part(Turned(0.1), neutral=Turned(0.0), crossings="none")
    with pytest.raises(fk.testing.PartError, match=r"in place in direction\(\)"):
        fk.testing.check_part(InPlace(), crossings="none")


@dataclass(frozen=True)
class Crowd(fk.Part):
    """Wants company."""

    quorum: int = 6


def test_a_part_may_need_so_many_clients() -> None:
    assert fk.compose(Crowd(), fk.FedAvg(), Crowd(3)).quorum == 6
    assert fk.compose().quorum == fk.Part().quorum == 1
    for engine in ("sequential", "stacked", "auto"):
        with pytest.raises(fk.InputError, match=r"cohort=5 .* Crowd\(quorum=6\)"):
            Lab().session(fk.FedProx(), Crowd(), cohort=5, engine=engine)
    assert len(Lab().run(Crowd(), rounds=1)[-1].cohort) == 6
