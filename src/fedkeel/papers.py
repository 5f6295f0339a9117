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
SCAFFOLD = Paper(
    "SCAFFOLD: Stochastic Controlled Averaging for Federated Learning",
    "Karimireddy et al.",
    2020,
    "ICML, arXiv 1910.06378",
)
DYN = Paper(
    "Federated Learning Based on Dynamic Regularization",
    "Acar et al.",
    2021,
    "ICLR, arXiv 2111.04263",
)
NOVA = Paper(
    "Tackling the Objective Inconsistency Problem in Heterogeneous Federated Optimization",
    "Wang et al.",
    2020,
    "NeurIPS, arXiv 2007.07481",
)
VARP = Paper(
    "FedVARP: Tackling the Variance Due to Partial Client Participation in Federated Learning",
    "Jhunjhunwala et al.",
    2022,
    "UAI, arXiv 2207.14130",
)
NTD = Paper(
    "Preservation of the Global Knowledge by Not-True Distillation in Federated Learning",
    "Lee et al.",
    2022,
    "NeurIPS, arXiv 2106.03097",
)
LC = Paper(
    "Federated Learning with Label Distribution Skew via Logits Calibration",
    "Zhang et al.",
    2022,
    "ICML, arXiv 2209.00189",
)
DECORR = Paper(
    "Towards Understanding and Mitigating Dimensional Collapse in Heterogeneous Federated Learning",
    "Shi et al.",
    2023,
    "ICLR, arXiv 2210.00226",
)
SOL = Paper(
    "FedSOL: Stabilized Orthogonal Learning with Proximal Restrictions in Federated Learning",
    "Lee et al.",
    2024,
    "CVPR, arXiv 2308.12532",
)
SAM = Paper(
    "Generalized Federated Learning via Sharpness Aware Minimization",
    "Qu et al.",
    2022,
    "ICML, arXiv 2206.02618",
)
ACG = Paper(
    "Communication-Efficient Federated Learning with Accelerated Client Gradient",
    "Kim et al.",
    2024,
    "CVPR, arXiv 2201.03172",
)
MEDIAN = Paper(
    "Byzantine-Robust Distributed Learning: Towards Optimal Statistical Rates",
    "Yin et al.",
    2018,
    "ICML, arXiv 1803.01498",
)
KRUM = Paper(
    "Machine Learning with Adversaries: Byzantine Tolerant Gradient Descent",
    "Blanchard et al.",
    2017,
    "NeurIPS, arXiv 1703.02757",
)
BOUND = Paper(
    "Can You Really Backdoor Federated Learning?",
    "Sun et al.",
    2019,
    "arXiv 1911.07963",
)
CLIP = Paper(
    "On the difficulty of training Recurrent Neural Networks",
    "Pascanu et al.",
    2013,
    "ICML, arXiv 1211.5063",
)
