"""Numbers out of MATLAB's files of version 5, in plain Python: a damaged file can break nothing."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from .sound import sound

_HEADER = 128
_ORDERS = {b"IM": "<", b"MI": ">"}
_NUMBERS = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
_MATRIX, _COMPRESSED = 14, 15
_MOST = 1 << 26  # bytes that one variable may unpack to


def read_vector(data: bytes, key: str, called: str) -> NDArray[np.int64]:
    """Return the whole numbers of one matrix, column after column.

    Args:
        data: The file's content.
        key: The matrix's name.
        called: What to call the file in an error.
    """
    with sound(called):
        order = _ORDERS.get(data[_HEADER - 2 : _HEADER])
        if order is None:
            raise ValueError("no file of version 5")
        for body in _matrices(data[_HEADER:], order):
            name, values = _matrix(body, order)
            if name == key and values.size:
                return values
    raise InputError(f"{called} has no numbers '{key}': it is another file")


def _matrices(data: bytes, order: str) -> Iterator[bytes]:
    """Yield the bodies of a file's matrices, unpacked."""
    for kind, body in _elements(data, order, padded=False):
        if kind == _COMPRESSED:
            unpacking = zlib.decompressobj()
            whole = unpacking.decompress(body, _MOST)
            if not unpacking.eof:
                raise ValueError("cut off, or larger than such a file is")
            yield from _matrices(whole, order)
        elif kind == _MATRIX:
            yield body


def _elements(data: bytes, order: str, *, padded: bool) -> Iterator[tuple[int, bytes]]:
    """Yield type and content of each element; up to four bytes lie within the tag itself."""
    start = 0
    while start < len(data):
        kind, size = struct.unpack_from(f"{order}II", data, start)
        small = kind >> 16
        first = start + (4 if small else 8)
        if small:
            kind, size = kind & 0xFFFF, small
        body = data[first : first + size]
        if len(body) < size or small > 4:
            raise ValueError("cut off")
        yield kind, body
        start = start + 8 if small else first + (-(-size // 8) * 8 if padded else size)


def _matrix(body: bytes, order: str) -> tuple[str, NDArray[np.int64]]:
    """Return name and numbers of a matrix, and no numbers of one that is something else."""
    (_, flags), (_, shape), (_, name), *parts = _elements(body, order, padded=True)
    kind, content = parts[0] if parts else (0, b"")
    if len(flags) != 8 or kind not in _NUMBERS:
        return name.decode("latin-1"), np.empty(0, dtype=np.int64)
    values = np.frombuffer(content, dtype=np.dtype(f"{order}{_NUMBERS[kind]}"))
    sizes = np.frombuffer(shape, dtype=f"{order}i4")
    if values.size != math.prod(int(size) for size in sizes):
        raise ValueError("another size than its shape")
    if not (np.isfinite(values) & (np.abs(values) < 2**31)).all():
        raise ValueError("no whole numbers")
    return name.decode("latin-1"), values.astype(np.int64)
