"""Which engine runs a round, and how: looked up once, by rules that a clock has no part in."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..composition import compose
from ..errors import InputError
from ..numbers import numbers, renumbered
from ..part import Part
from ..rounds import Algorithm, Local
from ..settings import Settings
from ..task import Task, cross_entropy
from .base import Engine, Pool, Workshop
from .careful import Careful
from .rules import chunk_width, compiles, cost, unrolled
from .sequential import Sequential
from .stacked import Stacked
from .tracing import Program, compiler

Graphs = dict[Any, dict[Any, Program]]
log = logging.getLogger(__name__)


def workshop(method: Algorithm, task: Task, pool: Pool, seed: int, classes: int | None) -> Workshop:
    """Look once at what the network does with a batch: its output, its draws, whether rows meet."""
    x, y = pool.take(torch.arange(min(3, len(pool.x)), device=pool.x.device))
    with _about_model(x):
        shapes = task.noise_shapes(task.initial(), task.buffers(), x)
        fewer = task.noise_shapes(task.initial(), task.buffers(), x[:-1])
        said, _ = task.forward(task.initial(), task.buffers(), x, training=False)
    _check_output(task, said.logits, y, classes)
    noise = tuple(torch.full(shape, 0.5, device=x.device) for shape in shapes)
    # Draws that are not a row a sample would differ between a short batch and a padded one.
    odd = any(
        a[:1] != (len(x),) or b != (len(x) - 1, *a[1:]) for a, b in zip(shapes, fewer, strict=True)
    )
    meet = method.part.rows_meet or odd or (len(x) > 1 and task.rows_meet(x, noise))
    return Workshop(method, task, pool, seed, bool(shapes), meet)


def choose(
    shop: Workshop,
    sizes: NDArray[np.int64],
    settings: Settings,
    cohort: int,
    graphs: Graphs | None = None,
) -> tuple[Engine, Workshop, dict[str, Any]]:
    """Return the engine, what it works with, and what is written down about the choice.

    ``graphs`` keeps traced steps for other runs of the same model: a grid of learning rates, or
    some seeds, trace and compile once.
    """
    _check_cohort(shop.method.part, cohort)
    if settings.engine == "sequential":
        shop = _alone(shop, settings)
        said = {"engine": "sequential", "why": "asked for", "chunk": 1, "compile": False}
        return Sequential(shop), shop, said
    local = shop.method.local
    longest = int(sizes.max())
    rows = min(local.batch_size, longest) if local.batches == "keep" else local.batch_size
    x, _ = shop.pool.take(torch.zeros(1, dtype=torch.long, device=shop.pool.x.device))
    counted = cost(shop.task, x)
    step = counted.step * rows
    turns = _turns(longest, local)
    trail = turns if shop.method.part.digests else 0
    itemsize = 8 if settings.precision == "float64" else 4
    most = settings.chunk or chunk_width(step, shop.task.layout.size, itemsize, trail, cohort)
    width = min(most, cohort)
    shop = _alone(shop, settings) if width == 1 else shop
    round = step * _turns(float(sizes.mean()), local) * cohort
    compiled = _compiled(settings, round, counted.calls)
    unroll = unrolled(step, compiled, trail)
    method = renumbered(shop.method, [0.0] * len(numbers(shop.method)))
    kind = (
        *(repr(method), repr(shop.task.model), shop.task.head, shop.task.criterion, rows, compiled),
        *(settings.precision, settings.device, settings.buffers),
    )
    # What is frozen is part of a graph, so such a model shares none.
    frozen = any(not p.requires_grad for p in shop.task.model.parameters())
    programs = {} if graphs is None or frozen else graphs.setdefault(kind, {})
    engine = Stacked(shop, width, rows, turns, compile=compiled, unroll=unroll, programs=programs)
    said = {"engine": "stacked", "chunk": width, "compile": compiled}
    if settings.engine == "stacked":
        return engine, shop, {**said, "why": "asked for"}
    careful = Careful(engine, Sequential(shop))
    return careful, shop, {**said, "why": f"a client's step takes {step:.1e} operations"}


def _check_cohort(part: Part, cohort: int) -> None:
    """Refuse a cohort that is too small for a part, before anything is run."""
    most = max(compose(part).parts, key=lambda p: p.quorum, default=part)
    if cohort < most.quorum:
        raise InputError(
            f"cohort={cohort} is too small for {most!r}, which needs a cohort of at least "
            f"{most.quorum}: raise the cohort, or lower its numbers"
        )


def _alone(shop: Workshop, settings: Settings) -> Workshop:
    """Lay weights and images channels-last where one client runs at a time on a CPU."""
    if settings.place.type != "cpu":
        return shop
    return replace(shop, task=replace(shop.task, channels_last=True), pool=shop.pool.turned())


def _turns(samples: float, local: Local) -> int:
    """Return the steps of a visit to so many samples."""
    return local.steps or int(-(-samples // local.batch_size)) * (local.epochs or 0)


def _compiled(settings: Settings, work: float, calls: int) -> bool:
    unwanted = settings.compile == "auto" and not compiles(work, calls)
    if settings.compile in (False, "false") or unwanted:
        return False
    if settings.place.type == "cpu" and not compiler():
        log.warning("no C++ compiler was found: the traced step runs as it is, correct but slower")
        return False
    return True


@contextmanager
def _about_model(x: Tensor) -> Iterator[None]:
    """Say of a network that fails on the data what it was given."""
    try:
        yield
    except InputError:
        raise
    except (RuntimeError, ValueError, TypeError, IndexError, AttributeError) as error:
        shape, kind = tuple(x.shape[1:]), str(x.dtype).removeprefix("torch.")
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(
            f"the model cannot take samples of shape {shape} and type {kind}: {first}"
        ) from error


def _check_spread(what: str, values: Tensor, logits: Tensor, y: Tensor) -> None:
    """Refuse values that pair each sample with every other: (B, 1) and (B,) broadcast to (B, B)."""
    most = max(logits[0].numel(), y[0].numel())
    if values.dim() > 1 and values[0].numel() > most:
        raise InputError(
            f"the {what} makes {tuple(values.shape)} of outputs {tuple(logits.shape)} and targets "
            f"{tuple(y.shape)}, since they broadcast: give both one shape, as y.reshape(-1, 1) has"
        )


def _check_output(task: Task, logits: Tensor, y: Tensor, classes: int | None) -> None:
    """Check that there is a logit for each class, and that the criterion gives a loss a sample."""
    width = logits.shape[-1] if logits.dim() > 1 else 0
    if task.criterion is cross_entropy and classes is not None and width < classes:
        raise InputError(
            f"the data has labels up to {classes - 1}, but the model gives {width} logits: "
            f"it needs {classes}"
        )
    if task.classes is not None and task.head is not None and task.classes != width:
        raise InputError(
            f"head '{task.head}' gives {task.classes} values, but the model {width} logits: name "
            "the module that gives the logits with Task(head=...)"
        )
    if task.criterion is cross_entropy and logits.shape[:-1] != y.shape:
        raise InputError(
            f"the model gives logits {tuple(logits.shape[1:])} a sample where its targets are "
            f"{tuple(y.shape[1:])}: one row of logits for each target is needed"
        )
    try:
        for what, values in (("criterion", task.criterion), ("metric", task.metric)):
            _check_spread(what, values(logits, y), logits, y)
        task.losses(logits, y)
    except InputError:
        raise
    except (RuntimeError, ValueError, TypeError, IndexError) as error:
        first = str(error).splitlines()[0]
        raise InputError(
            f"the criterion cannot compare outputs {tuple(logits.shape)} with targets "
            f"{tuple(y.shape)}: {first}"
        ) from error
