"""What an engine gets for a round and what it gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from .. import trees
from ..data.federation import Samples
from ..data.plan import Rows
from ..data.preparation import AS_STORED, Preparation
from ..numerics.random import generator
from ..part import Batch, State, Visit
from ..rounds import Algorithm, Broadcast
from ..task import Buffers, Task


class Errand(NamedTuple):
    """A round's work: the model, and for each client of the cohort what it has and will see."""

    round: int
    lr: float
    sent: Broadcast
    clients: Sequence[int]
    label_counts: Tensor  # (K, classes)
    coresets: Tensor  # (K, capacity), or (K, 0) if no part selects
    memories: State  # stacked
    buffers: Buffers  # stacked: what each client starts from
    batches: Sequence[Rows]  # (T, B) each, places in the training set, -1 where padded
    weights: Sequence[np.ndarray] | None  # (T, B) each, of a coreset
    moves: Sequence[Rows] | None = None  # (T, B) each, numbers that say how images are moved about

    def visit(self, task: Task, i: int) -> Visit:
        """Return what client ``i`` of the cohort may look at."""
        anchor = self.sent.params
        take = trees.tree_map(lambda t: t[i], (self.buffers, self.memories))
        return Visit(
            task,
            torch.tensor(self.round),
            anchor.new_tensor(self.lr),
            anchor,
            take[0],
            self.label_counts[i],
            self.coresets[i],
            self.sent.note,
            take[1],
        )


class Answers(NamedTuple):
    """What the cohort sent back, and what it keeps; one row a client, in the cohort's order."""

    updates: Tensor  # (K, D)
    buffers: Buffers
    note: State
    memories: State
    loss: Tensor  # (K,) sums over rows
    rows: Tensor  # (K,)


class Engine(Protocol):
    """Runs the visits of a cohort."""

    def visits(self, errand: Errand) -> Answers:
        """Let every client of the cohort train, and return their answers."""


@dataclass(frozen=True, eq=False)
class Pool:
    """The training set on the device, once, however many clients share it."""

    x: Tensor
    y: Tensor
    dtype: torch.dtype
    preparation: Preparation = AS_STORED
    channels_last: bool = False  # x lies as (n, h, w, c), which convolutions on a CPU prefer

    @classmethod
    def of(
        cls, samples: Samples, device: torch.device, dtype: torch.dtype, preparation: Preparation
    ) -> Pool:
        """Lay the samples out on a device."""
        x, y = (t.to(device) for t in samples)
        return cls(x, y.to(dtype) if y.is_floating_point() else y, dtype, preparation)

    def turned(self) -> Pool:
        """Lay images out with their channels last."""
        if self.channels_last or self.x.dim() != 4:
            return self
        return replace(self, x=self.x.permute(0, 2, 3, 1).contiguous(), channels_last=True)

    def take(self, places: Tensor, moves: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Gather samples ``(..., *shape)`` at places ``(...)``, moved about if it is said how.

        A negative place (padding) takes the first sample.
        """
        flat = places.clamp_min(0).reshape(-1)
        x, y = (t.index_select(0, flat) for t in (self.x, self.y))
        x = x.movedim(-1, 1) if self.channels_last else x
        if moves is not None:
            x = self.preparation.moved(x, moves.reshape(-1))
        x = self.preparation.numbers(x if self.channels_last else x.contiguous(), self.dtype)
        return x.view(*places.shape, *x.shape[1:]), y.view(*places.shape, *y.shape[1:])


@dataclass(frozen=True, eq=False)
class Workshop:
    """What every engine works with."""

    method: Algorithm
    task: Task
    pool: Pool
    seed: int
    draws: bool  # whether the network takes random numbers
    rows_meet: bool  # whether it, or a part, must not see padding
    shapes: dict[tuple[int, ...], tuple[tuple[int, ...], ...]] = field(default_factory=dict)

    def noise(self, x: Tensor, round: int, client: int, step: int) -> tuple[Tensor, ...]:
        """Draw the uniform numbers that a client's network takes in one step."""
        if not self.draws:
            return ()
        if tuple(x.shape) not in self.shapes:
            params, buffers = self.task.initial(), self.task.buffers()
            self.shapes[tuple(x.shape)] = self.task.noise_shapes(params, buffers, x)
        return tuple(
            uniform(shape, (self.seed, round, client, step * 4096 + call), x.device)
            for call, shape in enumerate(self.shapes[tuple(x.shape)])
        )

    def batch(self, errand: Errand, i: int, t: int) -> Batch:
        """Return batch ``t`` of client ``i`` at its true size."""
        rows = errand.batches[i][t]
        places = torch.from_numpy(rows[rows >= 0]).to(self.pool.x.device)
        moves = None
        if errand.moves is not None:
            moves = torch.from_numpy(errand.moves[i][t][rows >= 0]).to(places.device)
        x, y = self.pool.take(places, moves)
        weight = torch.ones(len(places), dtype=self.pool.dtype, device=x.device)
        if errand.weights is not None:
            weight = torch.from_numpy(errand.weights[i][t][rows >= 0]).to(weight)
        return Batch(x, y, weight, self.noise(x, errand.round, errand.clients[i], t))


def uniform(
    shape: Sequence[int], address: tuple[int, int, int, int], device: torch.device
) -> Tensor:
    """Draw numbers in [0, 1), 24 bits each, at an address (seed, round, client, step and call)."""
    count = int(np.prod(shape))
    seed, *place = address
    words = generator(seed, "noise", *place).bit_generator.random_raw(-(-count // 2))
    halves = words.view(np.uint32)[:count] >> 8
    return (torch.from_numpy(halves.astype(np.float32)) * 2.0**-24).view(*shape).to(device)
