"""LocalGC: every client centres its gradient at every step.

GC-Fed (arXiv 2503.13180), Definition 1: the client steps along P G instead of its gradient G.
Weight decay (unless it is coupled before) and momentum come after P. The server is FedAvg's.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch.nn.functional as F
from torch import nn

from .centre import Centring, centre
from .plain import Batch, Local, LocalSGD, Round, Server, Setting, Tensors, trainable


def client_update(
    w_k: nn.Module, batches: Sequence[Batch], local: Local, how: Centring
) -> nn.Module:
    """SGD along P g."""
    optimiser = LocalSGD(w_k, local)
    for x, y in batches:
        optimiser.backward(F.cross_entropy(w_k(x), y))
        for name, w in trainable(w_k):
            if w.grad is not None:
                w.grad = centre(w_k, name, w.grad, how)
        optimiser.step()
    return w_k


def localgc(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    center_1d: bool = False,
    embedding: str = "none",
    axes: str = "fan_in",
) -> Tensors:
    """Run LocalGC over the rounds and return the final global state dict."""
    how = Centring(center_1d, embedding, axes)
    server = Server(module, setting)
    for cohort in rounds:
        models = [client_update(server.send(v), v.batches, setting.local, how) for v in cohort]
        server.step(server.collect(cohort, models))
    return server.state()
