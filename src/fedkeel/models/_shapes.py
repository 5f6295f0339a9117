"""What the networks of this package ask of their input, and the initial weights that they share."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ..errors import InputError, number, require, unknown

# The least side of an image in pixels: one is left behind the last pooling or stride.
LEAST = {
    "cnn": 4,
    "lenet": 12,
    "cnn_zmg": 4,
    "cnn_zmg_cifar": 4,
    "cnn_ecgr": 8,
    "cnn_gcfl": 16,
    "resnet18": 8,
    "vgg11": 32,
    "vit": 4,
}
TARGETS = ("all", "last")
PATCH = 4  # pixels a side of a patch, unless another number is given


def image(model: str, shape: Sequence[int]) -> tuple[int, int, int]:
    """Return channels, height and width, or say which models take samples of this shape."""
    sizes = _sizes(shape)
    if len(sizes) != 3 or min(sizes) < 1 or min(sizes[1:]) < LEAST[model]:
        takes = f"images (channels, height, width) of {LEAST[model]} pixels a side or more"
        raise misfit(model, takes, shape)
    return sizes[0], sizes[1], sizes[2]


def tokens(model: str, shape: Sequence[int]) -> int:
    """Return the steps of a sequence of tokens, or say which models take samples of this shape."""
    if len(shape) != 1 or shape[0] < 1:
        raise misfit(model, "sequences of tokens (time,)", shape)
    return shape[0]


def misfit(model: str, takes: str, shape: Sequence[int]) -> InputError:
    """Build the error for a model that cannot take samples of this shape."""
    turned = len(shape) == 3 and shape[-1] in (1, 3) and shape[0] > 4
    hint = "; channels stand last: x.transpose(0, 3, 1, 2) puts them first" if turned else ""
    return InputError(
        f"model '{model}' takes {takes}, but the data's samples have shape {tuple(shape)}: "
        f"models that fit are {_fitting(shape)}{hint}"
    )


def _fitting(shape: Sequence[int]) -> str:
    sizes = _sizes(shape)
    if len(sizes) == 1:
        return "mlp for features, gru and gpt for tokens"
    if len(sizes) != 3:
        return "mlp"
    fit = [name for name, least in LEAST.items() if min(sizes[1:]) >= least]
    whole = all(side % PATCH == 0 for side in sizes[1:])
    return ", ".join(["mlp", *(name for name in fit if whole or name != "vit")])


def _sizes(shape: Sequence[int]) -> tuple[int, ...]:
    """Give grey images without a channel theirs."""
    return (1, *shape) if len(shape) == 2 else tuple(shape)


def channelled(x: Tensor) -> Tensor:
    """Give a batch of grey images the channel that a convolution asks for."""
    return x.unsqueeze(1) if x.dim() == 3 else x


def indices(model: str, x: Tensor) -> Tensor:
    """Return a batch of tokens as an embedding takes them; numbers that are none are refused."""
    if x.is_floating_point():
        raise InputError(
            f"model '{model}' takes tokens, integers of 16 bits or more, but the data's samples "
            "are numbers: use mlp, or store tokens as int16, int32 or int64"
        )
    return x.to(torch.int64)


def every(targets: str) -> bool:
    """Say whether a model of tokens predicts at every step, or at the last alone."""
    if targets not in TARGETS:
        raise unknown("targets", str(targets), TARGETS)
    return targets == "all"


def vocabulary(symbols: int | None, classes: int) -> int:
    """Return how many symbols a model reads: as many as it tells apart, unless it is said."""
    if symbols is None:
        return classes
    whole("symbols", symbols)
    return symbols


def whole(name: str, value: int) -> None:
    """Raise unless a value is an integer above zero."""
    require(type(value) is int and value >= 1, name, value, "an integer >= 1")


def share(name: str, value: float) -> None:
    """Raise unless a value is a number from zero to below one."""
    number(name, value, "a number in [0, 1)", lambda p: 0 <= p < 1)


def kaiming(model: nn.Module) -> nn.Module:
    """Draw all weights from Kaiming's normal distribution (fan-in), and set every bias to zero."""
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
            _zero(module.bias)
    return model


def glorot(model: nn.Module) -> nn.Module:
    """Draw all weights from Glorot's uniform distribution, and set every bias to zero."""
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.xavier_uniform_(module.weight)
            _zero(module.bias)
    return model


def torchvision(model: nn.Module) -> nn.Module:
    """Draw convolutions from Kaiming's normal distribution (fan-out), and set their biases to zero.

    Linear layers keep what they have.
    """
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            _zero(module.bias)
    return model


def _zero(bias: Tensor | None) -> None:
    if bias is not None:
        nn.init.zeros_(bias)
