"""A figure of the report as PNG: the marks of the SVG, painted by matplotlib."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.artist import Artist

T = TypeVar("T")

_MARGIN = 20.0
_DOTS_PER_UNIT = 2.0
_POINTS = 72.0  # to the inch, and an inch has 100 units here
_UNITS = 100.0
_OPACITY = {"bar": 0.55, "dots": 0.82}
_SIZES = {"small": 9.5, "title": 12.5}
_SIDES: dict[str, Literal["left", "center", "right"]] = {
    "start": "left",
    "middle": "center",
    "end": "right",
}


class Mark(NamedTuple):
    """A shape of the SVG, with the classes of itself and its group."""

    tag: str
    kinds: tuple[str, ...]
    attributes: dict[str, str]
    text: str


def paint(figure: str, path: Path) -> None:
    """Write an SVG figure as PNG, on light paper.

    Args:
        figure: A figure made of lines, boxes, dots and words.
        path: Where to.
    """
    from matplotlib.figure import Figure

    root = ElementTree.fromstring(figure)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    across, down = width + 2 * _MARGIN, height + 2 * _MARGIN
    colors = _colors()
    sheet = Figure(
        figsize=(across / _UNITS, down / _UNITS),
        dpi=_DOTS_PER_UNIT * _UNITS,
        facecolor=colors["paper"],
    )
    axes = sheet.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-_MARGIN, width + _MARGIN), ylim=(height + _MARGIN, -_MARGIN))
    axes.set_axis_off()
    for place, mark in enumerate(_marks(root)):
        axes.add_artist(_artist(mark, colors)).set_zorder(place)
    with warnings.catch_warnings():  # a box stands for what the font does not have
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        sheet.savefig(path)


def _marks(element: ElementTree.Element, kinds: tuple[str, ...] = ()) -> Iterator[Mark]:
    """Yield the shapes in the order in which they are painted."""
    for child in element:
        tag = child.tag.rpartition("}")[2]
        own = (*kinds, *child.get("class", "").split())
        if tag == "g":
            yield from _marks(child, own)
        elif tag != "title":
            yield Mark(tag, own, dict(child.attrib), child.text or "")


def _artist(mark: Mark, colors: dict[str, str]) -> Artist:
    from matplotlib.lines import Line2D

    at = {key: float(v) for key, v in mark.attributes.items() if _is_number(v)}
    if mark.tag == "line":
        ends = [at["x1"], at["x2"]], [at["y1"], at["y2"]]
        return Line2D(*ends, color=colors["rule"], linewidth=_POINTS / _UNITS)
    return _word(mark, at, colors["soft"]) if mark.tag == "text" else _shape(mark, at, colors)


def _shape(mark: Mark, at: dict[str, float], colors: dict[str, str]) -> Artist:
    from matplotlib.patches import Circle, Patch, Rectangle

    shape: Patch = (
        Circle((at["cx"], at["cy"]), at["r"])
        if mark.tag == "circle"
        else Rectangle((at["x"], at["y"]), at["width"], at["height"])
    )
    shape.set(
        facecolor=_first(colors, mark.kinds, colors["ink"]),
        alpha=_first(_OPACITY, mark.kinds, 1.0),
        linewidth=0,
    )
    return shape


def _word(mark: Mark, at: dict[str, float], color: str) -> Artist:
    from matplotlib.text import Text

    word = Text(at["x"], at["y"], mark.text, color=color, parse_math=False)
    word.set_fontsize(_first(_SIZES, mark.kinds, 12.0) * _POINTS / _UNITS)
    word.set_horizontalalignment(_SIDES[mark.attributes.get("text-anchor", "start")])
    return word


def _first(known: Mapping[str, T], kinds: Iterable[str], otherwise: T) -> T:
    return next((known[kind] for kind in kinds if kind in known), otherwise)


def _colors() -> dict[str, str]:
    """Return the report's colours on light paper, by name."""
    from ..results.style import COLORS

    light = COLORS.partition("@media")[0]
    return dict(re.findall(r"--(\w+): (#\w+)", light))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None
