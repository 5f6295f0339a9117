"""FedProx: a proximal term holds each client near the global model.

Li et al. 2020, "Federated Optimization in Heterogeneous Networks", Algorithm 2 with SGD as the
local solver: client k lowers h_k(w) = F_k(w) + mu/2 ||w - w_t||^2. The server is FedAvg's.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .plain import Batch, Local, LocalSGD, Round, Server, Setting, Tensors, trainable


def squared_distance(w_k: nn.Module, w_t: Tensors) -> Tensor:
    """||w - w_t||^2 over the trainable parameters, matched by name."""
    total = torch.zeros((), dtype=torch.float64)
    for name, w in trainable(w_k):
        total = total + ((w - w_t[name]) ** 2).sum()
    return total


def client_update(w_k: nn.Module, batches: Sequence[Batch], local: Local, mu: float) -> nn.Module:
    """SGD on F_k(w) + mu/2 ||w - w_t||^2, where w_t is what the client has just received."""
    w_t = {name: w.detach().clone() for name, w in trainable(w_k)}
    optimiser = LocalSGD(w_k, local)
    for x, y in batches:
        loss = F.cross_entropy(w_k(x), y)
        optimiser.backward(loss + mu / 2 * squared_distance(w_k, w_t))
        optimiser.step()
    return w_k


def fedprox(
    module: nn.Module, rounds: Sequence[Round], setting: Setting, *, mu: float = 0.1
) -> Tensors:
    """Run FedProx over the rounds and return the final global state dict."""
    server = Server(module, setting)
    for cohort in rounds:
        models = [client_update(server.send(v), v.batches, setting.local, mu) for v in cohort]
        server.step(server.collect(cohort, models))
    return server.state()
