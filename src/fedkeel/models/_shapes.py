"""What the networks of this package ask of their input."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from ..errors import InputError

LEAST = 4  # pixels a side that are left over two poolings by two: one


def image(model: str, shape: Sequence[int]) -> tuple[int, int, int]:
    """Return channels, height and width, or say that the model takes images alone."""
    sizes = (1, *shape) if len(shape) == 2 else tuple(shape)
    if len(sizes) != 3 or min(sizes[1:]) < LEAST:
        raise InputError(
            f"model '{model}' takes images (channels, height, width) of {LEAST} pixels a side or "
            f"more, the data's samples have shape {tuple(shape)}: use model.name='mlp', "
            "which takes any"
        )
    return sizes[0], sizes[1], sizes[2]


def channelled(x: Tensor) -> Tensor:
    """Give a batch of grey images the channel that a convolution asks for."""
    return x.unsqueeze(1) if x.dim() == 3 else x


def kaiming(model: nn.Module) -> nn.Module:
    """Draw all weights from Kaiming's normal distribution (fan-in), and set every bias to zero."""
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    return model
