"""FedSAM: every step uses the gradient at the worst point nearby.

Qu et al. 2022, "Generalized Federated Learning via Sharpness Aware Minimization", and Caldarola et
al. 2022, "Improving Generalization in Federated Learning by Seeking Flat Minima": with g the
gradient of the batch at w, the step goes along the gradient of the same batch at
w + rho g / ||g||. BatchNorm's statistics are taken at w alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from .descent import fedavg_along, gradient
from .plain import Batch, Round, Setting, Tensors, Visit, trainable

GUARD = 1e-12  # added to a length before it divides


def length(g: Tensors) -> float:
    """The norm of all tensors as one vector."""
    return math.sqrt(sum(float((g_i**2).sum()) for g_i in g.values()))


@contextmanager
def moved(model: nn.Module, eps: Tensors) -> Iterator[None]:
    """Be at w + eps for a while; then at w again, with the buffers of before."""
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with torch.no_grad():
        for name, w in trainable(model):
            if name in eps:
                w.add_(eps[name])
    yield
    model.load_state_dict(before)


def fedsam_slope(
    w_k: nn.Module, _w_t: nn.Module, _visit: Visit, batch: Batch, *, rho: float = 0.05
) -> Tensors:
    """The gradient at w + rho g / ||g||."""
    x, y = batch
    g = gradient(F.cross_entropy(w_k(x), y), w_k)
    scale = rho / (length(g) + GUARD)
    with moved(w_k, {name: scale * g_i for name, g_i in g.items()}):
        return gradient(F.cross_entropy(w_k(x), y), w_k)


def fedsam(
    module: nn.Module, rounds: Sequence[Round], setting: Setting, *, rho: float = 0.05
) -> Tensors:
    """Run FedSAM over the rounds and return the final global state dict."""
    return fedavg_along(module, rounds, setting, partial(fedsam_slope, rho=rho))
