"""What a curve is made of: a mean over seeds, and how far they lie apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import scales, statistics
from .folders import RunFolder

COLORS = 8
"""How many colours there are: 0 is the baseline's grey, the others are told apart by all eyes."""

POINTS = 400
"""How many points of a line can be told apart."""


@dataclass(frozen=True)
class Series:
    """One line: what a method reached in each round, over its seeds.

    Attributes:
        name: What stands beside the line.
        rounds: The rounds that every seed has.
        mean: The mean over seeds in each of them.
        low: The smallest over seeds.
        high: The largest over seeds.
        seeds: How many seeds there are.
        color: The number of its colour; from ``COLORS`` on the line is dashed.
    """

    name: str
    rounds: tuple[int, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    seeds: int = 1
    color: int = 1


def of_runs(
    name: str, runs: Sequence[RunFolder], *, color: int = 1, factor: float = 100.0
) -> Series:
    """Summarise the accuracy of runs that differ in their seed alone, over the rounds all have."""
    traces = [run.trace() for run in runs]
    rounds = sorted(set.intersection(*map(set, traces))) if traces else []
    columns = [[factor * trace[number] for trace in traces] for number in rounds]
    return Series(
        name,
        tuple(rounds),
        tuple(map(statistics.mean, columns)),
        tuple(map(min, columns)),
        tuple(map(max, columns)),
        len(runs),
        color,
    )


def domain(series: Sequence[Series]) -> tuple[float, float]:
    """Return limits of the vertical axis that suit all series."""
    return scales.limits([v for one in series for v in (*one.low, *one.high)] or [0.0, 1.0], 5)


def thinned(series: Series) -> Series:
    """Average neighbouring rounds where there are more than can be told apart."""
    size = -(-len(series.rounds) // POINTS)
    if size <= 1:
        return series
    pieces = range(0, len(series.rounds), size)
    rounds = tuple(series.rounds[piece : piece + size][-1] for piece in pieces)
    mean, low, high = (
        tuple(sum(v[p : p + size]) / len(v[p : p + size]) for p in pieces)
        for v in (series.mean, series.low, series.high)
    )
    return Series(series.name, rounds, mean, low, high, series.seeds, series.color)
