"""The convolutional net of ECGR's CIFAR experiments: 1,167,872 weights for ten classes."""

from __future__ import annotations

from collections.abc import Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from ._shapes import channelled, image


class ECGRNet(nn.Module):
    """Six 3x3 convolutions, the last five with BatchNorm, and a linear layer without a bias."""

    def __init__(self, channels: int, height: int, width: int, classes: int) -> None:
        """Build the layers; of the convolutions the first alone has a bias."""
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 32, 3, padding=1)
        self.conv2, self.bn2 = _normed(32, 64)
        self.conv3, self.bn3 = _normed(64, 128)
        self.conv4, self.bn4 = _normed(128, 128)
        self.conv5, self.bn5 = _normed(128, 256)
        self.conv6, self.bn6 = _normed(256, 256)
        self.fc = nn.Linear(256 * (height // 8) * (width // 8), classes, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logarithms of the classes' chances, as the released code does.

        Cross-entropy takes them as it takes logits: the second log-softmax changes nothing.
        """
        x = self.conv1(channelled(x)).relu()
        x = F.max_pool2d(self.bn2(self.conv2(x)).relu(), 2)
        x = self.bn3(self.conv3(x)).relu()
        x = F.max_pool2d(self.bn4(self.conv4(x)).relu(), 2)
        x = self.bn5(self.conv5(x)).relu()
        x = F.max_pool2d(self.bn6(self.conv6(x)).relu(), 2)
        return F.log_softmax(self.fc(x.flatten(1)), -1)


def _normed(inputs: int, outputs: int) -> tuple[nn.Conv2d, nn.BatchNorm2d]:
    return nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs)


def cnn_ecgr(classes: int, shape: Sequence[int]) -> nn.Module:
    """Build the net, with PyTorch's initial weights."""
    return ECGRNet(*image("cnn_ecgr", shape), classes)
