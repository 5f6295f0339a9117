"""ECGR on SCAFFOLD and on FedNova, as in its paper.

The clients train as these methods say, with all their terms inside the steps that ECGR recombines.
SCAFFOLD's control variates are renewed from where the client really ended, w_t - w_k; the server
gets the recombined update. FedNova divides the recombined update by a_k.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from .descent import in_round
from .ecgr import Regulation, Trail, client_update, visits
from .fednova import lengths, normalised
from .plain import Local, Round, Server, Setting, Tensors, Visit, cohort_weights, mean
from .scaffold import Control, ScaffoldEnd
from .scaffold import client_update as scaffold_update

USUAL = Regulation()


def scaffold_ecgr_end(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    correction: str = "gradient",
    how: Regulation = USUAL,
    lrs: Sequence[float] = (),
) -> ScaffoldEnd:
    """Run SCAFFOLD + ECGR and keep its control variates."""
    server = Server(module, setting)
    control = Control(server.model, setting)
    for t, cohort in enumerate(rounds):
        local = in_round(setting.local, lrs, t)

        def train(w_k: nn.Module, trail: Trail, v: Visit, local: Local = local) -> nn.Module:
            return scaffold_update(w_k, trail, local, control.shift(v.client), correction)

        models, sent = visits(server, cohort, local, how, t, train)
        control.renew(cohort, server.updates(models), local, correction)
        server.take_buffers(cohort, models)
        server.step(mean(cohort_weights(cohort, setting.weighting), sent))
    return ScaffoldEnd(server.state(), control.c, control.c_k)


def scaffold_ecgr(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    correction: str = "gradient",
    how: Regulation = USUAL,
    lrs: Sequence[float] = (),
) -> Tensors:
    """Run SCAFFOLD + ECGR over the rounds and return the final global state dict."""
    end = scaffold_ecgr_end(module, rounds, setting, correction=correction, how=how, lrs=lrs)
    return end.state


def fednova_ecgr(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    steps: str = "momentum",
    prox: float = 0.0,
    how: Regulation = USUAL,
    lrs: Sequence[float] = (),
) -> Tensors:
    """Run FedNova + ECGR; the paper's own has steps "count"."""
    server = Server(module, setting)
    for t, cohort in enumerate(rounds):
        local = in_round(setting.local, lrs, t)

        def train(w_k: nn.Module, trail: Trail, _: Visit, local: Local = local) -> nn.Module:
            return client_update(w_k, trail, local, prox)

        models, sent = visits(server, cohort, local, how, t, train)
        server.take_buffers(cohort, models)
        a = lengths(cohort, local, prox, steps)
        server.step(normalised(cohort, sent, a, setting.weighting))
    return server.state()
