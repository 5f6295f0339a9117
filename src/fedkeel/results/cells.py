"""A comparison as cells of text, which terminal and page set in their own ways."""

from __future__ import annotations

from typing import NamedTuple

from . import words
from .tables import Comparison, Row

_TITLES = {"final": "final accuracy", "last": "last accuracy", "best": "best accuracy"}


class Cells(NamedTuple):
    """One row: method, what differs, seeds, mean ± std, paired difference, p."""

    method: str
    varying: tuple[str, ...]
    n: str
    mean: str
    difference: str
    p: str


def header(comparison: Comparison) -> Cells:
    """Return the titles of the columns."""
    first = comparison.rows[0].group.varying
    against = f"vs {comparison.baseline}" if comparison.baseline else ""
    return Cells("method", tuple(map(short, first)), "n", metric(comparison), against, "p")


def body(comparison: Comparison) -> list[Cells]:
    """Return the cells of each row."""
    return [_cells(row, comparison) for row in comparison.rows]


def metric(comparison: Comparison) -> str:
    """Name the metric and its unit."""
    if not comparison.share:
        return comparison.metric
    return _TITLES.get(comparison.metric, comparison.metric) + ", %"


def columns(comparison: Comparison) -> list[tuple[str, ...]]:
    """Lay the cells out as rows of text, the header first; without a baseline no test."""
    rows = [header(comparison), *body(comparison)]
    tested = any(row.paired for row in comparison.rows)
    tail = [(row.difference, row.p) if tested else () for row in rows]
    head = [(row.method, *row.varying, row.n, row.mean) for row in rows]
    return [(*left, *right) for left, right in zip(head, tail, strict=True)]


def short(key: str) -> str:
    """Drop the table's name from a key.

    >>> short("data.alpha"), short("data.seed"), short("rounds")
    ('alpha', 'data.seed', 'rounds')
    """
    last = key.rpartition(".")[2]
    return key if last in ("seed", "name", "server") else last


def scale(comparison: Comparison) -> tuple[float, int]:
    """Return what values are multiplied by to be shown, and their digits after the point."""
    if comparison.share:
        return 100.0, 1
    shown = [value for row in comparison.rows for value in row.values.values()]
    return 1.0, words.digits_for(shown)


def _cells(row: Row, comparison: Comparison) -> Cells:
    factor, digits = scale(comparison)
    std = None if row.std is None else row.std * factor
    mean = words.spread(row.mean * factor, std, digits)
    varying = tuple(words.plain(value) for value in row.group.varying.values())
    difference, p = _paired(row, factor, digits)
    return Cells(row.group.method, varying, str(len(row.values)), mean, difference, p)


def _paired(row: Row, factor: float, digits: int) -> tuple[str, str]:
    if row.baseline:
        return "baseline", ""
    if row.paired is None:
        return words.NONE, words.NONE
    difference = words.signed(row.paired.difference * factor, digits)
    std = words.number(row.paired.std * factor, digits)
    return f"{difference} ± {std}", words.p_value(row.paired.p)
