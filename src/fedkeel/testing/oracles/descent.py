"""FedAvg whose clients go down another slope than the gradient of the cross-entropy.

What a method at the clients changes is a *slope*: from the client's model, the model w_t that came,
the visit and a batch to the direction of the step, before weight decay and momentum.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .plain import Batch, Local, LocalSGD, Round, Server, Setting, Tensors, Visit, trainable

Slope = Callable[[nn.Module, nn.Module, Visit, Batch], Tensors]
"""From the client's model, w_t as it came (in eval mode), the visit and a batch to a direction."""


def plain_slope(w_k: nn.Module, _w_t: nn.Module, _visit: Visit, batch: Batch) -> Tensors:
    """FedAvg's: the gradient of the cross-entropy."""
    x, y = batch
    return gradient(F.cross_entropy(w_k(x), y), w_k)


def gradient(loss: Tensor, model: nn.Module) -> Tensors:
    """The gradient of the loss; parameters that it does not depend on are left out."""
    names, ws = zip(*trainable(model), strict=True)
    of_all = torch.autograd.grad(loss, ws, allow_unused=True)
    return {name: g for name, g in zip(names, of_all, strict=True) if g is not None}


def in_round(local: Local, lrs: Sequence[float], t: int) -> Local:
    """The client's optimiser in round t: with the lr of that round, where a schedule gives one."""
    return local._replace(lr=lrs[t]) if lrs else local


def descend(w_k: nn.Module, visit: Visit, local: Local, slope: Slope) -> nn.Module:
    """ClientUpdate(k, w) along another slope than the cross-entropy's, in place."""
    w_t = copy.deepcopy(w_k).eval()
    optimiser = LocalSGD(w_k, local)
    for batch in visit.batches:
        optimiser.take(slope(w_k, w_t, visit, batch))
        optimiser.step()
    return w_k


def fedavg_along(
    module: nn.Module, rounds: Sequence[Round], setting: Setting, slope: Slope
) -> Tensors:
    """Run FedAvg whose clients follow the slope, and return the final global state dict."""
    server = Server(module, setting)
    for cohort in rounds:
        models = [descend(server.send(v), v, setting.local, slope) for v in cohort]
        server.step(server.collect(cohort, models))
    return server.state()
