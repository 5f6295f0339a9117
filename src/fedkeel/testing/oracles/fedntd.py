"""FedNTD: the client keeps what the global model knows about the classes that are not the answer.

Lee et al. 2022, "Preservation of the Global Knowledge by Not-True Distillation in Federated
Learning": the loss is CE + beta tau^2 KL(q_g || q), where q and q_g are the softmax of the client's
and of the received model's logits over tau, both without the true class. The received model is
frozen, in eval mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .descent import fedavg_along, gradient
from .plain import Batch, Round, Setting, Tensors, Visit


def not_true(z: Tensor, y: Tensor) -> Tensor:
    """The C - 1 logits of each row that are not its label's."""
    rows = [torch.cat([z_i[:y_i], z_i[y_i + 1 :]]) for z_i, y_i in zip(z, y.tolist(), strict=True)]
    return torch.stack(rows)


def divergence(z_g: Tensor, z: Tensor) -> Tensor:
    """KL(softmax(z_g) || softmax(z)), the mean over the rows."""
    log_q_g, log_q = z_g.log_softmax(dim=1), z.log_softmax(dim=1)
    return (log_q_g.exp() * (log_q_g - log_q)).sum(dim=1).mean()


def fedntd_slope(
    w_k: nn.Module,
    w_t: nn.Module,
    _visit: Visit,
    batch: Batch,
    *,
    beta: float = 1.0,
    tau: float = 1.0,
) -> Tensors:
    """The gradient of CE + beta tau^2 KL(q_g || q)."""
    x, y = batch
    z = w_k(x)
    with torch.no_grad():
        z_g = w_t(x)
    kept = divergence(not_true(z_g, y) / tau, not_true(z, y) / tau)
    return gradient(F.cross_entropy(z, y) + beta * tau**2 * kept, w_k)


def fedntd(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    beta: float = 1.0,
    tau: float = 1.0,
) -> Tensors:
    """Run FedNTD over the rounds and return the final global state dict."""
    return fedavg_along(module, rounds, setting, partial(fedntd_slope, beta=beta, tau=tau))
