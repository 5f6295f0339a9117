"""Every network runs over a stack of clients, each with its own weights, as a plain loop would."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from fedkeel import models
from fedkeel.models.cnn_ecgr import ECGRNet
from fedkeel.models.resnet18 import NORMS, ResNet
from fedkeel.models.vgg11 import VGG

Named = dict[str, Tensor]
CLIENTS, ROWS, CLASSES = 2, 2, 3
SLIM = (32, 32, 64, 64)
NETS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "cnn_zmg": (lambda: models.cnn_zmg(CLASSES, (1, 4, 4)), (1, 4, 4)),
    "cnn_zmg_cifar": (lambda: models.cnn_zmg_cifar(CLASSES, (2, 4, 4)), (2, 4, 4)),
    "cnn_ecgr": (lambda: ECGRNet(1, 16, 16, CLASSES), (1, 16, 16)),
    "cnn_gcfl": (lambda: models.cnn_gcfl(CLASSES, (1, 16, 16)), (1, 16, 16)),
    "vgg11": (lambda: VGG(1, CLASSES, width=2, hidden=8), (1, 32, 32)),
    "resnet18": (lambda: ResNet(1, CLASSES, NORMS["group"], "3x3", SLIM), (1, 16, 16)),
    "resnet18 stock": (lambda: ResNet(1, CLASSES, NORMS["batch"], "imagenet", SLIM), (1, 64, 64)),
    "vit": (lambda: models.vit(CLASSES, (1, 8, 8), width=6, depth=1), (1, 8, 8)),
    "gru": (lambda: models.gru(CLASSES, (5,), embed=3, hidden=4), (5,)),
    "gru last": (lambda: models.gru(CLASSES, (5,), "last", embed=3, hidden=4), (5,)),
    "gpt": (lambda: models.gpt(CLASSES, (5,), width=8, depth=1), (5,)),
    "gpt last": (lambda: models.gpt(CLASSES, (5,), "last", width=8, depth=1), (5,)),
}


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
