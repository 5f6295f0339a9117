"""FedDecorr: the dimensions of the client's features are kept from becoming copies of one another.

Shi et al. 2023, "Towards Understanding and Mitigating Dimensional Collapse in Heterogeneous
Federated Learning". The features h of a batch of B rows, what the head is given, are standardised:
Z = (h - mean) / sqrt(var + 1e-8), var unbiased. The loss is CE + beta times the mean over i != j of
K_ij^2, K = Z^T Z / (B - 1) (scale "paper"), or of (Z^T Z)_ij^2 / B (scale "released").
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch.nn.functional as F
from torch import Tensor, nn

from .descent import fedavg_along, gradient
from .plain import Batch, Round, Setting, Tensors, Visit, one_of


def last_linear(model: nn.Module) -> str:
    """The name of the last linear layer, which gives the logits."""
    names = [str(name) for name, layer in model.named_modules() if isinstance(layer, nn.Linear)]
    return names[-1]


def logits_and_features(model: nn.Module, x: Tensor, head: str) -> tuple[Tensor, Tensor]:
    """The model's logits and what its head was given."""
    seen: list[Tensor] = []
    tap = model.get_submodule(head).register_forward_pre_hook(
        lambda _, given: seen.append(given[0])
    )
    logits = model(x)
    tap.remove()
    return logits, seen[-1]


def correlation(h: Tensor, scale: str) -> Tensor:
    """The mean square of what lies off the diagonal of Z^T Z; zero for one row or one dimension."""
    one_of("scale", scale, ("released", "paper"))
    rows, q = h.shape
    if rows == 1 or q == 1:
        return h.sum() * 0.0
    centred = h - h.mean(dim=0)
    z = centred / ((centred**2).sum(dim=0) / (rows - 1) + 1e-8).sqrt()
    products = z.T @ z
    square = ((products**2).sum() - (products.diagonal() ** 2).sum()) / (q * (q - 1))
    return square / rows if scale == "released" else square / (rows - 1) ** 2


def feddecorr_slope(
    w_k: nn.Module,
    _w_t: nn.Module,
    _visit: Visit,
    batch: Batch,
    *,
    beta: float = 0.1,
    scale: str = "released",
    head: str | None = None,
) -> Tensors:
    """The gradient of CE + beta times the mean square correlation."""
    x, y = batch
    z, h = logits_and_features(w_k, x, last_linear(w_k) if head is None else head)
    return gradient(F.cross_entropy(z, y) + beta * correlation(h, scale), w_k)


def feddecorr(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    beta: float = 0.1,
    scale: str = "released",
    head: str | None = None,
) -> Tensors:
    """Run FedDecorr; `head` is the layer that gives the logits, by default the last linear one."""
    slope = partial(feddecorr_slope, beta=beta, scale=scale, head=head)
    return fedavg_along(module, rounds, setting, slope)
