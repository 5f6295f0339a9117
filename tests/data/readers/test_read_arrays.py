"""Arrays of an .npz by their usual names, and by MedMNIST's."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fedkeel.data.readers import channels_first, read_arrays

Refused = Callable[..., str]

IMAGES = (np.arange(4 * 2 * 3 * 3) % 256).astype(np.uint8).reshape(4, 2, 3, 3)
PLAIN = {"x_train": IMAGES, "y_train": np.arange(4, dtype=np.uint8)}
TEST = {"x_test": IMAGES[:2], "y_test": np.arange(2)}


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    def save(**arrays: np.ndarray) -> Path:
        np.savez(tmp_path / "a.npz", **arrays)
        return tmp_path / "a.npz"

    return save


def test_plain(save: Callable[..., Path]) -> None:
    raw = read_arrays(save(**PLAIN, **TEST))
    assert raw.x_train.shape == (4, 3, 2, 3) and raw.y_train.dtype == np.int64
    assert (raw.x_train == IMAGES.transpose(0, 3, 1, 2)).all()
    assert raw.x_test is not None and raw.x_test.shape == (2, 3, 2, 3)
    assert raw.owner is None and raw.labels == () and raw.coarse_train is None


def test_without_a_test_part_and_with_all_that_goes_with_it(save: Callable[..., Path]) -> None:
    raw = read_arrays(
        save(
            **PLAIN,
            writer_train=np.array([3, 1, 1, 0], np.int16),
            coarse_train=np.array([1, 1, 0, 0], np.uint8),
            classes=np.array(["a", "b", "c", "d"]),
            something_else=np.zeros(3),
        )
    )
    assert raw.x_test is None and raw.y_test is None and raw.coarse_test is None
    assert raw.owner is not None and raw.owner.tolist() == [3, 1, 1, 0]
    assert raw.coarse_train is not None and raw.coarse_train.dtype == np.int64
    assert raw.labels == ("a", "b", "c", "d")


def test_floating_and_tokens_stay_as_they_are(save: Callable[..., Path]) -> None:
    x, y = np.ones((4, 5), np.float32), np.linspace(0, 1, 4)
    raw = read_arrays(save(x_train=x, y_train=y))
    assert raw.x_train.dtype == np.float32 and raw.y_train.dtype == np.float64
    tokens = read_arrays(save(x_train=np.ones((4, 5), np.int16), y_train=np.ones((4, 5), np.int16)))
    assert tokens.x_train.dtype == np.int16 and tokens.y_train.dtype == np.int64
    assert tokens.y_train.shape == (4, 5)


@pytest.mark.parametrize("channels", [0, 1, 3])
def test_medmnist(channels: int, save: Callable[..., Path]) -> None:
    shape = (5, 28, 28, channels) if channels else (5, 28, 28)
    arrays = {
        f"{part}_{kind}": np.ones(shape if kind == "images" else (5, 1), np.uint8)
        for part in ("train", "val", "test")
        for kind in ("images", "labels")
    }
    raw = read_arrays(save(**arrays))
    assert raw.x_train.shape == (5, channels or 1, 28, 28)
    assert raw.y_test is not None and raw.y_train.tolist() == raw.y_test.tolist() == [1] * 5


def test_medmnist_of_several_labels_and_of_volumes(save: Callable[..., Path]) -> None:
    raw = read_arrays(
        save(
            train_images=np.zeros((2, 28, 28, 28), np.uint8),
            train_labels=np.array([[0, 1, 1], [1, 0, 0]], np.uint8),
        )
    )
    assert raw.x_train.shape == (2, 28, 28, 28)
    assert raw.y_train.dtype == np.float32 and raw.y_train.tolist() == [[0, 1, 1], [1, 0, 0]]


def test_channels_first() -> None:
    assert channels_first(np.zeros((2, 4, 5), np.uint8)).shape == (2, 1, 4, 5)
    assert channels_first(np.zeros((2, 4, 5, 1), np.uint8)).shape == (2, 1, 4, 5)
    assert channels_first(np.zeros((2, 3, 4, 5), np.uint8)).shape == (2, 3, 4, 5)
    assert channels_first(np.zeros((2, 4, 5, 3))).shape == (2, 4, 5, 3)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"y_train": np.arange(3)}, "one y for each x"),
        ({"y_train": np.array(["a"] * 4)}, "it must hold numbers"),
        ({"x_train": np.array(3.0)}, "one y for each x"),
        ({"x_test": IMAGES}, "x_test and no y_test"),
        ({"y_test": np.arange(4)}, "y_test and no x_test"),
        ({"writer_train": np.arange(3)}, "writer_train is int64 of shape (3,)"),
        ({"writer_train": np.arange(4) - 1}, "an integer >= 0 for each of 4"),
        ({"coarse_train": np.ones(4)}, "coarse_train is float64"),
    ],
)
def test_what_does_not_fit(
    changed: dict[str, np.ndarray], words: str, save: Callable[..., Path], refused: Refused
) -> None:
    path = save(**(PLAIN | changed))
    refused(lambda: read_arrays(path), "a.npz'", words)


def test_missing(save: Callable[..., Path], refused: Refused) -> None:
    path = save(x_train=IMAGES)
    refused(lambda: read_arrays(path), "a.npz", "has no array 'y_train': it holds x_train")
    path = save(train_images=IMAGES)
    refused(lambda: read_arrays(path), "has no array 'x_train': it holds train_images")
    path = save()
    refused(lambda: read_arrays(path), "it holds nothing")
    refused(lambda: read_arrays(path.with_name("b.npz")), "there is no file")


def _npy(shape: str, body: bytes) -> bytes:
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (117 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


@pytest.mark.parametrize("shape", ["(40000000000,)", "(8,)", "(65,)", "(-64,)", "()", "'a'"])
def test_a_header_of_another_size_makes_no_space(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x_train.npy", _npy(shape, bytes(64)))
        archive.writestr("y_train.npy", _npy("(64,)", bytes(64)))
    monkeypatch.setattr(np.lib.npyio.NpzFile, "__getitem__", lambda *_: pytest.fail("it was read"))
    refused(lambda: read_arrays(tmp_path / "a.npz"), "a.npz", "cannot be read as .npz")


def test_a_member_that_claims_what_cannot_be_in_it(tmp_path: Path, refused: Refused) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x_train.npy", _npy("(4000000000,)", bytes(64)))
    data = bytearray((tmp_path / "a.npz").read_bytes())
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = data.index(signature) + offset
        data[start : start + 4] = struct.pack("<I", 4_000_000_128)
    (tmp_path / "a.npz").write_bytes(data)
    refused(lambda: read_arrays(tmp_path / "a.npz"), "a.npz", "cannot be read as .npz")


def test_a_member_that_is_no_array(tmp_path: Path, refused: Refused) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x_train", "text")
        archive.writestr("y_train.npy", _npy("(1,)", b"1"))
    refused(lambda: read_arrays(tmp_path / "a.npz"), "a.npz", "cannot be read as .npz")
