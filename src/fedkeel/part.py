"""The one interface of the library: what a method adds to a round, at both ends of the wire."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from torch import Tensor
from torch.func import grad

from .layout import Layout, Vector
from .numerics.mean import Mean
from .task import Buffers, Output, Task

State = Any  # a pytree of tensors of fixed structure; () when there is nothing to remember


class Shard(NamedTuple):
    """The samples one client holds."""

    x: Tensor
    y: Tensor


class Point(NamedTuple):
    """Where in weight space a gradient is being transformed."""

    params: Vector
    layout: Layout


class Server(NamedTuple):
    """What the server may look at."""

    task: Task
    params: Vector
    round: int
    population: int  # all clients, N


class Visit(NamedTuple):
    """What a client may look at while it holds the model."""

    task: Task
    round: Tensor  # ()
    lr: Tensor  # () this round's learning rate
    anchor: Vector  # the model as it arrived
    buffers: Buffers  # its statistics, of no concern to parts
    label_counts: Tensor  # (classes,)
    coreset: Tensor  # (capacity,) sample weights, zero where left out; empty if no part selects
    note: State  # what this part's server end sent along
    memory: State  # what this part's client end kept from its last visit

    def of(self, i: int) -> Visit:
        """Show part ``i`` its own note and memory."""
        return self._replace(note=self.note[i], memory=self.memory[i])


class Batch(NamedTuple):
    """The samples of one step."""

    x: Tensor
    y: Tensor
    weight: Tensor  # (B,) zero where padded
    noise: Sequence[Tensor] = ()  # uniform numbers for the network's own draws


class Trajectory(NamedTuple):
    """How a visit went; raw facts, whatever becomes of the update."""

    start: Vector
    end: Vector
    travel: Tensor  # () how far a gradient of one would have moved a weight
    steps: Tensor  # (T,) one for each step taken, zero where padded
    gram: Tensor  # (T, T) inner products of the displacements, if a part digests them


class Replies(NamedTuple):
    """What the cohort sent back, one row per client."""

    ids: Tensor  # (K,)
    updates: Tensor  # (K, D)
    weights: Tensor  # (K,) of the cohort: sum 1 over those who answered
    shares: Tensor  # (K,) of the population: sum 1 over all N clients
    note: State  # this part's notes, stacked
    ledger: State  # what this part's server end keeps of these clients, stacked

    def of(self, i: int) -> Replies:
        """Show part ``i`` its own notes and ledger rows."""
        return self._replace(note=self.note[i], ledger=self.ledger[i])


@dataclass(frozen=True, eq=False)
class Step:
    """One batch, as a loss term or a gradient hook sees it."""

    visit: Visit
    local: State  # what this part carries through the visit
    params: Vector
    buffers: Buffers
    batch: Batch

    def of(self, i: int) -> Step:
        """Show part ``i`` its own state; the forward passes are shared."""
        part = replace(self, visit=self.visit.of(i), local=self.local[i])
        part.__dict__["_said"] = self._said
        return part

    def at(self, params: Vector) -> Step:
        """Stand at another point, with the same batch."""
        return replace(self, params=params)

    @property
    def point(self) -> Point:
        """Where the step stands."""
        return Point(self.params, self.visit.task.layout)

    @cached_property
    def _said(self) -> dict[str, tuple[Output, Buffers]]:
        return {}

    @property
    def output(self) -> Output:
        """What the model in training says about this batch."""
        return self._ask("output")[0]

    @property
    def statistics(self) -> Buffers:
        """The buffers after that pass."""
        return self._ask("output")[1]

    @property
    def teacher(self) -> Output:
        """What the model as it arrived says about this batch, in evaluation mode."""
        return self._ask("teacher")[0]

    def _ask(self, who: str) -> tuple[Output, Buffers]:
        if who not in self._said:
            task, batch = self.visit.task, self.batch
            self._said[who] = (
                task.forward(self.params, self.buffers, batch.x, noise=batch.noise)
                if who == "output"
                else task.forward(self.visit.anchor, self.visit.buffers, batch.x, training=False)
            )
        return self._said[who]

    def mean(self, values: Tensor) -> Tensor:
        """Average a value of each sample over this batch.

        The divisor is the number of rows that count, so that a coreset's weights keep their meaning
        from batch to batch and padding has none.
        """
        weight = self.batch.weight
        return (weight * values).sum() / (weight > 0).sum().clamp_min(1)

    def gradient_of(self, objective: Callable[[Step], Tensor]) -> Vector:
        """Return the gradient of an objective of this batch at these params."""
        slope: Vector = grad(lambda params: objective(self.at(params)))(self.params)
        return slope


class Part:
    """One idea, at both ends of the wire. Hooks run in this order; all default to nothing.

    A part is a frozen dataclass whose fields are the method's numbers. Hooks are pure: state comes
    in as an argument and goes out as a result. Hooks of the step must not branch on the values of
    tensors.
    """

    # what each end remembers between rounds

    def server_state(self, server: Server) -> State:
        """Return what the server remembers before the first round."""
        return ()

    def client_state(self, task: Task, capacity: int) -> State:
        """Return what a client remembers before its first visit.

        No client holds more than ``capacity`` samples.
        """
        return ()

    def ledger_state(self, task: Task) -> State:
        """Return what the server keeps of one client before it first answers."""
        return ()

    # server, before the cohort leaves

    def brief(self, params: Vector, state: State, server: Server) -> tuple[Vector, State]:
        """Return the model to send and this part's note."""
        return params, ()

    # client, on arrival

    def select(self, weights: Tensor, shard: Shard, visit: Visit) -> Tensor:
        """Re-weight the client's samples; zero leaves one out."""
        return weights

    def begin(self, visit: Visit) -> State:
        """Return what this part carries through the visit."""
        return ()

    # client, every step

    def probe(self, params: Vector, step: Step) -> Vector:
        """Move the point at which the gradient is read."""
        return params

    def logits(self, logits: Tensor, step: Step) -> Tensor:
        """Edit the logits before the criterion."""
        return logits

    def penalty(self, step: Step) -> Tensor | float:
        """Return a term that is added to the batch's mean loss."""
        return 0.0

    def gradient(self, grad: Vector, step: Step) -> tuple[Vector, State]:
        """Edit the gradient; return it and what to carry on."""
        return grad, step.local

    def direction(self, direction: Vector, step: Step) -> Vector:
        """Edit what momentum made of the gradients, of which the step takes ``lr`` times."""
        return direction

    # client, on leaving

    def digest(self, weights: Tensor, trajectory: Trajectory) -> Tensor:
        """Re-weight the steps of the visit, ``(T,)``, of which the update is the sum."""
        return weights

    def finish(
        self, update: Vector, trajectory: Trajectory, visit: Visit
    ) -> tuple[Vector, State, State]:
        """Edit the update; return it, a note for the server, and the memory to keep."""
        return update, (), visit.memory

    # server, after the cohort returns

    def weigh(self, weights: Tensor, replies: Replies) -> Tensor:
        """Edit the aggregation weights, ``(K,)``; they are scaled to sum 1 afterwards."""
        return weights

    def merge(
        self, update: Vector, state: State, replies: Replies, server: Server
    ) -> tuple[Vector, State, State]:
        """Edit the mean update; return it, the server's state, and the cohort's ledger rows."""
        return update, state, replies.ledger

    # what an engine asks; above `selects` plain attributes do too (mean = staticmethod(function))

    @property
    def mean(self) -> Mean | None:
        """What takes the place of the weighted mean over the cohort."""
        return None

    @property
    def prefers_decay(self) -> str | None:
        """The order of weight decay that is used unless one is set."""
        return None

    @property
    def pull(self) -> float:
        """Strength mu of a term ``mu/2 |w - anchor|^2`` in the penalty, for ``travel``."""
        return 0.0

    @property
    def quorum(self) -> int:
        """The fewest clients that a round needs."""
        return 1

    @property
    def rows_meet(self) -> bool:
        """Whether a hook mixes the rows of a batch, so that it must not see padding."""
        return False

    @property
    def selects(self) -> bool:
        """Whether some samples may be left out or weighted."""
        return _has(self, "select")

    @property
    def probes(self) -> bool:
        """Whether the gradient is read elsewhere than where the model stands."""
        return _has(self, "probe")

    @property
    def digests(self) -> bool:
        """Whether the engine must keep every step of a visit."""
        return _has(self, "digest")


def _has(part: Part, hook: str) -> bool:
    return getattr(type(part), hook) is not getattr(Part, hook)


def zeros(task: Task) -> Vector:
    """Return a vector of the model's size that holds nothing yet."""
    return task.initial().zero_()
