"""What is learned: an ordinary module, a per-sample loss, a metric, and the name of its head."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.modules.batchnorm import _BatchNorm, _NormBase
from torch.overrides import TorchFunctionMode

from .draws import Refusing, TakenOver
from .errors import InputError
from .layout import Layout, Vector
from .numerics.targets import over_targets

Buffers = dict[str, Tensor]
Criterion = Callable[[Tensor, Tensor], Tensor]


class Output(NamedTuple):
    """What a network says about a batch."""

    logits: Tensor
    features: Tensor  # what the head was given


@runtime_checkable
class Headed(Protocol):
    """A network that counts more than its last layer as its head, as VGG does its classifier."""

    whole_head: str


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the loss of every sample, never their mean; of a sequence, the mean over its targets.

    Args:
        logits: ``(B, C)``, or ``(B, T, C)`` of sequences.
        labels: ``(B,)``, or ``(B, T)`` with -100 where there is no target.
    """
    if labels.dim() == 1:
        return F.cross_entropy(logits, labels, reduction="none")
    flat = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
    return over_targets(flat.view(labels.shape), labels)


def accuracy(logits: Tensor, labels: Tensor) -> Tensor:
    """Say for every sample whether the largest logit is right; of a sequence, how often it is."""
    right = (logits.argmax(-1) == labels).to(logits.dtype)
    return over_targets(right, labels)


