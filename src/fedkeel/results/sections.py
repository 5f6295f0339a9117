"""The parts of a report page, each a function from run folders to HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import cells, figures, groups, html, series, statistics, words
from .folders import RunFolder
from .groups import Group
from .html import Cell
from .palette import Palette
from .svg import escape
from .tables import Comparison


def unit(runs: Sequence[RunFolder]) -> tuple[str, str, float]:
    """Name the quantity, its unit, and what it is multiplied by to be shown."""
    names = {str(run.summary.get("metric", "accuracy")) for run in runs}
    if names == {"accuracy"}:
        return "Test accuracy", "%", 100.0
    return f"Test {words.listed(sorted(names), 'or')}", "", 1.0


def curves(runs: Sequence[RunFolder], palette: Palette) -> str:
    """Draw one picture, or one for each setting where several methods ran in several."""
    grouped = groups.group(runs)
    settings = list({str(one.varying): one.varying for one in grouped}.values())
    methods = {one.method: palette.of(one) for one in grouped}
    if len(settings) == 1 or len(methods) == 1:
        return _one_picture(runs, grouped, palette)
    panels = {
        setting_text(varying): [one for one in grouped if one.varying == varying]
        for varying in settings
    }
    return _legend(methods) + _panels(runs, panels, palette)


def comparison(compared: Comparison, palette: Palette) -> str:
    """Set the table: what each method reached, and how far that is from the baseline."""
    titles, *body = cells.columns(compared)
    left = 1 + len(compared.rows[0].group.varying)
    strips = _strips(compared, palette)
    header = [Cell(escape(t), "num" if i >= left else "") for i, t in enumerate(titles)]
    heads = _heads(compared)
    names = [_name(row.group, palette, "narrow") for row in compared.rows]
    rows = [
        html.row([name, *_values(titles, cell, left, strip)], "first" if head else "")
        for name, cell, strip, head in zip(names, body, strips, heads, strict=True)
    ]
    seeds = [Cell("each seed", "strip")] if any(strips) else []
    return html.table("compared", [*header[: left + 2], *seeds, *header[left + 2 :]], rows)


def target_table(grouped: Sequence[Group], palette: Palette) -> str:
    """Set how many rounds each method needed to the accuracy that runs asked for."""
    runs = [run for one in grouped for run in one.runs]
    _, sign, factor = unit(runs)
    targets = sorted({run.target for run in runs if run.target > 0})
    if not targets:
        return ""
    asked = [f"rounds to {words.plain(round(t * factor, 6))} {sign}".strip() for t in targets]
    rows = []
    for one in grouped:
        name = _name(one, palette)
        reached = [
            Cell(_reached(one.runs, target), "num", t)
            for target, t in zip(targets, asked, strict=True)
        ]
        rows.append(html.row([name, *reached]))
    titles = [Cell("method"), *(Cell(escape(title), "num") for title in asked)]
    return html.table("targets", titles, rows)


def versions(runs: Sequence[RunFolder]) -> str:
    """Say what the runs were made with, a line for each different set."""
    made = dict.fromkeys(_versions(run) for run in runs)
    lines = "".join(f"<p>{escape(line)}</p>" for line in made if line)
    origin = f"<p>Written by fedkeel from {words.counted(len(runs), 'run')}.</p>"
    return f"<footer>{origin}{lines}</footer>\n"


def setting_text(varying: Mapping[str, object]) -> str:
    """Write what tells a setting apart, as ``alpha 0.1, rounds 40``, without keys that it lacks."""
    had = {key: value for key, value in varying.items() if value is not None}
    return ", ".join(f"{cells.short(key)} {words.plain(value)}" for key, value in had.items())


def _one_picture(runs: Sequence[RunFolder], grouped: Sequence[Group], palette: Palette) -> str:
    title, sign, factor = unit(runs)
    names = [setting_text(one.varying) or one.method for one in grouped]
    drawn = [
        series.of_runs(name, one.runs, color=palette.of(one), factor=factor)
        for name, one in zip(names, grouped, strict=True)
    ]
    wide, narrow = (
        figures.curves(drawn, width=width, unit=sign, title=title) for width in (960.0, 380.0)
    )
    return html.both(wide, narrow)


def _panels(
    runs: Sequence[RunFolder], panels: Mapping[str, Sequence[Group]], palette: Palette
) -> str:
    title, sign, factor = unit(runs)
    drawn = {
        name: [series.of_runs(g.method, g.runs, color=palette.of(g), factor=factor) for g in some]
        for name, some in panels.items()
    }
    within = series.domain([one for some in drawn.values() for one in some])
    pictures = [
        f"<figure><h3>{escape(name)}</h3>"
        + figures.curves(
            some, width=460, height=300, unit=sign, title=title, within=within, named=False
        )
        + "</figure>"
        for name, some in drawn.items()
    ]
    return f'<div class="panels">{"".join(pictures)}</div>'


def _legend(methods: Mapping[str, int]) -> str:
    items = [f"<li>{html.named(n, figures.color(c))}</li>" for n, c in methods.items()]
    return f'<ul class="legend">{"".join(items)}</ul>'


def _strips(compared: Comparison, palette: Palette) -> list[str]:
    factor, _ = cells.scale(compared)
    shown = [[factor * v for v in row.values.values()] for row in compared.rows]
    every = [value for values in shown for value in values]
    if len(every) < 2 or all(len(values) == 1 for values in shown):
        return ["" for _ in shown]
    within, sign = (min(every), max(every)), " %" if compared.share else ""
    tints = [figures.color(palette.of(row.group)) for row in compared.rows]
    return [figures.strip(v, within, tint, sign) for v, tint in zip(shown, tints, strict=True)]


def _heads(compared: Comparison) -> list[bool]:
    """Say which rows begin another setting."""
    settings = [str(row.group.varying) for row in compared.rows]
    return [one != before for one, before in zip(settings, ["", *settings[:-1]], strict=True)]


def _values(titles: Sequence[str], texts: Sequence[str], left: int, strip: str) -> list[Cell]:
    kinds = [*["wide"] * left, "num soft", "num lead-value", *["num"] * (len(texts) - left - 2)]
    cells_ = [Cell(escape(x), k, t) for x, k, t in zip(texts, kinds, titles, strict=True)]
    seeds = [Cell(strip, "strip")] if strip else []
    return [*cells_[1 : left + 2], *seeds, *cells_[left + 2 :]]


def _name(group: Group, palette: Palette, kind: str = "detail") -> Cell:
    color = figures.color(palette.of(group))
    return Cell(html.named(group.method, color, setting_text(group.varying), kind), "name")


def _reached(runs: Sequence[RunFolder], target: float) -> str:
    asked = [
        statistics.rounds_to_target(run.trace(), target) for run in runs if run.target == target
    ]
    found = [float(number) for number in asked if number is not None]
    if not asked:
        return words.NONE
    share = f' <span class="soft">({len(found)} of {len(asked)})</span>'
    if not found:
        return f"not reached{share}"
    return words.spread(statistics.mean(found), statistics.std(found), 1) + share


def _versions(run: RunFolder) -> str:
    made = run.summary.get("versions") or {}
    return ", ".join(f"{name} {version}" for name, version in made.items())
