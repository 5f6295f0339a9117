"""Clipping by global norm: of the client's gradient at every step, or of the server's mean update.

Pascanu et al. 2013, "On the difficulty of training recurrent neural networks", Algorithm 1: all
parameters count as one vector, which is scaled by min(1, norm / length); no guard constant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch.nn.functional as F
from torch import nn

from .plain import Batch, Local, LocalSGD, Round, Server, Setting, Tensors, one_of, trainable
from .plain import client_update as fedavg_client_update


def clipped(g: Tensors, norm: float) -> Tensors:
    """Scale g by min(1, norm / length); of length zero it stays zero."""
    length = math.sqrt(sum(float((g_i**2).sum()) for g_i in g.values()))
    factor = min(1.0, norm / length) if length > 0 else 1.0
    return {name: factor * g_i for name, g_i in g.items()}


def client_update(w_k: nn.Module, batches: Sequence[Batch], local: Local, norm: float) -> nn.Module:
    """SGD along the clipped gradient."""
    optimiser = LocalSGD(w_k, local)
    for x, y in batches:
        optimiser.backward(F.cross_entropy(w_k(x), y))
        g = clipped({name: w.grad for name, w in trainable(w_k) if w.grad is not None}, norm)
        for name, w in trainable(w_k):
            w.grad = g.get(name)
        optimiser.step()
    return w_k


def clip(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    norm: float = 10.0,
    where: str = "client",
) -> Tensors:
    """Run FedAvg with clipping at the clients' gradients or at the server's mean update."""
    one_of("where", where, ("client", "server"))
    server = Server(module, setting)
    for cohort in rounds:
        if where == "client":
            models = [client_update(server.send(v), v.batches, setting.local, norm) for v in cohort]
            server.step(server.collect(cohort, models))
        else:
            models = [
                fedavg_client_update(server.send(v), v.batches, setting.local) for v in cohort
            ]
            server.step(clipped(server.collect(cohort, models), norm))
    return server.state()
