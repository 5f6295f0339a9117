"""Rules that say which client holds which training sample."""

from __future__ import annotations

from .base import IID, Facts, File, Natural, Partition, check_split
from .classes import Classes
from .dirichlet import Dirichlet
from .dirichlet_ecgr import DirichletECGR
from .dirichlet_gcfl import DirichletGCFL
from .feature import Feature
from .label_shards import Shards
from .pachinko import Pachinko
from .quantity import Quantity

__all__ = [
    "IID",
    "Classes",
    "Dirichlet",
    "DirichletECGR",
    "DirichletGCFL",
    "Facts",
    "Feature",
    "File",
    "Natural",
    "Pachinko",
    "Partition",
    "Quantity",
    "Shards",
    "check_split",
]
