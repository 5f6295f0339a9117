"""How good the global model is on the test set."""

from __future__ import annotations

import torch

from .data.federation import Samples
from .data.preparation import Preparation
from .numerics.targets import targets
from .rounds import ServerState
from .task import Task

ROWS = 1024  # samples at a time


def evaluate(
    task: Task, server: ServerState, test: Samples, preparation: Preparation, dtype: torch.dtype
) -> tuple[float, float]:
    """Return metric and loss in evaluation mode, averaged in float64 over all targets.

    A sample has one target, a sequence as many as are not left out.
    """
    metric = loss = 0.0
    count = 0
    with torch.no_grad():
        for start in range(0, len(test.y), ROWS):
            x, y = test.x[start : start + ROWS], test.y[start : start + ROWS]
            numbers = preparation.numbers(x, dtype)
            said, _ = task.forward(server.params, server.buffers, numbers, training=False)
            target = y.to(dtype) if y.is_floating_point() else y
            number = targets(target).double()
            value = task.metric(said.logits, target).double()
            rows = value.flatten(1).mean(1) if value.dim() > 1 else value  # or already their mean
            metric += float((rows * number).sum())
            loss += float((task.losses(said.logits, target).double() * number).sum())
            count += int(number.sum())
    return metric / max(count, 1), loss / max(count, 1)
