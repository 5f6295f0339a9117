"""FedAvg's oracle against recursions by hand: optimiser, weights, buffers, what stays put."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from fedkeel.testing.oracles import Batch, Local, Setting, Visit, fedavg
from fedkeel.testing.oracles.plain import LocalSGD, trainable

PLAIN = Local(lr=0.5, momentum=0.0, weight_decay=0.0)


def row(x: float, y: int = 0) -> Batch:
    """A batch of one row with one feature."""
    return torch.tensor([[x]], dtype=torch.float64), torch.tensor([y])


def two_weights(first: float = 0.0, second: float = 0.0) -> nn.Linear:
    """Logits w_0 x and w_1 x: for class 0 the gradient is -x s and x s, s = sigmoid(x(w_1-w_0))."""
    layer = nn.Linear(1, 2, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[first], [second]]))
    return layer


def slope(w: list[float], x: float) -> list[float]:
    """The gradient of the cross-entropy of class 0 at two weights, by hand."""
    s = 1 / (1 + math.exp(-x * (w[1] - w[0])))
    return [-x * s, x * s]


def by_hand(w: list[float], xs: list[float], local: Local) -> list[float]:
    """One visit in Python floats."""
    v = [0.0, 0.0]
    for t, x in enumerate(xs):
        g = slope(w, x)
        for i in range(2):
            d = g[i] + (local.weight_decay * w[i] if local.decay != "decoupled" else 0.0)
            v[i] = d if t == 0 else local.momentum * v[i] + d
            move = d + local.momentum * v[i] if local.nesterov else v[i]
            shrink = 1 - local.lr * local.weight_decay if local.decay == "decoupled" else 1.0
            w = [*w[:i], shrink * w[i] - local.lr * move, *w[i + 1 :]]
    return w


def weight(state: dict[str, Tensor]) -> list[float]:
    """The two weights as floats."""
    return [float(v) for v in state["weight"].flatten()]


def test_one_step_from_zero_moves_by_half_the_input() -> None:
    visit = Visit(0, 1, [row(3.0)])
    assert weight(fedavg(two_weights(), [[visit]], Setting(PLAIN))) == [0.75, -0.75]


@pytest.mark.parametrize("decay", ["coupled", "coupled_before", "decoupled"])
@pytest.mark.parametrize(("momentum", "nesterov"), [(0.0, False), (0.9, False), (0.9, True)])
def test_a_visit_is_the_recursion_by_hand(decay: str, momentum: float, nesterov: bool) -> None:
    local = Local(0.5, momentum, nesterov, 0.1, decay)
    visit = Visit(0, 3, [row(1.0), row(-2.0), row(0.5)])
    got = weight(fedavg(two_weights(1.0, -0.5), [[visit]], Setting(local)))
    assert got == pytest.approx(by_hand([1.0, -0.5], [1.0, -2.0, 0.5], local), abs=1e-14)


def test_momentum_starts_afresh_at_every_visit() -> None:
    local = Local(0.5, 0.9, False, 0.0)
    rounds = [[Visit(0, 2, [row(1.0), row(1.0)])]] * 2
    once = by_hand([0.0, 0.0], [1.0, 1.0], local)
    expected = by_hand(once, [1.0, 1.0], local)
    assert weight(fedavg(two_weights(), rounds, Setting(local))) == pytest.approx(expected)


@pytest.mark.parametrize(("weighting", "share"), [("samples", 0.25), ("uniform", 0.5)])
def test_updates_are_averaged_with_the_cohort_weights(weighting: str, share: float) -> None:
    cohort = [Visit(0, 1, [row(4.0)]), Visit(5, 3, [row(8.0)])]
    got = weight(fedavg(two_weights(), [cohort], Setting(PLAIN, weighting)))
    expected = share * 1.0 + (1 - share) * 2.0  # lr x / 2 each
    assert got == pytest.approx([expected, -expected])


def test_a_visit_without_batches_keeps_its_weight() -> None:
    cohort = [Visit(0, 1, [row(4.0)]), Visit(1, 3, [])]
    assert weight(fedavg(two_weights(), [cohort], Setting(PLAIN))) == [0.25, -0.25]


def test_server_lr_scales_the_step() -> None:
    setting = Setting(PLAIN, server_lr=0.5)
    assert weight(fedavg(two_weights(), [[Visit(0, 1, [row(4.0)])]], setting)) == [0.5, -0.5]


def test_the_loss_is_the_mean_over_rows() -> None:
    x, y = torch.tensor([[4.0], [0.0]], dtype=torch.float64), torch.tensor([0, 0])
    got = weight(fedavg(two_weights(), [[Visit(0, 2, [(x, y)])]], Setting(PLAIN)))
    assert got == [0.5, -0.5]


def test_no_rounds_give_the_initial_state_in_float64_and_the_module_is_untouched() -> None:
    module = two_weights(0.1, 0.2).eval()
    before = module.weight.detach().clone()
    fedavg(module, [[Visit(0, 1, [row(4.0)])]], Setting(PLAIN))
    state = fedavg(module, [], Setting(PLAIN))
    assert torch.equal(module.weight, before)
    assert module.weight.grad is None
    assert not module.training
    assert state["weight"].dtype == torch.float64
    assert torch.equal(state["weight"], before.double())


def test_frozen_parameters_do_not_move() -> None:
    module = nn.Linear(1, 2)
    module.bias.requires_grad_(False)
    local = Local(0.5, 0.9, False, 0.1)
    state = fedavg(module, [[Visit(0, 1, [row(4.0)])]], Setting(local))
    assert torch.equal(state["bias"], module.bias.double())
    assert not torch.equal(state["weight"], module.weight.double())


def test_tied_parameters_stay_tied() -> None:
    first, second = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
    second.weight = first.weight
    module = nn.Sequential(first, second)
    x = torch.tensor([[1.0, 2.0]], dtype=torch.float64)
    state = fedavg(module, [[Visit(0, 1, [(x, torch.tensor([0]))])]], Setting(PLAIN))
    assert torch.equal(state["0.weight"], state["1.weight"])
    assert not torch.equal(state["0.weight"], first.weight.double())


class Unused(nn.Module):
    """A network with a layer that no step uses."""

    def __init__(self) -> None:
        super().__init__()
        self.used = nn.Linear(1, 2)
        self.unused = nn.Linear(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.used(x)
        return logits


@pytest.mark.parametrize("decay", ["coupled", "coupled_before", "decoupled"])
def test_a_parameter_without_a_gradient_is_not_decayed(decay: str) -> None:
    module = Unused()
    local = Local(0.5, 0.9, False, 0.1, decay)
    state = fedavg(module, [[Visit(0, 1, [row(4.0)])]], Setting(local))
    assert torch.equal(state["unused.weight"], module.unused.weight.double())


def test_the_optimiser_is_torch_sgd() -> None:
    optimiser = LocalSGD(two_weights(), Local())
    assert isinstance(optimiser.sgd, torch.optim.SGD)
    assert [name for name, _ in trainable(optimiser.model)] == ["weight"]


@pytest.mark.parametrize(
    "setting",
    [
        Setting(Local(decay="coupeld")),
        Setting(PLAIN, weighting="sample"),
        Setting(PLAIN, buffers="mean"),
    ],
)
def test_misspelt_settings_are_refused(setting: Setting) -> None:
    with pytest.raises(ValueError, match="allowed are"):
        fedavg(two_weights(), [[Visit(0, 1, [row(1.0)])]], setting)


@pytest.mark.parametrize("cohort", [[], [Visit(0, 0, [])]])
def test_a_round_without_weight_is_refused(cohort: list[Visit]) -> None:
    with pytest.raises(ValueError, match="at least one visit"):
        fedavg(two_weights(), [cohort], Setting(PLAIN))
