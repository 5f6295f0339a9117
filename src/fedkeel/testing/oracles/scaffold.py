"""SCAFFOLD: control variates take the drift out of the clients' steps.

Karimireddy et al. 2020, "SCAFFOLD: Stochastic Controlled Averaging for Federated Learning",
Algorithm 1 with option II, for clients with momentum. Client k goes along g - c_k + c and renews

    c_k+ = c_k - c + (w_t - w_k) / (lr A)

With correction "gradient" the correction passes through momentum, and A is the way of the optimiser
along a gradient of 1. With "velocity" it is added to the step behind momentum, and A is the number
of steps: c_k is then a mean velocity. The server keeps c = sum_k P_k c_k over all clients:
c <- c + sum over the cohort of P_k (c_k+ - c_k). All begin at zero; an absent client's c_k stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

from .descent import in_round
from .fednova import effective_steps
from .plain import (
    Batch,
    Local,
    LocalSGD,
    Round,
    Server,
    Setting,
    Tensors,
    Visit,
    one_of,
    trainable,
    zeros,
)
from .population import population_weights


class ScaffoldEnd(NamedTuple):
    """The final global state dict, c, and c_k of every client that was visited."""

    state: Tensors
    c: Tensors
    c_k: dict[int, Tensors]


def client_update(
    w_k: nn.Module, batches: Iterable[Batch], local: Local, shift: Tensors, correction: str
) -> nn.Module:
    """SGD with shift = c - c_k added to the gradient, or to the velocity."""
    one_of("correction", correction, ("gradient", "velocity"))
    optimiser = LocalSGD(w_k, local)
    for x, y in batches:
        optimiser.backward(F.cross_entropy(w_k(x), y))
        for name, w in trainable(w_k):
            if correction == "gradient" and w.grad is not None:
                w.grad = w.grad + shift[name]
        optimiser.step()
        with torch.no_grad():
            for name, w in trainable(w_k):
                if correction == "velocity":
                    w.sub_(local.lr * shift[name])
    return w_k


def renewed(
    c: Tensors, c_k: Tensors, moved: Tensors, tau: int, local: Local, correction: str
) -> Tensors:
    """c_k+ = c_k - c + (w_t - w_k) / (lr A), or c_k where no step was taken."""
    if tau == 0:
        return c_k
    a = effective_steps(tau, local) if correction == "gradient" else float(tau)
    return {name: c_k[name] - c[name] + moved[name] / (local.lr * a) for name in c}


class Control:
    """c, and every client's c_k."""

    def __init__(self, model: nn.Module, setting: Setting) -> None:
        """Begin at zero."""
        self.c, self.nothing = zeros(model), zeros(model)
        self.c_k: dict[int, Tensors] = {}
        self.share = population_weights(setting)

    def of(self, client: int) -> Tensors:
        """The client's c_k; zero before its first visit."""
        return self.c_k.get(client, self.nothing)

    def shift(self, client: int) -> Tensors:
        """Return c - c_k."""
        return {name: self.c[name] - self.of(client)[name] for name in self.c}

    def renew(
        self, cohort: Sequence[Visit], moved: Sequence[Tensors], local: Local, correction: str
    ) -> None:
        """Renew c_k of the cohort, from the c that was sent, and then c."""
        sent = self.c
        for visit, moved_k in zip(cohort, moved, strict=True):
            k, old = visit.client, self.of(visit.client)
            self.c_k[k] = renewed(sent, old, moved_k, len(visit.batches), local, correction)
            p_k = self.share[k]
            self.c = {n: self.c[n] + p_k * (self.c_k[k][n] - old[n]) for n in self.c}


def scaffold_end(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    correction: str = "gradient",
    lrs: Sequence[float] = (),
) -> ScaffoldEnd:
    """Run SCAFFOLD; `lrs` is the lr of every round where a schedule gives it."""
    server = Server(module, setting)
    control = Control(server.model, setting)
    for t, cohort in enumerate(rounds):
        local = in_round(setting.local, lrs, t)
        models = [
            client_update(server.send(v), v.batches, local, control.shift(v.client), correction)
            for v in cohort
        ]
        control.renew(cohort, server.updates(models), local, correction)
        server.step(server.collect(cohort, models))
    return ScaffoldEnd(server.state(), control.c, control.c_k)


def scaffold(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    correction: str = "gradient",
    lrs: Sequence[float] = (),
) -> Tensors:
    """Run SCAFFOLD over the rounds and return the final global state dict."""
    return scaffold_end(module, rounds, setting, correction=correction, lrs=lrs).state
