"""The multilayer perceptron of GC-Fed's EMNIST experiments: 784-512-256-62, 549,182 weights."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from torch import Tensor, nn

from ..errors import InputError
from ._shapes import kaiming


class MLP(nn.Module):
    """Two hidden layers with ReLU; any input is flattened."""

    def __init__(self, inputs: int, classes: int, hidden: tuple[int, int]) -> None:
        """Build the three layers."""
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden[0])
        self.fc2 = nn.Linear(hidden[0], hidden[1])
        self.fc3 = nn.Linear(hidden[1], classes)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of a batch."""
        if not x.is_floating_point():
            raise InputError(
                "model 'mlp' takes numbers, but the data's samples are tokens: models that fit are "
                "gru and gpt; bytes of images are uint8, not another integer type"
            )
        x = self.fc1(x.flatten(1)).relu()
        logits: Tensor = self.fc3(self.fc2(x).relu())
        return logits


def mlp(classes: int, shape: Sequence[int], hidden: Sequence[int] = (512, 256)) -> nn.Module:
    """Build the perceptron, with Kaiming's initial weights and zero biases."""
    if len(hidden) != 2 or not all(isinstance(width, int) and width > 0 for width in hidden):
        raise InputError(
            f"hidden={list(hidden)!r} is out of range: it must be two integers >= 1, "
            "as in [512, 256]"
        )
    return kaiming(MLP(prod(shape), classes, (hidden[0], hidden[1])))
