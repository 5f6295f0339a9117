"""FedSOL: every step uses the gradient at a point that is worse for what the global model knows.

Lee et al. 2024, "FedSOL: Stabilized Orthogonal Learning with Proximal Restrictions in Federated
Learning". With g the gradient at w of KL(softmax(z_g / tau) || softmax(z / tau)), z_g the logits of
the received model in eval mode, the step goes along the gradient of the cross-entropy at w + eps:

    adaptive   eps = [|w - w_t|, each tensor of unit length along its first axis] * rho g / ||g||
    plain      eps = rho g / ||g||, and 0 where ||g|| < 1e-8 or w is still w_t

At w_t nothing has been lost yet, and g is nothing but rounding, or with BatchNorm the difference
between its two modes: the first step of a visit has no perturbation in either form. Statistics of
BatchNorm are taken at w alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .descent import fedavg_along, gradient
from .fedntd import divergence
from .fedsam import GUARD, length, moved
from .plain import Batch, Round, Setting, Tensors, Visit, one_of, trainable

ROUNDING = 1e-8  # a shorter proximal gradient has no direction


def unit(drift: Tensor) -> Tensor:
    """Scale to unit length along the first axis; what is zero stays zero."""
    lengths = (drift**2).sum(dim=0, keepdim=True).sqrt() if drift.dim() else drift.abs()
    return drift / lengths.clamp_min(GUARD)


def drift_of(w_k: nn.Module, w_t: nn.Module) -> Tensors:
    """|w - w_t|."""
    return {name: (w - w_t.get_parameter(name)).detach().abs() for name, w in trainable(w_k)}


def perturbation_of(w_k: nn.Module, w_t: nn.Module, g: Tensors, rho: float, kind: str) -> Tensors:
    """Eps for the proximal gradient g."""
    one_of("perturbation", kind, ("adaptive", "plain"))
    drift, size = drift_of(w_k, w_t), length(g)
    if kind == "adaptive":
        return {name: unit(drift[name]) * g_i * (rho / (size + GUARD)) for name, g_i in g.items()}
    if size < ROUNDING or length(drift) == 0:
        return {}
    return {name: rho * g_i / size for name, g_i in g.items()}


def fedsol_slope(
    w_k: nn.Module,
    w_t: nn.Module,
    _visit: Visit,
    batch: Batch,
    *,
    rho: float = 1.0,
    tau: float = 3.0,
    perturbation: str = "adaptive",
) -> Tensors:
    """The gradient of the cross-entropy at w + eps."""
    x, y = batch
    with torch.no_grad():
        z_g = w_t(x)
    g = gradient(divergence(z_g / tau, w_k(x) / tau), w_k)
    with moved(w_k, perturbation_of(w_k, w_t, g, rho, perturbation)):
        return gradient(F.cross_entropy(w_k(x), y), w_k)


def fedsol(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    rho: float = 1.0,
    tau: float = 3.0,
    perturbation: str = "adaptive",
) -> Tensors:
    """Run FedSOL over the rounds and return the final global state dict."""
    slope = partial(fedsol_slope, rho=rho, tau=tau, perturbation=perturbation)
    return fedavg_along(module, rounds, setting, slope)
