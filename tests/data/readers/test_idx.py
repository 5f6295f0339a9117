"""The IDX format: read byte by byte as it is written, and every wrong byte seen."""

from __future__ import annotations

import gzip
import string
import struct
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from fedkeel.data.readers import Bundle, read_idx

Packer = Callable[[Path, Mapping[str, bytes]], Path]
Refused = Callable[..., str]
Files = dict[str, bytes]


def images(
    count: int, first: int = 0, magic: int = 0x803, sizes: tuple[int, int] = (2, 3)
) -> bytes:
    """Return images of two rows and three columns, whose pixels count up."""
    header = struct.pack(">IIII", magic, count, *sizes)
    return header + bytes((first + i) % 256 for i in range(count * sizes[0] * sizes[1]))


def labels(*values: int) -> bytes:
    return struct.pack(">II", 0x801, len(values)) + bytes(values)


@pytest.fixture
def mnist() -> Files:
    return {
        "train-images-idx3-ubyte": images(3),
        "train-labels-idx1-ubyte": labels(7, 0, 9),
        "t10k-images-idx3-ubyte": images(2, 100),
        "t10k-labels-idx1-ubyte": labels(1, 2),
    }


def test_mnist(pack: Packer, mnist: Files, tmp_path: Path) -> None:
    raw = read_idx(Bundle.of(pack(tmp_path / "mnist", mnist)))
    assert raw.x_test is not None and raw.y_test is not None
    assert raw.x_train.shape == (3, 1, 2, 3) and raw.x_train.dtype == np.uint8
    assert raw.x_train.tolist()[1] == [[[6, 7, 8], [9, 10, 11]]]
    assert raw.x_test.tolist()[0] == [[[100, 101, 102], [103, 104, 105]]]
    assert raw.y_train.tolist() == [7, 0, 9] and raw.y_test.tolist() == [1, 2]
    assert raw.y_train.dtype == np.int64 and raw.owner is None
    assert raw.x_train.flags.writeable


def test_the_spelling_with_dots_and_files_by_themselves(mnist: Files, tmp_path: Path) -> None:
    paths = [tmp_path / name.replace("-idx", ".idx") for name in mnist]
    for path, data in zip(paths, mnist.values(), strict=True):
        path.write_bytes(data)
    assert read_idx(Bundle.of(*paths)).y_train.tolist() == [7, 0, 9]


@pytest.mark.parametrize(
    ("split", "stored", "read", "names"),
    [
        ("byclass", 61, 61, string.digits + string.ascii_uppercase + string.ascii_lowercase),
        ("letters", 26, 25, string.ascii_lowercase),
        ("digits", 9, 9, string.digits),
    ],
)
def test_emnist(
    split: str, stored: int, read: int, names: str, tmp_path: Path, packers: dict[str, Packer]
) -> None:
    files = {}
    for name in ("byclass", "letters", "digits"):
        for part in ("train", "test"):
            stem = f"gzip/emnist-{name}-{part}"
            last = stored if name == split else 1
            files[f"{stem}-images-idx3-ubyte.gz"] = gzip.compress(images(2))
            files[f"{stem}-labels-idx1-ubyte.gz"] = gzip.compress(labels(1, last))
    raw = read_idx(Bundle.of(packers["zip"](tmp_path / "gzip", files)), f"emnist-{split}-")
    assert raw.labels == tuple(names)
    assert raw.y_train.tolist() == [0 if split == "letters" else 1, read]
    assert raw.x_train.tolist()[0] == [[[0, 1, 2], [3, 4, 5]]]  # the orientation stays


BROKEN: dict[str, tuple[str, bytes, str]] = {
    "empty": ("train-images-idx3-ubyte", b"", "begins with ''"),
    "text": ("train-images-idx3-ubyte", b"<html>not found</html>", "begins with '3c68746d'"),
    "labels for images": ("train-images-idx3-ubyte", labels(1, 2, 3), "begins with '00000801'"),
    "of floats": ("train-images-idx3-ubyte", images(3, magic=0xD03), "begins with '00000d03'"),
    "cut in the magic": ("t10k-labels-idx1-ubyte", b"\0\0", "begins with '0000'"),
    "cut in the header": ("t10k-images-idx3-ubyte", images(2)[:13], "ends within its header"),
    "cut in the pixels": ("train-images-idx3-ubyte", images(3)[:-1], "it holds 17 values"),
    "too much": ("train-images-idx3-ubyte", images(3) + b"\0", "it holds more"),
    "a header far too large": (
        "train-images-idx3-ubyte",
        struct.pack(">IIII", 0x803, 2**32 - 1, 2**32 - 1, 2**32 - 1) + bytes(18),
        "it holds 18 values",
    ),
    "fewer labels": ("train-labels-idx1-ubyte", labels(1, 2), "2 labels"),
    "a label out of range": ("train-labels-idx1-ubyte", labels(1, 2, 10), "the label 10"),
    "no images": ("train-images-idx3-ubyte", images(0), "no samples"),
    "other sizes": ("t10k-images-idx3-ubyte", images(2, sizes=(3, 2)), "(2, 3) and (3, 2)"),
}


@pytest.mark.parametrize(("name", "data", "words"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("packed", [False, True])
def test_broken(
    name: str,
    data: bytes,
    words: str,
    packed: bool,
    mnist: Files,
    tmp_path: Path,
    packers: dict[str, Packer],
    refused: Refused,
) -> None:
    files = mnist | {name: data}
    bundle = Bundle.of(packers["gzips" if packed else "folder"](tmp_path / "mnist", files))
    named = "mnist" if "other sizes" in words or "(2, 3)" in words else name
    refused(lambda: read_idx(bundle), words, named)


def test_missing(mnist: Files, tmp_path: Path, pack: Packer, refused: Refused) -> None:
    del mnist["t10k-labels-idx1-ubyte"]
    bundle = Bundle.of(pack(tmp_path / "mnist", mnist))
    refused(lambda: read_idx(bundle), "mnist", "has no 't10k-labels-idx1-ubyte'")


def test_letters_are_counted_from_one(
    tmp_path: Path, packers: dict[str, Packer], refused: Refused
) -> None:
    files = {}
    for part in ("train", "test"):
        files[f"emnist-letters-{part}-images-idx3-ubyte"] = images(1)
        files[f"emnist-letters-{part}-labels-idx1-ubyte"] = labels(0)
    bundle = Bundle.of(packers["folder"](tmp_path, files))
    refused(lambda: read_idx(bundle, "emnist-letters-"), "labels-idx1-ubyte", "from 1 to 26")
