"""FedNova: clients that take more steps do not pull harder.

Wang et al. 2020, "Tackling the Objective Inconsistency Problem in Heterogeneous Federated
Optimization": client k reports d_k = (w_t - w_k) / a_k, where a_k is how far its optimiser goes, in
units of lr, along a gradient that is 1 all the time. The server steps by
(sum_k p_k a_k) sum_k p_k d_k, with the cohort's weights. A client that took no step has no d_k; it
is left out, and the weights of the others are renewed. Buffers are averaged as in FedAvg.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from .descent import in_round
from .fedprox import client_update as proximal_update
from .plain import (
    Local,
    LocalSGD,
    Round,
    Server,
    Setting,
    Tensors,
    client_update,
    cohort_weights,
    mean,
    one_of,
)


class Point(nn.Module):
    """One weight at zero."""

    def __init__(self) -> None:
        """Put it there."""
        super().__init__()
        self.w = nn.Parameter(torch.zeros((), dtype=torch.float64))


def effective_steps(tau: int, local: Local, mu: float = 0.0) -> float:
    """How far the client's optimiser goes in tau steps, over lr, with a proximal term of mu.

    Nothing is solved: one weight is trained from 0 along the gradient 1 + mu w, without decay.
    """
    point = Point()
    optimiser = LocalSGD(point, local._replace(weight_decay=0.0))
    for _ in range(tau):
        optimiser.backward(point.w + mu / 2 * point.w**2)
        optimiser.step()
    return -point.w.item() / local.lr


def lengths(cohort: Round, local: Local, mu: float, steps: str) -> list[float]:
    """a_k of each visit: the way of its optimiser, or with steps "count" its number of steps."""
    one_of("steps", steps, ("momentum", "count"))
    if steps == "count":
        return [float(len(visit.batches)) for visit in cohort]
    return [effective_steps(len(visit.batches), local, mu) for visit in cohort]


def normalised(cohort: Round, updates: Sequence[Tensors], a: Sequence[float], by: str) -> Tensors:
    """(sum p_k a_k) sum p_k u_k / a_k over the clients that took a step; zero without one."""
    moving = [k for k, visit in enumerate(cohort) if visit.batches]
    if not moving:
        return {name: torch.zeros_like(u) for name, u in updates[0].items()}
    p = cohort_weights([cohort[k] for k in moving], by)
    tau_eff = sum(p_k * a[k] for p_k, k in zip(p, moving, strict=True))
    d = [{name: u / a[k] for name, u in updates[k].items()} for k in moving]
    return mean([tau_eff * p_k for p_k in p], d)


def fednova(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    steps: str = "momentum",
    prox: float = 0.0,
    lrs: Sequence[float] = (),
) -> Tensors:
    """Run FedNova; `prox` is the mu of FedProx at the clients, `lrs` the lr of every round."""
    server = Server(module, setting)
    for t, cohort in enumerate(rounds):
        local = in_round(setting.local, lrs, t)
        models = [
            proximal_update(server.send(v), v.batches, local, prox)
            if prox > 0
            else client_update(server.send(v), v.batches, local)
            for v in cohort
        ]
        server.take_buffers(cohort, models)
        a = lengths(cohort, local, prox, steps)
        server.step(normalised(cohort, server.updates(models), a, setting.weighting))
    return server.state()
