"""How a run's data were split, as partition.npz has it."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from .folders import RunFolder, repeat_hint


def label_counts(run: RunFolder) -> tuple[np.ndarray, tuple[str, ...]] | None:
    """Return samples per client and class, and the classes' names; None where not written."""
    path = run.path / "partition.npz"
    if not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            if "label_counts" not in file:
                return None
            counts = np.asarray(file["label_counts"])
            names = tuple(map(str, file["labels"])) if "labels" in file else ()
    except Exception as error:
        # A damaged archive raises whatever its first broken byte happens to mean to zipfile.
        raise InputError(f"'{path}' is damaged: {repeat_hint(run.path)}") from error
    return (counts, names) if counts.ndim == 2 and counts.size else None
