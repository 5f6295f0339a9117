"""GC-Fed: local centring in the first layers, centring of the mean update at the server.

GC-Fed (arXiv 2503.13180), Algorithm 1. The clients centre the gradients of a *local set* of tensors
at every step and leave the others raw; the server centres the mean update.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch.nn.functional as F
from torch import nn

from .centre import Centring, centre
from .plain import Batch, Local, LocalSGD, Round, Server, Setting, Tensors, one_of, trainable


def floor_share(share: float, count: int) -> int:
    """floor(share * count), exact for decimal shares: 0.29 * 100 is 29, whatever binary says."""
    return math.floor(round(share * count, 9))


def belongs(tensor: str, name: str) -> bool:
    """Whether the tensor is the named one or lies in the named module (`fc1` is not `fc10`)."""
    return tensor == name or tensor.startswith(name + ".")


def outside_head(names: Sequence[str], head: str | Sequence[str]) -> list[str]:
    """All tensors but those of the head; a head that names nothing is an error."""
    heads = [head] if isinstance(head, str) else list(head)
    for h in heads:
        if not any(belongs(name, h) for name in names):
            raise ValueError(f"head {h!r} names no trainable tensor: there are {', '.join(names)}")
    return [name for name in names if not any(belongs(name, h) for h in heads)]


def first_modules(model: nn.Module, share: float) -> list[str]:
    """The tensors of the first floor(share * M) modules that own trainable parameters directly."""
    owners = []
    for prefix, layer in model.named_modules():
        direct = layer.named_parameters(prefix, recurse=False)
        owners.append([name for name, w in direct if w.requires_grad])
    owners = [names for names in owners if names]
    return [name for names in owners[: floor_share(share, len(owners))] for name in names]


def local_set(
    model: nn.Module,
    *,
    head: str | Sequence[str] | None = None,
    tensors: float | None = None,
    modules: float | None = None,
) -> list[str]:
    """The names of the tensors that the clients centre; exactly one of the three rules is given."""
    if (head is not None) + (tensors is not None) + (modules is not None) != 1:
        raise ValueError("give exactly one of head, tensors and modules")
    names = [name for name, _ in trainable(model)]
    if head is not None:
        return outside_head(names, head)
    if tensors is not None:
        return names[: floor_share(tensors, len(names))]
    assert modules is not None
    return first_modules(model, modules)


def client_update(
    w_k: nn.Module, batches: Sequence[Batch], local: Local, names: Sequence[str], how: Centring
) -> nn.Module:
    """SGD along P g for the tensors of the local set, along g for the others."""
    optimiser = LocalSGD(w_k, local)
    for x, y in batches:
        optimiser.backward(F.cross_entropy(w_k(x), y))
        for name, w in trainable(w_k):
            if name in names and w.grad is not None:
                w.grad = centre(w_k, name, w.grad, how)
        optimiser.step()
    return w_k


def gcfed(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    head: str | Sequence[str] | None = None,
    tensors: float | None = None,
    modules: float | None = None,
    scope: str = "all",
    server: bool = True,
    center_1d: bool = False,
    embedding: str = "none",
    axes: str = "fan_in",
) -> Tensors:
    """Run GC-Fed; `scope` says whether the server centres every tensor or the non-local ones."""
    one_of("scope", scope, ("all", "non_local"))
    how = Centring(center_1d, embedding, axes)
    local_names = local_set(module, head=head, tensors=tensors, modules=modules)
    aggregator = Server(module, setting)
    for cohort in rounds:
        models = [
            client_update(aggregator.send(v), v.batches, setting.local, local_names, how)
            for v in cohort
        ]
        delta = aggregator.collect(cohort, models)
        for name in delta:
            if server and (scope == "all" or name not in local_names):
                delta[name] = centre(aggregator.model, name, delta[name], how)
        aggregator.step(delta)
    return aggregator.state()
