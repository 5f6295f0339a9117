"""The comparison on a terminal, or as plain columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from . import cells
from .tables import Comparison


def plain(comparison: Comparison, file: TextIO) -> None:
    """Print aligned columns without any control codes."""
    table = _lined_up(cells.columns(comparison))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    left = 1 + len(comparison.rows[0].group.varying)
    for row in table:
        print(_aligned(row, widths, left), file=file)
    for line in notes(comparison):
        print(f"\n{line}", file=file)


def drawn(comparison: Comparison, file: TextIO) -> None:
    """Draw the table with rules and weights, as wide as the terminal allows."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    header, *body = _lined_up(cells.columns(comparison))
    left = 1 + len(comparison.rows[0].group.varying)
    table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for number, title in enumerate(header):
        table.add_column(Text(title), justify="left" if number < left else "right")
    for cell, row in zip(body, comparison.rows, strict=True):
        table.add_row(*map(Text, cell), style="dim" if row.baseline else "")
    console = Console(file=file, highlight=False)
    console.print(table)
    for line in notes(comparison):
        console.print(Text(line, style="dim"))


def notes(comparison: Comparison) -> list[str]:
    """Say what the numbers are, in a line or none."""
    if any(row.paired for row in comparison.rows):
        return ["Mean ± std over seeds; differences paired by seed, p of a two-sided t-test."]
    single = all(row.std is None for row in comparison.rows)
    return [] if single else ["Mean ± std over seeds."]


def _lined_up(table: Sequence[Sequence[str]]) -> list[list[str]]:
    """Pad what stands behind a ± to one width in each column, so that the signs stand in line."""
    columns = []
    for column in zip(*table, strict=True):
        parts = [cell.partition(" ± ") for cell in column]
        widest = max(len(std) for _, _, std in parts)
        columns.append(
            [f"{mean}{sign}{std.rjust(widest)}" if sign else mean for mean, sign, std in parts]
        )
    return [list(row) for row in zip(*columns, strict=True)]


def _aligned(row: Sequence[str], widths: Sequence[int], left: int) -> str:
    shown = [
        cell.ljust(width) if number < left else cell.rjust(width)
        for number, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(shown).rstrip()
