"""Plain walks of clients over flat vectors, in torch alone, to hold methods with memory against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.utils import parameters_to_vector

import fedkeel as fk
from fedkeel.loop import Kept, play, start
from fedkeel.session import Session
from fedkeel.testing.worlds import Lab, apart, network, replayed, untraced

Batches = Sequence[tuple[Tensor, Tensor]]
Edit = Callable[[Tensor, Tensor], Tensor]  # (gradient, weights) -> gradient

# Ragged clients and partial participation everywhere; in the second some clients have no batch.
LABS = {
    "samples": Lab("mlp", {"weighting": "samples"}),
    "uniform": Lab("mlp", {"weighting": "uniform", "nesterov": True, "batches": "drop"}),
    "plain": Lab("mlp", {"momentum": 0.0, "schedule": "exponential(0.5)", "server_lr": 0.7}),
}


@dataclass(frozen=True, eq=False)
class Played:
    """A run of the library, and all that a loop needs to play the same."""

    session: Session
    visits: Sequence[Any]  # a cohort of visits each round
    end: Tensor  # where the library came to
    begin: Tensor

    @classmethod
    def of(cls, lab: Lab, *parts: fk.Part, **changed: Any) -> Played:
        session = lab.session(*parts, **changed)
        visits, last = replayed(session)
        begin = parameters_to_vector(network(lab.net).double().parameters()).detach()
        end = torch.cat([t.flatten() for t in last.state_dict().values()]).double()
        return cls(session, visits, end, begin)

    @property
    def local(self) -> fk.Local:
        return self.session.method.local

    @property
    def server_lr(self) -> float:
        return self.session.method.server_lr

    def weights(self, cohort: Sequence[Any]) -> list[float]:
        """Of the cohort: sum 1."""
        raw = [self._raw(visit.samples) for visit in cohort]
        return [r / sum(raw) for r in raw]

    def share(self, client: int) -> float:
        """Of the population: sum 1 over all clients."""
        sizes = self.session.federation.sizes.tolist()
        return self._raw(sizes[client]) / sum(self._raw(n) for n in sizes)

    def _raw(self, samples: int) -> float:
        return float(samples) if self.session.method.weighting == "samples" else 1.0

    def walk(
        self, w: Tensor, batches: Batches, round: int, edit: Edit, after: Tensor | float = 0.0
    ) -> Tensor:
        """SGD with momentum; ``edit`` changes the gradient, ``after`` is added to each step."""
        local, lr, v = self.local, self.local.rate(round), torch.zeros_like(w)
        for x, y in batches:
            g = edit(_slope(self.session.task.model, w, x, y), w) + local.weight_decay * w
            v = local.momentum * v + g
            w = w - lr * (g + local.momentum * v if local.nesterov else v) - lr * after
        return w

    def reach(self, steps: int, mu: float = 0.0) -> float:
        """How many steps' worth of a gradient of one momentum makes of so many steps."""
        local, x, v = self.local, 0.0, 0.0
        for _ in range(steps):
            g = 1 - local.lr * mu * x
            v = local.momentum * v + g
            x += g + local.momentum * v if local.nesterov else v
        return x


def _slope(model: nn.Module, w: Tensor, x: Tensor, y: Tensor) -> Tensor:
    w = w.clone().requires_grad_()
    named, at = {}, 0
    for name, p in model.named_parameters():
        named[name] = w[at : at + p.numel()].view(p.shape)
        at += p.numel()
    loss = F.cross_entropy(functional_call(model, named, (x,)), y)
    return torch.autograd.grad(loss, w)[0]


def kept(lab: Lab, *parts: fk.Part, rounds: int = 4) -> tuple[Session, list[Kept]]:
    """All that the library carries from round to round."""
    session = lab.session(*parts)
    states = [start(session.world)]
    for number in range(rounds):
        states.append(play(session.world, states[-1], number)[0])
    return session, states


def shares(session: Session) -> Tensor:
    """The clients' shares of the population."""
    sizes = torch.from_numpy(session.federation.sizes).double()
    raw = sizes if session.method.weighting == "samples" else torch.ones_like(sizes)
    return raw / raw.sum()


def total(session: Session, by_client: dict[int, Any], size: int) -> Tensor:
    """``sum_k p_k v_k`` over all clients; whoever was never visited has zero."""
    p = shares(session)
    zero = torch.zeros(size, dtype=torch.float64)
    return sum((p[k] * v[0] for k, v in by_client.items()), zero)


def far(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max())


def agree(lab: Lab, *parts: fk.Part) -> float:
    """How far many clients in one program, traced and not, end from one at a time."""
    one = lab.run(*parts)[-1].state_dict()
    traced = lab.session(*parts, engine="stacked", compile=False)
    plain = untraced(lab.session(*parts, engine="stacked", chunk=4))
    return max(apart(one, list(s.rounds())[-1].state_dict()) for s in (traced, plain))
