"""The GRU is PyTorch's to rounding: forward, gradients of both orders, state dict."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.fx.experimental.proxy_tensor import make_fx

from fedkeel import models
from fedkeel.models._recurrence import recurrence
from fedkeel.models.gru import Unrolled

Named = dict[str, Tensor]
STEPS, INPUTS, HIDDEN = 5, 3, 4


@pytest.fixture
def both() -> tuple[nn.GRU, nn.GRU]:
    """Ours and PyTorch's, with the same weights."""
    ours = Unrolled(INPUTS, HIDDEN).double()
    theirs = nn.GRU(INPUTS, HIDDEN, batch_first=True).double()
    theirs.load_state_dict(ours.state_dict())
    return ours, theirs


def batch(*lead: int) -> Tensor:
    return torch.randn(*lead, STEPS, INPUTS, dtype=torch.float64)


def loss(layer: nn.GRU) -> Callable[[Named, Tensor], Tensor]:
    """A number in which every step and the last state count differently."""

    def of(params: Named, x: Tensor) -> Tensor:
        states, last = functional_call(layer, params, (x,))
        weight = torch.arange(1, STEPS + 1, dtype=x.dtype)
        return (states.square() * weight[:, None]).sum() + last.sin().sum()

    return of


def slope(layer: nn.GRU) -> Callable[[Named, Tensor], Named]:
    return grad(loss(layer))


def bend(layer: nn.GRU) -> Callable[[Named, Tensor], Named]:
    """The gradient of the gradient's square: second derivatives."""

    def steepness(params: Named, x: Tensor) -> Tensor:
        return torch.stack([g.square().sum() for g in slope(layer)(params, x).values()]).sum()

    return grad(steepness)


def weights(layer: nn.Module) -> Named:
    return {name: tensor.detach() for name, tensor in layer.named_parameters()}


def apart(one: Named, other: Named) -> float:
    assert one.keys() == other.keys()
    return max(float((one[name] - other[name]).abs().max()) for name in one)


@pytest.mark.parametrize("begun", [False, True])
def test_states_are_pytorchs(both: tuple[nn.GRU, nn.GRU], begun: bool) -> None:
    ours, theirs = both
    first = torch.randn(1, 2, HIDDEN, dtype=torch.float64) if begun else None
    x = batch(2)
    for one, other in zip(ours(x, first), theirs(x, first), strict=True):
        assert one.shape == other.shape
        assert float((one - other).detach().abs().max()) < 1e-12


@pytest.mark.parametrize("derivative", [slope, bend])
def test_derivatives_are_pytorchs(
    both: tuple[nn.GRU, nn.GRU], derivative: Callable[[nn.GRU], Callable[[Named, Tensor], Named]]
) -> None:
    ours, theirs = both
    x, params = batch(2), weights(ours)
    assert apart(derivative(ours)(params, x), derivative(theirs)(params, x)) < 1e-12


def test_backward_fills_the_gradients_that_pytorch_fills(both: tuple[nn.GRU, nn.GRU]) -> None:
    gradients = []
    x = batch(2)
    for layer in both:
        mine = x.clone().requires_grad_()
        layer(mine)[0].square().sum().backward()
        gradients.append({"x": mine.grad} | {n: p.grad for n, p in layer.named_parameters()})
    assert apart(*gradients) < 1e-12


@pytest.mark.parametrize("derivative", [slope, bend])
def test_a_stack_of_clients_is_each_by_itself_and_so_is_its_graph(
    both: tuple[nn.GRU, nn.GRU], derivative: Callable[[nn.GRU], Callable[[Named, Tensor], Named]]
) -> None:
    ours, theirs = both
    clients = {n: torch.stack([t, 1.5 * t, -t]) for n, t in weights(ours).items()}
    x = batch(3, 2)
    mapped = vmap(derivative(ours))
    found = mapped(clients, x)
    for i in range(3):
        alone = derivative(theirs)({n: t[i] for n, t in clients.items()}, x[i])
        assert apart({n: t[i] for n, t in found.items()}, alone) < 1e-12
    assert apart(make_fx(mapped)(clients, x)(clients, x), found) == 0


def test_clients_may_share_their_batch(both: tuple[nn.GRU, nn.GRU]) -> None:
    clients = {n: torch.stack([t, 2 * t]) for n, t in weights(both[0]).items()}
    x = batch(2)
    found = vmap(slope(both[0]), (0, None))(clients, x)
    alone = slope(both[1])({n: t[1] for n, t in clients.items()}, x)
    assert apart({n: t[1] for n, t in found.items()}, alone) < 1e-12


def test_the_way_back_is_that_of_finite_differences() -> None:
    shapes = ((3, 2, 6), (2, 2), (6, 2), (6,))
    inputs = [torch.randn(s, dtype=torch.float64, requires_grad=True) for s in shapes]
    assert torch.autograd.gradcheck(recurrence, inputs)
    assert torch.autograd.gradgradcheck(recurrence, inputs)


def test_one_matrix_product_a_step_and_one_for_all_weights() -> None:
    layer = Unrolled(INPUTS, HIDDEN)
    graph = make_fx(slope(layer))(weights(layer), torch.randn(2, STEPS, INPUTS)).graph
    products = [
        n for n in graph.nodes if str(n.target) in ("aten.mm.default", "aten.addmm.default")
    ]
    # Inputs once and each step once, forward; each step once, back; two weights' gradients; and
    # perhaps the gradient of the inputs, which nobody asks for.
    assert len(products) <= 1 + STEPS + STEPS + 2 + 1


@pytest.mark.filterwarnings("ignore:.*autocast.*:UserWarning")
def test_autocast_narrows_the_states_and_not_the_gradients() -> None:
    layer, x = Unrolled(INPUTS, HIDDEN), torch.randn(2, STEPS, INPUTS)
    with torch.autocast("cpu", torch.bfloat16):
        states = layer(x)[0]
    states.float().sum().backward()
    assert states.dtype == torch.bfloat16
    assert all(p.grad is not None and p.grad.dtype == torch.float32 for p in layer.parameters())
    torch.testing.assert_close(states.float(), layer(x)[0], atol=0.05, rtol=0.05)


def test_the_net_is_an_embedding_a_gru_and_a_linear_layer() -> None:
    model = models.gru(6, (STEPS,), embed=INPUTS, hidden=HIDDEN).double()
    theirs = nn.GRU(INPUTS, HIDDEN, batch_first=True).double()
    state = model.state_dict()
    theirs.load_state_dict({n[4:]: t for n, t in state.items() if n.startswith("gru.")})
    x = torch.randint(0, 6, (2, STEPS))
    expected = theirs(state["embedding.weight"][x])[0] @ state["fc.weight"].T + state["fc.bias"]
    torch.testing.assert_close(model(x), expected)
