"""Fixed rules that choose how a round is run on a CPU.

No clock has a part in them, so that the same recipe gives the same bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from ..task import Task

STACKS_BELOW = (
    1.5e8  # operations of one client's step: under this, a stack of clients beats one at a time
)
UNROLLS_BELOW = 1e7  # operations of a client's step: under this, calls cost more than work
UNROLL = 4  # steps in one program then
COMPILES_ABOVE = 3e10  # operations of a round: over this, compiling is worth its seconds
LONG = 400  # calls of a pass: over this (a recurrent net), compiling takes minutes for little
MEMORY = 1 << 30  # bytes that the lanes of a chunk may take
GRAPHS = 8  # shapes of a step that are traced in a run
COPIES = 8  # vectors that a lane keeps while it steps: weights, velocity, gradient and so on


def lanes(width: int) -> tuple[int, ...]:
    """Return the numbers of lanes that a chunk of ``width`` clients may run at once, ascending.

    Eight at most, since each is a graph: all up to eight, and steps of equal ratio beyond five.

    >>> lanes(3), lanes(50)
    ((1, 2, 3), (1, 2, 3, 5, 9, 16, 28, 50))
    """
    if width <= GRAPHS:
        return tuple(range(1, width + 1))
    few = (1, 2, 3, 5)
    ratio = (width / few[-1]) ** (1 / (GRAPHS - len(few)))
    return (*few, *(round(few[-1] * ratio**i) for i in range(1, GRAPHS - len(few) + 1)))


class Cost(NamedTuple):
    """What a client's step costs, by counting and not by a clock.

    Attributes:
        step: Its operations: one pass forward, two back.
        calls: How many operations, of whatever size, a pass forward calls.
    """

    step: float
    calls: int


def cost(task: Task, x: torch.Tensor) -> Cost:
    """Count in one pass over these samples."""
    counter = _Counter()
    with counter, torch.no_grad():
        task.forward(task.initial(), task.buffers(), x, training=False)
    return Cost(3.0 * counter.flops, counter.calls)


class _Counter(TorchDispatchMode):
    """Counts by PyTorch's own formulas, without the hooks on all modules of its own counter.

    Those are global, and a model that is compiled in another thread would see them.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.flops, self.calls = 0.0, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = kwargs or {}
        out = func(*args, **given)
        formula = flop_registry.get(func._overloadpacket)
        self.flops += float(formula(*args, **given, out_val=out)) if formula else 0.0
        self.calls += 1
        return out


def chunk_width(step: float, size: int, itemsize: int, trail: int, cohort: int) -> int:
    """Return how many clients run in one program.

    Args:
        step: Operations of one client's step.
        size: Weights of the model.
        itemsize: Bytes a weight.
        trail: Steps of a visit that must be kept.
        cohort: Clients a round.
    """
    if step > STACKS_BELOW:
        return 1
    return max(1, min(cohort, MEMORY // (size * itemsize * (COPIES + trail))))


def compiles(round: float, calls: int) -> bool:
    """Say whether a round is long enough to compile its step, and the step short enough."""
    return round > COMPILES_ABOVE and calls <= LONG


def unrolled(step: float, compiled: bool, trail: int) -> int:
    """Return how many steps go into one program; steps that must be kept go one by one."""
    return UNROLL if compiled and step < UNROLLS_BELOW and not trail else 1
