"""From numbers to places: scales, and the round numbers that are written beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Scale(NamedTuple):
    """A straight map from values to places."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        """Return the place of a value."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.stop - self.start)


def step_for(span: float, count: int) -> float:
    """Return the step of 1, 2 or 5 times a power of ten that cuts a span into about ``count``.

    >>> step_for(38.0, 5), step_for(0.07, 4)
    (10.0, 0.02)
    """
    rough = span / max(count, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if rough <= step * power * 1.0001)


def ticks(low: float, high: float, count: int) -> list[float]:
    """Return the round numbers from ``low`` to ``high``.

    >>> ticks(0, 40, 4)
    [0.0, 10.0, 20.0, 30.0, 40.0]
    """
    step = step_for(high - low, count)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def limits(values: Sequence[float], count: int) -> tuple[float, float]:
    """Return round limits that hold all values; from zero where zero is near.

    >>> limits([3.0, 47.0], 5), limits([91.2, 94.8], 4)
    ((0.0, 50.0), (91.0, 95.0))
    """
    low, high = min(values), max(values)
    low = 0.0 if 0 <= low <= 0.4 * high else low
    low, high = (low - 0.5, high + 0.5) if high == low else (low, high)
    step = step_for(high - low, count)
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move labels apart until none is nearer than ``gap``, in their order, within limits.

    >>> spread([10.0, 11.0, 40.0], 5.0, 0.0, 50.0)
    [8.0, 13.0, 40.0]
    """
    order = sorted(range(len(places)), key=places.__getitem__)
    clusters: list[list[float]] = []  # of [sum of wished first places, how many]
    for rank in order:
        clusters.append([places[rank], 1.0])
        while len(clusters) > 1 and _touch(clusters[-2], clusters[-1], gap):
            total, count = clusters.pop()
            clusters[-1][0] += total - clusters[-1][1] * count * gap
            clusters[-1][1] += count
    found = [0.0] * len(places)
    for rank, place in zip(order, _laid(clusters, gap, low, high), strict=True):
        found[rank] = place
    return found


def _touch(one: Sequence[float], two: Sequence[float], gap: float) -> bool:
    return two[0] / two[1] < one[0] / one[1] + one[1] * gap


def _laid(clusters: Sequence[Sequence[float]], gap: float, low: float, high: float) -> list[float]:
    wished = [
        max(low, total / count) + number * gap
        for total, count in clusters
        for number in range(round(count))
    ]
    for rank in range(1, len(wished)):
        wished[rank] = max(wished[rank], wished[rank - 1] + gap)
    ceilings = [high - rank * gap for rank in reversed(range(len(wished)))]
    return [min(place, ceiling) for place, ceiling in zip(wished, ceilings, strict=True)]
