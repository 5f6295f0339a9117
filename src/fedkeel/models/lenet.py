"""LeNet-5 as ECGR has it: 61,706 weights for 28x28 digits."""

from __future__ import annotations

from collections.abc import Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from ._shapes import channelled, image


class LeNet(nn.Module):
    """Two 5x5 convolutions with pooling, and three linear layers."""

    def __init__(self, channels: int, height: int, width: int, classes: int) -> None:
        """Build the five layers; the first convolution alone is padded."""
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * ((height // 2 - 4) // 2) * ((width // 2 - 4) // 2), 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of a batch."""
        x = F.max_pool2d(self.conv1(channelled(x)).relu(), 2)
        x = F.max_pool2d(self.conv2(x).relu(), 2)
        x = self.fc1(x.flatten(1)).relu()
        logits: Tensor = self.fc3(self.fc2(x).relu())
        return logits


def lenet(classes: int, shape: Sequence[int]) -> nn.Module:
    """Build the net, with PyTorch's initial weights."""
    channels, height, width = image("lenet", shape)
    return LeNet(channels, height, width, classes)
