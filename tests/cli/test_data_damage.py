"""Files that are damaged, mislabelled, hostile or missing: one line that names them, and exit 2."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedkeel.data.sets import store
from tests.cli.conftest import Call
from tests.data.raws import digits, idx_files, save

Damage = Callable[[], None]


def _npz(**changed: np.ndarray | None) -> Damage:
    """Save the digits as bad.npz, with other arrays or without some."""

    def make() -> None:
        save(Path("bad.npz"), digits())
        with np.load("bad.npz") as stored:
            arrays = {**stored, **changed}
        np.savez("bad.npz", **{name: a for name, a in arrays.items() if a is not None})

    return make


def _file(name: str, content: bytes) -> Damage:
    return lambda: _write(name, content)


def _write(name: str, content: bytes) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(content)


def _cut_npz() -> None:
    _npz()()
    whole = Path("bad.npz").read_bytes()
    Path("bad.npz").write_bytes(whole[: len(whole) // 2])


def _huge_npz() -> None:
    header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (10000000000000, 28), }"
    header += b" " * (117 - len(header)) + b"\n"
    with zipfile.ZipFile("bad.npz", "w") as archive:
        for name in ("x_train", "y_train"):
            head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
            archive.writestr(f"{name}.npy", head + header)


def _idx(change: Callable[[dict[str, bytes]], object]) -> Damage:
    """Write MNIST's official files into the folder raw, after a change of their content."""

    def make() -> None:
        files = {name: gzip.decompress(content) for name, content in idx_files(digits()).items()}
        change(files)
        for name, content in files.items():
            _write(f"raw/{name}", gzip.compress(content))

    return make


def _cut_gz() -> None:
    _idx(dict)()
    path = Path("raw/train-images-idx3-ubyte.gz")
    path.write_bytes(path.read_bytes()[:-2000])


IMAGES, LABELS = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"


def _head(name: str, place: int, value: int) -> Damage:
    def change(files: dict[str, bytes]) -> None:
        content = bytearray(files[name])
        content[place : place + 4] = struct.pack(">I", value)
        files[name] = bytes(content)

    return _idx(change)


class _Code:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch was-run",)


