"""The convolutional nets of FedZMG, after TensorFlow Federated's baselines.

For EMNIST 1,690,046 weights (62 classes), for CIFAR-100 2,214,532. The paper does not give the
initial weights. We infer those of Keras, in which the baselines are written: Glorot's uniform
distribution, and biases of zero.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from ._shapes import channelled, glorot, image
from .cnn import CNN


class CIFAR(nn.Module):
    """Two pairs of 3x3 convolutions, each with pooling and dropout, and two linear layers."""

    def __init__(self, channels: int, height: int, width: int, classes: int) -> None:
        """Build the six layers."""
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 32, 3, padding=1)
        self.conv3 = nn.Conv2d(32, 64, 3, padding=1)
        self.conv4 = nn.Conv2d(64, 64, 3, padding=1)
        self.drop1, self.drop2, self.drop3 = nn.Dropout(0.25), nn.Dropout(0.25), nn.Dropout(0.5)
        self.fc1 = nn.Linear(64 * (height // 4) * (width // 4), 512)
        self.fc = nn.Linear(512, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of a batch."""
        x = self.conv2(self.conv1(channelled(x)).relu()).relu()
        x = self.drop1(F.max_pool2d(x, 2))
        x = self.conv4(self.conv3(x).relu()).relu()
        x = self.drop2(F.max_pool2d(x, 2))
        logits: Tensor = self.fc(self.drop3(self.fc1(x.flatten(1)).relu()))
        return logits


def cnn_zmg(classes: int, shape: Sequence[int]) -> nn.Module:
    """Build the net for EMNIST: the layers of ``cnn``, with Glorot's initial weights."""
    return glorot(CNN(*image("cnn_zmg", shape), classes))


def cnn_zmg_cifar(classes: int, shape: Sequence[int]) -> nn.Module:
    """Build the net for CIFAR-100, with Glorot's initial weights and zero biases."""
    return glorot(CIFAR(*image("cnn_zmg_cifar", shape), classes))
