"""How labels lie across clients: a dot per client and class, its area the number of samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from . import scales, svg, words

_TOP = 74.0
_ROWS = 110
_TALL = 680.0
_LONGEST = 12


class Grid(NamedTuple):
    """The picture's columns and rows, and how large they are drawn.

    Attributes:
        clients: Which client each column is.
        counts: Samples, columns x rows.
        names: What stands beside each row.
        left: Where the first column begins.
        dx: The width of a column.
        dy: The height of a row.
    """

    clients: np.ndarray
    counts: np.ndarray
    names: tuple[str, ...]
    left: float
    dx: float
    dy: float


def label_picture(
    counts: np.ndarray,
    labels: Sequence[str] = (),
    *,
    width: float = 960.0,
    noun: str = "sample",
) -> str:
    """Draw which client holds how many samples of which class, as SVG.

    Clients stand in the order of their most frequent class, the purest first, those without
    samples last, with a bar for the size of each. Where there are more clients than fit, evenly
    spaced ones of this order are shown and the caption says so; more than 110 classes are drawn
    as sums of neighbours.

    Args:
        counts: Samples per client and class, clients x classes.
        labels: Names of the classes; numbers when there are none.
        width: The width for which type is set.
        noun: What is counted.
    """
    counts = np.asarray(counts)
    grid = _grid(counts, named(labels, counts.shape[1]), width)
    bottom = _TOP + grid.dy * len(grid.names)
    marks = [
        *_sizes(grid, counts.sum(1), noun),
        *_rows(grid),
        *_dots(grid),
        *_foot(grid, len(counts), bottom),
    ]
    deep = max(16.0, _radius(grid))  # of the key's largest dot, at most
    marks += _key(grid, bottom + 34 + deep, noun)
    return svg.document(width, bottom + 46 + max(deep, 2 * deep - 16), _spoken(counts), marks)


def order(counts: np.ndarray) -> np.ndarray:
    """Sort clients by their most frequent class, then by how much of them it is; empty ones last.

    >>> order(np.array([[0, 9], [5, 5], [0, 0], [8, 0]])).tolist()
    [3, 1, 0, 2]
    """
    size = counts.sum(1)
    purity = counts.max(1) / np.maximum(size, 1)
    return np.lexsort((-purity, counts.argmax(1), size == 0))


def named(labels: Sequence[str], classes: int) -> tuple[str, ...]:
    """Return a name for each class that can be seen and is not long; numbers where there are none.

    >>> named(["cat", " ", "a very long name"], 3), named([], 2)
    (('cat', "' '", 'a very long…'), ('0', '1'))
    """
    names = labels if len(labels) == classes else [str(number) for number in range(classes)]
    seen = [name if name.strip() and name.isprintable() else repr(name) for name in names]
    return tuple(name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…" for name in seen)


def merged(counts: np.ndarray, names: Sequence[str], most: int) -> tuple[np.ndarray, list[str]]:
    """Sum neighbouring classes until there are at most ``most`` rows."""
    size = -(-len(names) // most)
    starts = range(0, len(names), size)
    spans = [names[start : start + size] for start in starts]
    return np.add.reduceat(counts, list(starts), axis=1), [_span(span) for span in spans]


def _span(names: Sequence[str]) -> str:
    span = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
    return span if len(span) <= 1.5 * _LONGEST else f"{names[0]} …"


def _grid(counts: np.ndarray, names: Sequence[str], width: float) -> Grid:
    rows, shown = merged(counts, names, _ROWS)
    left = 14 + max(svg.width_of(name, 11) for name in shown)
    room = width - left - 4
    clients = _spaced(order(counts), int(room / (6.5 if width > 560 else 4.2)))
    dx = min(room / len(clients), 44.0)
    dy = min(max(dx, 16.0), 26.0, _TALL / len(shown))
    return Grid(clients, rows[clients], tuple(shown), left, dx, dy)


def _spaced(items: np.ndarray, most: int) -> np.ndarray:
    if len(items) <= most:
        return items
    places = np.linspace(0, len(items) - 1, most).round().astype(int)
    return np.asarray(items[places])


def _sizes(grid: Grid, totals: np.ndarray, noun: str) -> Iterator[str]:
    """Draw a bar per client above its column."""
    sizes = grid.counts.sum(1)
    most, empty = max(int(totals.max()), 1), ""
    if nothing := int((totals == 0).sum()):
        empty = f"; {nothing:,} {'has' if nothing == 1 else 'have'} none"
    yield svg.text(0, 12, f"{noun.capitalize()}s a client, up to {most:,}{empty}", "title")
    bars = [
        svg.rect(
            (grid.left + column * grid.dx + 0.15 * grid.dx, _TOP - 8 - 44 * size / most),
            0.7 * grid.dx,
            44 * size / most,
            "bar",
            f"client {client}: {words.counted(int(size), noun)}",
        )
        for column, (client, size) in enumerate(zip(grid.clients, sizes, strict=True))
    ]
    yield svg.group("s0", bars)


def _rows(grid: Grid) -> Iterator[str]:
    every = 1 if grid.dy >= 10 else 2
    right = grid.left + grid.dx * len(grid.clients)
    for row, name in enumerate(grid.names):
        y = _TOP + (row + 0.5) * grid.dy
        yield svg.line((grid.left, y), (right, y), "grid")
        if row % every == 0:
            kind = "axis" if grid.dy >= 12 else "axis small"
            yield svg.text(grid.left - 8, y + 3.5, name, kind, "end")


def _dots(grid: Grid) -> Iterator[str]:
    full, largest = _radius(grid), max(int(grid.counts.max()), 1)
    marks = [
        svg.circle(
            (grid.left + (column + 0.5) * grid.dx, _TOP + (row + 0.5) * grid.dy),
            max(0.7, full * float(grid.counts[column, row] / largest) ** 0.5),
            tip=f"client {grid.clients[column]}, {grid.names[row]}: {grid.counts[column, row]:,}",
        )
        for column, row in np.argwhere(grid.counts > 0)
    ]
    yield svg.group("s1 dots", marks)


def _radius(grid: Grid) -> float:
    """Let the largest dot overlap its neighbours a little: few are that large."""
    return max(0.62 * min(grid.dx, grid.dy), min(0.5 * grid.dx, 0.9 * grid.dy), 4.0)


def _foot(grid: Grid, clients: int, bottom: float) -> Iterator[str]:
    shown, all_ = len(grid.clients), words.counted(clients, "client")
    said = f"{all_}, sorted by most frequent class"
    if shown < clients:
        said = f"{shown:,} of {all_}, evenly spaced, sorted by class"
    right = grid.left + grid.dx * shown
    left = max(0.0, min(grid.left, right - svg.width_of(said, 11)))
    yield svg.text(left, bottom + 22, said, "title")


def _key(grid: Grid, y: float, noun: str) -> Iterator[str]:
    """Show what three sizes of dot mean."""
    full, largest = _radius(grid), max(int(grid.counts.max()), 1)
    top = scales.step_for(largest * 0.55, 1)
    left = grid.left
    for value in sorted({max(1, round(top * share)) for share in (0.04, 0.2, 1.0)}):
        radius = max(0.7, full * (value / largest) ** 0.5)
        yield svg.group("s1 dots", [svg.circle((left + radius, y - 4), radius)])
        yield svg.text(left + 2 * radius + 6, y, f"{value:,}", "axis")
        left += 2 * radius + 6 + svg.width_of(f"{value:,}", 12) + 22
    yield svg.text(left - 6, y, f"{noun}s", "axis")


def _spoken(counts: np.ndarray) -> str:
    clients, classes = counts.shape
    held = float((counts > 0).sum(1).mean())
    kinds = "1 class" if classes == 1 else f"{classes:,} classes"
    across = f"Labels across {words.counted(clients, 'client')} and {kinds}"
    return f"{across}: a client holds {held:.1f} classes on average."
