"""The numbers of summary.json, by name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import InputError, unknown
from .folders import RunFolder

ACCURACIES = ("final", "last", "best")
"""The short names of the three accuracies, which come first."""


def resolve(name: str, runs: Sequence[RunFolder]) -> str:
    """Return the dotted key that a metric's name means in these runs.

    A dotted name is taken as it is; a plain one may leave out what stands before the last dot
    where that is clear.

    Raises:
        InputError: When no run has such a number, or several keys end in the name.
    """
    keys = sorted({key for run in runs for key, _ in _leaves(run.summary)})
    if name in ACCURACIES:
        return f"accuracy.{name}"
    if name in keys:
        return name
    meant = [key for key in keys if key.rpartition(".")[2] == name]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise InputError(f"metric '{name}' is not one key: write {' or '.join(meant)}")
    raise unknown("metric", name, [*ACCURACIES, *(k for k in keys if k not in _SHORT)])


def value(run: RunFolder, key: str) -> float | None:
    """Return the finite number under a dotted key, or None."""
    return dict(_leaves(run.summary)).get(key)


def is_share(key: str, runs: Sequence[RunFolder]) -> bool:
    """Say whether a key holds a fraction that people read in percent."""
    names = {run.summary.get("metric", "accuracy") for run in runs}
    return key.startswith("accuracy.") and names == {"accuracy"}


_SHORT = {f"accuracy.{name}" for name in ACCURACIES}


def _leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    for key, item in tree.items():
        if isinstance(item, Mapping):
            yield from _leaves(item, f"{prefix}{key}.")
        elif isinstance(item, int | float) and not isinstance(item, bool) and math.isfinite(item):
            yield f"{prefix}{key}", float(item)
