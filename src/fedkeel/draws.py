"""Random numbers inside a network (dropout and its kin), taken over from the global generator.

While a network runs in training, every random operation takes the next of the uniform numbers that
were drawn for this client and step. So masks have an address, engines agree, and no generator of
the process is read or advanced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from types import FunctionType
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from .errors import InputError

Draw = Callable[
    [Sequence[int], Tensor | None], Tensor
]  # a shape, and a tensor for dtype and device


class TakenOver(TorchFunctionMode):
    """Answer each random operation from ``noise``, one tensor of uniform numbers a call.

    With ``noise`` absent it records the shapes that are asked for, which says what to draw.
    """

    def __init__(self, noise: Sequence[Tensor] | None = None) -> None:
        """Hold the numbers to hand out."""
        super().__init__()
        self.noise = noise
        self.shapes: list[tuple[int, ...]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Replace a random operation, pass any other through."""
        handler = _HANDLERS.get(func)
        if handler:
            return handler(self._draw, *args, **(kwargs or {}))
        if func in _COMPOSITE:  # a mode is off inside the function that it intercepts
            with self:
                return _COMPOSITE[func](*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))

    def _draw(self, shape: Sequence[int], like: Tensor | None) -> Tensor:
        self.shapes.append(tuple(shape))
        if self.noise is None:
            return torch.full(tuple(shape), 0.5, device=like.device if like is not None else None)
        if len(self.shapes) > len(self.noise):
            raise InputError(
                "the model draws random numbers where none were foreseen: in evaluation mode, or "
                "more in one step than in another; it must draw in training alone, and always alike"
            )
        return self.noise[len(self.shapes) - 1]


class Refusing(TorchDispatchMode):
    """Raise on a random operation that was not taken over, by its name."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Look at the operation's tag."""
        if is_random(func) and not idle(func, args):
            raise InputError(
                f"the model draws random numbers with '{func}', which cannot be given an address: "
                "use dropout layers, torch.bernoulli, rand_like or randn_like, which can"
            )
        return func(*args, **(kwargs or {}))


def is_random(operation: Any) -> bool:
    """Say whether an operation of a graph draws from a generator."""
    return torch.Tag.nondeterministic_seeded in getattr(operation, "tags", ())


def idle(func: Any, args: Any) -> bool:
    """Recurrent and attention kernels carry the tag even where their dropout is zero."""
    taken = func._schema.arguments
    named = {a.name: a.default_value for a in taken if a.has_default_value()}
    named |= {a.name: v for a, v in zip(taken, args, strict=False)}
    return bool(named.get("dropout_p", named.get("dropout", named.get("p", 1.0))) == 0.0)


def _dropout(
    draw: Draw, x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    return _masked(draw, x, x.shape, p) if training else x


def _spatial(
    draw: Draw, x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Drop whole channels: ``(N, C, ...)``."""
    return _masked(draw, x, [*x.shape[:2], *[1] * (x.dim() - 2)], p) if training else x


def _masked(draw: Draw, x: Tensor, shape: Sequence[int], p: float) -> Tensor:
    if p == 0:
        return x
    keep = (draw(shape, x) >= p).to(x.dtype)
    return x * keep * (1 / (1 - p) if p < 1 else 0.0)


def _alpha(
    draw: Draw, x: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Keep mean and variance of a self-normalising network (Klambauer et al., 2017)."""
    if not training or p == 0:
        return x
    low = -1.7580993408473766
    scale = 1 / sqrt((1 - p) * (1 + p * low**2)) if p < 1 else 0.0
    keep = draw(x.shape, x) >= p
    return torch.where(keep, x, torch.full_like(x, low)) * scale - scale * p * low


def _bernoulli(draw: Draw, x: Tensor, p: Tensor | float | None = None, **_: Any) -> Tensor:
    chance = x if p is None else p
    return (draw(x.shape, x) < chance).to(x.dtype)


def _bernoulli_(draw: Draw, x: Tensor, p: Tensor | float = 0.5, **_: Any) -> Tensor:
    mask = (draw(x.shape, x) < p).to(x.dtype)
    try:
        return x.copy_(mask)
    except RuntimeError:  # vmap: a tensor made inside the network is one, the masks are many
        x.fill_(torch.nan)  # whoever reads x, and not what is returned, shall notice
        return mask


def _rand_like(draw: Draw, x: Tensor, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return draw(x.shape, x).to(dtype or x.dtype)


def _randn_like(draw: Draw, x: Tensor, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return _normal(draw(x.shape, x)).to(dtype or x.dtype)


def _rand(draw: Draw, *size: Any, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return draw(_shape(size), None).to(dtype or torch.get_default_dtype())


def _randn(draw: Draw, *size: Any, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return _normal(draw(_shape(size), None)).to(dtype or torch.get_default_dtype())


def _shape(size: tuple[Any, ...]) -> Sequence[int]:
    return size[0] if len(size) == 1 and not isinstance(size[0], int) else size


def _normal(uniform: Tensor) -> Tensor:
    """Turn uniform numbers normal; in float64, and half a step in, so that none is at an end."""
    exact = uniform.double() + 2.0**-25
    return (sqrt(2) * torch.erfinv(2 * exact - 1)).to(uniform.dtype)


def _attention(
    draw: Draw,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Write attention out, since its kernels draw their own masks."""
    if dropout_p == 0:
        return F.scaled_dot_product_attention(
            query, key, value, attn_mask, 0.0, is_causal, scale=scale, enable_gqa=enable_gqa
        )
    if enable_gqa:
        share = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(share, -3), value.repeat_interleave(share, -3)
    score = query @ key.transpose(-2, -1) * (scale or query.shape[-1] ** -0.5)
    if is_causal:
        past = torch.ones(score.shape[-2:], dtype=torch.bool, device=score.device).tril()
        score = score.masked_fill(~past, -torch.inf)
    if attn_mask is not None:
        hidden = attn_mask.dtype == torch.bool
        score = score.masked_fill(~attn_mask, -torch.inf) if hidden else score + attn_mask
    weight = score.softmax(-1)
    return _masked(draw, weight, weight.shape, dropout_p) @ value


_HANDLERS: dict[Any, Callable[..., Tensor]] = {
    F.dropout: _dropout,
    torch.dropout: lambda draw, x, p, train: _dropout(draw, x, p, train),
    F.dropout1d: _spatial,
    F.dropout2d: _spatial,
    F.dropout3d: _spatial,
    F.alpha_dropout: _alpha,
    torch.bernoulli: _bernoulli,
    Tensor.bernoulli: _bernoulli,
    Tensor.bernoulli_: _bernoulli_,
    torch.rand_like: _rand_like,
    torch.randn_like: _randn_like,
    torch.rand: _rand,
    torch.randn: _randn,
    F.scaled_dot_product_attention: _attention,
}


def _transparent(function: Any) -> FunctionType:
    """Copy a composite function without its own check for modes, so that one stays on inside it."""
    names = {**function.__globals__, "has_torch_function": lambda _: False}
    copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


_COMPOSITE: dict[Any, Callable[..., Any]] = {
    F.multi_head_attention_forward: _transparent(F.multi_head_attention_forward)
}
