"""The networks of the papers, one file each, ordinary modules all."""

from .cnn import cnn
from .lenet import lenet
from .mlp import mlp

__all__ = ["cnn", "lenet", "mlp"]
