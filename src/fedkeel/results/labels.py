"""The part of the report that shows how labels lie across the clients."""

from __future__ import annotations

from collections.abc import Sequence

from . import figures, groups, html, partitions
from .folders import RunFolder
from .html import Cell
from .partitions import Row, Split
from .sections import setting_text
from .sentences import Facts
from .svg import escape

MOST_PICTURES = 4
"""How many splits a page draws."""


def pictures(runs: Sequence[RunFolder]) -> str:
    """Draw and measure how labels lie across clients, once for each way they were dealt."""
    dealt = list(_dealt(runs).values())
    firsts = [some[0] for some in dealt[:MOST_PICTURES]]
    read = [(run, split) for run in firsts if (split := partitions.read_split(run)) is not None]
    heads = [_split(run, [some[0] for some in dealt]) for run, _ in read]
    measured = [partitions.told(split) for _, split in read]
    splits = [split for _, split in read]
    return "".join(map(_picture, heads, splits, measured)) + _meanings(splits, measured)


def note(runs: Sequence[RunFolder]) -> str:
    """Say what a picture of the labels shows, and what it leaves out."""
    dealt = _dealt(runs)
    said = ["A dot for each client and class; its area is how much of the class the client holds."]
    if any(len({run.summary.get("data_sha256") for run in some}) > 1 for some in dealt.values()):
        said.append("Every seed draws its own split by the same rule; the first is shown.")
    if len(dealt) > MOST_PICTURES:
        said.append(f"The first {MOST_PICTURES} of {len(dealt)} ways to split are shown.")
    return " ".join(said)


def _dealt(runs: Sequence[RunFolder]) -> dict[str, list[RunFolder]]:
    """Gather runs by how their data were dealt, in the order of the settings."""
    dealt: dict[str, list[RunFolder]] = {}
    for run in (run for one in groups.group(runs) for run in one.runs):
        dealt.setdefault(str(run.recipe.get("data")), []).append(run)
    return dealt


def _picture(head: str, split: Split, measured: Sequence[Row]) -> str:
    wide, narrow = (
        figures.label_picture(split.counts, split.labels, width=width, noun=split.noun)
        for width in (960.0, 380.0)
    )
    size = f"{partitions.size_of(split)}."
    if split.totals is None:
        size += " Here q is that of all clients together: the folder holds no other counts."
    note = f'<p class="note">{escape(size)}</p>'
    return f"<h3>{escape(head)}</h3>{note}{html.both(wide, narrow)}{_table(measured)}"


def _table(measured: Sequence[Row]) -> str:
    titles = [Cell("of a client"), *(Cell(title, "num") for title in partitions.COLUMNS)]
    rows = [
        html.row([Cell(escape(row.title), "name"), *(Cell(text, "num") for text in row.cells)])
        for row in measured
    ]
    return html.table("skew", titles, rows) if rows else ""


def _meanings(splits: Sequence[Split], measured: Sequence[Sequence[Row]]) -> str:
    """State each definition once, below the last picture."""
    said = {
        title: meaning
        for split, rows in zip(splits, measured, strict=True)
        for title, meaning in partitions.meanings(split, [row.title for row in rows])
    }
    letters = "".join(
        f'<p class="note">{escape(line)}</p>'
        for line in dict.fromkeys(map(partitions.letters, splits))
    )
    lines = "".join(f"<dt>{escape(t)}</dt><dd>{escape(m)}</dd>" for t, m in said.items())
    return f'{letters}<dl class="terms">{lines}</dl>' if said else ""


def _split(run: RunFolder, others: Sequence[RunFolder]) -> str:
    settings = [groups.setting(other) for other in others]
    keys = [key for key in groups.varying_keys(settings) if key.startswith("data.")]
    differs = setting_text({key: groups.setting(run).get(key) for key in keys})
    partition = f"{Facts([run]).said('data.partition')} split"
    return ", ".join(part for part in (partition, differs, f"seed {run.seed}") if part)
