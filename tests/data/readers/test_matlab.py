"""MATLAB's files: as SciPy writes them, packed or not, and broken in every place."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkeel.data.readers.matlab import read_vector
from fedkeel.errors import InputError

scipy_io = pytest.importorskip("scipy.io")

Refused = Callable[..., str]


def mat(packed: bool = False, **variables: object) -> bytes:
    stream = io.BytesIO()
    scipy_io.savemat(stream, variables, do_compression=packed)
    return stream.getvalue()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "i8", "u8", "f4", "f8"])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 100])
def test_vectors_of_every_type(packed: bool, dtype: str, count: int) -> None:
    values = np.arange(1, count + 1).astype(dtype)
    data = mat(packed, other="text", first=np.ones((2, 2)), labels=values[None], last={"a": 1})
    assert read_vector(data, "labels", "it").tolist() == list(range(1, count + 1))


def test_columns_come_one_after_the_other() -> None:
    assert read_vector(mat(a=np.array([[1, 2], [3, 4]])), "a", "it").tolist() == [1, 3, 2, 4]


def test_big_endian() -> None:
    def element(kind: int, body: bytes) -> bytes:
        return struct.pack(">II", kind, len(body)) + body + bytes(-len(body) % 8)

    matrix = (
        element(6, struct.pack(">II", 6, 0))
        + element(5, struct.pack(">ii", 1, 3))
        + element(1, b"labels")
        + element(3, struct.pack(">hhh", 7, 8, 300))
    )
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI"
    assert read_vector(header + element(14, matrix), "labels", "it").tolist() == [7, 8, 300]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "cannot be read"),
        (b"MATLAB 5.0 MAT-file" * 20, "cannot be read"),
        (mat(labels=[1, 2, 3])[:-9], "cannot be read"),
        (mat(True, labels=list(range(100)))[:-9], "cannot be read"),
        (mat(labels=[0.0, np.inf]), "cannot be read"),
        (mat(others=[1]), "has no numbers 'labels'"),
        (mat(labels="text"), "has no numbers 'labels'"),
        (mat(labels=np.empty((1, 0))), "has no numbers 'labels'"),
        (mat(labels=np.array([{"a": 1}], dtype=object)), "has no numbers 'labels'"),
    ],
)
def test_broken(data: bytes, words: str, refused: Refused) -> None:
    refused(lambda: read_vector(data, "labels", "'labels.mat'"), words, "'labels.mat'")


def test_a_bomb(refused: Refused) -> None:
    packed = zlib.compress(bytes(1 << 27), 1)
    data = mat(a=[1])[:128] + struct.pack("<II", 15, len(packed)) + packed
    refused(lambda: read_vector(data, "labels", "'labels.mat'"), "cannot be read")


@given(st.booleans(), st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=5))
def test_changed_bytes_break_nothing(packed: bool, changes: list[tuple[int, int]]) -> None:
    data = bytearray(mat(packed, first=np.ones((2, 2)), labels=np.arange(300)))
    for place, byte in changes:
        data[place % len(data)] = byte
    try:
        assert read_vector(bytes(data), "labels", "it").dtype == np.int64
    except InputError as error:
        assert "\n" not in str(error)
