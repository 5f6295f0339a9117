"""The figures of a report, as hand-made SVG: accuracy curves, labels across clients, seed strips.

Each is a pure function from numbers to text. Colours are CSS variables, so that a page can set
them for light and dark; ``standalone`` makes a file of a figure.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import statistics, style, svg
from .dots import label_picture
from .lines import color, curves
from .scales import Scale
from .series import Series

__all__ = ["Series", "color", "curves", "label_picture", "standalone", "strip"]


def strip(values: Sequence[float], within: tuple[float, float], color: str, unit: str = "") -> str:
    """Draw the values of single seeds as dots on a line, their mean as a stroke."""
    low, high = within
    place = Scale(low, high if high > low else low + 1.0, 6.0, 154.0)
    center = place(statistics.mean(values))
    dots = [svg.circle((place(v), 10), 3.6, "seed", f"{v:.4g}{unit}") for v in values]
    mean = svg.line((center, 2), (center, 18), "mean")
    spoken = "Seeds: " + ", ".join(f"{v:.4g}{unit}" for v in values)
    marks = [svg.line((0, 10), (160, 10), "grid"), svg.group(color, [*dots, mean])]
    return svg.document(160, 20, spoken, marks)


def standalone(figure: str) -> str:
    """Make a file of a figure: with its own style, on paper, for light and dark."""
    paper = "svg.figure{background:var(--paper)}"
    css = f"<style>{style.COLORS}{style.FIGURE}{paper}</style>"
    head, _, rest = figure.partition("</title>")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{_margins(head)}</title>{css}{rest}\n'


def _margins(head: str) -> str:
    """Widen the view box by a margin, for there is no page around a file."""
    before, _, rest = head.partition('viewBox="0 0 ')
    box, _, after = rest.partition('"')
    width, height = (float(side) for side in box.split())
    return f'{before}viewBox="-20 -20 {svg.size(width + 40)} {svg.size(height + 40)}"{after}'
