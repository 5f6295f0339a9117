"""Every network of the package, or a slim one of its class, and the samples that it takes."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from fedkeel import models
from fedkeel.models.cnn_ecgr import ECGRNet
from fedkeel.models.resnet18 import NORMS, ResNet
from fedkeel.models.vgg11 import VGG

CLASSES = 3
SLIM = (32, 32, 64, 64)
NETS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "cnn_zmg": (lambda: models.cnn_zmg(CLASSES, (1, 4, 4)), (1, 4, 4)),
    "cnn_zmg_cifar": (lambda: models.cnn_zmg_cifar(CLASSES, (2, 4, 4)), (2, 4, 4)),
    "cnn_ecgr": (lambda: ECGRNet(1, 16, 16, CLASSES), (1, 16, 16)),
    "cnn_gcfl": (lambda: models.cnn_gcfl(CLASSES, (1, 16, 16)), (1, 16, 16)),
    "vgg11": (lambda: VGG(1, CLASSES, width=2, hidden=8), (1, 32, 32)),
    "resnet18": (lambda: ResNet(1, CLASSES, NORMS["group"], "3x3", SLIM), (1, 16, 16)),
    "resnet18 stock": (lambda: ResNet(1, CLASSES, NORMS["batch"], "imagenet", SLIM), (1, 64, 64)),
    "vit": (lambda: models.vit(CLASSES, (1, 8, 8), width=6, depth=1), (1, 8, 8)),
    "gru": (lambda: models.gru(CLASSES, (5,), embed=3, hidden=4), (5,)),
    "gru last": (lambda: models.gru(CLASSES, (5,), "last", embed=3, hidden=4), (5,)),
    "gpt": (lambda: models.gpt(CLASSES, (5,), width=8, depth=1), (5,)),
    "gpt last": (lambda: models.gpt(CLASSES, (5,), "last", width=8, depth=1), (5,)),
}
