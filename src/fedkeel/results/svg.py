"""The few marks that the figures are made of; every text is escaped here."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

Point = tuple[float, float]

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape(text: object) -> str:
    """Make any text safe inside XML and HTML, attributes too.

    >>> escape("<b>&'")
    '&lt;b&gt;&amp;&#x27;'
    """
    return html.escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", str(text)))


def document(width: float, height: float, title: str, marks: Iterable[str]) -> str:
    """Wrap marks into an image with a name that a screen reader speaks."""
    return (
        f'<svg class="figure" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'viewBox="0 0 {size(width)} {size(height)}"><title>{escape(title)}</title>'
        f"{''.join(marks)}</svg>"
    )


def group(kind: str, marks: Iterable[str]) -> str:
    """Put marks under one class."""
    return f'<g class="{kind}">{"".join(marks)}</g>'


def text(x: float, y: float, content: object, kind: str = "", anchor: str = "start") -> str:
    """Write a word; the point is the left end, middle or right end of its base line."""
    side = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{size(x)}" y="{size(y)}"{_kind(kind)}{side}>{escape(content)}</text>'


def line(start: Point, end: Point, kind: str) -> str:
    """Draw a straight line."""
    ends = zip(("x1", "y1", "x2", "y2"), (*start, *end), strict=True)
    where = " ".join(f'{name}="{size(value)}"' for name, value in ends)
    return f"<line {where}{_kind(kind)}/>"


def path(points: Sequence[Point], kind: str, tip: str = "", closed: bool = False) -> str:
    """Draw a line through points."""
    steps = "L".join(f"{size(x)} {size(y)}" for x, y in points)
    return f'<path d="M{steps}{"Z" if closed else ""}"{_kind(kind)}{_tipped("path", tip)}'


def circle(center: Point, radius: float, kind: str = "", tip: str = "") -> str:
    """Draw a dot, with a word for whoever rests on it."""
    x, y = map(size, center)
    shape = f'<circle cx="{x}" cy="{y}" r="{size(radius)}"'
    return f"{shape}{_kind(kind)}{_tipped('circle', tip)}"


def rect(corner: Point, width: float, height: float, kind: str, tip: str = "") -> str:
    """Draw a box from its upper left corner."""
    x, y = map(size, corner)
    shape = f'<rect x="{x}" y="{y}" width="{size(width)}" height="{size(height)}"'
    return f"{shape}{_kind(kind)}{_tipped('rect', tip)}"


def size(value: float) -> str:
    """Write a length to a hundredth.

    >>> size(3.0), size(2.456)
    ('3', '2.46')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def width_of(content: str, font: float) -> float:
    """Estimate how wide a text is set, on the safe side."""
    return 0.62 * font * len(content)


def _kind(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _tipped(tag: str, tip: str) -> str:
    return f"><title>{escape(tip)}</title></{tag}>" if tip else "/>"
