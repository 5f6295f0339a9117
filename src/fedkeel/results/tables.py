"""The comparison: what each method reached over its seeds, beside the baseline."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ..errors import InputError, unknown
from . import Refused, groups, metrics, statistics
from .folders import RunFolder
from .groups import Group
from .statistics import Paired

FORMATS = ("text", "json")
_LATER = ("markdown", "latex", "csv")


@dataclass(frozen=True)
class Row:
    """One group of runs, summed up.

    Attributes:
        group: The runs and what they share.
        values: The metric of each run, by seed.
        baseline: Whether the others are measured against this method.
        paired: The test against the baseline over common seeds, where there is one.
    """

    group: Group
    values: dict[int, float]
    baseline: bool
    paired: Paired | None

    @property
    def mean(self) -> float:
        """The mean over seeds."""
        return statistics.mean(list(self.values.values()))

    @property
    def std(self) -> float | None:
        """The standard deviation over seeds (n - 1); None for a single seed."""
        return statistics.std(list(self.values.values()))


@dataclass(frozen=True)
class Comparison:
    """All rows, and what a reader must be told beside them.

    Attributes:
        metric: The metric's name, as it was asked for.
        share: Whether the values are fractions, to be read in percent.
        baseline: The method that others are measured against.
        rows: One row per method and setting.
        notices: Runs that were left out, and why; a line each.
    """

    metric: str
    share: bool
    baseline: str | None
    rows: tuple[Row, ...]
    notices: tuple[str, ...]


def compare(
    runs: Sequence[RunFolder], metric: str = "final", baseline: str | None = None
) -> Comparison:
    """Group runs by everything but their seed, and measure each group against the baseline.

    Raises:
        Refused: When no run has finished with a value, or runs of one group, or a pair of the
            same seed, saw different data.
        InputError: When there is no such metric or baseline.
    """
    finished = [run for run in runs if run.failed is None]
    if not finished:
        raise Refused("no finished run to compare: " + _endings(runs))
    key = metrics.resolve(metric, finished)
    groups.check_data(finished)
    valued = [run for run in finished if metrics.value(run, key) is not None]
    if not valued:
        raise Refused(f"no finished run has a value of '{metric}' to compare")
    grouped = groups.group(valued)
    chosen = groups.find_baseline(grouped, baseline)
    rows = _rows(grouped, key, chosen)
    share = metrics.is_share(key, valued)
    return Comparison(metric, share, chosen, rows, tuple(_notices(runs, metric, valued)))


def check_format(name: str) -> None:
    """Refuse an output format that there is not.

    Raises:
        InputError: Always, unless it is ``text`` or ``json``.
    """
    if name in _LATER:
        raise InputError(f"format '{name}' is not in this version: use text or json")
    if name not in FORMATS:
        raise unknown("format", name, FORMATS)


def to_json(comparison: Comparison) -> str:
    """Write the comparison as a JSON list, an object per row; what is not finite is null."""
    rows = [_object(row, comparison.metric) for row in comparison.rows]
    return json.dumps(rows, indent=2, ensure_ascii=False, default=str, allow_nan=False)


def write(comparison: Comparison, file: TextIO) -> None:
    """Print the table: drawn at a terminal, plain columns anywhere else."""
    from . import terminal

    (terminal.drawn if file.isatty() else terminal.plain)(comparison, file)


def _rows(grouped: Sequence[Group], key: str, baseline: str | None) -> tuple[Row, ...]:
    rows = [_row(group, grouped, key, baseline) for group in grouped]
    settings = list(dict.fromkeys(str(row.group.varying) for row in rows))
    first = sorted(rows, key=lambda r: (settings.index(str(r.group.varying)), not r.baseline))
    return tuple(first)


def _row(group: Group, grouped: Sequence[Group], key: str, baseline: str | None) -> Row:
    other = groups.counterpart(group, grouped, baseline)
    values = _values(group, key)
    if other is None:
        return Row(group, values, group.method == baseline, None)
    groups.check_pair(group, other)
    return Row(group, values, False, statistics.paired(values, _values(other, key)))


def _values(group: Group, key: str) -> dict[int, float]:
    found = {run.seed: metrics.value(run, key) for run in group.runs}
    return {seed: value for seed, value in found.items() if value is not None}


def _notices(runs: Sequence[RunFolder], metric: str, valued: Sequence[RunFolder]) -> list[str]:
    failed = [f"'{r.path}' is left out: it {ending(r)}" for r in runs if r.failed is not None]
    missing = [run for run in runs if run.failed is None and run not in valued]
    none = [f"'{run.path}' is left out: it has no value of '{metric}'" for run in missing]
    again = groups.repeats(valued)
    twice = [f"'{r.path}' is left out: it repeats seed {r.seed} of '{e.path}'" for r, e in again]
    return failed + none + twice


def ending(run: RunFolder) -> str:
    """Say how a failed run ended, as the end of a sentence."""
    failed = run.failed or {}
    words = {"diverged": "diverged", "interrupted": "was interrupted", "error": "failed"}
    said = words.get(str(failed.get("reason")), "did not finish")
    return f"{said} in round {failed['round']}" if failed.get("round") is not None else said


def _endings(runs: Sequence[RunFolder]) -> str:
    shown = [f"'{run.path}' {ending(run)}" for run in runs[:3]]
    more = [f"{len(runs) - 3} more did not finish"] if len(runs) > 3 else []
    return ", ".join(shown + more) or "no folder was given"


def _object(row: Row, metric: str) -> dict[str, Any]:
    paths: list[Path] = [run.path for run in row.group.runs]
    return {
        "method": row.group.method,
        "group": row.group.varying,
        "seeds": list(row.values),
        "n": len(row.values),
        "metric": metric,
        "mean": row.mean,
        "std": row.std,
        "values": list(row.values.values()),
        "baseline": row.baseline,
        "paired": _paired_object(row.paired),
        "runs": [str(path) for path in paths],
    }


def _paired_object(paired: Paired | None) -> dict[str, float | None] | None:
    if paired is None:
        return None
    numbers = {"n": paired.n, "difference": paired.difference, "std": paired.std}
    t = paired.t if paired.t is not None and math.isfinite(paired.t) else None
    return {**numbers, "t": t, "p": paired.p}
