"""FedAdam, FedYogi and FedAdagrad: an adaptive optimiser at the server.

Reddi et al. 2021, "Adaptive Federated Optimization", Algorithm 2. The clients are FedAvg's; the
server keeps m_0 = 0 and v_0 = tau^2 and steps by lr * m / (sqrt(v) + tau), without bias correction
as in the paper. With `bias_correction` it is Adam's: v_0 = 0, m / (1 - b1^t) and v / (1 - b2^t).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from .plain import Round, Server, Setting, Tensors, client_update, trainable

SecondMoment = Callable[[Tensor, Tensor], Tensor]


def fedopt(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    second_moment: SecondMoment,
    *,
    lr: float,
    b1: float,
    tau: float,
    correct: float | None,
) -> Tensors:
    """Run Algorithm 2; `second_moment(v, D)` is its v_t, `correct` the b2 of a bias correction."""
    server = Server(module, setting)
    m = {name: torch.zeros_like(w) for name, w in trainable(server.model)}
    v_0 = tau**2 if correct is None else 0.0
    v = {name: torch.full_like(w, v_0) for name, w in trainable(server.model)}
    for t, cohort in enumerate(rounds, start=1):
        models = [client_update(server.send(k), k.batches, setting.local) for k in cohort]
        delta = server.collect(cohort, models)
        step = {}
        for name in delta:
            m[name] = b1 * m[name] + (1 - b1) * delta[name]
            v[name] = second_moment(v[name], delta[name])
            if correct is None:
                m_hat, v_hat = m[name], v[name]
            else:
                m_hat, v_hat = m[name] / (1 - b1**t), v[name] / (1 - correct**t)
            step[name] = lr * m_hat / (v_hat.sqrt() + tau)
        server.step(step)
    return server.state()


def fedadam(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    lr: float = 0.1,
    b1: float = 0.9,
    b2: float = 0.99,
    tau: float = 1e-3,
    bias_correction: bool = False,
) -> Tensors:
    """Run FedAdam: v = b2 v + (1 - b2) D^2."""

    def adam(v: Tensor, delta: Tensor) -> Tensor:
        return b2 * v + (1 - b2) * delta**2

    correct = b2 if bias_correction else None
    return fedopt(module, rounds, setting, adam, lr=lr, b1=b1, tau=tau, correct=correct)


def fedyogi(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    lr: float = 0.1,
    b1: float = 0.9,
    b2: float = 0.99,
    tau: float = 1e-3,
    bias_correction: bool = False,
) -> Tensors:
    """Run FedYogi: v = v - (1 - b2) D^2 sign(v - D^2)."""

    def yogi(v: Tensor, delta: Tensor) -> Tensor:
        return v - (1 - b2) * delta**2 * torch.sign(v - delta**2)

    correct = b2 if bias_correction else None
    return fedopt(module, rounds, setting, yogi, lr=lr, b1=b1, tau=tau, correct=correct)


def fedadagrad(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    lr: float = 0.1,
    b1: float = 0.0,
    tau: float = 1e-3,
) -> Tensors:
    """Run FedAdagrad: v = v + D^2."""

    def adagrad(v: Tensor, delta: Tensor) -> Tensor:
        return v + delta**2

    return fedopt(module, rounds, setting, adagrad, lr=lr, b1=b1, tau=tau, correct=None)
