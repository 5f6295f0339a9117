"""Every network runs over a stack of clients, each with its own weights, as a plain loop would."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from tests.models.nets import CLASSES, NETS

Named = dict[str, Tensor]
CLIENTS, ROWS = 2, 2


def samples(shape: tuple[int, ...]) -> Tensor:
    if len(shape) == 1:
        return torch.randint(0, CLASSES, (CLIENTS, ROWS, *shape))
    return torch.rand(CLIENTS, ROWS, *shape, dtype=torch.float64)


@pytest.mark.parametrize("name", NETS)
def test_a_stack_of_clients_is_a_loop_over_them(name: str) -> None:
    build, shape = NETS[name]
    model = build().double()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.eval()
    x = samples(shape)
    y = torch.randint(0, CLASSES, x.shape if name in ("gru", "gpt") else x.shape[:2])
    params = {n: torch.stack([p, 1.1 * p]).detach() for n, p in model.named_parameters()}
    buffers = {n: torch.stack([b, b]) for n, b in model.named_buffers()}

    def loss(params: Named, buffers: Named, x: Tensor, y: Tensor) -> Tensor:
        held = {n: b.clone() for n, b in buffers.items()}
        logits = functional_call(model, {**params, **held}, (x,))
        return F.cross_entropy(logits.flatten(0, -2), y.flatten())

    found = vmap(grad(loss))(params, buffers, x, y)
    for i in range(CLIENTS):
        mine, others = ({n: t[i].clone() for n, t in held.items()} for held in (params, buffers))
        tensors = [t.requires_grad_() for t in mine.values()]
        expected = torch.autograd.grad(loss(mine, others, x[i], y[i]), tensors)
        for one, other in zip(found.values(), expected, strict=True):
            assert float((one[i] - other).abs().max()) < 1e-10
    assert all(tensor.any() for tensor in found.values())


@pytest.mark.parametrize("name", NETS)
def test_inputs_are_left_alone(name: str) -> None:
    build, shape = NETS[name]
    x = samples(shape)[0].to(torch.float32 if len(shape) > 1 else torch.int64)
    before = x.clone()
    build()(x)
    assert torch.equal(x, before)
