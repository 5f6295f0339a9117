"""The papers that the methods come from."""

from __future__ import annotations

from typing import NamedTuple


class Paper(NamedTuple):
    """Where an idea was published."""

    title: str
    authors: str
    year: int
    where: str


AVG = Paper(
    "Communication-Efficient Learning of Deep Networks from Decentralized Data",
    "McMahan et al.",
    2017,
    "AISTATS, arXiv 1602.05629",
)
PROX = Paper(
    "Federated Optimization in Heterogeneous Networks",
    "Li et al.",
    2020,
    "MLSys, arXiv 1812.06127",
)
GC_FED = Paper(
    "GC-Fed: Gradient Centralized Federated Learning with Partial Client Participation",
    "Seo et al.",
    2025,
    "arXiv 2503.13180",
)
ZMG = Paper(
    "FedZMG: Efficient Client-Side Optimization in Federated Learning",
    "Zantalis et al.",
    2026,
    "arXiv 2602.18384",
)
AVG_M = Paper(
    "Measuring the Effects of Non-Identical Data Distribution for Federated Visual Classification",
    "Hsu et al.",
    2019,
    "arXiv 1909.06335",
)
OPT = Paper("Adaptive Federated Optimization", "Reddi et al.", 2021, "ICLR, arXiv 2003.00295")
CLIP = Paper(
    "On the difficulty of training Recurrent Neural Networks",
    "Pascanu et al.",
    2013,
    "ICML, arXiv 1211.5063",
)
