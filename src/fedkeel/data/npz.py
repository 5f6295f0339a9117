"""Reading ``.npz`` files that others made: never a pickle, every kind of damage in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ..errors import InputError, nearest

Arrays = dict[str, NDArray[Any]]

_DENSEST = 1032  # bytes that one byte can stand for in a zip


def read_npz(path: str | Path, needed: Sequence[str], optional: Sequence[str] = ()) -> Arrays:
    """Return the arrays of a file by name; others in it are not looked at.

    Args:
        path: The file.
        needed: Arrays that must be there.
        optional: Arrays that are read if they are.
    """
    path = Path(path)
    if not path.is_file():
        raise _missing(path)
    try:
        # Opened here, since np.load leaves open a file that it finds to be damaged.
        with path.open("rb") as file:
            stored = np.load(file, allow_pickle=False)
            if not isinstance(stored, np.lib.npyio.NpzFile):
                raise InputError(f"'{path}' holds one array without a name: save it with np.savez")
            with stored:
                _check_names(path, stored.files, needed)
                names = [name for name in (*needed, *optional) if name in stored.files]
                for name in names:
                    _check_size(stored, name)
                return {name: stored[name] for name in names}
    except InputError:
        raise
    except Exception as error:  # zipfile, zlib and NumPy raise a dozen kinds for a damaged file
        raise _unreadable(path, error) from error


def _check_names(path: Path, present: Iterable[str], needed: Sequence[str]) -> None:
    present = list(present)
    for name in needed:
        if name not in present:
            raise InputError(
                f"'{path}' has no array '{name}': it holds {', '.join(present) or 'nothing'}"
            )


def _check_size(stored: np.lib.npyio.NpzFile, name: str) -> None:
    """Refuse sizes that what is stored cannot have, before space is made for them."""
    archive = stored.zip
    if archive is None:  # only once it is closed
        return
    member = archive.getinfo(name if name in archive.namelist() else f"{name}.npy")
    if member.file_size > _DENSEST * (member.compress_size + 1):
        raise ValueError("larger than what is stored can unpack to")
    with archive.open(member) as file:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(file)
        if not dtype.hasobject and prod(shape) * dtype.itemsize != member.file_size - file.tell():
            raise ValueError("another size than the header says")


def _missing(path: Path) -> InputError:
    if path.is_dir():
        return InputError(f"'{path}' is a folder: an .npz file is needed")
    if not path.parent.is_dir():
        return InputError(f"there is no file '{path}': its folder does not exist")
    close = nearest(path.name, [entry.name for entry in path.parent.iterdir()])
    hint = (
        f": did you mean '{path.parent / close}'?"
        if close
        else ": an .npz file, or a folder of class folders, is needed"
    )
    return InputError(f"there is no file '{path}'{hint}")


def _unreadable(path: Path, error: Exception) -> InputError:
    if "Object arrays" in str(error):
        return InputError(
            f"'{path}' holds Python objects, which are never read: save plain arrays in it"
        )
    kind = type(error).__name__
    return InputError(f"'{path}' cannot be read as .npz: it is damaged or something else ({kind})")
