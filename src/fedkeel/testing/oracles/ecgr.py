"""ECGR: a client recombines the steps of its visit before it sends their sum.

ECGR (arXiv 2601.03584): the steps delta_i = w^(i-1) - w^i of a visit, i = 1..tau, with sum D, are
split in two. Herding takes k = max(1, floor(keep tau)) of them, one by one, each time the one that
leaves the running sum of those taken shortest. With A the sum of these and B that of the rest,

    v = A + beta B,    upload (||D|| / ||v||) v

All parameters count as one vector; training itself and the buffers stay as they are. The norm is
that of D in every case. Where v is zero next to D there is no direction, and D goes up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .descent import in_round
from .fedprox import squared_distance
from .gcfed import floor_share
from .plain import (
    Batch,
    Local,
    LocalSGD,
    Round,
    Server,
    Setting,
    Tensors,
    Visit,
    cohort_weights,
    mean,
    one_of,
    trainable,
)

SELECT = ("herd", "herd_centered", "topk_norm", "random", "all")
NO_DIRECTION = 1e-12  # the length of v over that of D below which v is nothing but rounding

Draw = Callable[[int, int, int, int], Sequence[int]]
"""select="random": from round, client, tau and k to the k steps drawn."""


class Regulation(NamedTuple):
    """The options of ECGR; `draw` is needed by select="random" alone."""

    beta: float = 0.2
    keep: float = 0.5
    select: str = "herd"
    record: str = "displacement"
    draw: Draw | None = None


def flat(tensors: Tensors) -> Tensor:
    """All tensors as one vector."""
    return torch.cat([x.detach().reshape(-1) for x in tensors.values()])


def unflat(vector: Tensor, like: Tensors) -> Tensors:
    """The vector as tensors again."""
    parts = vector.split([x.numel() for x in like.values()])
    return {name: part.reshape(like[name].shape) for name, part in zip(like, parts, strict=True)}


class Trail:
    """A visit's batches that note, whenever the next one is asked for, what the last step did."""

    def __init__(self, w_k: nn.Module, batches: Sequence[Batch], local: Local, record: str) -> None:
        """Watch the model while it is trained on these batches."""
        one_of("record", record, ("displacement", "gradient"))
        self.w_k, self.batches, self.lr, self.record = w_k, batches, local.lr, record
        self.steps: list[Tensor] = []

    def __iter__(self) -> Iterator[Batch]:
        """Hand out the batches in their order."""
        for batch in self.batches:
            before = flat(dict(trainable(self.w_k)))
            yield batch
            if self.record == "displacement":
                self.steps.append(before - flat(dict(trainable(self.w_k))))
            else:
                g = {name: torch.zeros_like(w) for name, w in trainable(self.w_k)}
                g.update({n: w.grad for n, w in trainable(self.w_k) if w.grad is not None})
                self.steps.append(self.lr * flat(g))


def herd(steps: Sequence[Tensor], k: int) -> list[int]:
    """The k steps, one by one, that each leave the running sum shortest; ties: the earlier."""
    taken: list[int] = []
    running = torch.zeros_like(steps[0])
    for _ in range(k):
        left = [i for i in range(len(steps)) if i not in taken]
        best = min(left, key=lambda i: float((running + steps[i]).norm()))
        running = running + steps[best]
        taken.append(best)
    return taken


def selected(steps: Sequence[Tensor], k: int, how: Regulation, t: int, client: int) -> list[int]:
    """Which steps count in full."""
    one_of("select", how.select, SELECT)
    if how.select == "herd":
        return herd(steps, k)
    if how.select == "herd_centered":
        middle = torch.stack(list(steps)).mean(dim=0)
        return herd([step - middle for step in steps], k)
    if how.select == "topk_norm":
        return sorted(range(len(steps)), key=lambda i: float(steps[i].norm()))[:k]
    if how.select == "random":
        if how.draw is None:
            raise ValueError('select="random" needs a draw')
        return list(how.draw(t, client, len(steps), k))
    return list(range(len(steps)))


def regulated(
    displacement: Tensor, steps: Sequence[Tensor], how: Regulation, t: int = 0, client: int = 0
) -> Tensor:
    """The upload: v = A + beta B with the length of D."""
    if not steps:
        return displacement
    k = max(1, floor_share(how.keep, len(steps)))
    taken = selected(steps, k, how, t, client)
    v = torch.zeros_like(displacement)
    for i, step in enumerate(steps):
        v = v + (step if i in taken else how.beta * step)
    if not bool(v.norm() > NO_DIRECTION * displacement.norm()):
        return displacement
    stretch = float(displacement.norm()) / float(v.norm())
    return stretch * v


def client_update(w_k: nn.Module, batches: Iterable[Batch], local: Local, mu: float) -> nn.Module:
    """SGD on F_k(w) + mu/2 ||w - w_t||^2: FedAvg's client at mu = 0, else FedProx's."""
    w_t = {name: w.detach().clone() for name, w in trainable(w_k)}
    optimiser = LocalSGD(w_k, local)
    for x, y in batches:
        optimiser.backward(F.cross_entropy(w_k(x), y) + mu / 2 * squared_distance(w_k, w_t))
        optimiser.step()
    return w_k


Train = Callable[[nn.Module, Trail, Visit], nn.Module]
"""What a client does with the model that came and its batches."""


def visits(
    server: Server, cohort: Round, local: Local, how: Regulation, t: int, train: Train
) -> tuple[list[nn.Module], list[Tensors]]:
    """Train the cohort; return its models, and what each client sends in place of D_k."""
    models, sent = [], []
    for visit in cohort:
        w_k = server.send(visit)
        trail = Trail(w_k, visit.batches, local, how.record)
        models.append(train(w_k, trail, visit))
        (delta,) = server.updates([w_k])
        upload = regulated(flat(delta), trail.steps, how, t, visit.client)
        sent.append(unflat(upload, delta))
    return models, sent


def ecgr(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    beta: float = 0.2,
    keep: float = 0.5,
    select: str = "herd",
    record: str = "displacement",
    draw: Draw | None = None,
    prox: float = 0.0,
    lrs: Sequence[float] = (),
) -> Tensors:
    """Run ECGR on FedAvg, or on FedProx with mu = `prox`; `lrs` is the lr of every round."""
    how = Regulation(beta, keep, select, record, draw)
    server = Server(module, setting)
    for t, cohort in enumerate(rounds):
        local = in_round(setting.local, lrs, t)

        def train(w_k: nn.Module, trail: Trail, _: Visit, local: Local = local) -> nn.Module:
            return client_update(w_k, trail, local, prox)

        models, sent = visits(server, cohort, local, how, t, train)
        server.take_buffers(cohort, models)
        server.step(mean(cohort_weights(cohort, setting.weighting), sent))
    return server.state()
