"""FedAvg as an explicit loop over clients, and the words that every other oracle is written in.

McMahan et al. 2017, "Communication-Efficient Learning of Deep Networks from Decentralized Data",
Algorithm 1. Everything is computed in float64, one client after the other, one tensor after the
other, with `torch.optim.SGD` as the client's optimiser.

An update is something to *subtract*: the client's delta is D_k = w_t - w_k. The server takes the
mean D = sum_k p_k D_k over the cohort and then w_{t+1} = w_t - server_lr * D.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Batch = tuple[Tensor, Tensor]
"""x and y of the rows of one step; a floating x is float64."""

Tensors = dict[str, Tensor]
"""A gradient or an update: one tensor for each trainable parameter, by its name."""

BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)


class Visit(NamedTuple):
    """One client's stay in one round: who it is, its n_k, and its batches in their order.

    `counts` says how many rows of each class the client holds, for the methods that ask.
    """

    client: int
    samples: int
    batches: Sequence[Batch]
    counts: Sequence[int] = ()


Round = Sequence[Visit]
"""The cohort of one round, in client order."""


class Local(NamedTuple):
    """The client's optimiser.

    `decay` places the weight decay: "coupled" adds wd*w after the method has changed the gradient,
    "coupled_before" adds it before, "decoupled" shrinks w itself by (1 - lr*wd) before the step.
    """

    lr: float = 0.01
    momentum: float = 0.9
    nesterov: bool = False
    weight_decay: float = 1e-5
    decay: str = "coupled"


class Setting(NamedTuple):
    """What the run fixes, whatever the method.

    `weighting` is "samples" (p_k = n_k / sum n_j) or "uniform" (p_k = 1 / K); `buffers` is
    "average", "local" or "freeze" and says what becomes of BatchNorm's statistics. `population`
    holds the n_k of every client of the federation, by its number, whether it is ever visited or
    not; the methods that keep a sum over all clients need it.
    """

    local: Local
    weighting: str = "samples"
    server_lr: float = 1.0
    buffers: str = "average"
    population: Sequence[int] = ()


def one_of(what: str, value: str, allowed: Sequence[str]) -> None:
    """Refuse a word that no oracle knows; a misspelt one must not silently mean something else."""
    if value not in allowed:
        raise ValueError(f"{what} is {value!r}: allowed are {', '.join(allowed)}")


def trainable(model: nn.Module) -> Iterator[tuple[str, nn.Parameter]]:
    """Names and parameters that are trained, in the order of `named_parameters()`."""
    return ((name, w) for name, w in model.named_parameters() if w.requires_grad)


def zeros(model: nn.Module) -> Tensors:
    """A vector of zeros as long as the model."""
    return {name: torch.zeros_like(w) for name, w in trainable(model)}


def mean(p: Sequence[float], updates: Sequence[Tensors]) -> Tensors:
    """sum_k p_k u_k, tensor by tensor."""
    return {
        name: torch.stack([p_k * u_k[name] for p_k, u_k in zip(p, updates, strict=True)]).sum(dim=0)
        for name in updates[0]
    }


def cohort_weights(cohort: Round, weighting: str) -> list[float]:
    """p_k of each visit of the cohort; they sum to 1."""
    one_of("weighting", weighting, ("samples", "uniform"))
    n = [float(visit.samples) if weighting == "samples" else 1.0 for visit in cohort]
    if sum(n) == 0:
        raise ValueError("a round needs at least one visit, and samples where they are the weights")
    return [n_k / sum(n) for n_k in n]


class LocalSGD:
    """torch.optim.SGD with the three places of weight decay; its momentum starts at zero."""

    def __init__(self, model: nn.Module, local: Local) -> None:
        """Start the optimiser of one visit."""
        one_of("decay", local.decay, ("coupled", "coupled_before", "decoupled"))
        self.model, self.local = model, local
        self.sgd = torch.optim.SGD(
            [w for _, w in trainable(model)],
            lr=local.lr,
            momentum=local.momentum,
            nesterov=local.nesterov,
            weight_decay=local.weight_decay if local.decay == "coupled" else 0.0,
            foreach=False,
        )

    def backward(self, loss: Tensor) -> None:
        """Put the gradient of the loss into `.grad` of every parameter."""
        self.sgd.zero_grad()
        torch.autograd.backward(loss)
        self._decay_before()

    def take(self, g: Tensors) -> None:
        """Put a gradient that was found elsewhere into `.grad`, in place of a loss's own."""
        for name, w in trainable(self.model):
            w.grad = g.get(name)
        self._decay_before()

    def _decay_before(self) -> None:
        if self.local.decay == "coupled_before":
            for _, w in trainable(self.model):
                if w.grad is not None:
                    w.grad = w.grad + self.local.weight_decay * w.detach()

    @torch.no_grad()
    def step(self) -> None:
        """Move the weights along `.grad`, as the method has left it."""
        if self.local.decay == "decoupled":
            for _, w in trainable(self.model):
                if w.grad is not None:
                    w.mul_(1 - self.local.lr * self.local.weight_decay)
        self.sgd.step()


