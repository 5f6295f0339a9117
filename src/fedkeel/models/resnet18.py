"""ResNet18 as torchvision has it, and as GC-Fed changes it: 11,220,132 weights for 100 classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import torch.nn.functional as F
from torch import Tensor, nn

from ..errors import unknown
from ._shapes import channelled, image, torchvision

Norm = Callable[[int], nn.Module]
NORMS: dict[str, Norm] = {"group": partial(nn.GroupNorm, 32), "batch": nn.BatchNorm2d}
STEMS = ("3x3", "imagenet")
WIDTHS = (64, 128, 256, 512)


class Block(nn.Module):
    """Two 3x3 convolutions, and a way round them."""

    def __init__(self, inputs: int, outputs: int, stride: int, norm: Norm) -> None:
        """Build them; the way round is a 1x1 convolution where the shape changes."""
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = norm(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = norm(outputs)
        self.downsample = (
            nn.Identity()
            if stride == 1 and inputs == outputs
            else nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), norm(outputs))
        )

    def forward(self, x: Tensor) -> Tensor:
        """Add what the convolutions find to what came in."""
        found = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
        added: Tensor = found + self.downsample(x)
        return added.relu()


class ResNet(nn.Module):
    """A stem, four layers of two blocks, the mean over all pixels, and a linear layer.

    Modules are named as in torchvision, so that its state dict fits.
    """

    def __init__(
        self, channels: int, classes: int, norm: Norm, stem: str, widths: Sequence[int] = WIDTHS
    ) -> None:
        """Build them; all layers but the first halve the image."""
        super().__init__()
        first, *_, last = widths
        self.large = stem == "imagenet"
        size, stride, padding = (7, 2, 3) if self.large else (3, 1, 1)
        self.conv1 = nn.Conv2d(channels, first, size, stride, padding, bias=False)
        self.bn1 = norm(first)
        (a, b), (c, d), (e, f) = pairwise(widths)
        self.layer1 = _layer(first, first, 1, norm)
        self.layer2 = _layer(a, b, 2, norm)
        self.layer3 = _layer(c, d, 2, norm)
        self.layer4 = _layer(e, f, 2, norm)
        self.fc = nn.Linear(last, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of a batch."""
        x = self.bn1(self.conv1(channelled(x))).relu()
        if self.large:
            x = F.max_pool2d(x, 3, stride=2, padding=1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        logits: Tensor = self.fc(x.mean((-2, -1)))
        return logits


def _layer(inputs: int, outputs: int, stride: int, norm: Norm) -> nn.Sequential:
    return nn.Sequential(Block(inputs, outputs, stride, norm), Block(outputs, outputs, 1, norm))


def resnet18(
    classes: int, shape: Sequence[int], norm: str = "group", stem: str = "3x3"
) -> nn.Module:
    """Build the net, with torchvision's initial weights.

    Args:
        classes: How many logits it gives.
        shape: Of a sample: channels, height, width.
        norm: ``group`` (GroupNorm, 32 groups, as GC-Fed) or ``batch`` (BatchNorm, as torchvision).
        stem: ``3x3`` (a small convolution without pooling, as GC-Fed) or ``imagenet`` (7x7 with
            stride two and max pooling, as torchvision).
    """
    channels, _, _ = image("resnet18", shape)
    if norm not in NORMS:
        raise unknown("norm", str(norm), NORMS)
    if stem not in STEMS:
        raise unknown("stem", str(stem), STEMS)
    return torchvision(ResNet(channels, classes, NORMS[norm], stem))
