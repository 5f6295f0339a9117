"""The convolutional net of GCFL: 3,353,034 weights for CIFAR-10, 2,278,334 for FEMNIST."""

from __future__ import annotations

from collections.abc import Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from ._shapes import channelled, image


class GCFLNet(nn.Module):
    """Two unpadded 5x5 convolutions with pooling, and two linear layers with nothing between."""

    def __init__(self, channels: int, height: int, width: int, classes: int) -> None:
        """Build the four layers."""
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 32, 5)
        self.conv2 = nn.Conv2d(32, 64, 5)
        self.fc1 = nn.Linear(64 * _left(height) * _left(width), 2048)
        self.fc2 = nn.Linear(2048, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of a batch; as in the released code, ``fc1`` has no activation."""
        x = F.max_pool2d(self.conv1(channelled(x)).relu(), 2)
        x = F.max_pool2d(self.conv2(x).relu(), 2)
        logits: Tensor = self.fc2(self.fc1(x.flatten(1)))
        return logits


def _left(side: int) -> int:
    """Return the pixels that two convolutions and two poolings leave of a side."""
    return ((side - 4) // 2 - 4) // 2


def cnn_gcfl(classes: int, shape: Sequence[int]) -> nn.Module:
    """Build the net; linear weights are Xavier's (uniform) and their biases 0.01, as released.

    Convolutions keep PyTorch's initial weights.
    """
    model = GCFLNet(*image("cnn_gcfl", shape), classes)
    for layer in (model.fc1, model.fc2):
        nn.init.xavier_uniform_(layer.weight)
        nn.init.constant_(layer.bias, 0.01)
    return model
