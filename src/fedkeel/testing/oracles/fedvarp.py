"""FedVARP: the server stands in for the absent clients with the updates it last had from them.

Jhunjhunwala et al. 2022, "FedVARP: Tackling the Variance Due to Partial Client Participation in
Federated Learning", Algorithm 1. With D_k = w_t - w_k, and y = sum_k P_k y_k over all clients:

    v = y + sum over the cohort of p_k (D_k - y_k)       p_k: the cohort's weights
    w <- w - server_lr v
    y <- y + sum over the cohort of P_k (D_k - y_k)      P_k: shares of the population
    y_k <- D_k

v is made of the old y and y_k. All begin at zero; an absent client's y_k stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torch import nn

from .plain import (
    Round,
    Server,
    Setting,
    Tensors,
    client_update,
    cohort_weights,
    mean,
    zeros,
)
from .population import population_weights


class FedVARPEnd(NamedTuple):
    """The final global state dict, y, and y_k of every client that was visited."""

    state: Tensors
    y: Tensors
    y_k: dict[int, Tensors]


def plus(a: Tensors, b: Tensors) -> Tensors:
    """Add two updates."""
    return {name: a[name] + b[name] for name in a}


def fedvarp_end(module: nn.Module, rounds: Sequence[Round], setting: Setting) -> FedVARPEnd:
    """Run FedVARP and keep what the server has learned of every client."""
    server = Server(module, setting)
    y, y_k = zeros(server.model), dict[int, Tensors]()
    share = population_weights(setting)
    for cohort in rounds:
        models = [client_update(server.send(v), v.batches, setting.local) for v in cohort]
        server.take_buffers(cohort, models)
        updates = server.updates(models)
        news = []
        for visit, delta in zip(cohort, updates, strict=True):
            old = y_k.get(visit.client, zeros(server.model))
            news.append({name: delta[name] - old[name] for name in delta})
        server.step(plus(y, mean(cohort_weights(cohort, setting.weighting), news)))
        y = plus(y, mean([share[visit.client] for visit in cohort], news))
        y_k.update({visit.client: delta for visit, delta in zip(cohort, updates, strict=True)})
    return FedVARPEnd(server.state(), y, y_k)


def fedvarp(module: nn.Module, rounds: Sequence[Round], setting: Setting) -> Tensors:
    """Run FedVARP over the rounds and return the final global state dict."""
    return fedvarp_end(module, rounds, setting).state
