"""What a run has to show for each round."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import torch
from torch import Tensor, nn

from .loop import Result
from .task import Task

FIELDS = (
    "accuracy",
    "loss",
    "train_loss",
    "cohort",
    "steps",
    "samples",
    "seconds",
    "bytes_up",
    "bytes_down",
    "extra",
)


@dataclass(frozen=True, eq=False)
class Round:
    """A finished round: a line of ``rounds.jsonl``, and the global model after it."""

    number: int
    accuracy: float | None
    loss: float | None
    train_loss: float | None
    cohort: tuple[int, ...]
    steps: int
    samples: int
    seconds: float
    bytes_up: int
    bytes_down: int
    extra: Mapping[str, float]
    _task: Task
    _result: Result

    def line(self) -> dict[str, Any]:
        """Return the round as ``rounds.jsonl`` has it."""
        told = {name: getattr(self, name) for name in FIELDS}
        return {"round": self.number, **told, "cohort": list(self.cohort)}

    def module(self) -> nn.Module:
        """Return a new module with these weights."""
        model = copy.deepcopy(self._task.model)
        held = {**self._task.layout.open(self._result.server.params), **self._result.server.buffers}
        own = {**dict(model.named_parameters()), **dict(model.named_buffers())}
        with torch.no_grad():
            for name, tensor in held.items():
                own[name].copy_(tensor)
        return model

    def state_dict(self) -> dict[str, Tensor]:
        """Return a copy of the weights and buffers under the module's own names."""
        return {
            name: tensor.detach().clone() for name, tensor in self.module().state_dict().items()
        }

    def __repr__(self) -> str:
        """Say what one looks for."""
        return f"Round(number={self.number}, accuracy={self.accuracy}, loss={self.loss})"

    @classmethod
    def of(cls, result: Result, task: Task) -> Round:
        """Show a result; ``task`` has the module to put its weights in."""
        report = result.report
        return cls(
            result.number,
            result.accuracy,
            result.loss,
            report.train_loss if isfinite(report.train_loss) else None,
            report.cohort,
            report.steps,
            report.samples,
            result.seconds,
            report.bytes_up,
            report.bytes_down,
            {},
            task,
            result,
        )
