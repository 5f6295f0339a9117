"""The networks of the papers, one file each, ordinary modules all."""

from .cnn import cnn
from .cnn_ecgr import cnn_ecgr
from .cnn_gcfl import cnn_gcfl
from .cnn_zmg import cnn_zmg, cnn_zmg_cifar
from .gpt import gpt
from .gru import gru
from .lenet import lenet
from .mlp import mlp
from .resnet18 import resnet18
from .vgg11 import vgg11
from .vit import vit

__all__ = [
    "cnn",
    "cnn_ecgr",
    "cnn_gcfl",
    "cnn_zmg",
    "cnn_zmg_cifar",
    "gpt",
    "gru",
    "lenet",
    "mlp",
    "resnet18",
    "vgg11",
    "vit",
]
