"""Files that are packed by themselves, as their names say: ``x.gz``, ``x.xz``, ``x.bz2``."""

from __future__ import annotations

from importlib import import_module
from typing import BinaryIO, cast

_PACKINGS = {".gz": "gzip", ".xz": "lzma", ".bz2": "bz2"}


def unpacked(path: str) -> str:
    """Return the path that a file has once it is unpacked.

    >>> unpacked("gzip/labels.gz"), unpacked("labels")
    ('gzip/labels', 'labels')

    Args:
        path: Its path or name.
    """
    return path[: len(path) - len(_packing(path))]


def unpack(name: str, stream: BinaryIO) -> BinaryIO:
    """Return what unpacks a stream as it is read, or the stream if its name says it is not packed.

    Args:
        name: Says how it is packed.
        stream: The packed bytes.
    """
    packing = _packing(name)
    if not packing:
        return stream
    # Of the three, gzip alone is in every Python.
    return cast(BinaryIO, import_module(_PACKINGS[packing]).open(stream))


def _packing(name: str) -> str:
    return next((suffix for suffix in _PACKINGS if name.lower().endswith(suffix)), "")
