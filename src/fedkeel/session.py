"""From a method, a task and a federation to finished rounds: ``run``, ``train``."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from .arithmetic import arithmetic, guarded
from .checks import check, notice
from .data.federation import Federation, Samples
from .engines.base import Pool
from .engines.careful import Careful
from .engines.choice import Graphs, choose, workshop
from .errors import Diverged, InputError
from .history import Round
from .listeners.folder import RunFolder
from .loop import NOTHING, Result, World, rounds, start
from .part import Part
from .rounds import Algorithm
from .settings import Settings
from .task import Task
from .transforms import centred


@dataclass(frozen=True, eq=False)
class Session:
    """A run that has been checked and can begin."""

    method: Algorithm
    task: Task
    federation: Federation
    settings: Settings
    world: World
    test: Samples
    resolved: Mapping[str, Any]  # what "auto" became

    @property
    def chosen(self) -> dict[str, Any]:
        """What "auto" became, and what it came to where that had to be given up."""
        engine = self.world.engine
        if not isinstance(engine, Careful) or not engine.failed:
            return dict(self.resolved)
        plain = {"engine": "sequential", "why": engine.failed[0], "chunk": 1, "compile": False}
        return {**self.resolved, **plain}

    @property
    def metric(self) -> str:
        """What the accuracy is of."""
        return getattr(self.task.metric, "__name__", type(self.task.metric).__name__)

    def rounds(self) -> Generator[Round]:
        """Play all rounds, round 0 first."""
        played = rounds(
            self.world,
            start(self.world),
            self.test,
            first=0,
            last=self.settings.rounds,
            eval_every=self.settings.eval_every,
        )
        for result in guarded(played, self.settings):
            yield Round.of(result, self._shown)

    def untrained(self) -> Round:
        """Return the initial model, not evaluated."""
        state = start(self.world).server
        return Round.of(Result(0, state, NOTHING, None, None, 0.0), self._shown)

    @cached_property
    def _shown(self) -> Task:
        """The task on the CPU, to put finished weights into."""
        shown = self.task.placed(torch.device("cpu"), self.settings.dtype)
        return replace(shown, channels_last=self.world.task.channels_last)


def prepare(
    method: Algorithm,
    task: Task,
    federation: Federation,
    settings: Settings,
    graphs: Graphs | None = None,
) -> Session:
    """Check that everything fits together, and choose how to run it.

    Sessions whose models are built alike may share ``graphs``: each step is then traced once.
    """
    check(method, task, federation)
    cohort = settings.clients(federation.clients, int((federation.sizes > 0).sum()))
    device, dtype = settings.place, settings.dtype
    mine = task.placed(
        device,
        dtype,
        frozen_statistics=settings.buffers == "freeze",
        bfloat16=settings.precision == "bfloat16",
    )
    centring = {f"centred_{end}": list(n) for end, n in centred(method.part, mine.layout).items()}
    pool = Pool.of(federation.train, device, dtype, federation.source.preparation)
    with arithmetic(settings):
        shop = workshop(method, mine, pool, settings.seed, federation.classes)
        engine, shop, choice = choose(shop, federation.sizes, settings, cohort, graphs)
    notice(method.local, federation, shop.rows_meet)
    world = World(
        method,
        shop.task,
        federation,
        engine,
        shop.pool,
        cohort,
        settings.seed,
        settings.buffers,
        settings.on_nonfinite,
        shop.rows_meet,
        sum(b.numel() * b.element_size() for b in task.model.buffers()),
    )
    test = Samples(federation.test.x.to(device), federation.test.y.to(device))
    resolved = {
        **choice,
        "precision": settings.precision,
        "threads": settings.threads or torch.get_num_threads(),
        "device": device.type,
        "decay": method.local.decay,
        **centring,
        "versions": {"fedkeel": _version(), "torch": torch.__version__, "numpy": np.__version__},
    }
    return Session(method, task, federation, settings, world, test, resolved)


def run(
    method: Algorithm | Part,
    task: Task,
    federation: Federation,
    *,
    rounds: int = 100,
    cohort: int | float = 10,
    seed: int = 0,
    engine: str = "auto",
    device: str = "auto",
    precision: str = "float32",
    threads: int = 0,
    buffers: str = "average",
    on_nonfinite: str = "stop",
    eval_every: int = 1,
    chunk: int = 0,
    compile: str | bool = "auto",
    out: str | os.PathLike[str] | None = None,
) -> Generator[Round]:
    """Run a federation round by round, the untrained model first.

    Args:
        method: What ``fedkeel.algorithm`` returned.
        task: The module and its loss. It starts from the module's present weights and leaves them.
        federation: Who holds what.
        rounds: How many rounds to train.
        cohort: Clients a round: an integer, or a float for that share of them.
        seed: Draws cohorts, batches and dropout masks.
        engine: ``sequential`` (the reference), ``stacked`` (many clients at once), or ``auto``.
        device: ``cpu``, ``cuda`` or ``auto``.
        precision: ``float32``, ``tf32``, ``bfloat16`` or ``float64``.
        threads: CPU threads; 0 leaves PyTorch's setting.
        buffers: BatchNorm's statistics: ``average``, ``local`` or ``freeze``.
        on_nonfinite: ``stop``, or ``skip_client`` to go on without the one that diverged.
        eval_every: Test the model every so many rounds, and after the last.
        chunk: Clients in one program; 0 takes the engine's rule.
        compile: Compile the step: ``auto``, True or False.
        out: A folder for recipe, rounds, summary, model and partition.
    """
    if not isinstance(method, Algorithm):
        raise InputError(
            f"method is a {type(method).__name__}: build it with "
            "fedkeel.algorithm(part, ..., lr=...)"
        )
    settings = Settings(
        rounds,
        cohort,
        seed,
        engine,
        device,
        precision,
        threads,
        buffers,
        on_nonfinite,
        eval_every,
        chunk,
        compile,
    )
    return follow(prepare(method, task, federation, settings), out)


def follow(
    session: Session,
    out: str | os.PathLike[str] | None = None,
    recipe: Mapping[str, Any] | None = None,
) -> Generator[Round]:
    """Play a session's rounds, and write them to a folder as they end."""
    if out is None:
        return session.rounds()
    return _written(session, RunFolder.claim(out), recipe)


