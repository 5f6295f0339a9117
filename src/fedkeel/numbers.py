"""The numbers of a method, taken out and put back.

A traced step must not have a strength or a learning rate baked in: every field that is annotated
``float`` enters as a tensor, so that one graph serves a whole grid of values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import Field, fields, is_dataclass
from typing import Any

from torch import Tensor

Number = float | Tensor


def numbers(value: Any) -> tuple[float, ...]:
    """Return every number of a tree of dataclasses and tuples, in order.

    >>> from fedkeel.methods.fedprox import FedProx
    >>> numbers((FedProx(mu=0.5), FedProx(mu=2)))
    (0.5, 2.0)
    """
    if isinstance(value, tuple):
        return tuple(n for item in value for n in numbers(item))
    if not is_dataclass(value):
        return ()
    return tuple(n for field in fields(value) for n in _of(field, getattr(value, field.name)))


def renumbered(value: Any, given: Sequence[Number]) -> Any:
    """Return the same tree with other numbers, which may be tensors."""
    return _filled(value, iter(given))


def _of(field: Field[Any], value: Any) -> tuple[float, ...]:
    return (float(value),) if field.type in (float, "float") else numbers(value)


def _filled(value: Any, given: Iterator[Number]) -> Any:
    if isinstance(value, tuple):
        return tuple(_filled(item, given) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    fresh = copy(value)  # not through the constructor, whose checks are for floats and have passed
    for field in fields(value):
        held = getattr(value, field.name)
        number = field.type in (float, "float")
        object.__setattr__(fresh, field.name, next(given) if number else _filled(held, given))
    return fresh
