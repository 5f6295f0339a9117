"""Data sets, partitions, and how different the clients are."""

from __future__ import annotations

from .arrays import from_arrays
from .dirichlet import Dirichlet
from .federation import Federation, Samples, Source
from .function import from_function
from .heterogeneity import describe
from .partition import IID, File, Natural
from .shards import from_shards
from .sources import load
from .torch_sets import from_torch

__all__ = [
    "IID",
    "Dirichlet",
    "Federation",
    "File",
    "Natural",
    "Samples",
    "Source",
    "describe",
    "from_arrays",
    "from_function",
    "from_shards",
    "from_torch",
    "load",
]
