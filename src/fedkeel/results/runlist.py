"""The list of single runs: how each ended, and the exact command that repeats it."""

from __future__ import annotations

from collections.abc import Sequence

from . import figures, html, metrics, repeat, tables, words
from .folders import RunFolder
from .html import Cell
from .palette import Palette
from .svg import escape

_TITLES = ("method", "seed", "rounds", "final", "best", "last", "time", "down", "up")


def runs_table(runs: Sequence[RunFolder], palette: Palette, factor: float) -> str:
    """Set two rows a run: its numbers, and below them its commands."""
    titles = [Cell(title, "num" if number else "") for number, title in enumerate(_TITLES)]
    rows = [_numbers(run, palette, factor) + _commands(run) for run in runs]
    return html.table("runs", titles, rows)


def _numbers(run: RunFolder, palette: Palette, factor: float) -> str:
    color = figures.color(palette.of_run(run))
    shown = [str(run.seed), _rounds(run), *_accuracies(run, factor), _time(run), *_bytes(run)]
    cells = [Cell(escape(v), "num", t) for v, t in zip(shown, _TITLES[1:], strict=True)]
    return html.row([Cell(html.named(run.method, color), "name"), *cells])


def _commands(run: RunFolder) -> str:
    failure = f'<div class="failed">{escape(_failure(run))}</div>' if run.failed else ""
    content = (
        f"{failure}<code>{escape(repeat.from_recipe(run))}</code>"
        "<details><summary>the same without its folder</summary>"
        f"<code>{escape(repeat.from_keys(run))}</code></details>"
    )
    return f'<tr class="repeat"><td colspan="{len(_TITLES)}">{content}</td></tr>\n'


def _failure(run: RunFolder) -> str:
    detail = str((run.failed or {}).get("detail") or "")
    return f"This run {tables.ending(run)}" + (f": {detail}" if detail else "") + "."


def _rounds(run: RunFolder) -> str:
    return words.plain(run.summary.get("rounds"))


def _accuracies(run: RunFolder, factor: float) -> list[str]:
    found = [metrics.value(run, f"accuracy.{name}") for name in ("final", "best", "last")]
    digits = 1 if factor == 100.0 else words.digits_for([v for v in found if v is not None])
    return [words.NONE if v is None else words.number(factor * v, digits) for v in found]


def _time(run: RunFolder) -> str:
    seconds = metrics.value(run, "seconds.total")
    return words.NONE if seconds is None else words.duration(seconds)


def _bytes(run: RunFolder) -> tuple[str, str]:
    return words.amount(run.total("bytes_down")), words.amount(run.total("bytes_up"))