def _tar(*members: tuple[tarfile.TarInfo, bytes]) -> None:
    with tarfile.open("bad.tar.gz", "w:gz") as archive:
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def _pickle_with_code() -> None:
    code = pickle.dumps({b"data": _Code(), b"labels": [0]}, protocol=2)
    names = [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch", "batches.meta"]
    _tar(*((tarfile.TarInfo(f"cifar-10-batches-py/{name}"), code) for name in names))


def _link() -> None:
    link = tarfile.TarInfo("cifar-10-batches-py/data_batch_1")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    _tar((link, b""))


def _zip(*names: str) -> Damage:
    def make() -> None:
        with zipfile.ZipFile("bad.zip", "w") as archive:
            for name in names:
                archive.writestr(name, "n01 \n")

    return make


def _cut_tar() -> None:
    _pickle_with_code()
    whole = Path("bad.tar.gz").read_bytes()
    Path("bad.tar.gz").write_bytes(whole[: len(whole) // 2])


def _leaf(content: str) -> Damage:
    return _file("leaf/train/a.json", content.encode())


def _stored(change: Callable[[Path], object]) -> Damage:
    """Store the digits as mnist where data sets are looked for, and change a file."""

    def make() -> None:
        Path("sets").mkdir()
        change(store.write(Path("sets"), "mnist", digits()))

    return make


def _index(**changed: Any) -> Damage:
    def change(folder: Path) -> None:
        path = folder / "data.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))

    return _stored(change)


def _pictures(**sizes: int) -> Damage:
    """Write a picture of each size into a class of its own."""

    def make() -> None:
        image = pytest.importorskip("PIL.Image")
        for name, side in sizes.items():
            Path("pets", name).mkdir(parents=True)
            image.new("L", (side, side)).save(Path("pets", name, "a.png"))

    return make


def _broken_picture() -> None:
    _pictures(cat=4, dog=4)()
    Path("pets/dog/a.png").write_bytes(b"\x89PNG\r\n\x1a\nno more")


def _flat(shape: tuple[int, ...]) -> np.ndarray:
    return np.zeros(shape, np.uint8)


NAN = np.full((20, 4), np.nan)
FLOATS = np.zeros((20, 4))
OBJECTS = np.array([None] * 20)
CLASSES = np.arange(20) % 10

# What is called, what was made before, and what the line must name.
KINDS: dict[str, tuple[str, Damage, list[str]]] = {
    # arrays
    "missing": ("get mnist --from bad.npz", lambda: None, ["bad.npz"]),
    "missing path": ("show ./bad.npz", lambda: None, ["bad.npz"]),
    "missing folder": ("show nowhere/bad.npz", lambda: None, ["bad.npz", "folder"]),
    "empty": ("get mnist --from bad.npz", _file("bad.npz", b""), ["bad.npz"]),
    "truncated": ("get mnist --from bad.npz", _cut_npz, ["bad.npz", "damaged"]),
    "truncated path": ("show bad.npz", _cut_npz, ["bad.npz", "damaged"]),
    "text": ("show bad.npz", _file("bad.npz", b"x,y\n1,2\n"), ["bad.npz"]),
    "a folder": ("show bad.npz", lambda: Path("bad.npz").mkdir(), ["bad.npz"]),
    "objects": ("show bad.npz", _npz(y_train=OBJECTS), ["bad.npz", "Python objects"]),
    "huge header": ("get mnist --from bad.npz", _huge_npz, ["bad.npz"]),
    "no labels": ("get mnist --from bad.npz", _npz(y_train=None), ["bad.npz", "y_train"]),
    "half a test part": ("show bad.npz", _npz(y_test=None), ["bad.npz", "y_test"]),
    "no test part": (
        "get mnist --from bad.npz", _npz(x_test=None, y_test=None), ["bad.npz", "test"],
    ),
    "wrong shape": (
        "get mnist --from bad.npz",
        _npz(x_train=_flat((20, 9, 9)), x_test=_flat((10, 9, 9))), ["bad.npz", "x_train", "28"],
    ),
    "parts differ": ("show bad.npz", _npz(x_test=_flat((10, 9, 9))), ["bad.npz", "x_test"]),
    "another set": ("get cifar10 --from bad.npz", _npz(), ["bad.npz", "cifar10"]),
    "wrong content": ("get mnist --from bad.npz", _npz(), ["bad.npz", "x_train differs"]),
    "a label too many": ("show bad.npz", _npz(y_train=np.zeros(21, int)), ["bad.npz", "21"]),
    "label out of range": (
        "get mnist --from bad.npz", _npz(y_train=CLASSES + 3), ["bad.npz", "12", "0 to 9"],
    ),
    "negative label": ("show bad.npz", _npz(y_train=CLASSES - 1), ["bad.npz", "-1"]),
    "words for labels": ("show bad.npz", _npz(y_train=np.array(["a"] * 20)), ["bad.npz"]),
    "NaN": (
        "show bad.npz", _npz(x_train=NAN, x_test=FLOATS[:10]), ["bad.npz", "NaN"],
    ),
    "complex": ("show bad.npz", _npz(x_train=FLOATS + 1j, x_test=None, y_test=None), ["bad.npz"]),
    "no samples": (
        "show bad.npz", _npz(x_train=_flat((0, 9, 9)), y_train=CLASSES[:0]), ["bad.npz"],
    ),
    "owners": ("show bad.npz", _npz(writer_train=np.full(20, 0.5)), ["bad.npz", "writer_train"]),
    # official files
    "cut gz": ("get mnist --from raw", _cut_gz, [IMAGES.removesuffix(".gz")]),
    "magic": ("get mnist --from raw", _head(IMAGES, 0, 0x0D03), ["train-images"]),
    "promises": ("get mnist --from raw", _head(IMAGES, 4, 1 << 31), ["train-images"]),
    "more labels": (
        "get mnist --from raw",
        _idx(lambda files: files.update({LABELS: files["t10k-labels-idx1-ubyte.gz"]})), ["labels"],
    ),
    "one of four": (
        "get mnist --from raw", _idx(lambda files: files.pop(LABELS)), ["train-labels"],
    ),
    "not gz": ("get mnist --from raw", _file(f"raw/{IMAGES}", b"<html>"), ["train-images"]),
    "an empty folder": ("get mnist --from raw", lambda: Path("raw").mkdir(), ["raw"]),
    "code in a pickle": (
        "get cifar10 --from bad.tar.gz", _pickle_with_code, ["bad.tar.gz", "code"],
    ),
    "cut tar": ("get cifar10 --from bad.tar.gz", _cut_tar, ["bad.tar.gz"]),
    "a link": ("get cifar10 --from bad.tar.gz", _link, ["bad.tar.gz", "data_batch_1"]),
    "absolute path": (
        "get cifar10 --from bad.tar.gz",
        lambda: _tar((tarfile.TarInfo("/etc/data_batch_1"), b"")), ["bad.tar.gz", "/etc"],
    ),
    "zip slip": (
        "get tinyimagenet --from bad.zip", _zip("../../wnids.txt"), ["bad.zip", "../"],
    ),
    "empty zip": ("get tinyimagenet --from bad.zip", _zip(), ["bad.zip"]),
    "another zip": ("get lc25000 --from bad.zip", _zip("readme"), ["bad.zip"]),
    "half JSON": ("get femnist --from leaf", _leaf('{"users": ["a"'), ["a.json"]),
    "other JSON": ("get shakespeare --from leaf", _leaf("[1]"), ["a.json"]),
    "half plays": (
        "get shakespeare --from bad.jsonl", _file("bad.jsonl", b'{"play": '), ["bad.jsonl"],
    ),
    "cut xz": (
        "get shakespeare --from bad.jsonl.xz",
        _file("bad.jsonl.xz", b"\xfd7zXZ\0\0"), ["bad.jsonl.xz"],
    ),
    # folders of images
    "no classes": ("show ./pets", lambda: Path("pets").mkdir(), ["pets"]),
    "no picture": ("show ./pets", _broken_picture, ["dog/a.png"]),
    "two sizes": ("show ./pets", _pictures(cat=4, dog=5), ["cat/a.png", "dog/a.png"]),
    # stored
    "broken index": (
        "show mnist",
        _stored(lambda folder: (folder / "data.json").write_text("{")), ["data.json", "JSON"],
    ),
    "a later format": ("show mnist", _index(format=9), ["data.json", "format 9", "upgrade"]),
    "a path out": (
        "show mnist",
        _index(arrays={"../x_train": {}, "x_train": {}, "y_train": {}}), ["data.json"],
    ),
    "short array": (
        "show mnist",
        _stored(lambda folder: os.truncate(folder / "x_train.npy", 500)), ["x_train.npy"],
    ),
    "no array": (
        "show mnist", _stored(lambda folder: os.remove(folder / "y_test.npy")), ["y_test.npy"],
    ),
    "another type": (
        "show mnist",
        _stored(lambda folder: np.save(folder / "y_train.npy", NAN)), ["y_train.npy", "<f8"],
    ),
    "stored labels": (
        "show mnist",
        _stored(lambda folder: np.save(folder / "y_train.npy", CLASSES + 1)), ["mnist", "10"],
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _sets(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEDKEEL_DATA", str(here / "sets"))
    monkeypatch.setenv("HOME", str(here / "home"))


@pytest.mark.parametrize(("words", "damage", "named"), KINDS.values(), ids=KINDS)
def test_one_line_and_exit_2(
    call: Call, here: Path, words: str, damage: Damage, named: list[str]
) -> None:
    damage()
    said = call("data", *words.split())
    assert (said.code, said.out) == (2, ""), said
    assert said.err.startswith("fedkeel: ") and said.err.count("\n") == 1, said.err
    assert "Traceback" not in said.err and len(said.err) < 600
    assert all(word in said.err for word in named), said.err
    assert not (here / "was-run").exists()
    assert not list(here.glob("sets/*/.*")) and not list(here.glob("sets/.*"))


@pytest.mark.parametrize("name", ["bad.npz", "sets/mnist/x_train.npy", "sets/mnist/data.json"])
def test_what_may_not_be_read(call: Call, name: str) -> None:
    _npz()()
    _stored(lambda folder: None)()
    os.chmod(name, 0)
    if os.access(name, os.R_OK):
        pytest.skip("root may read anything")
    said = call("data", "show", "bad.npz" if name == "bad.npz" else "mnist")
    assert said.code == 2 and name in said.err and said.err.count("\n") == 1


def test_there_are_25_kinds_and_more() -> None:
    assert len(KINDS) >= 25
