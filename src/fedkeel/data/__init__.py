"""Data sets, partitions, noise, and how different the clients are."""

from __future__ import annotations

from .arrays import from_arrays
from .federation import IGNORED, Federation, Samples, Source
from .function import from_function
from .heterogeneity import describe
from .huggingface import from_huggingface
from .partitions import (
    IID,
    Classes,
    Dirichlet,
    DirichletECGR,
    DirichletGCFL,
    Facts,
    Feature,
    File,
    Natural,
    Pachinko,
    Partition,
    Quantity,
    Shards,
)
from .preparation import Preparation
from .shards import from_shards
from .sources import from_file, from_folder, load
from .torch_sets import from_torch

__all__ = [
    "IGNORED",
    "IID",
    "Classes",
    "Dirichlet",
    "DirichletECGR",
    "DirichletGCFL",
    "Facts",
    "Feature",
    "Federation",
    "File",
    "Natural",
    "Pachinko",
    "Partition",
    "Preparation",
    "Quantity",
    "Samples",
    "Shards",
    "Source",
    "describe",
    "from_arrays",
    "from_file",
    "from_folder",
    "from_function",
    "from_huggingface",
    "from_shards",
    "from_torch",
    "load",
]
