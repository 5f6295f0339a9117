"""One round in five verbs: brief, begin, step, finish, merge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple

import torch
from torch import Tensor
from torch.func import grad_and_value

from .composition import compose
from .errors import InputError, flag, number, require, unknown
from .layout import Vector
from .numerics.axpy import minus, plus
from .numerics.mean import weighted_mean
from .part import Batch, Part, Replies, Server, State, Step, Trajectory, Visit
from .schedule import rate
from .task import Buffers

DECAYS = ("auto", "coupled", "coupled_before", "decoupled")
BATCHES = ("keep", "drop", "pad")
WEIGHTINGS = ("samples", "uniform")


@dataclass(frozen=True)
class Local:
    """How a client trains: SGD, said once."""

    epochs: int | None = 5
    steps: int | None = None  # instead of epochs
    batch_size: int = 50
    batches: str = "keep"  # the short last batch: keep | drop | pad
    lr: float = 0.01
    schedule: str = "constant"
    momentum: float = 0.9
    nesterov: bool = False
    weight_decay: float = 1e-5
    decay: str = "coupled"  # coupled | coupled_before | decoupled

    def __post_init__(self) -> None:
        """Check ranges and words."""
        if (self.epochs is None) == (self.steps is None):
            raise InputError("a client trains for epochs or for steps: give exactly one of the two")
        for name, count in (
            ("epochs", self.epochs),
            ("steps", self.steps),
            ("batch_size", self.batch_size),
        ):
            if count is not None:
                whole = isinstance(count, int) and not isinstance(count, bool)
                require(whole and count >= 1, name, count, "an integer >= 1")
        number("lr", self.lr, "a number > 0", lambda lr: 0 < lr < inf)
        number("momentum", self.momentum, "a number in [0, 1)", lambda rho: 0 <= rho < 1)
        number("weight_decay", self.weight_decay, "a number >= 0", lambda wd: 0 <= wd < inf)
        flag("nesterov", self.nesterov)
        for what, word, allowed in (
            ("decay", self.decay, DECAYS),
            ("batches", self.batches, BATCHES),
        ):
            if word not in allowed:
                raise unknown(what, str(word), allowed)
        self.rate(0)

    def rate(self, round: int) -> float:
        """Return the learning rate of a round, counted from 0."""
        return self.lr * rate(self.schedule, round)

    def decayed(self, grad: Vector, params: Vector, order: str) -> Vector:
        """Add the pull of weight decay to a gradient, where this is its place."""
        return plus(grad, self.weight_decay, params) if self.decay == order else grad

    def heading(self, grad: Vector, velocity: Vector) -> tuple[Vector, Vector]:
        """Add momentum; return the direction of the step and the velocity to carry on."""
        velocity = plus(grad, self.momentum, velocity)
        return (plus(grad, self.momentum, velocity) if self.nesterov else velocity), velocity

    def moved(self, params: Vector, direction: Vector, lr: Tensor) -> Vector:
        """Take one step along a direction."""
        if self.decay == "decoupled":
            params = minus(params, lr * self.weight_decay, params)
        return minus(params, lr, direction)

    def travel(self, steps: int, lr: float, pull: float = 0.0) -> float:
        """Return how far a gradient of one moves a weight in so many steps.

        With a ``pull`` the weight is drawn back to where it began, that many times its distance.

        >>> Local(momentum=0.0).travel(2, lr=0.5), Local(momentum=0.0).travel(2, lr=0.5, pull=1.0)
        (1.0, 0.75)
        """
        x = v = 0.0
        for _ in range(steps):
            g = 1 - pull * x
            v = self.momentum * v + g
            x += lr * (g + self.momentum * v if self.nesterov else v)
        return x


class ServerState(NamedTuple):
    """All that the server carries from round to round."""

    params: Vector
    buffers: Buffers
    part: State


class Broadcast(NamedTuple):
    """What goes over the wire to every client of the cohort."""

    params: Vector
    buffers: Buffers
    note: State


class Upload(NamedTuple):
    """What a client sends back over the wire."""

    update: Vector
    buffers: Buffers
    note: State


class Progress(NamedTuple):
    """A client in the middle of a visit."""

    params: Vector
    buffers: Buffers
    local: State
    velocity: Vector
    loss: Tensor  # () sum over the rows seen
    rows: Tensor  # ()


@dataclass(frozen=True)
class Algorithm:
    """A method, a way of taking local steps, and a way of averaging: five pure verbs."""

    part: Part
    local: Local
    weighting: str = "samples"  # samples | uniform
    server_lr: float = 1.0

    def __post_init__(self) -> None:
        """Check, and let the method choose the order of weight decay where none was set."""
        if self.weighting not in WEIGHTINGS:
            raise unknown("weighting", str(self.weighting), WEIGHTINGS)
        number("server_lr", self.server_lr, "a number > 0", lambda lr: 0 < lr < inf)
        if self.local.decay == "auto":
            chosen = self.part.prefers_decay or "coupled"
            object.__setattr__(self, "local", replace(self.local, decay=chosen))

    # --- server ---

    def start(self, server: Server, buffers: Buffers) -> ServerState:
        """Return the server as it is before the first round."""
        return ServerState(server.params, buffers, self.part.server_state(server))

    def brief(self, state: ServerState, server: Server) -> Broadcast:
        """Return what to send to the cohort."""
        params, note = self.part.brief(state.params, state.part, server)
        return Broadcast(params, state.buffers, note)

    def weigh(self, replies: Replies) -> Tensor:
        """Return the weights of the cohort, which sum to one, from its sample counts."""
        samples = replies.weights
        raw = samples if self.weighting == "samples" else torch.ones_like(samples)
        weights = self.part.weigh(raw, replies._replace(weights=raw / raw.sum()))
        return weights / weights.sum()

    def merge(
        self, state: ServerState, replies: Replies, buffers: Buffers, server: Server
    ) -> tuple[ServerState, State]:
        """Average the updates, let the method edit the mean, and subtract what is left."""
        average = self.part.mean or weighted_mean
        update = average(replies.updates, replies.weights)
        update, part, rows = self.part.merge(update, state.part, replies, server)
        return ServerState(state.params - self.server_lr * update, buffers, part), rows

    # --- client ---

    def begin(self, visit: Visit) -> Progress:
        """Return a client that has just been handed the model."""
        anchor, zero = visit.anchor, visit.anchor.new_zeros(())
        return Progress(
            anchor, visit.buffers, self.part.begin(visit), torch.zeros_like(anchor), zero, zero
        )

    def step(self, visit: Visit, now: Progress, batch: Batch) -> Progress:
        """Take one local step."""
        here = Step(visit, now.local, now.params, now.buffers, batch)
        gradient, loss, buffers = self._slope(here)
        gradient = self.local.decayed(gradient, now.params, "coupled_before")
        gradient, local = self.part.gradient(gradient, here)
        gradient = self.local.decayed(gradient, now.params, "coupled")
        direction, velocity = self.local.heading(gradient, now.velocity)
        params = self.local.moved(now.params, self.part.direction(direction, here), visit.lr)
        rows = (batch.weight > 0).sum()
        return Progress(params, buffers, local, velocity, now.loss + loss * rows, now.rows + rows)

    def _slope(self, here: Step) -> tuple[Vector, Tensor, Buffers]:
        """Return the gradient where the parts want it, loss and buffers where the model is."""

        def objective(params: Vector) -> tuple[Tensor, Buffers]:
            step = here.at(params)
            return self.loss(step), step.statistics

        gradient, (loss, buffers) = grad_and_value(objective, has_aux=True)(
            self.part.probe(here.params, here)
        )
        if self.part.probes:
            loss, buffers = objective(here.params)
        return gradient, loss, buffers

    def loss(self, step: Step) -> Tensor:
        """Return the batch's mean loss, with what the parts add."""
        logits = self.part.logits(step.output.logits, step)
        return step.mean(step.visit.task.losses(logits, step.batch.y)) + self.part.penalty(step)

    def travel(self, steps: int, lr: float) -> float:
        """Return how far a gradient of one moves a weight, with all that pulls it back."""
        return self.local.travel(steps, lr, self.part.pull)

    def finish(
        self, visit: Visit, trajectory: Trajectory, trail: Tensor | None, buffers: Buffers
    ) -> tuple[Upload, State]:
        """Return what a client sends back, and the memory it keeps."""
        update = trajectory.start - trajectory.end
        if trail is not None:
            update = self.part.digest(trajectory.steps, trajectory).to(trail.dtype) @ trail
        update, note, memory = self.part.finish(update, trajectory, visit)
        return Upload(update, buffers, note), memory


def algorithm(
    *parts: Part,
    weighting: str = "samples",
    server_lr: float = 1.0,
    epochs: int | None = None,
    steps: int | None = None,
    batch_size: int = 50,
    batches: str = "keep",
    lr: float = 0.01,
    schedule: str = "constant",
    momentum: float = 0.9,
    nesterov: bool = False,
    weight_decay: float = 1e-5,
    decay: str = "auto",
) -> Algorithm:
    """Put parts together with a way of taking local steps.

    >>> algorithm(Part(), lr=0.1, steps=10).local.epochs is None
    True
    """
    passes = 5 if epochs is None and steps is None else epochs
    local = Local(
        passes, steps, batch_size, batches, lr, schedule, momentum, nesterov, weight_decay, decay
    )
    return Algorithm(compose(*parts), local, weighting, server_lr)
