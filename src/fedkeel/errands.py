"""What an engine is sent out with: the model, and what each client has and will see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from . import trees
from .data.federation import Federation
from .data.plan import Rows, plan
from .engines.base import Errand, Pool
from .numerics.random import words
from .part import Shard, State
from .rounds import Algorithm, Broadcast
from .task import Buffers, Task


def errand(
    method: Algorithm,
    task: Task,
    federation: Federation,
    pool: Pool,
    sent: Broadcast,
    clients: Sequence[int],
    memories: Mapping[int, State],
    buffers: Mapping[int, Buffers],
    *,
    round: int,
    seed: int,
    no_single_rows: bool,
) -> Errand:
    """Gather what the clients of a cohort have, and draw their batches."""
    local, part = method.local, method.part
    capacity = int(federation.sizes.max())
    fresh = part.client_state(task, capacity)
    gathered = Errand(
        round,
        local.rate(round),
        sent,
        clients,
        _label_counts(task, federation, clients).to(sent.params),
        sent.params.new_zeros(len(clients), capacity if part.selects else 0),
        stacked([memories.get(k, fresh) for k in clients]),
        stacked([buffers.get(k, sent.buffers) for k in clients]),
        [],
        None,
    )
    held = [federation.indices(k) for k in clients]
    chosen = held
    if part.selects:
        picks = [_selected(method, task, pool, gathered, i, rows) for i, rows in enumerate(held)]
        gathered = gathered._replace(coresets=torch.stack(picks))
        chosen = [np.flatnonzero(pick.cpu().numpy()) for pick in picks]
    rows = plan(
        chosen,
        clients,
        batch_size=local.batch_size,
        epochs=local.epochs,
        steps=local.steps,
        batches=local.batches,
        seed=seed,
        round=round,
        no_single_rows=no_single_rows,
    )
    gathered = gathered._replace(moves=moves(rows, clients, pool, seed=seed, round=round))
    if not part.selects:
        return gathered._replace(batches=rows)
    weights = [_at(c.cpu().numpy(), r, 0) for c, r in zip(gathered.coresets, rows, strict=True)]
    places = [_at(h, r, -1) for h, r in zip(held, rows, strict=True)]
    return gathered._replace(batches=places, weights=weights)


def moves(
    batches: Sequence[Rows], clients: Sequence[int], pool: Pool, *, seed: int, round: int
) -> list[Rows] | None:
    """Draw how each image of each batch is moved about, where the data set's images are.

    A number has the address (round, client, step) and the image's place in the batch.
    """
    lengths = [len(rows) for rows in batches]
    if not pool.preparation.augments or not sum(lengths):
        return None
    who = np.repeat(clients, lengths)
    step = np.concatenate([np.arange(length) for length in lengths])
    drawn = words(seed, "augment", round, who, step, batches[0].shape[1])
    numbers = (drawn >> np.uint64(1)).astype(np.int64)
    return np.split(numbers, np.cumsum(lengths)[:-1])


def stacked(alike: Sequence[Any]) -> Any:
    """Stack trees of tensors, leaf by leaf."""
    if not trees.tree_leaves(alike[0]):
        return alike[0]
    return trees.tree_map(lambda *leaves: torch.stack(leaves), *alike)


def _at(values: np.ndarray[Any, Any], rows: Rows, padding: int) -> np.ndarray[Any, Any]:
    """Look rows up; a negative one is padding."""
    return np.where(rows >= 0, values[rows], values.dtype.type(padding))


def _label_counts(task: Task, federation: Federation, clients: Sequence[int]) -> Tensor:
    """Count the labels that each client holds, a column for each class of the task."""
    counts = np.zeros((len(clients), task.classes or 0), dtype=np.int64)
    if federation.classes and task.classes:
        counts[:, : federation.classes] = federation.label_counts[clients]
    return torch.from_numpy(counts)


def _selected(
    method: Algorithm, task: Task, pool: Pool, gathered: Errand, i: int, held: Rows
) -> Tensor:
    """Ask the method which of a client's samples count; beyond those it holds there is nothing."""
    params = gathered.sent.params
    size, capacity = len(held), gathered.coresets.shape[1]
    shard = Shard(*pool.take(torch.from_numpy(held).to(params.device)))
    whole = F.pad(params.new_ones(size), (0, capacity - size))
    visit = gathered.visit(task, i)._replace(coreset=whole)
    return F.pad(method.part.select(params.new_ones(size), shard, visit), (0, capacity - size))
