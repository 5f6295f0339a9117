"""Files of arrays: whatever is wrong with them is said in one line, and nothing in them is run."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from fedkeel.data.npz import read_npz
from fedkeel.errors import InputError


@pytest.fixture
def good(tmp_path: Path) -> Path:
    np.savez_compressed(tmp_path / "good.npz", a=np.arange(1000), b=np.ones(3))
    return tmp_path / "good.npz"


def _refused(path: Path, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read_npz(path, ["a"])
    assert "\n" not in str(caught.value)


def test_reads_what_is_asked(good: Path) -> None:
    assert list(read_npz(good, ["b"], ["a", "c"])) == ["b", "a"]


def test_missing_file_names_the_nearest(good: Path) -> None:
    _refused(good.with_name("god.npz"), "did you mean '.*good.npz'")
    _refused(good.with_name("elsewhere") / "x.npz", "its folder does not exist")
    _refused(good.with_name("zzzz"), "there is no file")
    _refused(good.parent, "is a folder")


def test_missing_array(good: Path) -> None:
    with pytest.raises(InputError, match="has no array 'c': it holds a, b"):
        read_npz(good, ["c"])


@pytest.mark.parametrize("keep", [0, 10, 100, 0.5, 0.9, -1])
def test_truncated(good: Path, keep: float) -> None:
    whole = good.read_bytes()
    end = int(keep * len(whole)) if isinstance(keep, float) else keep
    good.write_bytes(whole[:end])
    _refused(good, "cannot be read as .npz")


def test_flipped_bytes(good: Path) -> None:
    data = bytearray(good.read_bytes())
    data[150:200] = bytes(255 - byte for byte in data[150:200])
    good.write_bytes(data)
    _refused(good, "cannot be read as .npz")


def test_text_instead_of_arrays(tmp_path: Path) -> None:
    (tmp_path / "t.npz").write_text("x_train,y_train\n")
    _refused(tmp_path / "t.npz", "cannot be read as .npz")


def test_single_array(tmp_path: Path) -> None:
    np.save(tmp_path / "s.npy", np.ones(3))
    _refused((tmp_path / "s.npy").rename(tmp_path / "s.npz"), "holds one array without a name")


class _Bomb:
    def __reduce__(self) -> tuple:
        return (pytest.fail, ("a pickle was run",))


def test_pickled_objects_are_never_read(tmp_path: Path) -> None:
    bomb = np.empty(1, dtype=object)
    bomb[0] = _Bomb()
    np.savez(tmp_path / "o.npz", a=bomb)
    _refused(tmp_path / "o.npz", "Python objects, which are never read")


def test_a_header_that_promises_too_much(tmp_path: Path) -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }"
    header += b" " * (117 - len(header)) + b"\n"
    array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + b"\0" * 64
    with zipfile.ZipFile(tmp_path / "h.npz", "w") as archive:
        archive.writestr("a.npy", array)
    _refused(tmp_path / "h.npz", "cannot be read as .npz")