class Server:
    """The global model w_t: it goes out to the clients, and takes in what comes back."""

    def __init__(self, module: nn.Module, setting: Setting) -> None:
        """Start from a float64 copy of the module, which itself is never touched."""
        one_of("buffers", setting.buffers, ("average", "local", "freeze"))
        self.model = copy.deepcopy(module).double()
        self.setting = setting
        self.kept: dict[int, Tensors] = {}  # buffers="local": each client's own, by client

    def send(self, visit: Visit) -> nn.Module:
        """The client's own copy of w_t, ready to be trained."""
        w_k = copy.deepcopy(self.model).train()
        for name, buffer in w_k.named_buffers():
            if visit.client in self.kept:
                buffer.copy_(self.kept[visit.client][name])
        for layer in w_k.modules():
            if self.setting.buffers == "freeze" and isinstance(layer, BATCH_NORMS):
                layer.eval()
        return w_k

    def collect(self, cohort: Round, models: Sequence[nn.Module]) -> Tensors:
        """Take in the buffers of the clients' models; return the mean update D = sum p_k D_k."""
        self.take_buffers(cohort, models)
        return mean(cohort_weights(cohort, self.setting.weighting), self.updates(models))

    @torch.no_grad()
    def updates(self, models: Sequence[nn.Module]) -> list[Tensors]:
        """D_k = w_t - w_k of each of the clients' models."""
        return [
            {name: w_t - w_k.get_parameter(name) for name, w_t in trainable(self.model)}
            for w_k in models
        ]

    @torch.no_grad()
    def take_buffers(self, cohort: Round, models: Sequence[nn.Module]) -> None:
        """Average the buffers with the cohort's weights, or lay them up for each client."""
        if self.setting.buffers == "average":
            p = cohort_weights(cohort, self.setting.weighting)
            self._average_buffers(p, models)
        if self.setting.buffers == "local":
            for visit, w_k in zip(cohort, models, strict=True):
                self.kept[visit.client] = dict(w_k.named_buffers())

    def _average_buffers(self, p: Sequence[float], models: Sequence[nn.Module]) -> None:
        """Floating buffers: the mean of the cohort; integer ones (counters): the largest of it."""
        for name, buffer in self.model.named_buffers():
            of_clients = torch.stack([w_k.get_buffer(name) for w_k in models])
            if not buffer.is_floating_point():
                buffer.copy_(of_clients.amax(dim=0))
                continue
            buffer.zero_()
            for p_k, of_client in zip(p, of_clients, strict=True):
                buffer += p_k * of_client

    @torch.no_grad()
    def step(self, result: Tensors) -> None:
        """w_{t+1} = w_t - server_lr * result."""
        for name, w in trainable(self.model):
            w.sub_(self.setting.server_lr * result[name])

    def state(self) -> Tensors:
        """The global state dict: parameters and buffers."""
        return {name: value.detach().clone() for name, value in self.model.state_dict().items()}


def client_update(w_k: nn.Module, batches: Iterable[Batch], local: Local) -> nn.Module:
    """ClientUpdate(k, w): SGD on the client's batches, in place."""
    optimiser = LocalSGD(w_k, local)
    for x, y in batches:
        optimiser.backward(F.cross_entropy(w_k(x), y))
        optimiser.step()
    return w_k


def fedavg(module: nn.Module, rounds: Sequence[Round], setting: Setting) -> Tensors:
    """Run FedAvg over the rounds and return the final global state dict, in float64."""
    server = Server(module, setting)
    for cohort in rounds:
        models = [client_update(server.send(v), v.batches, setting.local) for v in cohort]
        server.step(server.collect(cohort, models))
    return server.state()