@dataclass(frozen=True, eq=False)
class Task:
    """A module to be trained: a recipe for the forward pass, whose weights are the starting point.

    >>> task = Task(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)))
    >>> task.head, task.classes
    ('2', 3)
    """

    model: nn.Module
    head: str | None = (
        None  # dotted name of the module that gives the logits; default: the last Linear
    )
    classes: int | None = None  # default: the head's width, where the loss is cross-entropy
    criterion: Criterion = cross_entropy  # (outputs, targets) -> a loss for each sample
    metric: Criterion = accuracy  # (outputs, targets) -> a value for each sample, or their mean
    frozen_statistics: bool = False  # BatchNorm keeps the statistics it came with
    bfloat16: bool = False  # the forward pass computes in bfloat16, the vector stays as it is
    channels_last: bool = False

    def __post_init__(self) -> None:
        """Find head and classes where they were not given."""
        if not isinstance(self.model, nn.Module):
            raise InputError(f"a task needs a torch.nn.Module, not {type(self.model).__name__}")
        if self.head is None:
            object.__setattr__(self, "head", _last_linear(self.model))
        elif self.head not in dict(self.model.named_modules()):
            self.layout.matching(self.head)  # names the nearest one, or is a tensor
            raise InputError(
                f"head '{self.head}' is a tensor: it must be the module that gives the logits"
            )
        if self.classes is None and self.head is not None and self.criterion is cross_entropy:
            object.__setattr__(self, "classes", _width(self.model.get_submodule(self.head)))

    @cached_property
    def layout(self) -> Layout:
        """The trainable tensors as a vector."""
        head = () if self.head is None else (self.head,)
        if isinstance(self.model, Headed) and self.head == _last_linear(self.model):
            head = (self.model.whole_head,)
        return Layout.of(self.model, head, channels_last=self.channels_last)

    def initial(self) -> Vector:
        """Return the module's present weights."""
        return self.layout.pack(dict(self.model.named_parameters())).detach().clone()

    def buffers(self) -> Buffers:
        """Return the module's present buffers."""
        return {name: buffer.detach().clone() for name, buffer in self.model.named_buffers()}

    def placed(
        self,
        device: torch.device,
        dtype: torch.dtype,
        *,
        frozen_statistics: bool = False,
        bfloat16: bool = False,
    ) -> Task:
        """Return this task on a copy of its module: what a run works with, and nobody else."""
        model = copy.deepcopy(self.model).to(device=device, dtype=dtype)
        return replace(self, model=model, frozen_statistics=frozen_statistics, bfloat16=bfloat16)

    def forward(
        self,
        params: Vector,
        buffers: Buffers,
        x: Tensor,
        *,
        training: bool = True,
        noise: Sequence[Tensor] = (),
    ) -> tuple[Output, Buffers]:
        """Run the network with these weights; buffers go in and come back changed."""
        after = {name: buffer.clone() for name, buffer in buffers.items()}
        with TakenOver(noise):
            output = self._run(params, after, x, training)
        return output, after

    def _run(self, params: Vector, buffers: Buffers, x: Tensor, training: bool) -> Output:
        model = self._training if training else self._evaluating
        seen: list[Tensor] = []
        tap = (
            model.get_submodule(self.head).register_forward_pre_hook(lambda _, a: seen.append(a[0]))
            if self.head is not None
            else None
        )
        try:
            with self._arithmetic(x.device.type):
                logits = functional_call(model, {**self.layout.open(params), **buffers}, (x,))
        finally:
            if tap:
                tap.remove()
        logits = logits.to(params.dtype)
        return Output(logits, seen[-1].to(params.dtype) if seen else logits)

    @contextmanager
    def _arithmetic(self, device: str) -> Iterator[None]:
        """Compute in bfloat16 where that was asked for."""
        if not self.bfloat16:
            yield
            return
        with torch.autocast(device, torch.bfloat16, cache_enabled=False), _WideNorms():
            yield

    @cached_property
    def _training(self) -> nn.Module:
        model = _twin(self.model).train()
        for module in model.modules():
            if (
                self.frozen_statistics
                and isinstance(module, _NormBase)
                and module.track_running_stats
            ):
                module.eval()
        return model

    @cached_property
    def _evaluating(self) -> nn.Module:
        return _twin(self.model).eval()

    def noise_shapes(
        self, params: Vector, buffers: Buffers, x: Tensor
    ) -> tuple[tuple[int, ...], ...]:
        """Return the shapes of the random numbers that a training pass over ``x`` takes."""
        recorder, held = TakenOver(), {name: b.clone() for name, b in buffers.items()}
        with torch.no_grad(), Refusing(), recorder:  # type: ignore[no-untyped-call]
            self._run(params, held, x, True)
        return tuple(recorder.shapes)

    def rows_meet(self, x: Tensor, noise: Sequence[Tensor]) -> bool:
        """Say whether one sample changes what a training pass says about the others.

        Such a network (BatchNorm, say) must not see padding. It is tried out with random weights,
        since those of a fresh head may be zero.
        """
        if any(_uses_batch(module) for module in self._training.modules()):
            return True
        rng = np.random.default_rng(0)

        def drawn(shape: Sequence[int]) -> Tensor:
            return torch.from_numpy(rng.normal(0, 1, shape)).to(self.initial())

        params = 0.3 * drawn((self.layout.size,))
        rows = drawn(x.shape) if x.is_floating_point() else x
        last = drawn(x[-1:].shape) if x.is_floating_point() else x.max() - x[-1:]
        with torch.no_grad():
            said, otherwise = (
                self.forward(params, self.buffers(), batch, noise=noise)
                for batch in (rows, torch.cat([rows[:-1], last]))
            )
        pairs = [(said[0].logits[:-1], otherwise[0].logits[:-1])]
        pairs += [(said[1][name], otherwise[1][name]) for name in said[1]]
        return not all(torch.allclose(a, b, rtol=1e-6, atol=1e-9) for a, b in pairs)

    def losses(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Return the criterion of every sample, ``(B,)``."""
        return per_sample(self.criterion(outputs, y), len(y), "criterion")


def _uses_batch(module: nn.Module) -> bool:
    """Say whether a module takes statistics from the batch, as InstanceNorm does not."""
    return isinstance(module, _BatchNorm) and (module.training or module.running_mean is None)


def per_sample(values: Tensor, rows: int, what: str) -> Tensor:
    """Bring the values of a batch to shape ``(B,)``: the mean over what a sample has of its own."""
    if values.dim() == 0 or values.shape[0] != rows:
        raise InputError(
            f"the {what} returned shape {tuple(values.shape)} for {rows} samples: it must return a "
            'value for each (with reduction="none"), so that short batches and weights are exact'
        )
    return values.flatten(1).mean(1) if values.dim() > 1 else values


class _WideNorms(TorchFunctionMode):
    """Take BatchNorm's statistics in float32, where autocast would take them in bfloat16."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Widen the input, and narrow the result."""
        if func is not F.batch_norm:
            return func(*args, **(kwargs or {}))
        x, *rest = args
        with torch.autocast(x.device.type, enabled=False):
            return func(x.float(), *rest, **(kwargs or {})).to(x.dtype)


def _twin(model: nn.Module) -> nn.Module:
    """Copy a module's structure and share its tensors, so that its mode can be set apart."""
    shared = {id(t): t for t in (*model.parameters(), *model.buffers())}
    return copy.deepcopy(model, shared)


def _last_linear(model: nn.Module) -> str | None:
    names = [name for name, module in model.named_modules() if isinstance(module, nn.Linear)]
    return names[-1] if names else None


def _width(head: nn.Module) -> int | None:
    if isinstance(head, nn.Linear):
        return head.out_features
    linears = [m for m in head.modules() if isinstance(m, nn.Linear)]
    return linears[-1].out_features if linears else None
