"""A run: rounds, one after another, each a pure function of what the one before left."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from . import trees
from .data.federation import Federation, Samples
from .data.plan import cohort
from .engines.base import Answers, Engine, Errand, Pool
from .errands import errand, stacked
from .errors import Diverged
from .evaluation import evaluate
from .part import Replies, Server, State
from .rounds import Algorithm, ServerState
from .task import Buffers, Task

Remembered = dict[int, State]  # by client, of those ever visited


class Kept(NamedTuple):
    """All that a run carries from round to round; with the round's number it decides the next."""

    server: ServerState
    memories: Remembered  # at the clients
    ledger: Remembered  # at the server, a row a client
    buffers: dict[int, Buffers]  # at the clients, where buffers stay local


class Report(NamedTuple):
    """What a round has to say of itself."""

    cohort: tuple[int, ...]
    train_loss: float
    steps: int
    samples: int
    bytes_up: int
    bytes_down: int


NOTHING = Report((), float("nan"), 0, 0, 0, 0)


class Result(NamedTuple):
    """A finished round."""

    number: int
    server: ServerState
    report: Report
    accuracy: float | None
    loss: float | None
    seconds: float


@dataclass(frozen=True, eq=False)
class World:
    """What stays the same through a run."""

    method: Algorithm
    task: Task
    federation: Federation
    engine: Engine
    pool: Pool
    cohort: int
    seed: int
    buffers: str  # average | local | freeze
    on_nonfinite: str  # stop | skip_client
    rows_meet: bool
    buffer_bytes: int  # of the module's own buffers, in their own types

    @property
    def capacity(self) -> int:
        """The most samples that a client holds."""
        return int(self.federation.sizes.max())

    def server(self, params: Tensor, number: int) -> Server:
        """Return what the server may look at."""
        return Server(self.task, params, number, self.federation.clients)


def start(world: World) -> Kept:
    """Return a run as it is before the first round."""
    server = world.server(world.task.initial(), 0)
    return Kept(world.method.start(server, world.task.buffers()), {}, {}, {})


def play(world: World, kept: Kept, number: int) -> tuple[Kept, Report]:
    """Play one round, counted from 0."""
    server = world.server(kept.server.params, number)
    able = np.flatnonzero(world.federation.sizes)
    clients = cohort(able, world.cohort, seed=world.seed, round=number).tolist()
    work = errand(
        world.method,
        world.task,
        world.federation,
        world.pool,
        world.method.brief(kept.server, server),
        clients,
        kept.memories,
        kept.buffers,
        round=number,
        seed=world.seed,
        no_single_rows=world.rows_meet and world.method.local.batches == "keep",
    )
    answers = world.engine.visits(work)
    present = _present(world, answers, clients, number)
    report = _report(world, work, answers, present)
    if len(present) < len(clients):
        clients = [clients[i] for i in present]
        answers = trees.tree_map(lambda t: t[present], answers)
    return _merged(world, kept, answers, clients, server), report


def rounds(
    world: World, kept: Kept, test: Samples, *, first: int, last: int, eval_every: int
) -> Iterator[Result]:
    """Play the rounds ``first`` to ``last``; round 0 is the model before any."""
    for number in range(first, last + 1):
        begun = time.perf_counter()
        kept, report = play(world, kept, number - 1) if number else (kept, NOTHING)
        accuracy = loss = None
        if number % eval_every == 0 or number == last:
            accuracy, loss = evaluate(
                world.task, kept.server, test, world.pool.preparation, world.pool.dtype
            )
            if not isfinite(loss):
                raise Diverged(number, "the test loss is not finite")
        yield Result(number, kept.server, report, accuracy, loss, time.perf_counter() - begun)


def _present(world: World, answers: Answers, clients: Sequence[int], number: int) -> list[int]:
    """Return the places of those whose answers are finite; raise where the run cannot go on."""
    leaves = trees.tree_leaves((answers.updates, answers.note))
    good = torch.stack([_finite(t) for t in leaves if t.is_floating_point()]).all(0).tolist()
    present = [i for i, fine in enumerate(good) if fine]
    if present and (len(present) == len(clients) or world.on_nonfinite == "skip_client"):
        return present
    lost = ", ".join(str(k) for k, fine in zip(clients, good, strict=True) if not fine)
    raise Diverged(number + 1, f"what came back is not finite, of: client {lost}")


def _finite(t: Tensor) -> Tensor:
    """Say for each row whether it is finite."""
    rows = t.flatten(1) if t.dim() > 1 else t[:, None]
    # One pass where all is well; a sum that is not finite may still be of numbers that are.
    whole: Tensor = rows.sum(1).isfinite()
    return whole if bool(whole.all()) else rows.isfinite().all(1)


def _merged(
    world: World, kept: Kept, answers: Answers, clients: Sequence[int], server: Server
) -> Kept:
    method, sizes = world.method, world.federation.sizes
    by_samples = method.weighting == "samples"
    samples = torch.from_numpy(sizes[clients]).to(answers.updates)
    everyone = float(sizes.sum()) if by_samples else float(world.federation.clients)
    shares = (samples if by_samples else torch.ones_like(samples)) / everyone
    empty = method.part.ledger_state(world.task)
    ledger = stacked([kept.ledger.get(k, empty) for k in clients])
    ids = torch.tensor(clients, device=samples.device)
    replies = Replies(ids, answers.updates, samples, shares, answers.note, ledger)
    replies = replies._replace(weights=method.weigh(replies))
    buffers = kept.server.buffers
    if world.buffers == "average":
        buffers = {name: _averaged(b, replies.weights) for name, b in answers.buffers.items()}
    state, rows = method.merge(kept.server, replies, buffers, server)
    if not bool(_finite(state.params[None])):
        raise Diverged(server.round + 1, "the merged weights are not finite")
    own = answers.buffers if world.buffers == "local" else {}
    return Kept(
        state,
        kept.memories | _by_client(answers.memories, clients),
        kept.ledger | _by_client(rows, clients),
        kept.buffers | _by_client(own, clients),
    )


def _averaged(rows: Tensor, weights: Tensor) -> Tensor:
    """Average a buffer; a counter is not averaged, the furthest stands for all."""
    if not rows.is_floating_point():
        return rows.amax(0)
    exact = weights.double()
    mean: Tensor = torch.tensordot(exact / exact.sum(), rows.double(), 1)
    return mean.to(rows.dtype)


def _by_client(tree: State, clients: Sequence[int]) -> Remembered:
    """Cut stacked states into one a client, of its own storage."""
    if not trees.tree_leaves(tree):
        return {}
    return {k: trees.tree_map(lambda t, i=i: t[i].clone(), tree) for i, k in enumerate(clients)}


def _report(world: World, work: Errand, answers: Answers, present: Sequence[int]) -> Report:
    """Count steps, rows and bytes: four a weight or note element, buffers in their own types.

    The loss is that of the clients whose answers count.
    """
    count = len(work.clients)
    buffers = world.buffer_bytes if world.buffers == "average" else 0
    model = count * (4 * work.sent.params.numel() + buffers)
    down, up = (
        sum(t.numel() for t in trees.tree_leaves(note)) for note in (work.sent.note, answers.note)
    )
    return Report(
        tuple(work.clients),
        float(answers.loss[present].double().sum() / answers.rows[present].double().sum()),
        sum(len(rows) for rows in work.batches),
        int(np.count_nonzero(np.concatenate([r.ravel() for r in work.batches]) >= 0)),
        model + 4 * up,
        model + 4 * count * down,
    )
