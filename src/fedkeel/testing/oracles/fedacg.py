"""FedACG: the server sends the point that its momentum will reach, and the clients stay near it.

Kim, Kim and Han 2024, "Communication-Efficient Federated Learning with Accelerated Client
Gradient". Clients get w^ = w + lam m, lower F_k(w) + beta ||w - w^||^2 (no half) and send
w_k - w^. The server takes m <- lam m + mean_k (w_k - w^) and w <- w + m, which with server_lr = 1
is the mean of the w_k. The model that counts is w, not w^. Here an update is subtracted: u = -m.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import nn

from .fedprox import client_update
from .plain import Round, Server, Setting, Tensors, cohort_weights, mean, trainable, zeros


class FedACGEnd(NamedTuple):
    """The final global state dict, and the server's momentum m in the paper's sign."""

    state: Tensors
    m: Tensors


@torch.no_grad()
def ahead(server: Server, u: Tensors, lam: float) -> Server:
    """A server that sends w^ = w - lam u; buffers that clients keep are shared."""
    scout = copy.copy(server)
    scout.model = copy.deepcopy(server.model)
    for name, w in trainable(scout.model):
        w.sub_(lam * u[name])
    return scout


def fedacg_end(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    lam: float = 0.85,
    beta: float = 0.001,
) -> FedACGEnd:
    """Run FedACG; beta ||w - w^||^2 is FedProx's term with mu = 2 beta, centred at w^."""
    server = Server(module, setting)
    u = zeros(server.model)
    for cohort in rounds:
        scout = ahead(server, u, lam)
        models = [client_update(scout.send(v), v.batches, setting.local, 2 * beta) for v in cohort]
        server.take_buffers(cohort, models)
        p = cohort_weights(cohort, setting.weighting)
        delta = mean(p, scout.updates(models))
        u = {name: lam * u[name] + delta[name] for name in u}
        server.step(u)
    return FedACGEnd(server.state(), {name: -u_i for name, u_i in u.items()})


def fedacg(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    lam: float = 0.85,
    beta: float = 0.001,
) -> Tensors:
    """Run FedACG over the rounds and return the final global state dict."""
    return fedacg_end(module, rounds, setting, lam=lam, beta=beta).state
