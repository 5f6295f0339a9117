"""What must fit before a run begins, and what its user should know of it."""

from __future__ import annotations

import logging

from .data.federation import Federation
from .errors import InputError
from .rounds import Algorithm, Local
from .task import Task, cross_entropy

log = logging.getLogger(__name__)


def check(method: Algorithm, task: Task, federation: Federation) -> None:
    """Raise where method, task and data cannot go together."""
    for what, value, kind in (("task", task, Task), ("federation", federation, Federation)):
        if not isinstance(value, kind):
            name = type(value).__name__
            raise InputError(f"{what} is a {name}: it must be a fedkeel {kind.__name__}")
    if not task.layout.slots:
        raise InputError(
            "the model has no trainable parameter: set requires_grad on those to train"
        )
    if task.criterion is cross_entropy and federation.classes is None:
        raise InputError(
            "these targets are not classes: give the task a criterion and a metric of its own, in "
            "Python: fk.Task(model, criterion=..., metric=...); classes are integers"
        )


def notice(local: Local, federation: Federation, rows_meet: bool) -> None:
    """Refuse batches of one where rows meet, and say once which batches will be left out."""
    sizes = federation.sizes[federation.sizes > 0]
    if rows_meet and local.batch_size == 1:
        raise InputError(
            "batch_size=1: samples of a batch meet in this model or method (BatchNorm, say), so a "
            "batch must have two samples or more"
        )
    if rows_meet and local.batches == "keep" and (sizes % local.batch_size == 1).any():
        log.info("samples of a batch meet in this model or method: a last batch of one is left out")
    short = int((sizes < local.batch_size).sum())
    if local.batches == "drop" and short:
        log.warning("batches=drop leaves %d of %d clients without a batch", short, len(sizes))
