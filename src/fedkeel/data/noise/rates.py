"""Rates of noise: one for all clients, one a client, or drawn for each client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, number, require
from ...numerics.random import words
from ..federation import Rate

Reals = NDArray[np.float64]

_DRAW = 1  # the first integer of the address of a client's rate


def rates(name: str, rate: Rate, clients: int, seed: int, purpose: str) -> Reals:
    """Return the rate of each client, ``(clients,)``.

    Args:
        name: What to call the rate in an error.
        rate: A number in [0, 1], a list of one a client, or ``{"low": a, "high": b}``.
        clients: How many clients there are.
        seed: Draws from a range.
        purpose: Of the draw.
    """
    if isinstance(rate, Mapping):
        low, high = _bounds(name, rate)
        drawn: Reals = low + (high - low) * _uniform(clients, seed, purpose)
        return drawn
    if isinstance(rate, list | tuple | np.ndarray):
        if len(rate) != clients:
            raise InputError(
                f"{name} has {len(rate)} rates and there are {clients} clients: give one number, "
                f"or a list of {clients}"
            )
        for k, value in enumerate(rate):
            _unit(f"{name}[{k}]", value)
    else:
        _unit(name, rate, 'a rate in [0, 1], a list of one a client, or {"low": a, "high": b}')
    return np.full(clients, rate, dtype=np.float64)


def count(rate: float, size: int) -> int:
    """Return how many of ``size`` samples a rate is: the whole part of their product.

    >>> count(0.4, 9)
    3
    """
    return int(float(rate) * size)


def plain(rate: Rate) -> Any:
    """Return a rate as a recipe says it: a number, a list or a table."""
    if isinstance(rate, Mapping):
        return {end: float(rate[end]) for end in ("low", "high")}
    return np.asarray(rate, dtype=np.float64).tolist()


def _uniform(clients: int, seed: int, purpose: str) -> Reals:
    """Return ``generator(seed, purpose, 1, k).random()`` of every client k, at once."""
    index = np.arange(clients)
    draws = words(seed, purpose, _DRAW, index, np.zeros_like(index), 1)[:, 0]
    return np.ldexp((draws >> np.uint64(11)).astype(np.float64), -53)


def _bounds(name: str, rate: Mapping[str, float]) -> tuple[float, float]:
    fits = set(rate) == {"low", "high"}
    require(fits, name, rate, 'a range of the form {"low": a, "high": b}')
    low, high = rate["low"], rate["high"]
    _unit(f"{name}.low", low)
    _unit(f"{name}.high", high)
    require(low <= high, name, rate, "a range whose low is not above its high")
    return float(low), float(high)


def _unit(name: str, rate: object, allowed: str = "a rate in [0, 1]") -> None:
    number(name, rate, allowed, lambda share: 0 <= share <= 1)
