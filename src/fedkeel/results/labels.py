"""The part of the report that shows how labels lie across the clients."""

from __future__ import annotations

from collections.abc import Sequence

from . import figures, groups, html
from .folders import RunFolder
from .partitions import label_counts
from .sections import setting_text
from .sentences import Facts
from .svg import escape

MOST_PICTURES = 4
"""How many splits a page draws."""


def pictures(runs: Sequence[RunFolder]) -> str:
    """Draw how labels lie across clients, once for each way in which they were dealt."""
    dealt = list(_dealt(runs).values())
    firsts = [some[0] for some in dealt[:MOST_PICTURES]]
    return "".join(_picture(run, [some[0] for some in dealt]) for run in firsts)


def note(runs: Sequence[RunFolder]) -> str:
    """Say what a picture of the labels shows, and what it leaves out."""
    dealt = _dealt(runs)
    said = ["A dot for each client and class; its area is the number of samples."]
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


def _picture(run: RunFolder, others: Sequence[RunFolder]) -> str:
    found = label_counts(run)
    if found is None:
        return ""
    wide, narrow = (figures.label_picture(*found, width=width) for width in (960.0, 380.0))
    return f"<h3>{escape(_split(run, others))}</h3>" + html.both(wide, narrow)


def _split(run: RunFolder, others: Sequence[RunFolder]) -> str:
    settings = [groups.setting(other) for other in others]
    keys = [key for key in groups.varying_keys(settings) if key.startswith("data.")]
    differs = setting_text({key: groups.setting(run).get(key) for key in keys})
    partition = f"{Facts([run]).said('data.partition')} split"
    return ", ".join(part for part in (partition, differs, f"seed {run.seed}") if part)
