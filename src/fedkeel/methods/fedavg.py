"""FedAvg: federated averaging (McMahan et al., AISTATS 2017)."""

from __future__ import annotations

from dataclasses import dataclass

from ..part import Part


@dataclass(frozen=True)
class FedAvg(Part):
    """Train where the data are, and average the models.

    The round itself is FedAvg, so this part adds nothing: it is the neutral element of every sum.
    """
