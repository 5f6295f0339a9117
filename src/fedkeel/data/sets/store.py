"""Data sets as they are stored: a folder of arrays, there as a whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ...errors import InputError
from ..raw import Array, Raw

FORMAT = 1
INDEX = "data.json"
_NAMES = ("labels", "coarse_labels")
_ARRAYS = tuple(field for field in Raw._fields if field not in _NAMES)
_FILES = tuple(f"{name}.npy" for name in _ARRAYS)
_TURNS = 50  # of writers that want the same place at the same moment


class Damaged(InputError):
    """A stored data set is not what was written."""


def digests(raw: Raw) -> dict[str, str]:
    """Return the SHA-256 of each array as it is stored."""
    return {name: _sha256(array) for name, array in _arrays(raw).items()}


def write(folder: Path, name: str, raw: Raw) -> Path:
    """Store a data set as a folder of that name, and return its path.

    It is made beside its place and moved there when it is whole, so that whoever looks finds the
    one before, none, or this one. Official files that lie in the folder already stay there.

    Args:
        folder: Where data sets are kept.
        name: What the data set is called.
        raw: Its arrays.
    """
    try:
        with TemporaryDirectory(prefix=f".{name}-", dir=folder) as scratch:
            made = Path(scratch) / "made"
            _save(made, name, raw)
            _settle(made, folder / name)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"'{folder / name}' cannot be written: {reason}") from error
    return folder / name


def read(folder: Path) -> Raw:
    """Return the arrays of a stored data set, which come into memory as they are looked at.

    What a program writes to them it alone sees: the files stay as they are.
    """
    index = _index(folder)
    fields: dict[str, Any] = {name: tuple(index[name]) for name in _NAMES}
    fields |= {name: _array(folder, name, said) for name, said in index["arrays"].items()}
    return Raw(**fields)


def is_stored(folder: Path) -> bool:
    """Tell whether a folder is a stored data set."""
    return os.path.isfile(folder / INDEX)


def is_whole(folder: Path) -> bool:
    """Tell whether a stored data set still is, bit for bit, what was written.

    One that cannot be looked at, or is of a later fedkeel, is an error: it may well be whole.
    """
    try:
        said = _index(folder)["arrays"]
        return digests(read(folder)) == {name: one["sha256"] for name, one in said.items()}
    except Damaged:
        return False


def _arrays(raw: Raw) -> dict[str, Array]:
    """Return the arrays there are, row by row and in the byte order of the files."""
    found = {name: getattr(raw, name) for name in _ARRAYS}
    return {
        name: np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        for name, array in found.items()
        if array is not None
    }


def _sha256(array: Array) -> str:
    return hashlib.sha256(array.reshape(-1).view(np.uint8).data).hexdigest()


def _save(folder: Path, name: str, raw: Raw) -> None:
    from ... import __version__

    folder.mkdir()
    said = {}
    for key, array in _arrays(raw).items():
        np.save(folder / f"{key}.npy", array, allow_pickle=False)
        shape = list(array.shape)
        said[key] = {"dtype": array.dtype.str, "shape": shape, "sha256": _sha256(array)}
    index = {"format": FORMAT, "name": name, "fedkeel": __version__, "arrays": said}
    index |= {key: list(getattr(raw, key)) for key in _NAMES}
    (folder / INDEX).write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")


def _settle(made: Path, place: Path) -> None:
    """Move a folder to its place, where others may be doing the same."""
    for turn in range(_TURNS):
        try:
            if not place.exists():
                os.replace(made, place)
            elif _is_alone(place):
                os.replace(place, made.with_name(f"before-{turn}"))
                continue
            else:
                _pour(made, place)
            return
        except OSError:  # somebody was quicker: look again
            if turn == _TURNS - 1:
                raise


def _is_alone(place: Path) -> bool:
    """Tell whether a stored data set has its folder for itself."""
    return is_stored(place) and set(os.listdir(place)) <= {INDEX, *_FILES}


def _pour(made: Path, place: Path) -> None:
    """Move files into a folder that holds others too; with the last one it is a data set."""
    (place / INDEX).unlink(missing_ok=True)
    for name in (*_FILES, INDEX):
        if (made / name).exists():
            os.replace(made / name, place / name)
        else:
            (place / name).unlink(missing_ok=True)


def _index(folder: Path) -> dict[str, Any]:
    path = folder / INDEX
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise _damaged(folder, f"'{path}' is not JSON") from error
    version = index.get("format") if isinstance(index, dict) else None
    if type(version) is int and version > FORMAT:
        raise InputError(
            f"'{path}' has format {version}, of a later fedkeel, and this one reads {FORMAT}: "
            "upgrade fedkeel, or remove the folder and store the data set again"
        )
    if type(version) is not int or version != FORMAT or not _is_index(index):
        raise _damaged(folder, f"'{path}' does not say what data.json has to")
    return dict(index)


def _is_index(index: dict[str, Any]) -> bool:
    arrays = index.get("arrays")
    if not isinstance(arrays, dict) or not {"x_train", "y_train"} <= set(arrays) <= set(_ARRAYS):
        return False
    whole = all(
        isinstance(said, dict) and {"dtype", "shape", "sha256"} <= set(said)
        for said in arrays.values()
    )
    names = [index.get(key) for key in _NAMES]
    return whole and all(
        isinstance(words, list) and all(isinstance(word, str) for word in words) for words in names
    )


def _array(folder: Path, name: str, said: dict[str, Any]) -> Array:
    path = folder / f"{name}.npy"
    try:
        array = np.lib.format.open_memmap(path, mode="c")
    except FileNotFoundError as error:
        raise _damaged(folder, f"'{path}' is missing") from error
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {error.strerror or error}") from error
    except Exception as error:  # whatever a damaged header makes NumPy raise
        raise _damaged(folder, f"'{path}' is damaged") from error
    if array.dtype.str != said["dtype"] or list(array.shape) != said["shape"]:
        found = f"{array.dtype.str} {array.shape}"
        wanted = f"{said['dtype']} {tuple(said['shape'])}"
        raise _damaged(folder, f"'{path}' holds {found} where {INDEX} says {wanted}")
    return array


def _damaged(folder: Path, what: str) -> Damaged:
    return Damaged(f"{what}: remove '{folder}' and store the data set again")
