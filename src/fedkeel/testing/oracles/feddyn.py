"""FedDyn: every client's objective is bent until its own optimum is the common one.

Acar et al. 2021, "Federated Learning Based on Dynamic Regularization". Client k lowers
F_k(w) - <g_k, w> + alpha/2 ||w - w_t||^2 and renews g_k <- g_k - alpha (w_k - w_t). The server:

    h <- h - alpha sum over the cohort of P_k (w_k - w_t)     (P_k = 1/N: the paper's alpha/N sum)
    w <- mean_k w_k - h / alpha

P_k are shares of the population, the mean of the w_k is the cohort's. The form "released" has
alpha / K^2 in place of alpha P_k. All begin at zero; at alpha = 0 neither end has a term.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch.nn.functional as F
from torch import nn

from .fedprox import squared_distance
from .plain import (
    Batch,
    Local,
    LocalSGD,
    Round,
    Server,
    Setting,
    Tensors,
    fedavg,
    one_of,
    trainable,
    zeros,
)
from .population import population_weights


class FedDynEnd(NamedTuple):
    """The final global state dict, h, and g_k of every client that was visited."""

    state: Tensors
    h: Tensors
    g_k: dict[int, Tensors]


def client_update(
    w_k: nn.Module, batches: Iterable[Batch], local: Local, g_k: Tensors, alpha: float
) -> nn.Module:
    """SGD on F_k(w) - <g_k, w> + alpha/2 ||w - w_t||^2."""
    w_t = {name: w.detach().clone() for name, w in trainable(w_k)}
    optimiser = LocalSGD(w_k, local)
    for x, y in batches:
        loss = F.cross_entropy(w_k(x), y) + alpha / 2 * squared_distance(w_k, w_t)
        for name, w in trainable(w_k):
            loss = loss - (g_k[name] * w).sum()
        optimiser.backward(loss)
        optimiser.step()
    return w_k


def feddyn_end(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    alpha: float = 0.1,
    server: str = "paper",
) -> FedDynEnd:
    """Run FedDyn with alpha > 0."""
    one_of("server", server, ("paper", "released"))
    aggregator = Server(module, setting)
    nothing = zeros(aggregator.model)
    h, g = nothing, dict[int, Tensors]()
    share = population_weights(setting) if server == "paper" else []
    for cohort in rounds:
        models = [
            client_update(
                aggregator.send(v), v.batches, setting.local, g.get(v.client, nothing), alpha
            )
            for v in cohort
        ]
        for visit, delta in zip(cohort, aggregator.updates(models), strict=True):
            old = g.get(visit.client, nothing)
            g[visit.client] = {name: old[name] + alpha * delta[name] for name in delta}
            p_k = share[visit.client] if server == "paper" else 1 / len(cohort) ** 2
            h = {name: h[name] + alpha * p_k * delta[name] for name in h}
        mean = aggregator.collect(cohort, models)
        aggregator.step({name: mean[name] + h[name] / alpha for name in h})
    return FedDynEnd(aggregator.state(), h, g)


def feddyn(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    alpha: float = 0.1,
    server: str = "paper",
) -> Tensors:
    """Run FedDyn over the rounds and return the final global state dict."""
    if alpha == 0:
        return fedavg(module, rounds, setting)
    return feddyn_end(module, rounds, setting, alpha=alpha, server=server).state
