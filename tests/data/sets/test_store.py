"""Stored data sets: what is written is read, whole or not at all, and damage is named."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedkeel.data.raw import Raw
from fedkeel.data.sets import store
from fedkeel.errors import InputError
from tests.data.raws import coarse, digits, plays


def _same(a: Raw, b: Raw) -> bool:
    return all(
        np.array_equal(x, y) and x.dtype == y.dtype if isinstance(x, np.ndarray) else x == y
        for x, y in zip(a, b, strict=True)
    )


@pytest.mark.parametrize("raw", [digits(), coarse(), plays(), digits()._replace(labels=("a", "é"))])
def test_what_is_written_is_read(tmp_path: Path, raw: Raw) -> None:
    folder = store.write(tmp_path, "set", raw)
    assert folder == tmp_path / "set"
    assert store.is_stored(folder) and store.is_whole(folder)
    assert _same(store.read(folder), raw)
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


@settings(max_examples=20, deadline=None)
@given(
    n=st.integers(1, 5),
    shape=st.lists(st.integers(1, 3), min_size=1, max_size=3),
    names=st.lists(st.text(max_size=3), max_size=3),
)
def test_any_arrays(tmp_path_factory: Any, n: int, shape: list[int], names: list[str]) -> None:
    rng = np.random.default_rng(n)
    raw = Raw(rng.normal(size=(n, *shape)), np.arange(n), labels=tuple(names))
    folder = store.write(tmp_path_factory.mktemp("any"), "set", raw)
    assert _same(store.read(folder), raw)


def test_it_is_mapped_and_writing_reaches_no_file(tmp_path: Path) -> None:
    folder = store.write(tmp_path, "set", digits())
    raw = store.read(folder)
    assert isinstance(raw.x_train, np.memmap)
    raw.x_train[:] = 0
    assert not raw.x_train.any()
    assert _same(store.read(folder), digits())


def test_strange_memory_is_written_in_order(tmp_path: Path) -> None:
    raw = digits()
    x = np.asfortranarray(raw.x_train)[::-1]
    strange = raw._replace(x_train=x, y_train=raw.y_train.astype(">i8"))
    read = store.read(store.write(tmp_path, "set", strange))
    assert np.array_equal(read.x_train, x) and read.x_train.flags.c_contiguous
    assert read.y_train.dtype == np.dtype("<i8")


def test_digests_are_of_the_bytes_in_order() -> None:
    import hashlib

    raw = digits()
    expected = {
        name: hashlib.sha256(getattr(raw, name).tobytes()).hexdigest()
        for name in ("x_train", "y_train", "x_test", "y_test")
    }
    assert store.digests(raw) == expected
    moved = raw._replace(x_train=np.asfortranarray(raw.x_train))
    assert store.digests(moved) == expected


def test_the_index_says_what_is_there(tmp_path: Path) -> None:
    index = json.loads((store.write(tmp_path, "set", digits()) / "data.json").read_text())
    assert (index["format"], index["name"], index["labels"]) == (1, "set", [])
    assert index["arrays"]["x_train"]["shape"] == [20, 1, 28, 28]
    assert index["arrays"]["y_test"]["dtype"] == "<i8"


def test_a_set_is_replaced_as_a_whole(tmp_path: Path) -> None:
    store.write(tmp_path, "set", coarse())
    before = store.read(tmp_path / "set")
    store.write(tmp_path, "set", digits())
    assert _same(store.read(tmp_path / "set"), digits())
    assert not (tmp_path / "set" / "coarse_train.npy").exists()
    assert _same(before, coarse())  # who reads keeps what was there


def test_official_files_in_the_folder_stay(tmp_path: Path) -> None:
    (tmp_path / "set" / "raw").mkdir(parents=True)
    (tmp_path / "set" / "raw" / "train.gz").write_bytes(b"mine")
    for raw in (digits(), coarse()):
        store.write(tmp_path, "set", raw)
        assert _same(store.read(tmp_path / "set"), raw)
    assert (tmp_path / "set" / "raw" / "train.gz").read_bytes() == b"mine"


@pytest.mark.parametrize("official", [False, True])
def test_a_writer_that_dies_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, official: bool
) -> None:
    if official:
        (tmp_path / "set").mkdir()
        (tmp_path / "set" / "train.gz").touch()
    saved: list[Path] = []

    def save(file: Path, array: np.ndarray, **options: Any) -> None:
        if saved:
            raise KeyboardInterrupt
        saved.append(file)
        file.write_bytes(b"half")

    monkeypatch.setattr(np, "save", save)
    with pytest.raises(KeyboardInterrupt):
        store.write(tmp_path, "set", digits())
    assert saved
    assert not store.is_stored(tmp_path / "set")
    assert [path.name for path in tmp_path.iterdir()] == (["set"] if official else [])


def test_writers_at_the_same_time(tmp_path: Path) -> None:
    raws = [digits(20 + i) for i in range(8)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda raw: store.write(tmp_path, "set", raw), raws))
    assert store.is_whole(tmp_path / "set")
    assert any(_same(store.read(tmp_path / "set"), raw) for raw in raws)
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent.set' cannot be written: No such file"):
        store.write(tmp_path / "absent", "set", digits())
    (tmp_path / "set").write_text("a file")
    with pytest.raises(InputError, match="cannot be written"):
        store.write(tmp_path, "set", digits())
    assert (tmp_path / "set").read_text() == "a file"


def _index(**changed: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "data.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))

    return change


def _bytes(name: str, make: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_bytes(make((folder / name).read_bytes()))

    return change


def _instead(name: str, array: np.ndarray) -> Callable[[Path], None]:
    return lambda folder: np.save(folder / name, array, allow_pickle=True)


DAMAGE: dict[str, tuple[Callable[[Path], None], str]] = {
    "no index": (lambda folder: os.remove(folder / "data.json"), "data.json' cannot be read"),
    "cut index": (_bytes("data.json", lambda b: b[:50]), "data.json' is not JSON"),
    "bytes": (_bytes("data.json", lambda b: b"\xff\xfe"), "data.json' is not JSON"),
    "deep": (_bytes("data.json", lambda b: b"[" * 100_000), "data.json' is not JSON"),
    "a list": (_bytes("data.json", lambda b: b"[1]"), "data.json' does not say"),
    "later": (_index(format=2), "format 2, of a later fedkeel.*reads 1: upgrade"),
    "no format": (_index(format=None), "data.json' does not say"),
    "true format": (_index(format=True), "data.json' does not say"),
    "no arrays": (_index(arrays={}), "data.json' does not say"),
    "path out": (_index(arrays={"../x": {}, "x_train": {}, "y_train": {}}), "does not say"),
    "poor arrays": (_index(arrays={"x_train": 1, "y_train": 2}), "does not say"),
    "labels": (_index(labels=[1]), "data.json' does not say"),
    "missing": (lambda folder: os.remove(folder / "y_test.npy"), "y_test.npy' is missing"),
    "empty": (_bytes("x_train.npy", lambda b: b""), "x_train.npy' is damaged"),
    "cut": (_bytes("x_train.npy", lambda b: b[:-1]), "x_train.npy' is damaged"),
    "cut head": (_bytes("x_train.npy", lambda b: b[:40]), "x_train.npy' is damaged"),
    "magic": (_bytes("x_train.npy", lambda b: b"PK" + b[2:]), "x_train.npy' is damaged"),
    "huge": (
        _bytes("y_train.npy", lambda b: b.replace(b"(20,), }        ", b"(20000000000,), }")),
        "y_train.npy' is damaged",
    ),
    "objects": (_instead("y_train.npy", np.array([{}])), "y_train.npy' is damaged"),
    "type": (_instead("y_train.npy", np.zeros(20, "<f8")), "holds <f8 .* says <i8"),
    "shape": (_instead("y_train.npy", np.zeros(19, "<i8")), r"\(19,\) where data.json says"),
}


@pytest.mark.parametrize(("damage", "words"), DAMAGE.values(), ids=DAMAGE)
def test_damage_is_named(tmp_path: Path, damage: Callable[[Path], None], words: str) -> None:
    folder = store.write(tmp_path, "set", digits())
    damage(folder)
    with pytest.raises(InputError, match=words) as caught:
        store.read(folder)
    assert "\n" not in str(caught.value) and str(folder) in str(caught.value)


@pytest.mark.parametrize("kind", ["cut", "missing", "shape", "cut index"])
def test_what_is_damaged_is_not_whole(tmp_path: Path, kind: str) -> None:
    folder = store.write(tmp_path, "set", digits())
    DAMAGE[kind][0](folder)
    assert not store.is_whole(folder)


def test_what_a_later_version_wrote_may_be_whole(tmp_path: Path) -> None:
    folder = store.write(tmp_path, "set", digits())
    DAMAGE["later"][0](folder)
    with pytest.raises(InputError, match="upgrade"):
        store.is_whole(folder)


def test_a_flipped_bit_is_found_where_one_looks_for_it(tmp_path: Path) -> None:
    folder = store.write(tmp_path, "set", digits())
    _bytes("x_train.npy", lambda b: b[:-1] + bytes([b[-1] ^ 1]))(folder)
    store.read(folder)
    assert not store.is_whole(folder)
