"""FedOpt: the server takes its step with an optimiser (Reddi et al., ICLR 2021).

FedAvgM is of Hsu et al. (2019).
"""

from __future__ import annotations

from ..part import Part
from ..transforms import Adaptive, AtServer, Momentum


def fed_avg_m(beta: float = 0.9, nesterov: bool = False) -> Part:
    """Give the server's steps momentum: ``u = beta u + D``."""
    return AtServer(Momentum(beta, nesterov))


def fed_adam(
    lr: float = 0.1,
    b1: float = 0.9,
    b2: float = 0.99,
    tau: float = 1e-3,
    bias_correction: bool = False,
) -> Part:
    """Take the server's step with Adam."""
    return AtServer(Adaptive("adam", lr, b1, b2, tau, bias_correction))


def fed_yogi(
    lr: float = 0.1,
    b1: float = 0.9,
    b2: float = 0.99,
    tau: float = 1e-3,
    bias_correction: bool = False,
) -> Part:
    """Take the server's step with Yogi, whose square moves by additions alone."""
    return AtServer(Adaptive("yogi", lr, b1, b2, tau, bias_correction))


def fed_adagrad(lr: float = 0.1, b1: float = 0.0, tau: float = 1e-3) -> Part:
    """Take the server's step with Adagrad, whose square only grows."""
    return AtServer(Adaptive("adagrad", lr, b1, tau=tau))
