"""Initial weights have the moments and the bounds that each source gives them."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import pytest
import torch
from torch import Tensor, nn

from fedkeel import models
from fedkeel.models._shapes import torchvision
from fedkeel.models.resnet18 import NORMS, ResNet
from fedkeel.models.vgg11 import VGG, initialised

CIFAR = (3, 12, 12)


def layers(model: nn.Module, kind: type[nn.Module]) -> Iterator[tuple[str, nn.Module]]:
    return ((name, module) for name, module in model.named_modules() if isinstance(module, kind))


def fans(weight: Tensor) -> tuple[int, int]:
    """Return the inputs and outputs of a unit, a convolution's times its window."""
    window = weight[0, 0].numel()
    return weight.shape[1] * window, weight.shape[0] * window


# Bounds are six standard errors wide.


def is_normal(weight: Tensor, deviation: float) -> bool:
    """Look at mean, deviation and, so that no uniform passes, at the share within one deviation."""
    n, z = weight.numel(), weight.detach().double() / deviation
    within = float((z.abs() < 1).double().mean())
    return (
        abs(float(z.mean())) < 6 / sqrt(n)
        and abs(float(z.square().mean()) - 1) < 6 * sqrt(2 / n)
        and abs(within - 0.6827) < 6 * sqrt(0.25 / n)
    )


def is_uniform(weight: Tensor, bound: float) -> bool:
    n, u = weight.numel(), weight.detach().double() / bound
    return (
        float(u.abs().max()) <= 1 + 1e-6
        and abs(float(u.mean())) < 6 / sqrt(3 * n)
        and abs(float(u.square().mean()) - 1 / 3) < 6 / sqrt(n)
    )


def test_the_tests_of_moments_tell_their_distributions_apart() -> None:
    normal, uniform = torch.randn(4000), torch.rand(4000) * 2 - 1
    assert is_normal(normal, 1.0) and is_uniform(uniform, 1.0)
    assert not is_normal(normal, 1.2) and not is_normal(uniform, 3**-0.5)
    assert not is_uniform(uniform, 1.2) and not is_uniform(normal, 3**0.5)


@pytest.mark.parametrize("name", ["cnn_zmg", "cnn_zmg_cifar"])
def test_fedzmgs_nets_start_as_keras_does(name: str) -> None:
    model = getattr(models, name)(20, CIFAR)
    for _, layer in [*layers(model, nn.Conv2d), *layers(model, nn.Linear)]:
        inputs, outputs = (
            fans(layer.weight) if layer.weight.dim() == 4 else layer.weight.shape[::-1]
        )
        assert is_uniform(layer.weight, sqrt(6 / (inputs + outputs)))
        assert not layer.bias.any()


def test_gcfls_net_starts_as_its_code_does() -> None:
    model = models.cnn_gcfl(20, (3, 16, 16))
    for name, layer in layers(model, nn.Linear):
        outputs, inputs = layer.weight.shape
        assert is_uniform(layer.weight, sqrt(6 / (inputs + outputs))), name
        assert (layer.bias == 0.01).all()
    for name, layer in layers(model, nn.Conv2d):
        assert is_uniform(layer.weight, 1 / sqrt(fans(layer.weight)[0])), name


def test_ecgrs_net_starts_as_pytorch_does() -> None:
    model = models.cnn_ecgr(20, CIFAR)
    for name, layer in layers(model, nn.Conv2d):
        assert is_uniform(layer.weight, 1 / sqrt(fans(layer.weight)[0])), name
        assert (layer.bias is not None) == (name == "conv1")
    assert is_uniform(model.get_parameter("fc.weight"), 1 / sqrt(256))


def test_resnet_starts_as_torchvisions() -> None:
    model = torchvision(ResNet(3, 20, NORMS["group"], "3x3", (32, 32, 64, 64)))
    for name, layer in layers(model, nn.Conv2d):
        assert is_normal(layer.weight, sqrt(2 / fans(layer.weight)[1])), name
    for _, layer in layers(model, nn.GroupNorm):
        assert (layer.weight == 1).all() and not layer.bias.any()
    assert is_uniform(model.get_parameter("fc.weight"), 1 / sqrt(64))


def test_vgg_starts_as_torchvisions() -> None:
    model = initialised(VGG(3, 20, width=8, hidden=32))
    for name, layer in layers(model, nn.Conv2d):
        assert is_normal(layer.weight, sqrt(2 / fans(layer.weight)[1])), name
        assert not layer.bias.any()
    for name, layer in layers(model, nn.Linear):
        assert is_normal(layer.weight, 0.01), name
        assert not layer.bias.any()


def test_the_gru_starts_as_pytorchs() -> None:
    model = models.gru(40, (8,), embed=50, hidden=60)
    for name, weight in model.named_parameters():
        if name == "embedding.weight":
            assert is_normal(weight, 1.0)
        else:
            assert is_uniform(weight, 1 / sqrt(60)), name


@pytest.mark.parametrize("name", ["gpt", "vit"])
def test_transformers_start_as_gpt2(name: str) -> None:
    depth, options = 3, {"width": 48, "depth": 3, "heads": 2}
    shape = (40,) if name == "gpt" else (3, 16, 20)
    model = getattr(models, name)(50, shape, **options)
    for place, layer in [*layers(model, nn.Linear), *layers(model, nn.Embedding)]:
        adds = place.endswith(("attention.out", "down"))
        assert is_normal(layer.weight, 0.02 / sqrt(2 * depth) if adds else 0.02), place
        bias = getattr(layer, "bias", None)
        assert bias is None or not bias.any()
    for place, layer in layers(model, nn.Conv2d):
        assert is_normal(layer.weight, 1 / sqrt(3 * 4 * 4)), place
        assert not layer.bias.any()


def test_equal_seeds_give_equal_weights_and_others_do_not() -> None:
    def drawn(seed: int) -> Tensor:
        torch.manual_seed(seed)
        return torch.nn.utils.parameters_to_vector(
            models.vit(5, CIFAR, width=12, depth=1).parameters()
        )

    assert torch.equal(drawn(1), drawn(1))
    assert not torch.equal(drawn(1), drawn(2))
