"""FedZMG: clients step along zero-mean gradients.

FedZMG (arXiv 2602.18384), Equations 5-7: g^ = Phi(g), then the decay of w, then the (momentum)
step along g^. The paper's decay is decoupled, w <- (1 - lr*wd) w: set `decay="decoupled"`. The
server is FedAvg's, weighted by samples. Phi subtracts a mean: of each output unit's fan-in
(scope "row", what the paper's runs do), of a whole tensor, or of all as one vector (its theory).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch.nn.functional as F
from torch import nn

from .centre import Centring, centre, fan_in
from .plain import Batch, Local, LocalSGD, Round, Server, Setting, Tensors, one_of, trainable


def phi(w_k: nn.Module, g: Tensors, how: Centring, scope: str) -> Tensors:
    """Phi(g) over the tensors that are centred; the others pass unchanged."""
    centred = [name for name in g if fan_in(w_k, name, how) is not None]
    total = sum(float(g[name].sum()) for name in centred)
    d = sum(g[name].numel() for name in centred)
    g_hat = dict(g)
    for name in centred:
        if scope == "row":
            g_hat[name] = centre(w_k, name, g[name], how)
        elif scope == "tensor":
            g_hat[name] = g[name] - g[name].mean()
        else:
            g_hat[name] = g[name] - total / d
    return g_hat


def client_update(
    w_k: nn.Module, batches: Sequence[Batch], local: Local, how: Centring, scope: str
) -> nn.Module:
    """SGD along Phi(g)."""
    optimiser = LocalSGD(w_k, local)
    for x, y in batches:
        optimiser.backward(F.cross_entropy(w_k(x), y))
        g = {name: w.grad for name, w in trainable(w_k) if w.grad is not None}
        g_hat = phi(w_k, g, how, scope)
        for name, w in trainable(w_k):
            w.grad = g_hat.get(name)
        optimiser.step()
    return w_k


def fedzmg(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    center_1d: bool = False,
    embedding: str = "vocab",
    scope: str = "row",
) -> Tensors:
    """Run FedZMG over the rounds and return the final global state dict."""
    one_of("scope", scope, ("row", "tensor", "vector"))
    how = Centring(center_1d, embedding)
    server = Server(module, setting)
    for cohort in rounds:
        models = [
            client_update(server.send(v), v.batches, setting.local, how, scope) for v in cohort
        ]
        server.step(server.collect(cohort, models))
    return server.state()
