"""A network seen as a vector, and the vector opened again as a network."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd, _ConvTransposeNd

from .errors import unknown

Vector = Tensor  # (D,): a model, or anything shaped like one; all that flows is to be subtracted


class Slot(NamedTuple):
    """One trainable tensor: where it stands in the network and what it is."""

    name: str
    shape: tuple[int, ...]
    module: str  # dotted path of the module that owns it
    kind: str  # "conv" | "transposed" | "embedding" | "other"
    groups: int = 1

    @property
    def size(self) -> int:
        """Number of weights."""
        return prod(self.shape)


@dataclass(frozen=True)
class Layout:
    """The trainable tensors of a network, in order.

    Algorithms work on flat vectors of shape ``(D,)``; only a layout knows where one layer ends
    and the next begins. Frozen parameters are not in the vector.

    >>> layout = Layout.of(nn.Linear(2, 1))
    >>> layout.names, layout.size
    (('weight', 'bias'), 3)
    """

    slots: tuple[Slot, ...]
    head: tuple[str, ...] = ()  # names of the modules that give the logits
    # Convolution weights lie in the vector as (out, h, w, in), so that their view is channels-last.
    channels_last: bool = False

    @classmethod
    def of(
        cls, model: nn.Module, head: tuple[str, ...] = (), *, channels_last: bool = False
    ) -> Layout:
        """Read the layout of a module's trainable parameters."""
        slots = [
            _slot(model, name, parameter)
            for name, parameter in model.named_parameters()
            if parameter.requires_grad
        ]
        return cls(tuple(slots), head, channels_last)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The tensors' dotted names."""
        return tuple(slot.name for slot in self.slots)

    @cached_property
    def size(self) -> int:
        """Number of weights of the whole vector, D."""
        return sum(slot.size for slot in self.slots)

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """Paths of the modules that own trainable tensors directly, in order."""
        return tuple(dict.fromkeys(slot.module for slot in self.slots))

    def matching(self, name: str) -> tuple[str, ...]:
        """Return the tensors of a module, or the one tensor, of this dotted name.

        Whole path components count: ``fc1`` is not ``fc10``.
        """
        if name == "":  # the whole network, where it is its own head
            return self.names
        found = tuple(n for n in self.names if n == name or n.startswith(f"{name}."))
        if not found:
            raise unknown("module or tensor", name, (*filter(None, self.modules), *self.names))
        return found

    def pack(self, tensors: Mapping[str, Tensor]) -> Vector:
        """Lay named tensors end to end."""
        return torch.cat([self._flat(slot, tensors[slot.name]) for slot in self.slots])

    def open(self, vector: Vector) -> dict[str, Tensor]:
        """Show a vector as named tensors: views, not copies."""
        pieces = vector.split([slot.size for slot in self.slots])
        return {s.name: self._shaped(s, piece) for s, piece in zip(self.slots, pieces, strict=True)}

    def map(
        self, fn: Callable[[Slot, Tensor], Tensor], vector: Vector, only: Collection[str]
    ) -> Vector:
        """Apply ``fn`` to the tensors named in ``only`` and leave the others."""
        opened = self.open(vector)
        return self.pack(
            {
                s.name: fn(s, opened[s.name]) if s.name in only else opened[s.name]
                for s in self.slots
            }
        )

    def _turned(self, slot: Slot) -> bool:
        return self.channels_last and slot.kind == "conv" and len(slot.shape) == 4

    def _flat(self, slot: Slot, tensor: Tensor) -> Vector:
        return (tensor.permute(0, 2, 3, 1) if self._turned(slot) else tensor).reshape(-1)

    def _shaped(self, slot: Slot, piece: Vector) -> Tensor:
        if not self._turned(slot):
            return piece.view(slot.shape)
        out, inner, height, width = slot.shape
        return piece.view(out, height, width, inner).permute(0, 3, 1, 2)


def _slot(model: nn.Module, name: str, parameter: Tensor) -> Slot:
    path = name.rpartition(".")[0]
    module = model.get_submodule(path)
    groups = module.groups if isinstance(module, _ConvNd) else 1
    return Slot(name, tuple(parameter.shape), path, _kind(module), groups)


def _kind(module: nn.Module) -> str:
    if isinstance(module, _ConvTransposeNd):
        return "transposed"
    if isinstance(module, _ConvNd):
        return "conv"
    return "embedding" if isinstance(module, nn.Embedding | nn.EmbeddingBag) else "other"
