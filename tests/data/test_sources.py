"""Data sets by name and by path."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import fedkeel.data
from fedkeel.data import Natural, load
from fedkeel.data.sources import DATASETS, channels_first
from fedkeel.errors import InputError


def _save(path: Path, **changed: np.ndarray | None) -> str:
    images = np.arange(6 * 28 * 28, dtype=np.uint32).astype(np.uint8).reshape(6, 28, 28)
    arrays = {
        "x_train": images,
        "y_train": np.arange(6) % 3,
        "x_test": images[:2],
        "y_test": np.arange(2),
    }
    kept = {name: array for name, array in (arrays | changed).items() if array is not None}
    np.savez(path, **kept)
    return str(path)


def test_public_names_are_sorted_and_there() -> None:
    names = fedkeel.data.__all__
    assert names == sorted(names, key=lambda name: (not name.isupper(), name.islower(), name))
    assert all(getattr(fedkeel.data, name) is not None for name in names)


def test_femnist_mini_is_what_the_table_says() -> None:
    source, entry = load("femnist-mini"), DATASETS["femnist-mini"]
    assert source.owner is not None
    assert len(source.train.y) == len(source.train.x) == len(source.owner) == entry.train
    assert len(source.test.y) == len(source.test.x) == entry.test
    assert source.train.x.shape[1:] == source.test.x.shape[1:] == entry.shape
    assert source.train.x.dtype == torch.uint8
    assert source.classes == len(source.labels) == entry.classes
    assert "".join(source.labels).startswith("0123456789ABC")
    assert len(set(source.owner.tolist())) == entry.owners


def test_femnist_mini_is_white_on_black_and_of_all_classes() -> None:
    source = load("femnist-mini")
    assert source.train.x.float().mean() < 64
    assert np.bincount(source.train.y.numpy()).min() > 50
    assert source.split(Natural()).sizes.min() > 80


def test_femnist_mini_is_small_with_its_notice_beside_it() -> None:
    folder = Path(fedkeel.data.__file__).parent
    assert (folder / "femnist_mini.npz").stat().st_size <= 4_000_000
    assert "NIST Special Database 19" in (folder / "NOTICE.femnist-mini.md").read_text()


def test_npz_with_grey_images_and_owners(tmp_path: Path) -> None:
    source = load(_save(tmp_path / "mine.npz", writer_train=np.array([4, 4, 1, 1, 1, 0])))
    assert source.name == "mine"
    assert source.train.x.shape == (6, 1, 28, 28)
    assert source.split(Natural()).sizes.tolist() == [1, 3, 2]
    assert load(tmp_path / "mine.npz").sha256 == source.sha256


def test_npz_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _save(tmp_path / "mine.npz")
    monkeypatch.chdir(tmp_path)
    assert load("mine.npz").classes == 3


def test_npz_with_floats_is_used_as_it_is(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(6, 5, 3))
    source = load(_save(tmp_path / "f.npz", x_train=x, x_test=x[:2]))
    assert torch.equal(source.train.x, torch.from_numpy(x))


def test_npz_without_a_test_part(tmp_path: Path) -> None:
    source = load(_save(tmp_path / "t.npz", x_test=None, y_test=None), test_share=0.5)
    assert (len(source.train.y), len(source.test.y)) == (3, 3)


def test_channels_come_first() -> None:
    colour = np.arange(2 * 4 * 5 * 3, dtype=np.uint8).reshape(2, 4, 5, 3)
    assert channels_first(colour).shape == (2, 3, 4, 5)
    assert np.array_equal(channels_first(colour)[1, 2], colour[1, :, :, 2])
    assert channels_first(colour[..., :1]).shape == (2, 1, 4, 5)
    assert channels_first(colour[..., 0]).shape == (2, 1, 4, 5)
    assert channels_first(np.zeros((2, 3, 8, 8), np.uint8)).shape == (2, 3, 8, 8)
    assert channels_first(np.zeros((2, 7), np.uint8)).shape == (2, 7)
    assert channels_first(colour.astype(float)).shape == (2, 4, 5, 3)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"y_train": None}, "has no array 'y_train'"),
        ({"y_test": None}, "y_test is missing"),
        ({"x_test": None}, "x_test is missing"),
        ({"y_train": np.arange(5)}, "x has 6 samples"),
        ({"y_train": np.array(list("abcdef"))}, "y must be an array of numbers"),
        ({"y_train": np.array([None] * 6)}, "Python objects, which are never read"),
        ({"writer_train": np.arange(5)}, "owner is int64"),
    ],
)
def test_npz_that_is_refused(tmp_path: Path, changed: dict, words: str) -> None:
    path = _save(tmp_path / "bad.npz", **changed)
    with pytest.raises(InputError, match=words) as caught:
        load(path)
    assert "bad.npz" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("femnist_mini", "unknown data set 'femnist_mini': did you mean 'femnist-mini'?"),
        ("nonsense", "unknown data set 'nonsense': Allowed: femnist-mini, "),
        ("", "unknown data set ''"),
        ("cifar10", "data set 'cifar10' is not in this version. Allowed: femnist-mini, "),
        ("absent/x.npz", "there is no file 'absent/x.npz': its folder does not exist"),
    ],
)
def test_names_that_are_refused(name: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        load(name)
    assert str(caught.value).startswith(words)