def _written(
    session: Session, folder: RunFolder, recipe: Mapping[str, Any] | None
) -> Generator[Round]:
    folder.begin(session, recipe)
    try:
        for round in session.rounds():
            folder.add(round)
            yield round
    except Diverged as error:
        folder.close({"round": error.round, "reason": "diverged", "detail": error.detail})
        raise
    except (KeyboardInterrupt, GeneratorExit):
        if folder.next > session.settings.rounds:  # left after its last round: nothing was to come
            folder.close(None)
            raise
        folder.close(
            {"round": folder.next, "reason": "interrupted", "detail": "stopped from outside"}
        )
        raise
    except BaseException as error:
        folder.close(
            {"round": folder.next, "reason": "error", "detail": f"{type(error).__name__}: {error}"}
        )
        raise
    folder.close(None)


def train(
    method: Algorithm | Part,
    task: Task,
    federation: Federation,
    *,
    rounds: int = 100,
    cohort: int | float = 10,
    seed: int = 0,
    engine: str = "auto",
    device: str = "auto",
    precision: str = "float32",
    threads: int = 0,
    buffers: str = "average",
    on_nonfinite: str = "stop",
    eval_every: int = 1,
    chunk: int = 0,
    compile: str | bool = "auto",
    out: str | os.PathLike[str] | None = None,
) -> Round:
    """Run to the end and return the last round; the arguments are those of :func:`run`."""
    played = run(
        method,
        task,
        federation,
        rounds=rounds,
        cohort=cohort,
        seed=seed,
        engine=engine,
        device=device,
        precision=precision,
        threads=threads,
        buffers=buffers,
        on_nonfinite=on_nonfinite,
        eval_every=eval_every,
        chunk=chunk,
        compile=compile,
        out=out,
    )
    return deque(played, maxlen=1).pop()


def _version() -> str:
    from . import __version__

    return __version__


__all__ = ["Round", "Session", "follow", "prepare", "run", "train"]
