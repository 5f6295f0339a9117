"""Gradient centralisation: from the weights of every output unit, subtract their mean.

Yong et al. (ECCV 2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, prod

from torch import Tensor

from ..errors import InputError, require, unknown
from ..layout import Layout, Slot, Vector
from ..part import Part, Point, State
from ..printing import shown
from .base import AtClient, AtServer, Transform

AXES = {"fan_in": None, "23": (2, 3), "1": (1,), "2": (2,), "0": (0,)}  # "2": one kernel axis alone
EMBEDDING = {"none": None, "vocab": 0, "feature": 1}
SCOPES = ("row", "tensor", "vector")


@dataclass(frozen=True, repr=False)
class Head:
    """The tensors that stay raw at the clients: by name, or all after a share of the network.

    With nothing given, the task's own head.
    """

    names: tuple[str, ...] = ()
    tensors: float | None = None  # the first floor(tensors * T) tensors are local
    modules: float | None = None  # the first floor(modules * M) modules that own tensors are local

    def __post_init__(self) -> None:
        """Check the shares, and that one rule is given at most."""
        given = [
            n
            for n, v in (("head", self.names), ("tensors", self.tensors), ("modules", self.modules))
            if v not in ((), None)
        ]
        if len(given) > 1:
            raise InputError(
                f"{' and '.join(given)} were given: at most one of head, tensors and modules says "
                "where the head begins"
            )
        for name, share in (("tensors", self.tensors), ("modules", self.modules)):
            if share is not None:
                require(0 <= share <= 1, name, share, "a share between 0 and 1")

    def __repr__(self) -> str:
        """Print what is not as usual."""
        return shown(self)

    def of(self, layout: Layout) -> tuple[str, ...]:
        """Return the names of the head's tensors."""
        if self.tensors is not None:
            return layout.names[_floor(self.tensors, len(layout.names)) :]
        if self.modules is not None:
            late = layout.modules[_floor(self.modules, len(layout.modules)) :]
            return tuple(slot.name for slot in layout.slots if slot.module in late)
        names = self.names or layout.head
        if not names:
            raise InputError(
                "this model has no Linear layer to take for its head: name the module that gives "
                "the logits with head=NAME"
            )
        found = {tensor for name in names for tensor in layout.matching(name)}
        return tuple(name for name in layout.names if name in found)


@dataclass(frozen=True, repr=False)
class Centralise(Transform):
    """Give every row of every weight matrix a mean of zero: ``P g``.

    P is linear, symmetric and idempotent; it commutes with momentum and with averaging over
    clients, not with clipping, coupled weight decay or Adam's division.
    """

    but: Head | None = None  # leave these tensors
    only: Head | None = None  # take these tensors alone
    center_1d: bool = False  # biases and norms too, as GC-Fed's code does
    embedding: str = "none"  # an embedding (V, E) over its vocabulary, its features, or not at all
    axes: str = "fan_in"  # the dims averaged in a convolution, as in GC-Fed's Table 8
    scope: str = "row"  # one mean a row, one a tensor, or one for all

    def __post_init__(self) -> None:
        """Check the words."""
        for what, value, allowed in (
            ("axes", self.axes, AXES),
            ("embedding", self.embedding, EMBEDDING),
            ("scope", self.scope, SCOPES),
        ):
            if value not in allowed:
                raise unknown(what, str(value), allowed)

    def names(self, layout: Layout) -> tuple[str, ...]:
        """Return the tensors that are centred on this layout."""
        within = set(self.only.of(layout) if self.only else layout.names)
        without = set(self.but.of(layout) if self.but else ())
        return tuple(s.name for s in layout.slots if s.name in within - without and self._fold(s))

    def update(self, grad: Vector, state: State, point: Point) -> tuple[Vector, State]:
        """Subtract the means."""
        layout = point.layout
        names = self.names(layout)
        if not names:
            return grad, state
        if self.scope == "row":
            return layout.map(self._centred, grad, names), state
        if self.scope == "tensor":
            return layout.map(lambda _, tensor: tensor - tensor.mean(), grad, names), state
        opened = layout.open(grad)
        total = sum((opened[name].sum() for name in names), grad.new_zeros(()))
        mean = total / sum(opened[name].numel() for name in names)
        return layout.map(lambda _, tensor: tensor - mean, grad, names), state

    def _centred(self, slot: Slot, tensor: Tensor) -> Tensor:
        fold = self._fold(slot)
        if fold is None:
            return tensor
        shape, dims = fold
        view = tensor if shape == slot.shape else tensor.reshape(shape)
        return (view - view.mean(dims, keepdim=True)).reshape(slot.shape)

    def _fold(self, slot: Slot) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Return the shape to see a tensor in and the dims of its mean; None if it stays as it is.

        A mean over one element would freeze the weight, so such tensors are left alone.
        """
        shape, dims = _axes(slot, self)
        return (shape, dims) if prod(shape[d] for d in dims) > 1 else None


def _axes(slot: Slot, how: Centralise) -> tuple[tuple[int, ...], tuple[int, ...]]:
    shape = slot.shape
    if len(shape) < 2:
        return shape, (0,) if shape and how.center_1d else ()
    if slot.kind == "embedding":
        dim = EMBEDDING[how.embedding]
        return shape, () if dim is None else (dim,)
    if slot.kind == "transposed":  # stored (in, out / g, ...): the inputs of a group come first
        inner, outer, *kernel = shape
        view = (slot.groups, inner // slot.groups, outer, *kernel)
        return view, (1, *range(3, len(view)))
    if slot.kind == "conv" and len(shape) == 4:
        return shape, AXES[how.axes] or (1, 2, 3)
    return shape, tuple(range(1, len(shape)))


def centred(part: Part, layout: Layout) -> dict[str, tuple[str, ...]]:
    """Return the tensors that a method centres at the clients and at the server."""
    ends: dict[str, tuple[str, ...]] = {}
    for one in getattr(part, "parts", (part,)):
        if isinstance(one, AtClient | AtServer) and isinstance(one.transform, Centralise):
            end = "client" if isinstance(one, AtClient) else "server"
            ends[end] = tuple(dict.fromkeys((*ends.get(end, ()), *one.transform.names(layout))))
    return ends


def _floor(share: float, count: int) -> int:
    return floor(round(share * count, 9))  # .58 * 100 is 57.99999999999999 in floating point
