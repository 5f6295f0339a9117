"""Where a run writes: a free folder, or none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    from ..recipe import Recipe

RUNS = Path("runs")


def free(folder: Path) -> Path:
    """Return the folder if a run may be written there: absent or empty."""
    if not folder.exists():
        _check_parent(folder)
        return folder
    if not folder.is_dir():
        raise InputError(f"--out {folder} is a file: name a folder that is absent or empty")
    if (folder / "recipe.toml").exists():
        way = "choose another --out or remove it (--resume is not in this version)"
        raise InputError(f"--out {folder} already holds a run: {way}")
    if any(folder.iterdir()):
        raise InputError(f"--out {folder} is not empty: name a folder that is absent or empty")
    return folder


def default(recipe: Recipe) -> Path:
    """Return the recipe's own folder in ``runs/``, with -2, -3 … where that is taken."""
    name, number = recipe.folder_name(), 1
    folder = RUNS / name
    while folder.exists():
        number += 1
        folder = RUNS / f"{name}-{number}"
    return folder


def _check_parent(folder: Path) -> None:
    """Raise where the nearest thing above that exists is no folder to write in."""
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    if not above.is_dir():
        raise InputError(f"--out {folder}: {above} is a file, not a folder")
    if not os.access(above, os.W_OK):
        raise InputError(f"--out {folder}: {above} is a folder that may not be written to")
