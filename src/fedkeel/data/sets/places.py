"""Where data sets are looked for on a machine, and what is found there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal, NamedTuple

from ...errors import InputError, nearest
from ..raw import Raw
from .conformity import conform
from .entry import Entry
from .store import is_stored, read

Kind = Literal["stored", "arrays", "official", "package"]


class Place(NamedTuple):
    """Where a data set lies, and as what.

    Attributes:
        kind: A folder that fedkeel wrote, an .npz, official files, or the package itself.
        path: A folder or a file.
    """

    kind: Kind
    path: Path


def folders() -> tuple[Path, ...]:
    """Return the folders of data sets: those of $FEDKEEL_DATA, then ~/.cache/fedkeel."""
    said = [part for part in os.environ.get("FEDKEEL_DATA", "").split(os.pathsep) if part]
    return (*(Path(part).expanduser() for part in said), Path("~/.cache/fedkeel").expanduser())


def writable() -> Path:
    """Return the first folder of data sets that can be written to, made if it is missing."""
    for folder in folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    tried = ", ".join(f"'{folder}'" for folder in folders())
    raise InputError(f"no folder for data sets can be written to ({tried}): set FEDKEEL_DATA")


def find(entry: Entry) -> Place | None:
    """Return where a data set lies, if it is on this machine."""
    if entry.packaged:
        with as_file(files("fedkeel.data") / "femnist_mini.npz") as path:
            return Place("package", path)
    return next((place for folder in folders() for place in _inside(entry, folder)), None)


def at(entry: Entry, path: Path) -> Place:
    """Return what a path is to a data set: one of its files, or a folder that holds it."""
    if not os.path.lexists(path):
        raise _missing(path)
    if not path.is_dir():
        return Place("arrays" if path.suffix == ".npz" else "official", path)
    if is_stored(path):
        return Place("stored", path)
    return next(_inside(entry, path), Place("official", path))


def arrays(entry: Entry, place: Place) -> Raw:
    """Read a data set from where it lies, and make sure that it can be what it is said to be."""
    return conform(entry, _read(entry, place), place.path)


def absent(entry: Entry) -> InputError:
    """Build the line that says how a data set comes to this machine."""
    folder = shown(folders()[0])
    archive = () if entry.by_hand else _archives(entry)[:1]
    at_hand = " or ".join((f"{entry.name}.npz", *entry.also[:1], *archive))
    first = entry.by_hand.format(folder=folder) or f"run 'fedkeel data get {entry.name}'"
    return InputError(
        f"data set '{entry.name}' is not on this machine: {first}, or put {at_hand} into {folder}"
    )


def shown(path: Path) -> str:
    """Write a path as one would type it.

    >>> shown(Path.home() / "data")
    '~/data'
    """
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _inside(entry: Entry, folder: Path) -> Iterator[Place]:
    """Yield what a folder holds of a data set, the quickest to read first."""
    own = folder / entry.name
    if is_stored(own):
        yield Place("stored", own)
    for name in (f"{entry.name}.npz", *entry.also):
        if os.path.isfile(folder / name):
            yield Place("arrays" if name.endswith(".npz") else "official", folder / name)
    for name in _archives(entry):
        if os.path.exists(folder / name):
            yield Place("official", folder / name)
    if _is_official(entry, own):
        yield Place("official", own)


def _archives(entry: Entry) -> tuple[str, ...]:
    alone = [remote.file for remote in entry.files] if len(entry.files) == 1 else []
    return (*alone, *entry.local)


def _is_official(entry: Entry, own: Path) -> bool:
    """Tell whether a folder holds official files, and not only some that were fetched so far."""
    try:
        held = {name for name in os.listdir(own) if not name.startswith(".")}
    except OSError:
        return False
    held = {name for name in held if not name.endswith(".part")}
    fetched = {remote.file for remote in entry.files}
    return bool(held) and (held >= fetched or not held < fetched)


def _read(entry: Entry, place: Place) -> Raw:
    if place.kind == "stored":
        return read(place.path)
    if place.kind in ("arrays", "package") or entry.read is None:
        from ..readers.arrays import read_arrays

        return read_arrays(place.path)
    from ..readers.bundle import Bundle

    return entry.read(Bundle.of(place.path))


def _missing(path: Path) -> InputError:
    if not path.parent.is_dir():
        return InputError(f"there is no '{path}': its folder does not exist")
    close = nearest(path.name, [entry.name for entry in path.parent.iterdir()])
    hint = f"did you mean '{path.parent / close}'?" if close else "a file or a folder is needed"
    return InputError(f"there is no '{path}': {hint}")
