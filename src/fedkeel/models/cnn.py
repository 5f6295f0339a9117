"""The convolutional net of GC-Fed's CIFAR experiments: 2,156,490 weights for ten classes.

After McMahan et al. (2017).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from ._shapes import channelled, image, kaiming


class CNN(nn.Module):
    """Two 5x5 convolutions with pooling, and two linear layers."""

    def __init__(self, channels: int, height: int, width: int, classes: int) -> None:
        """Build the four layers."""
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 32, 5, padding=2)
        self.conv2 = nn.Conv2d(32, 64, 5, padding=2)
        self.fc1 = nn.Linear(64 * (height // 4) * (width // 4), 512)
        self.fc2 = nn.Linear(512, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of a batch."""
        x = F.max_pool2d(self.conv1(channelled(x)).relu(), 2)
        x = F.max_pool2d(self.conv2(x).relu(), 2)
        logits: Tensor = self.fc2(self.fc1(x.flatten(1)).relu())
        return logits


def cnn(classes: int, shape: Sequence[int]) -> nn.Module:
    """Build the net, with Kaiming's initial weights and zero biases."""
    channels, height, width = image("cnn", shape)
    return kaiming(CNN(channels, height, width, classes))
