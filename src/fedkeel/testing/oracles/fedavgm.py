"""FedAvgM: heavy-ball momentum at the server.

Hsu, Qi and Brown 2019, "Measuring the Effects of Non-Identical Data Distribution for Federated
Visual Classification": u <- beta u + D, w <- w - server_lr u. The clients are FedAvg's.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from .plain import Round, Server, Setting, Tensors, client_update, trainable


def fedavgm(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    beta: float = 0.9,
    nesterov: bool = False,
) -> Tensors:
    """Run FedAvgM; with `nesterov` the step is D + beta u, u being already renewed."""
    server = Server(module, setting)
    u = {name: torch.zeros_like(w) for name, w in trainable(server.model)}
    for cohort in rounds:
        models = [client_update(server.send(v), v.batches, setting.local) for v in cohort]
        delta = server.collect(cohort, models)
        step = {}
        for name in delta:
            u[name] = beta * u[name] + delta[name]
            step[name] = delta[name] + beta * u[name] if nesterov else u[name]
        server.step(step)
    return server.state()
