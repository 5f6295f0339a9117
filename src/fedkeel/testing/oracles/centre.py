"""The centralisation operator P: subtract from each output unit's fan-in its mean.

Yong et al. 2020, "Gradient Centralization", and GC-Fed (arXiv 2503.13180) read for PyTorch's
storage of each layer. For a tensor G with output axis o and m fan-in entries for each output,
(P G)[o, :] = G[o, :] - mean(G[o, :]).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor, nn

from .plain import one_of

CONV_TRANSPOSE = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
EMBEDDING = (nn.Embedding, nn.EmbeddingBag)
AXES = {"fan_in": (1, 2, 3), "23": (2, 3), "1": (1,), "2": (2,), "0": (0,)}
VOCABULARY = {"none": (), "vocab": (0,), "feature": (1,)}


class Centring(NamedTuple):
    """What P touches: 1-D tensors or not, how embeddings, and which axes of a 2-D convolution."""

    center_1d: bool = False
    embedding: str = "none"
    axes: str = "fan_in"


class FanIn(NamedTuple):
    """A tensor seen as `shape`, in which `dims` are averaged."""

    shape: tuple[int, ...]
    dims: tuple[int, ...]


def averaged(owner: nn.Module, shape: Sequence[int], how: Centring) -> FanIn:
    """The axes that P averages for a tensor of this shape in this layer; none: not centred."""
    one_of("embedding", how.embedding, tuple(VOCABULARY))
    one_of("axes", how.axes, tuple(AXES))
    shape = tuple(shape)
    if len(shape) == 1:
        return FanIn(shape, (0,) if how.center_1d else ())
    if isinstance(owner, CONV_TRANSPOSE):  # stored [in, out/g, k..], the inputs group by group
        g = owner.groups
        grouped = (g, shape[0] // g, *shape[1:])
        return FanIn(grouped, (1, *range(3, len(grouped))))
    if isinstance(owner, EMBEDDING):
        return FanIn(shape, VOCABULARY[how.embedding])
    if isinstance(owner, nn.Conv2d):
        return FanIn(shape, AXES[how.axes])
    return FanIn(shape, tuple(range(1, len(shape))))


def fan_in(model: nn.Module, name: str, how: Centring) -> FanIn | None:
    """How P sees the named parameter, or None when P leaves it alone.

    A mean over m = 1 entries is the entry itself: P would freeze the parameter, so it is skipped.
    """
    owner = model.get_submodule(name.rpartition(".")[0])
    seen = averaged(owner, model.get_parameter(name).shape, how)
    m = math.prod(seen.shape[dim] for dim in seen.dims)
    return None if m == 1 else seen


def centre(model: nn.Module, name: str, g: Tensor, how: Centring) -> Tensor:
    """P g for the gradient or the update of the named parameter of the model."""
    seen = fan_in(model, name, how)
    if seen is None:
        return g
    rows = g.reshape(seen.shape)
    return (rows - rows.mean(dim=seen.dims, keepdim=True)).reshape(g.shape)
