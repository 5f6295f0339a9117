"""The report: one page that stands by itself, with the figures, the table and every command."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError
from . import (
    groups,
    html,
    labels,
    runlist,
    sections,
    sentences,
    series,
    style,
    style_page,
    tables,
)
from .folders import RunFolder
from .palette import Palette, choose
from .svg import escape
from .tables import Comparison

_HEAD = 400


def report(folders: Sequence[RunFolder], out: Path) -> Path:
    """Write the report of some runs to a file, and return its path.

    A file that is there is replaced only when it is such a report. The page is whole or not
    there: it is written beside its place and then moved.

    Raises:
        InputError: When the file is somebody else's, or cannot be written.
        Refused: When runs that are to be compared saw different data.
    """
    out = Path(out)
    try:
        check_out(out)
        _replace(out, render(folders))
    except OSError as error:
        raise InputError(
            f"--out '{out}' cannot be written ({error.strerror}): choose another"
        ) from error
    return out


def check_out(out: Path) -> None:
    """Refuse a place where something lies that is not a report.

    Raises:
        InputError: When the place is a folder or a file that fedkeel did not write.
    """
    if out.is_dir():
        raise InputError(
            f"--out '{out}' is a folder: give the name of a file, as '{out}/report.html'"
        )
    if not out.exists():
        return
    with out.open("rb") as file:
        start = file.read(_HEAD).decode("utf-8", "replace")
    if not html.is_ours(start):
        raise InputError(
            f"--out '{out}' exists and was not written by fedkeel: remove it or choose another name"
        )


def render(runs: Sequence[RunFolder]) -> str:
    """Return the page as text; the same folders give the same page.

    Raises:
        Refused: When runs that are to be compared saw different data.
    """
    compared = _compared(runs)
    shown = [run for run in runs if run.failed is None] or list(runs)
    palette = choose(runs, compared.baseline if compared else None)
    title = sentences.title(runs)
    css = style.COLORS + style.FIGURE + style_page.PAGE
    body = _head(title, runs, compared)
    body += _results(shown, compared, palette)
    body += _origins(runs, palette)
    return html.document(title, css, body + sections.versions(runs))


def _compared(runs: Sequence[RunFolder]) -> Comparison | None:
    valued = [
        run
        for run in runs
        if run.failed is None and run.summary["accuracy"].get("final") is not None
    ]
    return tables.compare(runs) if valued else None


def _head(title: str, runs: Sequence[RunFolder], compared: Comparison | None) -> str:
    failed = [f"'{run.path}' {tables.ending(run)}." for run in runs if run.failed is not None]
    told = list(compared.notices) if compared else failed
    lines = "".join(f"<p>{escape(line)}</p>" for line in told)
    warn = f'<div class="warn" role="note">{lines}</div>' if told else ""
    return (
        f'<header><p class="kind">fedkeel report</p><h1>{escape(title)}</h1>'
        f'<p class="lede">{escape(sentences.what(runs))}</p>{warn}</header>\n'
    )


def _results(shown: Sequence[RunFolder], compared: Comparison | None, palette: Palette) -> str:
    quantity, _, _ = sections.unit(shown)
    parts = [
        html.section(f"{quantity} by round", _curve_note(shown), sections.curves(shown, palette))
    ]
    if compared and (len(compared.rows) > 1 or len(compared.rows[0].values) > 1):
        table = sections.comparison(compared, palette)
        parts.append(html.section("What each method reached", _table_note(compared), table))
    grouped = [row.group for row in compared.rows] if compared else groups.group(shown)
    targets = sections.target_table(grouped, palette)
    note = "Mean ± std over the seeds that reached it; in brackets, how many did."
    return "".join([*parts, html.section("Rounds to target", note, targets)])


def _origins(runs: Sequence[RunFolder], palette: Palette) -> str:
    _, sign, factor = sections.unit(runs)
    dealt = html.section(
        "How labels lie across the clients", labels.note(runs), labels.pictures(runs)
    )
    listed = f"Values in {sign}. " if sign else ""
    note = listed + "Each command repeats its run; a click selects it whole."
    table = runlist.runs_table(runs, palette, factor)
    return dealt + html.section("The runs", note, table)


def _curve_note(runs: Sequence[RunFolder]) -> str:
    many = len({run.seed for run in runs}) > 1
    said = (
        "The line is the mean over seeds, the band reaches from the lowest to the highest."
        if many
        else ""
    )
    longest = max((len(run.rounds) for run in runs), default=0)
    return f"{said} Neighbouring rounds are averaged.".strip() if longest > series.POINTS else said


def _table_note(compared: Comparison) -> str:
    name = "Final is the mean of the last 10 evaluations."
    if any(row.std is not None for row in compared.rows):
        name += " Mean ± std over seeds."
    if any(row.paired for row in compared.rows):
        name += (
            f" Differences to {compared.baseline} are paired by seed; p is from a two-sided paired"
            " t-test, uncorrected for the number of comparisons."
        )
    return name


def _replace(out: Path, text: str) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    beside = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(out)
    finally:
        beside.unlink(missing_ok=True)
