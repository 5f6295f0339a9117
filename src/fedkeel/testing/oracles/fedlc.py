"""FedLC: a client's logits are calibrated by how often it holds each class.

Zhang et al. 2022, "Federated Learning with Label Distribution Skew via Logits Calibration": the
cross-entropy of z_c - tau n_{k,c}^(-1/4) over all classes c. The margin of a class that the client
does not hold is infinite, so the softmax runs over the classes it holds. At tau = 0 no class has a
margin, and the loss is the cross-entropy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .descent import fedavg_along, gradient
from .plain import Batch, Round, Setting, Tensors, Visit


def calibrated(z: Tensor, y: Tensor, counts: Sequence[int], tau: float) -> Tensor:
    """The cross-entropy of z_c - tau n_c^(-1/4) over the classes with n_c > 0."""
    if len(counts) != z.shape[1]:
        raise ValueError("FedLC needs Visit.counts, the client's rows of each class")
    if tau == 0:
        return F.cross_entropy(z, y)
    held = [c for c, n_c in enumerate(counts) if n_c > 0]
    margin = torch.tensor([tau * counts[c] ** -0.25 for c in held], dtype=z.dtype)
    place = torch.tensor([held.index(c) for c in y.tolist()])
    return F.cross_entropy(z[:, held] - margin, place)


def fedlc_slope(
    w_k: nn.Module, _w_t: nn.Module, visit: Visit, batch: Batch, *, tau: float = 0.1
) -> Tensors:
    """The gradient of the calibrated cross-entropy."""
    x, y = batch
    return gradient(calibrated(w_k(x), y, visit.counts, tau), w_k)


def fedlc(
    module: nn.Module, rounds: Sequence[Round], setting: Setting, *, tau: float = 0.1
) -> Tensors:
    """Run FedLC over the rounds, whose visits carry `counts`; return the final state dict."""
    return fedavg_along(module, rounds, setting, partial(fedlc_slope, tau=tau))
