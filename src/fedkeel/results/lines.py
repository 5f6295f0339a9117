"""Accuracy curves: a mean line per method, a band over its seeds, a label at its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from . import scales, svg, words
from .scales import Scale
from .series import COLORS, Series, domain, thinned

_FONT = 13.0
_STOPS = 60


class Frame(NamedTuple):
    """Where the lines go: the two scales."""

    x: Scale
    y: Scale


def curves(
    series: Sequence[Series],
    *,
    width: float = 960.0,
    height: float | None = None,
    unit: str = "%",
    title: str = "Test accuracy",
    within: tuple[float, float] | None = None,
    named: bool = True,
) -> str:
    """Draw how several methods went, round by round, as SVG.

    Args:
        series: The lines; those without a point are left out.
        width: The width for which type is set; below 560 the names stand above the lines.
        height: The height; by default what suits the width.
        unit: What is written behind values.
        title: The quantity; it names the vertical axis and the picture.
        within: The limits of the vertical axis, where several pictures are to share them.
        named: Whether names stand in the picture; a page may say them once for several.
    """
    shown = [thinned(one) for one in series if one.rounds]
    if not shown:
        return svg.document(width, 40, title, [svg.text(0, 24, "No round was evaluated.", "axis")])
    beside = named and width >= 560 and _widest(shown) <= 0.25 * width
    legend = _legend(shown, width) if named and not beside else []
    above = 20.0 * len(legend) + (8.0 if legend else 0.0)
    tall = height or (0.46 if width >= 560 else 0.78) * width + above
    frame = _frame(shown, width, tall, above, beside, within)
    marks = [*_axes(frame, width, title, unit), *(_band(one, frame) for one in shown)]
    marks += [_line(one, frame) for one in shown]
    marks += _labels(shown, frame) if beside else [svg.group("legend", legend)]
    marks += [_stops(one, frame, unit) for one in shown]
    return svg.document(width, tall, _spoken(title, shown, unit), marks)


def color(number: int) -> str:
    """Return the class of a colour; the second time round the line is dashed."""
    first = number if number < COLORS else 1 + (number - COLORS) % (COLORS - 1)
    return f"s{first}" if number < COLORS else f"s{first} dashed"


def _frame(
    series: Sequence[Series],
    width: float,
    height: float,
    top: float,
    beside: bool,
    within: tuple[float, float] | None,
) -> Frame:
    low, high = within or domain(series)
    first, last = min(s.rounds[0] for s in series), max(s.rounds[-1] for s in series)
    first = 0 if first <= 0.1 * last else first
    last = max(last, first + 1)
    ends = width - (26 + _widest(series) if beside else 8.0)
    return Frame(Scale(first, last, 40.0, ends), Scale(low, high, height - 42.0, top + 34.0))


def _widest(series: Sequence[Series]) -> float:
    return max(svg.width_of(one.name, _FONT) for one in series)


def _axes(frame: Frame, width: float, title: str, unit: str) -> Iterator[str]:
    x, y = frame
    for tick in scales.ticks(y.low, y.high, 5):
        yield svg.line((x.start, y(tick)), (x.stop, y(tick)), "grid")
        yield svg.text(x.start - 8, y(tick) + 4, _short(tick), "axis", "end")
    for tick in _round_ticks(x, width):
        yield svg.line((x(tick), y.start), (x(tick), y.start + 5), "tick")
        yield svg.text(x(tick), y.start + 20, _short(tick), "axis", "middle")
    yield svg.line((x.start, y.start), (x.stop, y.start), "tick")
    yield svg.text(0, y.stop - 18, f"{title}, {unit}" if unit else title, "title")
    yield svg.text(x.stop, y.start + 37, "round", "title", "end")


def _round_ticks(x: Scale, width: float) -> list[float]:
    return [t for t in scales.ticks(x.low, x.high, 4 if width < 560 else 8) if t == int(t)]


def _short(value: float) -> str:
    return f"{value:,.10g}".replace("-", words.MINUS)


def _band(series: Series, frame: Frame) -> str:
    if series.seeds < 2:
        return ""
    upper = [(frame.x(r), frame.y(v)) for r, v in zip(series.rounds, series.high, strict=True)]
    lower = [(frame.x(r), frame.y(v)) for r, v in zip(series.rounds, series.low, strict=True)]
    return svg.group(color(series.color), [svg.path(upper + lower[::-1], "band", closed=True)])


def _line(series: Series, frame: Frame) -> str:
    points = [(frame.x(r), frame.y(v)) for r, v in zip(series.rounds, series.mean, strict=True)]
    end = svg.circle(points[-1], 3.2, "end")
    return svg.group(color(series.color), [svg.path(points, "line", series.name), end])


def _labels(series: Sequence[Series], frame: Frame) -> list[str]:
    x, y = frame
    ends = [y(one.mean[-1]) for one in series]
    places = scales.spread(ends, 17.0, y.stop - 8, y.start - 2)
    return [
        svg.group(color(one.color), _label(one.name, (x(one.rounds[-1]), end), place, x.stop))
        for one, end, place in zip(series, ends, places, strict=True)
    ]


def _label(name: str, end: svg.Point, place: float, edge: float) -> list[str]:
    lead = svg.line((end[0] + 5, end[1]), (edge + 14, place), "lead")
    return [lead, svg.text(edge + 19, place + 4.5, name, "name")]


def _legend(series: Sequence[Series], width: float) -> list[str]:
    """Set the names in rows above the picture, as many in a row as fit."""
    rows: list[list[str]] = [[]]
    left = 0.0
    for one in series:
        name = _fitted(one.name, width - 30)
        needs = svg.width_of(name, _FONT) + 40
        if left and left + needs - 14 > width:
            rows, left = [*rows, []], 0.0
        y = 14.0 + 20 * (len(rows) - 1)
        mark = svg.line((left, y - 4.5), (left + 18, y - 4.5), "line")
        entry = [mark, svg.text(left + 24, y, name, "name")]
        rows[-1].append(svg.group(color(one.color), entry))
        left += needs
    return ["".join(row) for row in rows]


def _stops(series: Series, frame: Frame, unit: str) -> str:
    """Lay unseen places over a line where the pointer can rest and read."""
    every = -(-len(series.rounds) // _STOPS)
    marks = [
        svg.circle((frame.x(r), frame.y(series.mean[i])), 6, "stop", _tip(series, i, unit))
        for i, r in enumerate(series.rounds)
        if i % every == 0 or i == len(series.rounds) - 1
    ]
    return svg.group(color(series.color), marks)


def _tip(series: Series, place: int, unit: str) -> str:
    space = f" {unit}" if unit else ""
    said = f"{series.name}, round {series.rounds[place]}: {series.mean[place]:.4g}{space}"
    if series.seeds < 2:
        return said
    return f"{said} ({series.low[place]:.4g} to {series.high[place]:.4g} over {series.seeds} seeds)"


def _fitted(name: str, room: float) -> str:
    most = max(4, int(room / svg.width_of("x", _FONT)))
    return name if len(name) <= most else name[: most - 1] + "…"


def _spoken(title: str, series: Sequence[Series], unit: str) -> str:
    space = f" {unit}" if unit else ""
    ends = [f"{one.name} ends at {one.mean[-1]:.4g}{space}" for one in series]
    return f"{title} by round: {words.listed(ends)}."
