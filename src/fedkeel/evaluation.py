"""How good the global model is on the test set."""

from __future__ import annotations

import torch

from .data.federation import Samples
from .engines.base import scaled
from .rounds import ServerState
from .task import Task

ROWS = 1024  # samples at a time


def evaluate(
    task: Task, server: ServerState, test: Samples, dtype: torch.dtype
) -> tuple[float, float]:
    """Return metric and loss in evaluation mode, averaged over the samples in float64."""
    metric = loss = 0.0
    with torch.no_grad():
        for start in range(0, len(test.y), ROWS):
            x, y = test.x[start : start + ROWS], test.y[start : start + ROWS]
            said, _ = task.forward(server.params, server.buffers, scaled(x, dtype), training=False)
            target = y.to(dtype) if y.is_floating_point() else y
            value = task.metric(said.logits, target).double()
            metric += float(value.mean()) * len(y)  # a value a sample, or already their mean
            loss += float(task.losses(said.logits, target).double().sum())
    return metric / len(test.y), loss / len(test.y)
