"""Sums of methods: one loop with a slope, a proximal term, gradient and server steps, in order.

A step is called with a model and the tensors by name, and returns the tensors: at the client the
model is the client's and the tensors are the gradient; at the server they are w_t and the mean
update D. Sums read like this, with `where = local_set(module, head="fc")`:

    clip + gcfed             client=[Clip(1.0), Centre(where)], server=[Centre()]
    gcfed + clip             client=[Centre(where), Clip(1.0)], server=[Centre()]
    fedprox + gcfed          prox=0.1, client=[Centre(where)], server=[Centre()]
    fedprox + fedadam        prox=0.1, server=[Adam()]
    localgc + fedyogi        client=[Centre()], server=[Yogi()]
    fedzmg + fedadam         client=[ZeroMean()], server=[Adam()]
    fedavgm + globalgc       server=[HeavyBall(), Centre()]
    clip(server) + globalgc  server=[Clip(1.0), Centre()]
    fedlc + gcfed            slope=fedlc_slope, client=[Centre(where)], server=[Centre()]
    fedsol + globalgc        slope=partial(fedsol_slope, rho=0.5), server=[Centre()]

The slope is what a method at the clients descends in place of the cross-entropy: `fedlc_slope`,
`fedntd_slope`, `feddecorr_slope`, `fedsol_slope` or `fedsam_slope`. ECGR's sums with SCAFFOLD,
FedNova and FedProx are in `ecgr` and `ecgr_crossing`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from .centre import Centring, centre
from .descent import Slope, plain_slope
from .fedzmg import phi
from .plain import Local, LocalSGD, Round, Server, Setting, Tensors, Visit, trainable

Step = Callable[[nn.Module, Tensors], Tensors]


@dataclass
class Clip:
    """All tensors as one vector, scaled by min(1, norm / length)."""

    norm: float = 10.0

    def __call__(self, _: nn.Module, tensors: Tensors) -> Tensors:
        """Scale every tensor by the same factor."""
        length = math.sqrt(sum(float((x**2).sum()) for x in tensors.values()))
        if length <= self.norm:
            return tensors
        return {name: x * (self.norm / length) for name, x in tensors.items()}


@dataclass
class Centre:
    """P on the named tensors, or on all of them."""

    names: Sequence[str] | None = None
    how: Centring = field(default_factory=Centring)

    def __call__(self, model: nn.Module, tensors: Tensors) -> Tensors:
        """Centre the named tensors, pass the others."""
        result = dict(tensors)
        for name in tensors if self.names is None else self.names:
            if name in tensors:
                result[name] = centre(model, name, tensors[name], self.how)
        return result


@dataclass
class ZeroMean:
    """FedZMG's Phi."""

    scope: str = "row"
    how: Centring = field(default_factory=lambda: Centring(embedding="vocab"))

    def __call__(self, model: nn.Module, tensors: Tensors) -> Tensors:
        """Take the mean out of every centred row, tensor, or of all as one vector."""
        return phi(model, tensors, self.how, self.scope)


@dataclass
class HeavyBall:
    """FedAvgM's momentum u."""

    beta: float = 0.9
    nesterov: bool = False
    u: Tensors = field(default_factory=dict)

    def __call__(self, _: nn.Module, delta: Tensors) -> Tensors:
        """Renew u by u <- beta u + D; the step is u, or D + beta u."""
        for name, d in delta.items():
            self.u[name] = d if name not in self.u else self.beta * self.u[name] + d
        if not self.nesterov:
            return dict(self.u)
        return {name: d + self.beta * self.u[name] for name, d in delta.items()}


@dataclass
class Adam:
    """FedAdam: lr m / (sqrt(v) + tau); the other two of FedOpt differ in v alone."""

    lr: float = 0.1
    b1: float = 0.9
    b2: float = 0.99
    tau: float = 1e-3
    bias_correction: bool = False
    t: int = 0
    m: Tensors = field(default_factory=dict)
    v: Tensors = field(default_factory=dict)

    def second_moment(self, v: Tensor, d: Tensor) -> Tensor:
        """The next v."""
        return self.b2 * v + (1 - self.b2) * d * d

    def __call__(self, _: nn.Module, delta: Tensors) -> Tensors:
        """Renew m and v, and give the step."""
        self.t += 1
        v_0 = 0.0 if self.bias_correction else self.tau**2
        step = {}
        for name, d in delta.items():
            m = self.m.get(name, torch.zeros_like(d))
            v = self.v.get(name, torch.full_like(d, v_0))
            self.m[name] = m = self.b1 * m + (1 - self.b1) * d
            self.v[name] = v = self.second_moment(v, d)
            if self.bias_correction:
                m, v = m / (1 - self.b1**self.t), v / (1 - self.b2**self.t)
            step[name] = self.lr * m / (torch.sqrt(v) + self.tau)
        return step


@dataclass
class Yogi(Adam):
    """FedYogi: v moves towards D^2 by an amount that does not depend on v."""

    def second_moment(self, v: Tensor, d: Tensor) -> Tensor:
        """The next v."""
        return v - (1 - self.b2) * d * d * (v - d * d).sign()


@dataclass
class Adagrad(Adam):
    """FedAdagrad: v only grows; neither b2 nor a bias correction belongs to it."""

    b1: float = 0.0

    def second_moment(self, v: Tensor, d: Tensor) -> Tensor:
        """The next v."""
        return v + d * d


def client_update(
    w_k: nn.Module, visit: Visit, local: Local, slope: Slope, prox: float, steps: Sequence[Step]
) -> nn.Module:
    """SGD along the slope and the proximal pull, after the client steps in the order given."""
    w_t = copy.deepcopy(w_k).eval()
    optimiser = LocalSGD(w_k, local)
    for batch in visit.batches:
        g = slope(w_k, w_t, visit, batch)
        for name, w in trainable(w_k):
            if prox > 0:
                pull = prox * (w - w_t.get_parameter(name)).detach()
                g[name] = g[name] + pull if name in g else pull
        optimiser.take(g)
        g = {name: w.grad for name, w in trainable(w_k) if w.grad is not None}
        for step in steps:
            g = step(w_k, g)
        for name, w in trainable(w_k):
            w.grad = g.get(name)
        optimiser.step()
    return w_k


def crossing(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    slope: Slope = plain_slope,
    prox: float = 0.0,
    client: Sequence[Step] = (),
    server: Sequence[Step] = (),
) -> Tensors:
    """Run a sum of methods; the steps given are copied, so that a second run starts afresh."""
    client_steps, server_steps = copy.deepcopy(list(client)), copy.deepcopy(list(server))
    aggregator = Server(module, setting)
    for cohort in rounds:
        models = [
            client_update(aggregator.send(v), v, setting.local, slope, prox, client_steps)
            for v in cohort
        ]
        result = aggregator.collect(cohort, models)
        for step in server_steps:
            result = step(aggregator.model, result)
        aggregator.step(result)
    return aggregator.state()
