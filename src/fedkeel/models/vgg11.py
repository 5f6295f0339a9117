"""VGG11 as torchvision has it, without BatchNorm: 129,176,036 weights for a hundred classes."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from ._shapes import channelled, image, torchvision

PLAN = ((1,), (2,), (4, 4), (8, 8), (8, 8))  # channels over the width; a pooling ends each group


class VGG(nn.Module):
    """Eight 3x3 convolutions in five groups, and three linear layers with dropout.

    Modules are named as in torchvision, so that its state dict fits. Where a method treats the head
    apart, the whole classifier is meant, as in the GC-Fed experiments.
    """

    whole_head = "classifier"

    def __init__(self, channels: int, classes: int, width: int = 64, hidden: int = 4096) -> None:
        """Build features and classifier; the first convolution has ``width`` channels."""
        super().__init__()
        self.features = _features(channels, width)
        self.avgpool = nn.AdaptiveAvgPool2d(7)
        self.classifier = nn.Sequential(
            nn.Linear(8 * width * 7 * 7, hidden),
            nn.ReLU(),
            nn.Dropout(0.5),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Dropout(0.5),
            nn.Linear(hidden, classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of a batch."""
        x = self.avgpool(self.features(channelled(x)))
        logits: Tensor = self.classifier(x.flatten(1))
        return logits


def _features(channels: int, width: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for group in PLAN:
        for factor in group:
            layers += [nn.Conv2d(channels, factor * width, 3, padding=1), nn.ReLU()]
            channels = factor * width
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers)


def initialised(model: VGG) -> VGG:
    """Draw torchvision's initial weights: linear ones are normal, of deviation 0.01."""
    torchvision(model)
    for module in model.classifier:
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, 0.0, 0.01)
            nn.init.zeros_(module.bias)
    return model


def vgg11(classes: int, shape: Sequence[int]) -> nn.Module:
    """Build the net, with torchvision's initial weights, for images of 32 pixels a side or more."""
    channels, _, _ = image("vgg11", shape)
    return initialised(VGG(channels, classes))
